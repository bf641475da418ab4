//! The graph of a pack: built from files, kept in fragments, immutable once made.
//!
//! `build` records what each file says in a [`Fragment`]; assembly puts fragments next to each other without
//! copying them and gives every node a number, its place in the order of insertion. Changes copy the arrays
//! of numbers and put what they touch into fragments of their own.

mod access;
mod assembly;
mod blocks;
mod builder;
mod change;
mod computing;
mod condition;
mod cycles;
mod derived;
mod drawing;
mod edges;
mod fields;
mod finding;
mod fragment;
mod gate;
mod index;
mod kept;
mod lookup;
mod node;
mod nodes;
mod ordering;
mod reads;
mod recording;
mod remembered;
mod roots;
mod rows;
mod scan;
mod shortest;
mod snapshot;
mod store;
#[cfg(test)]
mod tests;
mod values;
mod walk;

pub use blocks::Blocks;
pub use builder::Builder;
pub use change::{Changing, Entry, Label, Origin, Transaction};
pub use computing::is_limited;
pub use condition::Condition;
pub use drawing::Drawing;
pub use edges::{Edge, Edges};
pub use lookup::tokens_in;
pub use node::Node;
pub use nodes::Nodes;
pub use recording::{Maker, Recording, record_in};
pub use roots::Attachment;
pub use rows::Rows;
pub use snapshot::Graph;
pub use store::{Build, Store, Within};
pub use walk::{Direction, Walking};

use access::Reader;
use assembly::assemble;
use change::{Lineage, Pending, Turns};
use computing::{Doing, Limited, Progress, Related};
use derived::Group;
use fields::{fingerprint, plain, record};
use finding::Standing;
use fragment::{Fault, Fragment, Head, How, Reference, Table, Target, hash_of};
use gate::{Gate, Scanning, is_scanning};
use index::{Index, Key};
use kept::{Keeping, Kept, Premise};
use lookup::Lookups;
use reads::{Basis, Reads};
use remembered::Remembered;
use scan::{Memo, Scan};
use snapshot::{Adjacency, EdgeRow, KindTable, NONE, Numbered, Parts, Shape, Slot};
use store::Built;
use values::Values;

use crate::diagnostic::Result;
use crate::value::Value;

/// The functions of a pack's scripts, by name.
pub trait Functions: Send + Sync {
    /// Calls one.
    fn call(&self, name: &str, arguments: Vec<Value>) -> Result<Value>;

    /// The hash of the scripts and of all that they may read beside the files: what a fragment was made by.
    fn fingerprint(&self) -> [u8; 32];

    /// Runs `job(0) … job(jobs - 1)` on several threads, each within the guard and host of the caller,
    /// and returns when all have ended.
    fn parallel(&self, jobs: usize, job: &(dyn Fn(usize) + Sync));
}
