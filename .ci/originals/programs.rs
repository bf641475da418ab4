//! The processes of a run: installing an original, asking it, and asking a pack.

use crate::Outcome;
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// No answer takes longer, if the program is not stuck.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);

/// A folder with an environment of Python in which these packages are installed, made when it is first asked for.
pub fn python_environment(folder: &Path, packages: &[&str]) -> Outcome<PathBuf> {
    let (python, mark) = (folder.join("bin/python"), folder.join("installed"));
    let wanted = packages.join(" ");
    if fs::read_to_string(&mark).is_ok_and(|installed| installed == wanted) && python.is_file() {
        return Ok(python);
    }
    println!("installing {wanted} into {}", folder.display());
    run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(folder))?;
    let install =
        ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries", "1", "--timeout", "20"];
    run(Command::new(&python).args(install).args(packages))?;
    fs::write(mark, wanted)?;
    Ok(python)
}

/// A program of the registry of crates at this version, built into a folder when it is first asked for. It is built
/// without optimization: the projects are small, and the build is what takes long.
pub fn crate_program(folder: &Path, name: &str, version: &str) -> Outcome<PathBuf> {
    let program = folder.join("bin").join(name);
    // The program need not know its own version; cargo writes down what it installed.
    let wanted = format!("\"{name} {version} ");
    let is_there = fs::read_to_string(folder.join(".crates.toml")).is_ok_and(|installed| installed.contains(&wanted));
    if is_there && program.is_file() {
        return Ok(program);
    }
    println!("installing {name} {version} into {}", folder.display());
    let build = folder.join("build");
    let install = ["install", name, "--version", version, "--locked", "--debug", "--force", "--root"];
    run(Command::new("cargo").args(install).arg(folder).env("CARGO_TARGET_DIR", &build))?;
    fs::remove_dir_all(build)?;
    Ok(program)
}

fn run(command: &mut Command) -> Outcome<()> {
    let ended = command.stdin(Stdio::null()).output().map_err(|error| format!("{command:?}: {error}"))?;
    if ended.status.success() {
        return Ok(());
    }
    let reported = String::from_utf8_lossy(&ended.stderr);
    Err(format!("{command:?}: {}", reported.lines().last().unwrap_or("failed without a word")).into())
}

/// A process that answers lines of JSON with lines of JSON.
pub struct LineProgram {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
}

impl LineProgram {
    /// Starts it; what it says on standard error is dropped.
    pub fn start(command: &mut Command) -> Outcome<Self> {
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = piped.spawn().map_err(|error| format!("{command:?}: {error}"))?;
        let output = BufReader::new(child.stdout.take().ok_or("no output")?);
        let (sender, lines) = channel();
        std::thread::spawn(move || output.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        let input = child.stdin.take();
        Ok(Self { child, input, lines })
    }

    /// Says a line.
    pub fn tell(&mut self, message: &Value) -> Outcome<()> {
        let input = self.input.as_mut().ok_or("no input")?;
        writeln!(input, "{message}")?;
        Ok(input.flush()?)
    }

    /// The next line.
    pub fn hear(&mut self) -> Outcome<Value> {
        let line =
            self.lines.recv_timeout(ANSWER_TIMEOUT).map_err(|error| format!("a program does not answer: {error}"))?;
        Ok(serde_json::from_str(&line).map_err(|error| format!("no JSON ({error}): {line}"))?)
    }
}

impl Drop for LineProgram {
    fn drop(&mut self) {
        drop(self.input.take());
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// A server of MCP on standard streams, an original or a pack.
pub struct Server {
    program: LineProgram,
    next: u64,
}

impl Server {
    /// Starts it and says hello.
    pub fn start(command: &mut Command) -> Outcome<Self> {
        let mut server = Self { program: LineProgram::start(command)?, next: 0 };
        let client = json!({ "name": "rig", "version": "0" });
        let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
        let answer = server.answer("initialize", &hello)?;
        if let Some(error) = answer.get("error") {
            return Err(format!("initialize: {error}").into());
        }
        server.program.tell(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
        Ok(server)
    }

    /// What a tool answers, as bare JSON; a result that is a fault says so.
    pub fn call(&mut self, tool: &str, arguments: &Value) -> Outcome<Value> {
        let answer = self.answer("tools/call", &json!({ "name": tool, "arguments": arguments }))?;
        if let Some(error) = answer.get("error") {
            return Ok(json!({ "raised": error }));
        }
        let result = &answer["result"];
        let value = json_of(&result["content"][0]);
        Ok(if result["isError"] == true { json!({ "raised": value }) } else { value })
    }

    /// What a resource holds, as bare JSON; one that does not exist says so.
    pub fn read(&mut self, uri: &str) -> Outcome<Value> {
        let answer = self.answer("resources/read", &json!({ "uri": uri }))?;
        let error = answer.get("error").map(|error| json!({ "raised": error }));
        Ok(error.unwrap_or_else(|| json_of(&answer["result"]["contents"][0])))
    }

    /// The answer to a request: with a `result` or an `error`.
    pub fn answer(&mut self, method: &str, params: &Value) -> Outcome<Value> {
        let id = self.next;
        self.next += 1;
        self.program.tell(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
        loop {
            let answer = self.program.hear()?;
            if answer["id"] == id {
                return Ok(answer);
            }
        }
    }
}

/// A pack that is served in a workspace, with settings and state of its own.
pub struct Pack {
    server: Server,
    _home: tempfile::TempDir,
}

impl Pack {
    /// Serves it.
    pub fn start(toolsd: &Path, pack: &str, workspace: &Path) -> Outcome<Self> {
        let home = tempfile::tempdir()?;
        let mut command = Command::new(toolsd);
        command.env("XDG_CONFIG_HOME", home.path().join("config")).env("XDG_STATE_HOME", home.path().join("state"));
        command.args(["serve", "--pack", pack, "--workspace"]).arg(workspace);
        Ok(Self { server: Server::start(&mut command)?, _home: home })
    }
}

impl Deref for Pack {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.server
    }
}

impl DerefMut for Pack {
    fn deref_mut(&mut self) -> &mut Server {
        &mut self.server
    }
}

fn json_of(content: &Value) -> Value {
    let text = content["text"].as_str().unwrap_or_default();
    serde_json::from_str(text).unwrap_or_else(|_| json!(text))
}

/// What a pack answers to calls of tools in a workspace, each as bare JSON; a result that is a fault says so.
pub fn ask_pack(toolsd: &Path, pack: &str, workspace: &Path, calls: &[(String, Value)]) -> Outcome<Vec<Value>> {
    let mut pack = Pack::start(toolsd, pack, workspace)?;
    calls.iter().map(|(tool, arguments)| pack.call(tool, arguments)).collect()
}
