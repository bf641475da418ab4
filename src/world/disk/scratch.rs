//! The world of a case on disk: a temporary folder with real files and programs, a clock that stands still, counted
//! ids.

use super::git;
use super::handle::Disk;
use super::roots::Roots;
use super::system::reason;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::world::effects::{Ambient, FileChange, FilePolicy, Files, LockAttempt, Programs, TargetState, World};
use crate::world::repository::Repository;
use crate::world::run::{Confinement, ProgramCommand, ProgramFile, ProgramOutput, RequiredGrant};
use crate::world::walk::{FolderEntry, Stat, WalkOptions, WalkResult};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

/// 2026-01-01T00:00:00Z, in milliseconds: the clock of a world that was given none.
const START_MS: i64 = 1_767_225_600_000;

/// A world in a temporary folder, which is removed when this is dropped.
pub struct ScratchWorld {
    disk: Disk,
    stage: Arc<ScratchState>,
}

/// What all views of one folder share.
struct ScratchState {
    _folder: tempfile::TempDir,
    now_ms: AtomicI64,
    ids: AtomicU64,
    env: BTreeMap<String, String>,
}

impl ScratchWorld {
    /// An empty folder, a clock, the variables of its environment: those of this process are not seen. With a home
    /// folder beside it, `~/…` and the variable `HOME` name that one.
    pub fn new(now_ms: Option<i64>, env: &[(String, String)], has_home: bool) -> Result<Self> {
        let failed = |error: std::io::Error| {
            Diagnostic::new(Code::WORLD, format!("no temporary folder can be made: {}", reason(&error)))
        };
        let folder = tempfile::tempdir().map_err(failed)?;
        let path = folder.path().join("workspace");
        std::fs::create_dir(&path).map_err(failed)?;
        let mut env: BTreeMap<String, String> = env.iter().cloned().collect();
        let mut roots = Roots::new(&path.to_string_lossy(), [], [])?;
        if has_home {
            let home = folder.path().join("home");
            std::fs::create_dir(&home).map_err(failed)?;
            let home = home.to_string_lossy().into_owned();
            roots.set_home(&home)?;
            env.entry("HOME".to_owned()).or_insert(home);
        }
        let now_ms = AtomicI64::new(now_ms.unwrap_or(START_MS));
        let stage = Arc::new(ScratchState { _folder: folder, now_ms, ids: AtomicU64::new(0), env });
        Ok(Self { disk: Disk::from_roots(roots), stage })
    }

    /// Moves the clock on.
    pub fn advance_ms(&self, by: i64) {
        self.stage.now_ms.fetch_add(by, Ordering::Relaxed);
    }

    /// All files, those of git excepted; one that cannot be read is left out.
    pub fn snapshot(&self) -> BTreeMap<String, Arc<[u8]>> {
        let walk = WalkOptions { from: ".".to_owned(), hidden: true, ignore: false, follow: false, depth: None };
        let files = self.disk.walk(&walk).map(|walked| walked.files).unwrap_or_default();
        let seen = files.into_iter().filter(|path| !path.split('/').any(|part| part == ".git"));
        seen.filter_map(|path| self.disk.read(&path).ok().map(|bytes| (path, bytes.into()))).collect()
    }

    /// Makes the folder a repository on the branch `main`, with one commit of all its files.
    pub fn init_git(&self) -> Result<()> {
        init_repository(&self.disk, &self.fixed_env(&[]))
    }

    /// The command with dates, identity and configuration of git that are fixed: so are the hashes of its commits.
    fn with_fixed_env(&self, command: &ProgramCommand) -> ProgramCommand {
        ProgramCommand { env: self.fixed_env(&command.env), ..command.clone() }
    }

    fn fixed_env(&self, own: &[(String, String)]) -> Vec<(String, String)> {
        let date = format!("{} +0000", self.now_ms() / 1_000);
        let fixed = [
            ("GIT_AUTHOR_DATE", date.as_str()),
            ("GIT_AUTHOR_EMAIL", "case@example.org"),
            ("GIT_AUTHOR_NAME", "Case"),
            ("GIT_COMMITTER_DATE", date.as_str()),
            ("GIT_COMMITTER_EMAIL", "case@example.org"),
            ("GIT_COMMITTER_NAME", "Case"),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("HOME", self.disk.root()),
        ];
        let fixed = fixed.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let of_case = self.stage.env.iter().map(|(name, value)| (name.clone(), value.clone()));
        // What a script sets for a program counts.
        fixed.into_iter().chain(of_case).chain(own.iter().cloned()).collect()
    }
}

