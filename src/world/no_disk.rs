//! Takes the place of `disk` on a system whose files, programs and git are not supported yet: Windows. Each request
//! fails and reports that; nothing is half done.
//!
//! What `disk` promises rests on folders that are opened one by one without following links, on owners and modes of
//! files, and on groups of processes. Until that is built and tried for another system, toolsd touches no file there.
//! It is compiled everywhere, so that a test can ask it.

pub use super::run::UserGitOutput;
pub use super::sandbox::{Mechanisms, Sandbox, SandboxStatus};

use super::effects::{Ambient, Files, Programs, World};
use super::repository::GitSetting;
use super::walk::{FolderEntry, Stat, WalkOptions, WalkResult};
use crate::diagnostic::{Code, Diagnostic, Result};
use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};
use std::sync::{Arc, OnceLock};

/// The maximum size of a file that is read whole.
pub const MAX_FILE_BYTES: u64 = 64 * 1024 * 1024;
/// Where trust would be kept, from the home folder.
pub const TRUST_BELOW_HOME: &str = ".local/state/toolsd";
/// Where the user's configuration would be, from the home folder.
pub const CONFIG_BELOW_HOME: &str = ".config/toolsd";

/// What a person can do instead.
const ADVICE: &str = "run toolsd in WSL 2 or in a Linux container, and let the client start it there: `wsl toolsd serve`; docs/shipping.md says what works on which system";

/// The error for everything that needs the disk.
fn refused(what: impl Display) -> Box<Diagnostic> {
    Diagnostic::new(Code::WORLD, format!("{what} does not work on Windows yet")).help(ADVICE)
}

/// Has no value.
#[derive(Clone, Copy)]
enum Never {}

/// The user's git, which cannot be reached.
pub struct UserGit(Never);

impl UserGit {
    /// Ends the process: there is no repository that was opened.
    pub fn of_folder(_folder: &str) -> Self {
        end_process(1)
    }

    /// Refuses to create a repository.
    ///
    /// # Errors
    /// Always.
    pub fn new() -> Result<Self> {
        Err(refused("fetching layers"))
    }

    /// Cannot be called: there is no such value.
    ///
    /// # Errors
    /// None.
    pub fn run(&self, _arguments: &[&str], _input: &[u8]) -> Result<UserGitOutput> {
        match self.0 {}
    }

    /// Cannot be called: there is no such value.
    ///
    /// # Errors
    /// None.
    pub fn write_file(&self, _name: &str, _text: &str) -> Result<std::path::PathBuf> {
        match self.0 {}
    }
}

/// A disk that cannot be opened.
pub struct Disk(Never);

impl Disk {
    /// Refuses to open a folder.
    ///
    /// # Errors
    /// Always.
    pub fn new<'a>(root: &str, _granted: impl IntoIterator<Item = &'a str>) -> Result<Self> {
        Err(refused(format_args!("opening the folder `{root}`")))
    }

    /// The same.
    ///
    /// # Errors
    /// Always.
    pub fn with_outer_roots<'a>(
        root: &str,
        granted: impl IntoIterator<Item = &'a str>,
        _outer: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self> {
        Self::new(root, granted)
    }
}

impl Files for Disk {
    fn root(&self) -> &str {
        match self.0 {}
    }

    fn stat(&self, _path: &str) -> Result<Option<Stat>> {
        match self.0 {}
    }

    fn read(&self, _path: &str) -> Result<Vec<u8>> {
        match self.0 {}
    }

    fn list(&self, _path: &str) -> Result<Vec<FolderEntry>> {
        match self.0 {}
    }

    fn walk(&self, _walk: &WalkOptions) -> Result<WalkResult> {
        match self.0 {}
    }

    fn write(&self, _path: &str, _bytes: &[u8]) -> Result<()> {
        match self.0 {}
    }

    fn remove(&self, _path: &str) -> Result<()> {
        match self.0 {}
    }
}

impl Ambient for Disk {
    fn now_ms(&self) -> i64 {
        match self.0 {}
    }

    fn uuid(&self) -> [u8; 16] {
        match self.0 {}
    }

    fn env(&self, _name: &str) -> Option<String> {
        match self.0 {}
    }

    fn env_names(&self) -> Vec<String> {
        match self.0 {}
    }
}

impl Programs for Disk {}

/// A temporary folder that cannot be made.
pub struct ScratchWorld(Never);

impl ScratchWorld {
    /// Refuses to make a folder.
    ///
    /// # Errors
    /// Always.
    pub fn new(_now_ms: Option<i64>, _env: &[(String, String)], _has_home: bool) -> Result<Self> {
        Err(refused("a case with `filesystem = \"disk\"`"))
    }

    /// The world that a case would see.
    pub fn world(&self) -> Arc<dyn World> {
        match self.0 {}
    }

    /// Would move the clock on.
    pub fn advance_ms(&self, _by: i64) {
        match self.0 {}
    }

    /// Would return all files.
    pub fn snapshot(&self) -> BTreeMap<String, Arc<[u8]>> {
        match self.0 {}
    }

    /// Would make the folder a repository.
    pub fn init_git(&self) -> Result<()> {
        match self.0 {}
    }
}

/// A user, other than this one, that can change a file: it is not known here, so everybody counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OtherWriter {
    /// Everybody who has an account.
    Everybody,
}

impl Display for OtherWriter {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str("everybody on this machine")
    }
}

/// Returns everybody.
pub fn other_writers(_path: &str) -> Vec<OtherWriter> {
    vec![OtherWriter::Everybody]
}

/// Refuses every file.
///
/// # Errors
/// Always.
pub fn check_private(path: &str) -> Result<()> {
    Err(refused(format_args!("finding out who can change `{path}`")))
}

