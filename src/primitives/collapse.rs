//! `collapse`: `text` trimmed, each run of white space in it as one blank.

use crate::primitive::*;
use crate::value::Kind;

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "collapse",
    family: Family::Text,
    summary: "`text` trimmed, each run of white space in it as one blank.",
    params: &[required("text", &[Kind::Text], "The text.")],
    returns: Kind::Text,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r#"" a\n  b\tc ".collapse()"#, r#""a b c""#),
        Example::gives(r#"collapse(" \n")"#, r#""""#),
    ],
    run: |_, args| Ok(collapsed(args.text("text")).into()),
};

fn collapsed(text: &str) -> String {
    let mut collapsed = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !collapsed.is_empty() {
            collapsed.push(' ');
        }
        collapsed.push_str(word);
    }
    collapsed
}
