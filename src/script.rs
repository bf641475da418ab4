//! Scripts: rhai compiled once per pack and run under a guard, with the primitives as its functions.

pub mod ad_hoc;
mod captured_variables;
mod execution;
mod compiled;
mod convert;
mod iteration;
mod language;
mod engine;
mod errors;
mod unbalanced;
mod compile;
mod pool;
mod functions;
mod idioms;
mod lost_values;
mod program;
mod reserved_words;
pub mod documentation;
pub mod survey;
#[cfg(test)]
mod tests;

pub use compiled::{FunctionSignature, is_shared};
pub use engine::{MAX_CALL_LEVELS, known_arities, known_names, prepare_engine};
pub use pool::{
    CallerId, HungCall, Pool, STACK_BYTES, WatchedGuard, block_in_place, commit_call, compose_call, register_seal,
    watch_guard,
};
pub use program::{EffectChain, Program};
pub use reserved_words::{RESERVED_WORDS, default_function};
