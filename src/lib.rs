//! toolsd: one binary that serves MCP tools, resources and prompts defined in TOML files, rhai scripts and
//! handlebars templates.
//!
//! **The order of this list is the layer rule: a module may name only modules above it.** A test checks this file and
//! every `crate::` path. `src/README.md` says what each module is for and what is absent on purpose.

pub mod platform;
pub mod source;
pub mod diagnostic;
pub mod guard;
pub mod value;
pub mod content;
pub mod world;
pub mod letters;
pub mod slug;
pub mod order;
pub mod bounded;
pub mod pattern;
pub mod similarity;
pub mod document;
pub mod parse;
pub mod edit;
pub mod graph;
pub mod primitive_api;
pub mod sequence;
pub mod primitives;
pub mod script;
pub mod template;
pub mod definition;
pub mod registry;
pub mod distribution;
pub mod surface;
pub mod discovery;
pub mod check;
pub mod verdict;
pub mod manual;
pub mod call;
pub mod case;
pub mod watch;
pub mod mcp;
pub mod cli;

/// Counts the bytes that each thread allocates, so that a call that takes too much memory can be stopped.
#[global_allocator]
static ALLOCATOR: guard::CountingAllocator = guard::CountingAllocator;
