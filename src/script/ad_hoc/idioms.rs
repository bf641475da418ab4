//! What to write in place of idioms of other languages, for the errors of scripts that come with a call. A model obeys
//! the text of an error and nothing else, so each error names the form that works.

pub(super) mod unused;
mod words;

use super::super::compiled::Script;
use super::super::engine::is_for_callers;
use super::super::errors::describe_parse_error;
use super::super::idioms::{Spot, idiom, strip_texts};
use super::super::unbalanced::describe_unbalanced;
use super::property_reads::PropertyReads;
use super::spelling::parts::{Part, parts};
use super::variables::is_function_variable;
use crate::diagnostic::{Code, Diagnostic, foreign_word, nearest, translate_keyword};
use crate::primitive_api::{Host, ToolAccess};
use crate::primitives;
use crate::source::Source;
use crate::value::Json;
use rhai::{ParseError, ParseErrorType};
use std::sync::Arc;
use words::{object, verb};

/// The error of a script that cannot be read, with what to write instead.
pub(super) fn describe_syntax_error(source: &Arc<Source>, error: &ParseError, host: &dyn Host) -> Box<Diagnostic> {
    let start = source.offset(error.1.line().unwrap_or(usize::MAX), error.1.position().unwrap_or(1));
    let place = source.place(start..start + 1);
    let kind = &*error.0;
    let mut diagnostic = describe_parse_error(kind);
    if let Some(help) = describe_other_format(&source.text, host) {
        return diagnostic.help(help).at(place);
    }
    if let Some(help) = describe_unbalanced(&source.text, start, kind) {
        diagnostic = diagnostic.help(help);
    }
    let line_start = source.text[..start].rfind('\n').map_or(0, |at| at + 1);
    let line_end = source.text[start..].find('\n').map_or(source.text.len(), |at| start + at);
    let line = strip_texts(&source.text[line_start..line_end]);
    let (before, rest) = (&source.text[line_start..start], &source.text[start..line_end]);
    let spot = Spot { line: &line, before, rest, kind };
    if let Some(help) = describe_name(&spot, host) {
        return diagnostic.help(help).at(place);
    }
    if let Some(help) = describe_definition(&spot, &source.text).or_else(|| idiom(&spot).map(str::to_owned)) {
        return diagnostic.help(help).at(place);
    }
    if let ParseErrorType::ModuleUndefined(module) = kind {
        return describe_module(module, host).at(place);
    }
    if let ParseErrorType::VariableUndefined(_) = kind
        && diagnostic.help.as_ref().is_none_or(|help| help.starts_with("declare it"))
    {
        diagnostic =
            diagnostic.help("declare it with `let`; a `fn` sees only its parameters, a closure sees all variables");
    }
    // What rhai misses at the beginning of a line is missing at the end of the line before.
    if matches!(kind, ParseErrorType::MissingToken(token, _) if token == ";") && before.trim().is_empty() {
        let end = end_of_code(&source.text[..start]);
        let previous = strip_texts(source.text[..end].lines().next_back().unwrap_or_default());
        if let Some(says) = idiom(&Spot { line: &previous, before: "", rest: "", kind }) {
            return diagnostic.help(says).at(place);
        }
        if end > 0 && diagnostic.help.as_ref().is_some_and(|help| help.starts_with("write `;`")) {
            return diagnostic.at(source.place(end - 1..end));
        }
    }
    diagnostic.at(place)
}

/// The end of the last code of a text: neither space nor a comment.
fn end_of_code(text: &str) -> usize {
    let mut code = parts(text)
        .into_iter()
        .filter(|(part, range)| *part != Part::Comment && !text[range.clone()].trim().is_empty());
    code.next_back().map_or(0, |(_, range)| range.start + text[range].trim_end().len())
}

/// The help for what is not a script at all: a call as JSON, or words around a fence.
fn describe_other_format(text: &str, host: &dyn Host) -> Option<String> {
    if text.lines().any(|line| line.trim_start().starts_with("```")) {
        return Some("send the script only, without a fence and words around it".to_owned());
    }
    if !text.trim_start().starts_with('{') {
        return None;
    }
    let Ok(Json::Object(call)) = serde_json::from_str::<Json>(text) else { return None };
    let named = ["tool", "name", "function"].iter().find_map(|key| call.get(*key)?.as_str());
    let tool = named.filter(|name| host.tools().is_some_and(|tools| tools.has(name))).unwrap_or("name");
    Some(format!("this is JSON: write a script, such as `{tool}(#{{ … }})`"))
}

