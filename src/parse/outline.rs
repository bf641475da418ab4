//! Functions and classes of source code, found by a scanner that knows strings, comments and brackets but no grammar.

mod tokens;
#[cfg(test)]
mod tests;

use crate::diagnostic::Result;
use crate::document::Document;
use crate::guard;
use crate::value::Value;
use tokens::{CodeToken, QuoteSyntax, tokens};

/// How a language marks its blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockLayout {
    /// By indentation, as in Python.
    Indent,
    /// By braces, as in Rust, JavaScript, TypeScript, Java, Go, C and similar languages.
    Braces,
}

/// A function or class.
#[derive(Debug, PartialEq, Eq)]
struct OutlineEntry {
    kind: OutlineKind,
    name: String,
    /// The one-based line of its name.
    line: usize,
    end_line: usize,
    /// The name of the enclosing entry, preceded by the names of the entries around that one, joined by dots.
    parent: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OutlineKind {
    Class,
    Function,
    Method,
}

impl OutlineKind {
    fn name(self) -> &'static str {
        match self {
            Self::Class => "class",
            Self::Function => "function",
            Self::Method => "method",
        }
    }
}

impl OutlineEntry {
    /// The `parent` of the entries within it.
    fn path(&self) -> String {
        self.parent.as_ref().map_or_else(|| self.name.clone(), |parent| format!("{parent}.{}", self.name))
    }

    fn into_value(self) -> Value {
        Value::map([
            ("kind", self.kind.name().into()),
            ("name", self.name.into()),
            ("line", self.line.into()),
            ("end_line", self.end_line.into()),
            ("parent", self.parent.into()),
        ])
    }
}

/// The functions, classes and methods with a body, as `#{ kind, name, line, end_line, parent }`, in the order in which
/// they begin. `kind` is `class` (also for `struct`, `enum`, `trait`, `impl`, `interface`, `record`, `union`),
/// `function`, or `method` for a function directly in a class.
///
/// Macros, and code that the preprocessor splits, may be misread. Functions without braces around their body are
/// omitted.
pub fn outline(document: &Document, layout: BlockLayout) -> Result<Vec<Value>> {
    let entries = match layout {
        BlockLayout::Indent => indented_entries(document.text())?,
        BlockLayout::Braces => braced_entries(document.text(), QuoteSyntax::detect(document))?,
    };
    Ok(entries.into_iter().map(OutlineEntry::into_value).collect())
}

/// What is still open at the end of a line.
#[derive(Default)]
struct LineState {
    /// The quotes of an open multi-line string.
    quotes: Option<&'static str>,
    /// The number of open brackets of any kind.
    brackets: usize,
    /// Whether the line ended with a backslash.
    joined: bool,
}

/// The functions and classes of a text with blocks by indentation.
fn indented_entries(text: &str) -> Result<Vec<OutlineEntry>> {
    let mut entries: Vec<OutlineEntry> = Vec::new();
    // The indentation and index of each open entry.
    let mut open: Vec<(usize, usize)> = Vec::new();
    let mut state = LineState::default();
    let mut last = 0;
    for (at, line) in text.lines().enumerate() {
        guard::check()?;
        let begins = state.quotes.is_none() && state.brackets == 0 && !state.joined;
        let code = line.trim_start();
        if begins && (code.is_empty() || code.starts_with('#')) {
            continue;
        }
        if begins {
            let indent = indentation(line);
            while let Some((_, entry)) = open.pop_if(|(around, _)| *around >= indent) {
                entries[entry].end_line = last;
            }
            if let Some((is_class, name)) = declared_in_line(code) {
                let around = open.last().map(|(_, entry)| &entries[*entry]);
                let kind = match around {
                    _ if is_class => OutlineKind::Class,
                    Some(OutlineEntry { kind: OutlineKind::Class, .. }) => OutlineKind::Method,
                    _ => OutlineKind::Function,
                };
                let parent = around.map(OutlineEntry::path);
                open.push((indent, entries.len()));
                entries.push(OutlineEntry { kind, name: name.to_owned(), line: at + 1, end_line: at + 1, parent });
            }
        }
        state.pass(line);
        last = at + 1;
    }
    for (_, entry) in open {
        entries[entry].end_line = last;
    }
    Ok(entries)
}

/// The number of columns before the first character. A tab advances to the next multiple of eight, as in Python.
fn indentation(line: &str) -> usize {
    line.bytes().take_while(|byte| matches!(byte, b' ' | b'\t')).fold(0, |column, byte| match byte {
        b'\t' => (column / 8 + 1) * 8,
        _ => column + 1,
    })
}

