//! The world of a case: a workspace in memory, its clock, its environment, the configuration of the pack.

use super::UNMET;
use crate::definition::Case;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::registry::Pack;
use crate::value::Value;
use crate::world::memory::Memory;
use crate::world::{Walk, World};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A workspace in memory.
pub struct Stage {
    memory: Arc<Memory>,
    /// The configuration of the pack, if the case has one.
    pub config: Option<Value>,
}

/// Path and bytes of all files.
pub type Snapshot = BTreeMap<String, Arc<[u8]>>;

impl Stage {
    /// Lays out the files of a case. `folders` are where `files_from` is looked for, after the files of the pack.
    pub fn set(case: &Case, pack: &Pack, folders: &[Arc<dyn World>]) -> Result<Self> {
        if case.world != "memory" {
            let fault = Diagnostic::new(UNMET, format!("a case cannot play in the world `{}` yet", case.world));
            return Err(fault.help("leave `world` out: it plays in memory"));
        }
        let memory = Memory::new();
        for folder in &case.files_from {
            lay_out(&memory, folder, pack, folders)?;
        }
        for (path, text) in &case.files {
            memory.write(path, text.as_bytes())?;
        }
        for (name, value) in &case.env {
            memory.set_env(name, value);
        }
        if let Some(now) = &case.now {
            let time: jiff::Timestamp = now.parse().map_err(|_| {
                Diagnostic::new(UNMET, format!("`{now}` is no time")).help("write it as `2026-01-31T12:00:00Z`")
            })?;
            memory.set_now_ms(time.as_millisecond());
        }
        Ok(Self { memory: Arc::new(memory), config: configured(case, pack)? })
    }

    /// The world.
    pub fn world(&self) -> Arc<dyn World> {
        Arc::clone(&self.memory) as Arc<dyn World>
    }

    /// All files as they are now.
    pub fn snapshot(&self) -> Snapshot {
        self.memory.snapshot()
    }

    /// Writes a file, or removes it if the text is empty.
    pub fn write(&self, path: &str, text: &str) -> Result<()> {
        if text.is_empty() { self.memory.remove(path) } else { self.memory.write(path, text.as_bytes()) }
    }

    /// Moves the clock on.
    pub fn advance(&self, ms: i64) {
        self.memory.advance_ms(ms);
    }
}

/// Lays the files of one folder into the workspace: of the pack, else of the first of `folders` that has it.
fn lay_out(memory: &Memory, folder: &str, pack: &Pack, folders: &[Arc<dyn World>]) -> Result<()> {
    let prefix = format!("{}/", folder.trim_end_matches('/'));
    let mut found = false;
    for (path, file) in &pack.made.files.by_path {
        if let Some(within) = path.strip_prefix(&prefix) {
            memory.write(within, &file.bytes)?;
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
        let walk = Walk { from: folder.to_owned(), hidden: true, ignore: false, follow: false, depth: None };
        for path in world.walk(&walk)?.files {
            if let Some(within) = path.strip_prefix(&prefix) {
                memory.write(within, &world.read(&path)?)?;
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
