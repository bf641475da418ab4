//! Numbers: where rhai's own functions give an answer that is none.

use super::{Outcome, raise};
use crate::diagnostic::{Code, Diagnostic};
use rhai::{FLOAT, FuncRegistration, INT, Module, NativeCallContext};

pub(super) fn register(module: &mut Module) {
    FuncRegistration::new("to_int").with_purity(true).with_volatility(false).set_into_module(
        module,
        |context: NativeCallContext, number: FLOAT| -> Outcome<INT> {
            whole(number).ok_or_else(|| {
                let message = format!("`to_int` has no whole number for {number}");
                let help = "integers go from -9223372036854775808 to 9223372036854775807; `is_finite()` tests a float";
                raise(Diagnostic::new(Code::ARGUMENTS, message).help(help), &context)
            })
        },
    );
}

/// The number without its fraction, if an integer holds it: rhai gives 0 for NaN.
#[allow(clippy::cast_possible_truncation, reason = "the range was checked")]
fn whole(number: FLOAT) -> Option<INT> {
    const BEYOND: FLOAT = 9_223_372_036_854_775_808.0;
    (-BEYOND..BEYOND).contains(&number).then_some(number as INT)
}