/// The name that a line declares, and whether it is a class.
fn declared_in_line(code: &str) -> Option<(bool, &str)> {
    let code = code.strip_prefix("async").filter(|rest| rest.starts_with([' ', '\t'])).map_or(code, str::trim_start);
    let (is_class, rest) = match code.strip_prefix("class") {
        Some(rest) => (true, rest),
        None => (false, code.strip_prefix("def")?),
    };
    let name = rest.strip_prefix([' ', '\t'])?.trim_start();
    let end = name.find(|sign: char| !sign.is_alphanumeric() && sign != '_').unwrap_or(name.len());
    let follows = name[end..].trim_start();
    (end > 0 && follows.starts_with(['(', ':', '['])).then_some((is_class, &name[..end]))
}

impl LineState {
    /// Reads a line and updates the state.
    fn pass(&mut self, line: &str) {
        let mut rest = line;
        self.joined = false;
        loop {
            if let Some(quotes) = self.quotes {
                let Some(end) = end_of_text(rest, quotes) else {
                    return;
                };
                self.quotes = None;
                rest = &rest[end..];
            }
            let Some(at) = rest.find(['"', '\'', '#', '(', ')', '[', ']', '{', '}', '\\']) else { return };
            let (sign, after) = (rest.as_bytes()[at], &rest[at + 1..]);
            rest = after;
            match sign {
                b'#' => return,
                b'(' | b'[' | b'{' => self.brackets += 1,
                b')' | b']' | b'}' => self.brackets = self.brackets.saturating_sub(1),
                b'\\' => self.joined = after.trim_end().is_empty(),
                quote => {
                    let (one, three) = if quote == b'"' { ("\"", "\"\"\"") } else { ("'", "'''") };
                    if after.as_bytes().starts_with(&[quote, quote]) {
                        self.quotes = Some(three);
                        rest = &after[2..];
                    } else {
                        // A single-line string that is not closed ends with its line.
                        let Some(end) = end_of_text(after, one) else { return };
                        rest = &after[end..];
                    }
                }
            }
        }
    }
}

/// The position after the closing quotes. A character after a backslash closes nothing.
fn end_of_text(text: &str, quotes: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        at += memchr::memchr2(b'\\', quotes.as_bytes()[0], &bytes[at..])?;
        if bytes[at] == b'\\' {
            at += 2;
        } else if bytes[at..].starts_with(quotes.as_bytes()) {
            return Some(at + quotes.len());
        } else {
            at += 1;
        }
    }
    None
}

struct OpenBracket<'a> {
    sign: u8,
    /// The tokens before it, if the statement continues after the closing bracket.
    head: Option<Vec<CodeToken<'a>>>,
    /// The entry that ends with the closing bracket.
    entry: Option<usize>,
    /// The innermost entry here.
    inside: Option<usize>,
    /// Whether a function can be declared here without a keyword.
    bare: bool,
}

struct BraceReader<'a> {
    entries: Vec<OutlineEntry>,
    open: Vec<OpenBracket<'a>>,
    /// The number of open round, square and curly brackets.
    counts: [usize; 3],
    /// The tokens since the last statement ended.
    head: Vec<CodeToken<'a>>,
    /// The second to last word in the first brackets of the head: in Go, the class of a method.
    receiver: Option<&'a str>,
}

/// The functions and classes of a text with blocks by braces.
fn braced_entries(text: &str, tongue: QuoteSyntax) -> Result<Vec<OutlineEntry>> {
    let mut reader =
        BraceReader { entries: Vec::new(), open: Vec::new(), counts: [0; 3], head: Vec::new(), receiver: None };
    for token in tokens(text, tongue)? {
        guard::check()?;
        match token.text {
            "(" | "[" => {
                reader.head.push(token);
                reader.bracket(token);
            }
            "{" => reader.brace(token),
            ")" | "]" | "}" => reader.close(token),
            ";" => reader.head.clear(),
            _ => reader.head.push(token),
        }
    }
    let last = text.lines().count();
    for open in reader.open {
        if let Some(entry) = open.entry {
            reader.entries[entry].end_line = last;
        }
    }
    Ok(reader.entries)
}

fn bracket_index(sign: u8) -> usize {
    match sign {
        b'(' => 0,
        b'[' => 1,
        _ => 2,
    }
}

impl<'a> BraceReader<'a> {
    fn inside(&self) -> Option<usize> {
        self.open.last().and_then(|open| open.inside)
    }

    fn push(&mut self, open: OpenBracket<'a>) {
        self.counts[bracket_index(open.sign)] += 1;
        self.open.push(open);
    }

