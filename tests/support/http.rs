//! A client that writes its requests by hand, and the server that it speaks to.

use super::home::Home;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Error, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// Long enough for anything that happens at all.
const IO_TIMEOUT: Duration = Duration::from_secs(30);

/// The revision that has no sessions.
pub const STATELESS: &str = "2026-07-28";

/// A running `toolsd serve --http`; it ends with the test.
pub struct Server {
    child: Child,
    pub address: SocketAddr,
    /// What it logs behind its address.
    heard: Mutex<Receiver<String>>,
}

/// What came back.
#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

/// A reply that is still being sent.
pub struct Stream(BufReader<TcpStream>);

impl Server {
    /// Serves at a free port of this machine.
    pub fn start(home: &Home, options: &[&str], variables: &[(&str, &str)]) -> Self {
        let mut command = home.command();
        command.args(["serve", "--http", "127.0.0.1:0"]).envs(variables.iter().copied());
        Self::from_command(&mut command, home, options)
    }

    /// Starts a command that serves, with these options behind its own.
    pub fn from_command(command: &mut Command, home: &Home, options: &[&str]) -> Self {
        let mut child = command
            .args(options)
            .env("TOOLSD_LOG", "info")
            .current_dir(home.workspace())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let (said, heard) = channel();
        // To the end: later output must not fill the pipe.
        std::thread::spawn(move || lines.map_while(Result::ok).for_each(|line| drop(said.send(line))));
        let (end, mut reported) = (Instant::now() + IO_TIMEOUT, String::new());
        let address = loop {
            let line = heard.recv_timeout(end.saturating_duration_since(Instant::now()));
            let line = line.unwrap_or_else(|why| {
                let _ = child.kill();
                panic!("the server does not say where it listens ({why}): {reported}")
            });
            if let Some(address) = address_in(&line) {
                break address;
            }
            reported.push_str(&line);
        };
        Self { child, address, heard: Mutex::new(heard) }
    }

