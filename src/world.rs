//! Every effect of toolsd: files, the clock, random ids, the environment, programs.
//!
//! `World` is the trait that they go through. `disk` is the real world and the only module that names `std::fs`,
//! processes and the wall clock. `memory` is that of examples and cases.
//! The others are views over a world: `granted` limits it to grants, `staged` keeps the writes of a call until it
//! succeeds, `recorded` remembers what was read, `sealed` refuses to read at times.

/// Methods of a view that a field of it answers. Each is named: a method that is added to a trait does not pass a view
/// that should check it.
macro_rules! delegate {
    ($field:ident; $(fn $name:ident(&self $(, $argument:ident: $kind:ty)*) $(-> $result:ty)?;)*) => {
        $(fn $name(&self $(, $argument: $kind)*) $(-> $result)? { self.$field.$name($($argument),*) })*
    };
}

pub mod disk;
mod effects;
pub mod glob;
pub mod granted;
mod grants;
pub mod memory;
pub mod path;
pub mod recorded;
pub mod repository;
pub mod run;
mod sandbox;
pub mod sealed;
mod secret_values;
pub mod staged;
pub mod staging;
#[cfg(test)]
mod tests;
mod variable_grant;
mod walk;

pub use effects::{
    Ambient, BYTE_ORDER_MARK, FileChange, FilePolicy, Files, Lock, LockAttempt, Programs, TargetState, Unrestricted,
    Workspace, World, read_text, text_from_bytes,
};
pub use grants::{GrantedAccess, check_grant, describe_missing_grant, is_forbidden_variable, protected_name};
pub use secret_values::{knows_secrets, redact_bytes, redact_json, redact_text, redacted, redacted_json};
pub use variable_grant::{VariableGrant, is_secret_name, is_secret_variable};
pub use walk::{EntryKind, FolderEntry, Stat, WalkOptions, WalkResult, skipped_file, unreadable_folder};
