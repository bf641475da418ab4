//! Primitives: how they are declared, what they can reach while they run, and what several of them share.

mod declaration;
pub mod form;
pub mod git;
mod host;
mod memory;
pub mod parameters;
pub mod program_outcome;
mod question;
pub mod time;

pub use declaration::{Args, Effect, Example, Family, Gives, Need, Param, Primitive, option, optional, required};
pub use form::SchemaViolation;
pub use host::{Context, Host, ListKind, LogLevel, Notice, PackFile, ToolAccess, memory_of, tools_of};
pub use memory::PackMemory;
pub use question::{AskedQuestion, CAPABILITIES, Question, QuestionKind, has_capability, missing_capability};
