//! How this process serves, and which calls are in progress, as scripts may know it.

use crate::primitive_api::time;
use crate::registry::ServedTool;
use crate::value::Json;
use crate::world::World;
use serde_json::{Map, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How clients are served.
#[derive(Clone, Debug, Default)]
pub struct Serving {
    /// The name that clients see.
    pub name: Option<String>,
    /// `stdio` or `http`; nothing for a command.
    pub transport: Option<&'static str>,
    /// The address that HTTP is listened at, and the port.
    pub address: Option<(String, u16)>,
    /// Whether clients must bring a token. The token itself is nobody's business.
    pub has_token: bool,
}

/// How the process serves, since when, and which calls of tools are in progress.
pub(super) struct ServerState {
    serving: Mutex<Serving>,
    started: Instant,
    /// When it started by the clock of a case, in milliseconds.
    case_start_ms: Option<i64>,
    open_calls: Mutex<OpenCalls>,
}

/// The calls of tools that have begun and not ended, by number.
#[derive(Default)]
struct OpenCalls {
    last: u64,
    open: BTreeMap<u64, OpenCall>,
}

struct OpenCall {
    tool: String,
    pack: String,
    since_ms: i64,
    world: Arc<dyn World>,
}

/// A call in progress, until this is dropped.
pub(super) struct CallInProgress<'a> {
    state: &'a ServerState,
    number: u64,
}

impl Drop for CallInProgress<'_> {
    fn drop(&mut self) {
        self.state.lock_calls().open.remove(&self.number);
    }
}

impl ServerState {
    /// It starts now, or at this time of a case.
    pub(super) fn new(case_start_ms: Option<i64>) -> Self {
        Self { serving: Mutex::default(), started: Instant::now(), case_start_ms, open_calls: Mutex::default() }
    }

    /// What scripts may know of the server; `now_ms` is the clock of the world.
    //= docs/spec.md#secrets
    //# Scripts and the programs that they start MUST NOT see a secret of the server.
    pub(super) fn describe(&self, now_ms: i64) -> Map<String, Json> {
        let Serving { name, transport, address, has_token } = self.lock_serving().clone();
        let began_ms = match self.case_start_ms {
            Some(started) => started,
            None => now_ms.saturating_sub(to_millis(self.started.elapsed())),
        };
        let reported = json!({
            "name": name.unwrap_or_else(|| env!("CARGO_PKG_NAME").to_owned()),
            "version": env!("CARGO_PKG_VERSION"),
            "transport": transport.unwrap_or("none"),
            "address": address.as_ref().map(format_address),
            "host": address.as_ref().map(|(host, _)| host),
            "port": address.as_ref().map(|(_, port)| port),
            "has_token": has_token,
            "token": has_token.then_some("***"),
            "uptime_s": now_ms.saturating_sub(began_ms) / 1_000,
            "since": time::format(began_ms - began_ms.rem_euclid(1_000), None).ok(),
        });
        reported.as_object().cloned().unwrap_or_default()
    }

    /// Notes a call that begins in this world, until the result is dropped.
    pub(super) fn begin_call(&self, served: &ServedTool, world: Arc<dyn World>) -> CallInProgress<'_> {
        let (tool, pack, since_ms) = (served.name.clone(), served.pack.name.clone(), world.now_ms());
        let mut calls = self.lock_calls();
        calls.last += 1;
        let number = calls.last;
        calls.open.insert(number, OpenCall { tool, pack, since_ms, world });
        CallInProgress { state: self, number }
    }

    //= docs/spec.md#memory
    //# A script MUST see the running calls of its own pack, with their locks, and none of another pack.
    /// The calls of a pack that are in progress, the oldest first: `number`, `tool`, `since`, `locks`.
    pub(super) fn describe_calls(&self, pack: &str) -> Json {
        let calls = self.lock_calls();
        let own = calls.open.iter().filter(|(_, call)| call.pack == pack);
        own.map(|(number, call)| {
            let locks = call.world.staged().map(|staged| staged.held_locks()).unwrap_or_default();
            json!({ "number": number, "tool": call.tool, "since": time::format(call.since_ms, None).ok(), "locks": locks })
        })
        .collect()
    }

    fn lock_calls(&self) -> MutexGuard<'_, OpenCalls> {
        self.open_calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn lock_serving(&self) -> MutexGuard<'_, Serving> {
        self.serving.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Address and port as one text; an address of IPv6 in brackets.
fn format_address((host, port): &(String, u16)) -> String {
    if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
}

fn to_millis(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}
