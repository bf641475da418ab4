//! The git of the user, with the user's configuration and credentials, in a temporary repository: for what a person
//! asked to be fetched. Scripts never reach it.

use super::system::reason;
use super::temporary::{GIT_FOLDER_PREFIX, TemporaryFolder};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::world::run::UserGitOutput;
use std::io::{IsTerminal, Write, stdin};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;

/// The variables by which git would find another repository than the temporary one (`git rev-parse --local-env-vars`).
const REPOSITORY_VARIABLES: &str = "GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_OBJECT_DIRECTORY \
    GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_COMMON_DIR GIT_NAMESPACE GIT_SHALLOW_FILE GIT_GRAFT_FILE \
    GIT_REPLACE_REF_BASE";

/// Settings that no configuration changes: no hook, no submodule, only sound objects, nothing in the background, and an
/// end to a server that sends nothing for a minute.
const SETTINGS: [&str; 9] = [
    "core.hooksPath=/dev/null",
    "fetch.fsckObjects=true",
    "fetch.recurseSubmodules=false",
    "fetch.writeCommitGraph=false",
    "http.lowSpeedLimit=1",
    "http.lowSpeedTime=60",
    "transfer.bundleURI=false",
    "gc.auto=0",
    "maintenance.auto=false",
];

/// The protocols that git may use.
const PROTOCOLS: &str = "https:ssh:file";

/// The user's git in a repository.
pub struct UserGit {
    /// The option that names the folder: of the repository itself, or one inside its working tree.
    option: &'static str,
    folder: PathBuf,
    /// Removed when this is dropped.
    _temporary: Option<TemporaryFolder>,
}

impl UserGit {
    /// The repository that contains this folder. If there is none, the commands fail. They read it as it is: objects
    /// that a partial clone lacks are not fetched, since that starts what its configuration names.
    pub fn of_folder(folder: &str) -> Self {
        Self { option: "-C", folder: folder.into(), _temporary: None }
    }

    /// Creates a temporary bare repository.
    ///
    /// # Errors
    /// There is no git, or no temporary folder.
    pub fn new() -> Result<Self> {
        let folder = TemporaryFolder::new(GIT_FOLDER_PREFIX)
            .map_err(|error| failed(format!("no temporary folder can be made: {}", reason(&error))))?;
        let own = Self { option: "--git-dir", folder: folder.path().to_owned(), _temporary: Some(folder) };
        let made = own.run(&["init", "--quiet", "--bare", "--template="], b"")?;
        match made.succeeded {
            true => Ok(own),
            false => Err(failed(format!("git cannot create a repository: {}", made.stderr.trim()))),
        }
    }

    /// Runs a command with this input.
    ///
    /// # Errors
    /// There is no git. What git itself reports is in the output.
    pub fn run(&self, arguments: &[&str], input: &[u8]) -> Result<UserGitOutput> {
        let mut command = Command::new("git");
        command.arg(self.option).arg(&self.folder);
        command.args(SETTINGS.iter().flat_map(|setting| ["-c", setting]));
        command.args(arguments).current_dir(&self.folder);
        for name in REPOSITORY_VARIABLES.split(' ') {
            command.env_remove(name);
        }
        command.env("GIT_ALLOW_PROTOCOL", PROTOCOLS).env("GIT_NO_LAZY_FETCH", "1").env("LC_ALL", "C");
        if !stdin().is_terminal() {
            command.env("GIT_TERMINAL_PROMPT", "0");
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| {
            failed(format!("git cannot be started: {}", reason(&error)))
                .help("install git, and see that it is in `PATH`")
        })?;
        let shown = format!("git {}", arguments.join(" "));
        let (stdin, input) = (child.stdin.take(), input.to_vec());
        // Git may end without reading all of it; its exit code reports that.
        let _feeding = thread::spawn(move || stdin.map(|mut stdin| stdin.write_all(&input)));
        let ended = child.wait_with_output().map_err(|error| failed(format!("`{shown}`: {}", reason(&error))))?;
        let stderr = String::from_utf8_lossy(&ended.stderr).into_owned();
        Ok(UserGitOutput { succeeded: ended.status.success(), stdout: ended.stdout, stderr, command: shown })
    }

    /// Writes a file next to the repository, and returns its path.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write_file(&self, name: &str, text: &str) -> Result<PathBuf> {
        let path = self.folder.join(name);
        let written = std::fs::write(&path, text);
        written.map_err(|error| failed(format!("`{}` cannot be written: {}", path.display(), reason(&error))))?;
        Ok(path)
    }
}

fn failed(message: String) -> Box<Diagnostic> {
    Diagnostic::new(Code("git"), message)
}
