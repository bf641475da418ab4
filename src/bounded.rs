//! Texts built by native code, limited in size so that no call uses up the memory of the process.

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard::{self, BYTE, ITEM};
use crate::value::Value;

/// The maximum size of a text that a primitive may return: 64 MB.
pub const MAX_TEXT_BYTES: usize = 64 << 20;

/// Refuses a text of this many bytes if it is larger than [`MAX_TEXT_BYTES`].
pub fn check_size(bytes: usize) -> Result<()> {
    if bytes <= MAX_TEXT_BYTES {
        return Ok(());
    }
    let message = format!("the text would be longer than {} MB", MAX_TEXT_BYTES >> 20);
    Err(Diagnostic::new(Code::LIMIT, message).help("process it in parts"))
}

/// Smaller sizes are not reserved, because the guard notices them soon enough.
const MIN_RESERVED_BYTES: usize = 64 << 10;

//= docs/spec.md#primitives
//# A primitive MUST check the memory limit before it allocates memory of a size that a script chose.
/// Refuses a text of this many bytes if it is too large, or if the call may not allocate twice as much. The text exists
/// twice while it is converted to a value.
pub fn reserve(bytes: usize) -> Result<()> {
    check_size(bytes)?;
    if bytes < MIN_RESERVED_BYTES { Ok(()) } else { guard::reserve_memory(bytes.saturating_mul(2)) }
}

/// Requires that the call may allocate `times` the size of a value, so that it can be converted into something else.
#[cfg_attr(test, track_caller)]
pub fn reserve_for(value: &Value, times: usize) -> Result<()> {
    let bytes = weight(value).saturating_mul(times);
    guard::check()?;
    if bytes < MIN_RESERVED_BYTES { Ok(()) } else { guard::reserve_memory(bytes) }
}

/// Refuses a value that cannot be processed in time: see [`guard::require_time`]. `nanoseconds` is the worst-case time
/// per byte.
#[cfg_attr(test, track_caller)]
pub fn price(what: &str, value: &Value, nanoseconds: u32) -> Result<()> {
    let bytes = weight(value);
    guard::check()?;
    guard::require_time(what, bytes, nanoseconds)
}

/// The size of a value in bytes, without handles, which are shared. Counts as work.
fn weight(value: &Value) -> usize {
    if guard::is_over(ITEM) {
        return 0;
    }
    let inner = match value {
        Value::Text(text) => text.len(),
        Value::List(items) => items.iter().map(weight).sum(),
        Value::Map(map) => map.iter().map(|(key, value)| key.len() + weight(value)).sum(),
        _ => 0,
    };
    size_of::<Value>().saturating_add(inner)
}

/// A text under construction that never grows beyond [`MAX_TEXT_BYTES`] and regularly consults the guard.
#[derive(Default)]
pub struct BoundedText {
    text: String,
}

impl BoundedText {
    /// Appends a part.
    pub fn push(&mut self, part: &str) -> Result<()> {
        let length = self.text.len().saturating_add(part.len());
        check_size(length)?;
        if length > self.text.capacity() {
            // The buffer grows to twice its size while the old buffer still exists.
            let wanted = length.max(self.text.capacity().saturating_mul(2));
            if wanted >= MIN_RESERVED_BYTES {
                guard::reserve_memory(wanted)?;
            }
            self.text.reserve_exact(wanted - self.text.len());
        }
        self.text.push_str(part);
        guard::spend(ITEM + part.len() * BYTE)
    }

    /// The text so far.
    pub fn into_text(self) -> String {
        self.text
    }

    /// The text so far, as a value.
    pub fn into_value(self) -> Value {
        Value::from(self.text)
    }
}

/// A UTF-8 writer into a [`BoundedText`]. [`BoundedWriter::written`] says why a write was refused.
#[derive(Default)]
pub struct BoundedWriter {
    text: BoundedText,
    refused: Option<Box<Diagnostic>>,
}

impl BoundedWriter {
    /// The text that was written.
    ///
    /// # Errors
    /// The reason why a part of the text was refused.
    pub fn written(self) -> Result<Value> {
        match self.refused {
            Some(error) => Err(error),
            None => Ok(self.text.into_value()),
        }
    }
}

impl std::io::Write for BoundedWriter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match self.text.push(&String::from_utf8_lossy(bytes)) {
            Ok(()) => Ok(bytes.len()),
            Err(error) => {
                self.refused = Some(error);
                Err(std::io::ErrorKind::OutOfMemory.into())
            }
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guard::{CancelFlag, Guard, Limits};

    //= docs/spec.md#primitives
    //= type=test
    //# A primitive MUST check the memory limit before it allocates memory of a size that a script chose.
    #[test]
    fn what_the_call_may_not_take_is_refused_before_it_is_taken() {
        let limits = Limits { memory: 8 << 20, ..Limits::default() };
        for ask in [
            (|| reserve(9 << 20)) as fn() -> Result<()>,
            || reserve_for(&Value::list(vec![Value::from("x".repeat(3 << 20))]), 2),
            || {
                let mut text = BoundedText::default();
                let part = "x".repeat(1 << 20);
                (0..16).try_for_each(|_| text.push(&part))
            },
        ] {
            let guard = Guard::new(limits, CancelFlag::default());
            let _entered = guard.enter();
            assert_eq!(ask().expect_err("8 MB are all it has").code, Code::LIMIT);
            assert!(guard.memory() <= 8 << 20, "{}", guard.memory());
        }
    }

    #[test]
    fn it_refuses_what_is_too_large() {
        let part = "x".repeat(1 << 20);
        let mut text = BoundedText::default();
        let error = (0..65).find_map(|_| text.push(&part).err()).expect("65 MB are too much");
        assert_eq!(error.code, Code::LIMIT);
        assert!(check_size(MAX_TEXT_BYTES).is_ok());
    }
}
