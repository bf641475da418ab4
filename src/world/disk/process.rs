//! Runs programs: without a shell, with few variables, in a process group that ends with the call. Also the shutdown of
//! toolsd, which ends its programs first.

use super::confine::{self, HostExitSignal, ProgramStart, StartedProgram};
use super::handle::Disk;
use super::kernel::end_of;
use super::program;
use super::roots::Roots;
use super::system::{self, reason};
use super::temporary::{self, TemporaryFolder};
use super::write::open_parent;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard;
use crate::world::path;
use crate::world::run::{ProgramCommand, ProgramOutput, RequiredGrant};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitIdStatus, kill_process_group, test_kill_process_group, waitid,
};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The variables that a program gets from this process: where programs are, who asks, in which language.
const PASSED: [&str; 7] = ["PATH", "HOME", "USER", "LOGNAME", "LANG", "TZ", "XDG_CONFIG_HOME"];

/// The help text for a program that ran for too long.
const MORE_TIME: &str = "give it more time by `timeout_ms`";

/// The maximum pause between two checks of a program.
const MAX_POLL_INTERVAL: Duration = Duration::from_millis(8);

/// How soon a program is checked again after it printed or closed its streams.
const POLL_INTERVAL_AFTER_OUTPUT: Duration = Duration::from_micros(20);

/// How long a git that is asked to end has to take its locks away.
const GIT_GRACE_PERIOD: Duration = Duration::from_millis(300);

/// How long another program has to clean up: its call is answered when it is gone, and not much later than it should
/// be.
const PROGRAM_GRACE_PERIOD: Duration = Duration::from_millis(150);

/// How long to wait for the output of a program that has ended: what it started may still hold the streams.
const OUTPUT_DRAIN_TIMEOUT: Duration = Duration::from_secs(1);

/// How long to wait for killed processes to go.
const KILL_TIMEOUT: Duration = Duration::from_millis(500);

/// How long a shutdown waits for programs: they are killed, and git may finish what it writes.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(4);

/// How long git may continue during a shutdown before it is asked to end.
const GIT_LAST_WORK: Duration = Duration::from_secs(2);

/// Runs a program to its end, or ends it.
pub(super) fn run(disk: &Disk, command: &ProgramCommand) -> Result<ProgramOutput> {
    let _until_it_is_cleared_up = ActiveProgram::begin()?;
    let program = match &command.confinement.judged {
        Some(judged) => judged.clone(),
        None => program::find(&command.program)?,
    };
    let folder = folder_to_run_in(&disk.roots, &command.folder)?;
    let is_git = command.needs != RequiredGrant::Program;
    let temporary = if is_git { None } else { Some(temporary_folder()?) };
    let temporary_path = temporary.as_ref().map(|folder| folder.path().to_string_lossy().into_owned());
    if !is_git {
        command.confinement.write.iter().for_each(|at| make_granted_folder(disk, at));
    }
    let start = ProgramStart {
        path: &program.path,
        files: &program.files,
        name: &command.program,
        arguments: &command.arguments,
        env: &variables(command, temporary_path.as_deref()),
        folder: &folder,
        confinement: &command.confinement,
        temporary: temporary_path.as_deref(),
        is_git,
        roots: &disk.roots,
    };
    let mut notes = Vec::new();
    let is_confined = !is_git && disk.sandbox().is_confining();
    let group = Arc::new(Group::default());
    let _waiting = (!is_git).then(|| group.awaited(is_confined.then(|| still_running(command))));
    let ended = confine::start(&disk.sandbox(), &start, command).and_then(|mut started| {
        if !is_git {
            notes.extend(absent_notes(&mut started, &command.confinement.write));
        }
        RunningProgram::new(started, command, group).wait()
    });
    drop(temporary);
    notes.extend(is_confined.then(|| confinement_note(&disk.roots, command, &ended)).flatten());
    with_notes(ended, notes)
}

