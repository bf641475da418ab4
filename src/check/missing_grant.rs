//! Finds calls that name, as a literal, what the grants of the pack do not cover.

use super::rule::{CheckRule, warning_at};
use super::subject::{Subject, git_verb};
use crate::definition::Grants;
use crate::diagnostic::{Code, Diagnostic};
use crate::primitive_api::{Effect, Family, git};
use crate::script::survey::CallSite;
use crate::world::glob::Globs;
use crate::world::path;
use crate::world::run::{GitAccess, RequiredGrant};
use crate::world::{GrantedAccess, describe_missing_grant};

const CODE: Code = Code("missing-grant");

pub const RULE: CheckRule = CheckRule {
    code: CODE,
    summary: "A script names a program, a verb of git or a path that the grants of its pack do not cover.",
    why: "The call would be refused at run time, since a pack may only do what its grants cover.",
    run,
    fires: &[
        (
            "tools.d/a.toml",
            r##"[pack]
title = "Tea"
grants = { read = ["pots"] }

[[tool]]
name = "brew"
description = "Brews a pot of tea, and says how long it took."
effect = "reads"
"##,
        ),
        ("tools.d/a.rhai", r##"fn brew(args) { read_text("teas/green.md") }"##),
    ],
    mended: &[("tools.d/a.toml", r##"read = ["pots"]"##, r##"read = ["pots", "teas"]"##)],
};

fn run(subject: &Subject<'_>) -> Vec<Diagnostic> {
    // Without `[pack]` there are no grants to compare with.
    let Some(pack) = &subject.definitions.pack else { return Vec::new() };
    let calls = subject.calls();
    let reported = calls.filter_map(|call| {
        let (what, help) = missing(call, &pack.grants)?;
        Some(warning_at(CODE, &call.at, format!("the pack may not {what}"), help))
    });
    reported.collect()
}

/// Returns what a call does without a grant, and how to fix it.
fn missing(call: &CallSite, grants: &Grants) -> Option<(String, String)> {
    let granting = |key: &str, value: &str| {
        let Grants { read, write, env, run, git } = grants.clone();
        describe_missing_grant(&GrantedAccess { read, write, env, run, git, ..Default::default() }, key, value)
    };
    if let Some((needs, verb)) = git_verb(call) {
        let needs = git::find_verb(verb, needs).ok()?.needs();
        let (level, word) = match needs {
            RequiredGrant::ReadGit => (GitAccess::Read, "read"),
            RequiredGrant::FetchGit => (GitAccess::Fetch, "fetch"),
            RequiredGrant::WriteGit | RequiredGrant::Program => (GitAccess::Write, "write"),
        };
        return (grants.git < level).then(|| (format!("run `git {verb}`"), granting("git", word)));
    }
    let text = call.text(0)?;
    if call.name == "run" {
        let is_granted = grants.run.iter().any(|grant| grant.program == *text);
        let help = match text.split_once(char::is_whitespace) {
            // A program name never contains arguments, so granting it would not help.
            Some((program, rest)) if !path::is_absolute(text) => {
                let words: Vec<&str> = rest.split_whitespace().collect();
                format!("pass the arguments separately: `run({program:?}, {words:?})`")
            }
            // A grant names no relative path.
            None if text.contains('/') && !path::is_absolute(text) => {
                "grant it and call it by its absolute path".to_owned()
            }
            _ => granting("run", text),
        };
        return (!is_granted).then(|| (format!("run `{text}`"), help));
    }
    let (verb, globs) = match takes_a_path(&call.name)? {
        Effect::Reads => ("read", &grants.read),
        Effect::Writes => ("write", &grants.write),
        _ => return None,
    };
    (!covers(globs, text)).then(|| (format!("{verb} `{text}`"), granting(verb, text)))
}

/// Returns what a primitive does with the file or folder that its first argument names.
fn takes_a_path(name: &str) -> Option<Effect> {
    // The files of a pack need no grant.
    let mut all = crate::primitives::ALL.iter().filter(|primitive| primitive.name != "read_pack_file");
    let is_file = |family: Family| family == Family::Files || name == "read_document";
    let primitive = all.find(|primitive| primitive.name == name && is_file(primitive.family))?;
    (primitive.params.first()?.name == "path").then_some(primitive.effect)
}

/// Whether grants may cover a path, or something below it. What is not known before it runs (the home folder,
/// variables, where the workspace lies) may.
fn covers(grants: &[String], asked: &str) -> bool {
    let is_open = |path: &str| path::is_absolute(path) || path.starts_with(['~', '$']) || path.contains("..");
    if is_open(asked) || grants.iter().any(|grant| is_open(grant) || grant.contains('$')) {
        return true;
    }
    let globs: Vec<String> = grants.iter().map(|grant| path::clean(grant)).collect();
    // A glob without wildcards covers everything under it, too.
    let is_plain = |glob: &&String| !glob.contains(['*', '?', '[', '{', '\\']);
    let below = globs.iter().filter(is_plain).map(|glob| format!("{glob}/**"));
    let all: Vec<String> = globs.iter().cloned().chain(below).collect();
    let asked = path::clean(asked);
    Globs::new(&all, ".").is_ok_and(|globs| globs.matches(&asked) || globs.may_match_below(&asked))
}

#[cfg(test)]
mod tests {
    #[test]
    fn possibly_covered_cases_are_not_reported() {
        let covers = |grants: &[&str], asked: &str| {
            let grants: Vec<String> = grants.iter().map(|grant| (*grant).to_owned()).collect();
            super::covers(&grants, asked)
        };
        for (grants, asked) in [
            (&["."][..], "a/b.md"),
            (&["**"], "a.md"),
            (&["a"], "a/b.md"),
            (&["./a/"], "a"),
            (&["a/b"], "a"),
            (&["a/*.md"], "./a/b.md"),
            (&["$X/a"], "b"),
            (&["/x"], "b"),
            (&[], "~/b"),
            (&[], "/etc/x"),
        ] {
            assert!(covers(grants, asked), "{grants:?} {asked}");
        }
        for (grants, asked) in [(&[][..], "a"), (&["a"], "b"), (&["a"], "ab"), (&["a/*.md"], "a/b.txt"), (&["b"], ".")]
        {
            assert_eq!(covers(grants, asked), asked == ".", "{grants:?} {asked}");
        }
    }
}
