//! `toolsd.toml` of a workspace: read, cut down to what an untrusted file may say; and the configuration of each pack, checked
//! by the pack's schema.

use super::trust::{UNTRUSTED, WorkspaceTrust};
use super::trusted_contents::{difference, kept};
use super::workspace_files::{SERVES_ON, is_withheld, is_withheld_of, pack_of_file};
use crate::definition::{
    Checker, HttpOverride, LimitsOverride, Located, PackDefinition, SETTINGS_FILE, Schema, ServerDefinition,
    Validation, WorkspaceDefinition, read_workspace,
};
use crate::diagnostic::{Code, Diagnostic, did_you_mean};
use crate::guard::Limits;
use crate::source::Source;
use crate::value::Json;
use crate::world::Workspace;
use serde_json::json;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

/// Maximum size of the file in bytes: it is read before it is trusted, and files that people write are smaller.
const MAX_SETTINGS_BYTES: u64 = 64 << 10;
/// Maximum number of its diagnostics that are listed individually.
const MAX_LISTED_DIAGNOSTICS: usize = 50;

/// The contents of the file; empty if there is none.
#[derive(Clone, Debug, Default)]
pub struct WorkspaceSettings {
    /// Its contents. If it is not trusted, only `packs` and `limits` are left.
    pub workspace: WorkspaceDefinition,
    /// Whether the file is trusted: if not, it can only lower limits, and its paths are ignored.
    pub trusted: bool,
    /// Whether a part of it is not used, because it is not trusted or has errors.
    pub is_cut: bool,
    /// Why the file is not used as it is, if what was trusted of it before is.
    pub held_back: Option<Diagnostic>,
    /// A hash of its contents; zeros if there is no file.
    pub hash: [u8; 32],
}

impl WorkspaceSettings {
    /// Reads the file of a workspace to its end. Settings that an untrusted file may not have are skipped with a
    /// warning.
    pub fn load(workspace: &dyn Workspace, trust: &WorkspaceTrust) -> (Self, Vec<Diagnostic>) {
        // A broken symlink is read too, so that it is reported.
        let bytes = match workspace.stat(SETTINGS_FILE) {
            Ok(None) => return (Self::default(), Vec::new()),
            Ok(Some(stat)) if stat.size > MAX_SETTINGS_BYTES => Err(too_large(stat.size)),
            Ok(Some(_)) | Err(_) => workspace.read(SETTINGS_FILE),
        };
        // It may have grown meanwhile.
        let in_bounds = |bytes: Vec<u8>| match bytes.len() as u64 {
            size if size > MAX_SETTINGS_BYTES => Err(too_large(size)),
            _ => Ok(bytes),
        };
        let bytes = match bytes.and_then(in_bounds) {
            Ok(bytes) => bytes,
            Err(diagnostic) => return (Self { is_cut: true, ..Self::default() }, vec![*diagnostic]),
        };
        let mut refused = trust.check_settings(&bytes).err();
        //= docs/spec.md#trust
        //# While the files of a pack, `toolsd.toml` or a layer are not trusted as they are, the nearest content that was
        //# trusted MUST serve, and a notice MUST report that.
        let known = trust.states.iter().filter_map(|state| state.get(SETTINGS_FILE));
        let nearest = || known.min_by_key(|known| difference(&bytes, &known.hash));
        let earlier = refused.as_ref().and_then(|_| nearest()).and_then(|known| kept(&known.hash));
        let held_back = earlier.is_some().then(|| refused.take()).flatten().map(|mut why| {
            why.message.push_str(SERVES_ON);
            *why.at(Source::new(SETTINGS_FILE, "").place(0..0))
        });
        let mut diagnostics = Vec::new();
        if held_back.is_some() {
            // What is wrong with the file as it is matters to the person who edits it.
            diagnostics = read_workspace(&Source::new(SETTINGS_FILE, String::from_utf8_lossy(&bytes))).1;
        }
        let bytes = earlier.unwrap_or(bytes);
        let source = Source::new(SETTINGS_FILE, String::from_utf8_lossy(&bytes));
        let (mut workspace_file, found) = read_workspace(&source);
        diagnostics.extend(found.into_iter().chain(held_back.clone()));
        if let Some(why) = &refused {
            diagnostics.extend(remove_powers(&mut workspace_file, &source, why));
        }
        let trusted = refused.is_none();
        limit_diagnostics(&mut diagnostics);
        let is_cut = !trusted || diagnostics.iter().any(Diagnostic::is_error);
        let mut hasher = blake3::Hasher::new();
        hasher.update(&bytes).update(&[u8::from(trusted)]);
        let hash = *hasher.finalize().as_bytes();
        (Self { workspace: workspace_file, trusted, is_cut, held_back, hash }, diagnostics)
    }

