//! How this process serves, as scripts may know it.

use super::Service;
use crate::primitive::time;
use crate::value::Json;
use serde_json::{Map, json};
use std::sync::{Mutex, PoisonError};
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
}

impl Since {
    /// It begins now, or at this time of a case.
    pub(super) fn now(case_ms: Option<i64>) -> Self {
        Self { serving: Mutex::default(), began: Instant::now(), case_ms }
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
