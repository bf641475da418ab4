//! The rules of `parse_csv`, case by case, and against a writer.

use super::*;
use crate::value::Json;
use proptest::prelude::*;
use serde_json::json;

const COMMA: CsvFormat<'static> = CsvFormat { header: false, separator: ",", quotes: true };

fn read_as(text: &str, table: CsvFormat<'_>) -> Result<Json> {
    parse_csv(&ParserInput::from_value(&text.into()), table).map(|rows| rows.to_json())
}

fn read(text: &str, header: bool) -> Result<Json> {
    read_as(text, CsvFormat { header, ..COMMA })
}

fn error_text(text: &str, header: bool) -> String {
    read(text, header).expect_err(text).to_string()
}

#[test]
fn rows_are_maps_or_lists() {
    let text = "\u{feff}id,name\r\n1,\"a, \"\"b\"\"\nc\"\r\n\r\n2,\r\n";
    assert_eq!(read(text, true), Ok(json!([{ "id": "1", "name": "a, \"b\"\nc" }, { "id": "2", "name": "" }])));
    assert_eq!(read("a\nb,c\n", false), Ok(json!([["a"], ["b", "c"]])));
    assert_eq!(read("a,b\r\rc,\"d\re\"\r", false), Ok(json!([["a", "b"], ["c", "d\re"]])));
    assert_eq!((read("", true), read("\n\r\n", true)), (Ok(json!([])), Ok(json!([]))));
}

#[test]
fn uneven_rows_and_duplicate_names_are_errors() {
    let reported = |text| error_text(text, true);
    assert!(reported("a,b\n1,2\n\n3\n").starts_with("text:4:1: the row has 1 cells, but the header has 2"));
    assert!(reported("a,b,a\n").starts_with("text:1:1: the column `a` appears twice"));
    for separator in ["::", "", "ö", "\"", "\n"] {
        let error = read_as("", CsvFormat { separator, ..COMMA }).err().map(|error| error.code);
        assert_eq!(error, Some(Code::ARGUMENTS), "{separator}");
    }
}

#[test]
fn invalid_quotes_are_errors_with_location() {
    for (text, place, message) in [
        ("id,name\n1,\"tea\n2,pot\n", "2:3", "the double quote is not closed"),
        ("a\n\"", "2:1", "the double quote is not closed"),
        ("a\n\"\"\"", "2:1", "the double quote is not closed"),
        ("a,b\n1,tea \"hot\n", "2:7", "a double quote within an unquoted cell"),
        ("a,b\n 1, \"2,3\"\n", "2:5", "a double quote within an unquoted cell"),
        ("a,b\n\"x\" ,y\n", "2:4", "text after the double quote that closes a cell"),
        ("a,b\n1,\"pot\"x\n", "2:8", "text after the double quote that closes a cell"),
    ] {
        for header in [true, false] {
            assert!(
                error_text(text, header).starts_with(&format!("text:{place}: {message}")),
                "{}",
                error_text(text, header)
            );
        }
    }
    let letters = CsvFormat { quotes: false, separator: "\t", header: true };
    assert_eq!(read_as("pipe\tin\n5\" pipe\t\"x\n", letters), Ok(json!([{ "pipe": "5\" pipe", "in": "\"x" }])));
}

#[test]
fn an_empty_line_is_a_cell_where_there_is_one_column() {
    assert_eq!(read("\nn\n1\n\n3\n", true), Ok(json!([{ "n": "1" }, { "n": "" }, { "n": "3" }])));
    assert_eq!(read("1\n\n3\n", false), Ok(json!([["1"], [""], ["3"]])));
    assert_eq!(read("1\n\n3,4\n\n", false), Ok(json!([["1"], ["3", "4"]])));
    assert_eq!(read("n\n\"\"\n", true), Ok(json!([{ "n": "" }])));
    assert_eq!(read("a,b\n\n1,2\n", true), Ok(json!([{ "a": "1", "b": "2" }])));
}

/// A table as RFC 4180 writes it, with quotes where they are required, or everywhere.
fn written(rows: &[Vec<String>], everywhere: bool, end: &str, last: bool) -> String {
    let cell = |cell: &String| match everywhere || cell.contains(['"', ',', '\r', '\n']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell.clone(),
    };
    let rows: Vec<String> = rows.iter().map(|row| row.iter().map(cell).collect::<Vec<_>>().join(",")).collect();
    rows.join(end) + if last { end } else { "" }
}

proptest! {
    #[test]
    fn what_is_written_is_read_again(
        columns in 1..4_usize,
        cells in prop::collection::vec("[ab \",;é\r\n\t]{0,4}|\u{feff}", 3..12),
        everywhere in any::<bool>(),
        end in prop::sample::select(&["\n", "\r\n", "\r"][..]),
        last in any::<bool>(),
    ) {
        let rows: Vec<Vec<String>> = cells.chunks_exact(columns).map(<[String]>::to_vec).collect();
        let ends_empty = rows.last().is_some_and(|row| row.concat().is_empty());
        // If all cells are empty, or the text ends with an empty line, a row without quotes is invisible.
        prop_assume!(everywhere || columns > 1 || (rows.concat().concat() != "" && (last || !ends_empty)));
        let text = written(&rows, everywhere, end, last);
        // A byte order mark at the very beginning is not part of the text.
        prop_assume!(!text.starts_with('\u{feff}'));
        prop_assert_eq!(read(&text, false), Ok(json!(rows)), "{:?}", text);
    }

    //= docs/spec.md#robustness
    //= type=test
    //# A parser MUST NOT panic, whatever text it is given.
    #[test]
    fn it_never_panics(text in "[a,\"\r\nö]{0,24}", header in any::<bool>(), quotes in any::<bool>()) {
        let _ = read_as(&text, CsvFormat { header, quotes, separator: "," });
    }
}