    /// Waits until the server's log has a line with this in it.
    pub fn logs(&self, part: &str) -> String {
        let end = Instant::now() + IO_TIMEOUT;
        loop {
            match self.heard.lock().unwrap().recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(line) if line.contains(part) => return line,
                Ok(_) => {}
                Err(why) => panic!("the log does not say {part:?} ({why})"),
            }
        }
    }

    /// Sends a request and does not wait for more than the head of its reply. A method may name a path: `GET /healthz`.
    pub fn open(&self, method: &str, headers: &[(&str, &str)], body: &str) -> (Reply, Stream) {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(IO_TIMEOUT)).unwrap();
        stream.set_write_timeout(Some(IO_TIMEOUT)).unwrap();
        let target = if method.contains(' ') { method.to_owned() } else { format!("{method} /mcp") };
        let mut head = format!("{target} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
        let host = self.address.to_string();
        let usual = [
            ("Host", host.as_str()),
            ("Accept", "application/json, text/event-stream"),
            ("Content-Type", "application/json"),
        ];
        let missing = usual.iter().filter(|(name, _)| !headers.iter().any(|(other, _)| other == name));
        for (name, value) in missing.chain(headers) {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        // In one piece: a server that refuses the head need not read what comes behind it.
        stream.write_all(format!("{head}\r\n{body}").as_bytes()).unwrap();
        let mut stream = BufReader::new(stream);
        let mut line = String::new();
        stream.read_line(&mut line).unwrap();
        let status = line.split(' ').nth(1).unwrap_or_else(|| panic!("no reply: {line:?}")).parse().unwrap();
        let mut headers = Vec::new();
        loop {
            let mut line = String::new();
            stream.read_line(&mut line).unwrap();
            let Some((name, value)) = line.trim_end().split_once(": ") else { break };
            headers.push((name.to_ascii_lowercase(), value.to_owned()));
        }
        (Reply { status, headers, body: String::new() }, Stream(stream))
    }

    /// Sends a request and waits for the whole reply.
    pub fn send(&self, method: &str, headers: &[(&str, &str)], body: &str) -> Reply {
        let (mut reply, mut stream) = self.open(method, headers, body);
        stream.0.read_to_string(&mut reply.body).unwrap();
        if reply.header("transfer-encoding") == Some("chunked") {
            reply.body = whole(&reply.body);
        }
        reply
    }

    /// A request of the stateless era, with the headers that it must have and some more, or others.
    pub fn ask_with(&self, method: &str, params: Value, more: &[(&str, &str)]) -> Reply {
        let body = stateless(method, params.clone());
        let named = ["name", "uri", "taskId"].iter().find_map(|key| params.get(key)).and_then(Value::as_str);
        let mut headers = vec![("MCP-Protocol-Version", STATELESS), ("Mcp-Method", method)];
        headers.extend(named.map(|name| ("Mcp-Name", name)));
        headers.retain(|(name, _)| !more.iter().any(|(other, _)| other == name));
        headers.extend(more);
        self.send("POST", &headers, &body.to_string())
    }

    /// A request of the stateless era.
    pub fn ask(&self, method: &str, params: Value) -> Reply {
        self.ask_with(method, params, &[])
    }

    /// Opens a session of the era of handshakes. Returns its id.
    pub fn session(&self) -> String {
        let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "0" } });
        let reply = self.send("POST", &[], &request("initialize", hello).to_string());
        assert_eq!(reply.status, 200, "{reply:?}");
        let id = reply.header("mcp-session-id").unwrap().to_owned();
        let reported = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(self.send("POST", &[("Mcp-Session-Id", &id)], &reported.to_string()).status, 202);
        id
    }

    /// A request in a session.
    pub fn ask_in(&self, session: &str, method: &str, params: Value) -> Reply {
        let headers = [("Mcp-Session-Id", session), ("MCP-Protocol-Version", "2025-11-25")];
        self.send("POST", &headers, &request(method, params).to_string())
    }

    /// The number of the process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends the process a signal.
    pub fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([&format!("-{name}"), &self.child.id().to_string()]).status();
        assert!(sent.unwrap().success());
    }

    /// Waits for the end of the process.
    #[track_caller]
    pub fn wait(&mut self) -> ExitStatus {
        let end = Instant::now() + IO_TIMEOUT;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(Instant::now() < end, "the server does not end in {IO_TIMEOUT:?}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Reply {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    /// The last message in it, which is the answer.
    pub fn answer(&self) -> Value {
        let text = match self.header("content-type") {
            Some("text/event-stream") => self.body.lines().rev().find_map(|line| line.strip_prefix("data: {")),
            _ => self.body.strip_prefix('{'),
        };
        let text = text.unwrap_or_else(|| panic!("no message: {self:?}"));
        serde_json::from_str(&format!("{{{text}")).unwrap()
    }

    /// The code of the error in it.
    pub fn code(&self) -> i64 {
        self.answer()["error"]["code"].as_i64().unwrap_or_else(|| panic!("no error: {self:?}"))
    }
}

impl Stream {
    /// The next message of a stream of events; nothing at its end.
    pub fn next(&mut self) -> Option<Value> {
        loop {
            let mut line = String::new();
            match self.0.read_line(&mut line) {
                Ok(0) => return None,
                Err(error) if is_silence(&error) => panic!("nothing came of the stream in {IO_TIMEOUT:?}"),
                Err(_) => return None,
                Ok(_) => {}
            }
            if let Some(message) = line.strip_prefix("data: {") {
                return Some(serde_json::from_str(&format!("{{{message}")).unwrap());
            }
        }
    }
}

/// The address in a line of the log, if it is the one that tells it.
fn address_in(line: &str) -> Option<SocketAddr> {
    let (_, rest) = line.split_once("http://")?;
    rest.split_once("/mcp")?.0.parse().ok()
}

/// Whether a read ended because its time was over.
pub fn is_silence(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

/// A request of the era of handshakes.
pub fn request(method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params })
}

/// A request of the stateless era.
pub fn stateless(method: &str, mut params: Value) -> Value {
    let meta = params.as_object_mut().unwrap().entry("_meta").or_insert_with(|| json!({}));
    meta["io.modelcontextprotocol/protocolVersion"] = json!(STATELESS);
    let own = meta.as_object_mut().unwrap();
    own.entry("io.modelcontextprotocol/clientCapabilities").or_insert_with(|| json!({}));
    request(method, params)
}

/// A body from its chunks.
fn whole(chunks: &str) -> String {
    let (mut text, mut rest) = (String::new(), chunks);
    while let Some((size, after)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap();
        text.push_str(&after[..size]);
        rest = after[size..].strip_prefix("\r\n").unwrap();
        if size == 0 {
            break;
        }
    }
    text
}
