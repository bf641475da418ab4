//! The options that every command takes, and how each command ends.

use crate::diagnostic::Diagnostic;
use crate::world::disk::Sandbox;
use clap::{Args, ValueEnum};

/// The options of all commands: workspace, packs, output.
#[derive(Args, Clone, Debug)]
pub struct SharedOptions {
    /// The workspace [default: the working directory].
    #[arg(long, global = true, value_name = "DIR")]
    pub workspace: Option<String>,
    /// Additional folder that packs may be granted; repeatable.
    #[arg(long = "root", global = true, value_name = "DIR")]
    pub roots: Vec<String>,
    /// Folder of packs that takes precedence over all others; repeatable.
    #[arg(long = "dir", global = true, value_name = "DIR")]
    pub dirs: Vec<String>,
    /// Serve exactly this pack; repeatable.
    #[arg(long = "pack", global = true, value_name = "NAME")]
    pub packs: Vec<String>,
    /// Format of results.
    #[arg(long, global = true, value_enum, default_value_t)]
    pub format: OutputFormat,
    /// Format of log lines.
    #[arg(long, global = true, value_enum, default_value_t)]
    pub log_format: LogFormat,
    /// What to do if the system cannot confine the programs that packs start.
    #[arg(long, global = true, value_enum, default_value_t)]
    pub sandbox: SandboxChoice,
    /// Log each tool call as a JSON object on standard error.
    #[arg(long, global = true)]
    pub audit: bool,
}

/// What happens where the system cannot confine the programs that packs start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum SandboxChoice {
    /// Refuse `run`, and git verbs that write.
    #[default]
    Require,
    /// Confine them as far as the system can.
    BestEffort,
    /// Never confine them.
    Off,
}

impl From<SandboxChoice> for Sandbox {
    fn from(choice: SandboxChoice) -> Self {
        match choice {
            SandboxChoice::Require => Self::Require,
            SandboxChoice::BestEffort => Self::BestEffort,
            SandboxChoice::Off => Self::Off,
        }
    }
}

/// How results are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum OutputFormat {
    /// For people.
    #[default]
    Text,
    /// For machines.
    Json,
    /// For code scanners: `check` and `diff` only.
    Sarif,
    /// For a comment on a pull request: `diff` and `cost` only.
    Markdown,
}

/// How log lines are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// One line each.
    #[default]
    Text,
    /// One JSON object each.
    Json,
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// No errors.
    Success,
    /// Errors were found, or a call failed.
    Errors,
    /// The command line is wrong, or names something that does not exist.
    Usage,
}

impl From<Exit> for u8 {
    fn from(exit: Exit) -> Self {
        match exit {
            Exit::Success => 0,
            Exit::Errors => 1,
            Exit::Usage => 2,
        }
    }
}

/// The result of a command. `Err` is a usage error: it is printed on standard error, and the exit code is 2.
pub type CommandResult = Result<Exit, Box<Diagnostic>>;
