//! `diff`: a unified diff of two texts.

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::bounded::BoundedText;
use crate::guard;
use crate::primitive_api::*;
use crate::value::{Kind, Value};
use similar::TextDiff;
use std::time::{Duration, Instant};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "diff",
    family: Family::Text,
    summary: "Returns the changes from text `a` to text `b`, line by line, in the unified format; empty if there are none.",
    params: &[
        required("a", &[Kind::Text], "The text before."),
        required("b", &[Kind::Text], "The text after."),
        option("from", &[Kind::Text], "The name of `a` in the first header line (default: `a`)."),
        option("to", &[Kind::Text], "The name of `b` in the second header line (default: `b`)."),
        option("context", &[Kind::Integer], "Number of unchanged lines to show around a change (default: 3)."),
    ],
    returns: Kind::Text,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r#"diff("one\ntwo\n", "one\n2\n")"#, r#""--- a\n+++ b\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n""#),
        Example::gives(
            r#"diff("a\nb\n", "a\n", #{ from: "old", to: "new", context: 0 })"#,
            r#""--- old\n+++ new\n@@ -2 +1,0 @@\n-b\n""#,
        ),
        Example::gives(
            r#"diff("a\rb\n", "a\rc\r")"#,
            r#""--- a\n+++ b\n@@ -1 +1 @@\n-a\rb\n+a\rc\r\n\\ No newline at end of file\n""#,
        ),
        Example::gives(r#"diff("same", "same")"#, r#""""#),
    ],
    run,
};

/// Maximum number of lines, of both texts together: the comparison cannot be interrupted.
const MAX_LINES: usize = 200_000;

/// Time limit of one comparison, before the guard is checked again.
const MAX_UNINTERRUPTIBLE: Duration = Duration::from_millis(200);

/// The time to split a byte into lines and to hash it, in nanoseconds.
const SPLIT_NS_PER_BYTE: u32 = 5;

fn run(_: &Context<'_>, args: Args) -> Result<Value> {
    let (a, b) = (args.text("a"), args.text("b"));
    guard::check()?;
    let lines = memchr::memchr_iter(b'\n', a.as_bytes()).count() + memchr::memchr_iter(b'\n', b.as_bytes()).count();
    if lines > MAX_LINES {
        let message = format!("`diff` compares {MAX_LINES} lines at most, got {lines}");
        return Err(Diagnostic::new(Code::LIMIT, message).help("compare parts of the texts"));
    }
    let context = args.integer_or("context").map_or(3, |context| usize::try_from(context).unwrap_or(0)).min(MAX_LINES);
    let names = (args.text_or("from").unwrap_or("a"), args.text_or("to").unwrap_or("b"));
    guard::require_time("`diff`", a.len() + b.len(), SPLIT_NS_PER_BYTE)?;
    // When the time is over, the diff is rough, and the guard reports that the time is over.
    let rough = Instant::now() + guard::time_left().min(MAX_UNINTERRUPTIBLE);
    // A line ends at a line feed, as for `diff` and `patch`. A lone carriage return is an ordinary character.
    let (a, b): (Vec<&str>, Vec<&str>) = (a.split_inclusive('\n').collect(), b.split_inclusive('\n').collect());
    let diff = TextDiff::configure().deadline(rough).diff_slices(&a, &b);
    guard::check()?;
    if Instant::now() >= rough {
        return Err(Diagnostic::new(Code::LIMIT, "`diff` found no end: the texts differ in too many lines")
            .help("compare parts of the texts"));
    }
    let mut text = BoundedText::default();
    let mut made = diff.unified_diff();
    for (place, hunk) in made.context_radius(context).iter_hunks().enumerate() {
        if place == 0 {
            text.push(&format!("--- {}\n+++ {}\n", names.0, names.1))?;
        }
        text.push(&format!("{}\n", hunk.header()))?;
        for change in hunk.iter_changes() {
            text.push(&format!("{}{}", change.tag(), change.value()))?;
            if !change.value().ends_with('\n') {
                text.push("\n\\ No newline at end of file\n")?;
            }
        }
    }
    Ok(text.into_value())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use similar::TextDiff;

    proptest! {
        #[test]
        fn it_never_panics_and_is_empty_for_equal_texts(a in "([ab]\r?\n?){0,9}", b in "([ab]\r?\n?){0,9}") {
            let unified = TextDiff::from_lines(&a, &b).unified_diff().header("a", "b").to_string();
            prop_assert_eq!(unified.is_empty(), a == b);
        }
    }
}
