//! A fault of rhai's, told from the map that rhai makes of it for `catch`.

use rhai::{Dynamic, EvalAltResult, INT, Map, Position};

/// The fault that a map stands for; nothing if rhai did not make it.
pub(super) fn of_caught(map: &Map) -> Option<EvalAltResult> {
    use EvalAltResult as E;
    let text = |key: &str| map.get(key).and_then(|value| value.clone().into_string().ok());
    let number = |key: &str| map.get(key).and_then(|value| value.as_int().ok());
    let length = || usize::try_from(number("length").unwrap_or(0)).unwrap_or(0);
    let sort = text("error").filter(|sort| sort.starts_with("Error"))?;
    let message = text("message")?;
    let at = position(number("line"), number("position"));
    let named = |key: &str| text(key).unwrap_or_default();
    Some(match sort.as_str() {
        "ErrorFunctionNotFound" => E::ErrorFunctionNotFound(named("function"), at),
        "ErrorVariableNotFound" => E::ErrorVariableNotFound(named("variable"), at),
        "ErrorDataRace" => E::ErrorDataRace(named("variable"), at),
        "ErrorAssignmentToConstant" => E::ErrorAssignmentToConstant(named("variable"), at),
        "ErrorDotExpr" => E::ErrorDotExpr(named("property"), at),
        "ErrorIndexingType" => E::ErrorIndexingType(named("type"), at),
        "ErrorArrayBounds" => E::ErrorArrayBounds(length(), number("index")?, at),
        "ErrorStringBounds" => E::ErrorStringBounds(length(), number("index")?, at),
        "ErrorMismatchDataType" => E::ErrorMismatchDataType(named("requested"), named("actual"), at),
        "ErrorMismatchOutputType" => E::ErrorMismatchOutputType(named("requested"), named("actual"), at),
        "ErrorIndexNotFound" => E::ErrorIndexNotFound(map.get("index").cloned().unwrap_or(Dynamic::UNIT), at),
        "ErrorFor" => E::ErrorFor(at),
        "ErrorUnboundThis" => E::ErrorUnboundThis(at),
        "ErrorStackOverflow" => E::ErrorStackOverflow(at),
        // Its own words are all there is: division by zero, overflow, and what is rare.
        _ => E::ErrorArithmetic(message, at),
    })
}

fn position(line: Option<INT>, column: Option<INT>) -> Position {
    let number = |number: Option<INT>| number.and_then(|number| u16::try_from(number).ok());
    match number(line) {
        Some(line) if line > 0 => Position::new(line, number(column).unwrap_or(0)),
        _ => Position::NONE,
    }
}
