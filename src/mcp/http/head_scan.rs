//! Scans the bytes of heads for what the HTTP library accepts or repairs: a line that ends without CR, a body with two lengths
//! or an unusual coding, a target with a fragment, a head that is too long. Bodies are skipped, so that pipelined requests
//! are scanned like any others.

use hyper::StatusCode;
use std::collections::VecDeque;

/// How many bytes of a line are kept: a field with a length fits, with some space around it.
const KEPT_LINE: usize = 64;

const LENGTH: &[u8] = b"content-length:";

const ENCODING: &[u8] = b"transfer-encoding:";

/// The limit of a head, in bytes.
pub(crate) const MAX_HEAD: usize = 64 << 10;

/// A fault of a head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HeadFault {
    pub(crate) status: StatusCode,
    pub(crate) text: &'static str,
}

impl HeadFault {
    const fn bad(text: &'static str) -> Self {
        Self { status: StatusCode::BAD_REQUEST, text }
    }
}

/// The fault of a head behind one after which nothing may be read.
const AFTER_LAST: HeadFault = HeadFault::bad("a request behind one that ends the connection");

/// The state of a head that arrives in pieces.
#[derive(Debug)]
struct HeadScan {
    /// The beginning of the current line, in lower case.
    start: [u8; KEPT_LINE],
    /// Bytes of the current line.
    length: usize,
    last: u8,
    lines: usize,
    lengths: usize,
    encodings: usize,
    /// Whether the body has a coding other than `chunked`.
    odd_coding: bool,
    /// Whether the target has a fragment, which clients must not send.
    fragment: bool,
    /// The bytes of the head so far.
    size: usize,
    /// The length of the body; nothing if its field is no number.
    body: Option<u64>,
    bare_newline: bool,
    /// Whether the empty line was read, and the body follows.
    ended: bool,
}

/// The heads of a connection, one after the other.
#[derive(Debug, Default)]
pub(crate) struct Heads {
    current: HeadScan,
    /// The bytes of a body that come before the next head.
    body: u64,
    /// The faults of complete heads that were not asked for yet.
    read: VecDeque<Option<HeadFault>>,
    /// Whether the connection ends after the last head.
    is_last: bool,
}

impl Heads {
    /// Takes the next bytes of the connection.
    pub(crate) fn feed(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() && !self.is_last {
            let body = usize::try_from(self.body).unwrap_or(usize::MAX).min(bytes.len());
            self.body -= body as u64;
            bytes = &bytes[body..];
            let head = self.current.feed(bytes);
            bytes = &bytes[head..];
            if self.current.ended {
                let ended = std::mem::take(&mut self.current);
                // Where a chunked body ends is not known here: the connection is closed after it.
                self.is_last = ended.fault().is_some() || ended.encodings > 0;
                self.body = ended.body.unwrap_or(0);
                self.read.push_back(ended.fault());
            }
        }
    }

    /// The number of complete requests that wait for those before them; nothing if a request is incomplete, or that cannot be
    /// known here.
    pub(crate) fn complete_requests(&self) -> Option<usize> {
        (self.body == 0 && self.current.size == 0 && !self.is_last).then_some(self.read.len())
    }

    /// The fault of the next head.
    pub(crate) fn next_fault(&mut self) -> Option<HeadFault> {
        // A head that the HTTP library has read and the scan has not is one that they read differently.
        self.read.pop_front().unwrap_or(Some(AFTER_LAST))
    }
}

impl Default for HeadScan {
    fn default() -> Self {
        Self {
            start: [0; KEPT_LINE],
            length: 0,
            last: 0,
            lines: 0,
            lengths: 0,
            encodings: 0,
            odd_coding: false,
            fragment: false,
            size: 0,
            body: Some(0),
            bare_newline: false,
            ended: false,
        }
    }
}

impl HeadScan {
    /// Takes the next bytes of the connection, up to the end of the head; returns how many.
    fn feed(&mut self, bytes: &[u8]) -> usize {
        let mut rest = bytes;
        while !self.ended && !rest.is_empty() {
            let end = memchr::memchr(b'\n', rest);
            let piece = &rest[..end.unwrap_or(rest.len())];
            for (place, byte) in self.start.iter_mut().skip(self.length).zip(piece) {
                *place = byte.to_ascii_lowercase();
            }
            self.fragment |= self.lines == 0 && piece.contains(&b'#');
            self.length += piece.len();
            self.last = piece.last().copied().unwrap_or(self.last);
            rest = &rest[piece.len()..];
            if end.is_some() {
                rest = &rest[1..];
                self.end_line();
            }
        }
        let taken = bytes.len() - rest.len();
        self.size = self.size.saturating_add(taken);
        taken
    }

    fn end_line(&mut self) {
        let has_return = self.length > 0 && self.last == b'\r';
        self.bare_newline |= !has_return;
        let is_empty = self.length == usize::from(has_return);
        // Empty lines before the first one are allowed (RFC 9112, section 2.2).
        self.ended = is_empty && self.lines > 0;
        self.lines += usize::from(!is_empty);
        let line = &self.start[..self.length.min(KEPT_LINE)];
        if let Some(value) = line.strip_prefix(LENGTH) {
            self.lengths += 1;
            self.body = if self.length > KEPT_LINE { None } else { number(value) };
        }
        if let Some(value) = line.strip_prefix(ENCODING) {
            self.encodings += 1;
            self.odd_coding |= self.length > KEPT_LINE || value.trim_ascii() != b"chunked";
        }
        (self.length, self.last) = (0, 0);
    }

