//! Finds descriptions that hosts cut off.

use super::rule::{CheckRule, warning_at};
use super::subject::Subject;
use crate::diagnostic::{Code, Diagnostic};

const CODE: Code = Code("long-description");

/// The number of characters after which common hosts cut a description.
const MAX_CHARACTERS: usize = 2_048;

/// A text six times.
macro_rules! six_times {
    ($text:expr) => {
        concat!($text, $text, $text, $text, $text, $text)
    };
}

pub const RULE: CheckRule = CheckRule {
    code: CODE,
    summary: "The description of a tool with its operations has more than 2,048 characters.",
    why: "Clients cut them there, and a model does not see the rest. Put the most important part first.",
    run,
    fires: &[(
        "tools.d/a.toml",
        concat!(
            "[[tool]]\nname = \"brew\"\ndescription = \"\"\"\n",
            six_times!(six_times!("Brews a pot of tea, of whatever kind, for as many guests as there are.\n")),
            "\"\"\"\ntext = \"ok\"\n"
        ),
    )],
    mended: &[(
        "tools.d/a.toml",
        concat!(
            "\"\"\"\n",
            six_times!(six_times!("Brews a pot of tea, of whatever kind, for as many guests as there are.\n")),
            "\"\"\""
        ),
        r#""Brews a pot of tea, of whatever kind, for as many guests as there are.""#,
    )],
};

fn run(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let tools = subject.definitions.tools.iter().map(|tool| {
        let text = tool.describe_with_operations(&tool.description.value);
        (&tool.name.value, text.chars().count(), &tool.description.at)
    });
    tools
        .filter(|(_, count, _)| *count > MAX_CHARACTERS)
        .map(|(name, count, at)| {
            let message =
                format!("the description of `{name}`: {count} characters; clients cut after {MAX_CHARACTERS}");
            warning_at(CODE, at, message, "say the essentials first, and move details to the arguments")
        })
        .collect()
}
