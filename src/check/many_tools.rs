//! Finds packs whose tools are too many for a model to choose well.

use super::rule::{CheckRule, warning_at};
use super::subject::Subject;
use crate::definition::Tool;
use crate::diagnostic::{Code, Diagnostic};

const CODE: Code = Code("many-tools");

/// Models choose worse among more tools than these, and some hosts cut their lists.
const MAX_TOOLS: usize = 40;

/// Four tools of a name.
macro_rules! four_tools {
    ($name:expr) => {
        concat!(
            one_tool!(concat!($name, "_white")),
            one_tool!(concat!($name, "_green")),
            one_tool!(concat!($name, "_black")),
            one_tool!(concat!($name, "_mixed"))
        )
    };
}

/// A tool of a name.
macro_rules! one_tool {
    ($name:expr) => {
        concat!("  { name = \"", $name, "\", description = \"Brews a pot of tea.\", text = \"ok\" },\n")
    };
}

pub const RULE: CheckRule = CheckRule {
    code: CODE,
    summary: "A pack without a budget for its list has more than 40 tools.",
    why: "A model reads all of them before it calls one, and chooses worse among many.",
    run,
    fires: &[(
        "tools.d/a.toml",
        concat!(
            "tool = [\n",
            four_tools!("a"),
            four_tools!("b"),
            four_tools!("c"),
            four_tools!("d"),
            four_tools!("e"),
            four_tools!("f"),
            four_tools!("g"),
            four_tools!("h"),
            four_tools!("i"),
            four_tools!("j"),
            one_tool!("cold"),
            "]\n"
        ),
    )],
    mended: &[("tools.d/a.toml", one_tool!("cold"), "")],
};

fn run(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let listed: Vec<&Tool> = subject.listed_tools().map(|(tool, _)| tool).collect();
    // An author who set a budget knows what the list takes.
    let has_budget = subject.definitions.pack.as_ref().is_some_and(|pack| pack.budget.list.is_some());
    let Some(first_of_too_many) = listed.get(MAX_TOOLS).filter(|_| !has_budget) else { return Vec::new() };
    let message = format!("the pack lists {} tools; models choose worse among more than {MAX_TOOLS}", listed.len());
    let help = "make one tool of those that differ in a word, by `dispatch`; set `list` in `[pack.budget]` if they are meant; `toolsd serve --discover` lists a search in place of all";
    vec![warning_at(CODE, &first_of_too_many.name.at, message, help)]
}
