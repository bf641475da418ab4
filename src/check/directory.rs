//! Finds what the validators of public directories of MCP servers refuse: tools without a title, and tools that change
//! something and are not said to. This rule belongs to the set `directory`, which is run when it is asked for.

use super::rule::{CheckRule, warning_at};
use super::subject::Subject;
use crate::definition::Tool;
use crate::diagnostic::{Code, Diagnostic};

const CODE: Code = Code("directory");

/// The words of a name by which directories recognise a tool that updates or sends.
const CHANGES: [&str; 26] = [
    "change",
    "delete",
    "edit",
    "fix",
    "merge",
    "modify",
    "move",
    "overwrite",
    "patch",
    "post",
    "publish",
    "put",
    "remove",
    "rename",
    "replace",
    "reset",
    "restore",
    "rewrite",
    "save",
    "send",
    "set",
    "submit",
    "undo",
    "update",
    "upsert",
    "write",
];

pub const RULE: CheckRule = CheckRule {
    code: CODE,
    summary: "A tool has no title, or updates or sends something without `destructive = true` (only with `check --directory`).",
    why: "Directories of MCP servers refuse tools without `annotations.title`, and tools that update or send without `destructiveHint`.",
    run,
    fires: &[(
        "tools.d/a.toml",
        r##"[[tool]]
name = "rename_pot"
description = "Gives a pot another name, which is shown from then on."
effect = "edits_graph"
text = "ok"
"##,
    )],
    mended: &[(
        "tools.d/a.toml",
        r##"effect = "edits_graph"
"##,
        r##"title = "Rename a pot"
effect = "edits_graph"
destructive = true
"##,
    )],
};

fn run(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let tools = &subject.definitions.tools;
    let untitled = tools.iter().filter(|tool| tool.title.is_none()).map(|tool| {
        let message = format!("the tool `{}` has no title, which directories of servers want", tool.name.value);
        warning_at(CODE, &tool.name.at, message, "add `title = \"…\"`, a few words for people")
    });
    let unmarked = tools.iter().filter(|tool| changes_something(tool)).map(|tool| {
        let name = &tool.name.value;
        let message = format!(
            "`{name}` updates or sends something, by its name, and clients take it for one that destroys nothing"
        );
        warning_at(CODE, &tool.name.at, message, "add `destructive = true`, or give it a name that says what it does")
    });
    untitled.chain(unmarked).collect()
}

/// Whether a tool updates or sends something by its name, and clients take it for one that only adds.
fn changes_something(tool: &Tool) -> bool {
    let hints = tool.effective_hints();
    let is_named_so = tool.name.value.split(['_', '-', '.', '/']).any(|word| CHANGES.contains(&word));
    !hints.read_only && !hints.destructive && is_named_so
}