/// Where a secret is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecretFile<'a> {
    /// In a file of the user.
    Own(&'a str),
    /// In the folder that the system's service manager made for this service.
    Credential(&'a str),
}

/// Refuses to read a secret.
///
/// # Errors
/// Always.
pub fn read_secret(what: &str, file: SecretFile<'_>) -> Result<Option<String>> {
    let (SecretFile::Own(path) | SecretFile::Credential(path)) = file;
    Err(refused(format_args!("reading the {what} file `{path}`")))
}

/// Refuses to read a secret.
///
/// # Errors
/// Always.
pub fn read_secret_descriptor(what: &str, number: u32) -> Result<String> {
    Err(refused(format_args!("reading the {what} from descriptor {number}")))
}

/// Refuses to say whether a secret is out of reach.
///
/// # Errors
/// Always.
pub fn check_secret_place(what: &str, file: &str, _folders: &[String]) -> Result<()> {
    Err(refused(format_args!("finding out who can read the {what} file `{file}`")))
}

/// Reads a secret variable of the environment.
pub fn secret_variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Refuses to name the working directory.
///
/// # Errors
/// Always.
pub fn current_folder() -> Result<String> {
    Err(refused("working with the files of a folder"))
}

/// There is none.
pub fn home_folder() -> Option<String> {
    None
}

/// There is none.
pub fn config_folder() -> Option<String> {
    None
}

/// There is none.
pub fn state_folder() -> Option<String> {
    None
}

/// There is none.
pub fn data_folder() -> Option<String> {
    None
}

/// The folder itself: nothing is looked at.
pub fn main_worktree_path(folder: &str) -> String {
    folder.to_owned()
}

/// There is none.
pub fn trust_folder() -> Option<String> {
    None
}

/// Refuses to make a folder.
///
/// # Errors
/// Always.
pub fn make_private_folder(path: &str) -> Result<()> {
    Err(refused(format_args!("making the folder `{path}` private")))
}

/// Refuses to change permissions.
///
/// # Errors
/// Always.
pub fn take_write_from_others(path: &str) -> Result<()> {
    Err(refused(format_args!("taking the permission to write `{path}` from others")))
}

/// Each path counts as toolsd's own.
pub fn is_hosts_own(_path: &str) -> bool {
    true
}

/// Each path counts as one that contains a folder of toolsd's own.
pub fn holds_hosts_own(_path: &str) -> bool {
    true
}

/// No folder of toolsd's own is believed.
pub fn is_misled(_folder: &str, _workspace: &str, _below_home: &str) -> bool {
    true
}

/// There is no repository, so no setting of it.
pub fn is_reported(_setting: &GitSetting) -> bool {
    false
}

/// Refuses to try git.
///
/// # Errors
/// Always.
pub fn try_git() -> Result<Vec<(&'static str, Result<()>)>> {
    Err(refused("git"))
}

/// What holds for programs that packs start: none is started.
pub fn sandbox_status() -> SandboxStatus {
    SandboxStatus { sandbox: Sandbox::Require, mechanisms: system_mechanisms().clone() }
}

/// The mechanisms of this system: none.
pub fn system_mechanisms() -> &'static Mechanisms {
    static NONE: OnceLock<Mechanisms> = OnceLock::new();
    let lacks = || Some("programs do not work on Windows yet".to_owned());
    NONE.get_or_init(|| Mechanisms { landlock: 0, seccomp: false, seatbelt: false, lacks: lacks() })
}

/// Does nothing: no program is started.
pub fn choose_sandbox(_sandbox: Sandbox) {}

/// Does nothing: nothing was written, so nothing is left half done.
pub fn recover(_roots: &[&str]) {}

/// Does nothing: there are no temporary folders.
pub fn sweep() {}

/// Nothing was cleared up.
pub fn recovered() -> Vec<String> {
    Vec::new()
}

/// Nothing was missed.
pub fn shortages() -> u64 {
    0
}

/// Does nothing: the number of descriptors is not limited.
///
/// # Errors
/// None.
pub fn check_descriptors() -> Result<()> {
    Ok(())
}

/// Does nothing: the number of threads is not limited.
///
/// # Errors
/// None.
pub fn check_threads() -> Result<()> {
    Ok(())
}

/// Does nothing: there is no such limit.
pub fn fail_at_largest_file() {}

/// Does nothing: there is no such setting.
pub fn hide_process() {}

/// Does nothing: no program runs.
pub fn end_programs() {}

/// Ends the process at once with this code.
pub fn end_process(code: i32) -> ! {
    std::process::exit(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_needs_the_disk_is_refused_with_what_to_do_instead() {
        let refused = [
            current_folder().err(),
            Disk::new("C:/project", []).err(),
            Disk::with_outer_roots("C:/project", [], []).err(),
            ScratchWorld::new(None, &[], false).err(),
            check_private("C:/project").err(),
            make_private_folder("C:/project").err(),
            take_write_from_others("C:/project").err(),
            read_secret("token", SecretFile::Own("C:/token")).err(),
            read_secret_descriptor("token", 3).err(),
            check_secret_place("token", "C:/token", &[]).err(),
            try_git().err(),
        ];
        for (at, error) in refused.into_iter().enumerate() {
            let error = error.unwrap_or_else(|| panic!("request {at} is not refused"));
            assert_eq!(error.code, Code::WORLD);
            assert!(error.message.ends_with("does not work on Windows yet"), "{}", error.message);
            assert_eq!(error.help.as_deref(), Some(ADVICE));
        }
        assert!(sandbox_status().is_refusing() && !sandbox_status().is_confining());
        // What would be believed or granted is not.
        assert!(is_hosts_own("x") && holds_hosts_own("x") && is_misled("x", "y", "z"));
        assert_eq!(other_writers("x"), [OtherWriter::Everybody]);
    }
}
