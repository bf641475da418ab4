//! Finds long sentences that the descriptions of several tools repeat.

use super::rule::{CheckRule, warning_at};
use super::subject::Subject;
use crate::definition::Tool;
use crate::diagnostic::{Code, Diagnostic};

const CODE: Code = Code("repeated-sentence");

/// Shorter sentences may appear as often as they like.
const MIN_WORDS: usize = 15;

/// A sentence in fewer descriptions may stay there.
const MIN_TOOLS: usize = 4;

/// A tool whose description has a sentence that belongs to all.
macro_rules! tool {
    ($name:expr) => {
        concat!(
            "[[tool]]\nname = \"",
            $name,
            "\"\ndescription = \"Brews tea. The answer names the pot, the kind of tea, the water, and how long it steeps in minutes.\"\ntext = \"ok\"\n"
        )
    };
}

pub const RULE: CheckRule = CheckRule {
    code: CODE,
    summary: "A sentence of 15 words or more is in the descriptions of 4 or more tools of a pack.",
    why: "A model reads it once for each tool; in the instructions of the pack it reads it once.",
    run,
    fires: &[(
        "tools.d/a.toml",
        concat!(tool!("brew_white"), tool!("brew_green"), tool!("brew_black"), tool!("brew_mixed")),
    )],
    mended: &[("tools.d/a.toml", tool!("brew_mixed"), "")],
};

fn run(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let mut found: Vec<(String, Vec<&Tool>)> = Vec::new();
    for (tool, _) in subject.listed_tools() {
        for sentence in long_sentences(&tool.description.value) {
            match found.iter_mut().find(|(known, _)| *known == sentence) {
                Some((_, tools)) if tools.last().is_some_and(|last| !std::ptr::eq(*last, tool)) => tools.push(tool),
                Some(_) => {}
                None => found.push((sentence, vec![tool])),
            }
        }
    }
    found.retain(|(_, tools)| tools.len() >= MIN_TOOLS);
    found
        .iter()
        .map(|(sentence, tools)| {
            let message = format!("{} descriptions of tools have this sentence: {sentence}", tools.len());
            let names: Vec<String> = tools.iter().map(|tool| format!("`{}`", tool.name.value)).collect();
            let help = format!("say it once, in the `instructions` of the pack; it is in {}", names.join(", "));
            warning_at(CODE, &tools[0].description.at, message, help)
        })
        .collect()
}

/// The long sentences of a text, their words separated by single spaces.
fn long_sentences(text: &str) -> Vec<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let sentences = words.split_inclusive(|word| word.trim_end_matches([')', '"', '\'']).ends_with(['.', '!', '?']));
    sentences.filter(|words| words.len() >= MIN_WORDS).map(|words| words.join(" ")).collect()
}