    /// Opens a bracket that does not end the head: round, square, or a brace within a type.
    fn bracket(&mut self, token: CodeToken<'a>) {
        let head = Some(std::mem::take(&mut self.head));
        let sign = token.text.as_bytes()[0];
        self.push(OpenBracket { sign, head, entry: None, inside: self.inside(), bare: false });
    }

    fn brace(&mut self, token: CodeToken<'a>) {
        if matches!(self.head.last().map(|last| last.text), Some("<" | ":" | "|" | "&")) {
            return self.bracket(token);
        }
        let head = std::mem::take(&mut self.head);
        let receiver = self.receiver.take();
        let bare = self.open.last().is_none_or(|open| open.bare);
        let declared = declared_by_head(&head, receiver, bare);
        let bare = match &declared {
            Some(declared) => declared.is_class,
            // A namespace or a module allows what is allowed around it. A statement does not.
            None => bare && !head.iter().any(|token| matches!(token.text, "(" | "=")),
        };
        let entry = declared.map(|declared| self.enter(&declared));
        self.push(OpenBracket { sign: b'{', head: None, entry, inside: entry.or(self.inside()), bare });
    }

    fn enter(&mut self, declared: &Declaration<'a>) -> usize {
        let around = self.inside().map(|at| &self.entries[at]);
        let kind = match around {
            _ if declared.is_class => OutlineKind::Class,
            _ if declared.owner.is_some() => OutlineKind::Method,
            Some(OutlineEntry { kind: OutlineKind::Class, .. }) => OutlineKind::Method,
            _ => OutlineKind::Function,
        };
        let parent = declared.owner.map(str::to_owned).or_else(|| around.map(OutlineEntry::path));
        let (name, line) = (declared.name.text.to_owned(), declared.name.line);
        self.entries.push(OutlineEntry { kind, name, line, end_line: line, parent });
        self.entries.len() - 1
    }

    /// A closing bracket closes the nearest open one of its kind and all brackets within. If there is none, it is
    /// ignored.
    fn close(&mut self, token: CodeToken<'a>) {
        let sign = match token.text {
            ")" => b'(',
            "]" => b'[',
            _ => b'{',
        };
        if self.counts[bracket_index(sign)] == 0 {
            return;
        }
        let between = std::mem::take(&mut self.head);
        while let Some(open) = self.open.pop() {
            self.counts[bracket_index(open.sign)] -= 1;
            if let Some(entry) = open.entry {
                self.entries[entry].end_line = token.line;
            }
            if open.sign == sign {
                self.head = open.head.unwrap_or_default();
                break;
            }
        }
        if sign != b'{' {
            if sign == b'(' && matches!(self.head.as_slice(), [.., func, _] if func.text == "func") {
                // `(r *Ring)`, `(r Ring[T])`: the first name after the name of the variable.
                let named = between.iter().filter(|token| token.text.starts_with(char::is_alphabetic));
                self.receiver = named.take(2).last().map(|token| token.text);
            }
            self.head.push(token);
        }
    }
}

/// A declaration.
#[derive(Debug, PartialEq, Eq)]
struct Declaration<'a> {
    is_class: bool,
    name: CodeToken<'a>,
    /// The class that the head itself names: `func (r Ring) turn`, `Ring::turn`.
    owner: Option<&'a str>,
}

const CLASSES: &[&str] = &["class", "struct", "enum", "interface", "trait", "union", "record", "object", "protocol"];

/// Words before a bracket and a brace that do not declare a function.
const STATEMENTS: &[&str] = &[
    "if",
    "for",
    "foreach",
    "while",
    "switch",
    "catch",
    "synchronized",
    "return",
    "match",
    "loop",
    "with",
    "using",
    "lock",
    "when",
    "select",
    "do",
    "else",
    "new",
    "await",
    "sizeof",
    "typeof",
    "super",
    "this",
    "fixed",
    "guard",
];

/// What a head declares. `bare` says whether a function can be declared there without a keyword, as in C and in
/// classes. The head contains its brackets but not what is between them.
fn declared_by_head<'a>(head: &[CodeToken<'a>], receiver: Option<&'a str>, bare: bool) -> Option<Declaration<'a>> {
    // Type parameters may also contain `=`, and may appear between a name and its bracket.
    let outer = without_angles(head);
    let assigned = outer.iter().position(|token| token.text == "=");
    function(head, receiver).or_else(|| match assigned {
        Some(at) => assigned_function(&outer, at),
        None => class(head).or_else(|| if bare { bare_function(&outer) } else { None }),
    })
}

fn is_name(token: &CodeToken<'_>) -> bool {
    token.text.starts_with(|sign: char| sign.is_alphabetic() || matches!(sign, '_' | '$'))
}

