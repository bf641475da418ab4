//! The title of a text, as it stands on its first page.

use super::{Document, Item, Token};

/// The last block of indented lines before the first heading that says something: lines with dot leaders and
/// the name of the draft do not count.
pub(super) fn title(document: &Document, items: &[Item]) -> Option<String> {
    let text = |item: &Item| &document.text()[item.line.span.clone()];
    items.split(|item| item.token != Token::Text).rev().filter(|block| !block.is_empty()).find_map(|block| {
        if !block.iter().all(|item| text(item).starts_with([' ', '\t'])) {
            return None;
        }
        let words: Vec<&str> = block.iter().map(|item| text(item).trim()).filter(|line| says(line)).collect();
        (!words.is_empty()).then(|| words.join(" "))
    })
}

fn says(line: &str) -> bool {
    let is_contents = line.contains("....") || line.contains(". . .");
    let is_name = line.trim_start_matches('<').starts_with("draft-") && !line.contains(' ');
    !is_contents && !is_name
}
