//! A client that speaks to one server over pipes: one call after the other, or many in flight.
//!
//! Requests and answers go over one thread, so nothing but the server's own time and two pipes is measured. Every
//! request is written by itself, as independent callers would, and every answer is checked.

use crate::Outcome;
use crate::machine::{Memory, memory, processor_time};
use serde_json::{Value, json};
use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The revision that every server here speaks.
const REVISION: &str = "2025-06-18";
/// A server that lives longer than this hangs; it is killed, and the read that waits for it fails.
const SERVER_TIMEOUT: Duration = Duration::from_secs(300);

/// A tool call, and the answer that is right.
pub struct Call {
    tool: String,
    params: String,
    right: Right,
}

/// The right answer of a call.
pub enum Right {
    /// This text.
    Text(String),
    /// This value, structured or as text.
    Value(Value),
    /// Anything but an error.
    Any,
}

impl Call {
    /// Prepares a call.
    pub fn new(tool: &str, arguments: &Value, right: Right) -> Call {
        Call { tool: tool.to_owned(), params: json!({ "name": tool, "arguments": arguments }).to_string(), right }
    }

    /// What is called.
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// What is sent as `params`.
    pub fn params(&self) -> &str {
        &self.params
    }

    /// Whether a result is right.
    pub fn check(&self, result: &Value) -> Outcome<()> {
        let right = result["isError"] != json!(true)
            && match &self.right {
                Right::Any => true,
                Right::Text(text) => result["content"][0]["text"] == json!(text),
                Right::Value(value) => answer(result).as_ref() == Some(value),
            };
        if right { Ok(()) } else { Err(format!("wrong answer to {}: {result:.500}", self.params).into()) }
    }
}

/// The result of a tool: the structured value (unwrapped, if it is wrapped), otherwise its text parsed as JSON.
pub fn answer(result: &Value) -> Option<Value> {
    match result.get("structuredContent") {
        Some(Value::Object(map)) if map.len() == 1 && map.contains_key("result") => map.get("result").cloned(),
        Some(value) => Some(value.clone()),
        None => serde_json::from_str(result["content"][0]["text"].as_str()?).ok(),
    }
}

/// A server that runs.
pub struct Server {
    child: Arc<Mutex<Child>>,
    process: u32,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    line: String,
    next: u64,
    began: Instant,
    _life: Sender<()>,
}

