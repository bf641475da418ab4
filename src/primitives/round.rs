//! `round`: a rounded number.

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::primitive_api::*;
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "round",
    family: Family::List,
    summary: "Returns `number` with at most `digits` digits after the point. Halves are rounded away from zero, based on the number as displayed: 2.675 with 2 digits is 2.68. An integer is returned unchanged.",
    params: &[
        required("number", &[Kind::Integer, Kind::Float], "The number."),
        optional("digits", &[Kind::Integer], "Number of digits, 0 to 15 (default: 0)."),
    ],
    returns: Kind::Any,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r#"round(66.6667, 1)"#, r#"66.7"#),
        Example::gives(r#"round(-2.5)"#, r#"-3.0"#),
        Example::gives(r#"[1.005, 2.675].map(|n| n.round(2))"#, r#"[1.01, 2.68]"#),
        Example::gives(r#"round(7, 2)"#, r#"7"#),
        Example::gives(r#"round(1000000000000000.5, 1)"#, r#"1000000000000000.5"#),
        Example::gives(r#"round(1e300, 5)"#, r#"1e300"#),
        Example::fails(r#"round(1.5, 99)"#, "0 to 15"),
    ],
    run,
};

fn run(_: &Context<'_>, args: Args) -> Result<Value> {
    let digits = match usize::try_from(args.integer_or("digits").unwrap_or(0)) {
        Ok(digits @ 0..=15) => digits,
        _ => return Err(Diagnostic::new(Code::ARGUMENTS, "`digits` of `round` is 0 to 15")),
    };
    Ok(match args.value("number") {
        Value::Float(number) => Value::Float(rounded(*number, digits)),
        whole => whole.clone(),
    })
}

/// The float nearest to the rounded decimal. The digits of the shortest decimal that parses as this number are rounded,
/// since that is what people see. Scaling the float itself would round twice and get some numbers wrong.
fn rounded(number: f64, digits: usize) -> f64 {
    let shown = number.abs().to_string();
    let Some((whole, fraction)) = shown.split_once('.') else { return number };
    let Some(next) = fraction.as_bytes().get(digits) else { return number };
    let mut decimal = format!("{whole}.{}", &fraction[..digits]).into_bytes();
    if *next >= b'5' {
        increment(&mut decimal);
    }
    let rounded = std::str::from_utf8(&decimal).ok().and_then(|decimal| decimal.parse::<f64>().ok());
    rounded.unwrap_or(number).copysign(number)
}

/// Adds one to the last digit.
fn increment(decimal: &mut Vec<u8>) {
    for digit in decimal.iter_mut().rev().filter(|byte| **byte != b'.') {
        if *digit != b'9' {
            *digit += 1;
            return;
        }
        *digit = b'0';
    }
    decimal.insert(0, b'1');
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The same with integers, for decimals of at most 17 digits.
    fn by_whole_numbers(units: i64, places: u32, digits: u32) -> f64 {
        let step = 10_i64.pow(places.saturating_sub(digits));
        let steps = (units.abs() + step / 2) / step * units.signum();
        format!("{steps}e-{}", places.min(digits)).parse().unwrap_or(f64::NAN)
    }

    proptest! {
        #[test]
        fn decimals_are_rounded_as_they_are_written(
            units in -999_999_999_999_999_i64..=999_999_999_999_999,
            places in 0_u32..=15,
            digits in 0_u32..=15,
        ) {
            let number: f64 = format!("{units}e-{places}").parse().unwrap_or(f64::NAN);
            let expected = by_whole_numbers(units, places, digits);
            prop_assert_eq!(rounded(number, digits as usize), expected, "{} to {}", number, digits);
        }

        #[test]
        fn what_is_rounded_stays(number in any::<f64>(), digits in 0_usize..=15) {
            let once = rounded(number, digits);
            prop_assert!(once.is_nan() == number.is_nan() && (once.is_nan() || rounded(once, digits) == once));
            prop_assert!(!number.is_finite() || once.to_string().split_once('.').is_none_or(|(_, rest)| rest.len() <= digits));
        }
    }

    #[test]
    fn numbers_that_scaling_rounds_wrongly() {
        for (number, digits, expected) in [
            (278.474_053, 13, 278.474_053),
            (28_812_614_598.247_154, 5, 28_812_614_598.247_15),
            (-4.19, 15, -4.19),
            (1.1, 15, 1.1),
            (0.285, 2, 0.29),
            (-1.005, 2, -1.01),
            (9.995, 2, 10.0),
            (99.5, 0, 100.0),
            (5e-324, 15, 0.0),
            (1e22, 3, 1e22),
        ] {
            assert_eq!(rounded(number, digits), expected, "{number} to {digits}");
        }
        assert!(rounded(-0.4, 0).is_sign_negative());
    }
}