/// Makes the folder of a disk a repository on the branch `main`, with one commit of all its files.
pub(super) fn init_repository(disk: &Disk, env: &[(String, String)]) -> Result<()> {
    let quiet =
        ["core.hooksPath=/dev/null", "gc.auto=0", "maintenance.auto=false"].map(|setting| ["-c", setting]).concat();
    let commit = ["commit", "-q", "--allow-empty", "-m", "The files of the case"];
    for arguments in [&["init", "-q", "-b", "main", "--template="][..], &["add", "-A"], &[&quiet[..], &commit].concat()]
    {
        let root = disk.root().to_owned();
        let command = ProgramCommand {
            program: "git".to_owned(),
            arguments: arguments.iter().map(|word| (*word).to_owned()).collect(),
            folder: ".".to_owned(),
            input: Vec::new(),
            env: env.to_vec(),
            time: Duration::from_secs(60),
            most: 1 << 20,
            needs: RequiredGrant::WriteGit,
            confinement: Confinement { read: vec![root.clone()], write: vec![root], ..Confinement::default() },
            stop: || Ok(()),
        };
        let ran = disk.run(&command)?;
        if ran.code != 0 {
            let told = String::from_utf8_lossy(&ran.errors).trim().to_owned();
            return Err(Diagnostic::new(Code::WORLD, format!("`{}` failed: {told}", command.line())));
        }
    }
    Ok(())
}

impl Files for ScratchWorld {
    fn root(&self) -> &str {
        self.disk.root()
    }

    fn with_policy(self: Arc<Self>, policy: Arc<dyn FilePolicy>) -> Result<Arc<dyn World>> {
        Ok(Arc::new(Self { disk: self.disk.clone_with_policy(policy), stage: Arc::clone(&self.stage) }))
    }

    fn stat(&self, path: &str) -> Result<Option<Stat>> {
        self.disk.stat(path)
    }

    fn read(&self, path: &str) -> Result<Vec<u8>> {
        self.disk.read(path)
    }

    fn list(&self, path: &str) -> Result<Vec<FolderEntry>> {
        self.disk.list(path)
    }

    fn walk(&self, walk: &WalkOptions) -> Result<WalkResult> {
        self.disk.walk(walk)
    }

    fn write(&self, path: &str, bytes: &[u8]) -> Result<()> {
        self.disk.write(path, bytes)
    }

    fn remove(&self, path: &str) -> Result<()> {
        self.disk.remove(path)
    }

    fn remove_folder(&self, path: &str) -> Result<()> {
        self.disk.remove_folder(path)
    }

    fn apply(&self, changes: &[FileChange]) -> Result<()> {
        self.disk.apply(changes)
    }

    fn may_write(&self, path: &str) -> Result<()> {
        self.disk.may_write(path)
    }

    fn may_replace(&self, path: &str) -> Result<TargetState> {
        self.disk.may_replace(path)
    }

    fn spelled(&self, path: &str) -> String {
        self.disk.spelled(path)
    }

    fn root_of(&self, path: &str) -> String {
        self.disk.root_of(path)
    }

    fn lock(&self, path: &str) -> Result<LockAttempt> {
        self.disk.lock(path)
    }
}

impl Ambient for ScratchWorld {
    fn is_alive(&self, pid: u32) -> bool {
        self.disk.is_alive(pid)
    }

    fn now_ms(&self) -> i64 {
        self.stage.now_ms.load(Ordering::Relaxed)
    }

    /// Counted, as in memory.
    fn uuid(&self) -> [u8; 16] {
        let number = self.stage.ids.fetch_add(1, Ordering::Relaxed) + 1;
        let mut bytes = [0; 16];
        bytes[8..].copy_from_slice(&number.to_be_bytes());
        bytes[6] = 0x40;
        bytes[8] = 0x80;
        bytes
    }

    fn env(&self, name: &str) -> Option<String> {
        self.stage.env.get(name).cloned()
    }

    fn env_names(&self) -> Vec<String> {
        self.stage.env.keys().cloned().collect()
    }
}

impl Programs for ScratchWorld {
    fn run(&self, command: &ProgramCommand) -> Result<ProgramOutput> {
        self.disk.run(&self.with_fixed_env(command))
    }

    fn repository(&self, folder: &str, _needs: RequiredGrant) -> Result<Repository> {
        git::find_repository(&self.disk, folder, false)
    }

    fn run_git(&self, command: &ProgramCommand, repository: &Repository) -> Result<ProgramOutput> {
        self.disk.run_git(&self.with_fixed_env(command), repository)
    }

    fn write_git_file(&self, repository: &Repository, path: &str, bytes: Option<&[u8]>) -> Result<()> {
        self.disk.write_git_file(repository, path, bytes)
    }

    fn hold_repository(&self, repository: &Repository) -> Result<LockAttempt> {
        self.disk.hold_repository(repository)
    }

    fn program(&self, name: &str) -> Result<ProgramFile> {
        self.disk.program(name)
    }

    fn program_below(&self, program: &ProgramFile, places: &[String]) -> Result<Vec<String>> {
        self.disk.program_below(program, places)
    }

    fn real_place(&self, path: &str) -> String {
        self.disk.real_place(path)
    }

    fn git_stamp(&self, folders: &[&str]) -> Result<Option<String>> {
        self.disk.git_stamp(folders)
    }
}
