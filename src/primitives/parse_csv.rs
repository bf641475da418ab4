//! `parse_csv`: the rows of a table in comma-separated text.

use crate::diagnostic::Result;
use crate::parse::{CsvFormat, ParserInput, TEXT_KINDS, parse_csv};
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, option, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "parse_csv",
    family: Family::Parse,
    summary: "Returns the rows of a table (RFC 4180) as maps by the names in the first row, or as arrays; all cells are strings. An empty line is an empty cell in a table of one column and is otherwise skipped. Fails with `parse.csv` for a quote that is not closed or that RFC 4180 does not allow, and for a row with more or fewer cells than the header.",
    params: &[
        required("text", TEXT_KINDS, "The text, or a document, whose path appears in errors."),
        option("header", &[Kind::Bool], "Whether the first row has the names of the columns (default: `true`)."),
        option(
            "quotes",
            &[Kind::Bool],
            "Whether double quotes enclose cells (default: `true`). If `false`, they are ordinary characters.",
        ),
        option("separator", &[Kind::Text], "One ASCII character between the cells (default: a comma)."),
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
    let on_by_default = |option| args.given(option).is_none() || args.flag(option);
    let separator = args.text_or("separator").unwrap_or(",");
    let table = CsvFormat { header: on_by_default("header"), separator, quotes: on_by_default("quotes") };
    parse_csv(&ParserInput::from_value(args.value("text")), table)
}
