//! Finds what takes more of a model's context than its budget allows.

use super::rule::{CheckRule, error_at};
use super::subject::Subject;
use crate::definition::Located;
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Place;
use crate::surface::{ToolSize, approximate_tokens};

/// The code of its errors.
pub const OVER_BUDGET: Code = Code("over-budget");

/// How many of the largest parts an error names.
const NAMED_PARTS: usize = 3;

pub const RULE: CheckRule = CheckRule {
    code: OVER_BUDGET,
    summary: "A list of tools, an entry of it, a description or instructions have more tokens than the budget allows.",
    why: "The author set the budget, in `[pack.budget]` or in `[server]` of `toolsd.toml`, so that packs grow on purpose only.",
    run,
    fires: &[(
        "tools.d/a.toml",
        r##"[pack]
title = "Tea"
[pack.budget]
description = 12
[[tool]]
name = "brew"
description = "Brews a pot of tea, of whatever kind, for as many guests as there are."
text = "ok"
"##,
    )],
    mended: &[(
        "tools.d/a.toml",
        "Brews a pot of tea, of whatever kind, for as many guests as there are.",
        "Brews tea for all guests.",
    )],
};

fn run(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let Some(budget) = subject.definitions.pack.as_ref().map(|pack| &pack.budget) else { return Vec::new() };
    let mut diagnostics = Vec::new();
    let mut sizes = Vec::new();
    for (tool, contract) in subject.listed_tools() {
        let name = &tool.name.value;
        let description = tool.describe_with_operations(&tool.description.value);
        let size = ToolSize::of(name, &description, tool, contract);
        let parts = [
            ("the input schema", size.input),
            ("the output schema", size.output),
            ("the description", size.description),
            ("annotations and `_meta`", size.annotations),
        ];
        let parts = describe_largest(&parts.map(|(name, bytes)| (name.to_owned(), bytes)));
        let what = format!("the entry of `{name}` in the list");
        diagnostics.extend(judge(&what, size.list, "tool", budget.tool.as_ref(), &tool.name.at, &parts));
        let what = format!("the description of `{name}`");
        let help = "say when to use the tool and what it returns; arguments have descriptions of their own";
        diagnostics.extend(judge(
            &what,
            size.description,
            "description",
            budget.description.as_ref(),
            &tool.description.at,
            help,
        ));
        sizes.push((name.as_str(), size));
    }
    if let Some(list) = &budget.list {
        let bytes = sizes.iter().map(|(_, size)| size.list).sum();
        diagnostics.extend(judge("the list of tools", bytes, "list", Some(list), &list.at, &advise_on_list(&sizes)));
    }
    if let Some((text, at)) = subject.instructions() {
        let help = "say how the tools work together, and leave the rest to their descriptions";
        diagnostics.extend(judge(
            "the text of the instructions",
            text.len(),
            "instructions",
            budget.instructions.as_ref(),
            at,
            help,
        ));
    }
    diagnostics
}

/// What makes a list of tools large, and what would help.
pub fn advise_on_list(sizes: &[(&str, ToolSize)]) -> String {
    let tools: Vec<(String, usize)> = sizes.iter().map(|(name, size)| (format!("`{name}`"), size.list)).collect();
    let outputs = approximate_tokens(sizes.iter().map(|(_, size)| size.output).sum());
    format!(
        "{}; output schemas have ≈ {outputs}, which `[server] lists = \"lean\"` omits; `toolsd cost --tools` shows all",
        describe_largest(&tools)
    )
}

/// The largest of these parts, each with its tokens.
pub fn describe_largest(parts: &[(String, usize)]) -> String {
    let mut parts: Vec<&(String, usize)> = parts.iter().filter(|(_, bytes)| *bytes > 0).collect();
    parts.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
    let words = parts.iter().take(NAMED_PARTS).map(|(name, bytes)| format!("{name} ≈ {}", approximate_tokens(*bytes)));
    format!("the largest: {}", words.collect::<Vec<_>>().join(", "))
}

fn judge(
    what: &str,
    bytes: usize,
    key: &str,
    budget: Option<&Located<u64>>,
    at: &Place,
    help: &str,
) -> Option<Diagnostic> {
    let excess = describe_excess(what, bytes, &format!("`{key}` of `[pack.budget]`"), budget?.value)?;
    Some(error_at(OVER_BUDGET, at, excess, help))
}

/// Says by how much something exceeds a budget of tokens; `None` if it does not.
pub fn describe_excess(what: &str, bytes: usize, budget_name: &str, budget: u64) -> Option<String> {
    let tokens = approximate_tokens(bytes) as u64;
    let over = tokens.checked_sub(budget).filter(|over| *over > 0)?;
    Some(format!("{what} has ≈ {tokens} tokens, {over} more than {budget_name} allows ({budget})"))
}