    /// The prefix of the public names of a pack; usually empty.
    pub fn prefix(&self, pack: &str) -> &str {
        let prefixes = &self.workspace.prefixes;
        prefixes.iter().find(|(name, _)| name.value == pack).map_or("", |(_, prefix)| prefix)
    }

    /// Returns the configuration of a pack as written; an empty object if there is none.
    pub fn config(&self, pack: &str) -> Json {
        let packs = &self.workspace.packs;
        let written = packs.iter().find(|(name, _)| name.value == pack);
        written.map_or_else(|| serde_json::json!({}), |(_, written)| (*written.json).clone())
    }

    /// Returns the limits of a call: for each the first override that sets it, otherwise the default. This file can
    /// raise them only if it is trusted.
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
            ticks: of(|limits| limits.steps, usual.ticks),
            memory: bytes(of(|limits| limits.memory_mb, usual.memory as u64 >> 20), 1 << 20),
            output: bytes(of(|limits| limits.output_kb, usual.output as u64 >> 10), 1 << 10),
            depth: bytes(of(|limits| limits.depth, usual.depth as u64), 1),
        }
    }
}

//= docs/spec.md#robustness
//# A file that toolsd reads for itself MUST be a regular file of a bounded size.
fn too_large(size: u64) -> Box<Diagnostic> {
    let message = format!(
        "`{SETTINGS_FILE}` has {} kB, and is not used: at most {} kB are read",
        size >> 10,
        MAX_SETTINGS_BYTES >> 10
    );
    Diagnostic::new(Code::LIMIT, message).help("remove everything that is not a setting")
}

/// Keeps the first diagnostics of a file, and adds the number of the others.
pub fn limit_diagnostics(diagnostics: &mut Vec<Diagnostic>) {
    let more = diagnostics.len().saturating_sub(MAX_LISTED_DIAGNOSTICS);
    if more > 1 {
        let last = diagnostics[MAX_LISTED_DIAGNOSTICS].clone();
        diagnostics.truncate(MAX_LISTED_DIAGNOSTICS);
        diagnostics.push(Diagnostic { message: format!("and {more} more errors, first: {}", last.message), ..last });
    }
}

/// Removes from an untrusted file everything that decides what is served, where, and under which name. Reports each
/// key.
//= docs/spec.md#trust
//# An untrusted `toolsd.toml` MUST NOT choose packs, roots, names or paths, and MUST NOT raise a limit.
fn remove_powers(file: &mut WorkspaceDefinition, source: &Arc<Source>, why: &Diagnostic) -> Option<Diagnostic> {
    // Every field is named: a new one has to say whether an untrusted file may set it.
    let WorkspaceDefinition { serve, packs, prefixes, roots, limits, server, http, layers, code_mode, discover } =
        std::mem::take(file);
    let server_is_set = server != ServerDefinition::default();
    let names = [
        ("serve", serve.is_some()),
        ("prefixes", !prefixes.is_empty()),
        ("roots", !roots.is_empty()),
        ("server", server_is_set),
        ("http", http != HttpOverride::default()),
        ("layers", !layers.is_empty()),
        ("code_mode", code_mode.is_some()),
        ("discover", discover.is_some()),
    ];
    let unused: Vec<String> =
        names.into_iter().filter(|(_, is_set)| *is_set).map(|(name, _)| format!("`{name}`")).collect();
    *file = WorkspaceDefinition { packs, limits, ..WorkspaceDefinition::default() };
    let (list, verb) = match unused.as_slice() {
        [] => return None,
        [one] => (one.clone(), "is"),
        several => (several.join(", "), "are"),
    };
    let diagnostic = Diagnostic::new(
        UNTRUSTED,
        format!(
            "{list} {verb} not used: {}",
            why.message.replace(" and so not used", "").replace(", and so is not used", "")
        ),
    );
    Some(*diagnostic.warning().at(source.place(0..0)).help("read the file, then run `toolsd trust`"))
}

