//! A client for tests: starts the built binary on a workspace and speaks the protocol with it.

pub mod dice;
pub mod home;
pub mod http;
pub mod server;

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// No wait for a server is longer: only a bug comes near it.
pub const SERVER_TIMEOUT: Duration = Duration::from_secs(120);

/// The revision of the protocol that tests speak, unless another one is their subject.
const REVISION: &str = "2025-11-25";

/// A running `toolsd serve`.
pub struct Server {
    pub child: Child,
    pub input: Option<ChildStdin>,
    lines: Receiver<String>,
    next: u64,
    /// What the server said of itself.
    pub instructions: String,
    _home: Option<tempfile::TempDir>,
}

/// The directory of a system's real projects, below `TOOLSD_SYSTEMS`. Tests that call it are ignored unless they are
/// asked for, so a missing directory is a failure.
pub fn systems(name: &str) -> PathBuf {
    let root = std::env::var_os("TOOLSD_SYSTEMS").expect("TOOLSD_SYSTEMS names the directory of the real projects");
    let folder = Path::new(&root).join(name);
    assert!(folder.is_dir(), "TOOLSD_SYSTEMS is set, but {} is not a directory", folder.display());
    folder
}

/// A few items of a matrix, evenly spread and the same in each run; all of them with `TOOLSD_WHOLE`, which `.ci/long`
/// sets.
pub fn sample<T>(items: Vec<T>, count: usize) -> Vec<T> {
    let step = if std::env::var_os("TOOLSD_WHOLE").is_some() { 1 } else { items.len().div_ceil(count).max(1) };
    items.into_iter().step_by(step).collect()
}

/// The built binary, with its configuration and state in an empty folder.
pub fn toolsd(home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolsd"));
    command.env("XDG_CONFIG_HOME", home.join("config")).env("XDG_STATE_HOME", home.join("state")).env("NO_COLOR", "1");
    command
}

/// Writes a script for the shell that can be started at once.
///
/// Another process writes it. What a thread of this one has open for writing, a program that another thread starts at
/// that moment has open too, and the system starts nothing that anybody may still write (`ETXTBSY`).
pub fn write_program(path: &Path, text: &str) {
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", r#"cat > "$1" && chmod 755 "$1""#, "sh"]).arg(path).stdin(Stdio::piped());
    let mut writing = shell.spawn().unwrap();
    write!(writing.stdin.take().unwrap(), "#!/bin/sh\n{text}").unwrap();
    assert!(writing.wait().unwrap().success(), "{} is not written", path.display());
}

/// An empty workspace, and the folder that it is the only thing in.
pub fn workspace() -> (tempfile::TempDir, PathBuf) {
    let home = tempfile::tempdir().unwrap();
    let workspace = home.path().join("workspace");
    std::fs::create_dir(&workspace).unwrap();
    (home, workspace)
}

/// What a command wrote to standard output, as JSON.
pub fn said(output: &Output) -> Value {
    let reported = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("no JSON: {reported}"))
}

impl Server {
    /// Serves one pack in a workspace, in the initialize era.
    pub fn start(workspace: &Path, pack: &str) -> Self {
        Self::start_with(workspace, pack, &[])
    }

    /// The same, with further words on the command line.
    pub fn start_with(workspace: &Path, pack: &str, words: &[&str]) -> Self {
        let home = tempfile::tempdir().unwrap();
        let mut command = toolsd(home.path());
        command.args(["serve", "--pack", pack, "--workspace"]).arg(workspace).args(words);
        Self::of(command, home)
    }

    /// What `command` serves; `home` is kept as long.
    pub fn of(command: Command, home: tempfile::TempDir) -> Self {
        let mut server = Self::spawn(command, Some(home));
        server.hello(REVISION);
        server
    }

    /// Starts a server and opens a session with it.
    pub fn serving(command: Command) -> Self {
        let mut server = Self::spawn(command, None);
        server.hello(REVISION);
        server
    }

