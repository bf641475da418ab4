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
pub use form::Violation;
pub use host::{Context, Host, Listed, LogLevel, Notice, PackFile, memory_of};
pub use memory::Memory;
pub use question::{Asked, CAPABILITIES, Question, Wish, has_capability, lacking};
