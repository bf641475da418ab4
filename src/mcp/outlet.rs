//! What goes out: one buffer that messages are written into, and one task that empties it.
//!
//! Many small answers become few large writes, and a client that does not read holds up nobody but itself.

use serde::Serialize;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::Notify;

/// Above so many bytes waiting for the client, no new request is begun and notifications wait.
const FULL: usize = 4 << 20;

/// Above so many bytes nothing is read any more: pongs and refusals are made without waiting for room.
const CHOKED: usize = 4 * FULL;

/// The way out of a connection.
#[derive(Default)]
pub(crate) struct Outlet {
    state: Mutex<State>,
    /// Something is to be written, or nothing more will be.
    filled: Notify,
    /// Something was written, or the client is gone.
    emptied: Notify,
}

#[derive(Default)]
struct State {
    waiting: Vec<u8>,
    /// The task has taken bytes that are not yet written.
    writing: bool,
    /// The client no longer reads.
    broken: bool,
    /// Nothing more will come.
    closed: bool,
}

impl Outlet {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a message in line; `false` if it cannot be sent any more.
    pub(crate) fn push(&self, message: &impl Serialize) -> bool {
        let mut state = self.state();
        if state.broken || state.closed {
            return false;
        }
        let before = state.waiting.len();
        if serde_json::to_writer(&mut state.waiting, message).is_err() {
            state.waiting.truncate(before);
            return false;
        }
        state.waiting.push(b'\n');
        drop(state);
        self.filled.notify_one();
        true
    }

    /// Whether the client reads fast enough for more.
    pub(crate) fn has_room(&self) -> bool {
        let state = self.state();
        state.broken || state.waiting.len() < FULL
    }

    /// Whether so much waits that the client is not to be heard before it has read.
    pub(crate) fn is_choked(&self) -> bool {
        let state = self.state();
        !state.broken && state.waiting.len() >= CHOKED
    }

    /// Waits until there is room.
    pub(crate) async fn room(&self) {
        loop {
            let emptied = self.emptied.notified();
            if self.has_room() {
                return;
            }
            emptied.await;
        }
    }

    /// Takes no more messages, and waits until all are written, at most so long.
    pub(crate) async fn finish(&self, patience: Duration) {
        self.state().closed = true;
        self.filled.notify_one();
        let written = async {
            loop {
                let emptied = self.emptied.notified();
                {
                    let state = self.state();
                    if state.broken || (state.waiting.is_empty() && !state.writing) {
                        return;
                    }
                }
                emptied.await;
            }
        };
        // A client that does not read is not waited for longer.
        let _ = tokio::time::timeout(patience, written).await;
    }

    /// Writes what comes until nothing more will; returns early if the client is gone.
    pub(crate) async fn drain(&self, mut writer: impl AsyncWrite + Unpin) {
        let mut chunk = Vec::new();
        loop {
            let filled = self.filled.notified();
            let closed = {
                let mut state = self.state();
                chunk.clear();
                std::mem::swap(&mut chunk, &mut state.waiting);
                state.writing = !chunk.is_empty();
                state.closed
            };
            if chunk.is_empty() {
                self.emptied.notify_waiters();
                if closed {
                    return;
                }
                filled.await;
                continue;
            }
            let result = async {
                writer.write_all(&chunk).await?;
                writer.flush().await
            };
            if result.await.is_err() {
                let mut state = self.state();
                state.broken = true;
                state.writing = false;
                state.waiting = Vec::new();
                drop(state);
                self.emptied.notify_waiters();
                return;
            }
            // One large answer must not be kept as memory for ever.
            if chunk.capacity() > FULL {
                chunk = Vec::new();
            }
            self.emptied.notify_waiters();
        }
    }
}
