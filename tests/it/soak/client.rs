//! Clients of the long run: the same calls over standard streams and over HTTP, in the era without sessions.

use super::said;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio as Standard};
use std::time::Duration;

const REVISION: &str = "2026-07-28";

/// What the run does, whatever carries it.
pub trait Client: Send {
    /// How it is called in what is told.
    fn name(&self) -> &'static str;

    /// The process of its server.
    fn pid(&self) -> u32;

    /// The answer to a request.
    fn ask(&mut self, method: &str, params: Value) -> Value;

    /// Begins a call and takes it back.
    fn cancelled(&mut self, tool: &str, arguments: &Value);

    /// The result of a call that must succeed.
    fn well(&mut self, tool: &str, arguments: &Value) -> Value {
        said(&self.ask("tools/call", json!({ "name": tool, "arguments": arguments })))
    }

    /// A call that runs as a task, to its end.
    fn task(&mut self, tool: &str, arguments: &Value) {
        let begun = self.ask("tools/call", json!({ "name": tool, "arguments": arguments }));
        let id = begun["result"]["taskId"].as_str().unwrap_or_else(|| panic!("no task: {begun}")).to_owned();
        for _ in 0..10_000 {
            let task = self.ask("tasks/get", json!({ "taskId": id }));
            match task["result"]["status"].as_str() {
                Some("completed") => return,
                Some("working") => std::thread::sleep(Duration::from_millis(2)),
                _ => panic!("{task}"),
            }
        }
        panic!("the task {id} does not end");
    }
}

fn message(id: u64, method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": REVISION,
        "io.modelcontextprotocol/clientInfo": { "name": "soak", "version": "0" },
        "io.modelcontextprotocol/clientCapabilities": { "extensions": { "io.modelcontextprotocol/tasks": {} } },
    });
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

/// A server on standard streams.
pub struct Stdio {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    next: u64,
}

impl Stdio {
    pub fn start(mut command: Command) -> Self {
        let mut child =
            command.stdin(Standard::piped()).stdout(Standard::piped()).stderr(Standard::null()).spawn().unwrap();
        let (input, output) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, input, output, next: 0 }
    }

    fn send(&mut self, message: &Value) {
        let input = self.input.as_mut().unwrap();
        input.write_all(format!("{message}\n").as_bytes()).unwrap();
    }
}

impl Client for Stdio {
    fn name(&self) -> &'static str {
        "stdio"
    }

    fn pid(&self) -> u32 {
        self.child.id()
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.next += 1;
        let id = self.next;
        self.send(&message(id, method, params));
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).unwrap() > 0, "the server ended during {method}");
            let answer: Value = serde_json::from_str(&line).unwrap();
            if answer["id"] == id {
                return answer;
            }
        }
    }

    fn cancelled(&mut self, tool: &str, arguments: &Value) {
        self.next += 1;
        let id = self.next;
        self.send(&message(id, "tools/call", json!({ "name": tool, "arguments": arguments })));
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } }));
    }
}

impl Drop for Stdio {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.child.wait();
    }
}

/// A server over HTTP, and one connection to it that stays open.
pub struct Web {
    child: Child,
    address: SocketAddr,
    open: Option<BufReader<TcpStream>>,
    next: u64,
}

impl Web {
    pub fn start(mut command: Command) -> Self {
        command.env("TOOLSD_LOG", "info");
        let mut child =
            command.stdin(Standard::null()).stdout(Standard::null()).stderr(Standard::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let address = lines.by_ref().map_while(Result::ok).find_map(|line| {
            let (_, rest) = line.split_once("http://")?;
            rest.split_once("/mcp")?.0.parse().ok()
        });
        // What is said later must not fill the pipe.
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, address: address.expect("the server says where it listens"), open: None, next: 0 }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    fn connect(&self) -> BufReader<TcpStream> {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
        BufReader::new(stream)
    }

    fn request(&mut self, method: &str, params: Value) -> String {
        self.next += 1;
        let named = ["name", "taskId"].iter().find_map(|key| params[*key].as_str()).unwrap_or_default().to_owned();
        let body = message(self.next, method, params).to_string();
        format!(
            "POST /mcp HTTP/1.1\r\nHost: {}\r\nAccept: application/json, text/event-stream\r\nContent-Type: \
             application/json\r\nMCP-Protocol-Version: {REVISION}\r\nMcp-Method: {method}\r\nMcp-Name: {named}\r\n\
             Content-Length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        )
    }
}

impl Client for Web {
    fn name(&self) -> &'static str {
        "http"
    }

    fn pid(&self) -> u32 {
        self.child.id()
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        let request = self.request(method, params);
        let mut stream = self.open.take().unwrap_or_else(|| self.connect());
        // A server may close a connection that was idle.
        if stream.get_mut().write_all(request.as_bytes()).is_err() || stream.fill_buf().map_or(true, <[u8]>::is_empty) {
            stream = self.connect();
            stream.get_mut().write_all(request.as_bytes()).unwrap();
        }
        let body = reply(&mut stream);
        self.open = Some(stream);
        let mut answers = body.lines().filter_map(|line| {
            let json = line.strip_prefix("data:").unwrap_or(line).trim();
            serde_json::from_str::<Value>(json).ok().filter(|answer| answer["id"] == self.next)
        });
        answers.next_back().unwrap_or_else(|| panic!("no answer to {method}: {body}"))
    }

    /// Whoever closes the connection takes the call back.
    fn cancelled(&mut self, tool: &str, arguments: &Value) {
        let request = self.request("tools/call", json!({ "name": tool, "arguments": arguments }));
        let mut stream = self.connect();
        stream.get_mut().write_all(request.as_bytes()).unwrap();
        std::thread::sleep(Duration::from_millis(2));
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        let _ = Command::new("kill").arg(self.child.id().to_string()).status();
        let _ = self.child.wait();
    }
}

/// The body of a reply.
fn reply(stream: &mut BufReader<TcpStream>) -> String {
    let (mut length, mut chunked) = (None, false);
    loop {
        let mut line = String::new();
        assert!(stream.read_line(&mut line).unwrap() > 0, "the connection ended in the head");
        let line = line.trim_end().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(size) = line.strip_prefix("content-length:") {
            length = size.trim().parse().ok();
        }
        chunked |= line.starts_with("transfer-encoding:") && line.contains("chunked");
    }
    let mut take = |size: usize| {
        let mut bytes = vec![0; size];
        stream.read_exact(&mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    };
    if !chunked {
        return take(length.unwrap_or(0));
    }
    let mut body = String::new();
    loop {
        let mut size = String::new();
        while !size.ends_with("\r\n") {
            size.push_str(&take(1));
        }
        let size = usize::from_str_radix(size.trim(), 16).unwrap();
        body.push_str(&take(size));
        take(2);
        if size == 0 {
            return body;
        }
    }
}
