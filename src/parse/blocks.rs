//! Blocks of a text by rules: where they begin and end, and the fields, items, sections and lists in them.

mod block;
mod fences;
mod open;
mod rules;
#[cfg(test)]
mod tests;

pub use block::{Block, Item, Section};
pub use rules::{Pairs, Rules};

use crate::diagnostic::Result;
use crate::document::Document;
use crate::guard;
use fences::Fences;
use open::Open;
use rules::Items;

/// The blocks of a document, in order: `#{ line, end_line, groups, fields, items, sections, lists, text, preamble }`.
///
/// A line is looked at in this order. One that matches `start` begins a block; the one before ends there. One that
/// matches `end` ends the open block, and belongs to it if `end_takes`; so does the next line then, if it matches
/// `tail`. All other lines of a block are its body. A block without an end line ends before the next one, or with the
/// text. Lines in code fences are body and nothing else, unless fences are plain.
pub fn blocks(document: &Document, rules: &Rules) -> Result<Vec<Block>> {
    let mut blocks = Vec::new();
    let mut open: Option<Open<'_>> = None;
    let mut fences = Fences::default();
    let lines = document.line_ranges();
    let text = |at: usize| lines.get(at).map(|range| &document.text()[range.clone()]);
    for at in 0..lines.len() {
        guard::check()?;
        let line = text(at).unwrap_or_default();
        if rules.opaque && fences.covers(line) {
            if let Some(open) = &mut open {
                open.pass();
            }
            continue;
        }
        if let Some(found) = rules.start.find(line)? {
            let fresh = Open::new(document, rules, at, rules.start.groups(line, &found), line)?;
            if let Some(before) = open.replace(fresh) {
                blocks.push(before.close(at, at)?);
            }
        } else if let Some(mut block) = open.take() {
            match rules.end_of(line)? {
                Some(groups) if rules.end_takes => {
                    block.end_line(groups, line)?;
                    let tail = text(at + 1).map_or(Ok(false), |next| rules.is_tail(next))?;
                    blocks.push(block.close(at, at + 1 + usize::from(tail))?);
                }
                Some(_) => blocks.push(block.close(at, at)?),
                None => {
                    block.body_line(at, line)?;
                    open = Some(block);
                }
            }
        }
    }
    if let Some(last) = open {
        blocks.push(last.close(lines.len(), lines.len())?);
    }
    Ok(blocks)
}
