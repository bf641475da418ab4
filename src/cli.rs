//! The command line: one file a command, one way in.

mod arguments;
mod call;
mod check;
mod docs;
mod doctor;
mod eject;
mod interruption;
mod list;
mod log;
mod new;
mod options;
mod prompt;
mod read;
mod record;
mod refreshing;
mod secrets;
mod serve;
mod session;
mod show;
mod table;
mod terminal;
mod test;
mod trust;
mod watching;

use crate::diagnostic::Diagnostic;
use crate::world::disk::hide_process;
use clap::{Parser, Subcommand};
use options::Shared;
use session::Session;
use terminal::Terminal;

/// Serves MCP tools, resources and prompts that are defined in TOML files, rhai scripts and handlebars templates.
#[derive(Parser)]
#[command(name = "toolsd", version, max_term_width = 100)]
struct Line {
    #[command(flatten)]
    shared: Shared,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Serve MCP: on standard input and output, or over HTTP.
    Serve(serve::Serve),
    /// Check packs: definitions, schemas, scripts, templates.
    Check(check::Check),
    /// Run the examples and cases of packs.
    Test(test::Test),
    /// Call a tool.
    Call(call::Call),
    /// Read a resource.
    Read(read::Read),
    /// Get a prompt.
    Prompt(prompt::Prompt),
    /// List packs, tools, resources and prompts.
    List(list::List),
    /// Explain primitives, tables of definitions, and check rules.
    Docs(docs::Docs),
    /// Write a working skeleton.
    New(new::New),
    /// Copy a file of a pack out of the binary, to change it here.
    Eject(eject::Eject),
    /// Allow the pack files of this workspace to be used.
    Trust(trust::Trust),
    /// Check the set-up: files, trust, packs, git, clients.
    Doctor(doctor::Doctor),
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Exit {
    /// All is well.
    Well,
    /// Something is wrong with what was looked at, or a call failed.
    Faults,
    /// The command line itself is wrong, or nothing here answers it.
    Usage,
}

impl From<Exit> for u8 {
    fn from(exit: Exit) -> Self {
        match exit {
            Exit::Well => 0,
            Exit::Faults => 1,
            Exit::Usage => 2,
        }
    }
}

/// The result of a command. A fault that comes out this way is one of usage: told on standard error, exit code 2.
type Ended = Result<Exit, Box<Diagnostic>>;

/// Runs the command that the arguments of the process name; gives the exit code: 0 all is well, 1 faults, 2 usage.
pub fn run() -> u8 {
    let hidden = hide_process();
    let line = Line::parse();
    let terminal = Terminal::new(session::variable("NO_COLOR").is_some_and(|value| !value.is_empty()));
    log::begin(line.shared.log_format, terminal.colours_errors());
    let ended = hidden.and_then(|()| match line.command {
        Command::Docs(docs) => docs.run(&line.shared, &terminal),
        mut command => {
            command.begin()?;
            Session::open(line.shared, terminal).and_then(|session| command.run(session))
        }
    });
    // A call that was answered at its limit may leave a git behind that still takes its lock away.
    crate::world::disk::end_programs();
    match ended {
        Ok(exit) => exit.into(),
        //= docs/spec.md#command-line
        //# Usage errors MUST go to standard error with exit code 2.
        Err(fault) => {
            let terminal = Terminal::new(session::variable("NO_COLOR").is_some_and(|value| !value.is_empty()));
            terminal.fault(&fault);
            Exit::Usage.into()
        }
    }
}

impl Command {
    /// What comes before anything is opened.
    fn begin(&mut self) -> Result<(), Box<Diagnostic>> {
        match self {
            Self::Serve(serve) => serve.find_secrets(),
            _ => Ok(()),
        }
    }

    fn run(self, session: Session) -> Ended {
        match self {
            Self::Serve(serve) => serve.run(session),
            Self::Check(check) => check.run(&session),
            Self::Test(test) => test.run(&session),
            Self::Call(call) => call.run(&session),
            Self::Read(read) => read.run(&session),
            Self::Prompt(prompt) => prompt.run(&session),
            Self::List(list) => list.run(&session),
            Self::Docs(docs) => docs.run(&session.shared, &session.terminal),
            Self::New(new) => new.run(&session),
            Self::Eject(eject) => eject.run(&session),
            Self::Trust(trust) => trust.run(&session),
            Self::Doctor(doctor) => doctor.run(&session),
        }
    }
}
