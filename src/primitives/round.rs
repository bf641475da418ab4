//! `round`: `number` with at most `digits` digits after the point, half away from zero; a whole number stays whole.

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::primitive::*;
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "round",
    family: Family::List,
    summary: "`number` with at most `digits` digits after the point, half away from zero; a whole number stays whole.",
    params: &[
        required("number", &[Kind::Integer, Kind::Float], "The number."),
        optional("digits", &[Kind::Integer], "How many digits, 0 to 15; 0 if left out."),
    ],
    returns: Kind::Any,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r#"round(66.6667, 1)"#, r#"66.7"#),
        Example::gives(r#"round(-2.5)"#, r#"-3.0"#),
        Example::gives(r#"round(7, 2)"#, r#"7"#),
        Example::gives(r#"round(1000000000000000.5, 1)"#, r#"1000000000000000.5"#),
        Example::gives(r#"round(1e300, 5)"#, r#"1e300"#),
        Example::fails(r#"round(1.5, 99)"#, "0 to 15"),
    ],
    run,
};

fn run(_: &Context<'_>, args: Args) -> Result<Value> {
    let digits = match i32::try_from(args.integer_or("digits").unwrap_or(0)) {
        Ok(digits @ 0..=15) => digits,
        _ => return Err(Diagnostic::new(Code::ARGUMENTS, "`digits` of `round` is 0 to 15")),
    };
    Ok(match args.value("number") {
        Value::Float(number) => Value::Float(rounded(*number, digits)),
        whole => whole.clone(),
    })
}

/// From here on a number has no place for further digits: 2 to the power of 53.
const WHOLE: f64 = 9_007_199_254_740_992.0;

/// A number that has no more digits than these stays as it is.
fn rounded(number: f64, digits: i32) -> f64 {
    let scale = 10_f64.powi(digits);
    let scaled = number * scale;
    if scaled.abs() < WHOLE { scaled.round() / scale } else { number }
}
