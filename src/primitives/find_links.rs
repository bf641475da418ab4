//! `find_links`: the links of a Markdown text.

use crate::diagnostic::Result;
use crate::document::{Document, find_links};
use crate::guard::{CheckedIterator, checked};
use crate::letters;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};
use std::collections::HashMap;

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "find_links",
    family: Family::Parse,
    summary: "Returns the links of a CommonMark text in order, as `#{ kind, text, destination, line, column, end_line, end_column }`. `kind` is `inline`, `reference`, `autolink` or `image`; columns count characters from 1, and the end is the position after the last one. Links in code and references without a definition are not included.",
    params: &[required("document", &[Kind::Document, Kind::Text], "The text.")],
    returns: Kind::List,
    effect: Effect::Pure,
    examples: &[
        Example::gives(
            r##"find_links("Some [*hot* tea](tea.md#pot).")"##,
            r##"[{"kind": "inline", "text": "hot tea", "destination": "tea.md#pot", "line": 1, "column": 6, "end_line": 1, "end_column": 29}]"##,
        ),
        Example::gives(
            r##"find_links("![cup](c.png) <https://e.com>\n`[a](b)` [pot][]\n\n[pot]: p.md").map(|l| [l.kind, l.destination])"##,
            r#"[["image", "c.png"], ["autolink", "https://e.com"], ["reference", "p.md"]]"#,
        ),
    ],
    run,
};

fn run(_: &Context<'_>, args: Args) -> Result<Value> {
    let document = Document::from_value(args.value("document"));
    let found = find_links(&document)?;
    let places = places(&document, found.iter().flat_map(|link| [link.span.start, link.span.end]))?;
    let place = |at: usize| places.get(&at).map_or((Value::Null, Value::Null), |(line, column)| ((*line).into(), (*column).into()));
    let shown = |link: crate::document::Link| {
        let ((line, column), (end_line, end_column)) = (place(link.span.start), place(link.span.end));
        Value::map([
            ("kind", link.kind.name().into()),
            ("text", link.text.into()),
            ("destination", link.destination.into()),
            ("line", line),
            ("column", column),
            ("end_line", end_line),
            ("end_column", end_column),
        ])
    };
    found.into_iter().map(shown).collect_checked().map(Value::List)
}

/// The line and the column of each byte, both counted from 1, columns in characters.
fn places(document: &Document, bytes: impl Iterator<Item = usize>) -> Result<HashMap<usize, (usize, usize)>> {
    let (text, ranges) = (document.text(), document.line_ranges());
    let mut bytes: Vec<usize> = bytes.collect_checked()?;
    bytes.sort_unstable();
    let mut places = HashMap::with_capacity(bytes.len());
    let (mut last_line, mut seen, mut column) = (0, 0, 0);
    for at in checked(bytes) {
        let at = at?;
        let line = ranges.partition_point(|range| range.start <= at).saturating_sub(1);
        if line != last_line {
            (last_line, seen, column) = (line, ranges.get(line).map_or(0, |range| range.start), 0);
        }
        // Characters that were counted before on the line are not counted again.
        column += letters::count(text.get(seen..at).unwrap_or_default())?;
        seen = at;
        places.insert(at, (line + 1, column + 1));
    }
    Ok(places)
}
