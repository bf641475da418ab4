//! Converts rhai's errors to diagnostics, with clear messages, in the right file, and with the calls that led to them.

use super::compiled::CompiledScripts;
use super::convert::{kind_of_type, to_value};
use super::engine::{known_arities, known_names};
use super::reserved_words::default_function;
use crate::diagnostic::{Code, Diagnostic, did_you_mean, foreign_word, translate_keyword};
use crate::guard;
use crate::source::Place;
use crate::value::{CaughtError, with_article};
use rhai::{Dynamic, EvalAltResult, INT, Map, ParseErrorType, Position};

/// The maximum number of calls in a trace.
const MAX_FRAMES: usize = 5;

/// The diagnostic of an error that a function of the script at `path` did not handle.
pub(super) fn diagnose(program: &CompiledScripts, error: EvalAltResult, path: Option<&str>) -> Box<Diagnostic> {
    let mut path = path.unwrap_or_default().to_owned();
    let mut calls = Vec::new();
    let mut error = error;
    loop {
        error = match error {
            EvalAltResult::ErrorInFunctionCall(name, source, inner, position) => {
                calls.extend(program.place(&path, position));
                if let Some(own) = program.path_of_closure(&name) {
                    own.clone_into(&mut path);
                } else if !source.is_empty() {
                    path = source;
                }
                *inner
            }
            EvalAltResult::ErrorInModule(_, inner, _) => *inner,
            inner => {
                let place = program.place(&path, inner.position()).or_else(|| calls.pop());
                return add_places(program, inner, place, calls);
            }
        }
    }
}

//= docs/spec.md#scripts
//# An error in a script MUST report its file, line and column, and the calls that led to it.
fn add_places(
    program: &CompiledScripts,
    error: EvalAltResult,
    place: Option<Place>,
    calls: Vec<Place>,
) -> Box<Diagnostic> {
    let mut diagnostic = describe_error(program, error);
    if diagnostic.at.is_none() {
        diagnostic.at = place;
    } else if let Some(place) = place
        && diagnostic.at.as_ref() != Some(&place)
    {
        diagnostic.trace.push(place);
    }
    if diagnostic.code == Code::SCRIPT
        && diagnostic.help.is_none()
        && let Some(help) = describe_value(&diagnostic)
    {
        diagnostic = diagnostic.help(help);
    }
    diagnostic.trace.extend(calls.into_iter().rev());
    diagnostic.trace.dedup();
    diagnostic.trace.truncate(MAX_FRAMES);
    diagnostic
}

/// The help for an operator or a statement that does not take a value.
fn describe_value(error: &Diagnostic) -> Option<&'static str> {
    let line = error.at.as_ref().map_or("", |at| {
        let text = &at.source.text;
        let start = text[..at.span.start].rfind('\n').map_or(0, |found| found + 1);
        text[start..].lines().next().unwrap_or_default()
    });
    let message = error.message.as_str();
    if message.starts_with("expected integer, got range") {
        Some("write `take(2)` for the first two items, `skip(1).take(2)` for others")
    } else if message.starts_with("expected bool") && line.contains("||") {
        Some("write `a ?? b` for a default: `||` takes only true and false")
    } else if message.starts_with("expected bool, got array") || message.starts_with("expected bool, got map") {
        Some("write `!x.is_empty()`, or `x != ()`: `if` and `while` take only true and false")
    } else if message.starts_with("expected bool") {
        Some("write a comparison, such as `x != ()`, `x > 0` or `x != \"\"`")
    } else if message.starts_with("`!` does not take") {
        Some("write `x.is_empty()`, or `x == ()`: `!` takes only true and false")
    } else if message.starts_with("`*` does not take string") {
        Some("write `\"ab\".repeat(3)`")
    } else if message.starts_with("`%` does not take string") {
        Some("write `` `…${x}…` `` for a text with values")
    } else if message.starts_with("`for` takes") {
        Some("write `for key in map.keys() { … map[key] … }` for a map")
    } else {
        None
    }
}