//= docs/spec.md#programs
//# A folder of the workspace that a program may write MUST be created before the program starts.
/// Creates a granted folder of the workspace. What has a suffix is taken for a file. A note says what is still absent.
fn make_granted_folder(disk: &Disk, at: &str) {
    let is_file = path::name(at).trim_start_matches('.').contains('.');
    if !is_file
        && path::is_below(at, disk.roots.main())
        && matches!(disk.roots.start(at), Ok(Some(found)) if !found.dir.exists(&found.within))
    {
        let _noted_as_absent = open_parent(disk, &path::join(at, "x"), Some(&mut Vec::new()));
    }
}

/// The folder for the temporary files of a program.
fn temporary_folder() -> Result<TemporaryFolder> {
    TemporaryFolder::new(temporary::PROGRAM_FOLDER_PREFIX)
        .map_err(|error| Diagnostic::new(Code::WORLD, format!("no temporary folder can be made: {}", reason(&error))))
}

/// The message for a call that ends while a program runs. A program that waits for a network it does not have seems to
/// do nothing.
fn still_running(command: &ProgramCommand) -> String {
    let network = if command.confinement.network { "" } else { " and without the network" };
    format!("`{}` was still running, confined{network}", command.program)
}

//= docs/spec.md#programs
//# A program that fails because of its confinement MUST be reported with what it may access and the grant
//# that allows it.
/// Describes the confinement of a program that failed. The program's own output says why it failed.
fn confinement_note(roots: &Roots, command: &ProgramCommand, ended: &Result<ProgramOutput>) -> Option<String> {
    let has_failed = match ended {
        Ok(ran) => ran.code != 0,
        Err(error) => error.help.as_deref() == Some(MORE_TIME),
    };
    let confinement = &command.confinement;
    let named = |places: &[String]| match places {
        [] => "nothing".to_owned(),
        places => places.iter().map(|at| format!("`{}`", roots.spelled(at))).collect::<Vec<_>>().join(" "),
    };
    let network = if confinement.network { "had the network" } else { "had no network" };
    let name = &command.program;
    has_failed.then(|| {
        format!(
            "`{name}` ran confined: in addition to the system's programs and its own `TMPDIR` it read {}, wrote {}, started {}, and {network}; more is granted by `run = [{{ program = {name:?}, read = […], write = […], execute = […], network = … }}]`",
            named(&confinement.read), named(&confinement.write), named(&confinement.start)
        )
    })
}

/// Notes for the caller about granted paths that do not exist.
fn absent_notes(started: &mut StartedProgram, granted: &[String]) -> Vec<String> {
    let absent = started.absent.drain(..).filter(|at| granted.contains(at));
    let reported = |at| format!("`{at}` does not exist: the program could not write it; create it first");
    absent.map(reported).collect()
}

/// Adds the notes of toolsd to the outcome.
fn with_notes(ended: Result<ProgramOutput>, notes: Vec<String>) -> Result<ProgramOutput> {
    match ended {
        Ok(ran) => Ok(ProgramOutput { notes, ..ran }),
        Err(error) if notes.is_empty() => Err(error),
        Err(mut error) => {
            error.message = format!("{}; {}", error.message, notes.join("; "));
            Err(error)
        }
    }
}

/// All variables that a program gets.
//= docs/spec.md#secrets
//# Scripts and the programs that they start MUST NOT see a secret of the server.
fn variables(command: &ProgramCommand, temporary: Option<&str>) -> Vec<(String, String)> {
    let passed = PASSED.iter().filter_map(|name| Some(((*name).to_owned(), system::env(name)?)));
    let mut variables: Vec<(String, String)> = passed.collect();
    // The one that is set last counts.
    let own = temporary.map(|folder| ("TMPDIR".to_owned(), folder.to_owned()));
    for (name, value) in own.into_iter().chain(command.env.iter().cloned()) {
        if name == "TMPDIR" && Some(value.as_str()) != temporary
            || command.needs == RequiredGrant::Program
                && never_set(&name)
                && system::env(&name).is_none_or(|own| own != value)
        {
            continue;
        }
        variables.retain(|(known, _)| *known != name);
        variables.push((name, value));
    }
    variables
}

