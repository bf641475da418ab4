//! The host of a call: access of a running primitive to the world, the graph, the pack and the client.

#![allow(missing_docs, reason = "plain fields whose names say it")]

use super::form::SchemaViolation;
use super::memory::PackMemory;
use super::question::AskedQuestion;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::graph::{ChangeEntry, Functions, Graph};
use crate::value::{Json, Value};
use crate::world::run::ProgramOutput;
use crate::world::{World, redact_json, redact_text};
use std::fmt;
use std::sync::Arc;

/// The context of a primitive's call, in addition to its arguments.
pub struct Context<'a> {
    /// The call's host.
    pub host: &'a dyn Host,
    /// The functions of the pack's scripts, by name.
    pub functions: &'a Arc<dyn Functions>,
}

/// The host of one call. What a method does not do by itself is what a host has that reaches nothing.
pub trait Host: Send + Sync {
    /// The workspace, limited to the pack's grants and the call's declared effect.
    fn world(&self) -> &Arc<dyn World>;

    /// The error of something that this host does not have.
    fn unreachable(&self, what: &str) -> Box<Diagnostic> {
        Diagnostic::new(Code::SCRIPT, format!("{what} cannot be reached here"))
    }

    /// The graph of the pack, as fresh as its `refresh` promises.
    fn graph(&self) -> Result<Arc<Graph>> {
        Err(self.unreachable("the graph"))
    }

    /// The graph of the files, without pending changes.
    fn graph_of_files(&self) -> Result<Arc<Graph>> {
        self.graph()
    }

    /// The pending changes of the graph, oldest first.
    fn changes(&self) -> Vec<Arc<ChangeEntry>> {
        Vec::new()
    }

    /// The files that changed since the first of the pending changes was made.
    fn stale_files(&self) -> Result<Vec<String>> {
        Ok(Vec::new())
    }

    /// Runs one transaction. `act` receives it and returns the data of its entry.
    ///
    /// # Errors
    /// `act` fails; the call's effect does not allow it; there is no graph.
    fn change(&self, _name: &str, _act: &dyn Fn(Value) -> Result<Value>) -> Result<Arc<ChangeEntry>> {
        Err(no_graph())
    }

    /// Undoes the last change, or all changes back to the one with this id, and returns them, the last one first.
    /// `None` if there are none.
    fn undo(&self, _to: Option<&str>) -> Result<Option<Vec<Arc<ChangeEntry>>>> {
        Err(no_graph())
    }

    /// Returns the graph, updated from the current files. Fails while changes are pending, unless `discard` drops them.
    /// With `full`, every file is read again.
    fn refresh(&self, _discard: bool, _full: bool) -> Result<Arc<Graph>> {
        Err(no_graph())
    }

    /// The configuration of the pack: `[packs.NAME]` of the workspace, with defaults.
    fn config(&self) -> Value {
        Value::Null
    }

    /// A table of `[data]`, if it exists.
    fn data(&self, _name: &str) -> Option<Value> {
        None
    }

    /// The names of the tables of `[data]`.
    fn data_names(&self) -> Vec<String> {
        Vec::new()
    }

    /// Renders a template, named by its path from the root, with `context`.
    fn render(&self, _template: &str, _context: &Json) -> Result<String> {
        Err(self.unreachable("templates"))
    }

    /// An asset of the pack, by its path from the root.
    fn read_pack_file(&self, _path: &str) -> Result<PackFile> {
        Err(self.unreachable("files"))
    }

    /// Returns all violations of a JSON Schema by a value, at once.
    fn validate(&self, _value: &Json, _schema: &Json) -> Result<Vec<SchemaViolation>> {
        Err(self.unreachable("schemas"))
    }

    /// Milliseconds since 1970-01-01T00:00:00Z, constant within a call.
    fn now_ms(&self) -> i64 {
        0
    }

    /// The next random UUID of the call.
    fn uuid(&self) -> String {
        String::new()
    }

