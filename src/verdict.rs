//! Compares what a set of packs publishes to models, before and after, and judges each change for callers.

mod change;
mod contract;
mod grants;
mod items;
mod report;
mod schema;
mod surface;
mod version;
mod wording;

pub use change::{Change, Verdict};
pub use contract::compare_messages;
pub use report::{json, markdown, sarif, text};
pub use schema::{Role, compare_schemas};
pub use surface::compare;
pub use version::version_steps;
