//! `toolsd.toml` of a workspace: read, and cut down to what an untrusted file may say.

use super::trust::Trust;
use crate::definition::{HttpOverride, LimitsOverride, Server, Workspace, read_workspace};
use crate::diagnostic::{Code, Diagnostic};
use crate::guard::Limits;
use crate::source::Source;
use crate::value::Json;
use crate::world::World;
use std::time::Duration;

/// The name of the file.
pub const SETTINGS: &str = "toolsd.toml";

/// What the file says; empty if there is none.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Its contents. If it is not trusted, `roots`, `server` and `http` are empty.
    pub workspace: Workspace,
    /// Whether a person allowed the file: if not, limits only go down, and paths stay out.
    pub trusted: bool,
    /// A hash of all that it says; zeros if there is none.
    pub hash: [u8; 32],
}

impl Settings {
    /// Reads the file of a workspace to its end. What an untrusted file may not say is left out, with a warning.
    pub fn load(workspace: &dyn World, trust: &Trust) -> (Self, Vec<Diagnostic>) {
        let bytes = match workspace.stat(SETTINGS) {
            Ok(Some(_)) => workspace.read(SETTINGS),
            Ok(None) => return (Self::default(), Vec::new()),
            Err(fault) => Err(fault),
        };
        let bytes = match bytes {
            Ok(bytes) => bytes,
            Err(fault) => return (Self::default(), vec![*fault]),
        };
        let source = Source::new(SETTINGS, String::from_utf8_lossy(&bytes));
        let (mut workspace, mut faults) = read_workspace(&source);
        let trusted = trust.allows(SETTINGS, blake3::hash(&bytes).as_bytes());
        if !trusted {
            let roots = std::mem::take(&mut workspace.roots);
            let at = roots.first().map_or_else(|| source.place(0..0), |root| root.at.clone());
            workspace.server = Server::default();
            if std::mem::take(&mut workspace.http) != HttpOverride::default() {
                let fault = Diagnostic::new(Code("untrusted"), "`[http]` is not used: the file is not trusted");
                faults.push(*fault.warning().at(source.place(0..0)).help("read it, then run `toolsd trust`"));
            }
            if !roots.is_empty() {
                let fault = Diagnostic::new(Code("untrusted"), "`roots` is not used: the file is not trusted");
                faults.push(*fault.warning().at(at).help("read it, then run `toolsd trust`"));
            }
        }
        let mut hasher = blake3::Hasher::new();
        hasher.update(&bytes).update(&[u8::from(trusted)]);
        (Self { workspace, trusted, hash: *hasher.finalize().as_bytes() }, faults)
    }

    /// What is put before the public names of a pack; mostly nothing.
    pub fn prefix(&self, pack: &str) -> &str {
        let prefixes = &self.workspace.prefixes;
        prefixes.iter().find(|(name, _)| name.value == pack).map_or("", |(_, prefix)| prefix)
    }

    /// The configuration of a pack as it is written; an empty object if there is none.
    pub fn config(&self, pack: &str) -> Json {
        let packs = &self.workspace.packs;
        let written = packs.iter().find(|(name, _)| name.value == pack);
        written.map_or_else(|| serde_json::json!({}), |(_, written)| (*written.json).clone())
    }

    /// The limits of a call: the first override that says something wins, then the usual ones;
    /// this file raises them only if it is trusted.
    pub fn limits(&self, overrides: &[LimitsOverride], usual: Limits) -> Limits {
        let of = |field: fn(&LimitsOverride) -> Option<u64>, usual: u64| {
            let below = overrides.iter().find_map(field).unwrap_or(usual);
            match field(&self.workspace.limits) {
                Some(ours) if self.trusted => ours,
                Some(ours) => ours.min(below),
                None => below,
            }
        };
        let bytes = |count: u64, unit: u64| usize::try_from(count.saturating_mul(unit)).unwrap_or(usize::MAX);
        let usual_time = u64::try_from(usual.time.as_millis()).unwrap_or(u64::MAX);
        Limits {
            time: Duration::from_millis(of(|limits| limits.time_ms, usual_time)),
            ticks: of(|limits| limits.ticks, usual.ticks),
            memory: bytes(of(|limits| limits.memory_mb, usual.memory as u64 >> 20), 1 << 20),
            output: bytes(of(|limits| limits.output_kb, usual.output as u64 >> 10), 1 << 10),
            depth: bytes(of(|limits| limits.depth, usual.depth as u64), 1),
        }
    }
}
