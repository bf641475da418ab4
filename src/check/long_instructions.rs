//! Finds instructions that hosts cut off.

use super::rule::{CheckRule, warning_at};
use super::subject::Subject;
use crate::diagnostic::{Code, Diagnostic};

const CODE: Code = Code("long-instructions");

/// The number of bytes after which common hosts cut the instructions of a server.
const MAX_BYTES: usize = 2_048;

/// A text six times.
macro_rules! six_times {
    ($text:expr) => {
        concat!($text, $text, $text, $text, $text, $text)
    };
}

pub const RULE: CheckRule = CheckRule {
    code: CODE,
    summary: "The instructions of a pack have more than 2,048 bytes.",
    why: "Clients cut them there, and a model does not see the rest.",
    run,
    fires: &[
        ("tools.d/a.toml", "[pack]\ntitle = \"Tea\"\ninstructions = \"prompts/a/how.md\"\n"),
        (
            "prompts/a/how.md",
            concat!(
                "Brew first.\n",
                six_times!(six_times!("Then steep, for as long as the kind of tea and the guests want.\n"))
            ),
        ),
    ],
    mended: &[(
        "prompts/a/how.md",
        concat!(
            "Brew first.\n",
            six_times!(six_times!("Then steep, for as long as the kind of tea and the guests want.\n"))
        ),
        "Brew first. Then steep, for as long as the kind of tea and the guests want.\n",
    )],
};

fn run(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let found = subject.instructions().filter(|(text, _)| text.len() > MAX_BYTES).map(|(text, at)| {
        let message = format!("the instructions: {} bytes; clients cut after {MAX_BYTES}", text.len());
        warning_at(CODE, at, message, "say how the tools work together, and leave the rest to their descriptions")
    });
    found.into_iter().collect()
}
