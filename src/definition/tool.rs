//! What belongs to a tool beside its schemas and its body: questions, hints, whether its calls may be tasks.

use super::Located;
use crate::primitive::Question;

/// How the calls of a tool may run as tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tasking {
    /// Whether they may, or must.
    pub task: Task,
    /// For how long a task is kept from its beginning, in milliseconds.
    pub ttl_ms: u64,
    /// How often a client should look after it, in milliseconds.
    pub poll_ms: u64,
}

impl Default for Tasking {
    /// No tasks; else kept for five minutes, and looked at every second.
    fn default() -> Self {
        Self { task: Task::Never, ttl_ms: 300_000, poll_ms: 1_000 }
    }
}

/// Whether a call may run as a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// It never does.
    Never,
    /// It does for clients that know tasks; others wait for the result.
    Optional,
    /// It always does: clients that do not know tasks cannot use the tool.
    Required,
}

impl Task {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Never, Self::Optional, Self::Required];

    /// The word for it in definitions.
    pub fn name(self) -> &'static str {
        match self {
            Self::Never => "never",
            Self::Optional => "optional",
            Self::Required => "required",
        }
    }
}

/// A question that a definition declares: `[tool.ask.KEY]`.
#[derive(Clone, Debug)]
pub struct Declared {
    /// Its key.
    pub key: Located<String>,
    /// What is asked.
    pub question: Question,
    /// Whether it is asked before the call becomes a task.
    pub before_task: bool,
}

/// The hints of a tool that its author sets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hints {
    /// Whether it may destroy something.
    pub destructive: Option<bool>,
    /// Whether a second call with the same arguments changes nothing more.
    pub idempotent: Option<bool>,
    /// Whether it reaches beyond a closed domain.
    pub open_world: Option<bool>,
}