fn describe_error(program: &CompiledScripts, error: EvalAltResult) -> Box<Diagnostic> {
    use EvalAltResult as E;
    let script = |message: String| Diagnostic::new(Code::SCRIPT, message);
    match error {
        E::ErrorRuntime(thrown, _) => match to_value(&thrown, None) {
            Ok(value) => CaughtError::from_thrown(&value),
            Err(_) => script("the script threw a value that is neither a text nor a map".into()),
        },
        E::ErrorTerminated(..) => guard::current()
            .and_then(|guard| guard.verdict())
            .unwrap_or_else(|| Diagnostic::new(Code::CANCELLED, "the call was stopped")),
        E::ErrorStackOverflow(_) => describe_recursion(),
        E::ErrorFunctionNotFound(signature, _) => describe_missing_function(program, &signature),
        E::ErrorVariableNotFound(name, _) => script(format!("there is no variable `{name}`")),
        E::ErrorDataRace(what, _) => script(format!("{} is already in use", describe_data_race(&what)))
            .help("a closure cannot use the variable whose method it is passed to: write `map(list, |x| …)`"),
        E::ErrorDotExpr(message, _) | E::ErrorIndexingType(message, _) => describe_missing_property(&message),
        E::ErrorArrayBounds(length, index, _) => {
            script(format!("there is no item {index} in a list of {length}")).help("the first item is 0, the last -1")
        }
        E::ErrorStringBounds(length, index, _) => {
            script(format!("there is no character {index} in a text of {length}"))
        }
        E::ErrorMismatchDataType(wanted, got, _) | E::ErrorMismatchOutputType(wanted, got, _) => {
            script(format!("expected {}, got {}", kind_of_type(&wanted), kind_of_type(&got)))
        }
        E::ErrorFor(_) => script("`for` takes a list, a range or a sequence".into()),
        E::ErrorUnboundThis(_) => script("`this` is only bound in a method call".into()),
        E::ErrorAssignmentToConstant(name, _) => script(format!("`{name}` is a constant")),
        E::ErrorParsing(kind, _) => describe_parse_error(&kind),
        E::ErrorArithmetic(message, _) => script(lower_first(&message)),
        other => {
            let mut other = other;
            other.clear_position();
            script(lower_first(&other.to_string()))
        }
    }
}

fn describe_missing_function(program: &CompiledScripts, signature: &str) -> Box<Diagnostic> {
    let (name, types) = signature.split_once(" (").unwrap_or((signature, ")"));
    let types: Vec<&str> =
        types.strip_suffix(')').unwrap_or(types).split(", ").filter(|kind| !kind.is_empty()).collect();
    let kinds: Vec<&str> = types.iter().map(|kind| if *kind == "()" { "`()`" } else { kind_of_type(kind) }).collect();
    if let Some(parameters) = program.parameters_of_closure(name) {
        let message = format!("this function takes {parameters} arguments, but it is called with {}", kinds.len());
        return Diagnostic::new(Code::SCRIPT, message);
    }
    if !name.starts_with(|first: char| first.is_alphabetic() || first == '_') {
        let error = Diagnostic::new(Code::SCRIPT, format!("`{name}` does not take {}", kinds.join(" and ")));
        let is_missing = kinds.contains(&"`()`");
        return if is_missing { error.help("`()` is a missing value: `value ?? default` replaces it") } else { error };
    }
    let mut arities = known_arities(name);
    arities.extend(program.arities(name));
    if arities.contains(&kinds.len()) {
        let taken = if kinds.is_empty() { "no arguments".to_owned() } else { kinds.join(", ") };
        let message = format!("`{name}` does not take {taken}");
        return Diagnostic::new(Code::SCRIPT, message);
    }
    let plural = if kinds.len() == 1 { "" } else { "s" };
    let message = format!("there is no function `{name}` with {} argument{plural}", kinds.len());
    let error = Diagnostic::new(Code::SCRIPT, message);
    if let Some(primitive) = crate::primitives::find(name) {
        return error.help(format!("use it as `{}`", primitive.signature()));
    }
    arities.sort_unstable();
    arities.dedup();
    if !arities.is_empty() {
        let arities: Vec<String> = arities.iter().map(usize::to_string).collect();
        return error.help(format!("`{name}` takes {} arguments", arities.join(" or ")));
    }
    let mut names: Vec<&str> = known_names().collect();
    names.extend(program.function_names());
    //= docs/spec.md#scripts
    //# A call of an unknown function MUST fail with the nearest name.
    match foreign_word(name).or_else(|| did_you_mean(name, names.iter().copied())) {
        Some(help) => error.help(help),
        None => error.help("`toolsd docs` lists all primitives"),
    }
}

