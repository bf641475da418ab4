//! `find_quote`: the location of a quote in a passage.

use crate::diagnostic::{Code, Diagnostic, Result, did_you_mean};
use crate::document::{LocatedQuote, Passage, QuoteTolerance};
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, optional, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "find_quote",
    family: Family::Parse,
    summary: "Returns the first location of `quote` in a passage or text as `#{ spans, how, line, end_line }`, or `()`. `how` is the method that found it; `line` and `end_line` are those of the document, `()` for a plain text. A quote that is only whitespace is never found.",
    params: &[
        required(
            "passage",
            &[Kind::Passage, Kind::Text],
            "Where to search. A passage keeps its prepared text, so searching for many quotes is cheap.",
        ),
        required(
            "quote",
            &[Kind::Text],
            "The text to search for; the lines of a longer quote are joined like those of a passage.",
        ),
        optional(
            "methods",
            &[Kind::Text, Kind::List],
            "The allowed differences, tried in this order: `exact` (none), `ignore_whitespace` (whitespace counts only between letters and digits, where a run equals its first character), `one_edit` (like `ignore_whitespace`, with one byte inserted, deleted or replaced; of the earliest matches the longest wins) (default: all three).",
        ),
    ],
    returns: Kind::Map,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r#"find_quote("A pot MUST brew.", "pot").how"#, r#""exact""#),
        Example::gives(r#"find_quote("A ( pot )\tMUST", "(pot) MUST").how"#, r#""ignore_whitespace""#),
        Example::gives(r#"find_quote("A pot, a can", "A pot; a can").how"#, r#""one_edit""#),
        Example::gives(r#"find_quote("A pot, a can", "A pot; a can", ["exact", "ignore_whitespace"])"#, "null"),
        Example::gives(r#"lines("a\n\nb c\nd").to_passage().find_quote("c d").line"#, "3"),
        Example::fails(r#"find_quote("a", "a", "fuzzy")"#, "`find_quote` has no method `fuzzy`"),
    ],
    run,
};

fn run(_context: &Context<'_>, args: Args) -> Result<Value> {
    let methods = match args.texts_or("methods")? {
        Some(names) => names.iter().map(|name| way(name)).collect::<Result<Vec<QuoteTolerance>>>()?,
        None => QuoteTolerance::ALL.to_vec(),
    };
    let quote = args.text("quote");
    let found = match args.object::<Passage>("passage") {
        Some(passage) => passage.find_quote(quote, &methods)?,
        None => Passage::from_text(args.text("passage")).find_quote(quote, &methods)?,
    };
    let to_value = |found: LocatedQuote| {
        let (line, end_line) = found.lines.unzip();
        let how = found.tolerance.name().into();
        let spans = Value::handle(found.spans);
        Value::map([("spans", spans), ("how", how), ("line", line.into()), ("end_line", end_line.into())])
    };
    Ok(found.map(to_value).into())
}

fn way(name: &str) -> Result<QuoteTolerance> {
    QuoteTolerance::ALL.into_iter().find(|way| way.name() == name).ok_or_else(|| {
        let error = Diagnostic::new(Code::ARGUMENTS, format!("`find_quote` has no method `{name}`"));
        error.help(did_you_mean(name, QuoteTolerance::ALL.map(QuoteTolerance::name)).unwrap_or_default())
    })
}
