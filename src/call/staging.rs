//! Another stage than the pack's own, for what only one sees: cases, and calls that change nothing.

use crate::primitive::LogLevel;
use crate::value::Value;
use crate::world::World;
use std::sync::{Arc, Mutex};

/// Lines that were told: how grave each is, and its text.
pub type Lines = Arc<Mutex<Vec<(LogLevel, String)>>>;

/// Another stage than a pack's own: for cases.
#[derive(Clone, Default)]
pub struct Staging {
    /// The world in place of the pack's root.
    pub world: Option<Arc<dyn World>>,
    /// The configuration in place of the workspace's.
    pub config: Option<Value>,
    /// Whether nothing reaches the disk and no program runs, so that one sees what would change.
    pub is_dry: bool,
    /// Takes what is told in place of the log.
    pub log: Option<Lines>,
}
