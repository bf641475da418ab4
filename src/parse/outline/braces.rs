//! Outlines of languages with braces.

use super::scan::Tongue;
use super::{Declared, Entry, Sort, Token, declared, tokens};
use crate::diagnostic::Result;
use crate::guard;

/// An open bracket.
struct Open<'a> {
    sign: u8,
    /// The words before it, where they go on after it.
    head: Option<Vec<Token<'a>>>,
    /// The entry that ends with it.
    entry: Option<usize>,
    /// The innermost entry here.
    inside: Option<usize>,
    /// Whether functions are declared here without a word for it.
    bare: bool,
}

struct Reader<'a> {
    entries: Vec<Entry>,
    open: Vec<Open<'a>>,
    /// How many round, square and curly brackets are open.
    counts: [usize; 3],
    /// The words since the last statement ended.
    head: Vec<Token<'a>>,
    /// The last word but one between the first brackets of the head: in Go the class of a method.
    receiver: Option<&'a str>,
}

/// The functions and classes of a text.
pub(super) fn entries(text: &str, tongue: Tongue) -> Result<Vec<Entry>> {
    let mut reader = Reader { entries: Vec::new(), open: Vec::new(), counts: [0; 3], head: Vec::new(), receiver: None };
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

fn index(sign: u8) -> usize {
    match sign {
        b'(' => 0,
        b'[' => 1,
        _ => 2,
    }
}

impl<'a> Reader<'a> {
    fn inside(&self) -> Option<usize> {
        self.open.last().and_then(|open| open.inside)
    }

    fn push(&mut self, open: Open<'a>) {
        self.counts[index(open.sign)] += 1;
        self.open.push(open);
    }

    /// A bracket whose words do not end the head: round, square, or a brace within a type.
    fn bracket(&mut self, token: Token<'a>) {
        let head = Some(std::mem::take(&mut self.head));
        let sign = token.text.as_bytes()[0];
        self.push(Open { sign, head, entry: None, inside: self.inside(), bare: false });
    }

    fn brace(&mut self, token: Token<'a>) {
        if matches!(self.head.last().map(|last| last.text), Some("<" | ":" | "|" | "&")) {
            return self.bracket(token);
        }
        let head = std::mem::take(&mut self.head);
        let receiver = self.receiver.take();
        let bare = self.open.last().is_none_or(|open| open.bare);
        let declared = declared(&head, receiver, bare);
        let bare = match &declared {
            Some(declared) => declared.is_class,
            // A namespace, or a module: what is allowed around it is allowed in it. Not so in a statement.
            None => bare && !head.iter().any(|token| matches!(token.text, "(" | "=")),
        };
        let entry = declared.map(|declared| self.enter(&declared));
        self.push(Open { sign: b'{', head: None, entry, inside: entry.or(self.inside()), bare });
    }

    fn enter(&mut self, declared: &Declared<'a>) -> usize {
        let around = self.inside().map(|at| &self.entries[at]);
        let kind = match around {
            _ if declared.is_class => Sort::Class,
            _ if declared.owner.is_some() => Sort::Method,
            Some(Entry { kind: Sort::Class, .. }) => Sort::Method,
            _ => Sort::Function,
        };
        let parent = declared.owner.map(str::to_owned).or_else(|| around.map(Entry::path));
        let (name, line) = (declared.name.text.to_owned(), declared.name.line);
        self.entries.push(Entry { kind, name, line, end_line: line, parent });
        self.entries.len() - 1
    }

    /// A closing bracket closes the nearest of its kind and all within; without one it is passed over.
    fn close(&mut self, token: Token<'a>) {
        let sign = match token.text {
            ")" => b'(',
            "]" => b'[',
            _ => b'{',
        };
        if self.counts[index(sign)] == 0 {
            return;
        }
        let between = std::mem::take(&mut self.head);
        while let Some(open) = self.open.pop() {
            self.counts[index(open.sign)] -= 1;
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
                // `(r *Ring)`, `(r Ring[T])`: the first name after that of the variable.
                let named = between.iter().filter(|token| token.text.starts_with(char::is_alphabetic));
                self.receiver = named.take(2).last().map(|token| token.text);
            }
            self.head.push(token);
        }
    }
}
