//! Facts from the operating system: folders, environment, clock, live processes, and errors as diagnostics.

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::world::path;
use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;
use rustix::process::{Pid, Resource, getrlimit, test_kill_process};
use std::error::Error;
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::sync::RwLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// How many free descriptors a server needs at its start: for its runtime, and for a call.
const MIN_FREE_DESCRIPTORS: usize = 24;

/// How often there was no free descriptor since the process began.
static MISSED: AtomicU64 = AtomicU64::new(0);

/// Write permission for the group or for others.
pub(super) const WRITABLE_BY_OTHERS: u32 = 0o022;

/// The working directory, absolute.
pub fn current_folder() -> Result<String> {
    let folder = std::env::current_dir().map_err(|error| {
        Diagnostic::new(Code::WORLD, format!("the working directory cannot be found: {}", reason(&error)))
    })?;
    folder.into_os_string().into_string().map_err(|folder| {
        let message = format!("the path of the working directory is not valid UTF-8: `{}`", folder.to_string_lossy());
        Diagnostic::new(Code::UTF8, message)
    })
}

/// `$HOME`, if it is absolute, otherwise the home folder that the system has for this user: without the variable, every
/// command finds the same folders.
pub fn home_folder() -> Option<String> {
    env("HOME").filter(|home| path::is_absolute(home)).or_else(system_home).map(|home| path::clean(&home))
}

/// Where the user's configuration is: `$XDG_CONFIG_HOME/toolsd`, or by default `~/.config/toolsd` (XDG Base Directory
/// Specification: a variable that is not absolute does not count).
pub fn config_folder() -> Option<String> {
    base("XDG_CONFIG_HOME", ".config")
}

/// Where trust and similar state are kept: `$XDG_STATE_HOME/toolsd`, or by default `~/.local/state/toolsd`.
pub fn state_folder() -> Option<String> {
    base("XDG_STATE_HOME", ".local/state")
}

/// Where toolsd keeps the contents of layers: `$XDG_DATA_HOME/toolsd`, or by default `~/.local/share/toolsd`.
pub fn data_folder() -> Option<String> {
    base("XDG_DATA_HOME", ".local/share")
}

/// Where trust is kept: `~/.local/state/toolsd`, whatever `XDG_STATE_HOME` says. A person's shell and the client that
/// starts a server rarely have the same variables, and both must find the same record. Without a home folder:
/// [`state_folder`].
pub fn trust_folder() -> Option<String> {
    home_folder().map(|home| path::join(&home, TRUST_BELOW_HOME)).or_else(state_folder)
}

/// Where trust is kept, from the home folder.
pub const TRUST_BELOW_HOME: &str = ".local/state/toolsd";
/// Where the user's configuration is, from the home folder, unless a variable changes it.
pub const CONFIG_BELOW_HOME: &str = ".config/toolsd";

/// The home folder of this user in `/etc/passwd`, independent of variables of the environment.
pub(super) fn system_home() -> Option<String> {
    let user = rustix::process::geteuid().as_raw().to_string();
    let known = std::fs::read_to_string("/etc/passwd").ok()?;
    let fields = known.lines().map(|line| line.split(':').collect::<Vec<_>>());
    let own = fields.into_iter().find(|fields| fields.get(2) == Some(&user.as_str()))?;
    own.get(5).filter(|home| path::is_absolute(home)).map(|home| path::clean(home))
}

/// Whether a path, absolute or below `~`, is in one of toolsd's own folders: the user's packs, trust, locks, unfinished
/// writes. What is written there is trusted without being shown to the user.
pub fn is_hosts_own(path: &str) -> bool {
    meets_own_folder(path, path::is_below)
}

/// Whether a path is in one of toolsd's own folders, or contains one.
pub fn holds_hosts_own(path: &str) -> bool {
    meets_own_folder(path, |path, own| path::is_below(path, own) || path::is_below(own, path))
}

fn meets_own_folder(path: &str, meets: fn(&str, &str) -> bool) -> bool {
    // A disk may ignore case.
    let lower = |path: String| path.to_lowercase();
    let absolute = match (path.strip_prefix("~/"), home_folder()) {
        (Some(rest), Some(home)) => path::join(&home, rest),
        _ => path::clean(path),
    };
    let absolute = lower(absolute);
    // A link of the user's may lead there under another name.
    own_folders().any(|folder| meets(&absolute, &lower(real_path(&folder))) || meets(&absolute, &lower(folder)))
}