    /// Starts a server that hears nothing yet.
    pub fn spawn(mut command: Command, home: Option<tempfile::TempDir>) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || output.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        Self { child, input, lines, next: 0, instructions: String::new(), _home: home }
    }

    /// Opens a session of this revision of the protocol. Returns the whole answer.
    pub fn hello(&mut self, revision: &str) -> Value {
        let hello = json!({ "protocolVersion": revision, "capabilities": {}, "clientInfo": { "name": "test", "version": "0" } });
        let answer = self.request("initialize", hello);
        self.instructions = answer["result"]["instructions"].as_str().unwrap_or_default().to_owned();
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        answer
    }

    pub fn send(&mut self, message: &Value) {
        self.send_bytes(format!("{message}\n").as_bytes());
    }

    /// Sends a text that need not be a message.
    pub fn send_bytes(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(bytes).unwrap();
        input.flush().unwrap();
    }

    /// The next message; nothing if the server ended.
    pub fn hear(&mut self) -> Option<Value> {
        match self.lines.recv_timeout(SERVER_TIMEOUT) {
            Ok(line) => Some(serde_json::from_str(&line).unwrap_or_else(|_| panic!("stray output: {line}"))),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => panic!("the server is silent"),
        }
    }

    /// The whole answer to a request; notifications on the way are passed over.
    pub fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.tell(method, params);
        self.answer_to(id)
    }

    /// The answer to a request that was sent.
    pub fn answer_to(&mut self, id: u64) -> Value {
        loop {
            let answer = self.hear().unwrap_or_else(|| panic!("the server ended before it answered {id}"));
            if answer["id"] == id {
                return answer;
            }
        }
    }

    /// Sends a request and does not wait for its answer.
    pub fn tell(&mut self, method: &str, params: Value) -> u64 {
        self.next += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": self.next, "method": method, "params": params }));
        self.next
    }

    /// Takes a request back.
    pub fn cancel(&mut self, id: u64) {
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } }));
    }

    /// The answers to requests that are sent all at once, in their order.
    pub fn at_once(&mut self, requests: &[(&str, Value)]) -> Vec<Value> {
        let ids: Vec<u64> = requests.iter().map(|(method, params)| self.tell(method, params.clone())).collect();
        let mut answers: Vec<Option<Value>> = vec![None; ids.len()];
        while answers.iter().any(Option::is_none) {
            let answer = self.hear().expect("the server ended");
            if let Some(at) = ids.iter().position(|id| answer["id"] == *id) {
                answers[at] = Some(answer);
            }
        }
        answers.into_iter().flatten().collect()
    }

    /// The text of the result of a tool, and whether it failed.
    pub fn said(&mut self, tool: &str, arguments: Value) -> (String, bool) {
        let answer = self.request("tools/call", json!({ "name": tool, "arguments": arguments }));
        let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{tool}: {answer}"));
        (text.to_owned(), answer["result"]["isError"] == true)
    }

    /// The result of a tool as bare JSON, and whether it failed.
    pub fn call(&mut self, tool: &str, arguments: Value) -> (Value, bool) {
        let (text, failed) = self.said(tool, arguments);
        (serde_json::from_str(&text).unwrap_or_else(|_| json!(text)), failed)
    }

    /// The result of a tool that must succeed.
    pub fn well(&mut self, tool: &str, arguments: Value) -> Value {
        let (data, failed) = self.call(tool, arguments);
        assert!(!failed, "{tool} failed: {data}");
        data
    }

    /// Ends the server as a crash would, and waits until it is gone.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        let _ = self.child.wait();
    }

    /// The id of the process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits until the process has ended. Returns its exit code.
    #[track_caller]
    pub fn ended(&mut self) -> Option<i32> {
        let end = Instant::now() + SERVER_TIMEOUT;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            assert!(Instant::now() < end, "the server does not end");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// The JSON of a resource, which must exist.
    pub fn read(&mut self, uri: &str) -> Value {
        let answer = self.request("resources/read", json!({ "uri": uri }));
        let text = answer["result"]["contents"][0]["text"].as_str().unwrap_or_else(|| panic!("{uri}: {answer}"));
        serde_json::from_str(text).unwrap_or_else(|_| json!(text))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.input.take());
        // One that does not end by itself does not outlive its test.
        let end = Instant::now() + Duration::from_secs(5);
        while Instant::now() < end && matches!(self.child.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(2));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What git prints in a folder, with a name that needs no configuration; it must end well.
pub fn git(folder: &Path, words: &[&str]) -> String {
    let options = ["user.name=Corpus Bot", "user.email=bot@example.com", "core.autocrlf=false"];
    let output = Command::new("git")
        .args(options.iter().flat_map(|option| ["-c", option]))
        .args(words)
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(output.status.success(), "git {words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Copies a folder, so that a test may change it.
pub fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            // Bytes alone: what is lent may be read-only, a copy is there to be written.
            std::fs::write(target, std::fs::read(entry.path()).unwrap()).unwrap();
        }
    }
}
