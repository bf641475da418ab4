//! The world of a case: a workspace in memory or in a temporary folder, its clock, its environment, the configuration of the pack.

use super::UNMET;
use crate::definition::Case;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::registry::Pack;
use crate::value::Value;
use crate::world::disk::ScratchWorld;
use crate::world::memory::MemoryWorld;
use crate::world::{LockAttempt, WalkOptions, World};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A workspace.
pub struct Stage {
    ground: Ground,
    /// The configuration of the pack, if the case has one.
    pub config: Option<Value>,
    /// The locks that somebody else holds.
    _locked: Vec<LockAttempt>,
}

/// Where a case plays.
enum Ground {
    Memory(Arc<MemoryWorld>),
    Disk(Arc<ScratchWorld>),
}

/// Path and bytes of all files.
pub type Snapshot = BTreeMap<String, Arc<[u8]>>;

impl Stage {
    /// Lays out the files of a case. `folders` are where `files_from` is looked for, after the files of the pack.
    pub fn set(case: &Case, pack: &Pack, folders: &[Arc<dyn World>]) -> Result<Self> {
        let now_ms = case.now.as_ref().map(|now| {
            now.parse::<jiff::Timestamp>().map(jiff::Timestamp::as_millisecond).map_err(|_| {
                Diagnostic::new(UNMET, format!("`{now}` is no time")).help("write it as `2026-01-31T12:00:00Z`")
            })
        });
        let now_ms = now_ms.transpose()?;
        let ground = if case.world == "disk" {
            Ground::Disk(Arc::new(ScratchWorld::new(now_ms, &case.env, case.home.is_some())?))
        } else {
            if case.git {
                return Err(Diagnostic::new(UNMET, "there is no git in memory").help("add `world = \"disk\"`"));
            }
            let memory = MemoryWorld::new();
            case.env.iter().for_each(|(name, value)| memory.set_env(name, value));
            if let Some(now_ms) = now_ms {
                memory.set_now_ms(now_ms);
            }
            Ground::Memory(Arc::new(memory))
        };
        let world = ground.world();
        let laid = Laid { world, case };
        for folder in &case.files_from {
            lay_out(&laid, folder, pack, folders)?;
        }
        for (path, text) in &case.files {
            laid.write(path, text.as_bytes())?;
        }
        if let (Ground::Disk(disk), true) = (&ground, case.git) {
            disk.init_git()?;
        }
        let locked = case.locked.iter().map(|path| world.lock(path)).collect::<Result<_>>()?;
        Ok(Self { ground, config: configured(case, pack)?, _locked: locked })
    }

    /// The world.
    pub fn world(&self) -> Arc<dyn World> {
        match &self.ground {
            Ground::Memory(memory) => Arc::clone(memory) as Arc<dyn World>,
            Ground::Disk(disk) => Arc::clone(disk) as Arc<dyn World>,
        }
    }

    /// Whether it lies in a temporary folder, each time another one.
    pub fn is_on_disk(&self) -> bool {
        matches!(self.ground, Ground::Disk(_))
    }

    /// All files as they are now, those of git excepted.
    pub fn snapshot(&self) -> Snapshot {
        match &self.ground {
            Ground::Memory(memory) => memory.snapshot(),
            Ground::Disk(disk) => disk.snapshot(),
        }
    }

    /// Writes a file, or removes it if the text is empty.
    pub fn write(&self, path: &str, text: &str) -> Result<()> {
        let world = self.ground.world();
        if text.is_empty() { world.remove(path) } else { world.write(path, text.as_bytes()) }
    }

    /// Moves the clock on.
    pub fn advance(&self, ms: i64) {
        match &self.ground {
            Ground::Memory(memory) => memory.advance_ms(ms),
            Ground::Disk(disk) => disk.advance_ms(ms),
        }
    }
}

impl Ground {
    fn world(&self) -> &dyn World {
        match self {
            Self::Memory(memory) => &**memory,
            Self::Disk(disk) => &**disk,
        }
    }
}

/// Where the files of a case go: below `workspace` into the workspace, below `home` into the home folder.
struct Laid<'a> {
    world: &'a dyn World,
    case: &'a Case,
}

impl Laid<'_> {
    /// Writes a file. Where the case names its workspace, what lies neither there nor at home is left out.
    fn write(&self, path: &str, bytes: &[u8]) -> Result<()> {
        let below = |folder: &Option<String>| {
            let folder = folder.as_deref()?.trim_end_matches('/');
            path.strip_prefix(folder)?.strip_prefix('/').map(str::to_owned)
        };
        let at_home = below(&self.case.home).map(|rest| format!("~/{rest}"));
        match below(&self.case.workspace).or(at_home) {
            Some(path) => self.world.write(&path, bytes),
            None if self.case.workspace.is_some() => Ok(()),
            None => self.world.write(path, bytes),
        }
    }
}

/// Lays the files of one folder out: of the pack, else of the first of `folders` that has it.
fn lay_out(laid: &Laid<'_>, folder: &str, pack: &Pack, folders: &[Arc<dyn World>]) -> Result<()> {
    let prefix = format!("{}/", folder.trim_end_matches('/'));
    let mut found = false;
    for (path, file) in &pack.made.files.by_path {
        if let Some(within) = path.strip_prefix(&prefix) {
            laid.write(within, file.bytes())?;
            found = true;
        }
    }
    if found {
        return Ok(());
    }
    for world in folders {
        if world.stat(folder)?.is_none() {
            continue;
        }
        let walk = WalkOptions { from: folder.to_owned(), hidden: true, ignore: false, follow: false, depth: None };
        for path in world.walk(&walk)?.files {
            if let Some(within) = path.strip_prefix(&prefix) {
                laid.write(within, &world.read(&path)?)?;
            }
        }
        return Ok(());
    }
    Err(Diagnostic::new(Code::WORLD, format!("there is no folder `{folder}`"))
        .help("`files_from` is looked for in each layer, then in the workspace"))
}

fn configured(case: &Case, pack: &Pack) -> Result<Option<Value>> {
    if case.config.as_object().is_none_or(serde_json::Map::is_empty) {
        return Ok(None);
    }
    let mut config = case.config.clone();
    if let Some(checker) = &pack.made.config_checker {
        let problems: Vec<String> = checker.check(&config).into_iter().map(|problem| problem.message).collect();
        if !problems.is_empty() {
            return Err(Diagnostic::new(
                UNMET,
                format!("the `config` of the case does not fit: {}", problems.join("; ")),
            ));
        }
        checker.fill_defaults(&mut config);
    }
    Ok(Some(Value::from_json(&config)))
}
