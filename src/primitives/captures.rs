//! `captures`: the groups of the first match of a regular expression.

use crate::diagnostic::Result;
use crate::pattern::Pattern;
use crate::primitive_api::*;
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "captures",
    family: Family::Text,
    summary: "Returns the groups of the first match of `regex` in `text`, as a map by number (0 is the whole match) and by name, or `()` if nothing matches. A group that did not take part is `()`.",
    params: &[
        required("text", &[Kind::Text], "The text."),
        parameters::REGEX,
    ],
    returns: Kind::Map,
    effect: Effect::Pure,
    examples: &[
        Example::gives(
            r#""key = 5".captures("(?<name>\\w+) = (\\d+)")"#,
            r#"{"0": "key = 5", "1": "key", "2": "5", "name": "key"}"#,
        ),
        Example::gives(r#""b".captures("(a)?b")["1"]"#, r#"null"#),
        Example::gives(r#"captures("x", "y")"#, r#"null"#),
    ],
    run,
};

fn run(_: &Context<'_>, args: Args) -> Result<Value> {
    let (pattern, text) = (Pattern::compile_cached(args.text("regex"))?, args.text("text"));
    Ok(Value::from(pattern.first(text)?.map(|found| pattern.groups(text, &found))))
}
