//! Requests, and the data that comes with them.

use super::code_mode::CodeMode;
use super::elicitation::AskMode;
use super::status::STATUS;
use crate::guard::CancelFlag;
use crate::primitive_api::Notice;
use crate::script::CallerId;
use crate::value::Json;

/// A request.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// Call a tool.
    Call {
        /// Its public name.
        tool: String,
        /// Its arguments: an object.
        arguments: Json,
    },
    /// Prepares a tool call that becomes a task: refuses it, or asks the questions that precede it.
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
        of: CompletionTarget,
        /// The argument's name.
        argument: String,
        /// What was typed so far.
        value: String,
        /// The arguments that are already known: an object of texts.
        context: Json,
    },
    /// Find tools by words, and describe tools by name.
    FindTools {
        /// The words.
        query: Option<String>,
        /// The public names of tools to describe in full.
        names: Vec<String>,
        /// The pack to search.
        pack: Option<String>,
        /// How many tools are found at most.
        limit: usize,
    },
    /// Run a script that calls tools.
    Script(Box<ScriptRequest>),
    /// List all resources: the fixed ones, and those that `list` functions name.
    ListResources,
    /// List all skills: those among the files of packs, and those that `list` functions find.
    ListSkills,
}

impl Request {
    /// Returns its subject, as the caller names it.
    pub(super) fn subject(&self) -> String {
        match self {
            Self::Call { tool: name, .. }
            | Self::Prepare { tool: name, .. }
            | Self::Read { uri: name }
            | Self::Prompt { name, .. }
            | Self::Complete { of: CompletionTarget::Prompt(name) | CompletionTarget::Resource(name), .. } => {
                name.clone()
            }
            Self::FindTools { .. } => "find_tools".to_owned(),
            Self::Script(_) => "run_script".to_owned(),
            Self::ListResources => "resources/list".to_owned(),
            Self::ListSkills => "skills/list".to_owned(),
        }
    }

    /// Whether it reads the state of the host.
    pub(super) fn reads_status(&self) -> bool {
        matches!(self, Self::Read { uri } if uri == STATUS)
    }
}

/// A script that comes with a call.
#[derive(Clone, Debug, PartialEq)]
pub struct ScriptRequest {
    /// Its text.
    pub text: String,
    /// The constant `input` of it.
    pub input: Json,
    /// Whether nothing that it changes reaches the disk.
    pub is_dry: bool,
    /// What it may do.
    pub rules: CodeMode,
}

/// What is completed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CompletionTarget {
    /// A prompt, by its public name.
    Prompt(String),
    /// A resource template, by its text.
    Resource(String),
}

/// The data that comes with a request.
pub struct Caller {
    /// Ends the call from outside.
    pub cancel: CancelFlag,
    /// Takes progress and log lines while the call runs.
    pub notices: Box<dyn Fn(Notice) + Send + Sync>,
    /// The capabilities of the client.
    pub capabilities: Json,
    /// How the client is asked.
    pub asking: AskMode,
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
    /// Whose turn its calls take.
    pub caller_id: CallerId,
}
