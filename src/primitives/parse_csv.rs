//! `parse_csv`: the rows of a table in comma-separated text.

use crate::diagnostic::Result;
use crate::parse::{CsvFormat, ParserInput, TEXT_KINDS, parse_csv};
use crate::primitive::{Args, Context, Effect, Example, Family, Primitive, option, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "parse_csv",
    family: Family::Parse,
    summary: "The rows of a table (RFC 4180), cells being texts: maps by the names in the first row, or lists. A quote that is not closed, and one that RFC 4180 does not allow, is a fault; an empty line is an empty cell in a table of one column, else no row.",
    params: &[
        required("text", TEXT_KINDS, "The text, or a document: then faults name its path."),
        option("header", &[Kind::Bool], "Whether the first row names the columns; `true` if left out."),
        option("quotes", &[Kind::Bool], "Whether double quotes enclose cells; `true` if left out. If `false`, they are letters like others."),
        option("separator", &[Kind::Text], "One ASCII character between the cells; a comma if left out."),
    ],
    returns: Kind::List,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r#"parse_csv("id,name\n1,tea\n")"#, r#"[{"id": "1", "name": "tea"}]"#),
        Example::gives(r#"parse_csv("a;b", #{ header: false, separator: ";" })"#, r#"[["a", "b"]]"#),
        Example::gives(r#"parse_csv("5\" pot", #{ header: false, quotes: false })"#, r#"[["5\" pot"]]"#),
        Example::fails(r#"parse_csv("a\n\"b\n")"#, "the double quote is not closed"),
        Example::fails(r#"parse_csv("a,b\n1\n")"#, "the row has 1 cells, but the header has 2"),
    ],
    run,
};

fn run(_: &Context<'_>, args: Args) -> Result<Value> {
    let unless_told = |option| args.given(option).is_none() || args.flag(option);
    let separator = args.text_or("separator").unwrap_or(",");
    let table = CsvFormat { header: unless_told("header"), separator, quotes: unless_told("quotes") };
    parse_csv(&ParserInput::from_value(args.value("text")), table)
}
