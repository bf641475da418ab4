//! Clients of one server over HTTP, each with a persistent connection.

use crate::Outcome;
use crate::client::{Call, end};
use crate::machine::{Memory, memory};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The revision whose requests are independent of each other.
const REVISION: &str = "2026-07-28";
/// A server that is silent for this time hangs.
const SILENCE_TIMEOUT: Duration = Duration::from_secs(60);

/// A server that runs.
pub struct Web {
    child: Mutex<Child>,
    process: u32,
    address: SocketAddr,
}

impl Web {
    /// Starts it; it prints its address on stderr.
    pub fn start(command: &mut Command) -> Outcome<Web> {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| format!("cannot start {command:?}: {error}"))?;
        let said = child.stderr.take().ok_or("the server has no stderr")?;
        let process = child.id();
        let child = Mutex::new(child);
        let mut lines = BufReader::new(said).lines();
        let reported = lines.by_ref().map_while(Result::ok).find_map(|line| {
            let (_, rest) = line.split_once("http://")?;
            rest.split_once("/mcp")?.0.parse().ok()
        });
        // Later output must not fill the pipe.
        std::thread::spawn(move || lines.for_each(drop));
        match reported {
            Some(address) => Ok(Web { child, process, address }),
            None => {
                end(&child);
                Err(format!("{command:?} does not say where it listens").into())
            }
        }
    }

    /// The memory it holds.
    pub fn memory(&self) -> Option<Memory> {
        memory(self.process)
    }

    /// Makes `count` calls by `clients` clients, each call once, every answer checked. Returns the calls per second.
    pub fn load<'a>(&self, call: &(dyn Fn(usize) -> &'a Call + Sync), count: usize, clients: usize) -> Outcome<f64> {
        let next = AtomicUsize::new(0);
        let mut lines = Vec::new();
        for _ in 0..clients {
            lines.push(Line::open(self.address)?);
        }
        let began = Instant::now();
        let errors: Vec<String> = std::thread::scope(|scope| {
            let work = |mut line: Line| {
                let next = &next;
                move || -> Result<usize, String> {
                    let mut done = 0;
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        if number >= count {
                            return Ok(done);
                        }
                        line.call(number, call(number)).map_err(|error| error.to_string())?;
                        done += 1;
                    }
                }
            };
            let running: Vec<_> = lines.into_iter().map(|line| scope.spawn(work(line))).collect();
            let ended = running.into_iter().map(|one| one.join().unwrap_or_else(|_| Err("a client broke down".into())));
            let all: Vec<Result<usize, String>> = ended.collect();
            let answered: usize = all.iter().flatten().sum();
            let lost = (answered != count).then(|| format!("{answered} of {count} calls were answered"));
            all.into_iter().filter_map(Result::err).chain(lost).collect()
        });
        let calls = f64::from(u32::try_from(count)?);
        match errors.first() {
            None => Ok(calls / began.elapsed().as_secs_f64()),
            Some(error) => Err(error.clone().into()),
        }
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        end(&self.child);
    }
}

/// One connection.
struct Line(BufReader<TcpStream>);

impl Line {
    fn open(address: SocketAddr) -> Outcome<Line> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(SILENCE_TIMEOUT))?;
        Ok(Line(BufReader::with_capacity(1 << 14, stream)))
    }

    /// Calls once and checks the answer.
    fn call(&mut self, id: usize, call: &Call) -> Outcome<()> {
        let open = call.params().strip_suffix('}').ok_or("the parameters are not an object")?;
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": REVISION,
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{open},"_meta":{meta}}}}}"#);
        let request = format!(
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: application/json, text/event-stream\r\n\
             Content-Type: application/json\r\nMCP-Protocol-Version: {REVISION}\r\nMcp-Method: tools/call\r\n\
             Mcp-Name: {}\r\nContent-Length: {}\r\n\r\n{body}",
            call.tool(),
            body.len()
        );
        self.0.get_mut().write_all(request.as_bytes())?;
        let text = self.answer()?;
        let mut message: Value = serde_json::from_str(&text).map_err(|error| format!("{error}: {text:.300}"))?;
        if message["id"] != json!(id) {
            return Err(format!("asked {id}, got {text:.300}").into());
        }
        call.check(&message["result"].take())
    }

    /// The message in the next response, which has a content length.
    fn answer(&mut self) -> Outcome<String> {
        let mut status = String::new();
        self.0.read_line(&mut status)?;
        let mut length = None;
        loop {
            let mut line = String::new();
            self.0.read_line(&mut line)?;
            let Some((name, value)) = line.trim_end().split_once(": ") else { break };
            if name.eq_ignore_ascii_case("content-length") {
                length = Some(value.parse::<usize>()?);
            }
        }
        let length = length.ok_or_else(|| format!("an answer of no known length: {status:?}"))?;
        let mut body = vec![0; length];
        self.0.read_exact(&mut body)?;
        let text = String::from_utf8(body)?;
        if status.contains(" 200 ") { Ok(text) } else { Err(format!("{status:?}: {text:.300}").into()) }
    }
}
