//! What a tool does in one sentence: the first one of its description.

use crate::registry::ServedTool;

/// Characters of a summary. Who writes longer sentences is cut.
const MAX_SUMMARY: usize = 240;

/// The first sentence of the description of a tool, on one line.
pub fn summary(tool: &ServedTool) -> String {
    let sentence = first_sentence(&tool.definition.description.value);
    let mut line: String = sentence.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((cut, _)) = line.char_indices().nth(MAX_SUMMARY - 1).filter(|_| line.chars().count() > MAX_SUMMARY) {
        line.truncate(cut);
        line.push('…');
    }
    line
}

/// The first sentence of a text. It ends before a blank line, and at a mark that is followed by space and not by a small
/// letter; after `e.g.` it continues.
pub(super) fn first_sentence(text: &str) -> &str {
    let text = text.trim();
    let paragraph = text.find("\n\n").map_or(text, |end| &text[..end]);
    for (at, character) in paragraph.char_indices() {
        let end = at + character.len_utf8();
        if !matches!(character, '.' | '!' | '?' | '。') {
            continue;
        }
        let rest = paragraph[end..].trim_start();
        let is_apart = rest.len() < paragraph.len() - end || character == '。';
        let is_abbreviation = ["e.g", "i.e"].iter().any(|known| paragraph[..at].ends_with(known));
        if is_apart && !is_abbreviation && !rest.starts_with(char::is_lowercase) {
            return &paragraph[..end];
        }
    }
    paragraph
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discovery::test_registry::tool;

    #[test]
    fn a_summary_is_the_first_sentence() {
        let long = format!("{} end.", "word ".repeat(100));
        let cut = format!("{}…", &long[..MAX_SUMMARY - 1]);
        for (description, expected) in [
            ("Finds it. Use it often.", "Finds it."),
            ("Finds a file, e.g. `a.md`,\nby name! Then more.", "Finds a file, e.g. `a.md`, by name!"),
            ("Reads version 1.2 of it", "Reads version 1.2 of it"),
            ("No mark\n\nAnother paragraph.", "No mark"),
            ("検索する。次の文。", "検索する。"),
            (&long, &cut),
        ] {
            let described = serde_json::to_string(description).unwrap();
            let tool = tool(&format!("[[tool]]\nname = \"a\"\ntext = \"x\"\ndescription = {described}\n"));
            assert_eq!(summary(&tool), expected);
        }
    }
}
