//! Faults cut to a size: what scripts say, and what messages quote, is as long as who made it wanted.

use super::{Code, Diagnostic};
use serde_json::{Value, json};

/// A message is for reading: more than this is cut, whatever else may be sent.
const LONGEST: usize = 16 << 10;

impl Diagnostic {
    /// The same, for an answer of `most` bytes: a message or a help that is longer is cut and says so; data that are
    /// larger are left out, and what is said in their place says that too.
    #[must_use]
    pub fn bounded(mut self: Box<Self>, most: usize) -> Box<Self> {
        let longest = LONGEST.min(most);
        cut(&mut self.message, longest);
        if let Some(help) = &mut self.help {
            cut(help, longest);
        }
        if let Some(data) = self.data.take() {
            self.data = Some(match json_bytes(&data) {
                size if size > most => Box::new(self.in_place_of(&data, size, most)),
                _ => data,
            });
        }
        self
    }

    fn in_place_of(&self, data: &Value, size: usize, most: usize) -> Value {
        let cut = format!("its data have {} kB, more than the {} kB that a failure may have", size >> 10, most >> 10);
        match self.code {
            // The number of the error is told beside what was given.
            Code::REJECT => json!({ "code": data["code"], "data": { "cut": cut } }),
            _ => json!({ "error": self.message, "cut": cut }),
        }
    }
}

fn cut(text: &mut String, longest: usize) {
    if text.len() > longest {
        let bytes = text.len();
        text.truncate(text.floor_char_boundary(longest));
        text.push_str(&format!("… (cut: it has {} kB)", bytes.div_ceil(1 << 10)));
    }
}

/// How many bytes JSON has when it is written, without the text itself.
pub fn json_bytes(data: &Value) -> usize {
    struct Count(usize);
    impl std::io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    match serde_json::to_writer(&mut count, data) {
        Ok(()) => count.0,
        Err(_) => usize::MAX,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_long_is_cut_with_a_word_and_what_is_not_stays() {
        let fault = |text: &str| Diagnostic::new(Code::FAIL, text).help(text).data(json!({ "code": 7, "data": text }));
        assert_eq!(fault("short").bounded(1 << 10), fault("short"));
        let long = "ö".repeat(20 << 10);
        let bounded = fault(&long).bounded(64 << 10);
        assert!(bounded.message.len() < (16 << 10) + 32 && bounded.message.ends_with("… (cut: it has 40 kB)"));
        assert_eq!(bounded.help, Some(bounded.message.clone()));
        assert_eq!(bounded.data, fault(&long).data);
        let bounded = fault(&long).bounded(2 << 10);
        assert!(bounded.message.len() < (2 << 10) + 32);
        assert!(bounded.data.is_some_and(|data| data["cut"].as_str().is_some_and(|cut| cut.contains("40 kB"))));
        let mut rejected = fault(&long);
        rejected.code = Code::REJECT;
        assert_eq!(rejected.bounded(2 << 10).data.map(|data| data["code"].clone()), Some(json!(7)));
    }
}
