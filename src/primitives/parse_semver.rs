//! `parse_semver`: the parts of a semantic version.

use crate::diagnostic::Result;
use crate::primitive::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};
use semver::Version;

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "parse_semver",
    family: Family::Parse,
    summary: "The parts of a semantic version (semver.org 2.0), or () if `text` is none: `major`, `minor` and `patch` are numbers, `pre` and `build` texts, empty if they are left out.",
    params: &[required("text", &[Kind::Text], "The version, without a leading `v`.")],
    returns: Kind::Map,
    effect: Effect::Pure,
    examples: &[
        Example::gives(
            r#"parse_semver("1.20.3-rc.1+a5")"#,
            r#"{"major": 1, "minor": 20, "patch": 3, "pre": "rc.1", "build": "a5", "text": "1.20.3-rc.1+a5"}"#,
        ),
        Example::gives(r#"parse_semver("1.2")"#, "null"),
    ],
    run,
};

fn run(_: &Context<'_>, args: Args) -> Result<Value> {
    Ok(parts(args.text("text")).into())
}

/// A number above the range of an integer makes it no version.
fn parts(text: &str) -> Option<Value> {
    let version = Version::parse(text).ok()?;
    let number = |number: u64| i64::try_from(number).ok().map(Value::Integer);
    Some(Value::map([
        ("major", number(version.major)?),
        ("minor", number(version.minor)?),
        ("patch", number(version.patch)?),
        ("pre", version.pre.as_str().into()),
        ("build", version.build.as_str().into()),
        ("text", text.into()),
    ]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_never_panics(text in "[0-9.+a-z -]{0,12}|[0-9]{18,21}[.]0[.]0") {
            prop_assert_eq!(parts(&text).is_some_and(|parts| parts.to_json()["text"] != text), false);
        }
    }
}
