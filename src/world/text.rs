//! Bytes of a file as text: strict UTF-8, without a byte order mark.

use super::World;
use crate::diagnostic::{Code, Diagnostic, Result};

/// The text of a file.
pub fn read_text(world: &dyn World, path: &str) -> Result<String> {
    text_of(path, world.read(path)?)
}

/// The text that the bytes of the file `path` are; other bytes than UTF-8 are a fault that names the first one.
pub fn text_of(path: &str, bytes: Vec<u8>) -> Result<String> {
    let mut text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Diagnostic::new(Code::UTF8, format!("`{path}` is no UTF-8 from byte {at} on"))
            .help("`read_bytes` reads any file; of a text in another encoding make UTF-8 first: `iconv -f ISO-8859-1 -t UTF-8 FILE`")
    })?;
    if text.starts_with('\u{feff}') {
        text.drain(..'\u{feff}'.len_utf8());
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_utf8_without_a_mark() {
        assert_eq!(text_of("a", b"\xef\xbb\xbfx\xef\xbb\xbf".to_vec()).as_deref(), Ok("x\u{feff}"));
        let fault = text_of("a", b"ok\xff".to_vec()).expect_err("no UTF-8");
        assert_eq!((fault.code, fault.message.as_str()), (Code::UTF8, "`a` is no UTF-8 from byte 2 on"));
    }
}
