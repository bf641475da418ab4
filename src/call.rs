//! Runs one call: arguments, graph, script, result. Knows neither MCP nor the command line.

mod elicitation;
mod caller_error;
mod change_feed;
mod graph_errors;
mod graph_session;
mod server_state;
mod status;
mod request;
mod answer;
mod code_mode;
mod script_host;
mod script_request;
mod tool_caller;
mod tool_search;
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

pub use answer::{Answer, ResourceAnswer, ToolOutcome, error_data};
pub use caller_error::for_caller;
pub use change_feed::{ChangeFeed, ChangeSubscription, HostChange};
pub use code_mode::{CodeMode, matches_name};
pub use elicitation::{AskMode, Asker, CallRecord, PendingQuestions};
pub use host::{LogLines, Staging};
pub use loading::{PackSource, load_packs, load_registry, name_clashes};
pub use request::{Caller, CompletionTarget, Peer, Request, ScriptRequest};
pub use server_state::Serving;
pub use service::{RefreshSchedule, RequestHandler, Service};
pub use status::{STATUS, error_json, log_error};