/// Variables that choose other programs and libraries: only toolsd's own values reach a program that a script runs.
fn never_set(name: &str) -> bool {
    name == "PATH" || name.starts_with("LD_") || name.starts_with("DYLD_")
}

/// Formats a duration, a short one with tenths or hundredths.
fn seconds(time: Duration) -> String {
    match time.as_secs() {
        0 => format!("{:.2} s", time.as_secs_f64()),
        1..=9 => format!("{:.1} s", time.as_secs_f64()),
        whole => format!("{whole} s"),
    }
}

/// The folder a program runs in: below a root, and no symlink leads outside.
pub(super) fn folder_to_run_in(roots: &Roots, given: &str) -> Result<String> {
    let no_folder = || Diagnostic::new(Code::WORLD, format!("there is no folder `{given}`"));
    let start = roots.start(given)?.ok_or_else(no_folder)?;
    if start.within != "." && !start.dir.metadata(&start.within).is_ok_and(|metadata| metadata.is_dir()) {
        return Err(no_folder());
    }
    Ok(path::join(roots.main(), &roots.spelled(given)))
}

/// The group of a program and of all that it starts, as long as its number is taken.
#[derive(Default)]
struct Group(Mutex<Option<Pid>>);

impl Group {
    fn held(&self) -> MutexGuard<'_, Option<Pid>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    //= docs/spec.md#calls
    //# A call that still runs after it was answered MUST NOT affect the disk, the graph, the memory of its
    //# pack or the client.
    /// Has the watchdog kill it before it answers on the call's behalf.
    fn awaited(self: &Arc<Self>, what: Option<String>) -> guard::WaitNote {
        let group = Arc::clone(self);
        guard::note_wait(what, move || group.kill())
    }

    /// Kills all of it. The system lets no process of it start another one meanwhile.
    fn kill(&self) {
        if let Some(pid) = *self.held() {
            let _already_ended = kill_process_group(pid, Signal::KILL);
        }
    }

    /// Prevents later kills: its number may soon belong to another process.
    fn forget(&self) {
        self.held().take();
    }
}

struct RunningProgram<'a> {
    pid: Pid,
    group: Arc<Group>,
    command: &'a ProgramCommand,
    /// Its standard output and standard error.
    streams: [CapturedStream; 2],
    /// Whether it is a process still, or a zombie that has not been waited for.
    is_ours: bool,
    /// What can be read when it has ended; where the system has no such thing it is looked again and again.
    end: Option<OwnedFd>,
    /// What ends it if this process ends first.
    _tether: Option<HostExitSignal>,
}

impl<'a> RunningProgram<'a> {
    fn new(started: StartedProgram, command: &'a ProgramCommand, group: Arc<Group>) -> Self {
        *group.held() = Some(started.pid);
        let mut input = File::from(started.input);
        if !command.input.is_empty() {
            let bytes = command.input.clone();
            // A program that does not read its input must not keep the call waiting. If there is no thread for it, the
            // program finds its input closed.
            let _without_input = std::thread::Builder::new().spawn(move || {
                let _it_did_not_want_it = input.write_all(&bytes);
            });
        }
        let streams = [started.output, started.errors].map(|stream| CapturedStream::new(stream, command.most));
        let end = end_of(started.pid);
        Self { pid: started.pid, group, command, streams, is_ours: true, end, _tether: started.tether }
    }

