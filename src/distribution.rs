//! Layers of packs that a project takes from git repositories: fetched by the user's git, stored by their content, locked.
//!
//! `content` is what a layer consists of, `remote` and `commit` bring it, `store` keeps it on this machine, `lock_file` is the
//! `toolsd.lock` that names it, and `serving` decides which content of a layer serves.

mod commit;
mod content;
mod fetched;
mod lock_file;
mod remote;
mod serving;
mod signature;
mod store;

pub use commit::Revision;
pub use content::LayerContent;
pub use fetched::{FetchedLayer, Provenance};
pub use lock_file::{LOCK_FILE, LockFile, LockedLayer, RESTORE_LOCK};
pub use remote::{Remote, parse_version};
pub use serving::{LayerState, ProjectLayers, is_trusted};
pub use store::LayerStore;

use crate::diagnostic::Code;

/// The code of a layer that cannot be fetched, or is not what it must be.
pub const LAYER: Code = Code("layer");
