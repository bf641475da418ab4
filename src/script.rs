//! Scripts: rhai compiled once per pack and run under a guard, with the primitives as its functions.

mod adapt;
mod caught;
mod cells;
mod convert;
mod deferred;
mod diagnose;
mod engine;
mod function;
mod language;
mod parallel;
mod pool;
mod program;
mod resolved;
mod running;
mod syntax;
mod variables;
pub mod documentation;
pub mod survey;
#[cfg(test)]
mod tests;

pub use deferred::Program;
pub use engine::{known_arities, known_names, prepare};
pub use parallel::STACK;
pub use pool::{Held, Party, Pool, Watched, aside, sealable, settle, watch_over};
pub use program::FunctionName;

use adapt::{register as register_primitive, register_operators};
use caught::of_caught;
use cells::Cells;
use convert::{HandleBox, Origin, from_value, to_value};
use diagnose::{kind_of_type, parse_fault, raise};
use engine::{MOST_LEVELS, empty_engine};
use function::Closure;
use language::sequence_verb;
use parallel::parallel;
use program::{Inner, Script, is_closure};
use resolved::{number, within};
use running::{Running, at_level, current, enter, level};
use survey::Survey;
use syntax::compile;
use variables::{captures_at_the_top, watch};
