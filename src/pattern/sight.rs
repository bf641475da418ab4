//! What a pattern with look-around may see of a text: lines one by one, or all of it.

use super::reach::takes_line_feeds;
use fancy_regex::{Assertion, Expr};

/// Whether every part of the pattern, looks around included, stays within one line and tells nothing of where the text
/// begins or ends: so that it finds in lines, one after the other, what it finds in the whole.
pub fn is_line_by_line(expr: &Expr) -> bool {
    let own = match expr {
        Expr::Any { newline, .. } => !newline,
        Expr::Literal { val, .. } => !val.contains('\n'),
        Expr::Delegate { inner, .. } => is_class_within_lines(inner),
        Expr::Assertion(assertion) => is_same_at_line_ends(*assertion),
        Expr::Empty
        | Expr::Concat(_)
        | Expr::Alt(_)
        | Expr::Group(_)
        | Expr::LookAround(..)
        | Expr::Repeat { .. }
        | Expr::Backref { .. }
        | Expr::AtomicGroup(_)
        | Expr::KeepOut => true,
        // What is rare, or new, may see anything.
        _ => false,
    };
    own && expr.children_iter().all(is_line_by_line)
}

fn is_class_within_lines(class: &str) -> bool {
    let read = regex_syntax::Parser::new().parse(class);
    read.is_ok_and(|hir| hir.properties().look_set().is_empty() && !takes_line_feeds(&hir))
}

/// A line feed is no letter of a word, and where it stands is the end of a line: as the end of a text is.
fn is_same_at_line_ends(assertion: Assertion) -> bool {
    use Assertion::*;
    match assertion {
        StartLine { crlf } | EndLine { crlf } => !crlf,
        LeftWordBoundary
        | LeftWordHalfBoundary
        | RightWordBoundary
        | RightWordHalfBoundary
        | WordBoundary
        | NotWordBoundary => true,
        StartText | EndText | EndTextIgnoreTrailingNewlines { .. } | StartLineOniguruma { .. } => false,
    }
}
