//! `closest_match`: the strings that are most similar to another one.

use crate::diagnostic::Result;
use crate::similarity;
use crate::primitive_api::*;
use crate::sequence;
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "closest_match",
    family: Family::Text,
    summary: "Returns the string in `list` that is most similar to `text`, or `()` if none is close enough. With `limit`, returns an array of at most `limit` strings, the most similar first.",
    params: &[
        required("text", &[Kind::Text], "The text."),
        required("list", sequence::KINDS, "The strings to choose from; other items are ignored."),
        option("limit", &[Kind::Integer], "Maximum number of strings to return."),
    ],
    returns: Kind::Any,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r#""efect".closest_match(["effect", "script"])"#, r#""effect""#),
        Example::gives(r#"closest_match("zebra", ["effect"])"#, r#"null"#),
        Example::gives(r#""spec-1".closest_match(["x", "spec-2", "spec-1a"], #{ limit: 3 })"#, r#"["spec-2", "spec-1a"]"#),
    ],
    run,
};

fn run(_: &Context<'_>, mut args: Args) -> Result<Value> {
    let items = sequence::items(&mut args, "list")?;
    let texts: Vec<&str> = items.iter().filter_map(Value::as_text).collect();
    let Some(limit) = args.integer_or("limit") else {
        let near = similarity::nearest(args.text("text"), &texts, 1)?;
        return Ok(Value::from(near.first().map(|place| texts[*place])));
    };
    let near = similarity::nearest(args.text("text"), &texts, usize::try_from(limit).unwrap_or(0))?;
    Ok(Value::list(near.into_iter().map(|place| texts[place].into())))
}
