//! The graph of a pack: built from files, kept in fragments, immutable once made.

use crate::diagnostic::Result;
use crate::value::Value;

/// An immutable snapshot.
pub struct Graph {}

/// The functions of a pack's scripts, by name.
pub trait Functions: Send + Sync {
    /// Calls one.
    fn call(&self, name: &str, arguments: Vec<Value>) -> Result<Value>;

    /// The hash of all the scripts: what a fragment was made by.
    fn fingerprint(&self) -> [u8; 32];

    /// Runs `job(0) … job(jobs - 1)` on several threads, each within the guard and host of the caller,
    /// and returns when all have ended.
    fn parallel(&self, jobs: usize, job: &(dyn Fn(usize) + Sync));
}
