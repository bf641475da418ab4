//! Texts that grow natively, kept below a size: one call must not take the memory of all.

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard;
use crate::value::Value;

/// The most bytes that one native verb may return as a text: 64 MB.
pub const MOST_BYTES: usize = 64 << 20;

/// Refuses a text of that many bytes if it is too large.
pub fn refuse_above(bytes: usize) -> Result<()> {
    if bytes <= MOST_BYTES {
        return Ok(());
    }
    let message = format!("the text would be longer than {} MB", MOST_BYTES >> 20);
    Err(Diagnostic::new(Code::LIMIT, message).help("work on a part of it"))
}

/// A text under construction that refuses to grow above [`MOST_BYTES`] and asks the guard now and then.
#[derive(Default)]
pub struct BoundedText {
    text: String,
    pushes: u32,
}

impl BoundedText {
    /// Appends a part.
    pub fn push(&mut self, part: &str) -> Result<()> {
        refuse_above(self.text.len().saturating_add(part.len()))?;
        self.text.push_str(part);
        self.pushes = self.pushes.wrapping_add(1);
        if self.pushes.is_multiple_of(256) { guard::check() } else { Ok(()) }
    }

    /// The text so far.
    pub fn into_value(self) -> Value {
        Value::from(self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_refuses_what_is_too_large() {
        let part = "x".repeat(1 << 20);
        let mut text = BoundedText::default();
        let fault = (0..65).find_map(|_| text.push(&part).err()).expect("65 MB are too much");
        assert_eq!(fault.code, Code::LIMIT);
        assert!(refuse_above(MOST_BYTES).is_ok());
    }
}
