//! Looks at the bytes of a head for what the HTTP library lets pass or mends: a line that ends without CR, and a body
//! whose length is said twice.

/// The longer one of the names that matter.
const NAME: usize = "transfer-encoding".len();

/// The state of a head that arrives in pieces.
#[derive(Debug, Default)]
pub(crate) struct HeadScan {
    /// The beginning of the current line.
    start: [u8; NAME],
    /// Bytes of the current line.
    length: usize,
    last: u8,
    lines: usize,
    lengths: usize,
    encodings: usize,
    bare_newline: bool,
    /// Bytes of the head so far.
    bytes: usize,
    /// The empty line was read: what follows is body.
    ended: bool,
}

/// The heads of a connection, one after the other.
#[derive(Debug, Default)]
pub(crate) struct Heads {
    current: HeadScan,
    /// Bytes that were read since the head began.
    read: usize,
    /// Bytes of the body, once it was read.
    body: Option<usize>,
    /// The client sent more before its answer came (pipelining): where its next head begins is not known here. What is
    /// said twice is then mended by the HTTP library, as RFC 9112 allows.
    ahead: bool,
}

impl Heads {
    /// Takes the next bytes of the connection.
    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        self.read += bytes.len();
        if !self.ahead {
            self.current.feed(bytes);
        }
    }

    /// What is wrong with the head that was read.
    pub(crate) fn fault(&self) -> Option<&'static str> {
        if self.ahead { None } else { self.current.fault() }
    }

    /// The body was read, so many bytes.
    pub(crate) fn has_body(&mut self, bytes: usize) {
        self.body = Some(bytes);
    }

    /// The request is answered: what comes next is another head.
    pub(crate) fn next(&mut self) {
        let ahead = self.ahead || self.read != self.current.bytes + self.body.unwrap_or(0);
        *self = Self { ahead, ..Self::default() };
    }
}

impl HeadScan {
    /// Takes the next bytes of the connection.
    pub(crate) fn feed(&mut self, mut bytes: &[u8]) {
        while !self.ended && !bytes.is_empty() {
            let end = memchr::memchr(b'\n', bytes);
            let piece = &bytes[..end.unwrap_or(bytes.len())];
            for (place, byte) in self.start.iter_mut().skip(self.length).zip(piece) {
                *place = byte.to_ascii_lowercase();
            }
            self.length += piece.len();
            self.last = piece.last().copied().unwrap_or(self.last);
            self.bytes += piece.len() + usize::from(end.is_some());
            if let Some(end) = end {
                bytes = &bytes[end + 1..];
                self.end_line();
            } else {
                return;
            }
        }
    }

    fn end_line(&mut self) {
        let has_return = self.length > 0 && self.last == b'\r';
        self.bare_newline |= !has_return;
        let is_empty = self.length == usize::from(has_return);
        // Empty lines before the first one are allowed (RFC 9112, section 2.2).
        self.ended = is_empty && self.lines > 0;
        self.lines += usize::from(!is_empty);
        let name = self.start.get(..self.length.min(NAME)).unwrap_or_default();
        self.lengths += usize::from(name.starts_with(b"content-length:"));
        self.encodings += usize::from(name.starts_with(b"transfer-encoding"));
        (self.length, self.last) = (0, 0);
    }

    /// What is wrong with the head, if it was read to its end.
    pub(crate) fn fault(&self) -> Option<&'static str> {
        match self {
            Self { bare_newline: true, .. } => Some("a line of the head ends without CR"),
            Self { lengths: 2.., .. } => Some("two Content-Length fields"),
            Self { encodings: 2.., .. } => Some("two Transfer-Encoding fields"),
            Self { lengths: 1, encodings: 1, .. } => Some("both Content-Length and Transfer-Encoding"),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn fault(head: &str) -> Option<&'static str> {
        let mut scan = HeadScan::default();
        scan.feed(head.as_bytes());
        assert!(scan.ended, "{head:?}");
        scan.fault()
    }

    #[test]
    fn a_length_is_said_once_and_lines_end_as_they_must() {
        let with =
            |fields: &str| fault(&format!("POST / HTTP/1.1\r\nHost: a\r\n{fields}\r\nbody\n\nContent-Length: 1\r\n"));
        assert_eq!(with(""), None);
        assert_eq!(with("Content-Length: 4\r\n"), None);
        assert_eq!(with("Transfer-Encoding: chunked\r\n"), None);
        assert_eq!(with("X-Content-Length: 4\r\nContent-Length: 4\r\nContent-Lengths: 4\r\n"), None);
        assert_eq!(with("Content-Length: 4\r\ncontent-length: 4\r\n"), Some("two Content-Length fields"));
        assert_eq!(
            with("Transfer-Encoding: a\r\nTransfer-Encoding: chunked\r\n"),
            Some("two Transfer-Encoding fields")
        );
        for both in [
            "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n",
            "tRansfer-encoding: chunked\r\ncontent-length:4\r\n",
        ] {
            assert_eq!(with(both), Some("both Content-Length and Transfer-Encoding"), "{both}");
        }
        assert_eq!(with("X: y\n"), Some("a line of the head ends without CR"));
        assert_eq!(fault("\r\n\r\nGET / HTTP/1.1\r\n\r\n"), None);
        assert_eq!(fault("GET / HTTP/1.1\n\n"), Some("a line of the head ends without CR"));
    }

    #[test]
    fn heads_follow_each_other_and_what_comes_ahead_is_left_alone() {
        let head = "POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\n";
        let mut heads = Heads::default();
        for _ in 0..3 {
            heads.feed(head.as_bytes());
            assert_eq!(heads.fault(), None);
            heads.feed(b"a\nb");
            heads.has_body(3);
            heads.next();
        }
        heads.feed(b"GET / HTTP/1.1\nHost: a\n\n");
        assert_eq!(heads.fault(), Some("a line of the head ends without CR"));
        let mut heads = Heads::default();
        heads.feed(format!("{head}a\nbPOST / HTTP/1.1\r\nContent-").as_bytes());
        heads.has_body(3);
        heads.next();
        heads.feed(b"Length: 3\r\n\r\na\nb");
        assert_eq!(heads.fault(), None);
    }

    proptest! {
        #[test]
        fn pieces_change_nothing(
            lines in prop::collection::vec("(Content-Length: 1|Transfer-Encoding: x|A: b|)(\r\n|\n)", 0..8),
            cuts in prop::collection::vec(0_usize..200, 0..12),
        ) {
            let text = format!("GET / HTTP/1.1\r\n{}", lines.concat());
            let mut whole = HeadScan::default();
            whole.feed(text.as_bytes());
            let mut pieces = HeadScan::default();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(text.len())).collect();
            cuts.extend([0, text.len()]);
            cuts.sort_unstable();
            for pair in cuts.windows(2) {
                pieces.feed(&text.as_bytes()[pair[0]..pair[1]]);
            }
            prop_assert_eq!(whole.ended, pieces.ended);
            prop_assert_eq!(whole.fault(), pieces.fault());
        }
    }
}
