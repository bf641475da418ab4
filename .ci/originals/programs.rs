//! The processes of a run: installing an original, asking it, and asking a pack.

use crate::Outcome;
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// No answer takes longer, if the program is not stuck.
const PATIENCE: Duration = Duration::from_secs(60);

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

fn run(command: &mut Command) -> Outcome<()> {
    let ended = command.stdin(Stdio::null()).output().map_err(|error| format!("{command:?}: {error}"))?;
    if ended.status.success() {
        return Ok(());
    }
    let told = String::from_utf8_lossy(&ended.stderr);
    Err(format!("{command:?}: {}", told.lines().last().unwrap_or("failed without a word")).into())
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
        let line = self.lines.recv_timeout(PATIENCE).map_err(|error| format!("a program does not answer: {error}"))?;
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

/// What a pack answers to calls of tools in a workspace, each as bare JSON; a result that is a fault says so.
pub fn ask_pack(toolsd: &Path, pack: &str, workspace: &Path, calls: &[(String, Value)]) -> Outcome<Vec<Value>> {
    let home = tempfile::tempdir()?;
    let mut command = Command::new(toolsd);
    command.env("XDG_CONFIG_HOME", home.path().join("config")).env("XDG_STATE_HOME", home.path().join("state"));
    command.args(["serve", "--pack", pack, "--workspace"]).arg(workspace);
    let mut server = LineProgram::start(&mut command)?;
    let hello =
        json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "rig", "version": "0" } });
    request(&mut server, 0, "initialize", &hello)?;
    server.tell(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
    let mut answers = Vec::new();
    for (id, (tool, arguments)) in (1..).zip(calls) {
        let result = request(&mut server, id, "tools/call", &json!({ "name": tool, "arguments": arguments }))?;
        let text = result["content"][0]["text"].as_str().unwrap_or_default();
        let value = serde_json::from_str(text).unwrap_or_else(|_| json!(text));
        answers.push(if result["isError"] == true { json!({ "raised": value }) } else { value });
    }
    Ok(answers)
}

fn request(server: &mut LineProgram, id: u64, method: &str, params: &Value) -> Outcome<Value> {
    server.tell(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
    loop {
        let mut answer = server.hear()?;
        if answer["id"] == id {
            return match answer.get("error") {
                Some(error) => Err(format!("{method}: {error}").into()),
                None => Ok(answer["result"].take()),
            };
        }
    }
}
