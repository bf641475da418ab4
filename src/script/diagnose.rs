//! rhai's faults as diagnostics: in our words, in the right file, with the calls that led there.

use super::{HandleBox, Inner, current, known_arities, known_names, to_value};
use crate::diagnostic::{Code, Diagnostic, did_you_mean};
use crate::guard;
use crate::source::Place;
use crate::value::{Fault, Value};
use rhai::{Dynamic, EvalAltResult, NativeCallContext, ParseErrorType, Position};

/// At most so many calls are kept.
const FRAMES: usize = 5;

/// A fault of a primitive as rhai carries it. What a guard raised cannot be caught.
pub(super) fn raise(fault: Box<Diagnostic>, context: &NativeCallContext<'_>) -> Box<EvalAltResult> {
    let position = context.call_position();
    if guard::current().is_some_and(|guard| guard.verdict().is_some()) {
        return EvalAltResult::ErrorTerminated(Dynamic::UNIT, position).into();
    }
    let fault = match (&fault.at, current()) {
        (None, Ok(running)) => match running.program.place(context.call_source().unwrap_or_default(), position) {
            Some(place) => fault.at(place),
            None => fault,
        },
        _ => fault,
    };
    let Value::Handle(handle) = Fault::value(fault) else { unreachable!("a fault is a handle") };
    EvalAltResult::ErrorRuntime(Dynamic::from(HandleBox(handle)), position).into()
}

impl Inner {
    /// The diagnostic of a fault that left a function of the script at `path`.
    pub(super) fn diagnose(&self, fault: EvalAltResult, path: Option<&str>) -> Box<Diagnostic> {
        let mut path = path.unwrap_or_default().to_owned();
        let mut calls = Vec::new();
        let mut fault = fault;
        loop {
            fault = match fault {
                EvalAltResult::ErrorInFunctionCall(name, source, inner, position) => {
                    calls.extend(self.place(&path, position));
                    if let Some(own) = self.path_of_closure(&name) {
                        own.clone_into(&mut path);
                    } else if !source.is_empty() {
                        path = source;
                    }
                    *inner
                }
                EvalAltResult::ErrorInModule(_, inner, _) => *inner,
                inner => {
                    let place = self.place(&path, inner.position()).or_else(|| calls.pop());
                    return self.finish(inner, place, calls);
                }
            }
        }
    }

    fn finish(&self, fault: EvalAltResult, place: Option<Place>, calls: Vec<Place>) -> Box<Diagnostic> {
        let mut diagnostic = self.in_our_words(fault);
        if diagnostic.at.is_none() {
            diagnostic.at = place;
        } else if let Some(place) = place
            && diagnostic.at.as_ref() != Some(&place)
        {
            diagnostic.trace.push(place);
        }
        diagnostic.trace.extend(calls.into_iter().rev());
        diagnostic.trace.dedup();
        diagnostic.trace.truncate(FRAMES);
        diagnostic
    }

    fn in_our_words(&self, fault: EvalAltResult) -> Box<Diagnostic> {
        use EvalAltResult as E;
        let script = |message: String| Diagnostic::new(Code::SCRIPT, message);
        match fault {
            E::ErrorRuntime(thrown, _) => match to_value(&thrown, None) {
                Ok(value) => Fault::from_thrown(&value),
                Err(_) => script("the script threw a value that is no text and no map".into()),
            },
            E::ErrorTerminated(..) => guard::current()
                .and_then(|guard| guard.verdict())
                .unwrap_or_else(|| Diagnostic::new(Code::CANCELLED, "the call was ended")),
            E::ErrorStackOverflow(_) => too_deep(),
            E::ErrorFunctionNotFound(signature, _) => self.no_function(&signature),
            E::ErrorVariableNotFound(name, _) => script(format!("there is no variable `{name}`")),
            E::ErrorDataRace(what, _) => script(format!("{} is in use", data_race(&what)))
                .help("a closure cannot name the variable whose method it is passed to: write `map(list, |x| …)`"),
            E::ErrorDotExpr(message, _) | E::ErrorIndexingType(message, _) => no_property(&message),
            E::ErrorArrayBounds(length, index, _) => script(format!("there is no item {index} in a list of {length}"))
                .help("the first item is 0, the last -1"),
            E::ErrorStringBounds(length, index, _) => {
                script(format!("there is no character {index} in a text of {length}"))
            }
            E::ErrorMismatchDataType(wanted, got, _) | E::ErrorMismatchOutputType(wanted, got, _) => {
                script(format!("expected {}, got {}", kind_of_type(&wanted), kind_of_type(&got)))
            }
            E::ErrorFor(_) => script("`for` takes a list, a range or a sequence".into()),
            E::ErrorUnboundThis(_) => script("`this` is bound in a method call only".into()),
            E::ErrorAssignmentToConstant(name, _) => script(format!("`{name}` is a constant")),
            E::ErrorParsing(kind, _) => parse_fault(&kind),
            E::ErrorArithmetic(message, _) => script(lower(&message)),
            other => {
                let mut other = other;
                other.clear_position();
                script(lower(&other.to_string()))
            }
        }
    }