    /// Whether it has ended, and how. It is not reaped, so no other process can get the number of its group.
    fn look(&self) -> io::Result<Option<WaitIdStatus>> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        Ok(waitid(WaitId::Pid(self.pid), options)?)
    }

    //= docs/spec.md#programs
    //# A program MUST end, with everything that it started, when its call ends, is cancelled or runs out of
    //# time.
    fn wait(mut self) -> Result<ProgramOutput> {
        let (began, mut pause) = (Instant::now(), Duration::from_micros(500));
        let status = loop {
            match self.look() {
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
            // Git is let finish for a while: it would leave half of what it writes.
            if is_ending(self.command.needs != RequiredGrant::Program) {
                return Err(shutdown_error());
            }
            //= docs/spec.md#programs
            //# A program MUST have limits of memory, file size, number of processes and output.
            // What changes a repository may finish. The output of any other program beyond the limit would be lost
            // anyway.
            if self.overflows() && matches!(self.command.needs, RequiredGrant::Program | RequiredGrant::ReadGit) {
                return Err(self.too_much(" and was stopped"));
            }
            if began.elapsed() > self.command.time {
                let message = format!("`{}` ran for {} and was stopped", self.command.line(), seconds(began.elapsed()));
                return Err(Diagnostic::new(Code::LIMIT, message).help(MORE_TIME));
            }
            pause = self.listen(pause);
        };
        self.end = None;
        // A process that it started in the background holds the streams open: it ends with the program.
        self.end_group();
        let ended = Instant::now();
        while self.streams.iter().any(|stream| stream.is_open) && ended.elapsed() < OUTPUT_DRAIN_TIMEOUT {
            self.listen(MAX_POLL_INTERVAL);
        }
        if self.overflows() {
            return Err(self.too_much(""));
        }
        let [output, errors] = self.streams.each_mut().map(|stream| std::mem::take(&mut stream.bytes));
        let code = status.exit_status().unwrap_or_else(|| 128 + status.terminating_signal().unwrap_or(0));
        Ok(ProgramOutput { code: i64::from(code), output, errors, notes: Vec::new() })
    }

    /// Whether it printed more than the caller takes.
    fn overflows(&self) -> bool {
        self.streams.iter().any(|stream| stream.bytes.len() > self.command.most)
    }

    fn too_much(&self, ended: &str) -> Box<Diagnostic> {
        let most = self.command.most >> 10;
        let message = format!("`{}` printed more than {most} kB{ended}", self.command.line());
        Diagnostic::new(Code::LIMIT, message).help("ask it for less, or let it write a file")
    }

    /// Reads what the program prints, for `pause` at most. Returns how long to listen next.
    fn listen(&mut self, pause: Duration) -> Duration {
        let mut open: Vec<&mut CapturedStream> = self.streams.iter_mut().filter(|stream| stream.is_open).collect();
        // With `end`, its exit interrupts the wait, so there is no need to poll.
        let pause = if self.end.is_some() { MAX_POLL_INTERVAL } else { pause };
        if open.is_empty() && self.end.is_none() {
            std::thread::sleep(pause);
            return (pause * 2).min(MAX_POLL_INTERVAL);
        }
        let asked = open.iter().map(|stream| PollFd::new(&stream.file, PollFlags::IN));
        let end = self.end.iter().map(|end| PollFd::new(end, PollFlags::IN));
        let mut asked: Vec<PollFd<'_>> = asked.chain(end).collect();
        let timeout = Timespec { tv_sec: 0, tv_nsec: i64::from(pause.subsec_nanos()) };
        let reported = poll(&mut asked, Some(&timeout)).unwrap_or(0);
        let ready: Vec<bool> = asked.iter().map(|fd| !fd.revents().is_empty()).collect();
        open.iter_mut().zip(ready).filter(|(_, ready)| *ready).for_each(|(stream, _)| stream.read());
        if reported == 0 { (pause * 2).min(MAX_POLL_INTERVAL) } else { POLL_INTERVAL_AFTER_OUTPUT }
    }

    /// Kills the whole group, and waits until no process of it is left, so that their effects are complete.
    fn end_group(&mut self) {
        self.group.kill();
        self.group.forget();
        if std::mem::take(&mut self.is_ours) {
            let _ended = waitid(WaitId::Pid(self.pid), WaitIdOptions::EXITED);
        }
        let asked = Instant::now();
        while asked.elapsed() < KILL_TIMEOUT && test_kill_process_group(self.pid).is_ok() {
            // If this process is the first one of a container, orphans are our children.
            let _none_of_ours = waitid(WaitId::Pgid(Some(self.pid)), WaitIdOptions::EXITED | WaitIdOptions::NOHANG);
            std::thread::sleep(Duration::from_micros(200));
        }
    }
}

