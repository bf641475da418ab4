//! One writer after the other: the turn of a call in a repository, and patience with a git that is none of ours.

use super::session::Session;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard;
use crate::primitive::Context;
use crate::world::repository::{GitOutput, Repository};
use crate::world::run::{ProgramCommand, RequiredGrant};
use crate::world::{Lock, LockAttempt};
use std::time::{Duration, Instant};

/// The longest pause between two attempts.
const PAUSE: Duration = Duration::from_millis(10);

/// How long the lock of another git is waited for: an editor that asks for the state holds it no longer.
const PATIENCE: Duration = Duration::from_secs(2);

/// The pause before git is asked again.
const AGAIN: Duration = Duration::from_millis(40);

//= docs/spec.md#git
//# Verbs that change a repository MUST run one after the other, also those of other processes of the host; waiting MUST end with the call.
/// Waits until no other call changes the repository. Also says whether it had to wait: then it may be another one by now.
pub(super) fn wait(
    context: &Context<'_>,
    repository: &Repository,
    needs: RequiredGrant,
) -> Result<(Option<Box<dyn Lock>>, bool)> {
    // `fetch` waits for others for long, and writes nothing but refs, each with a lock of git's own.
    if needs != RequiredGrant::WriteGit {
        return Ok((None, false));
    }
    let world = context.host.world();
    if let LockAttempt::Held(lock) = world.hold_repository(repository)? {
        return Ok((Some(lock), false));
    }
    let (mut had, mut pause) = (None, Duration::from_millis(1));
    context.host.aside(&mut || {
        loop {
            guard::check().map_err(|fault| waited(repository, fault))?;
            if let LockAttempt::Held(lock) = world.hold_repository(repository)? {
                had = Some(lock);
                return Ok(());
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(PAUSE);
        }
    })?;
    match had {
        Some(lock) => Ok((Some(lock), true)),
        None => Err(Diagnostic::new(Code::INTERNAL, "the turn in the repository was not taken")),
    }
}

fn waited(repository: &Repository, mut fault: Box<Diagnostic>) -> Box<Diagnostic> {
    let top = &repository.top;
    fault.message = format!("{} while it waited for another call that changes the repository `{top}`", fault.message);
    fault
}

//= docs/spec.md#git
//# A verb that finds the lock of another git on the index MUST be tried again for a moment before it fails.
/// Runs git; again, if the index was locked: git takes that lock before it changes anything.
pub(super) fn run(session: &Session<'_>, asked: &ProgramCommand) -> Result<GitOutput> {
    let began = Instant::now();
    loop {
        let done = session.world.run_git(asked, Some(&session.repository), &session.settings)?;
        let errors = String::from_utf8_lossy(&done.ran.errors);
        let is_locked = done.ran.code != 0 && errors.contains("index.lock'") && errors.contains("File exists");
        if !is_locked || began.elapsed() > PATIENCE {
            return Ok(done);
        }
        guard::check()?;
        std::thread::sleep(AGAIN);
    }
}
