//! Clients of the long run: the same calls over standard streams and over HTTP, in the era without sessions.

use super::said;
use crate::support::{http, server};
use serde_json::{Value, json};
use std::io::Write;
use std::net::TcpStream;
use std::time::Duration;

/// The calls of the run, on any transport.
pub trait Client: Send {
    /// Its name in reports.
    fn name(&self) -> &'static str;

    /// The process of its server.
    fn pid(&self) -> u32;

    /// The answer to a request.
    fn ask(&mut self, method: &str, params: Value) -> Value;

    /// Begins a call and takes it back.
    fn cancelled(&mut self, tool: &str);

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

/// The parameters with what every request brings.
fn with_meta(mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": http::STATELESS,
        "io.modelcontextprotocol/clientInfo": { "name": "soak", "version": "0" },
        "io.modelcontextprotocol/clientCapabilities": { "extensions": { "io.modelcontextprotocol/tasks": {} } },
    });
    params
}

impl Client for server::Server {
    fn name(&self) -> &'static str {
        "stdio"
    }

    fn pid(&self) -> u32 {
        self.process()
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.heard.clear();
        Self::ask(self, method, &with_meta(params))
    }

    fn cancelled(&mut self, tool: &str) {
        let params = with_meta(json!({ "name": tool, "arguments": {} }));
        self.send(&json!({ "jsonrpc": "2.0", "id": "taken back", "method": "tools/call", "params": params }));
        let taken_back = json!({ "requestId": "taken back" });
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": taken_back }));
    }
}

impl Client for http::Server {
    fn name(&self) -> &'static str {
        "http"
    }

    fn pid(&self) -> u32 {
        self.id()
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        Self::ask(self, method, with_meta(params)).answer()
    }

    /// Closing the connection cancels the call.
    fn cancelled(&mut self, tool: &str) {
        let body = http::stateless("tools/call", with_meta(json!({ "name": tool, "arguments": {} }))).to_string();
        let text = format!(
            "POST /mcp HTTP/1.1\r\nHost: {}\r\nAccept: application/json, text/event-stream\r\nContent-Type: \
             application/json\r\nMCP-Protocol-Version: {}\r\nMcp-Method: tools/call\r\nMcp-Name: {tool}\r\n\
             Content-Length: {}\r\n\r\n{body}",
            self.address,
            http::STATELESS,
            body.len()
        );
        TcpStream::connect(self.address).unwrap().write_all(text.as_bytes()).unwrap();
        std::thread::sleep(Duration::from_millis(2));
    }
}
