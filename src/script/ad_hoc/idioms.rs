//! What to write in place of idioms of other languages, for the errors of scripts that come with a call. A model obeys
//! the text of an error and nothing else, so each error names the form that works.

use super::super::compiled::Script;
use super::super::engine::is_for_callers;
use super::super::errors::describe_parse_error;
use super::super::unbalanced::describe_unbalanced;
use crate::diagnostic::{Code, Diagnostic, did_you_mean, foreign_word, translate_keyword};
use crate::primitive_api::{Host, ToolAccess};
use crate::primitives;
use crate::source::Source;
use rhai::{ParseError, ParseErrorType};
use std::sync::Arc;

/// An idiom of another language, and what a script writes.
struct Idiom {
    /// Whether a line uses it, from the place of the error on (the second text), or anywhere in it (the first).
    is_in: fn(&str, &str) -> bool,
    says: &'static str,
}

const CLOSURE: &str = "a closure is written `|r| r.id`, one of two parameters `|a, b| …`";
const LOOP: &str = "write `for r in rows { … }`, or `for i in 0..10 { … }`";
const NAMED: &str = "a tool takes one map: `f(#{ query: … })`";

/// The idioms, the most specific first.
const IDIOMS: &[Idiom] = &[
    Idiom { is_in: |line, _| has_arrow(line), says: CLOSURE },
    Idiom { is_in: |line, _| has_word(line, "lambda"), says: CLOSURE },
    Idiom {
        is_in: |line, _| has_word(line, "await") || has_word(line, "async"),
        says: "calls wait by themselves: leave `await` and `async` out; `parallel(list, |x| …)` calls at the same time",
    },
    Idiom {
        is_in: |line, _| line.trim_start().starts_with("for (") || line.trim_start().starts_with("for("),
        says: LOOP,
    },
    Idiom {
        is_in: |line, _| has_comprehension(line),
        says: "write `rows.filter(|r| …).map(|r| …)` in place of a comprehension",
    },
    Idiom { is_in: |line, _| line.contains("++") || line.contains("--"), says: "write `i += 1` or `i -= 1`" },
    Idiom {
        is_in: |line, _| line.contains("..."),
        says: "there is no spread: `a + b` joins arrays, and `merge(a, b)` joins maps",
    },
    Idiom { is_in: |line, _| has_ternary(line), says: "write `if a { b } else { c }`: it has a value" },
    Idiom { is_in: |line, _| has_word(line, "and") || has_word(line, "or"), says: "write `&&` and `||`" },
    Idiom { is_in: |line, _| has_word(line, "not"), says: "write `!`" },
    Idiom {
        is_in: |line, _| line.contains("f\"") || line.contains("f'"),
        says: "write `` `…${x}…` `` for a text with values",
    },
    Idiom {
        is_in: |line, _| line.trim_start().starts_with('#') && !line.trim_start().starts_with("#{"),
        says: "a comment begins with `//`",
    },
    Idiom { is_in: |line, _| line.contains(" # "), says: "a comment begins with `//`" },
    Idiom {
        is_in: |line, _| line.trim_end().ends_with(':'),
        says: "blocks are in braces: `if a { … }`, `for r in rows { … }`",
    },
    Idiom { is_in: |line, _| has_word(line, "elif"), says: "write `else if`" },
    Idiom {
        is_in: |line, _| has_word(line, "def") || has_word(line, "function"),
        says: "write `fn name(a) { … }`, or a closure `|a| …`",
    },
    Idiom {
        is_in: |line, _| line.contains("const {") || line.contains("let {") || line.contains("let ["),
        says: "take values out one by one: `let id = r.id;`",
    },
    Idiom { is_in: |line, _| has_named_argument(line), says: NAMED },
    Idiom {
        is_in: |line, rest| line.contains("= {") && !rest.is_empty() && !line.contains("= {}"),
        says: "after `=` a `{` begins a map: write a block of statements as a function or a closure",
    },
];

