//! Where this process stands: its folders, its environment, its clock.

use super::real_path::real_path;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::world::path;
use std::time::{SystemTime, UNIX_EPOCH};

/// The working directory, absolute.
pub fn current_folder() -> Result<String> {
    let folder = std::env::current_dir().map_err(|error| {
        Diagnostic::new(Code::WORLD, format!("the working directory cannot be found: {}", super::roots::reason(&error)))
    })?;
    folder.into_os_string().into_string().map_err(|folder| {
        let message = format!("the path of the working directory is no UTF-8: `{}`", folder.to_string_lossy());
        Diagnostic::new(Code::UTF8, message)
    })
}

/// `$HOME`, if it is absolute.
pub fn home_folder() -> Option<String> {
    env("HOME").filter(|home| path::is_absolute(home)).map(|home| path::clean(&home))
}

/// Where the user's configuration lies: `$XDG_CONFIG_HOME/toolsd`, else `~/.config/toolsd`
/// (XDG Base Directory Specification: a variable that is not absolute does not count).
pub fn config_folder() -> Option<String> {
    base("XDG_CONFIG_HOME", ".config")
}

/// Where trust and the like are kept: `$XDG_STATE_HOME/toolsd`, else `~/.local/state/toolsd`.
pub fn state_folder() -> Option<String> {
    base("XDG_STATE_HOME", ".local/state")
}

/// Where trust is kept: `~/.local/state/toolsd`, whatever `XDG_STATE_HOME` says. A person's shell and the client that starts
/// a server seldom have the same variables, and both must find the same record. Without a home folder: [`state_folder`].
pub fn trust_folder() -> Option<String> {
    //= docs/spec.md#trust
    //# Trust MUST be found whatever `XDG_STATE_HOME` says.
    let home = home_folder().or_else(system_home).map(|home| path::join(&home, TRUST_BELOW_HOME));
    home.or_else(state_folder)
}

/// Where trust is kept, from the home folder.
pub const TRUST_BELOW_HOME: &str = ".local/state/toolsd";
/// Where the user's configuration lies, from the home folder, if no variable says otherwise.
pub const CONFIG_BELOW_HOME: &str = ".config/toolsd";

/// The home folder of this user in `/etc/passwd`: no variable of the environment has a say in it.
pub(super) fn system_home() -> Option<String> {
    let user = rustix::process::geteuid().as_raw().to_string();
    let known = std::fs::read_to_string("/etc/passwd").ok()?;
    let fields = known.lines().map(|line| line.split(':').collect::<Vec<_>>());
    let own = fields.into_iter().find(|fields| fields.get(2) == Some(&user.as_str()))?;
    own.get(5).filter(|home| path::is_absolute(home)).map(|home| path::clean(home))
}

/// Whether a path, absolute or below `~`, lies in a folder of the host's own: the user's packs, trust, locks, unfinished
/// writes. Whoever writes there is trusted without having been shown.
pub fn is_hosts_own(path: &str) -> bool {
    // A disk may not tell upper case from lower case.
    let lower = |path: String| path.to_lowercase();
    let absolute = match (path.strip_prefix("~/"), home_folder()) {
        (Some(rest), Some(home)) => path::join(&home, rest),
        _ => path::clean(path),
    };
    let absolute = lower(absolute);
    // A link of the user's may lead there under another name.
    own_folders().any(|folder| {
        path::is_below(&absolute, &lower(real_path(&folder))) || path::is_below(&absolute, &lower(folder))
    })
}

/// The folders of the host's own, whether they are there or not.
pub(super) fn own_folders() -> impl Iterator<Item = String> {
    [config_folder(), state_folder(), trust_folder()].into_iter().flatten()
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
