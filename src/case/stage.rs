//! The world of a case: a workspace in memory or in a temporary folder, its clock and the timer that follows it, its
//! environment, the configuration of the pack.

use crate::call::{ChangeSubscription, HostChange, Service};
use crate::definition::code::CASE;
use crate::definition::{Case, CaseSetup};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard::CancelFlag;
use crate::primitive_api::{ListKind, Notice};
use crate::registry::Pack;
use crate::value::Value;
use crate::world::disk::ScratchWorld;
use crate::world::memory::MemoryWorld;
use crate::world::{LockAttempt, WalkOptions, World};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// A workspace.
pub struct CaseStage {
    ground: StageWorld,
    /// The configuration of the pack, if the case has one.
    pub config: Option<Value>,
    /// The locks that another process holds.
    _locked: Vec<LockAttempt>,
}

/// The world that a case runs in.
enum StageWorld {
    Memory(Arc<MemoryWorld>),
    Disk(ScratchWorld),
}

/// Path and bytes of all files.
pub type Snapshot = BTreeMap<String, Arc<[u8]>>;

impl CaseStage {
    /// Lays out the files of a case. `folders` are where `files_from` is looked for, after the files of the pack.
    pub fn new(case: &Case, pack: &Pack, folders: &[Arc<dyn World>]) -> Result<Self> {
        let now_ms = case.setup.now.as_ref().map(|now| {
            now.parse::<jiff::Timestamp>().map(jiff::Timestamp::as_millisecond).map_err(|_| {
                Diagnostic::new(CASE, format!("`{now}` is not a valid time")).help("write it as `2026-01-31T12:00:00Z`")
            })
        });
        let now_ms = now_ms.transpose()?;
        let ground = if case.setup.world.as_deref() == Some("disk") {
            if !case.setup.programs.is_empty() {
                return Err(Diagnostic::new(CASE, "`programs` cannot answer for programs on the disk")
                    .help("remove `filesystem = \"disk\"`, or `programs`"));
            }
            StageWorld::Disk(ScratchWorld::new(now_ms, &case.setup.env, case.setup.home.is_some())?)
        } else {
            if case.setup.git {
                return Err(Diagnostic::new(CASE, "there is no git in memory").help("add `filesystem = \"disk\"`"));
            }
            let memory = MemoryWorld::new();
            case.setup.env.iter().for_each(|(name, value)| memory.set_env(name, value));
            memory.set_programs(case.setup.programs.clone());
            if let Some(now_ms) = now_ms {
                memory.set_now_ms(now_ms);
            }
            StageWorld::Memory(Arc::new(memory))
        };
        let world = &*ground.world();
        let laid = FileLayout { world, setup: &case.setup };
        for folder in &case.setup.files_from {
            lay_out(&laid, folder, pack, folders)?;
        }
        for (path, text) in &case.setup.files {
            laid.write(path, text.as_bytes())?;
        }
        if let (StageWorld::Disk(disk), true) = (&ground, case.setup.git) {
            disk.init_git()?;
        }
        let locked = case.setup.locked.iter().map(|path| world.lock(path)).collect::<Result<_>>()?;
        Ok(Self { ground, config: read_config(case, pack)?, _locked: locked })
    }

    pub fn world(&self) -> Arc<dyn World> {
        self.ground.world()
    }

    /// Whether it is a temporary folder, a new one for each run.
    pub fn is_on_disk(&self) -> bool {
        matches!(self.ground, StageWorld::Disk(_))
    }

    /// Returns all files in their current state, except those of git.
    pub fn snapshot(&self) -> Snapshot {
        match &self.ground {
            StageWorld::Memory(memory) => memory.snapshot(),
            StageWorld::Disk(disk) => disk.snapshot(),
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
            StageWorld::Memory(memory) => memory.advance_ms(ms),
            StageWorld::Disk(disk) => disk.advance_ms(ms),
        }
    }
}

impl StageWorld {
    fn world(&self) -> Arc<dyn World> {
        match self {
            Self::Memory(memory) => Arc::clone(memory) as Arc<dyn World>,
            Self::Disk(disk) => disk.world(),
        }
    }
}

/// Where the files of a case go: below `workspace` into the workspace, below `home` into the home folder.
struct FileLayout<'a> {
    world: &'a dyn World,
    setup: &'a CaseSetup,
}