/// The folders of toolsd itself, whether they exist or not.
pub(super) fn own_folders() -> impl Iterator<Item = String> {
    [config_folder(), state_folder(), trust_folder(), data_folder()].into_iter().flatten()
}

fn base(variable: &str, below_home: &str) -> Option<String> {
    let given = env(variable).filter(|folder| path::is_absolute(folder));
    let folder = given.or_else(|| home_folder().map(|home| path::join(&home, below_home)))?;
    Some(path::join(&folder, "toolsd"))
}

pub(super) fn env(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

pub(super) fn env_names() -> Vec<String> {
    let mut names: Vec<String> = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok()).collect();
    names.sort_unstable();
    names
}

pub(super) fn now_ms() -> i64 {
    match SystemTime::now().duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_millis()).unwrap_or(i64::MAX),
        Err(before) => -i64::try_from(before.duration().as_millis()).unwrap_or(i64::MAX),
    }
}

/// The path without symlinks, as far as it exists.
pub(super) fn real_path(given: &str) -> String {
    let mut rest = String::new();
    let mut folder = path::clean(given);
    loop {
        let found = std::fs::canonicalize(&folder).ok().and_then(|found| found.into_os_string().into_string().ok());
        match found {
            Some(found) if rest.is_empty() => return found,
            Some(found) => return path::join(&found, &rest),
            None if folder.len() <= 1 => return path::clean(given),
            None => {
                let name = path::name(&folder).to_owned();
                rest = if rest.is_empty() { name } else { path::join(&name, &rest) };
                folder = match path::folder(&folder) {
                    "" | "." => "/".to_owned(),
                    above => above.to_owned(),
                };
            }
        }
    }
}

/// Where a path leads, free of links; `None` if it does not exist.
pub(super) fn canonical_path(path: &str) -> Option<String> {
    std::fs::canonicalize(path).ok()?.into_os_string().into_string().ok()
}

/// Creates a folder that only this user enters, and missing ones above it. An existing one keeps its permissions,
/// except write permission of others.
pub fn make_private_folder(path: &str) -> Result<()> {
    private_folder(path).map_err(|error| path_error(path, "made", &error))
}

//= docs/spec.md#robustness
//# The folders that toolsd creates for itself MUST be accessible only to the user, whatever the umask is.
/// The same with the error of the system.
pub(super) fn private_folder(path: &str) -> io::Result<()> {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path)?;
    close_to_others(path)
}

/// Takes the permission to write from the group and from others, where they have it.
pub fn take_write_from_others(path: &str) -> Result<()> {
    close_to_others(path).map_err(|error| path_error(path, "changed", &error))
}

fn close_to_others(path: &str) -> io::Result<()> {
    let found = std::fs::symlink_metadata(path)?;
    let mode = found.permissions().mode();
    if found.is_symlink() || mode & WRITABLE_BY_OTHERS == 0 {
        return Ok(());
    }
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode & !WRITABLE_BY_OTHERS))
}

/// Whether one of toolsd's own folders is in the workspace, and not where the system's home folder has it: then a
/// variable of the environment leads there, and what is found is the workspace's.
pub fn is_misled(folder: &str, workspace: &str, below_home: &str) -> bool {
    let (folder, workspace) = (real_path(folder), real_path(workspace));
    if !path::is_below(&folder, &workspace) {
        return false;
    }
    let home = system_home().or_else(home_folder);
    home.is_none_or(|home| real_path(&path::join(&home, below_home)) != folder)
}

/// Whether there is a live process of that number, also of another user.
pub(super) fn is_alive(pid: u32) -> bool {
    let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return false };
    !matches!(test_kill_process(pid), Err(Errno::SRCH)) && !is_zombie(pid)
}

/// Whether a process ended and its parent has not waited for it yet: it holds nothing any more. Returns `false` without
/// `/proc`, where this is unknown.
fn is_zombie(pid: Pid) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).unwrap_or_default();
    // The name of the program is in parentheses, and may contain some.
    stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('Z'))
}

/// Whether a path was refused since a symlink leads out: that error has no system number (`cap-std`, [`escape_error`]).
pub(super) fn is_escape(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::PermissionDenied && error.raw_os_error().is_none()
}

/// The error for a symlink that leads out, which [`is_escape`] recognizes.
pub(super) fn escape_error() -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, "a symlink leads outside")
}