impl Server {
    /// Starts it and reads its tools: initialize, initialized, tools/list. `log` takes its stderr.
    pub fn start(command: &mut Command, log: &Path) -> Outcome<Server> {
        let began = Instant::now();
        let log = OpenOptions::new().create(true).append(true).open(log)?;
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .map_err(|error| format!("cannot start {command:?}: {error}"))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("the server has no pipes".into());
        };
        let process = child.id();
        let child = Arc::new(Mutex::new(child));
        let (life, ended) = channel::<()>();
        let watched = Arc::clone(&child);
        std::thread::spawn(move || {
            if ended.recv_timeout(SERVER_TIMEOUT) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
                end(&watched);
            }
        });
        let output = BufReader::with_capacity(1 << 16, output);
        let mut server = Server { child, process, input, output, line: String::new(), next: 1, began, _life: life };
        let client = json!({ "name": "speed", "version": "0" });
        let hello = json!({ "protocolVersion": REVISION, "capabilities": {}, "clientInfo": client });
        server.request("initialize", &hello.to_string())?;
        server.write(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)?;
        let listed = server.request("tools/list", "{}")?;
        match listed["tools"].as_array() {
            Some(tools) if !tools.is_empty() => Ok(server),
            _ => Err(format!("{command:?} lists no tools: {listed:.300}").into()),
        }
    }

    /// How long ago it was started.
    pub fn age(&self) -> Duration {
        self.began.elapsed()
    }

    /// The memory it holds.
    pub fn memory(&self) -> Option<Memory> {
        memory(self.process)
    }

    /// Milliseconds of processor time that it has used.
    pub fn processor_time(&self) -> Option<f64> {
        processor_time(self.process)
    }

    /// Calls once. Returns the time and the result.
    pub fn call(&mut self, call: &Call) -> Outcome<(Duration, Value)> {
        let began = Instant::now();
        let asked = self.send("tools/call", &call.params)?;
        let (answered, at, result) = self.receive()?;
        let time = at - began;
        if answered != asked {
            return Err(format!("asked {asked}, the answer is to {answered}").into());
        }
        call.check(&result)?;
        Ok((time, result))
    }

    /// Calls `count` times with `window` calls in flight. Returns the calls per second.
    ///
    /// All that is in flight must fit into a pipe (64 kB), since this side does not read while it writes.
    pub fn in_flight(&mut self, call: &Call, count: usize, window: usize) -> Outcome<f64> {
        self.each_in_flight(&|_| call, count, window)
    }

    /// The same with another call each time, by its number.
    pub fn each_in_flight<'a>(
        &mut self,
        call: &dyn Fn(usize) -> &'a Call,
        count: usize,
        window: usize,
    ) -> Outcome<f64> {
        let first = self.next;
        let mut open = vec![true; count];
        let began = Instant::now();
        for place in 0..window.min(count) {
            self.send("tools/call", &call(place).params)?;
        }
        for done in 0..count {
            let (id, _, result) = self.receive()?;
            let place = usize::try_from(id.saturating_sub(first))?;
            if !open.get_mut(place).is_some_and(|open| std::mem::replace(open, false)) {
                return Err(format!("an answer to {id}, which is not open").into());
            }
            call(place).check(&result)?;
            if done + window < count {
                self.send("tools/call", &call(done + window).params)?;
            }
        }
        let calls = f64::from(u32::try_from(count)?);
        Ok(calls / began.elapsed().as_secs_f64())
    }

    /// Makes any request. Returns the time and the result.
    pub fn ask(&mut self, method: &str, params: &Value) -> Outcome<(Duration, Value)> {
        let params = params.to_string();
        let began = Instant::now();
        self.send(method, &params)?;
        let (_, at, result) = self.receive()?;
        Ok((at - began, result))
    }

    fn request(&mut self, method: &str, params: &str) -> Outcome<Value> {
        self.send(method, params)?;
        self.receive().map(|(_, _, result)| result)
    }

    /// Sends a request. Returns its id.
    pub fn send(&mut self, method: &str, params: &str) -> Outcome<u64> {
        let id = self.next;
        self.next += 1;
        self.write(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#))?;
        Ok(id)
    }

    fn write(&mut self, line: &str) -> Outcome<()> {
        let mut line = line.to_owned();
        line.push('\n');
        self.input.write_all(line.as_bytes()).map_err(|error| format!("the server reads no more: {error}").into())
    }

    /// Takes a request back.
    pub fn cancel(&mut self, id: u64) -> Outcome<()> {
        let params = json!({ "requestId": id });
        self.write(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }).to_string())
    }

    /// The next result: its id, its time of arrival, its contents. Notifications are skipped, requests refused.
    pub fn receive(&mut self) -> Outcome<(u64, Instant, Value)> {
        loop {
            self.line.clear();
            if self.output.read_line(&mut self.line)? == 0 {
                return Err("the server has ended (its stderr is in the log)".into());
            }
            let at = Instant::now();
            let mut message: Value = serde_json::from_str(&self.line)
                .map_err(|reason| format!("no JSON from the server: {reason}: {:.200}", self.line))?;
            if message.get("method").is_some() {
                if let Some(id) = message.get("id") {
                    let error = json!({ "code": -32601, "message": "not here" });
                    let refusal = json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string();
                    self.write(&refusal)?;
                }
                continue;
            }
            let Some(id) = message["id"].as_u64() else { return Err(format!("no id: {:.200}", self.line).into()) };
            return match message.get_mut("result") {
                Some(result) => Ok((id, at, result.take())),
                None => Err(format!("an error: {:.500}", self.line).into()),
            };
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        end(&self.child);
    }
}

/// Ends a process that may have ended already.
pub fn end(child: &Mutex<Child>) {
    if let Ok(mut child) = child.lock() {
        // Both fail only for a process that is gone, which is what is wanted.
        let _ = child.kill();
        let _ = child.wait();
    }
}
