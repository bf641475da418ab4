//! Runs one call: arguments, graph, script, result. Knows neither MCP nor the command line.

mod elicitation;
mod change_feed;
mod graph_session;
mod server_state;
mod status;
mod request;
mod answer;
mod host;
mod invocation;
mod dependency_tracker;
mod arguments;
mod tool;
mod prompt;
mod resource;
mod loading;
mod active_request;
mod generation;
mod service;

pub use answer::{Answer, Contents, FAILURE, Outcome};
pub use change_feed::{Change, Changes, Listener};
pub use elicitation::{Asker, Asking, Asks, Record};
pub use host::{Lines, Staging};
pub use loading::{Site, clashes, load, parts};
pub use request::{Caller, Completed, Peer, Request};
pub use server_state::Serving;
pub use service::{Answering, Pace, Service};
pub use status::{STATUS, fault_json, log_fault};