    /// The fault of a complete head.
    fn fault(&self) -> Option<HeadFault> {
        //= docs/spec.md#http
        //# A request whose head or body is too large MUST be refused, and the server MUST go on.
        // The HTTP library accepts somewhat more than it is told to.
        if self.size > MAX_HEAD {
            let text = "Request Header Fields Too Large: a head has at most 65536 bytes";
            return Some(HeadFault { status: StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, text });
        }
        let text = match self {
            Self { bare_newline: true, .. } => Some("a line of the head ends without CR"),
            Self { fragment: true, .. } => Some("a fragment in the request target"),
            Self { lengths: 2.., .. } => Some("two Content-Length fields"),
            Self { encodings: 2.., .. } => Some("two Transfer-Encoding fields"),
            Self { lengths: 1, encodings: 1, .. } => Some("both Content-Length and Transfer-Encoding"),
            //= docs/spec.md#http
            //# A body in another transfer coding than `chunked` alone MUST be refused with status 400.
            Self { odd_coding: true, .. } => Some("a transfer coding other than `chunked` alone"),
            Self { body: None, .. } => Some("the field Content-Length is no plain number"),
            _ => None,
        };
        text.map(HeadFault::bad)
    }
}

/// The number in the value of a field: digits, with space around them and nothing else.
fn number(value: &[u8]) -> Option<u64> {
    let digits = std::str::from_utf8(value.trim_ascii()).ok()?;
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn fault(head: &str) -> Option<&'static str> {
        let mut scan = HeadScan::default();
        scan.feed(head.as_bytes());
        assert!(scan.ended, "{head:?}");
        scan.fault().map(|fault| fault.text)
    }

    /// The fault of each head of a connection.
    fn faults(bytes: &[u8], pieces: usize) -> Vec<Option<&'static str>> {
        let mut heads = Heads::default();
        bytes.chunks(pieces).for_each(|piece| heads.feed(piece));
        heads.read.into_iter().map(|fault| fault.map(|fault| fault.text)).collect()
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
    fn a_length_that_is_no_number_is_a_fault() {
        for wrong in ["+4", "4, 4", "0x4", "4 4", "99999999999999999999", &format!("{}4", " ".repeat(100)), "-1"] {
            let head = format!("POST / HTTP/1.1\r\nContent-Length: {wrong}\r\n\r\n");
            assert_eq!(fault(&head), Some("the field Content-Length is no plain number"), "{wrong}");
        }
    }

    //= docs/spec.md#http
    //= type=test
    //# A body in another transfer coding than `chunked` alone MUST be refused with status 400.
    #[test]
    fn a_coding_is_the_one_that_everybody_knows() {
        let with = |coding: &str| fault(&format!("POST / HTTP/1.1\r\nTransfer-Encoding: {coding}\r\n\r\n"));
        for known in ["chunked", "CHUNKED", "\tchunked  "] {
            assert_eq!(with(known), None, "{known}");
        }
        let long = format!("{}chunked", " ".repeat(100));
        for odd in ["gzip, chunked", "chunked, chunked", "identity", "", "xchunked", "chunked;a=b", ",chunked", &long] {
            assert_eq!(with(odd), Some("a transfer coding other than `chunked` alone"), "{odd}");
        }
    }

    #[test]
    fn a_target_has_no_fragment_and_a_head_has_an_end() {
        assert_eq!(fault("POST /mcp#a HTTP/1.1\r\n\r\n"), Some("a fragment in the request target"));
        assert_eq!(
            fault(&format!("POST /{}#a HTTP/1.1\r\n\r\n", "x".repeat(200))),
            Some("a fragment in the request target")
        );
        assert_eq!(fault("POST /mcp HTTP/1.1\r\nX: #\r\n\r\n"), None);
        let of = |bytes: usize| format!("GET / HTTP/1.1\r\nX: {}\r\n\r\n", "x".repeat(bytes - 23));
        assert_eq!((of(MAX_HEAD).len(), fault(&of(MAX_HEAD))), (MAX_HEAD, None));
        let told = fault(&of(MAX_HEAD + 1));
        assert!(told.is_some_and(|told| told.contains(&MAX_HEAD.to_string())), "{told:?}");
    }

    #[test]
    fn heads_that_come_ahead_are_looked_at_behind_each_body() {
        let plain = "POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\na\n\nb\n";
        let bare = Some("a line of the head ends without CR");
        for pieces in [1, 2, 3, 7, 1_000] {
            let all = format!("{plain}\r\n{plain}GET / HTTP/1.1\r\n\r\n{plain}GET / HTTP/1.1\nHost: a\n\n{plain}");
            // Behind one that is refused nothing is read.
            assert_eq!(faults(all.as_bytes(), pieces), [None, None, None, None, bare], "{pieces}");
            let chunked = format!("{plain}POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n{plain}");
            assert_eq!(faults(chunked.as_bytes(), pieces), [None, None], "{pieces}");
        }
    }

    #[test]
    fn it_is_known_whether_requests_are_there_to_their_end() {
        let text = b"POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\na\n\nb\n";
        for end in 1..=text.len() {
            let mut heads = Heads::default();
            heads.feed(&text[..end]);
            assert_eq!(heads.complete_requests(), (end == text.len()).then_some(1), "{end}");
            heads.feed(&text[end..]);
            heads.feed(text);
            assert_eq!(heads.complete_requests(), Some(2));
            assert_eq!((heads.next_fault(), heads.complete_requests()), (None, Some(1)));
        }
    }

    #[test]
    fn a_head_that_was_not_read_is_a_fault() {
        let mut heads = Heads::default();
        heads.feed(b"GET / HTTP/1.1\r\n\r\n");
        assert_eq!((heads.next_fault(), heads.next_fault()), (None, Some(AFTER_LAST)));
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
