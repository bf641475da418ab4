//! `toolsd.toml` of a workspace: which packs serve, their settings, prefixes, limits, and what the server says of itself.

mod read;

use super::trust::Trust;
use crate::definition::{Located, LimitsOverride};
use crate::diagnostic::{Code, Diagnostic};
use crate::guard::Limits;
use crate::source::Source;
use crate::value::Json;
use crate::world::World;
use std::collections::BTreeMap;
use std::time::Duration;

/// The name of the file.
pub const SETTINGS: &str = "toolsd.toml";

/// What the file says; empty if there is none.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// `serve`: the packs that serve, instead of those whose markers are found.
    pub serve: Option<Vec<Located<String>>>,
    /// `[prefixes]`: pack, and what is put before its public names.
    pub prefixes: BTreeMap<String, Located<String>>,
    /// `roots`: folders besides the workspace that packs may reach.
    pub roots: Vec<String>,
    /// `[limits]`: of every call.
    pub limits: LimitsOverride,
    /// `[packs.NAME]`: the configuration of a pack.
    pub packs: BTreeMap<String, Located<Json>>,
    /// `[server]`.
    pub server: ServerSettings,
    /// Whether a person allowed the file: if not, limits only go down, and paths stay out.
    pub trusted: bool,
}

/// `[server]`: what the server says of itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ServerSettings {
    /// Its name.
    pub name: Option<String>,
    /// A title for people.
    pub title: Option<String>,
    /// A page about it.
    pub website_url: Option<String>,
    /// Icons.
    pub icons: Vec<Json>,
    /// How many items a page of a list has.
    pub page_size: Option<usize>,
    /// For how long a client may keep a list, in milliseconds.
    pub lists_ttl_ms: Option<u64>,
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
        let (mut settings, mut faults) = read::read(&source);
        settings.trusted = trust.allows(SETTINGS, blake3::hash(&bytes).as_bytes());
        if !settings.trusted && (!settings.roots.is_empty() || settings.server != ServerSettings::default()) {
            settings.roots.clear();
            settings.server = ServerSettings::default();
            let fault = Diagnostic::new(Code("untrusted"), "`roots` and `[server]` are not used: the file is not trusted");
            faults.push(*fault.warning().at(source.place(0..0)).help("read it, then run `toolsd trust`"));
        }
        (settings, faults)
    }

    /// The limits of a call: the first override that says something wins, then the usual ones;
    /// this file raises them only if it is trusted.
    pub fn limits(&self, overrides: &[LimitsOverride], usual: Limits) -> Limits {
        let of = |field: fn(&LimitsOverride) -> Option<u64>, usual: u64| {
            let below = overrides.iter().find_map(field).unwrap_or(usual);
            match field(&self.limits) {
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
