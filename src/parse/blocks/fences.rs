//! Code fences, as CommonMark 0.31 §4.5 has them, but for their nesting in lists and quotes.

/// The state between two lines.
#[derive(Default)]
pub(super) struct Fences {
    /// The character and the length of the fence that is open.
    open: Option<(u8, usize)>,
}

impl Fences {
    /// Whether the next line is a fence, or lies between two. A fence that is never closed covers the rest.
    pub(super) fn covers(&mut self, line: &str) -> bool {
        let inner = line.trim_start_matches(' ');
        let sign = match inner.as_bytes() {
            [sign @ (b'`' | b'~'), ..] if line.len() - inner.len() <= 3 => *sign,
            _ => return self.open.is_some(),
        };
        let length = inner.bytes().take_while(|byte| *byte == sign).count();
        let rest = &inner[length..];
        match self.open {
            Some((known, least)) => {
                if known == sign && length >= least && rest.trim().is_empty() {
                    self.open = None;
                }
                true
            }
            None if length < 3 || (sign == b'`' && rest.contains('`')) => false,
            None => {
                self.open = Some((sign, length));
                true
            }
        }
    }
}