/// The help for a name that does not exist, or that is reserved.
fn describe_name(spot: &Spot<'_>, host: &dyn Host) -> Option<String> {
    match spot.kind {
        ParseErrorType::VariableUndefined(name) => {
            let tools = host.tools().filter(|tools| tools.has(name));
            if let Some(signature) = tools.and_then(|tools| tools.signature(name)) {
                return Some(format!("`{name}` is a tool: call it as `{signature}`"));
            }
            if spot.line.contains("isinstance(") {
                return verb("isinstance");
            }
            let rest = spot.rest.strip_prefix(name.as_str())?;
            let is_object = rest.starts_with('.')
                && (name.starts_with(char::is_uppercase)
                    || matches!(name.as_str(), "console" | "math" | "json" | "re" | "asyncio"));
            let is_operator =
                matches!(name.as_str(), "typeof" | "delete" | "del" | "raise") && rest.starts_with([' ', '(']);
            if !is_object && !is_operator {
                return None;
            }
            object(name, spot.rest).or_else(|| verb(name))
        }
        ParseErrorType::Reserved(word) if matches!(word.as_str(), "import" | "use" | "export" | "public") => {
            let module = spot.rest.split(|letter: char| !letter.is_alphanumeric() && letter != '_').nth(1);
            let says = module.and_then(verb).map_or_else(String::new, |says| format!("; {says}"));
            Some(format!("tools are functions already: leave `{word}` out{says}"))
        }
        _ => None,
    }
}

/// The help for a map or a function that is written as in other languages.
fn describe_definition(spot: &Spot<'_>, text: &str) -> Option<String> {
    match spot.kind {
        ParseErrorType::MissingToken(token, what) if token == ":" && spot.rest.starts_with([',', '}']) => {
            let name =
                what.split(['\'', '`']).nth(1).or_else(|| spot.before.trim_end().rsplit([' ', '{', ',']).next())?;
            Some(format!("a map has keys and values: write `{name}: {name}`"))
        }
        ParseErrorType::WrongFnDefinition => {
            let code = parts(text).into_iter().filter(|(part, _)| *part == Part::Code);
            let code: String = code.map(|(_, range)| &text[range]).collect();
            let is_closed = code.matches('{').count() == code.matches('}').count();
            is_closed.then(|| {
                "move the `fn` to the top of the script, or write a closure: `let f = |a| …; f.call(1)`".to_owned()
            })
        }
        _ => None,
    }
}

fn describe_module(module: &str, host: &dyn Host) -> Box<Diagnostic> {
    let is_pack = host
        .tools()
        .is_some_and(|tools| tools.packs().iter().any(|pack| pack == module || *pack == module.replace('_', "-")));
    Diagnostic::new(Code("script-syntax"), format!("there is no module `{module}`")).help(if is_pack {
        "call a tool by its own name: `name(#{ … })`"
    } else {
        "call functions by their own names, without `::`"
    })
}

