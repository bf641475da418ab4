//! Running programs: arguments only, few variables, a group of processes that ends with the call.

use super::place;
use super::roots::{Roots, reason};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::world::path;
use crate::world::run::{Command, Ran};
use rustix::process::{Pid, Signal, kill_process_group, test_kill_process};
use std::io::{self, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The variables of this process that a program gets: where programs are, who asks, in which language.
const PASSED: [&str; 8] = ["PATH", "HOME", "USER", "LOGNAME", "LANG", "TMPDIR", "TZ", "XDG_CONFIG_HOME"];

/// The longest pause between two looks at a program.
const LOOK: Duration = Duration::from_millis(8);

/// So long a program that is ended has to tidy up.
const GRACE: Duration = Duration::from_millis(300);

/// So long what a program printed is waited for when it has ended: what it started elsewhere may hold the streams.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Runs a program to its end, or ends it.
pub(super) fn run(roots: &Roots, command: &Command) -> Result<Ran> {
    let folder = folder(roots, &command.folder)?;
    let mut started = std::process::Command::new(&command.program);
    started.args(&command.arguments).current_dir(folder).env_clear().process_group(0);
    for name in PASSED {
        if let Some(value) = place::env(name) {
            started.env(name, value);
        }
    }
    started.envs(command.env.iter().map(|(name, value)| (name, value)));
    started.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = started.spawn().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Diagnostic::new(Code::WORLD, format!("there is no program `{}`", command.program)),
        _ => Diagnostic::new(Code::WORLD, format!("`{}` cannot be run: {}", command.program, reason(&error))),
    })?;
    Running::new(child, command).wait()
}

/// Whether there is a process of that number: also one of somebody else.
pub(super) fn is_alive(pid: u32) -> bool {
    let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return false };
    !matches!(test_kill_process(pid), Err(rustix::io::Errno::SRCH)) && !is_zombie(pid)
}

/// Whether a process ended and its parent has not heard of it yet: it holds nothing any more. Where there is no
/// `/proc` nobody can tell.
fn is_zombie(pid: Pid) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).unwrap_or_default();
    // The name of the program stands in parentheses, and may hold some.
    stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('Z'))
}

/// The folder a program runs in: below a root, and no symlink leads outside.
pub(super) fn folder(roots: &Roots, given: &str) -> Result<String> {
    let no_folder = || Diagnostic::new(Code::WORLD, format!("there is no folder `{given}`"));
    let (dir, within) = roots.find(given)?;
    let found = dir.ok_or_else(no_folder)?;
    if within != "." && !found.metadata(&within).is_ok_and(|metadata| metadata.is_dir()) {
        return Err(no_folder());
    }
    Ok(path::join(roots.main(), &roots.spelled(given)))
}

struct Running<'a> {
    child: Child,
    command: &'a Command,
    output: Option<Collected>,
    errors: Option<Collected>,
}

impl<'a> Running<'a> {
    fn new(mut child: Child, command: &'a Command) -> Self {
        if let Some(mut input) = child.stdin.take() {
            let bytes = command.input.clone();
            // A program that does not read its input must not keep the call waiting.
            std::thread::spawn(move || {
                let _it_did_not_want_it = input.write_all(&bytes);
            });
        }
        let output = child.stdout.take().map(|stream| collect(stream, command.most));
        let errors = child.stderr.take().map(|stream| collect(stream, command.most));
        Self { child, command, output, errors }
    }

    //= docs/spec.md#writes
    //# A program MUST end, with all that it started, when its time is over or the call is cancelled.
    fn wait(mut self) -> Result<Ran> {
        let (began, mut pause) = (Instant::now(), Duration::from_micros(500));
        let status = loop {
            match self.child.try_wait() {
                Ok(Some(status)) => break status,
                Ok(None) => {}
                Err(error) => {
                    return Err(Diagnostic::new(
                        Code::WORLD,
                        format!("`{}`: {}", self.command.program, reason(&error)),
                    ));
                }
            }
            (self.command.stop)()?;
            if began.elapsed() > self.command.time {
                let message =
                    format!("`{}` ran for {} s and was ended", self.command.line(), began.elapsed().as_secs());
                return Err(Diagnostic::new(Code::LIMIT, message).help("give it more time by `timeout_s`"));
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(LOOK);
        };
        // What it started in the background holds the streams open: it ends with it.
        self.end_group();
        let output = taken(self.output.take());
        let errors = taken(self.errors.take());
        if output.len().max(errors.len()) > self.command.most {
            let message = format!("`{}` printed more than {} kB", self.command.line(), self.command.most >> 10);
            return Err(Diagnostic::new(Code::LIMIT, message).help("ask it for less"));
        }
        let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
        Ok(Ran { code: i64::from(code), output, errors })
    }

    fn end_group(&self) {
        self.tell_group(Signal::KILL);
    }

    fn tell_group(&self, signal: Signal) {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        if let Some(pid) = pid {
            let _already_ended = kill_process_group(pid, signal);
        }
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(Some(_))) {
            return;
        }
        //= docs/spec.md#writes
        //# A git that is ended MUST leave no lock of its own behind.
        // It is asked first: git takes its lock files away then.
        self.tell_group(Signal::TERM);
        let asked = Instant::now();
        while asked.elapsed() < GRACE && !matches!(self.child.try_wait(), Ok(Some(_))) {
            std::thread::sleep(LOOK);
        }
        self.end_group();
        let _ended = self.child.wait();
    }
}

/// What a stream gave so far, and word of its end.
struct Collected {
    bytes: Arc<Mutex<Vec<u8>>>,
    ended: Receiver<()>,
}

/// Reads one byte more than is allowed, and lets the rest pass by.
fn collect(mut stream: impl Read + Send + 'static, most: usize) -> Collected {
    let bytes: Arc<Mutex<Vec<u8>>> = Arc::default();
    let (tell, ended) = channel();
    let own = Arc::clone(&bytes);
    std::thread::spawn(move || {
        let mut part = [0; 16 * 1024];
        loop {
            let count = match stream.read(&mut part) {
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => break,
            };
            let mut bytes = own.lock().unwrap_or_else(PoisonError::into_inner);
            let room = (most + 1).saturating_sub(bytes.len());
            bytes.extend_from_slice(&part[..count.min(room)]);
            if count == 0 {
                break;
            }
        }
        let _nobody_waits = tell.send(());
    });
    Collected { bytes, ended }
}

fn taken(collected: Option<Collected>) -> Vec<u8> {
    let Some(Collected { bytes, ended }) = collected else { return Vec::new() };
    let _what_is_there_counts = ended.recv_timeout(LAST_WORDS);
    std::mem::take(&mut *bytes.lock().unwrap_or_else(PoisonError::into_inner))
}