/// `fn name`, `function name`, `function* name`, `fun name`, `func name`, `func (r Ring) name`.
fn function<'a>(head: &[CodeToken<'a>], receiver: Option<&'a str>) -> Option<Declaration<'a>> {
    let at = head.iter().position(|token| matches!(token.text, "fn" | "function" | "func" | "fun"))?;
    let mut rest = head[at + 1..].iter().skip_while(|token| token.text == "*");
    let first = rest.next()?;
    let plain = |name: CodeToken<'a>| Declaration { is_class: false, name, owner: None };
    if is_name(first) {
        return Some(plain(*first));
    }
    let name = rest.nth(usize::from(first.text == "(")).filter(|name| is_name(name));
    let name = name.filter(|_| head[at].text == "func" && first.text == "(")?;
    Some(Declaration { owner: receiver, ..plain(*name) })
}

/// `class Name`, `enum class Name`, `impl Trait for Name`, `type Name struct`.
fn class<'a>(head: &[CodeToken<'a>]) -> Option<Declaration<'a>> {
    let class = |name: &CodeToken<'a>| Declaration { is_class: true, name: *name, owner: None };
    if let Some(at) = head.iter().position(|token| token.text == "impl") {
        let outer = without_angles(&head[at + 1..]);
        let outer = outer.split(|token| token.text == "where").next().unwrap_or_default();
        let of = outer.rsplit(|token| token.text == "for").next().unwrap_or_default();
        // Of a path, the last name is used.
        return of.iter().rfind(|token| is_name(token)).map(class);
    }
    let at = head.iter().position(|token| CLASSES.contains(&token.text))?;
    let follows = head[at + 1..].iter().find(|token| !CLASSES.contains(&token.text)).filter(|token| is_name(token));
    match (at.checked_sub(2).map(|at| head[at].text), follows) {
        (Some("type"), _) => Some(class(&head[at - 1])),
        // `struct ring *turn(…) {` is a function of C, `class A(…) : B() {` a class of Kotlin.
        (_, Some(name)) if head[at].text != "struct" || !head.iter().any(|token| token.text == "(") => {
            Some(class(name))
        }
        _ => None,
    }
}

/// The tokens outside `<…>`.
fn without_angles<'a>(words: &[CodeToken<'a>]) -> Vec<CodeToken<'a>> {
    let mut depth = 0_usize;
    let mut outer = Vec::with_capacity(words.len());
    for word in words {
        match word.text {
            "<" => depth += 1,
            ">" => depth = depth.saturating_sub(1),
            _ if depth == 0 => outer.push(*word),
            _ => {}
        }
    }
    outer
}

/// `name = (…) => {`, `name = function (…) {`, `const name: Type = async x => {`.
fn assigned_function<'a>(head: &[CodeToken<'a>], at: usize) -> Option<Declaration<'a>> {
    let is_function = head.last()?.text == "=>" || head[at + 1..].iter().any(|token| token.text == "function");
    let before = head[..at].split(|token| token.text == ":").next()?;
    let name = before.last().filter(|name| is_function && is_name(name))?;
    Some(Declaration { is_class: false, name: *name, owner: None })
}

/// `int name(…) {`, `name(…): Type {`, `Ring::turn(…) const {`: the name before the first bracket, ignoring
/// annotations.
fn bare_function<'a>(head: &[CodeToken<'a>]) -> Option<Declaration<'a>> {
    let mut from = 0;
    loop {
        let bracket = from + head[from..].iter().position(|token| token.text == "(")?;
        let name = head[..bracket].last().filter(|name| is_name(name) && !STATEMENTS.contains(&name.text))?;
        if is_annotation(&head[from..bracket]) {
            from = bracket + 1;
            continue;
        }
        let owner = match &head[..bracket - 1] {
            [.., owner, colons] if colons.text == "::" && is_name(owner) => Some(owner.text),
            _ => None,
        };
        return Some(Declaration { is_class: false, name: *name, owner });
    }
}

/// Whether the words end with `@Name`, or `@a.b.Name`.
fn is_annotation(words: &[CodeToken<'_>]) -> bool {
    let path = words.iter().rev().skip_while(|token| is_name(token) || token.text == ".");
    let length = words.iter().rev().take_while(|token| is_name(token) || token.text == ".").count();
    // `@Test void run(` ends with two names that no dot joins, so it is not an annotation.
    let joined = words[words.len() - length..].windows(2).all(|pair| is_name(&pair[0]) != is_name(&pair[1]));
    joined && path.take(1).any(|token| token.text == "@")
}
