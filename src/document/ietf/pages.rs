//! Page headers and footers of a paginated text.

use super::{Document, Item, Token};

/// Leaves out headers and footers: a line that looks like one, with the breaks after it, and the line right
/// after a page break, whatever it says.
pub(super) fn leave_out(document: &Document, items: &mut Vec<Item>) {
    let mut skips_breaks = false;
    let mut expects_header = false;
    items.retain(|item| {
        let is_header = std::mem::take(&mut expects_header);
        match item.token {
            Token::Page => {
                expects_header = true;
                !skips_breaks
            }
            Token::Blank => !skips_breaks,
            Token::Text if is_furniture(&document.text()[item.line.span.clone()]) => {
                skips_breaks |= !is_header;
                false
            }
            Token::Text if is_header => false,
            Token::Text | Token::Heading { .. } => {
                skips_breaks = false;
                true
            }
        }
    });
}

/// `RFC 1  …` and `[Page 1]…` in the first column, `… [Page 1]` at the end.
fn is_furniture(line: &str) -> bool {
    let after_digits = |rest: &str| {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        (digits > 0).then_some(digits)
    };
    if let Some(rest) = line.strip_prefix("RFC ") {
        return after_digits(rest).is_some_and(|digits| rest[digits..].starts_with("  "));
    }
    let is_page = |rest: &str, ends: bool| {
        after_digits(rest).is_some_and(|digits| {
            let rest = &rest[digits..];
            if ends { rest == "]" } else { rest.starts_with(']') }
        })
    };
    if let Some(rest) = line.strip_prefix("[Page ") {
        return is_page(rest, false);
    }
    line.ends_with(']') && line.rfind(" [Page ").is_some_and(|at| is_page(&line[at + " [Page ".len()..], true))
}