/// The error of a script that cannot be read, with what to write instead.
pub(super) fn describe_syntax_error(source: &Arc<Source>, error: &ParseError, host: &dyn Host) -> Box<Diagnostic> {
    let start = source.offset(error.1.line().unwrap_or(usize::MAX), error.1.position().unwrap_or(1));
    let mut diagnostic = describe_parse_error(&error.0);
    if let Some(help) = describe_unbalanced(&source.text, start, &error.0) {
        diagnostic = diagnostic.help(help);
    }
    let line_start = source.text[..start].rfind('\n').map_or(0, |at| at + 1);
    let line_end = source.text[start..].find('\n').map_or(source.text.len(), |at| start + at);
    let (line, rest) = (&source.text[line_start..line_end], &source.text[start..line_end]);
    // What rhai misses at the beginning of a line is missing at the end of the line before.
    let is_unfinished = matches!(&*error.0, ParseErrorType::MissingToken(token, _) if token == ";");
    let before = source.text[..line_start].trim_end().lines().next_back().unwrap_or_default();
    let code = strip_texts(line);
    let found = IDIOMS.iter().find(|idiom| (idiom.is_in)(&code, rest));
    let found = found.or_else(|| {
        let code = strip_texts(before);
        IDIOMS.iter().filter(|_| is_unfinished).find(|idiom| (idiom.is_in)(&code, ""))
    });
    if let Some(idiom) = found {
        diagnostic = diagnostic.help(idiom.says);
    }
    if let ParseErrorType::ModuleUndefined(module) = &*error.0 {
        let is_pack = host
            .tools()
            .is_some_and(|tools| tools.packs().contains(&module.replace('_', "-")) || tools.packs().contains(module));
        let message = format!("there is no module `{module}`");
        diagnostic = Diagnostic::new(Code("script-syntax"), message);
        diagnostic = diagnostic.help(if is_pack {
            "call a tool by its own name: `name(#{ … })`"
        } else {
            "call functions by their own names, without `::`"
        });
    }
    if let ParseErrorType::VariableUndefined(name) = &*error.0
        && diagnostic.help.as_ref().is_none_or(|help| help.starts_with("declare it"))
    {
        diagnostic = match host.tools().filter(|tools| tools.has(name)).and_then(|tools| tools.signature(name)) {
            Some(signature) => diagnostic.help(format!("`{name}` is a tool: call it as `{signature}`")),
            None => {
                diagnostic.help("declare it with `let`; a `fn` sees only its parameters, a closure sees all variables")
            }
        };
    }
    diagnostic.at(source.place(start..start + 1))
}

/// An error while the script ran, with what to write instead.
pub(super) fn explain_error(mut error: Box<Diagnostic>, script: &Script, host: &dyn Host) -> Box<Diagnostic> {
    error.trace.clear();
    let refused = error.message.strip_prefix('`').and_then(|rest| rest.split_once("` does not take"));
    if let Some(name) = refused.map(|parts| parts.0.to_owned())
        && primitives::find(&name).is_some_and(|primitive| !is_for_callers(primitive))
    {
        error.message = format!("a script of a caller has no `{name}`: it reaches tools, and nothing else");
        return error.help("`tools(\"words\")` finds the tool that does it");
    }
    let is_generic =
        error.help.as_deref().is_none_or(|help| help.contains("toolsd docs") || help.starts_with("scripts say"));
    if error.code != Code::SCRIPT || !is_generic {
        return error;
    }
    if let Some(name) = quoted_after(&error.message, "there is no function `") {
        let is_closure = script.source.text.contains(&format!("let {name} = |"));
        let tools = host.tools();
        let nearest = tools.and_then(|tools| nearest_tool(tools, name));
        if let Some(signature) = tools.filter(|tools| tools.has(name)).and_then(|tools| tools.signature(name)) {
            let message = format!("`{name}` is a tool, which takes one map");
            error.message = message;
            return error.help(format!("call it as `{signature}`"));
        }
        let help = if is_closure {
            Some(format!("`{name}` is a closure: `{name}.call(…)`"))
        } else if let Some(says) = verb(name) {
            Some(format!("write {says}"))
        } else {
            nearest.or_else(|| foreign_word(name)).or_else(|| translate_keyword(name))
        };
        return error.help(help.unwrap_or_else(|| {
            "`tools(\"words\")` finds tools; arrays have map, filter, find, some, all, reduce, sort, group_by, take"
                .to_owned()
        }));
    }
    if let Some(name) = quoted_after(&error.message, "has no property `")
        && let Some(says) = verb(name)
    {
        return error.help(format!("write {says}"));
    }
    error
}

/// The nearest tool and how it is called.
fn nearest_tool(tools: &dyn ToolAccess, name: &str) -> Option<String> {
    let names = tools.names();
    let help = did_you_mean(name, names.iter().map(String::as_str))?;
    let nearest = help.split('`').nth(1)?;
    tools.signature(nearest).map(|signature| format!("did you mean the tool `{signature}`?"))
}

