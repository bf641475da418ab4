//! A folder with a workspace, a secret beside it, and the built binary at work on both.

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};
use toolsd::world::GrantedAccess;
use toolsd::world::disk::Disk;
use toolsd::world::granted::GrantedWorld;
use toolsd::world::run;

/// The layer of hostile packs.
pub const PACKS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/hostile/packs");
/// What no answer may contain.
pub const SECRET: &str = "the secret of the house";
/// No wait of these tests is longer: only a fault comes near it.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// A parent folder that is gone when the test ends.
pub struct House {
    folder: tempfile::TempDir,
}

impl House {
    /// A workspace with every kind of trap in it, and a secret outside of it.
    pub fn new() -> Self {
        let house = Self { folder: tempfile::tempdir().unwrap() };
        let (parent, workspace) = (house.parent().to_owned(), house.workspace());
        fs::create_dir_all(workspace.join("sub")).unwrap();
        for folder in ["outside", "home", "config", "state"] {
            fs::create_dir_all(parent.join(folder)).unwrap();
        }
        fs::write(parent.join("outside/secret.txt"), SECRET).unwrap();
        fs::write(parent.join("home/secret.txt"), SECRET).unwrap();
        fs::write(workspace.join("note.txt"), "a note").unwrap();
        symlink("../outside", workspace.join("link")).unwrap();
        symlink("../outside/secret.txt", workspace.join("link.txt")).unwrap();
        symlink(parent.join("outside"), workspace.join("absolute")).unwrap();
        symlink("link", workspace.join("chain")).unwrap();
        assert!(Command::new("mkfifo").arg(workspace.join("pipe")).status().unwrap().success());
        drop(std::os::unix::net::UnixListener::bind(workspace.join("socket")).unwrap());
        house
    }

    pub fn parent(&self) -> &Path {
        self.folder.path()
    }

    pub fn workspace(&self) -> PathBuf {
        self.parent().join("workspace")
    }

    /// Writes a file below the parent folder.
    pub fn write(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let path = self.parent().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    /// The binary, at home in this house.
    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_toolsd"));
        command
            .args(words)
            .current_dir(self.workspace())
            .env("HOME", self.parent().join("home"))
            .env("XDG_CONFIG_HOME", self.parent().join("config"))
            .env("XDG_STATE_HOME", self.parent().join("state"))
            .env("TOOLSD_LOG", "error");
        command
    }

    /// What a command writes on both streams, and its exit code; none if a signal ended it.
    pub fn run(&self, words: &[&str]) -> (Option<i32>, String, String) {
        let output = self.command(words).stdin(Stdio::null()).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    }

    /// Every file below the parent folder and what it holds: what a hostile pack must not change.
    pub fn snapshot(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        fn walk(folder: &Path, found: &mut BTreeMap<PathBuf, Vec<u8>>) {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let kind = fs::symlink_metadata(&path).unwrap().file_type();
                let bytes = match (kind.is_file(), kind.is_symlink()) {
                    (true, _) => fs::read(&path).unwrap(),
                    (_, true) => fs::read_link(&path).unwrap().to_string_lossy().as_bytes().to_vec(),
                    _ => Vec::new(),
                };
                if kind.is_dir() {
                    walk(&path, found);
                }
                found.insert(path, bytes);
            }
        }
        let mut found = BTreeMap::new();
        walk(self.parent(), &mut found);
        found
    }

    /// Serves packs of the hostile layer.
    pub fn serve(&self, packs: &[&str]) -> Client {
        let mut words = vec!["serve", "--dir", PACKS];
        packs.iter().for_each(|pack| words.extend(["--pack", pack]));
        Client::start(self.command(&words))
    }
}

/// Makes a program of this text, by another process: a file that this one had open to write cannot be run as long as a
/// child of another thread, which is not yet its program, has it open, too ("text file busy").
pub fn put_program(at: &Path, text: &str) {
    let line = "printf %s \"$2\" > \"$1\" && chmod 755 \"$1\"";
    assert!(Command::new("sh").args(["-c", line, "sh"]).arg(at).arg(text).status().unwrap().success());
}

/// The same as a copy of this program.
pub fn copy_program(from: &str, at: &Path) {
    assert!(Command::new("cp").arg(from).arg(at).status().unwrap().success());
}

