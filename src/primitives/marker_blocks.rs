//! `marker_blocks`: blocks of lines that begin with a marker.

use crate::diagnostic::Result;
use crate::document::{MarkerBlock, Document, MarkedLine, marker_blocks};
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, option, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "marker_blocks",
    family: Family::Parse,
    summary: "Returns the runs of consecutive lines that, after whitespace, begin with one of `markers`, as `#{ line, end_line, parts: [#{ marker, text, line }], raw }`. `marker` is the index of the longest matching marker, `text` is what follows it, trimmed, and `raw` is the lines from their markers on. The syntax of the language is not considered: a marker in a string counts, a marker after code does not.",
    params: &[
        required("document", &[Kind::Document, Kind::Text], "The text to search."),
        required("markers", &[Kind::List], "The beginnings of the lines."),
        option(
            "leads",
            &[Kind::Integer, Kind::List],
            "Indexes of markers that begin a new block if the block already has a line with text and another marker (default: none).",
        ),
        option(
            "fields",
            &[Kind::Integer],
            "The index of a marker whose lines are `key=value`. Blocks that do not begin with it are skipped, and in place of `parts` a block has `fields: [#{ key, value }]`, both trimmed, and `text`: the other lines that are not empty, joined by a space. A line without `=` has the key `()`.",
        ),
    ],
    returns: Kind::List,
    effect: Effect::Pure,
    examples: &[
        Example::gives(
            r##"marker_blocks("x\n  //= a#b\n  //# one\n  //# two\n//\n//= c", ["//=", "//#"])[0]"##,
            r##"{"end_line": 4, "line": 2, "parts": [{"line": 2, "marker": 0, "text": "a#b"}, {"line": 3, "marker": 1, "text": "one"}, {"line": 4, "marker": 1, "text": "two"}], "raw": "//= a#b\n//# one\n//# two"}"##,
        ),
        Example::gives(
            r##"marker_blocks("//= a\n//# one\n//= b", ["//=", "//#"], #{ leads: 0 }).map(|b| b.line)"##,
            "[1, 3]",
        ),
        Example::gives(
            r##"marker_blocks("//= a\n//= type = b=c\n//# one\n//# two", ["//=", "//#"], #{ fields: 0 })[0]"##,
            r##"{"end_line": 4, "fields": [{"key": null, "value": "a"}, {"key": "type", "value": "b=c"}], "line": 1, "raw": "//= a\n//= type = b=c\n//# one\n//# two", "text": "one two"}"##,
        ),
        Example::fails(r##"marker_blocks("a", [" #"])"##, "is empty or begins with white space"),
    ],
    run,
};

fn run(_context: &Context<'_>, args: Args) -> Result<Value> {
    let document = Document::from_value(args.value("document"));
    let leads: Vec<usize> = match args.value("leads") {
        Value::Integer(lead) => usize::try_from(*lead).into_iter().collect(),
        _ => args.list("leads")?.iter().filter_map(|lead| usize::try_from(lead.as_integer()?).ok()).collect(),
    };
    let blocks = marker_blocks(&document, &args.texts("markers")?, &leads)?;
    let Value::Integer(of_fields) = args.value("fields") else { return Ok(Value::list(blocks.iter().map(block))) };
    let is_field = |part: &MarkedLine<'_>| usize::try_from(*of_fields) == Ok(part.marker);
    let begins = |block: &&MarkerBlock<'_>| block.parts.first().is_some_and(is_field);
    Ok(Value::list(blocks.iter().filter(begins).map(|block| block_of_fields(block, &is_field))))
}

fn block(block: &MarkerBlock<'_>) -> Value {
    let part = |part: &MarkedLine<'_>| {
        Value::map([("marker", part.marker.into()), ("text", part.text.into()), ("line", part.line.into())])
    };
    Value::map([
        ("line", block.line().into()),
        ("end_line", block.end_line().into()),
        ("parts", Value::list(block.parts.iter().map(part))),
        ("raw", block.raw().into()),
    ])
}

fn block_of_fields(block: &MarkerBlock<'_>, is_field: &dyn Fn(&MarkedLine<'_>) -> bool) -> Value {
    let field = |part: &MarkedLine<'_>| match part.text.split_once('=') {
        Some((key, value)) => Value::map([("key", key.trim_end().into()), ("value", value.trim_start().into())]),
        None => Value::map([("key", Value::Null), ("value", part.text.into())]),
    };
    let (fields, others): (Vec<_>, Vec<_>) = block.parts.iter().partition(|part| is_field(part));
    let texts = others.iter().map(|part| part.text).filter(|text| !text.is_empty());
    Value::map([
        ("line", block.line().into()),
        ("end_line", block.end_line().into()),
        ("fields", Value::list(fields.into_iter().map(field))),
        ("text", texts.collect::<Vec<_>>().join(" ").into()),
        ("raw", block.raw().into()),
    ])
}