fn describe_recursion() -> Box<Diagnostic> {
    let depth = guard::current().map_or(64, |guard| guard.limits().depth);
    Diagnostic::new(Code::LIMIT, format!("functions call each other more than {depth} levels deep"))
        .author_help("end the recursion, use a loop or a walk of the graph, or raise `call_depth` in `[pack.limits]`")
}

/// The error of a script that rhai cannot parse.
pub(super) fn describe_parse_error(kind: &ParseErrorType) -> Box<Diagnostic> {
    let error = |message: String| Diagnostic::new(Code("script-syntax"), message);
    match kind {
        ParseErrorType::VariableUndefined(name) => {
            let declare = || "declare it with `let`; a top-level constant is read as `global::NAME`".to_owned();
            error(format!("there is no variable `{name}`")).help(translate_keyword(name).unwrap_or_else(declare))
        }
        ParseErrorType::Reserved(word) => {
            let quote = || {
                format!(
                    "write a map key in quotes: `#{{ \"{word}\": … }}`, `map[\"{word}\"]`; a function or a variable needs another name, such as `{}` of a tool",
                    default_function(word, "tool")
                )
            };
            error(format!("`{word}` is a reserved word")).help(translate_keyword(word).unwrap_or_else(quote))
        }
        ParseErrorType::FnDuplicatedDefinition(name, parameters) => {
            error(format!("`{name}` with {parameters} parameters is defined twice"))
        }
        ParseErrorType::ModuleUndefined(module) => error(format!("there is no module `{module}`"))
            .help("call functions by their own names, without `::`; a text is only `\"…\"`"),
        other => error(lower_first(&other.to_string()).replace('\'', "`")),
    }
}

fn describe_missing_property(message: &str) -> Box<Diagnostic> {
    let mut words = message.split('\'');
    match (words.nth(1), words.nth(1)) {
        (Some(name), Some(kind)) => {
            let error =
                Diagnostic::new(Code::SCRIPT, format!("{} has no property `{name}`", with_article(kind_of_type(kind))));
            if kind == "()" { error.help(format!("read it with `?.{name}` if it may be missing")) } else { error }
        }
        _ => Diagnostic::new(Code::SCRIPT, lower_first(message)),
    }
}

fn describe_data_race(what: &str) -> String {
    match what.strip_prefix("argument #").and_then(|rest| rest.split_once(" of function ")) {
        Some((number, name)) => format!("argument {number} of `{}`", name.trim_matches('\'')),
        None => format!("`{}`", what.trim_matches('\'')),
    }
}

fn lower_first(message: &str) -> String {
    let mut letters = message.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

/// The rhai error that a map from `catch` stands for; `None` if rhai did not make the map.
pub(super) fn error_from_caught_map(map: &Map) -> Option<EvalAltResult> {
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
        // Only the message is known: division by zero, overflow, and rare errors.
        _ => E::ErrorArithmetic(message, at),
    })
}

fn position(line: Option<INT>, column: Option<INT>) -> Position {
    let number = |number: Option<INT>| number.and_then(|number| u16::try_from(number).ok());
    number(line).map_or(Position::NONE, |line| Position::new(line.max(1), number(column).unwrap_or(0)))
}