/// A program of `run`, to be started in the root of the workspace.
pub fn command_of(program: &str, arguments: &[&str]) -> run::ProgramCommand {
    run::ProgramCommand {
        program: program.to_owned(),
        arguments: arguments.iter().map(|word| (*word).to_owned()).collect(),
        folder: ".".to_owned(),
        input: Vec::new(),
        env: Vec::new(),
        time: Duration::from_secs(60),
        most: 1 << 20,
        needs: run::RequiredGrant::Program,
        confinement: run::Confinement::default(),
        stop: || Ok(()),
    }
}

/// The workspace as a pack sees it that may read all of it, write this, and run one program.
pub fn granted(house: &House, write: &[&str], git: run::GitAccess, program: run::ProgramGrant) -> GrantedWorld {
    let disk = Disk::new(house.workspace().to_str().unwrap(), []).unwrap();
    let flags = GrantedAccess { may_read: true, may_write: true, may_run: true, ..GrantedAccess::default() };
    let write = write.iter().map(|at| (*at).to_owned()).collect();
    let allowed = GrantedAccess { read: vec![".".to_owned()], write, git, run: vec![program], ..flags };
    GrantedWorld::new(Arc::new(disk), allowed).unwrap()
}

/// The most memory that a process had, in MB; nothing where the system does not tell.
pub fn peak_memory(id: u32) -> Option<usize> {
    let status = fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().trim_end_matches(" kB").parse::<usize>().ok()? >> 10)
}

/// A client of a running server.
pub struct Client {
    pub child: Child,
    pub input: Option<ChildStdin>,
    lines: Receiver<String>,
    next: u64,
    /// What the server said of itself.
    pub instructions: String,
}

impl Client {
    /// Starts a server and opens a session with it.
    pub fn start(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || output.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        let mut client = Self { child, input, lines, next: 0, instructions: String::new() };
        let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "hostile", "version": "0" } });
        let answer = client.ask("initialize", hello);
        client.instructions = answer["result"]["instructions"].as_str().unwrap_or_default().to_owned();
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string());
        client
    }

    /// Sends a line.
    pub fn send(&mut self, line: &str) {
        self.send_bytes(format!("{line}\n").as_bytes());
    }

    pub fn send_bytes(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(bytes).unwrap();
        input.flush().unwrap();
    }

    /// The next message; nothing if the server ended.
    pub fn hear(&mut self) -> Option<Value> {
        match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => Some(serde_json::from_str(&line).unwrap_or_else(|_| panic!("stray output: {line}"))),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => panic!("the server is silent"),
        }
    }

    /// Sends a request without waiting; gives its id.
    pub fn begin(&mut self, method: &str, params: Value) -> u64 {
        self.next += 1;
        let id = self.next;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string());
        id
    }

    /// The whole answer to a request.
    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params);
        loop {
            let answer = self.hear().unwrap_or_else(|| panic!("the server ended during {method}"));
            if answer["id"] == id {
                return answer;
            }
        }
    }

    /// The result of a tool: its text, and whether it failed.
    pub fn call(&mut self, tool: &str, arguments: Value) -> (String, bool) {
        let answer = self.ask("tools/call", json!({ "name": tool, "arguments": arguments }));
        let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{tool}: {answer}"));
        (text.to_owned(), answer["result"]["isError"] == true)
    }

    /// The server still answers a ping at once, and a good call well.
    #[track_caller]
    pub fn is_well(&mut self) {
        let before = Instant::now();
        let pong = self.ask("ping", json!({}));
        assert!(pong.get("result").is_some(), "{pong}");
        assert!(before.elapsed() < Duration::from_secs(5), "a ping took {:?}", before.elapsed());
        let (text, failed) = self.call("echo", json!({ "text": "tea" }));
        assert!(!failed && text.contains("tea"), "{text}");
    }

    /// The most memory that the server had, in MB; nothing where the system does not tell.
    pub fn peak_memory(&self) -> Option<usize> {
        peak_memory(self.child.id())
    }

    /// Waits for the end of the server: its exit code.
    #[track_caller]
    pub fn ended(&mut self) -> Option<i32> {
        let before = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            assert!(before.elapsed() < Duration::from_secs(20), "the server does not end");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        drop(self.input.take());
        // A server that does not end by itself must not outlive its test.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
