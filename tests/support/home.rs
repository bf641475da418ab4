//! A workspace, a configuration and a state of one test's own.

use serde_json::Value;
use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// No command of a test takes longer, unless it does what it should not.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(120);

/// The folder of the pack that uses every body and every key.
pub const SAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/sample");

/// Folders that are gone when the test ends.
pub struct Home {
    folder: tempfile::TempDir,
    /// What is logged.
    pub level: &'static str,
}

/// What a command said.
pub struct Said {
    /// Its exit code.
    pub code: i32,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

impl Home {
    /// A workspace with these files: path and text.
    pub fn with(files: &[(&str, &str)]) -> Self {
        let home = Self { folder: tempfile::tempdir().unwrap(), level: "warn" };
        fs::create_dir_all(home.workspace()).unwrap();
        fs::create_dir_all(home.user()).unwrap();
        files.iter().for_each(|(path, text)| home.write(path, text));
        home
    }

    pub fn workspace(&self) -> PathBuf {
        self.folder.path().join("workspace")
    }

    /// The home folder of the user: trust is kept in it.
    pub fn user(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// Writes a file of the workspace.
    pub fn write(&self, path: &str, text: &str) {
        self.write_at(&self.workspace().join(path), text);
    }

    /// Writes a file of the user's configuration.
    pub fn write_user(&self, path: &str, text: &str) {
        self.write_at(&self.folder.path().join("config/toolsd").join(path), text);
    }

    fn write_at(&self, path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub fn read(&self, path: &str) -> String {
        fs::read_to_string(self.workspace().join(path)).unwrap()
    }

    /// Where a server that was started writes its log.
    pub fn log(&self) -> PathBuf {
        self.folder.path().join("log.txt")
    }

    /// The binary, to be run in the workspace.
    pub fn command(&self) -> Command {
        self.command_of(env!("CARGO_BIN_EXE_toolsd"))
    }

    /// Another program, at home here like the binary.
    pub fn command_of(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .env("HOME", self.user())
            .env("XDG_CONFIG_HOME", self.folder.path().join("config"))
            .env("XDG_STATE_HOME", self.folder.path().join("state"))
            .env("TOOLSD_LOG", self.level)
            .env_remove("NO_COLOR")
            .current_dir(self.workspace());
        command
    }

    /// Runs a command.
    pub fn run(&self, words: &[&str]) -> Said {
        self.run_with(words, &[])
    }

    /// Runs a command with variables of the environment.
    pub fn run_with(&self, words: &[&str], variables: &[(&str, &str)]) -> Said {
        let mut command = self.command();
        command.args(words).envs(variables.iter().copied());
        let Output { status, stdout, stderr } = output_in_time(&mut command);
        Said {
            code: status.code().unwrap(),
            out: String::from_utf8(stdout).unwrap(),
            err: String::from_utf8(stderr).unwrap(),
        }
    }

    /// Trusts all files as they are.
    pub fn trust(&self) {
        self.run(&["trust", "--yes"]).ended(0);
    }

    /// Trusts the files of a pack, and edits of them.
    pub fn trust_edits(&self, pack: &str) {
        self.run(&["trust", "--edits", pack, "--yes"]).ended(0);
    }

    /// Runs a command at a terminal, where a person enters this answer to its question. Returns everything shown there.
    pub fn at_terminal(&self, words: &[&str], answer: &str) -> Said {
        self.dialog(words, "[y/N] ", &[&format!("{answer}\n")])
    }

    /// Runs a command at a terminal, where a person types one of `answers` at each prompt that ends with `end`.
    pub fn dialog(&self, words: &[&str], end: &str, answers: &[&str]) -> Said {
        use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
        let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&controller).unwrap();
        unlockpt(&controller).unwrap();
        let name = ptsname(&controller, Vec::new()).unwrap().into_string().unwrap();
        let terminal = fs::OpenOptions::new().read(true).write(true).custom_flags(libc::O_NOCTTY).open(name).unwrap();
        let mut command = self.command();
        command.args(words).env("NO_COLOR", "1").stdin(terminal.try_clone().unwrap());
        let mut child = command.stdout(terminal.try_clone().unwrap()).stderr(terminal).spawn().unwrap();
        drop(command);
        let mut controller = fs::File::from(controller);
        let (mut seen, mut chunk, mut answers) = (Vec::new(), [0; 1024], answers.iter());
        // Once the other side is closed by all, the system reports the end, or that it cannot be read.
        while let Ok(count @ 1..) = controller.read(&mut chunk) {
            seen.extend_from_slice(&chunk[..count]);
            if seen.ends_with(end.as_bytes())
                && let Some(answer) = answers.next()
            {
                write!(controller, "{answer}").unwrap();
            }
        }
        let code = child.wait().unwrap().code().unwrap();
        Said { code, out: String::from_utf8(seen).unwrap().replace("\r\n", "\n"), err: String::new() }
    }

    /// Runs a command with the sample pack before all others.
    pub fn sample(&self, words: &[&str]) -> Said {
        self.run(&[words, &["--dir", SAMPLE, "--pack", "sample"]].concat())
    }
}

/// Runs a command to its end. One that should refuse and serves instead never ends: it is killed, and the test fails.
pub fn output_in_time(command: &mut Command) -> Output {
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (out, err) = (collected(child.stdout.take().unwrap()), collected(child.stderr.take().unwrap()));
    let end = Instant::now() + COMMAND_TIMEOUT;
    let status = loop {
        match child.try_wait().unwrap() {
            Some(status) => break status,
            None if Instant::now() < end => std::thread::sleep(Duration::from_millis(2)),
            None => {
                child.kill().unwrap();
                child.wait().unwrap();
                let reported = String::from_utf8_lossy(&err.join().unwrap()).into_owned();
                panic!("it does not end in {COMMAND_TIMEOUT:?}: {command:?} says {reported}");
            }
        }
    };
    Output { status, stdout: out.join().unwrap(), stderr: err.join().unwrap() }
}

/// Reads to the end in the background.
fn collected(mut from: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        from.read_to_end(&mut bytes).unwrap();
        bytes
    })
}

impl Said {
    /// Standard output as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {:?} {:?}", self.out, self.err))
    }

    /// The same, after it ended with this code.
    #[track_caller]
    pub fn ended(self, code: i32) -> Self {
        assert_eq!(self.code, code, "out: {}\nerr: {}", self.out, self.err);
        self
    }
}