/// The diagnostic for a failed operation on `path`; `act` is its past participle.
pub(super) fn path_error(path: &str, act: &str, error: &io::Error) -> Box<Diagnostic> {
    if is_escape(error) {
        return Diagnostic::new(Code::WORLD, format!("`{path}` leads outside of its root through a symlink"))
            .help("make the link relative and keep its target inside, or grant the target's folder with `--root DIR`");
    }
    if error.kind() == io::ErrorKind::NotFound {
        return Diagnostic::new(Code::WORLD, format!("there is no file `{path}`"));
    }
    Diagnostic::new(Code::WORLD, format!("`{path}` cannot be {act}: {}", reason(error)))
}

/// The system's message for an error, without its number.
pub(super) fn reason(error: &io::Error) -> String {
    if is_shortage(error) {
        return advice();
    }
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_lowercase()
}

/// Whether an error means that nothing exists at the path.
pub(super) fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::InvalidFilename)
}

/// Whether an error means that there is no free descriptor, here or on the whole machine. Counts it.
pub(super) fn is_shortage(error: &io::Error) -> bool {
    let is_one = [Errno::MFILE, Errno::NFILE].iter().any(|one| error.raw_os_error() == Some(one.raw_os_error()));
    if is_one {
        MISSED.fetch_add(1, Ordering::Relaxed);
    }
    is_one
}

/// How often there was no free descriptor since the process began: files that could not be read meanwhile may exist.
pub fn shortages() -> u64 {
    MISSED.load(Ordering::Relaxed)
}

/// The advice that is given with such an error.
pub(super) fn advice() -> String {
    let most = getrlimit(Resource::Nofile).current;
    let most =
        most.map_or_else(String::new, |most| format!(" (at most {most}: raise it by `ulimit -n`, or call again)"));
    format!("too many open files{most}")
}

/// Refuses to begin with too few descriptors.
///
/// # Errors
/// There are not [`MIN_FREE_DESCRIPTORS`] left.
//= docs/spec.md#robustness
//# A server or a command that cannot get the descriptors or the threads that it needs MUST report that and exit.
pub fn check_descriptors() -> Result<()> {
    let one = || open("/", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
    let taken: std::result::Result<Vec<_>, Errno> = (0..MIN_FREE_DESCRIPTORS).map(|_| one()).collect();
    match taken.map_err(io::Error::from) {
        Err(error) if is_shortage(&error) => {
            let message = format!("the process has too few descriptors: {}", advice());
            Err(Diagnostic::new(Code::WORLD, message)
                .help(format!("a server needs {MIN_FREE_DESCRIPTORS} in addition to those that are open")))
        }
        // What else is wrong shows where it matters.
        _ => Ok(()),
    }
}

/// The number of threads needed at once when a command begins, in addition to those that read files in parallel: for
/// the protocol, the watchdog, calls, and what looks at the disk.
const MIN_THREADS: usize = 12;

/// Refuses to begin with too few threads: a later failure to start one cannot be reported.
///
/// # Errors
/// The system does not allow [`MIN_THREADS`] in addition to those of the pool in which files are read.
pub fn check_threads() -> Result<()> {
    // An existing pool is not an error.
    let has_pool =
        rayon::ThreadPoolBuilder::new().build_global().map_or_else(|error| error.source().is_none(), |()| true);
    let gate = RwLock::new(());
    let has_threads = std::thread::scope(|scope| {
        let closed = gate.write();
        let start = |_| std::thread::Builder::new().spawn_scoped(scope, || drop(gate.read()));
        let started: io::Result<Vec<_>> = (0..MIN_THREADS).map(start).collect();
        drop(closed);
        started.is_ok()
    });
    if has_pool && has_threads {
        return Ok(());
    }
    Err(Diagnostic::new(Code::WORLD, "the system allows this process too few threads")
        .help("raise the limit on the processes of this user (`ulimit -u`), or that of the container"))
}

/// Makes a write beyond the maximum file size (`ulimit -f`) fail for its caller. Otherwise the system would kill the
/// whole process, and with it the calls of others.
//= docs/spec.md#robustness
//# When the process has no descriptors left, or may not extend a file, only the affected call MUST fail, with
//# the reason.
#[allow(unsafe_code, reason = "std has no way to ignore a signal; to ignore one runs no code of ours")]
pub fn fail_at_largest_file() {
    // SAFETY: the number is one of the system's, and `SIG_IGN` is not a function that is called.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
}
