//! Finds verbs and options of git that there are not.

use super::rule::{CheckRule, error_at};
use super::subject::{Subject, git_verb};
use crate::diagnostic::{Code, Diagnostic};
use crate::primitive_api::git;

const CODE: Code = Code("unknown-git");

pub const RULE: CheckRule = CheckRule {
    code: CODE,
    summary: "A script calls `git` or `git_read` with a verb or an option that it does not have.",
    why: "The call would fail at run time.",
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

fn run(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    for call in subject.calls() {
        let Some((needs, verb)) = git_verb(call) else { continue };
        let reported = match git::find_verb(verb, needs) {
            Ok(verb) => {
                let options = call.keys.iter().filter(|(index, _)| *index == 1).map(|(_, key)| key);
                options.filter_map(|key| git::unknown_option(verb, key)).collect()
            }
            Err(diagnostic) => vec![diagnostic],
        };
        diagnostics.extend(
            reported
                .into_iter()
                .map(|diagnostic| error_at(CODE, &call.at, diagnostic.message, diagnostic.help.unwrap_or_default())),
        );
    }
    diagnostics
}
