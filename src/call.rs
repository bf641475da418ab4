//! Runs one call: arguments, graph, script, result. Knows neither MCP nor the command line.

mod answering;
mod audit;
mod building;
mod changes;
mod coerce;
mod complete;
mod computing;
mod graphs;
mod held;
mod host;
mod interview;
mod listing;
mod loading;
mod operation;
mod order;
mod outcome;
mod prompt;
mod refreshing;
mod reload;
mod resource;
mod running;
mod service;
mod serving;
mod skills;
mod staging;
mod status;
mod tool;
mod turn;
mod witness;
mod writing;

pub use answering::Answering;
pub use changes::{Change, Changes, Listener};
pub use interview::{Asker, Asking, Asks, Record};
pub use loading::{Site, clashes, load, parts};
pub use outcome::FAILURE;
pub use refreshing::Pace;
pub use reload::log_fault;
pub use service::Service;
pub use serving::Serving;
pub use staging::{Lines, Staging};
pub use status::{STATUS, fault as fault_json, status};

use crate::content::{Content, ContentBody, ResourceBody};
use crate::diagnostic::Diagnostic;
use crate::guard::CancelFlag;
use crate::primitive::Notice;
use crate::registry::SkillIndex;
use crate::script::Party;
use crate::value::Json;
use std::sync::Arc;

/// What is asked of the host.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// Call a tool.
    Call {
        /// Its public name.
        tool: String,
        /// Its arguments: an object.
        arguments: Json,
    },
    /// See to all that comes before a call of a tool becomes a task.
    Prepare {
        /// Its public name.
        tool: String,
        /// Its arguments: an object.
        arguments: Json,
    },
    /// Read a resource.
    Read {
        /// Its URI.
        uri: String,
    },
    /// Get a prompt.
    Prompt {
        /// Its public name.
        name: String,
        /// Its arguments: an object of texts.
        arguments: Json,
    },
    /// Complete an argument of a prompt, or a variable of a resource template.
    Complete {
        /// The prompt or template.
        of: Completed,
        /// The argument's name.
        argument: String,
        /// What was typed so far.
        value: String,
        /// The arguments that are already known: an object of texts.
        context: Json,
    },
    /// List all resources: the fixed ones, and those that `list` functions name.
    ListResources,
    /// List all skills: those among the files of packs, and those that `list` functions find.
    ListSkills,
}

/// What is completed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Completed {
    /// A prompt, by its public name.
    Prompt(String),
    /// A resource template, by its text.
    Resource(String),
}

/// What the host answers.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// The result of a tool, good or bad.
    Tool(Outcome),
    /// The contents of a resource.
    Contents(Contents),
    /// The messages of a prompt.
    Messages {
        /// Its description.
        description: Option<String>,
        /// Role and content.
        messages: Vec<(String, Content)>,
    },
    /// Completions.
    Completion {
        /// At most a hundred.
        values: Vec<String>,
        /// How many there are.
        total: usize,
    },
    /// The resources: objects as MCP lists them (`uri`, `name`, …), in a total order.
    Resources(Arc<Vec<Json>>),
    /// The skills.
    Skills(Arc<SkillIndex>),
    /// The call may begin, with what was asked beforehand.
    Ready(Box<Record>),
    /// The call cannot go on without answers: make it again with them. Only where [`Asking::Suspends`].
    Asks(Box<Asks>),
    /// An error of the protocol: not found, rejected, a fault of the host.
    Fault(Box<Diagnostic>),
}

/// The result of a tool.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// What a model reads.
    pub content: Vec<Content>,
    /// The data: any JSON.
    pub structured: Option<Json>,
    /// Whether the call failed in a way that the model can repair.
    pub failed: bool,
    /// `_meta`.
    pub meta: Option<Json>,
    /// What the failure came from.
    pub fault: Option<Box<Diagnostic>>,
    /// The files that the call changed, or would have changed if it was dry.
    pub changes: Vec<crate::world::staged::StagedFile>,
}

/// Bytes that stand around an answer, about.
const AROUND: usize = 256;

impl Outcome {
    /// Bytes of it as an answer, about: its data are told as a text, too.
    pub fn bytes(&self) -> usize {
        let size = |content: &Content| match &content.block {
            ContentBody::Text(text) => text.len(),
            ContentBody::Image { data, .. } | ContentBody::Audio { data, .. } => data.len(),
            ContentBody::Resource { body: ResourceBody::Text(text) | ResourceBody::Blob(text), .. } => text.len(),
            ContentBody::Link(_) => 0,
        };
        let content: usize = self.content.iter().map(size).sum();
        AROUND + if self.structured.is_some() { content.saturating_mul(2) } else { content }
    }
}

/// What a resource holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Contents {
    /// Its parts: URI, MIME type, text or blob.
    pub parts: Vec<(String, Option<String>, ResourceBody)>,
    /// For how long a client may keep it, in milliseconds.
    pub ttl_ms: Option<u64>,
    /// `public` or `private`.
    pub cache_scope: Option<String>,
    /// What it was made from, so that a subscription knows when to read again: absolute paths of
    /// files and folders, in parts that several answers may share.
    pub touched: Vec<Arc<[String]>>,
}

impl Contents {
    /// Bytes of them as an answer, about.
    pub fn bytes(&self) -> usize {
        let size = |body: &ResourceBody| match body {
            ResourceBody::Text(text) | ResourceBody::Blob(text) => text.len(),
        };
        AROUND + self.parts.iter().map(|(_, _, body)| size(body)).sum::<usize>()
    }
}

/// What comes with a request.
pub struct Caller {
    /// Ends the call from outside.
    pub cancel: CancelFlag,
    /// Takes progress and log lines while the call runs.
    pub notices: Box<dyn Fn(Notice) + Send + Sync>,
    /// The capabilities of the client.
    pub capabilities: Json,
    /// How the client is asked.
    pub asking: Asking,
    /// Who calls.
    pub peer: Peer,
}

/// Who calls, as the protocol tells it; nothing for a command.
#[derive(Clone, Debug, Default)]
pub struct Peer {
    /// The revision that was agreed on.
    pub revision: Option<String>,
    /// `name` and `version` of the client, as it says itself.
    pub client: Option<Json>,
    /// With whom its calls take turns.
    pub party: Party,
}