impl Drop for RunningProgram<'_> {
    fn drop(&mut self) {
        if !self.is_ours {
            return;
        }
        //= docs/spec.md#git
        //# Git that is stopped MUST leave no lock of its own, and a stopped merge MUST leave what
        //# `merge_abort` needs.
        // It is asked first: git takes its lock files away then.
        let _already_ended = kill_process_group(self.pid, Signal::TERM);
        let asked = Instant::now();
        let grace = if self.command.needs == RequiredGrant::Program { PROGRAM_GRACE_PERIOD } else { GIT_GRACE_PERIOD };
        while asked.elapsed() < grace && matches!(self.look(), Ok(None)) {
            std::thread::sleep(MAX_POLL_INTERVAL);
        }
        self.end_group();
    }
}

/// The output of a stream so far.
struct CapturedStream {
    file: File,
    bytes: Vec<u8>,
    /// How many bytes are kept: one more than is allowed; the rest passes by.
    most: usize,
    is_open: bool,
}

impl CapturedStream {
    fn new(stream: OwnedFd, most: usize) -> Self {
        Self { file: File::from(stream), bytes: Vec::new(), most: most + 1, is_open: true }
    }

    /// Reads once what is available.
    fn read(&mut self) {
        let mut part = [0; 16 * 1024];
        match self.file.read(&mut part) {
            Ok(0) => self.is_open = false,
            Ok(count) => {
                let room = self.most.saturating_sub(self.bytes.len());
                self.bytes.extend_from_slice(&part[..count.min(room)]);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => self.is_open = false,
        }
    }
}

/// How many programs run or are not yet cleared up behind, and whether the process is about to end.
struct ShutdownState {
    count: usize,
    ends: Option<Instant>,
}

static WORK: Mutex<ShutdownState> = Mutex::new(ShutdownState { count: 0, ends: None });
static CHANGED: Condvar = Condvar::new();

fn shutdown_state() -> MutexGuard<'static, ShutdownState> {
    WORK.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Counts a program as active, from its preparation until it is cleared up behind it (until this is dropped).
pub(super) struct ActiveProgram(());

impl ActiveProgram {
    /// # Errors
    /// The process ends.
    pub(super) fn begin() -> Result<Self> {
        let mut work = shutdown_state();
        if work.ends.is_some() {
            return Err(shutdown_error());
        }
        work.count += 1;
        Ok(Self(()))
    }
}

impl Drop for ActiveProgram {
    fn drop(&mut self) {
        shutdown_state().count -= 1;
        CHANGED.notify_all();
    }
}

/// Whether the process is about to end, so that a program has to end now; git a while later.
fn is_ending(is_git: bool) -> bool {
    shutdown_state().ends.is_some_and(|since| !is_git || since.elapsed() > GIT_LAST_WORK)
}

/// The error for a program that is stopped by a shutdown.
fn shutdown_error() -> Box<Diagnostic> {
    Diagnostic::new(Code::WORLD, "program stopped: the server is shutting down").help("retry after it restarts")
}

/// Ends the programs that run, and waits until their temporary folders are gone. The process is to end at once then.
//= docs/spec.md#programs
//# When the server ends, for whatever reason, its programs and everything that they started MUST end.
pub fn end_programs() {
    let mut work = shutdown_state();
    work.ends.get_or_insert_with(Instant::now);
    let _late = CHANGED.wait_timeout_while(work, SHUTDOWN_TIMEOUT, |work| work.count > 0);
}

/// Ends the process at once with this code, whatever its threads do: staged writes are lost, and the next process that
/// writes removes half-written files.
pub fn end_process(code: i32) -> ! {
    end_programs();
    std::process::exit(code)
}
