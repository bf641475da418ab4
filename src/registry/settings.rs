//! `toolsd.toml` of a workspace: read, and cut down to what an untrusted file may say.

use super::trust::{Trust, UNTRUSTED};
use crate::definition::{HttpOverride, LimitsOverride, Server, Workspace, read_workspace};
use crate::diagnostic::{Code, Diagnostic};
use crate::guard::Limits;
use crate::source::Source;
use crate::value::Json;
use crate::world::World;
use std::sync::Arc;
use std::time::Duration;

/// The name of the file.
pub const SETTINGS: &str = "toolsd.toml";

/// No such file that a person wrote is larger, in bytes: it is read before anybody trusted it.
const MOST_BYTES: u64 = 64 << 10;
/// So many of its faults are told one by one.
const MOST_FAULTS: usize = 50;

/// What the file says; empty if there is none.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Its contents. If it is not trusted, only `packs` and `limits` are left.
    pub workspace: Workspace,
    /// Whether a person allowed the file: if not, limits only go down, and paths stay out.
    pub trusted: bool,
    /// Whether something of it is not used, because it is not trusted or has faults.
    pub is_cut: bool,
    /// A hash of all that it says; zeros if there is none.
    pub hash: [u8; 32],
}

impl Settings {
    /// Reads the file of a workspace to its end. What an untrusted file may not say is left out, with a warning; of one
    /// that others can change nothing is used, whatever was trusted.
    pub fn load(workspace: &dyn World, trust: &Trust) -> (Self, Vec<Diagnostic>) {
        // A symlink that leads nowhere is looked at too: it is told.
        let bytes = match workspace.stat(SETTINGS) {
            Ok(None) => return (Self::default(), Vec::new()),
            Ok(Some(stat)) if stat.size > MOST_BYTES => Err(too_large(stat.size)),
            Ok(Some(_)) | Err(_) => workspace.read_owned(SETTINGS),
        };
        // It may have grown meanwhile.
        let in_bounds = |bytes: Vec<u8>| match bytes.len() as u64 {
            size if size > MOST_BYTES => Err(too_large(size)),
            _ => Ok(bytes),
        };
        let bytes = match bytes.and_then(in_bounds) {
            Ok(bytes) => bytes,
            Err(fault) => return (Self { is_cut: true, ..Self::default() }, vec![*fault]),
        };
        let source = Source::new(SETTINGS, String::from_utf8_lossy(&bytes));
        let (mut workspace_file, mut faults) = read_workspace(&source);
        let refused = trust.check(SETTINGS, &bytes, workspace.now_ms()).err();
        if let Some(why) = &refused {
            faults.extend(without_powers(&mut workspace_file, &source, why));
        }
        let trusted = refused.is_none();
        told_in_part(&mut faults);
        let is_cut = !trusted || faults.iter().any(Diagnostic::is_error);
        let mut hasher = blake3::Hasher::new();
        hasher.update(&bytes).update(&[u8::from(trusted)]);
        (Self { workspace: workspace_file, trusted, is_cut, hash: *hasher.finalize().as_bytes() }, faults)
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

//= docs/spec.md#trust
//# A `toolsd.toml` that is larger than 64 kB MUST NOT be read, and of very many faults of it only the first ones MUST be told, and how many there are.
fn too_large(size: u64) -> Box<Diagnostic> {
    let message =
        format!("`{SETTINGS}` has {} kB, and is not used: at most {} kB are read", size >> 10, MOST_BYTES >> 10);
    Diagnostic::new(Code::LIMIT, message).help("take out what is no setting")
}

/// Leaves the first faults of a file, and says how many more there are.
pub fn told_in_part(faults: &mut Vec<Diagnostic>) {
    let more = faults.len().saturating_sub(MOST_FAULTS);
    if more > 1 {
        let last = faults[MOST_FAULTS].clone();
        faults.truncate(MOST_FAULTS);
        faults.push(Diagnostic { message: format!("and {more} faults more, first of all: {}", last.message), ..last });
    }
}

/// Takes from an untrusted file all that decides what is served, where and under which name; each key is told.
//= docs/spec.md#trust
//# An untrusted `toolsd.toml` MUST NOT choose packs, roots or names, MUST NOT raise a limit, and MUST NOT name a path.
fn without_powers(file: &mut Workspace, source: &Arc<Source>, why: &Diagnostic) -> Option<Diagnostic> {
    // Every field is named: a new one has to say whether an untrusted file may set it.
    let Workspace { serve, packs, prefixes, roots, limits, server, http } = std::mem::take(file);
    let server_is_set = server != Server::default();
    let names = [
        ("serve", serve.is_some()),
        ("prefixes", !prefixes.is_empty()),
        ("roots", !roots.is_empty()),
        ("server", server_is_set),
        ("http", http != HttpOverride::default()),
    ];
    let unused: Vec<String> =
        names.into_iter().filter(|(_, is_set)| *is_set).map(|(name, _)| format!("`{name}`")).collect();
    *file = Workspace { packs, limits, ..Workspace::default() };
    let (list, verb) = match unused.as_slice() {
        [] => return None,
        [one] => (one.clone(), "is"),
        several => (several.join(", "), "are"),
    };
    let fault = Diagnostic::new(
        UNTRUSTED,
        format!(
            "{list} {verb} not used: {}",
            why.message.replace(" and so not used", "").replace(", and so is not used", "")
        ),
    );
    Some(*fault.warning().at(source.place(0..0)).help("read the file, then run `toolsd trust`"))
}
