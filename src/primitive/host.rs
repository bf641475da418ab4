//! The host of a call: what a running primitive can reach of the world, the graph, the pack and the client.

use super::form::SchemaViolation;
use super::memory::PackMemory;
use super::question::AskedQuestion;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::graph::{ChangeEntry, Functions, Graph};
use crate::value::{Json, Value};
use crate::world::World;
use std::sync::Arc;

/// What a primitive is called with besides its arguments.
pub struct Context<'a> {
    /// The call's host.
    pub host: &'a dyn Host,
    /// The functions of the pack's scripts, by name.
    pub functions: &'a Arc<dyn Functions>,
}

/// The host of one call.
pub trait Host: Send + Sync {
    /// The workspace, limited to the pack's grants and the call's declared effect.
    fn world(&self) -> &Arc<dyn World>;

    /// The graph of the pack, as fresh as its `refresh` promises.
    fn graph(&self) -> Result<Arc<Graph>>;

    /// The graph as the files say it, without pending changes.
    fn graph_of_files(&self) -> Result<Arc<Graph>> {
        self.graph()
    }

    /// The changes of the graph that are pending, the oldest first.
    fn changes(&self) -> Vec<Arc<ChangeEntry>> {
        Vec::new()
    }

    /// The files that are no longer as they were when the first of the pending changes was made.
    fn stale_files(&self) -> Result<Vec<String>> {
        Ok(Vec::new())
    }

    /// One transaction: `act` gets it and gives the data of its entry.
    ///
    /// # Errors
    /// What `act` fails with; the call's effect does not let it; there is no graph.
    fn change(&self, _name: &str, _act: &dyn Fn(Value) -> Result<Value>) -> Result<Arc<ChangeEntry>> {
        Err(no_graph())
    }

    /// Takes back the last change, or all from the last to the one with this id; the last one first. Nothing if there
    /// is none.
    fn undo(&self, _to: Option<&str>) -> Result<Option<Vec<Arc<ChangeEntry>>>> {
        Err(no_graph())
    }

    /// The graph as the files are now. Pending changes are dropped by `discard`, and otherwise an error; with `full`
    /// every file is read again.
    fn refresh(&self, _discard: bool, _full: bool) -> Result<Arc<Graph>> {
        Err(no_graph())
    }

    /// The configuration of the pack: `[packs.NAME]` of the workspace, defaults filled in.
    fn config(&self) -> Value;

    /// A table of `[data]`, or nothing.
    fn data(&self, name: &str) -> Option<Value>;

    /// The names of the tables of `[data]`.
    fn data_names(&self) -> Vec<String>;

    /// A template, by its path from the root, filled with `context`.
    fn render(&self, template: &str, context: &Json) -> Result<String>;

    /// An asset of the pack, by its path from the root.
    fn read_pack_file(&self, path: &str) -> Result<PackFile>;

    /// What is wrong with a value by a JSON Schema: every violation at once, none if it fits.
    fn validate(&self, value: &Json, schema: &Json) -> Result<Vec<SchemaViolation>>;

    /// Milliseconds since 1970-01-01T00:00:00Z, constant within a call.
    fn now_ms(&self) -> i64;

    /// The next random id of the call, in the usual form of a UUID.
    fn uuid(&self) -> String;

    /// Tells the client something.
    fn notify(&self, notice: Notice);

    /// Says something at the end of the result of the call, once, beside what its script returns.
    fn tell_in_result(&self, _notice: &str) {}

    /// Asks the client, all at once: the answers in the order of the questions, as scripts see them; `()` where an
    /// optional question cannot be asked.
    ///
    /// # Errors
    /// There is nobody to ask, here is no place for it, or no answer fits. A call that must end to be answered is
    /// ended: its guard is stopped.
    fn ask(&self, _asked: &[AskedQuestion]) -> Result<Vec<Value>> {
        Err(Diagnostic::new(Code::ASK, "nobody can be asked here").author_help("ask in a tool, a prompt or a read"))
    }

    /// What `once` recorded under a key, in this call or in a run of it before.
    fn recorded(&self, _key: &str) -> Option<Json> {
        None
    }

    /// Keeps a value under a key for the runs of this call to come.
    fn record(&self, _key: &str, _value: Json) {}

    /// Whether the client has a capability, named with dots: `elicitation.url`.
    fn client_supports(&self, _capability: &str) -> bool {
        false
    }

    /// What the pack remembers between calls; `None` where results must depend on files alone.
    fn memory(&self) -> Option<&PackMemory> {
        None
    }

    /// How the process serves: what `server()` gives but for the folders.
    fn server(&self) -> serde_json::Map<String, Json> {
        serde_json::Map::new()
    }

    /// Waits in `job` while another thread works in place of this one.
    fn aside(&self, job: &mut dyn FnMut() -> Result<()>) -> Result<()> {
        job()
    }

    /// Who calls, and which calls of the pack are at work: what `session()` gives.
    fn session(&self) -> serde_json::Map<String, Json> {
        serde_json::Map::new()
    }

    /// Waits on the script's time; a call that is stopped meanwhile ends. In cases no time passes.
    fn sleep(&self, _ms: u64) -> Result<()> {
        Ok(())
    }
}

fn no_graph() -> Box<Diagnostic> {
    Diagnostic::new(Code::SCRIPT, "there is no graph to change here")
        .help("change it in a tool of a pack with `[graph]`")
}

/// The memory of the pack that a call works for.
pub fn memory_of<'a>(context: &Context<'a>) -> Result<&'a PackMemory> {
    context.host.memory().ok_or_else(|| {
        Diagnostic::new(Code::SCRIPT, "nothing is remembered here")
            .help("remember and recall in tools, prompts and reads; a graph depends on files alone")
    })
}

/// A file that came with the pack, or that a layer above put in its place.
pub struct PackFile {
    /// Its text.
    pub text: String,
    /// The layer it came from: `embedded`, `user`, `workspace`, or the folder named by `--dir`.
    pub origin: String,
    /// Its path from the root of the layer.
    pub path: String,
}

/// What a call tells the client while it runs.
#[derive(Clone, Debug, PartialEq)]
pub enum Notice {
    /// How far it has come.
    Progress {
        /// How much is done.
        done: f64,
        /// Of so much, if that is known.
        total: Option<f64>,
        /// What is being done.
        message: Option<String>,
    },
    /// What the call is doing, for whoever looks after its task.
    Status(String),
    /// A line for the log.
    Log {
        /// How much it matters.
        level: LogLevel,
        /// What to say: a text, or any JSON.
        data: Json,
    },
    /// A list is another one now.
    Changed(ListKind),
    /// A resource holds something else now.
    Updated {
        /// Its URI.
        uri: String,
    },
}

/// What is listed.
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

    /// The word for it.
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
    /// All of them, the least important first.
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

    /// The word for it.
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