    /// Notifies the client.
    fn notify(&self, _notice: Notice) {}

    /// Appends a notice to the result of the call, once, in addition to what its script returns.
    fn tell_in_result(&self, _notice: &str) {}

    /// Asks the client all questions at once. Returns the answers in the order of the questions, as scripts see them;
    /// `()` for an optional question that cannot be asked.
    ///
    /// # Errors
    /// There is no client, asking is not allowed here, or an answer is invalid. In stateless mode the call is suspended
    /// by stopping its guard.
    fn ask(&self, _asked: &[AskedQuestion]) -> Result<Vec<Value>> {
        Err(Diagnostic::new(Code::ASK, "no one can be asked here").author_help("ask in a tool, a prompt or a read"))
    }

    /// Returns the value that `once` recorded under a key, in this call or an earlier run of it.
    fn recorded(&self, _key: &str) -> Option<Json> {
        None
    }

    /// Records a value under a key for later runs of this call.
    fn record(&self, _key: &str, _value: Json) {}

    /// Returns whether the client has a capability, named with dots: `elicitation.url`.
    fn client_supports(&self, _capability: &str) -> bool {
        false
    }

    /// The cache of the pack; `None` where results must depend on files alone.
    fn memory(&self) -> Option<&PackMemory> {
        None
    }

    /// The properties of the process: what `server()` returns, without the folders.
    fn server(&self) -> serde_json::Map<String, Json> {
        serde_json::Map::new()
    }

    /// Waits in `job` while another thread replaces this one.
    fn wait_replaced(&self, job: &mut dyn FnMut() -> Result<()>) -> Result<()> {
        job()
    }

    /// Waits for a program in `job` while another thread replaces this one. If too many calls wait already, the thread
    /// is kept: further calls of the connection queue, and none fails.
    fn wait_for_program(&self, job: &mut dyn FnMut() -> Result<ProgramOutput>) -> Result<ProgramOutput> {
        job()
    }

    /// The tools that are served; `None` where none can be called.
    fn tools(&self) -> Option<&dyn ToolAccess> {
        None
    }

    /// The client and the running calls of the pack: what `session()` returns.
    fn session(&self) -> serde_json::Map<String, Json> {
        serde_json::Map::new()
    }

    /// Waits, and fails if the call is stopped in the meantime. The time counts as the script's. In cases no time
    /// passes.
    fn sleep(&self, _ms: u64) -> Result<()> {
        Ok(())
    }

    /// Whether time passes. In cases it does not, so that what is locked stays locked.
    fn has_time(&self) -> bool {
        true
    }
}

/// Access to the tools that are served. Each call takes the way of a client's call.
pub trait ToolAccess: Send + Sync {
    /// Whether a tool has this public name.
    fn has(&self, name: &str) -> bool;

    /// Calls a tool and returns its data: the structured result, otherwise its text, otherwise its blocks.
    ///
    /// # Errors
    /// The tool failed, does not exist, or may not be called from here.
    fn call(&self, name: &str, arguments: Value) -> Result<Value>;

    /// The tools that the script may call, the best matches of some words first: maps with `name`, `signature` and
    /// `about`. Without words all of them.
    fn find(&self, words: Option<&str>) -> Result<Value>;

    /// A tool in full: `name`, `signature`, `description`, `input` and `output`.
    ///
    /// # Errors
    /// There is no such tool.
    fn describe(&self, name: &str) -> Result<Value>;

    /// How a tool is called: its signature, if it exists.
    fn signature(&self, name: &str) -> Option<String>;

    /// The names of the tools that the script may call.
    fn names(&self) -> Vec<String>;

    /// What is to be known of the results of the calls so far.
    fn notices(&self) -> Vec<String>;

    /// The names of the packs that serve.
    fn packs(&self) -> Vec<String>;

    /// The number of calls that may run at the same time.
    fn max_parallel(&self) -> usize;

