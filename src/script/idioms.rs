//! Idioms of other languages that a script does not parse, and what it writes.

use crate::diagnostic::foreign_word;
use rhai::ParseErrorType;

/// Where a script stopped being one.
pub(super) struct Spot<'a> {
    /// The line, without what is in quotes, so that words of texts are not taken for code.
    pub(super) line: &'a str,
    /// What is in the line before the place of the error, as it is written.
    pub(super) before: &'a str,
    /// What is in the line from the place of the error on, as it is written.
    pub(super) rest: &'a str,
    pub(super) kind: &'a ParseErrorType,
}

impl Spot<'_> {
    fn has(&self, word: &str) -> bool {
        has_word(self.line, word)
    }

    fn starts(&self, words: &[&str]) -> bool {
        let line = self.line.trim_start();
        words.iter().any(|word| line.starts_with(word))
    }

    fn rest_starts(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.rest.starts_with(word))
    }

    /// Whether an unknown name has a `=` behind it.
    fn is_at_name(&self) -> bool {
        let after = self.rest.trim_start_matches(is_of_name).trim_start();
        matches!(self.kind, ParseErrorType::VariableUndefined(_)) && after.starts_with('=') && !after.starts_with("==")
    }

    /// Whether the line assigns to an unknown variable.
    fn is_at_assignment(&self) -> bool {
        self.is_at_name() && self.before.trim().is_empty()
    }

    fn is_missing(&self, wanted: &str) -> bool {
        matches!(self.kind, ParseErrorType::MissingToken(token, _) if token == wanted)
    }
}