/// An error while the script ran, with what to write instead.
pub(super) fn explain_error(
    mut error: Box<Diagnostic>,
    script: &Script,
    host: &dyn Host,
    reads: &PropertyReads,
) -> Box<Diagnostic> {
    error.trace.clear();
    if error.code != Code::SCRIPT {
        return error;
    }
    let missing = quoted_after(&error.message, "there is no function `").map(str::to_owned);
    let refused = error.message.strip_prefix('`').and_then(|rest| rest.split_once("` does not take"));
    let refused = refused.map(|(name, _)| name.to_owned());
    if let Some(name) = missing.as_ref().or(refused.as_ref())
        && let Some(signature) = host.tools().filter(|tools| tools.has(name)).and_then(|tools| tools.signature(name))
    {
        error.message = format!("`{name}` is a tool, which takes one map");
        return error.help(format!("call it as `{signature}`"));
    }
    if let Some(help) = refused.as_deref().and_then(|name| describe_receiver(&error.message, name, &reads.lists())) {
        return error.help(help);
    }
    if error.message == "there is no variable `input`" {
        return error.help("a `fn` sees only its parameters: pass `input` to it, or use a closure");
    }
    let property = quoted_after(&error.message, "has no property `").map(str::to_owned);
    let closure = missing.as_ref().filter(|name| is_function_variable(&script.source.text, name));
    if let Some(name) = closure {
        let help = format!("`{name}` is a closure: `{name}.call(…)`");
        return error.help(help);
    }
    if let Some(help) = missing.iter().chain(&refused).chain(&property).find_map(|name| verb(name)) {
        return error.help(help);
    }
    if let Some(help) = missing.as_ref().and_then(|name| same_tool(host.tools()?, name)) {
        return error.help(help);
    }
    if let Some(name) = &refused
        && !VERBS_OF_LISTS.contains(&name.as_str())
        && primitives::find(name).is_some_and(|primitive| !is_for_callers(primitive))
    {
        error.message = format!("a script of a caller has no `{name}`: it reaches tools, and nothing else");
        return error.help("`tools(\"words\")` finds the tool that does it");
    }
    match missing {
        Some(name) => explain_missing(error, &name, host),
        None => error,
    }
}

/// The error of a function that does not exist, with the nearest tool, function, or word of this language.
fn explain_missing(mut error: Box<Diagnostic>, name: &str, host: &dyn Host) -> Box<Diagnostic> {
    // A tool that is called nearly so is meant, rather than a function.
    let is_generic = error.help.as_deref().is_none_or(|help| {
        ["did you mean", "scripts say"].iter().any(|start| help.starts_with(start)) || help.contains("toolsd docs")
    });
    if !is_generic {
        return error;
    }
    let nearest = host.tools().and_then(|tools| nearest_tool(tools, name));
    let function = error.help.take().filter(|help| help.starts_with("did you mean"));
    let help = nearest.or(function).or_else(|| foreign_word(name)).or_else(|| translate_keyword(name));
    error.help(help.unwrap_or_else(|| {
        "`tools(\"words\")` finds tools; arrays have map, filter, find, some, all, reduce, sort, group_by, take"
            .to_owned()
    }))
}

/// The help for a verb of lists that is called on a map or on nothing.
fn describe_receiver(message: &str, name: &str, lists: &[String]) -> Option<String> {
    let receiver = message.split_once("` does not take ")?.1.split([',', ' ']).next()?;
    if receiver == "map" && VERBS_OF_LISTS.contains(&name) {
        return Some(match lists {
            [] => "a map is not a list: write `map.keys().map(|key| map[key])`, or `map.values()`".to_owned(),
            [list] => {
                format!("a map is not a list: the list in the result is its `{list}`, so write `x.{list}.{name}(…)`")
            }
            lists => format!(
                "a map is not a list: the lists in results are `{}`, so write `x.{}.{name}(…)`",
                lists.join("`, `"),
                lists[0]
            ),
        });
    }
    None
}

/// Verbs that lists have, and maps do not.
const VERBS_OF_LISTS: &[&str] = &[
    "all", "count_by", "filter", "find", "flatten", "for_each", "group_by", "join", "map", "reduce", "reverse", "skip",
    "some", "sort", "sum", "take", "unique",
];

/// The tool whose name differs in the case of letters, in `-` and `_`, or by the prefix of its pack only.
fn same_tool(tools: &dyn ToolAccess, name: &str) -> Option<String> {
    let folded = |name: &str| {
        name.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect::<String>()
    };
    let wanted = folded(name);
    let names = tools.names();
    let same = names.iter().find(|known| folded(known) == wanted);
    let suffix = format!("_{name}");
    let found = same.or_else(|| names.iter().find(|known| known.ends_with(&suffix)))?;
    tools.signature(found).map(|signature| format!("call the tool as `{signature}`"))
}

/// The nearest tool and how it is called.
fn nearest_tool(tools: &dyn ToolAccess, name: &str) -> Option<String> {
    let names = tools.names();
    let near = nearest(name, names.iter().map(String::as_str))?;
    tools.signature(near).map(|signature| format!("did you mean the tool `{signature}`?"))
}

fn quoted_after<'a>(message: &'a str, start: &str) -> Option<&'a str> {
    message.split_once(start)?.1.split('`').next()
}
