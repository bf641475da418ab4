//! `split_lines`: the lines of a text.

use crate::diagnostic::Result;
use crate::guard::{self, CheckedIterator};
use crate::primitive_api::*;
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "split_lines",
    family: Family::Text,
    summary: "Returns the lines of `text` without their line endings (LF or CRLF). A final line ending does not begin another line.",
    params: &[required("text", &[Kind::Text], "The text.")],
    returns: Kind::List,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r#""a\r\n\nb\n".split_lines()"#, r#"["a", "", "b"]"#),
        Example::gives(r#"split_lines("")"#, r#"[]"#),
    ],
    run: |_, args| {
        let lines = args.text("text").lines().map(|line| guard::spend(line.len()).map(|()| Value::from(line)));
        lines.collect_checked::<Result<Vec<Value>>>()?.map(Value::List)
    },
};
