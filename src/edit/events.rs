//! The events of a YAML text that was read before, without its comments.

use crate::diagnostic::Result;
use crate::guard;
use granit_parser::{Event, Parser, Span, StrInput};

/// What comes next in a text.
pub(super) struct Events<'a> {
    parser: Parser<'a, StrInput<'a>>,
    seen: usize,
}

impl<'a> Events<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        Self { parser: Parser::new_from_str(text), seen: 0 }
    }

    /// The next event that is no comment; nothing at the end, or where the text is no YAML.
    pub(super) fn next(&mut self) -> Result<Option<(Event<'a>, Span)>> {
        loop {
            self.seen += 1;
            if self.seen.is_multiple_of(1024) {
                guard::check()?;
            }
            match self.parser.next_event() {
                Some(Ok((Event::Comment(..), _))) => {}
                Some(Ok(found)) => return Ok(Some(found)),
                Some(Err(_)) | None => return Ok(None),
            }
        }
    }
}
