//! Finds verbs and options of git that there are not.

use super::{Rule, Subject, found};
use crate::diagnostic::{Code, Diagnostic};
use crate::primitive::git;
use crate::script::survey::Call;
use crate::world::run::Needs;

const CODE: Code = Code("unknown-git");

/// The rule.
pub const RULE: Rule = Rule {
    code: CODE,
    summary: "A script calls `git` or `git_read` with a verb or an option that it does not have.",
    why: "The call would fail when it runs.",
    run,
    fires: &[
        (
            "tools.d/a.toml",
            r##"[pack]
title = "Tea"
grants = { git = "read" }

[[tool]]
name = "brew"
description = "Brews a pot of tea, and says how long it took."
effect = "reads"
"##,
        ),
        ("tools.d/a.rhai", r##"fn brew(args) { git_read("log", #{ max_cout: 1 }) }"##),
    ],
    mended: &[(
        "tools.d/a.rhai",
        r##"fn brew(args) { git_read("log", #{ max_cout: 1 }) }"##,
        r##"fn brew(args) { git_read("log", #{ max_count: 1 }) }"##,
    )],
};

/// What a call of git says as a literal: its primitive, its verb.
pub(super) fn verb_of(call: &Call) -> Option<(Needs, &str)> {
    let needs = match call.name.as_str() {
        "git" => Needs::WriteGit,
        "git_read" => Needs::ReadGit,
        _ => return None,
    };
    call.texts.iter().find(|(index, _)| *index == 0).map(|(_, verb)| (needs, verb.as_str()))
}

fn run(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let mut faults = Vec::new();
    for call in subject.program.surveys().iter().flat_map(|survey| &survey.calls) {
        let Some((needs, verb)) = verb_of(call) else { continue };
        let told = match git::find_verb(verb, needs) {
            Ok(verb) => {
                let options = call.keys.iter().filter(|(index, _)| *index == 1).map(|(_, key)| key);
                options.filter_map(|key| git::unknown_option(verb, key)).collect()
            }
            Err(fault) => vec![fault],
        };
        faults
            .extend(told.into_iter().map(|fault| found(CODE, &call.at, fault.message, fault.help.unwrap_or_default())));
    }
    faults
}