/// What to write in place of the first idiom that is at a place.
pub(super) fn idiom(spot: &Spot<'_>) -> Option<&'static str> {
    IDIOMS.iter().chain([&BLOCK]).find(|(is_there, _)| is_there(spot)).map(|(_, says)| *says)
}

/// The same for a script of a pack, at the offset of its error.
pub(super) fn describe_idiom(text: &str, at: usize, kind: &ParseErrorType) -> Option<String> {
    let (before, rest) = text.split_at_checked(at)?;
    let before = before.rsplit('\n').next().unwrap_or_default();
    let rest = rest.split('\n').next().unwrap_or_default();
    if let ParseErrorType::VariableUndefined(_) = kind {
        // An object of another language comes with its member, as in `JSON.parse`.
        let end = rest.find(|letter| !is_of_name(letter) && letter != '.').unwrap_or(rest.len());
        if let Some(help) = foreign_word(&rest[..end]) {
            return Some(help);
        }
    }
    let line = strip_texts(&format!("{before}{rest}"));
    let spot = Spot { line: &line, before, rest, kind };
    IDIOMS.iter().find(|(is_there, _)| is_there(&spot)).map(|(_, says)| (*says).to_owned())
}

type Idiom = (fn(&Spot<'_>) -> bool, &'static str);

const CLOSURE: &str = "a closure is written `|r| r.id`, one of two parameters `|a, b| …`";
const WAIT: &str =
    "calls wait by themselves: leave `await` and `async` out; `parallel(list, |x| …)` calls at the same time";
const COMPREHENSION: &str = "write `rows.filter(|r| …).map(|r| …)` in place of a comprehension";
const BRACES: &str = "blocks are in braces: `if a { … }`, `for r in rows { … }`";
const IF: &str = "write `if a { b } else { c }`: it has a value";
const NAME: &str = "write `fn name(a) { … }`, or a closure `|a| …`";
const APART: &str = "take values out one by one: `let id = r.id;`, `let first = list[0];`";
const PAIRS: &str = "write `for key in map.keys() { … map[key] … }`; `for (r, i) in rows` counts the items of a list";
const NAMED: &str = "a tool takes one map: `f(#{ query: … })`; a function takes arguments without names";
const TYPES: &str = "leave the type out: `let n = 1;`, `fn f(a) { … }`";

/// The most specific first.
const IDIOMS: &[Idiom] = &[
    (|spot| spot.rest_starts(&["await", "async"]), WAIT),
    (|spot| spot.is_missing(";") && spot.rest.starts_with("if ") && spot.has("else"), IF),
    (|spot| has_comprehension(spot.line), COMPREHENSION),
    (
        |spot| has_key_function(spot.line),
        "write `sort(rows, \"field\")`; `sort(rows, \"-field\").first()` does what `max(rows, key=…)` does",
    ),
    (|spot| has_arrow(spot.line), CLOSURE),
    (|spot| spot.has("lambda"), CLOSURE),
    (|spot| spot.has("await") || spot.has("async"), WAIT),
    (|spot| spot.starts(&["def ", "function "]) || spot.has("function"), NAME),
    (|spot| has_pair(spot), PAIRS),
    (|spot| spot.has("case") || spot.rest_starts(&["match "]), "write `switch n { 1 => \"a\", _ => \"b\" }`"),
    (
        |spot| spot.rest_starts(&["let "]) && spot.before.trim_end().ends_with("if"),
        "write `let x = …; if x != () { … }`",
    ),
    (|spot| spot.rest_starts(&["as "]), "write `to_float(x)`, `to_int(x)` or `to_string(x)`"),
    (|spot| spot.rest_starts(&["~", "=~"]), "write `matches(text, \"regex\")`"),
    (|spot| spot.line.contains("\"\"\""), "a text of several lines is in backticks"),
    (
        |spot| spot.starts(&["for (", "for("]) || spot.starts(&["for "]) && spot.rest_starts(&["of "]),
        "write `for r in rows { … }`, or `for i in 0..10 { … }`",
    ),
    (
        |spot| spot.rest_starts(&["try"]),
        "`try` is a statement: assign inside it: `let r = (); try { r = f(); } catch (e) { r = e.message; }`",
    ),
    (|spot| spot.rest_starts(&["new "]) && spot.has("throw"), "write `throw \"message\"`"),
    (|spot| spot.rest_starts(&["new Set"]), "write `to_set(list)`, or `list.unique()`"),
    (|spot| spot.rest_starts(&["new Map", "new Object"]), "write a map: `#{ key: value }`"),
    (|spot| spot.before.trim_end().ends_with("let mut"), "leave `mut` out: every variable can change"),
    (|spot| has_slice(spot), "write `rows.take(2)`, or `rows.skip(1).take(2)`"),
    (|spot| has_type(spot), TYPES),
    (
        |spot| has_regex(spot),
        "a regular expression is a text: `find_all(text, \"[0-9]+\")`, `matches(…)`, `replace_regex(…)`",
    ),
    (|spot| spot.line.contains("++") || spot.line.contains("--"), "write `i += 1` or `i -= 1`"),
    (|spot| spot.line.contains("..."), "there is no spread: `a + b` joins arrays, and `merge(a, b)` joins maps"),
    (|spot| has_ternary(spot.line), IF),
    (|spot| spot.rest_starts(&["?"]), "leave the `?` out: an error ends the script by itself"),
    (|spot| spot.rest_starts(&["is "]), "write `x == ()`, or `x != ()`"),
    (
        |spot| matches!(spot.kind, ParseErrorType::MismatchedType(..)) && spot.line.contains("||"),
        "write `a ?? b` for a default: `||` takes only true and false",
    ),
    (
        |spot| matches!(spot.kind, ParseErrorType::MismatchedType(..)) && spot.line.contains("&&"),
        "write `if a != () { b }`: `&&` takes only true and false",
    ),
    (|spot| spot.line.contains("tools["), "write `call_tool(name, #{ … })`"),
    (|spot| spot.has("and") || spot.has("or"), "write `&&` and `||`"),
    (|spot| spot.has("not"), "write `!`"),
    (|spot| spot.line.contains("f\"") || spot.line.contains("f'"), "write `` `…${x}…` `` for a text with values"),
    (|spot| spot.starts(&["#"]) && !spot.starts(&["#{"]), "a comment begins with `//`"),
    (|spot| spot.line.contains(" # "), "a comment begins with `//`"),
    (|spot| spot.line.trim_end().ends_with(':'), BRACES),
    (|spot| spot.has("elif"), "write `else if`"),
    (|spot| has_pattern(spot.line), APART),
    (|spot| spot.line.contains("call_tool(") && has_named_argument(spot.line), "write `call_tool(\"name\", #{ … })`"),
    (|spot| has_named_argument(spot.line) && !spot.is_at_assignment(), NAMED),
    (|spot| spot.is_at_name() && spot.before.trim_end().ends_with(','), NAMED),
    (|spot| spot.is_missing("{") && spot.starts(&["if", "for", "while", "else", "}"]), BRACES),
];

/// Only scripts that come with a call take a `{` for a map.
const BLOCK: Idiom = (
    |spot| spot.line.contains("= {") && !spot.rest.is_empty() && !spot.line.contains("= {}"),
    "after `=` a `{` begins a map: write a block of statements as a function or a closure",
);

/// A line of code without what is in quotes.
pub(super) fn strip_texts(line: &str) -> String {
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

fn is_of_name(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

fn has_word(line: &str, word: &str) -> bool {
    line.split(|letter: char| !is_of_name(letter)).any(|part| part == word)
}

/// `x => …` or `(a, b) => …`; in a `switch`, a value comes before the arrow.
fn has_arrow(line: &str) -> bool {
    line.split("=>").next().filter(|before| before.len() < line.len()).is_some_and(|before| {
        let before = before.trim_end();
        let word = before.rsplit(|letter: char| !is_of_name(letter)).next().unwrap_or_default();
        let opens = before[..before.len() - word.len()].trim_end();
        before.ends_with(')') || !word.is_empty() && word != "_" && opens.ends_with(['(', ',', '='])
    })
}

/// `[x for x in list]`, `f(x for x in list)`, `{k: v for k in list}`: something is between the bracket and `for`.
fn has_comprehension(line: &str) -> bool {
    const MOST_LOOPS: usize = 10;
    line.match_indices(" for ").take(MOST_LOOPS).any(|(at, _)| {
        let before = line[..at].trim_end();
        let opened = before.matches(['(', '[', '{']).count();
        let closed = before.matches([')', ']', '}']).count();
        opened > closed && !before.ends_with(['{', '}', ';', '|', '(']) && line[at..].contains(" in ")
    })
}

/// `max(rows, key=…)`.
fn has_key_function(line: &str) -> bool {
    line.contains(", key=") || line.contains(", key =") || line.contains("(key=")
}

/// `for (a, b) in …`, `for a, b in …`, `for (const [a, b] of Object.entries(…))`.
fn has_pair(spot: &Spot<'_>) -> bool {
    let Some(rest) = spot.line.trim_start().strip_prefix("for") else { return false };
    let is_in_brackets = rest.trim_start().strip_prefix('(').and_then(|rest| rest.split_once(')'));
    is_in_brackets.is_some_and(|(names, after)| {
        names.contains(',') && !names.contains(['(', ';']) && after.trim_start().starts_with("in ")
    }) || rest.starts_with(' ') && spot.rest.starts_with(',')
        || rest.contains("Object.entries(")
}

/// `let n: i64`, `fn f(a: i64)`, `|a: i64|`, `fn f(a) -> i64`.
fn has_type(spot: &Spot<'_>) -> bool {
    let before = spot.before.trim_end();
    let outer = before.trim_end_matches(is_of_name).trim_end();
    let is_declared = ["let", "const"].iter().any(|word| outer.ends_with(word));
    spot.rest.starts_with(':') && (is_declared || outer.ends_with('|') || spot.starts(&["fn "]))
        || spot.rest.starts_with("->") && spot.starts(&["fn "])
}

/// `(/…/)` or `= /…/`, not a comment.
fn has_regex(spot: &Spot<'_>) -> bool {
    let is_begun = spot.rest.starts_with('/') && spot.before.trim_end().ends_with(['=', '(', ',']);
    is_begun
        || spot.line.match_indices("(/").any(|(at, _)| {
            let rest = &spot.line[at + 2..];
            !rest.starts_with(['/', '*']) && rest.contains('/')
        })
}

/// `r[:2]`, `r[1:3]`, `r[1:]`.
fn has_slice(spot: &Spot<'_>) -> bool {
    let before = spot.before.trim_end_matches(|letter: char| is_of_name(letter) || letter == '-');
    spot.rest.starts_with(':') && before.ends_with('[')
}

/// `a ? b : c`, not `a ?? b` or `a?.b`.
fn has_ternary(line: &str) -> bool {
    let last = line.rfind(':').unwrap_or(0);
    line.match_indices('?').take_while(|(at, _)| *at < last).any(|(at, _)| {
        let (before, after) = (&line[..at], &line[at + 1..]);
        !before.ends_with('?') && !after.starts_with(['?', '.', '['])
    })
}

/// `let { a } = …`, `let [a, b] = …`, `let (a, b) = …`.
fn has_pattern(line: &str) -> bool {
    line.contains("|{")
        || line.contains("|[")
        || ["let ", "const "].iter().any(|word| {
            line.match_indices(word).any(|(at, word)| line[at + word.len()..].trim_start().starts_with(['{', '[', '(']))
        })
}

/// `f(query: …)` or `f(query = …)`.
fn has_named_argument(line: &str) -> bool {
    line.match_indices('(').any(|(at, _)| {
        let rest = line[at + 1..].trim_start();
        let word = rest.find(|letter: char| !is_of_name(letter)).unwrap_or(rest.len());
        let after = rest[word..].trim_start();
        word > 0
            && (after.starts_with(':') && !after.starts_with("::")
                || after.starts_with('=') && !after.starts_with("==") && !after.starts_with("=>"))
    })
}