impl FileLayout<'_> {
    /// Writes a file. If the case names its workspace, files outside of it and of the home folder are skipped.
    fn write(&self, path: &str, bytes: &[u8]) -> Result<()> {
        let below = |folder: &Option<String>| {
            let folder = folder.as_deref()?.trim_end_matches('/');
            path.strip_prefix(folder)?.strip_prefix('/').map(str::to_owned)
        };
        let at_home = below(&self.setup.home).map(|rest| format!("~/{rest}"));
        match below(&self.setup.workspace).or(at_home) {
            Some(path) => self.world.write(&path, bytes),
            None if self.setup.workspace.is_some() => Ok(()),
            None => self.world.write(path, bytes),
        }
    }
}

/// Copies the files of one folder: that of the pack, otherwise that of the first of `folders` that has it.
fn lay_out(laid: &FileLayout<'_>, folder: &str, pack: &Pack, folders: &[Arc<dyn World>]) -> Result<()> {
    let prefix = format!("{}/", folder.trim_end_matches('/'));
    let mut found = false;
    for (path, file) in &pack.compiled.files.by_path {
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
        .help("`files_from` is searched for in each layer, then in the workspace"))
}

fn read_config(case: &Case, pack: &Pack) -> Result<Option<Value>> {
    if case.setup.config.as_object().is_none_or(serde_json::Map::is_empty) {
        return Ok(None);
    }
    let mut config = case.setup.config.clone();
    if let Some(checker) = &pack.compiled.config_checker {
        let problems: Vec<String> = checker.check(&config).into_iter().map(|problem| problem.message).collect();
        if !problems.is_empty() {
            return Err(Diagnostic::new(
                CASE,
                format!("the `config` of the case does not fit: {}", problems.join("; ")),
            ));
        }
        checker.fill_defaults(&mut config);
    }
    Ok(Some(Value::from_json(&config)))
}

/// The timer of a pack whose graph is refreshed in the background.
pub struct RefreshTimer {
    every: Option<Duration>,
    /// When it is due next, in milliseconds.
    due_ms: AtomicI64,
    /// The notices since the last step.
    reported: Arc<Mutex<Vec<Notice>>>,
    _listener: ChangeSubscription,
}

impl RefreshTimer {
    /// Builds the graph, as a server does when it starts. None for a pack whose graph is refreshed before each call.
    pub fn start(service: &Arc<Service>, pack: &Arc<Pack>, now_ms: i64) -> Option<Self> {
        let pace = service.refresh_schedules().into_iter().find(|pace| pace.pack == pack.name)?;
        let (inner, name) = (Arc::clone(service), pack.name.clone());
        service.on_script_thread("graph", move || {
            inner.describe();
            inner.refresh(&name, CancelFlag::default())
        });
        let reported: Arc<Mutex<Vec<Notice>>> = Arc::default();
        let hears = Arc::clone(&reported);
        let listener = service.changes().subscribe(move |change| {
            if let HostChange::Lists { tools, prompts, resources } = change {
                let lists =
                    [(*tools, ListKind::Tools), (*prompts, ListKind::Prompts), (*resources, ListKind::Resources)];
                let changed = lists.into_iter().filter(|(changed, _)| *changed).map(|(_, list)| Notice::Changed(list));
                hears.lock().unwrap_or_else(PoisonError::into_inner).extend(changed);
            }
        });
        let timer = Self { every: pace.every, due_ms: AtomicI64::new(i64::MAX), reported, _listener: listener };
        timer.schedule(now_ms);
        Some(timer)
    }

    fn schedule(&self, now_ms: i64) {
        let every = self.every.and_then(|every| i64::try_from(every.as_millis()).ok());
        self.due_ms.store(every.map_or(i64::MAX, |every| now_ms.saturating_add(every)), Ordering::Relaxed);
    }

    pub fn refresh_if_due(&self, service: &Arc<Service>, pack: &str, now_ms: i64, notices: &Mutex<Vec<Notice>>) {
        if now_ms < self.due_ms.load(Ordering::Relaxed) {
            return;
        }
        self.reported.lock().unwrap_or_else(PoisonError::into_inner).clear();
        refresh(service, pack);
        self.schedule(now_ms);
        let reported = std::mem::take(&mut *self.reported.lock().unwrap_or_else(PoisonError::into_inner));
        notices.lock().unwrap_or_else(PoisonError::into_inner).extend(reported);
    }
}

/// On a script thread, whose stack is large enough.
fn refresh(service: &Arc<Service>, pack: &str) {
    let (inner, pack) = (Arc::clone(service), pack.to_owned());
    service.on_script_thread("refresh", move || inner.refresh(&pack, CancelFlag::default()));
}
