//! The words that cannot be names of functions in rhai, and the names that functions get instead.

use super::engine::known_names;

/// The reserved words of rhai, used or not.
pub const RESERVED_WORDS: &[&str] = &[
    "let",
    "const",
    "if",
    "else",
    "switch",
    "do",
    "while",
    "until",
    "loop",
    "for",
    "in",
    "continue",
    "break",
    "return",
    "throw",
    "try",
    "catch",
    "fn",
    "private",
    "import",
    "export",
    "as",
    "global",
    "this",
    "true",
    "false",
    "var",
    "static",
    "shared",
    "goto",
    "exit",
    "match",
    "case",
    "public",
    "protected",
    "new",
    "use",
    "with",
    "module",
    "package",
    "super",
    "thread",
    "spawn",
    "go",
    "await",
    "async",
    "sync",
    "yield",
    "default",
    "void",
    "null",
    "nil",
    "is",
    "eval",
    "print",
    "debug",
    "type_of",
    "call",
    "curry",
];

/// The function of a definition that names none: `search_tool` if a script cannot have a function `search`.
pub fn default_function(name: &str, kind: &str) -> String {
    let mut function = name.replace(|letter: char| !letter.is_ascii_alphanumeric(), "_");
    while RESERVED_WORDS.contains(&&*function) || known_names().any(|known| known == function) {
        function.push_str(&format!("_{kind}"));
    }
    function
}
