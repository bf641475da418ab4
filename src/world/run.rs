//! What running a program needs and returns. The disk runs it.

use crate::diagnostic::Result;
use crate::guard;
use std::time::Duration;

/// A program and how to run it. There is no shell: each argument arrives unchanged.
#[derive(Clone, Debug)]
pub struct ProgramCommand {
    /// The program: a name that is looked for in `PATH`, or a path.
    pub program: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// The folder it runs in.
    pub folder: String,
    /// Its input, possibly empty.
    pub input: Vec<u8>,
    /// Variables that are set for it, in addition to the few that every program gets.
    pub env: Vec<(String, String)>,
    /// How long it may take.
    pub time: Duration,
    /// How many bytes it may print on either stream.
    pub most: usize,
    /// The grant that covers it.
    pub needs: RequiredGrant,
    /// What it may touch while it runs.
    pub confinement: Confinement,
    /// Asked repeatedly while it runs: an error stops the program.
    pub stop: fn() -> Result<()>,
}

/// The grant that a command needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequiredGrant {
    /// `git = "read"`.
    ReadGit,
    /// `git = "write"`.
    WriteGit,
    /// `git = "fetch"`.
    FetchGit,
    /// `run = [PROGRAM]`.
    Program,
}

/// What a program may touch while it runs, whatever its arguments are. The default allows nothing.
///
/// Paths are absolute: a file, or a folder with all below it. The program itself, its loader and the libraries of the
/// system need not be named.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Confinement {
    /// What it may read.
    pub read: Vec<String>,
    /// Folders of which it may list the entries, at any depth, and read no file.
    pub list: Vec<String>,
    /// What it may read, write, make and remove.
    pub write: Vec<String>,
    /// Of git: what it does with a repository and its working tree.
    pub git: GitUse,
    /// Which further processes it may start.
    pub processes: ChildProcesses,
    /// Files, and folders with all below them, that it may start as programs in turn, and read.
    pub start: Vec<String>,
    /// Whether it may open sockets to the network.
    pub network: bool,
    /// The program as it was judged. If `None`, it is looked for when it starts.
    pub judged: Option<ProgramFile>,
}

/// What a command of git does with a repository and its working tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GitUse {
    /// Whether its answer depends on files of the working tree.
    pub looks_at_files: bool,
    /// What it changes.
    pub changes: GitChanges,
}

/// What a command of git changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum GitChanges {
    /// Nothing.
    #[default]
    Nothing,
    /// Objects, refs, the index and everything else in `.git`.
    Repository,
    /// The same, and files of the working tree.
    Files,
}

/// A program that a pack may run, and what it may do while it runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProgramGrant {
    /// Its name, or its absolute path.
    pub program: String,
    /// Whether it may use the network.
    pub network: bool,
    /// What it may read, as grants are written (default: what the pack may read).
    pub read: Option<Vec<String>>,
    /// What it may write, as grants are written (default: what the pack may write).
    pub write: Option<Vec<String>>,
    /// Files and folders whose programs it may start, in addition to the system's, as grants are written.
    pub start: Vec<String>,
    /// The variables that may be set for it.
    pub env: Vec<String>,
}

impl ProgramGrant {
    /// The grant as definitions have it, with another value of one key: who copies it must not lose the others.
    pub fn spelled_with(&self, key: &str, value: &str) -> String {
        let (read, write) = (self.read.as_deref().unwrap_or_default(), self.write.as_deref().unwrap_or_default());
        let mut words = vec![format!("program = {:?}", self.program)];
        for (name, own) in [("read", read), ("write", write), ("execute", &self.start), ("env", &self.env)] {
            match name == key {
                true => words.push(format!("{name} = {value}")),
                false if own.is_empty() => {}
                false => words.push(format!("{name} = {own:?}")),
            }
        }
        words.extend(self.network.then(|| "network = true".to_owned()));
        format!("{{ {} }}", words.join(", "))
    }
}

/// Which processes a program may start in turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ChildProcesses {
    /// None at all.
    #[default]
    None,
    /// Programs of the system, itself, and those that `start` of the confinement names.
    Any,
}

/// How far git goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum GitAccess {
    /// Not at all.
    #[default]
    None,
    /// Inspecting commands.
    Read,
    /// Changing commands too.
    Write,
    /// Those, and `fetch`, which reaches remotes.
    Fetch,
}

impl GitAccess {
    /// The word by which a pack asks for it; none for no access.
    pub fn word(self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::Read => Some("read"),
            Self::Write => Some("write"),
            Self::Fetch => Some("fetch"),
        }
    }
}

/// A program as it was found, and all that leads to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProgramFile {
    /// The path that it is started by.
    pub path: String,
    /// The files that are executed: itself, then what interprets or loads it.
    pub files: Vec<ExecutedFile>,
    /// Every name of these files by which they were reached, and every symlink on the way.
    pub names: Vec<String>,
    /// Every folder on the way, with its device and its inode.
    pub folders: Vec<(String, (u64, u64))>,
}

/// A file that is executed, by its real path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecutedFile {
    /// Its path, free of symlinks.
    pub path: String,
    /// Its device and its inode.
    pub identity: (u64, u64),
    /// How many names (hard links) it has.
    pub names: u64,
}

/// What a command of the user's own git printed.
#[derive(Debug)]
pub struct UserGitOutput {
    /// Whether it exited with 0.
    pub succeeded: bool,
    /// Standard output.
    pub stdout: Vec<u8>,
    /// Standard error.
    pub stderr: String,
    /// The command, as a person would type it.
    pub command: String,
}

/// How a program ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProgramOutput {
    /// Its exit code; 128 and the number of the signal that ended it.
    pub code: i64,
    /// What it printed.
    pub output: Vec<u8>,
    /// Its standard error.
    pub errors: Vec<u8>,
    /// Notes of toolsd about it: what it could not write, what was undone.
    pub notes: Vec<String>,
}

/// What a program answers in a world of memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramStub {
    /// Its name, as `run` has it.
    pub program: String,
    /// The arguments that it answers; `None`: any.
    pub arguments: Option<Vec<String>>,
    /// Its answer.
    pub output: ProgramOutput,
}

impl ProgramCommand {
    /// A command of git in the root: it reads, and may touch nothing.
    pub fn git(words: &[&str], time: Duration, most: usize) -> Self {
        Self {
            program: "git".to_owned(),
            arguments: words.iter().map(|word| (*word).to_owned()).collect(),
            folder: ".".to_owned(),
            input: Vec::new(),
            env: Vec::new(),
            time,
            most,
            needs: RequiredGrant::ReadGit,
            confinement: Confinement::default(),
            stop: guard::check,
        }
    }

    /// The command as a person would type it, cut.
    pub fn line(&self) -> String {
        // An argument that toolsd adds itself.
        let arguments = self.arguments.iter().skip_while(|word| *word == "--no-pager");
        let words = std::iter::once(&self.program).chain(arguments);
        let line = words.map(String::as_str).collect::<Vec<_>>().join(" ");
        match line.len() > 120 {
            true => format!("{}…", &line[..line.floor_char_boundary(120)]),
            false => line,
        }
    }
}
