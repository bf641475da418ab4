//! Several servers measured in turns, so that what else the machine does hits them alike.

use crate::Outcome;
use crate::client::{Call, Server};
use crate::statistics::{median, microseconds, percentile};

/// How often.
#[derive(Clone, Copy)]
pub struct Effort {
    /// Turns of each server.
    pub rounds: usize,
    /// Calls one after the other in a turn.
    pub sequential: usize,
    /// Calls of a turn with many in flight.
    pub in_flight: usize,
}

/// Concurrent calls in flight.
pub const WINDOW: usize = 64;

/// What one server made of it.
#[derive(Clone, Copy)]
pub struct Figures {
    /// Median of a call, in microseconds.
    pub p50: f64,
    /// The 99th of 100, in microseconds.
    pub p99: f64,
    /// Calls per second with `WINDOW` in flight: the median of the rounds.
    pub per_second: f64,
}

/// Measures all servers with the same call: first one after the other, then with many in flight.
pub fn contest(servers: &mut [Server], call: &Call, effort: Effort) -> Outcome<Vec<Figures>> {
    let mut times = vec![Vec::new(); servers.len()];
    let mut rates = vec![Vec::new(); servers.len()];
    for server in servers.iter_mut() {
        for _ in 0..effort.sequential.min(200) {
            server.call(call)?;
        }
    }
    for round in 0..effort.rounds {
        for turn in 0..servers.len() {
            let who = (round + turn) % servers.len();
            for _ in 0..effort.sequential {
                times[who].push(microseconds(servers[who].call(call)?.0));
            }
        }
    }
    for round in 0..effort.rounds {
        for turn in 0..servers.len() {
            let who = (round + turn) % servers.len();
            rates[who].push(servers[who].in_flight(call, effort.in_flight, WINDOW)?);
        }
    }
    let none = || "nothing was measured".to_owned();
    let figures = times.iter().zip(&rates).map(|(times, rates)| {
        Ok(Figures {
            p50: median(times).ok_or_else(none)?,
            p99: percentile(times, 0.99).ok_or_else(none)?,
            per_second: median(rates).ok_or_else(none)?,
        })
    });
    figures.collect()
}