    /// The host of one of several branches that run at the same time.
    fn branch(&self, index: usize) -> Option<Arc<dyn Host>>;
}

fn no_graph() -> Box<Diagnostic> {
    Diagnostic::new(Code::SCRIPT, "there is no graph to change here")
        .help("change it in a tool of a pack with `[graph]`")
}

/// Returns the access of a host to the tools that are served.
///
/// # Errors
/// No tools can be called from there.
pub fn tools_of(host: &dyn Host) -> Result<&dyn ToolAccess> {
    host.tools().ok_or_else(|| {
        Diagnostic::new(Code::SCRIPT, "no tools can be called here")
            .author_help("call them in a tool, a prompt or the read of a resource")
    })
}

/// Returns the cache of the call's pack.
pub fn memory_of<'a>(context: &Context<'a>) -> Result<&'a PackMemory> {
    context.host.memory().ok_or_else(|| {
        Diagnostic::new(Code::SCRIPT, "nothing is remembered here")
            .help("use the cache in tools, prompts and reads; a graph depends on files alone")
    })
}

/// A file of the pack, or its replacement in a higher layer.
pub struct PackFile {
    pub text: String,
    /// The layer it came from: `embedded`, `user`, `workspace`, or the folder named by `--dir`.
    pub origin: String,
    /// Its path from the root of the layer.
    pub path: String,
}

/// A notification to the client during a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Notice {
    /// Progress of the call.
    Progress {
        /// The amount that is done.
        done: f64,
        /// The total amount, if known.
        total: Option<f64>,
        /// The current step.
        message: Option<String>,
    },
    /// What the call is doing, for the client of its task.
    Status(String),
    /// A log message.
    Log {
        /// Its severity.
        level: LogLevel,
        /// The message: a string, or any JSON.
        data: Json,
    },
    Changed(ListKind),
    /// A resource changed.
    Updated {
        uri: String,
    },
}

impl Notice {
    /// Replaces secret values in it.
    pub fn redact(&mut self) {
        match self {
            Self::Progress { message, .. } => message.iter_mut().for_each(redact_text),
            Self::Status(text) | Self::Updated { uri: text } => redact_text(text),
            Self::Log { data, .. } => redact_json(data),
            Self::Changed(_) => {}
        }
    }
}

impl fmt::Display for Notice {
    /// The notice as a line for people.
    fn fmt(&self, line: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Progress { done, total, message } => {
                write!(line, "{done}")?;
                total.map_or(Ok(()), |total| write!(line, "/{total}"))?;
                message.as_ref().map_or(Ok(()), |message| write!(line, " {message}"))
            }
            Self::Status(status) => line.write_str(status),
            Self::Log { data: Json::String(text), .. } => line.write_str(text),
            Self::Log { data, .. } => write!(line, "{data}"),
            Self::Changed(list) => write!(line, "the list of {} changed", list.name()),
            Self::Updated { uri } => write!(line, "the resource `{uri}` changed"),
        }
    }
}

/// A kind of list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the words say it")]
pub enum ListKind {
    Tools,
    Prompts,
    Resources,
}

impl ListKind {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Tools, Self::Prompts, Self::Resources];

    pub fn name(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Prompts => "prompts",
            Self::Resources => "resources",
        }
    }
}

/// The levels of RFC 5424, as MCP names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs, reason = "RFC 5424 says what each means")]
pub enum LogLevel {
    Debug,
    Info,
    Notice,
    Warning,
    Error,
    Critical,
    Alert,
    Emergency,
}

impl LogLevel {
    /// All levels, the least severe first.
    pub const ALL: [Self; 8] = [
        Self::Debug,
        Self::Info,
        Self::Notice,
        Self::Warning,
        Self::Error,
        Self::Critical,
        Self::Alert,
        Self::Emergency,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Notice => "notice",
            Self::Warning => "warning",
            Self::Error => "error",
            Self::Critical => "critical",
            Self::Alert => "alert",
            Self::Emergency => "emergency",
        }
    }
}
