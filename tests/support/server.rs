//! A running `toolsd serve`, and a client that speaks to it.

use super::home::Home;
use serde_json::{Value, json};
use std::time::Duration;

/// A server that ends with the test.
pub struct Server {
    process: super::Server,
    /// All that it said, in its order.
    pub heard: Vec<Value>,
}

impl Server {
    /// Serves the workspace, in the initialize era.
    pub fn start(home: &Home, options: &[&str]) -> Self {
        Self::start_for(home, options, &json!({}))
    }

    /// The same, for a client with these capabilities.
    pub fn start_for(home: &Home, options: &[&str], capabilities: &Value) -> Self {
        Self::start_with(home, options, capabilities, &[])
    }

    /// The same, with variables of the environment; no session is opened without capabilities.
    pub fn start_with(home: &Home, options: &[&str], capabilities: &Value, variables: &[(&str, &str)]) -> Self {
        let mut command = home.command();
        command.arg("serve").args(options).envs(variables.iter().copied());
        command.stderr(std::fs::File::create(home.log()).unwrap());
        let mut server = Self { process: super::Server::spawn(command, None), heard: Vec::new() };
        if capabilities.is_null() {
            return server;
        }
        let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": { "name": "t", "version": "0" } });
        server.ask("initialize", &hello);
        server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        server
    }

    /// Serves the workspace to a client that opens no session.
    pub fn start_modern(home: &Home, options: &[&str]) -> Self {
        Self::start_with(home, options, &Value::Null, &[])
    }

    /// Begins a subscription of the stateless era.
    pub fn listen(&mut self, notifications: &Value) {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "0" },
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let params = json!({ "notifications": notifications, "_meta": meta });
        self.send(&json!({ "jsonrpc": "2.0", "id": "listen", "method": "subscriptions/listen", "params": params }));
    }

    /// Sends a message.
    pub fn send(&mut self, message: &Value) {
        self.process.send(message);
    }

    /// Asks and waits for the answer.
    pub fn ask(&mut self, method: &str, params: &Value) -> Value {
        let id = self.process.tell(method, params.clone());
        self.wait(|message| message["id"] == json!(id))
    }

    /// Sends a request and does not wait for its answer.
    pub fn tell(&mut self, method: &str, params: &Value) -> u64 {
        self.process.tell(method, params.clone())
    }

    /// Waits for a message that is the one.
    pub fn wait(&mut self, is_it: impl Fn(&Value) -> bool) -> Value {
        loop {
            let message = self.process.hear().expect("the server ended");
            self.heard.push(message.clone());
            if is_it(&message) {
                return message;
            }
        }
    }

    /// Waits for a notification, unless it came already: one may overtake the answer that it follows from.
    pub fn hears(&mut self, method: &str) {
        if !self.heard.iter().any(|message| message["method"] == method) {
            self.wait(|message| message["method"] == method);
        }
    }

    /// How often it has said that a list changed: tools, prompts, resources.
    pub fn lists_changed(&self) -> [usize; 3] {
        ["tools", "prompts", "resources"].map(|list| {
            let method = json!(format!("notifications/{list}/list_changed"));
            self.heard.iter().filter(|message| message["method"] == method).count()
        })
    }

    /// The text that a tool answers with.
    pub fn said(&mut self, tool: &str, arguments: &Value) -> String {
        let answer = self.ask("tools/call", &json!({ "name": tool, "arguments": arguments }));
        answer["result"]["content"][0]["text"].as_str().unwrap_or_default().to_owned()
    }

    /// Calls until the answer is this one: a change takes its time to be seen.
    pub fn says_at_last(&mut self, tool: &str, arguments: &Value, text: &str) {
        for _ in 0..1_200 {
            if self.said(tool, arguments) == text {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("it still says {:?}", self.said(tool, arguments));
    }

    /// The number of its process.
    pub fn process(&self) -> u32 {
        self.process.pid()
    }

    /// Waits for its end. Returns its exit code.
    pub fn exit_code(mut self) -> Option<i32> {
        self.process.ended()
    }

    /// Ends the input, and with it the server.
    pub fn end(mut self) {
        drop(self.process.input.take());
        assert_eq!(self.process.ended(), Some(0));
    }
}
