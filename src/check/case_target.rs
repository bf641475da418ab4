//! Finds steps of cases that call, or get, what the pack does not have.

use super::rule::{CheckRule, error_at};
use super::subject::Subject;
use crate::definition::{CaseAction, CompletedItem, ItemKind};
use crate::diagnostic::{Code, Diagnostic, did_you_mean};

const CODE: Code = Code("case-target");

pub const RULE: CheckRule = CheckRule {
    code: CODE,
    summary: "A case calls a tool, or gets a prompt, that the pack does not have.",
    why: "Such a case always fails.",
    run,
    fires: &[(
        "tools.d/a.toml",
        r##"[[tool]]
name = "brew"
description = "Brews a pot of tea, and says how long it took."
text = "ok"
[[case]]
title = "brews"
call = "brw"
expect.result = "ok"
"##,
    )],
    mended: &[("tools.d/a.toml", r##"call = "brw""##, r##"call = "brew""##)],
};

fn run(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    for step in subject.definitions.cases.iter().flat_map(|case| &case.steps) {
        let (kind, name) = match &step.act.value {
            CaseAction::Call { tool, .. } => (ItemKind::Tool, tool),
            CaseAction::Prompt { name, .. } | CaseAction::Complete { of: CompletedItem::Prompt(name), .. } => {
                (ItemKind::Prompt, name)
            }
            _ => continue,
        };
        let of_kind = || subject.items.iter().filter(|item| item.kind == kind);
        // Prompts that a function lists are known only at run time.
        if of_kind().any(|item| item.is_pattern) {
            continue;
        }
        let known: Vec<&str> = of_kind().filter_map(|item| item.address).collect();
        let what = kind.name();
        if !known.contains(&name.as_str()) {
            let help =
                did_you_mean(name, known.iter().copied()).unwrap_or_else(|| format!("define it as a [[{what}]]"));
            diagnostics.push(error_at(CODE, &step.act.at, format!("there is no {what} `{name}`"), help));
        }
    }
    diagnostics
}