/// Methods and properties of other languages.
const VERBS: &[(&str, &str)] = &[
    ("length", "`len()`"),
    ("size", "`len()`"),
    ("count", "`len()`"),
    ("includes", "`contains(…)`"),
    ("any", "`some(|x| …)`"),
    ("every", "`all(|x| …)`"),
    ("flat_map", "`map(|x| …).flatten()`"),
    ("flatMap", "`map(|x| …).flatten()`"),
    ("sort_by", "`sort(\"field\")`, `sort(\"-field\")`, or `sort(|x| key)`"),
    ("sorted", "`sort(\"field\")`, `sort(\"-field\")`, or `sort(|x| key)`"),
    ("forEach", "`for x in list { … }`"),
    ("stringify", "`to_json()`"),
    ("dumps", "`to_json()`"),
    ("toLowerCase", "`to_lower()`"),
    ("toUpperCase", "`to_upper()`"),
    ("items", "`for key in map.keys() { … map[key] … }`"),
    ("entries", "`for key in map.keys() { … map[key] … }`"),
    ("append", "`push(x)`, or `list + [x]`"),
    ("str", "`to_string()`"),
    ("String", "`to_string()`"),
    ("console", "`print(…)`, whose lines come back if there is no value"),
    ("JSON", "`to_json()` and `parse_json(…)`"),
    ("slice", "`skip(2).take(5)`"),
    ("head", "`take(5)`"),
    ("limit", "`take(5)`"),
    ("startsWith", "`starts_with(…)`"),
    ("endsWith", "`ends_with(…)`"),
    ("Object", "`keys()` and `values()` of the map"),
];

fn verb(name: &str) -> Option<&'static str> {
    VERBS.iter().find(|(word, _)| *word == name).map(|(_, says)| *says)
}

fn quoted_after<'a>(message: &'a str, start: &str) -> Option<&'a str> {
    message.split_once(start)?.1.split('`').next()
}

/// A line of code without what is in quotes, so that words of texts are not taken for code.
fn strip_texts(line: &str) -> String {
    let mut code = String::with_capacity(line.len());
    let mut quote = None;
    for letter in line.chars() {
        match quote {
            Some(open) if letter == open => {
                quote = None;
                code.push(letter);
            }
            Some(_) => {}
            None => {
                if matches!(letter, '"' | '`' | '\'') {
                    quote = Some(letter);
                }
                code.push(letter);
            }
        }
    }
    code
}

fn has_word(line: &str, word: &str) -> bool {
    line.split(|letter: char| !letter.is_alphanumeric() && letter != '_').any(|part| part == word)
}

/// `x => …` or `(a, b) => …`; in a `switch`, a value comes before the arrow.
fn has_arrow(line: &str) -> bool {
    line.split("=>").next().filter(|before| before.len() < line.len()).is_some_and(|before| {
        let before = before.trim_end();
        let word = before.rsplit(|letter: char| !letter.is_alphanumeric() && letter != '_').next().unwrap_or_default();
        let opens = before[..before.len() - word.len()].trim_end();
        before.ends_with(')') || !word.is_empty() && word != "_" && opens.ends_with(['(', ',', '='])
    })
}

fn has_comprehension(line: &str) -> bool {
    line.split_once('[').is_some_and(|(_, rest)| rest.contains(" for ") && rest.contains(" in "))
}

/// `a ? b : c`, not `a ?? b` or `a?.b`.
fn has_ternary(line: &str) -> bool {
    let marks = line.match_indices('?').filter(|(at, _)| {
        let (before, after) = (&line[..*at], &line[at + 1..]);
        !before.ends_with('?') && !after.starts_with(['?', '.', '['])
    });
    marks.into_iter().any(|(at, _)| line[at..].contains(':'))
}

/// `f(query: …)` or `f(query = …)`.
fn has_named_argument(line: &str) -> bool {
    line.match_indices('(').any(|(at, _)| {
        let rest = line[at + 1..].trim_start();
        let word = rest.find(|letter: char| !(letter.is_alphanumeric() || letter == '_')).unwrap_or(rest.len());
        let after = rest[word..].trim_start();
        word > 0
            && (after.starts_with(':') && !after.starts_with("::")
                || after.starts_with('=') && !after.starts_with("==") && !after.starts_with("=>"))
    })
}