/// The configuration, its checker, and what is wrong with it. Of an untrusted file nothing that is a path (`format =
/// "path"`) is used.
pub fn configure(
    name: &str,
    pack: &PackDefinition,
    defs: &[(Located<String>, Schema)],
    settings: &WorkspaceSettings,
    validation: Validation,
    diagnostics: &mut Vec<Diagnostic>,
) -> (Json, Option<Checker>) {
    let mut config = settings.config(name);
    let written = settings.workspace.packs.iter().find(|(pack, _)| pack.value == name);
    let Some(schema) = &pack.config else {
        if let (Some((at, _)), Some(first)) = (written, config.as_object().and_then(|map| map.keys().next())) {
            let message = format!("the pack `{name}` has no configuration, so no `{first}`");
            diagnostics.push(*Diagnostic::new(Code("config"), message).at(at.at.clone()).help("remove the table"));
        }
        return (json!({}), None);
    };
    let checker = match schema.publish(defs).map(Checker::lazy) {
        // The schema is known to be sound and the configuration is not written: nothing can be wrong.
        Ok(checker) if validation == Validation::Skipped && written.is_none() => {
            checker.fill_defaults(&mut config);
            return (config, Some(checker));
        }
        Ok(checker) => checker,
        Err(diagnostic) => {
            let place = schema.place("").cloned();
            diagnostics.push(*match place {
                Some(place) => diagnostic.at(place),
                None => diagnostic,
            });
            return (config, None);
        }
    };
    if !settings.trusted {
        remove_paths(name, &mut config, pack, diagnostics);
    }
    for problem in checker.check(&config) {
        let diagnostic =
            Diagnostic::new(Code("config"), format!("`[packs.{name}]` of `{SETTINGS_FILE}`: {}", problem.message));
        let diagnostic = match problem.help {
            Some(help) => diagnostic.help(help),
            None => diagnostic,
        };
        let place = written.and_then(|(_, written)| written.place(&problem.pointer));
        diagnostics.push(*match place.or(written.map(|(name, _)| &name.at)) {
            Some(place) => diagnostic.at(place.clone()),
            None => diagnostic,
        });
    }
    checker.fill_defaults(&mut config);
    (config, Some(checker))
}

/// The paths that the configuration of a pack names (`format = "path"`): a person who writes one grants it. Of an
/// untrusted file only the defaults count. Relative ones begin at `workspace`.
pub fn granted_paths(name: &str, pack: &PackDefinition, settings: &WorkspaceSettings, workspace: &str) -> Vec<String> {
    let written = if settings.trusted { settings.config(name) } else { json!({}) };
    pack.config_paths(&written, workspace)
}

fn remove_paths(pack: &str, config: &mut Json, definition: &PackDefinition, diagnostics: &mut Vec<Diagnostic>) {
    let Some(map) = config.as_object_mut() else { return };
    for (name, _) in definition.path_properties() {
        if map.shift_remove(name).is_some() {
            let message =
                format!("`{name}` of `[packs.{pack}]` is not used: it is a path, and `{SETTINGS_FILE}` is not trusted");
            diagnostics
                .push(*Diagnostic::new(Code("untrusted"), message).warning().help("read it, then run `toolsd trust`"));
        }
    }
}

/// The code of the error below.
pub const NO_PACK: Code = Code("unknown-pack");

//= docs/spec.md#command-line
//# An unknown pack name MUST be answered with the nearest name, and the name of an untrusted pack with that
//# reason.
/// The error for a pack that `toolsd.toml`, or the command line, names and that is not among the `known` ones. `found`
/// are the diagnostics of the collected files: if files of the pack are withheld, they are the reason.
pub fn unknown_pack(name: &str, known: &[String], found: &[Diagnostic]) -> Box<Diagnostic> {
    let withheld: Vec<&Diagnostic> = found.iter().filter(|diagnostic| is_withheld_of(diagnostic, name)).collect();
    if !withheld.is_empty() {
        // A file that changed or requests more is a more precise reason than one that is not trusted.
        let reported = withheld.iter().find(|diagnostic| !diagnostic.message.contains("is not trusted"));
        let why = reported.map_or("its files are not trusted", |diagnostic| &*diagnostic.message);
        let help = reported
            .and_then(|diagnostic| diagnostic.help.as_deref())
            .unwrap_or("read its files, then run `toolsd trust`");
        return Diagnostic::new(NO_PACK, format!("pack `{name}` is not loaded: {why}")).help(help);
    }
    let diagnostic = Diagnostic::new(NO_PACK, format!("there is no pack `{name}`"));
    // The name may also be a misspelled one of an untrusted pack.
    let withheld =
        found.iter().filter(|diagnostic| is_withheld(diagnostic)).filter_map(|diagnostic| diagnostic.at.as_ref());
    let withheld = withheld.filter_map(|at| pack_of_file(&at.source.path));
    let known: BTreeSet<&str> = known.iter().map(String::as_str).chain(withheld).collect();
    match did_you_mean(name, known) {
        Some(help) => diagnostic.help(help),
        None => diagnostic.help("run `toolsd list --where`"),
    }
}
