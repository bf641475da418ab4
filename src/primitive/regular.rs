//! The parameter of all primitives that take a regular expression.

use super::{Param, required};
use crate::value::Kind;

/// The parameter `regex`.
pub const REGEX: Param = required(
    "regex",
    &[Kind::Text],
    "The regular expression, in the syntax of the Rust crate `regex`; look-around and back references work too. Counts repeat a part up to 1,000 times, nested counts multiplied. With look-around or back references, up to 20 MB divided by the number of parts of the pattern are searched at once, and a longer text line by line, which no part may leave: `[^x]`, `\\s`, `^` and `$` do, `[^x\\n]`, `[ \\t]`, `(?m)^` and `(?m)$` do not.",
);
