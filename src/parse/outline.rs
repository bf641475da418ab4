//! Functions and classes of source code, found by a scanner that knows strings, comments and brackets but no grammar.

mod braces;
mod head;
mod indent;
mod scan;
#[cfg(test)]
mod tests;

use crate::diagnostic::Result;
use crate::document::Document;
use crate::value::Value;
use head::{Declared, declared};
use scan::{Token, tokens};

/// How a language shows what belongs together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// By indentation, as Python does.
    Indent,
    /// By braces: Rust, JavaScript, TypeScript, Java, Go, C and their like.
    Braces,
}

/// A function or class.
#[derive(Debug, PartialEq, Eq)]
struct Entry {
    kind: Sort,
    name: String,
    /// From 1; where its name stands.
    line: usize,
    end_line: usize,
    /// The name of what it lies in, with the names around that before it, joined by dots.
    parent: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sort {
    Class,
    Function,
    Method,
}

impl Sort {
    fn name(self) -> &'static str {
        match self {
            Self::Class => "class",
            Self::Function => "function",
            Self::Method => "method",
        }
    }
}

impl Entry {
    /// What entries within it have as their parent.
    fn path(&self) -> String {
        self.parent.as_ref().map_or_else(|| self.name.clone(), |parent| format!("{parent}.{}", self.name))
    }

    fn value(self) -> Value {
        Value::map([
            ("kind", self.kind.name().into()),
            ("name", self.name.into()),
            ("line", self.line.into()),
            ("end_line", self.end_line.into()),
            ("parent", self.parent.into()),
        ])
    }
}

/// `#{ kind, name, line, end_line, parent }` of the functions, classes and methods with a body, in the order in which they
/// begin. `kind` is `class` (also `struct`, `enum`, `trait`, `impl`, `interface`, `record`, `union`), `function`, or `method`
/// for a function directly in a class.
///
/// Not told apart from their neighbours are macros, and code that the preprocessor cuts in two; functions that have
/// no braces around their body are left out.
pub fn outline(document: &Document, layout: Layout) -> Result<Vec<Value>> {
    let entries = match layout {
        Layout::Indent => indent::entries(document.text())?,
        Layout::Braces => braces::entries(document.text(), scan::Tongue::of(document))?,
    };
    Ok(entries.into_iter().map(Entry::value).collect())
}
