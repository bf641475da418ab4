//! Writes what came in place of what was expected: the value of `expect.result`, where it was written.

use crate::definition::code::CASE;
use crate::diagnostic::{Diagnostic, Result};
use crate::edit::inline_toml;
use crate::source::Place;
use crate::value::Json;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A new value for an `expect.result`.
#[derive(Clone, Debug)]
pub struct Blessing {
    /// The key `result` of `expect`, or `result_json`.
    pub at: Place,
    /// The actual value.
    pub value: Json,
}

/// Returns the text of a definition file with new values. All blessings are of this file. Fails if one cannot be
/// written.
//= docs/spec.md#definitions
//# `toolsd test --bless` MUST change only the expected values in a definition file.
pub fn bless(text: &str, blessings: &[Blessing]) -> Result<String> {
    let (table, _) = DeTable::parse_recoverable(text);
    let mut replaced: Vec<(Range<usize>, String)> = Vec::new();
    for blessing in blessings {
        let span = value_span(table.get_ref(), blessing.at.span.clone()).ok_or_else(|| {
            refuse(blessing, "it is a separate table", "write it as `expect.result = …` on one line, then bless again")
        })?;
        let is_json = text[blessing.at.span.clone()].ends_with("_json");
        let written = if is_json {
            format!("'''\n{}\n'''", serde_json::to_string_pretty(&blessing.value).unwrap_or_default())
        } else {
            inline_toml(&blessing.value)
                .ok_or_else(|| refuse(blessing, "TOML has no `null`", "write it as `expect.result_json = '''…'''`"))?
        };
        replaced.push((span, written));
    }
    replaced.sort_by_key(|(span, _)| std::cmp::Reverse(span.start));
    let mut blessed = text.to_owned();
    for (span, written) in replaced {
        blessed.replace_range(span, &written);
    }
    Ok(blessed)
}

fn refuse(blessing: &Blessing, why: &str, help: &str) -> Box<Diagnostic> {
    Diagnostic::new(CASE, format!("cannot write the actual result here: {why}")).at(blessing.at.clone()).help(help)
}

/// Returns the span of the value of the key at `key`.
fn value_span(table: &DeTable<'_>, key: Range<usize>) -> Option<Range<usize>> {
    table
        .iter()
        .find_map(|(name, value)| if name.span() == key { inline_span(value) } else { span_within(value, &key) })
}

fn span_within(value: &Spanned<DeValue<'_>>, key: &Range<usize>) -> Option<Range<usize>> {
    match value.get_ref() {
        DeValue::Table(table) => value_span(table, key.clone()),
        DeValue::Array(items) => items.iter().find_map(|item| span_within(item, key)),
        _ => None,
    }
}

/// Returns the span of a value after a `=`; `None` for a table with its own header.
fn inline_span(value: &Spanned<DeValue<'_>>) -> Option<Range<usize>> {
    let is_inline = match value.get_ref() {
        DeValue::Table(table) => table.iter().all(|(name, _)| value.span().contains(&name.span().start)),
        DeValue::Array(items) => items.iter().all(|item| value.span().contains(&item.span().start)),
        _ => true,
    };
    is_inline.then(|| value.span())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::source::Source;
    use proptest::prelude::*;
    use serde_json::json;

    fn blessed(text: &str, key: &str, value: Json) -> Result<String> {
        let start = text.find(key).unwrap();
        let at = Source::new("a.toml", text).place(start..start + key.len());
        bless(text, &[Blessing { at, value }])
    }

    #[test]
    fn only_the_value_changes() {
        let text = "# one\n[[tool.example]]\nexpect.result = [{ a = 1 }] # two\narguments = {}\n";
        let expected =
            "# one\n[[tool.example]]\nexpect.result = { b = \"x\\n\", \"c d\" = [1, 2.5] } # two\narguments = {}\n";
        assert_eq!(blessed(text, "result", json!({ "b": "x\n", "c d": [1, 2.5] })).unwrap(), expected);
        assert!(blessed(text, "result", json!({ "b": null })).is_err());
        let text = "[x]\ngives_json = '{}'\n";
        assert_eq!(blessed(text, "gives_json", json!(null)).unwrap(), "[x]\ngives_json = '''\nnull\n'''\n");
        assert!(blessed("[x.gives]\na = 1\n", "gives", json!(1)).is_err());
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_as_it_was(texts in proptest::collection::vec(".*", 0..4), number in any::<i64>()) {
            let value = json!({ "texts": texts, "number": number, "flag": true });
            let written = format!("expect.result = {}", inline_toml(&value).unwrap());
            let read: toml::Table = toml::from_str(&written).unwrap();
            prop_assert_eq!(serde_json::to_value(&read["expect"]["result"]).unwrap(), value);
        }
    }
}
