//! What the fuzz targets share: a call of a primitive as a script makes it, and a server on a world in memory.

mod host;
pub mod server;

use host::Nowhere;
use serde_json::Value as Json;
use std::sync::{Arc, LazyLock};
use std::time::Duration;
use toolsd::diagnostic::{Diagnostic, Result};
use toolsd::guard::{Cancel, Entered, Guard, Limits};
use toolsd::script::Program;
use toolsd::value::Value;

/// The calls that targets choose from: one function each, of the text and of its other arguments.
const CALLS: &str = include_str!("calls.rhai");

static PROGRAM: LazyLock<Program> = LazyLock::new(|| {
    let (program, errors) = Program::compile(&[("calls.rhai", CALLS)]);
    assert!(errors.is_empty(), "{errors:?}");
    program
});

/// Limits of one input. A target that needs more time than this fails with an error, as in a server; one that takes
/// much longer is found by libFuzzer's `-timeout`.
fn limits() -> Limits {
    Limits { time: Duration::from_millis(500), memory: 64 << 20, ..Limits::default() }
}

/// A guard for code that is not run by a script.
pub fn guarded() -> Entered {
    Guard::new(limits(), Cancel::default()).enter()
}

/// Calls a function of `calls.rhai`. The result must be JSON, and an error must be printable.
pub fn call(function: &str, arguments: impl IntoIterator<Item = Value>) -> Option<Json> {
    let guard = Guard::new(limits(), Cancel::default());
    let arguments = arguments.into_iter().collect();
    let result = PROGRAM.run("calls.rhai", function, arguments, Arc::new(Nowhere), guard);
    shown(result).map(|value| value.to_json())
}

/// An error must be printable as text, whatever location it names.
pub fn shown<T>(result: Result<T>) -> Option<T> {
    result.inspect_err(|error| show(error)).ok()
}

/// Prints an error as a person sees it: its locations must be in its texts.
pub fn show(error: &Diagnostic) {
    assert!(!error.to_string().is_empty());
}

/// The input as a text, after its first byte, which chooses one of `names`.
pub fn chosen<'a>(data: &'a [u8], names: &[&'static str]) -> Option<(&'static str, &'a str)> {
    let (first, rest) = data.split_first()?;
    Some((names[usize::from(*first) % names.len()], std::str::from_utf8(rest).ok()?))
}

/// The text in two: at the first line that holds nothing but `--`.
pub fn halves(text: &str) -> (&str, &str) {
    text.split_once("\n--\n").unwrap_or((text, ""))
}
