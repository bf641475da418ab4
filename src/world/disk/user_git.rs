//! The git of the user, with the user's configuration and credentials, in a temporary repository: for what a person
//! asked to be fetched. Scripts never reach it.

use super::system::reason;
use super::temporary::{GIT_FOLDER_PREFIX, TemporaryFolder};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::world::run::UserGitOutput;
use std::io::{IsTerminal, Read, Write, stdin};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

/// Without a person who could answer a question, git is ended when it prints nothing for so long.
const MAX_SILENCE: Duration = Duration::from_secs(60);

/// The variables by which git would find another repository than the temporary one (`git rev-parse --local-env-vars`).
const REPOSITORY_VARIABLES: [&str; 10] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_NAMESPACE",
    "GIT_SHALLOW_FILE",
    "GIT_GRAFT_FILE",
    "GIT_REPLACE_REF_BASE",
];

/// Settings that no configuration changes: no hook, no submodule, only sound objects, nothing in the background.
const SETTINGS: [&str; 7] = [
    "core.hooksPath=/dev/null",
    "fetch.fsckObjects=true",
    "fetch.recurseSubmodules=false",
    "fetch.writeCommitGraph=false",
    "transfer.bundleURI=false",
    "gc.auto=0",
    "maintenance.auto=false",
];

/// The protocols that git may use.
const PROTOCOLS: &str = "https:ssh:file";

/// The user's git in a repository.
pub struct UserGit {
    place: Place,
}

/// Where the repository is.
enum Place {
    /// A bare one, removed when this is dropped.
    Temporary(TemporaryFolder),
    /// That of this folder, which the user works in.
    Folder(String),
}

impl UserGit {
    /// The repository that contains this folder. If there is none, the commands fail.
    pub fn of_folder(folder: &str) -> Self {
        Self { place: Place::Folder(folder.to_owned()) }
    }

    /// Creates a temporary bare repository.
    ///
    /// # Errors
    /// There is no git, or no temporary folder.
    pub fn new() -> Result<Self> {
        let folder = TemporaryFolder::new(GIT_FOLDER_PREFIX)
            .map_err(|error| failed(format!("no temporary folder can be made: {}", reason(&error))))?;
        let own = Self { place: Place::Temporary(folder) };
        let made = own.run(&["init", "--quiet", "--bare", "--template="], b"")?;
        match made.succeeded {
            true => Ok(own),
            false => Err(failed(format!("git cannot create a repository: {}", made.stderr.trim()))),
        }
    }

    /// Runs a command with this input.
    ///
    /// # Errors
    /// There is no git, or it printed nothing for too long. What git itself reports is in the output.
    pub fn run(&self, arguments: &[&str], input: &[u8]) -> Result<UserGitOutput> {
        let mut command = Command::new("git");
        let folder = self.folder();
        match &self.place {
            Place::Temporary(_) => command.arg("--git-dir").arg(folder),
            Place::Folder(_) => command.arg("-C").arg(folder),
        };
        command.args(SETTINGS.iter().flat_map(|setting| ["-c", setting]));
        command.args(arguments).current_dir(folder);
        for name in REPOSITORY_VARIABLES {
            command.env_remove(name);
        }
        command.env("GIT_ALLOW_PROTOCOL", PROTOCOLS).env("LC_ALL", "C");
        let has_person = stdin().is_terminal();
        if !has_person {
            command.env("GIT_TERMINAL_PROMPT", "0");
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().map_err(|error| {
            failed(format!("git cannot be started: {}", reason(&error)))
                .help("install git, and see that it is in `PATH`")
        })?;
        let shown = format!("git {}", arguments.join(" "));
        finish(child, input.to_vec(), has_person, shown)
    }

    fn folder(&self) -> &Path {
        match &self.place {
            Place::Temporary(folder) => folder.path(),
            Place::Folder(folder) => Path::new(folder),
        }
    }

    /// Writes a file next to the repository, and returns its path.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write_file(&self, name: &str, text: &str) -> Result<PathBuf> {
        let path = self.folder().join(name);
        let written = std::fs::write(&path, text);
        written.map_err(|error| failed(format!("`{}` cannot be written: {}", path.display(), reason(&error))))?;
        Ok(path)
    }
}

fn failed(message: String) -> Box<Diagnostic> {
    Diagnostic::new(Code("git"), message)
}

/// Which stream ended, or that something came from one.
enum Progress {
    Stdout(Vec<u8>),
    Stderr(Vec<u8>),
    Some,
}

/// Feeds a process, reads it to its end, and ends it if it hangs.
fn finish(mut child: Child, input: Vec<u8>, has_person: bool, command: String) -> Result<UserGitOutput> {
    let (sender, messages) = channel();
    if let Some(mut stdin) = child.stdin.take() {
        // Git may end without reading all of it; its exit code reports that.
        thread::spawn(move || drop(stdin.write_all(&input)));
    }
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let out = sender.clone();
    thread::spawn(move || read_to_end(stdout, &out, Progress::Stdout));
    thread::spawn(move || read_to_end(stderr, &sender, Progress::Stderr));
    let (mut output, mut errors) = (None, None);
    while output.is_none() || errors.is_none() {
        match messages.recv_timeout(MAX_SILENCE) {
            Ok(Progress::Stdout(bytes)) => output = Some(bytes),
            Ok(Progress::Stderr(bytes)) => errors = Some(bytes),
            Err(RecvTimeoutError::Timeout) if !has_person => {
                let _ = child.kill();
                let _ = child.wait();
                let seconds = MAX_SILENCE.as_secs();
                return Err(failed(format!("`{command}` was ended: nothing came from it for {seconds} s"))
                    .help("run it in a shell to see what it waits for"));
            }
            Ok(Progress::Some) | Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    let ended = child.wait().map_err(|error| failed(format!("`{command}`: {}", reason(&error))))?;
    Ok(UserGitOutput {
        succeeded: ended.success(),
        stdout: output.unwrap_or_default(),
        stderr: String::from_utf8_lossy(&errors.unwrap_or_default()).into_owned(),
        command,
    })
}

fn read_to_end(stream: Option<impl Read>, progress: &Sender<Progress>, end: fn(Vec<u8>) -> Progress) {
    let (mut all, mut piece) = (Vec::new(), vec![0; 1 << 16]);
    if let Some(mut stream) = stream {
        while let Ok(count @ 1..) = stream.read(&mut piece) {
            all.extend_from_slice(&piece[..count]);
            let _ = progress.send(Progress::Some);
        }
    }
    // The receiver is gone if the process was ended.
    let _ = progress.send(end(all));
}
