//! How this process serves, as scripts may know it.

use super::Service;
use super::running::Running;
use crate::primitive::{Host, time};
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

/// How it serves, and since when.
pub(super) struct Since {
    serving: Mutex<Serving>,
    began: Instant,
    /// When it began by the clock of a case, in milliseconds.
    pub(super) case_ms: Option<i64>,
    at_work: Mutex<Calls>,
}

/// The calls of tools that have begun and not ended, by number.
#[derive(Default)]
struct Calls {
    last: u64,
    open: BTreeMap<u64, Call>,
}

struct Call {
    tool: String,
    pack: String,
    since_ms: i64,
    world: Arc<dyn World>,
}

/// A call at work; it is none any more when this is dropped.
pub(super) struct AtWork<'a> {
    since: &'a Since,
    number: u64,
}

impl Drop for AtWork<'_> {
    fn drop(&mut self) {
        self.since.calls_at_work().open.remove(&self.number);
    }
}

impl Since {
    /// It begins now, or at this time of a case.
    pub(super) fn now(case_ms: Option<i64>) -> Self {
        Self { serving: Mutex::default(), began: Instant::now(), case_ms, at_work: Mutex::default() }
    }

    /// What scripts may know of it; `now_ms` is the clock of the world.
    //= docs/spec.md#memory
    //# The token of the server MUST NOT be seen by scripts.
    pub(super) fn told(&self, now_ms: i64) -> Map<String, Json> {
        let Serving { name, transport, address, has_token } = self.lock().clone();
        let began_ms = match self.case_ms {
            Some(began) => began,
            None => now_ms.saturating_sub(millis(self.began.elapsed())),
        };
        let told = json!({
            "name": name.unwrap_or_else(|| env!("CARGO_PKG_NAME").to_owned()),
            "version": env!("CARGO_PKG_VERSION"),
            "transport": transport.unwrap_or("none"),
            "address": address.as_ref().map(shown),
            "host": address.as_ref().map(|(host, _)| host),
            "port": address.as_ref().map(|(_, port)| port),
            "has_token": has_token,
            "token": has_token.then_some("***"),
            "uptime_s": now_ms.saturating_sub(began_ms) / 1_000,
            "since": time::format(began_ms - began_ms.rem_euclid(1_000), None).ok(),
        });
        told.as_object().cloned().unwrap_or_default()
    }

    /// Notes a call that begins.
    pub(super) fn begin(&self, served: &ServedTool, running: &Running) -> AtWork<'_> {
        let world = Arc::clone(running.host.world());
        let (tool, pack, since_ms) = (served.name.clone(), served.pack.name.clone(), world.now_ms());
        let mut calls = self.calls_at_work();
        calls.last += 1;
        let number = calls.last;
        calls.open.insert(number, Call { tool, pack, since_ms, world });
        AtWork { since: self, number }
    }

    //= docs/spec.md#memory
    //# A script MUST be told the calls of its own pack that are at work, with their locks, and none of another pack.
    /// The calls of a pack that are at work, the oldest first: `number`, `tool`, `since`, `locks`.
    pub(super) fn calls(&self, pack: &str) -> Json {
        let calls = self.calls_at_work();
        let own = calls.open.iter().filter(|(_, call)| call.pack == pack);
        own.map(|(number, call)| {
            let locks = call.world.staged().map(|staged| staged.held_locks()).unwrap_or_default();
            json!({ "number": number, "tool": call.tool, "since": time::format(call.since_ms, None).ok(), "locks": locks })
        })
        .collect()
    }

    fn calls_at_work(&self) -> MutexGuard<'_, Calls> {
        self.at_work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Serving> {
        self.serving.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Address and port as one text; an address of IPv6 in brackets.
fn shown((host, port): &(String, u16)) -> String {
    if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
}

fn millis(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}

impl Service {
    /// Says how clients are served.
    pub fn serves(&self, serving: Serving) {
        *self.since.lock() = serving;
    }

    /// Says where HTTP is listened at: a port that was 0 is known now.
    pub(super) fn listens_at(&self, host: &str, port: u16) {
        self.since.lock().address = Some((host.to_owned(), port));
    }
}