    fn no_function(&self, signature: &str) -> Box<Diagnostic> {
        let (name, types) = signature.split_once(" (").unwrap_or((signature, ")"));
        let types: Vec<&str> = types.trim_end_matches(')').split(", ").filter(|kind| !kind.is_empty()).collect();
        let kinds: Vec<&str> = types.iter().map(|kind| kind_of_type(kind)).collect();
        if let Some(parameters) = self.parameters_of_closure(name) {
            let message =
                format!("the function given here takes {parameters} arguments, it is called with {}", kinds.len());
            return Diagnostic::new(Code::SCRIPT, message);
        }
        if !name.starts_with(|first: char| first.is_alphabetic() || first == '_') {
            let message = format!("`{name}` does not take {}", kinds.join(" and "));
            return Diagnostic::new(Code::SCRIPT, message);
        }
        let mut arities = known_arities(name);
        arities.extend(self.arities(name));
        if arities.contains(&kinds.len()) {
            let taken = if kinds.is_empty() { "no arguments".to_owned() } else { kinds.join(", ") };
            let message = format!("`{name}` does not take {taken}");
            return Diagnostic::new(Code::SCRIPT, message);
        }
        let plural = if kinds.len() == 1 { "" } else { "s" };
        let message = format!("there is no function `{name}` with {} argument{plural}", kinds.len());
        let fault = Diagnostic::new(Code::SCRIPT, message);
        if let Some(primitive) = crate::primitives::find(name) {
            return fault.help(format!("use it as `{}`", primitive.signature()));
        }
        arities.sort_unstable();
        arities.dedup();
        if !arities.is_empty() {
            let arities: Vec<String> = arities.iter().map(usize::to_string).collect();
            return fault.help(format!("`{name}` takes {} arguments", arities.join(" or ")));
        }
        let mut names: Vec<&str> = known_names().collect();
        names.extend(self.function_names());
        match did_you_mean(name, names.iter().copied()) {
            Some(help) => fault.help(help),
            None => fault.help("`toolsd docs` lists all primitives"),
        }
    }

    /// Bytes of the word at a position of rhai's, whose columns count characters.
    pub(super) fn place(&self, path: &str, position: Position) -> Option<Place> {
        let source = &self.script(path)?.source;
        let start = source.offset(position.line()?, position.position().unwrap_or(1));
        let rest = &source.text[start..];
        let word = rest.find(|letter: char| !(letter.is_alphanumeric() || letter == '_')).unwrap_or(rest.len());
        let first = rest.chars().next().map_or(0, char::len_utf8);
        Some(source.place(start..start + word.max(first)))
    }
}

fn too_deep() -> Box<Diagnostic> {
    let depth = guard::current().map_or(64, |guard| guard.limits().depth);
    Diagnostic::new(Code::LIMIT, format!("functions call each other more than {depth} levels deep"))
        .help("end the recursion, use a loop or a walk of the graph, or raise `depth` in `[pack.limits]`")
}

/// The fault of a text that rhai cannot read.
pub(super) fn parse_fault(kind: &ParseErrorType) -> Box<Diagnostic> {
    let fault = |message: String| Diagnostic::new(Code("script-syntax"), message);
    match kind {
        ParseErrorType::VariableUndefined(name) => fault(format!("there is no variable `{name}`"))
            .help("declare it by `let`; a constant of the top level is read as `global::NAME`"),
        ParseErrorType::Reserved(word) => fault(format!("`{word}` is a reserved word"))
            .help(format!("as a key of a map write it in quotes: `#{{ \"{word}\": … }}`, `map[\"{word}\"]`; a function or a variable needs another name")),
        ParseErrorType::FnDuplicatedDefinition(name, parameters) => {
            fault(format!("`{name}` with {parameters} parameters is defined twice"))
        }
        other => fault(lower(&other.to_string()).replace('\'', "`")),
    }
}

fn no_property(message: &str) -> Box<Diagnostic> {
    let mut words = message.split('\'');
    match (words.nth(1), words.nth(1)) {
        (Some(name), Some(kind)) => {
            let fault = Diagnostic::new(Code::SCRIPT, format!("a {} has no property `{name}`", kind_of_type(kind)));
            if kind == "()" { fault.help(format!("read it by `?.{name}` where it may be missing")) } else { fault }
        }
        _ => Diagnostic::new(Code::SCRIPT, lower(message)),
    }
}

fn data_race(what: &str) -> String {
    match what.strip_prefix("argument #").and_then(|rest| rest.split_once(" of function ")) {
        Some((number, name)) => format!("argument {number} of `{}`", name.trim_matches('\'')),
        None => format!("`{}`", what.trim_matches('\'')),
    }
}

/// The word for a type of rhai's.
pub(super) fn kind_of_type(name: &str) -> &str {
    match name {
        "i64" | "INT" => "integer",
        "f64" | "FLOAT" => "float",
        "array" | "Array" => "list",
        "Map" => "map",
        "Fn" | "FnPtr" => "function",
        "char" | "string" | "ImmutableString" | "&str | ImmutableString | String" => "text",
        "blob" | "Blob" => "bytes",
        name if name.contains("HandleBox") => "handle",
        name if name.contains("Range") || name.starts_with("range") => "range",
        name => name,
    }
}

fn lower(message: &str) -> String {
    let mut letters = message.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}
