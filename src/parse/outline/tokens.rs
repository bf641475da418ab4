//! Tokens of source code: words and operators, without comments, strings and preprocessor lines.

use crate::diagnostic::Result;
use crate::document::Document;
use crate::guard;

/// Quoting rules, in which languages differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum QuoteSyntax {
    /// `'a` is a lifetime, strings can span lines, `r#"…"#` is a raw string.
    Rust,
    /// `'…'` is a string or a character; a string ends with its line, except `` `…` ``; `/…/` can be a regular
    /// expression.
    Other,
}

impl QuoteSyntax {
    /// Detected by the file extension, or, without one, by the words in the text.
    pub(super) fn detect(document: &Document) -> Self {
        let (path, text) = (document.path(), document.text());
        let named = path.rsplit('/').next().unwrap_or(path).rsplit_once('.').map(|(_, extension)| extension);
        let is_rust = match named {
            Some(extension) => extension == "rs",
            None => text.contains("fn ") && !text.contains("function ") && !text.contains("func "),
        };
        if is_rust { Self::Rust } else { Self::Other }
    }
}

/// A word, or an operator of one or two characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CodeToken<'a> {
    pub(super) text: &'a str,
    /// The one-based line.
    pub(super) line: usize,
}

/// Operators of two characters that differ in meaning from the single characters.
const PAIRS: &[&str] = &["=>", "==", "!=", "<=", ">=", "->", "::"];

/// Directives of the C preprocessor.
const DIRECTIVES: &[&str] = &[
    "define", "elif", "else", "endif", "error", "if", "ifdef", "ifndef", "include", "line", "pragma", "undef",
    "warning",
];

struct Scanner<'a> {
    text: &'a str,
    at: usize,
    line: usize,
    tongue: QuoteSyntax,
    tokens: Vec<CodeToken<'a>>,
    /// Whether only white space precedes it on the line.
    fresh: bool,
}

pub(super) fn tokens(text: &str, tongue: QuoteSyntax) -> Result<Vec<CodeToken<'_>>> {
    let mut scanner = Scanner { text, at: 0, line: 1, tongue, tokens: Vec::new(), fresh: true };
    while let Some(byte) = scanner.peek(0) {
        guard::check()?;
        scanner.step(byte);
    }
    Ok(scanner.tokens)
}

