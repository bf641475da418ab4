//! Finds descriptions and instructions that hosts cut off.

use super::rule::{CheckRule, warning_at};
use super::subject::Subject;
use crate::diagnostic::{Code, Diagnostic};

const CODE: Code = Code("long-description");

/// The number of characters after which common hosts cut a description or the instructions of a server.
const MAX_CHARACTERS: usize = 2_048;

/// A text six times.
macro_rules! six_times {
    ($text:expr) => {
        concat!($text, $text, $text, $text, $text, $text)
    };
}

/// The rule.
pub const RULE: CheckRule = CheckRule {
    code: CODE,
    summary: "The description of a tool with its operations, or the instructions of a pack, have more than 2,048 \
              characters.",
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
        (format!("the description of `{}`", tool.name.value), text.chars().count(), &tool.description.at)
    });
    let instructions = subject.definitions.pack.iter().filter_map(|pack| {
        let path = pack.instructions.as_ref()?;
        let text = subject.texts.iter().find(|text| text.path == path.value)?;
        Some(("the instructions".to_owned(), text.text.chars().count(), &path.at))
    });
    tools
        .chain(instructions)
        .filter(|(_, count, _)| *count > MAX_CHARACTERS)
        .map(|(what, count, at)| {
            let message = format!("{what}: {count} characters; clients cut after {MAX_CHARACTERS}");
            warning_at(CODE, at, message, "say the essentials first, and move details to the arguments")
        })
        .collect()
}
