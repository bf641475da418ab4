//! `parse_semver`: the parts of a semantic version.

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};
use semver::Version;

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "parse_semver",
    family: Family::Parse,
    summary: "Returns a semantic version (semver.org 2.0) as `#{ major, minor, patch, pre, build, text }`, or `()` if `text` is not one. `major`, `minor` and `patch` are numbers; `pre` and `build` are strings, empty if omitted. Fails if a number exceeds 64 bits.",
    params: &[required("text", &[Kind::Text], "The version, without a leading `v`.")],
    returns: Kind::Map,
    effect: Effect::Pure,
    examples: &[
        Example::gives(
            r#"parse_semver("1.20.3-rc.1+a5")"#,
            r#"{"major": 1, "minor": 20, "patch": 3, "pre": "rc.1", "build": "a5", "text": "1.20.3-rc.1+a5"}"#,
        ),
        Example::gives(r#"parse_semver("1.2")"#, "null"),
        Example::fails(r#"parse_semver("9223372036854775808.0.0")"#, "is beyond 64 bits"),
    ],
    run,
};

fn run(_: &Context<'_>, args: Args) -> Result<Value> {
    Ok(parts(args.text("text"))?.into())
}

fn parts(text: &str) -> Result<Option<Value>> {
    let beyond = beyond(text);
    let stand_in = beyond.as_ref().map(|(_, others)| others.as_str());
    let Ok(version) = Version::parse(stand_in.unwrap_or(text)) else { return Ok(None) };
    if let Some((number, _)) = beyond {
        let shown: String = number.chars().take(MAX_SHOWN_DIGITS).collect();
        let message = format!("the number {shown} of the version is beyond 64 bits");
        return Err(Diagnostic::new(Code::ARGUMENTS, message).help("compare such versions as texts"));
    }
    let number = |number: u64| Value::Integer(i64::try_from(number).unwrap_or(i64::MAX));
    Ok(Some(Value::map([
        ("major", number(version.major)),
        ("minor", number(version.minor)),
        ("patch", number(version.patch)),
        ("pre", version.pre.as_str().into()),
        ("build", version.build.as_str().into()),
        ("text", text.into()),
    ])))
}

/// Maximum number of digits of a number in a message.
const MAX_SHOWN_DIGITS: usize = 40;

/// The first of the three numbers that exceeds 64 bits, and the version with 1 instead of each such number. The result
/// is a version if and only if `text` was one, which the reader cannot decide.
fn beyond(text: &str) -> Option<(&str, String)> {
    let core = text.split(['-', '+']).next().unwrap_or_default();
    let is_beyond = |number: &&str| {
        !number.starts_with('0') && number.bytes().all(|byte| byte.is_ascii_digit()) && !number.is_empty()
            && number.parse::<i64>().is_err()
    };
    let first = core.split('.').find(is_beyond)?;
    let others: Vec<&str> = core.split('.').map(|number| if is_beyond(&number) { "1" } else { number }).collect();
    Some((first, others.join(".") + &text[core.len()..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_never_panics(text in "[0-9.+a-z -]{0,12}|[0-9]{18,21}[.]0[.]0") {
            let reported = parts(&text).ok().flatten();
            prop_assert_eq!(reported.is_some_and(|parts| parts.to_json()["text"] != text), false);
        }

        #[test]
        fn numbers_are_kept_or_refused(number in "0|[1-9][0-9]{0,24}", place in 0..3_usize, rest in "(-[a-z]{1,3})?([+]7)?") {
            let mut numbers = ["1", "2", "3"];
            numbers[place] = &number;
            let text = format!("{}{rest}", numbers.join("."));
            match (number.parse::<i64>(), parts(&text)) {
                (Ok(number), Ok(Some(parts))) => {
                    prop_assert_eq!(&parts.to_json()[["major", "minor", "patch"][place]], number);
                }
                (Err(_), Err(error)) => prop_assert!(error.message.contains(&number), "{}", error),
                (_, reported) => prop_assert!(false, "{}: {:?}", text, reported),
            }
            // A text that is not a version is refused as such, however long its numbers are.
            for broken in [format!("0{number}1.0.0"), format!("{number}.0"), format!("{text}.")] {
                prop_assert_eq!(parts(&broken).map(|parts| parts.is_none()).ok(), Some(true), "{}", broken);
            }
        }
    }
}