impl<'a> Scanner<'a> {
    fn peek(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn step(&mut self, byte: u8) {
        let fresh = std::mem::take(&mut self.fresh);
        let rest = self.rest();
        match byte {
            b'\n' => {
                self.advance(1);
                self.fresh = true;
            }
            b' ' | b'\t' | b'\r' => {
                self.at += 1;
                self.fresh = fresh;
            }
            b'/' if rest.starts_with("//") => self.pass_line(),
            b'/' if rest.starts_with("/*") => self.past(2, "*/"),
            b'/' if self.tongue == QuoteSyntax::Other && self.pattern_may_begin() => self.pattern(),
            b'#' if fresh && is_directive(rest) => self.directive(),
            b'r' | b'b' if self.tongue == QuoteSyntax::Rust && self.raw_text() => {}
            b'"' if rest.starts_with("\"\"\"") && self.tongue == QuoteSyntax::Other => self.past(3, "\"\"\""),
            b'"' => self.quoted(b'"', self.tongue == QuoteSyntax::Rust),
            b'`' if self.tongue == QuoteSyntax::Other => self.quoted(b'`', true),
            b'\'' if self.tongue == QuoteSyntax::Rust => self.letter_or_lifetime(),
            b'\'' => self.quoted(b'\'', false),
            _ if rest.starts_with(is_word) => self.word(),
            _ => self.sign(),
        }
    }

    /// Advances by some bytes and counts lines. It never goes beyond the end or into the middle of a character.
    fn advance(&mut self, bytes: usize) {
        let end = self.text.ceil_char_boundary((self.at + bytes).min(self.text.len()));
        self.line += memchr::memchr_iter(b'\n', &self.text.as_bytes()[self.at..end]).count();
        self.at = end;
    }

    fn push(&mut self, length: usize) {
        self.tokens.push(CodeToken { text: &self.text[self.at..self.at + length], line: self.line });
        self.at += length;
    }

    fn word(&mut self) {
        let rest = self.rest();
        self.push(rest.find(|sign| !is_word(sign)).unwrap_or(rest.len()));
    }

    fn sign(&mut self) {
        let rest = self.rest();
        let pair = PAIRS.iter().any(|pair| rest.starts_with(pair));
        self.push(if pair { 2 } else { rest.chars().next().map_or(1, char::len_utf8) });
    }

    fn pass_line(&mut self) {
        let rest = self.rest();
        self.at += rest.find('\n').unwrap_or(rest.len());
    }

    fn past(&mut self, skip: usize, end: &str) {
        let found = memchr::memmem::find(&self.text.as_bytes()[self.at + skip..], end.as_bytes());
        self.advance(found.map_or(self.text.len(), |found| skip + found + end.len()));
    }

    /// Skips a preprocessor line, including the lines that a backslash joins to it.
    fn directive(&mut self) {
        loop {
            let start = self.at;
            self.pass_line();
            if !self.text[start..self.at].trim_end().ends_with('\\') || self.at == self.text.len() {
                return;
            }
            self.advance(1);
        }
    }

    fn quoted(&mut self, quote: u8, lines: bool) {
        let bytes = &self.text.as_bytes()[self.at..];
        let mut length = 1;
        while let Some(found) = bytes.get(length..).and_then(|rest| memchr::memchr3(b'\\', quote, b'\n', rest)) {
            length += found;
            match bytes[length] {
                b'\\' => length += 2,
                b'\n' if lines => length += 1,
                b'\n' => return self.advance(length),
                _ => return self.advance(length + 1),
            }
        }
        self.advance(bytes.len());
    }

    fn letter_or_lifetime(&mut self) {
        let rest = self.rest();
        let mut letters = rest[1..].chars();
        match (letters.next(), letters.next()) {
            (Some('\\'), _) => self.quoted(b'\'', false),
            (Some(letter), Some('\'')) => self.advance(2 + letter.len_utf8()),
            _ => self.at += 1,
        }
    }

    /// Skips a raw string (`r"…"`, `br#"…"#`), if there is one.
    fn raw_text(&mut self) -> bool {
        let rest = self.rest();
        let marks = rest.strip_prefix('b').unwrap_or(rest);
        let Some(marks) = marks.strip_prefix('r') else { return false };
        let hashes = marks.bytes().take_while(|byte| *byte == b'#').count();
        if marks.as_bytes().get(hashes) != Some(&b'"') {
            return false;
        }
        let skip = rest.len() - marks.len() + hashes + 1;
        self.past(skip, &format!("\"{}", "#".repeat(hashes)));
        true
    }

    /// Whether a slash begins a regular expression here: after an operator, after an opening bracket, or at the
    /// beginning.
    fn pattern_may_begin(&self) -> bool {
        match self.tokens.last() {
            None => true,
            Some(token) => {
                matches!(token.text, "return" | "typeof" | "case" | "in" | "of" | "=>" | "==" | "!=")
                    || token.text.ends_with(['(', ',', '=', ':', '[', '!', '&', '|', '?', '{', '}', ';', '+'])
            }
        }
    }

    /// Skips a regular expression, which ends on its line. A slash between square brackets does not end it.
    fn pattern(&mut self) {
        let line = self.rest().split('\n').next().unwrap_or_default().as_bytes();
        let (mut at, mut bracket) = (1, false);
        while at < line.len() {
            match line[at] {
                b'\\' => at += 1,
                b'[' => bracket = true,
                b']' => bracket = false,
                b'/' if !bracket => return self.advance(at + 1),
                _ => {}
            }
            at += 1;
        }
        self.sign();
    }
}

fn is_word(sign: char) -> bool {
    sign.is_alphanumeric() || sign == '_' || sign == '$'
}

fn is_directive(rest: &str) -> bool {
    let word = rest[1..].trim_start_matches([' ', '\t']);
    DIRECTIVES.iter().any(|known| word.strip_prefix(known).is_some_and(|after| !after.starts_with(is_word)))
}
