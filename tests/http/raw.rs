//! A connection whose bytes a test writes and reads itself.
#![allow(clippy::unwrap_used, reason = "tests may panic, and each uses a part of this")]

use crate::support::http::{STATELESS, Server, is_silence, stateless};
use serde_json::{Value, json};
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Long enough for anything that happens at all.
const IO_TIMEOUT: Duration = Duration::from_secs(30);

/// A connection.
pub struct Raw {
    pub stream: TcpStream,
    /// What was read of it.
    pub heard: Vec<u8>,
}

impl Raw {
    /// Connects; the client's system takes no more than a few kilobytes that the test did not read.
    pub fn open(server: &Server) -> Self {
        let raw = Self::wide(server);
        rustix::net::sockopt::set_socket_recv_buffer_size(&raw.stream, 8 << 10).unwrap();
        raw
    }

    /// Connects; the client's system takes as much as it usually does.
    pub fn wide(server: &Server) -> Self {
        let stream = TcpStream::connect(server.address).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(IO_TIMEOUT)).unwrap();
        stream.set_write_timeout(Some(IO_TIMEOUT)).unwrap();
        Self { stream, heard: Vec::new() }
    }

    /// Connects and sends a text.
    pub fn saying(server: &Server, text: &str) -> Self {
        let mut raw = Self::open(server);
        raw.say(text);
        raw
    }

    /// Sends a text. Returns whether it could be sent.
    pub fn say(&mut self, text: &str) -> bool {
        self.stream.write_all(text.as_bytes()).is_ok()
    }

    /// Whether the server has closed it by now, and what it said is read meanwhile.
    pub fn is_closed(&mut self) -> bool {
        self.stream.set_nonblocking(true).unwrap();
        let closed = loop {
            let mut piece = [0; 4096];
            match self.stream.read(&mut piece) {
                Ok(0) => break true,
                Ok(length) => self.heard.extend_from_slice(&piece[..length]),
                Err(error) => break error.kind() != ErrorKind::WouldBlock,
            }
        };
        self.stream.set_nonblocking(false).unwrap();
        closed
    }

    /// Waits until the server closes it, doing something all the while; whether it did within a time.
    pub fn closes_within(&mut self, time: Duration, mut meanwhile: impl FnMut(&mut Self)) -> bool {
        let end = Instant::now() + time;
        while Instant::now() < end {
            if self.is_closed() {
                return true;
            }
            meanwhile(self);
            std::thread::sleep(Duration::from_millis(20));
        }
        false
    }

    /// Reads until the server closes it.
    #[track_caller]
    pub fn rest(mut self) -> String {
        if let Err(error) = self.read_on(|_| false) {
            assert!(!is_silence(&error), "the server neither answers nor closes: {:?}", self.shown());
        }
        self.said()
    }

    /// Reads until the server closes it, nothing came for a while, or what came is enough; whether it was reset.
    pub fn rest_until(mut self, is_enough: impl Fn(&[u8]) -> bool, pause: Duration) -> (String, bool) {
        // From now on it takes what comes.
        rustix::net::sockopt::set_socket_recv_buffer_size(&self.stream, 1 << 20).unwrap();
        self.stream.set_read_timeout(Some(pause)).unwrap();
        let ended = self.read_on(is_enough);
        (self.said(), ended.is_err_and(|error| error.kind() == ErrorKind::ConnectionReset))
    }

    /// What came before the end is heard, also of a connection that is reset.
    fn read_on(&mut self, is_enough: impl Fn(&[u8]) -> bool) -> std::io::Result<()> {
        let end = Instant::now() + 4 * IO_TIMEOUT;
        let mut piece = [0; 65_536];
        while !is_enough(&self.heard) {
            match self.stream.read(&mut piece)? {
                0 => return Ok(()),
                length => self.heard.extend_from_slice(&piece[..length]),
            }
            assert!(Instant::now() < end, "the answer has no end");
        }
        Ok(())
    }

    fn said(&self) -> String {
        String::from_utf8_lossy(&self.heard).into_owned()
    }

    /// The beginning of what it heard, for messages.
    fn shown(&self) -> String {
        String::from_utf8_lossy(&self.heard[..self.heard.len().min(400)]).into_owned()
    }

    /// The status of what is answered.
    pub fn answer_head(mut self) -> u16 {
        while !self.heard.contains(&b'\n') {
            self.more();
        }
        String::from_utf8_lossy(&self.heard).split(' ').nth(1).unwrap().parse().unwrap()
    }

    /// Reads one response with a content length, without what follows it.
    #[track_caller]
    pub fn answer(&mut self) -> (u16, String) {
        let head = loop {
            if let Some(end) = memchr::memmem::find(&self.heard, b"\r\n\r\n") {
                break self.heard.drain(..end + 4).collect::<Vec<u8>>();
            }
            self.more();
        };
        let head = String::from_utf8(head).unwrap().to_ascii_lowercase();
        let length = head.split("content-length: ").nth(1).unwrap_or_else(|| panic!("{head}"));
        let length: usize = length.split("\r\n").next().unwrap().parse().unwrap();
        while self.heard.len() < length {
            self.more();
        }
        let body = self.heard.drain(..length).collect();
        (head.split(' ').nth(1).unwrap().parse().unwrap(), String::from_utf8(body).unwrap())
    }

    #[track_caller]
    fn more(&mut self) {
        let mut piece = [0; 65_536];
        let length = match self.stream.read(&mut piece) {
            Ok(length) => length,
            Err(error) => panic!("no whole answer ({error}): {:?}", self.shown()),
        };
        assert!(length > 0, "closed after {:?}", self.shown());
        self.heard.extend_from_slice(&piece[..length]);
    }
}

/// A request as bytes: the usual fields, and those that are given.
pub fn request(server: &Server, fields: &str, body: &str) -> String {
    let (host, length) = (server.address, body.len());
    let usual = "Accept: application/json, text/event-stream\r\nContent-Type: application/json";
    format!("POST /mcp HTTP/1.1\r\nHost: {host}\r\n{usual}\r\nContent-Length: {length}\r\n{fields}\r\n{body}")
}

/// A call of a tool as bytes.
pub fn call(server: &Server, tool: &str, fields: &str) -> String {
    call_of(server, json!({ "name": tool, "arguments": {} }), fields)
}

/// A call with these parameters as bytes.
pub fn call_of(server: &Server, params: Value, fields: &str) -> String {
    let tool = params["name"].as_str().unwrap().to_owned();
    let era = format!("MCP-Protocol-Version: {STATELESS}\r\nMcp-Method: tools/call\r\nMcp-Name: {tool}\r\n");
    request(server, &format!("{era}{fields}"), &stateless("tools/call", params).to_string())
}
