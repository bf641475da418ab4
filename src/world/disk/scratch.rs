//! The world of a case on disk: a temporary folder with real files and programs, a fixed clock, sequential ids.

use super::handle::{Disk, Surroundings};
use super::roots::Roots;
use super::system::reason;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::world::effects::{Ambient, Files, Programs, World};
use crate::world::run::{Confinement, ProgramCommand, RequiredGrant};
use crate::world::walk::WalkOptions;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

/// 2026-01-01T00:00:00Z, in milliseconds: the clock of a world that was given none.
const START_MS: i64 = 1_767_225_600_000;

/// A world in a temporary folder, which is removed when this is dropped.
pub struct ScratchWorld {
    disk: Arc<Disk>,
    surroundings: Arc<ScratchSurroundings>,
}

/// What all views of one folder share, and the folder itself.
struct ScratchSurroundings {
    _folder: tempfile::TempDir,
    root: String,
    now_ms: AtomicI64,
    ids: AtomicU64,
    env: BTreeMap<String, String>,
}

impl ScratchWorld {
    /// Creates an empty folder, a clock, and the variables of its environment: those of this process are not seen. With
    /// a home folder, which is next to it, `~/…` and the variable `HOME` name that one.
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
        let root = roots.main().to_owned();
        let surroundings = Arc::new(ScratchSurroundings { _folder: folder, root, now_ms, ids: AtomicU64::new(0), env });
        let disk = Disk::from_roots(roots).surrounded_by(Arc::clone(&surroundings) as Arc<dyn Surroundings>);
        Ok(Self { disk: Arc::new(disk), surroundings })
    }

    /// The world that a case sees.
    pub fn world(&self) -> Arc<dyn World> {
        Arc::clone(&self.disk) as Arc<dyn World>
    }

    /// Moves the clock on.
    pub fn advance_ms(&self, by: i64) {
        self.surroundings.now_ms.fetch_add(by, Ordering::Relaxed);
    }

    /// Returns all files except those of git, and except those that cannot be read.
    pub fn snapshot(&self) -> BTreeMap<String, Arc<[u8]>> {
        let walk = WalkOptions { from: ".".to_owned(), hidden: true, ignore: false, follow: false, depth: None };
        let files = self.disk.walk(&walk).map(|walked| walked.files).unwrap_or_default();
        let seen = files.into_iter().filter(|path| !path.split('/').any(|part| part == ".git"));
        seen.filter_map(|path| self.disk.read(&path).ok().map(|bytes| (path, bytes.into()))).collect()
    }

    /// Makes the folder a repository on the branch `main`, with one commit of all its files.
    pub fn init_git(&self) -> Result<()> {
        let quiet =
            ["core.hooksPath=/dev/null", "gc.auto=0", "maintenance.auto=false"].map(|setting| ["-c", setting]).concat();
        let commit = ["commit", "-q", "--allow-empty", "-m", "The files of the case"];
        let init = ["init", "-q", "-b", "main", "--template="];
        for arguments in [&init[..], &["add", "-A"], &[&quiet[..], &commit].concat()] {
            let root = self.disk.root().to_owned();
            let command = ProgramCommand {
                needs: RequiredGrant::WriteGit,
                confinement: Confinement { read: vec![root.clone()], write: vec![root], ..Confinement::default() },
                stop: || Ok(()),
                ..ProgramCommand::git(arguments, Duration::from_secs(60), 1 << 20)
            };
            let ran = self.disk.run(&command)?;
            if ran.code != 0 {
                let reported = String::from_utf8_lossy(&ran.errors).trim().to_owned();
                return Err(Diagnostic::new(Code::WORLD, format!("`{}` failed: {reported}", command.line())));
            }
        }
        Ok(())
    }
}

impl Ambient for ScratchSurroundings {
    fn now_ms(&self) -> i64 {
        self.now_ms.load(Ordering::Relaxed)
    }

    /// Counted, as in memory.
    fn uuid(&self) -> [u8; 16] {
        let number = self.ids.fetch_add(1, Ordering::Relaxed) + 1;
        let mut bytes = [0; 16];
        bytes[8..].copy_from_slice(&number.to_be_bytes());
        bytes[6] = 0x40;
        bytes[8] = 0x80;
        bytes
    }

    fn env(&self, name: &str) -> Option<String> {
        self.env.get(name).cloned()
    }

    fn env_names(&self) -> Vec<String> {
        self.env.keys().cloned().collect()
    }
}

impl Surroundings for ScratchSurroundings {
    /// Dates, identity and configuration of git are fixed: so are the hashes of its commits.
    fn program_env(&self) -> Vec<(String, String)> {
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
            ("HOME", self.root.as_str()),
        ];
        let fixed = fixed.map(|(name, value)| (name.to_owned(), value.to_owned()));
        fixed.into_iter().chain(self.env.iter().map(|(name, value)| (name.clone(), value.clone()))).collect()
    }
}
