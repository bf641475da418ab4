//! What becomes of the writes of a call when it ends.

use super::Outcome;
use super::running::Running;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::primitive::Host;
use crate::script::settle;
use crate::world::staging::StagedFile;

/// A call ended well: its writes reach the disk, unless it was stopped meanwhile. The outcome tells what changed.
///
//= docs/spec.md#writes
//# What is staged MUST reach the disk when the call ends well.
pub fn settled(running: &Running, mut outcome: Outcome) -> Result<Outcome> {
    if let Some(fault) = running.guard.verdict() {
        return Err(fault);
    }
    if running.host.cancel.is_cancelled() {
        return Err(Diagnostic::new(Code::CANCELLED, "the call was cancelled"));
    }
    settle(|| {
        if let Some(staged) = running.host.world().staged() {
            staged.flush()?;
            outcome.changes = staged.written()?;
        }
        running.host.turn_over();
        Ok(outcome)
    })
}

/// A call failed: what is still staged is dropped.
///
//= docs/spec.md#writes
//# A call that fails or is cancelled MUST drop what is still staged.
pub fn dropped(running: &Running) {
    if let Some(staged) = running.host.world().staged() {
        staged.drop_all();
    }
    //= docs/spec.md#changes
    //# What a call changed MUST NOT count before the call ends well.
    if let Some(turn) = running.host.turn().taken() {
        turn.abandon();
    }
}

/// What a call has changed on the disk, however it ended.
pub fn written(running: &Running) -> Vec<StagedFile> {
    running.host.world().staged().and_then(|staged| staged.written().ok()).unwrap_or_default()
}
