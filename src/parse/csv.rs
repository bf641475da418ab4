//! Tables in comma-separated text (RFC 4180).

use super::Input;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard::{self, ITEM, Work};
use crate::value::{Map, Text, Value};
use csv::{ReaderBuilder, StringRecord};
use std::collections::HashSet;
use std::sync::Arc;

/// The code of its faults.
const CODE: Code = Code("parse.csv");

/// The rows of a table; all cells are texts. With a `header` each row is a map by the names in the first row, and
/// one with more or fewer cells is a fault `parse.csv`; without, each is a list of as many cells as it has. Empty
/// lines are no rows. `separator` is one ASCII character.
pub fn rows(input: &Input<'_>, header: bool, separator: &str) -> Result<Value> {
    let &[separator] = separator.as_bytes() else {
        let message = format!("`separator` is one ASCII character, got `{separator}`");
        return Err(Diagnostic::new(Code::ARGUMENTS, message).help(r#"use `","`, `";"`, `"\t"` or `"|"`"#));
    };
    let mut reader = ReaderBuilder::new()
        .delimiter(separator)
        .has_headers(false)
        .flexible(true)
        .from_reader(Guarded(input.text().as_bytes()));
    let mut record = StringRecord::new();
    let mut names: Option<Vec<Text>> = None;
    let mut rows = Vec::new();
    while reader.read_record(&mut record).map_err(|error| {
        // What the guard said comes first.
        guard::check().err().unwrap_or_else(|| input.fault(CODE, 0, error.to_string()))
    })? {
        guard::spend(record.len() * ITEM + record.as_slice().len())?;
        match &names {
            None if header => names = Some(read_names(input, &record)?),
            None => rows.push(Value::list(record.iter().map(Value::from))),
            Some(names) if names.len() == record.len() => {
                let pairs = names.iter().map(Arc::clone).zip(record.iter().map(Value::from));
                rows.push(Value::Map(pairs.collect::<Map>()));
            }
            Some(names) => {
                let message = format!("the row has {} cells, the header {}", record.len(), names.len());
                return Err(input.fault(CODE, start(input, &record), message).help(
                    "a cell with the separator or a line end stands in double quotes; `header: false` gives lists",
                ));
            }
        }
    }
    Ok(Value::List(rows))
}

/// Bytes that are handed over in parts, the guard being asked in between: one record may be the whole text.
struct Guarded<'a>(&'a [u8]);

impl std::io::Read for Guarded<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let read = self.0.read(into)?;
        guard::spend(read * QUOTED).map_err(|_| std::io::Error::other("stopped"))?;
        Ok(read)
    }
}

/// The work of a byte at worst: quotes take longer than letters.
const QUOTED: usize = 4;

fn read_names(input: &Input<'_>, record: &StringRecord) -> Result<Vec<Text>> {
    let names: Vec<Text> = record.iter().map(|name| Text::from(name.trim())).collect_checked()?;
    let mut seen = HashSet::new();
    for name in &names {
        guard::spend(ITEM + name.len())?;
        if !seen.insert(name) {
            let message = format!("the column `{name}` stands twice in the header");
            let fault = input.fault(CODE, start(input, record), message);
            return Err(fault.help("`header: false` gives the rows as lists"));
        }
    }
    Ok(names)
}

/// The byte at which a row begins: the reader counts the blank lines before it to it.
fn start(input: &Input<'_>, record: &StringRecord) -> usize {
    let at = record.position().map_or(0, |at| usize::try_from(at.byte()).unwrap_or(0)).min(input.text().len());
    at + input.text().as_bytes()[at..].iter().take_while(|byte| matches!(byte, b'\n' | b'\r')).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn read(text: &str, header: bool) -> Result<serde_json::Value> {
        rows(&Input::of(&text.into()), header, ",").map(|rows| rows.to_json())
    }

    #[test]
    fn rows_are_maps_or_lists() {
        let text = "\u{feff}id,name\r\n1,\"a, \"\"b\"\"\nc\"\r\n\r\n2,\r\n";
        assert_eq!(read(text, true), Ok(json!([{ "id": "1", "name": "a, \"b\"\nc" }, { "id": "2", "name": "" }])));
        assert_eq!(read("a\nb,c\n", false), Ok(json!([["a"], ["b", "c"]])));
        assert_eq!(read("", true), Ok(json!([])));
    }

    #[test]
    fn an_uneven_row_and_a_name_twice_are_faults() {
        let fault = |text: &str| read(text, true).err().map_or_else(String::new, |fault| fault.to_string());
        assert!(
            fault("a,b\n1,2\n\n3\n").starts_with("text:4:1: the row has 1 cells, the header 2"),
            "{}",
            fault("a,b\n1,2\n\n3\n")
        );
        assert!(fault("a,b,a\n").starts_with("text:1:1: the column `a` stands twice"));
        let fault = rows(&Input::of(&"".into()), true, "::").err().map(|fault| fault.code);
        assert_eq!(fault, Some(Code::ARGUMENTS));
    }

    proptest! {
        //= docs/spec.md#robustness
        //= type=test
        //# A parser MUST NOT panic, whatever text it is given.
        #[test]
        fn it_never_panics(text in "[a,\"\r\nö]{0,24}", header in any::<bool>()) {
            let _ = read(&text, header);
        }
    }
}
