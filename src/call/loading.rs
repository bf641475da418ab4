//! Makes the registry: files of all layers, definitions, checks, what serves here, the last good state of what is
//! broken.

use super::unmatched_names::{UNMATCHED_NAME, unmatched_names};
use crate::check;
use crate::definition::{PackDefinition, Validation, WorkspaceDefinition};
use crate::diagnostic::{Diagnostic, Result};
use crate::distribution::ProjectLayers;
use crate::registry::{
    NAME_CLASH, Pack, PackChoice, PackFiles, PackPart, PackParts, PackSelection, RefusedPart, Registry, RegistryParts,
    WorkspaceSettings, WorkspaceTrust, WorldOpener, assemble, compile_pack, expand_places, find_root, granted_paths,
    is_withheld, is_withheld_of, limit_diagnostics, merge_definitions, pack_of_file, roots_outside, select_pack,
    unknown_pack,
};
use crate::world::disk::shortages;
use crate::world::{World, path};
use rayon::prelude::*;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// Where packs come from, and where they work.
pub trait PackSource: WorldOpener + 'static {
    /// The workspace.
    fn workspace(&self) -> Arc<dyn World>;

    /// The layers, those of the project as its settings name them included.
    fn layers(&self, settings: &WorkspaceSettings) -> Result<ProjectLayers>;

    /// Returns the files that the user trusts in the workspace.
    fn trust(&self) -> Result<WorkspaceTrust>;

    /// Returns the errors of the sources themselves.
    fn diagnostics(&self) -> Vec<Diagnostic> {
        Vec::new()
    }

    /// Returns the packs that must not serve as they are, each with the reason: what they publish was not approved.
    fn unapproved(&self, _registry: &Registry) -> Vec<(String, Diagnostic)> {
        Vec::new()
    }

    /// Changes the settings as the command line asks.
    fn adjust(&self, _settings: &mut WorkspaceDefinition) {}

    /// Which packs the command line asks for.
    fn choice(&self) -> PackChoice;

    /// Further roots that the command line names.
    fn roots(&self) -> Vec<String>;
}

/// Returns an error for each additional root of a `toolsd.toml` that is not a folder: grants in it cover nothing.
fn absent_roots(site: &dyn PackSource, settings: &WorkspaceSettings) -> Vec<Diagnostic> {
    let known = settings.workspace.roots.iter();
    let reported = known.filter_map(|known| {
        let folder = path::join(site.workspace().root(), &known.value);
        let diagnostic = site.open(&folder, &[], &[]).err()?;
        Some(*diagnostic.at(known.at.clone()).warning().help("create the folder, or remove it from `roots`"))
    });
    reported.collect()
}

/// How often a site that could not be read is read again, and after how long.
const RETRIES: (usize, Duration) = (100, Duration::from_millis(100));

/// Creates the next generation. All errors are in its `diagnostics`; none of them stops the loading.
pub fn load_registry(site: &dyn PackSource, previous: &Registry) -> Registry {
    let registry = load_without(site, previous, &[]);
    match site.unapproved(&registry) {
        unapproved if unapproved.is_empty() => registry,
        unapproved => load_without(site, previous, &unapproved),
    }
}

/// The same, in which these packs serve in their previous state, or not at all.
fn load_without(site: &dyn PackSource, previous: &Registry, unapproved: &[(String, Diagnostic)]) -> Registry {
    let mut diagnostics = site.diagnostics();
    let trust = or_record(site.trust(), &mut diagnostics);
    let workspace = site.workspace();
    let (mut settings, broken) = WorkspaceSettings::load(workspace.as_ref(), &trust);
    site.adjust(&mut settings.workspace);
    diagnostics.extend(broken);
    diagnostics.extend(absent_roots(site, &settings));
    let layers = or_record(site.layers(&settings), &mut diagnostics);
    diagnostics.extend(layers.diagnostics);
    let (files, broken) = PackFiles::collect(&layers.layers);
    diagnostics.extend(broken);
    let names = files.packs();
    let lost = lost_packs(&names, &layers.refused, previous);
    diagnostics.extend(idle_tables(&settings, &names, &diagnostics));
    let choice = choose_packs(site.choice(), &settings, &names, &mut diagnostics);
    let loader = PackLoader { site, workspace, previous, settings };
    let mut loaded = loader.load_packs(&names, &files, &choice);
    refuse_unapproved(&names, &mut loaded, unapproved, previous);
    let (mut dormant, mut stale, mut fresh, mut kept) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut refused = Vec::new();
    let withheld = withheld_by_pack(&diagnostics);
    for (name, mut pack) in names.iter().zip(loaded) {
        if let Some(why) = withheld.get(name.as_str()) {
            pack.attribute_to(why);
        }
        pack.diagnostics.retain(|found| !diagnostics.contains(found));
        diagnostics.extend(pack.diagnostics);
        refused.extend(pack.refused);
        match pack.found {
            PackState::New(parts, root) => fresh.push((*parts, root)),
            PackState::Same => kept.push(name.clone()),
            PackState::Broken { last_good: true } => {
                //= docs/spec.md#reload
                //# A pack MUST be replaced as a whole, and its last valid version MUST stay active while it
                //# has an error.
                kept.push(name.clone());
                stale.push(name.clone());
            }
            PackState::Broken { last_good: false } => {}
            PackState::Dormant(markers) => dormant.push((name.clone(), markers)),
        }
    }
    for name in lost {
        kept.push(name.clone());
        stale.push(name);
    }
    let settings = loader.settings;
    add_prefixes(&mut refused, &settings);
    let mut registry = assemble(RegistryParts { fresh, kept, previous, settings });
    let clashes = std::mem::replace(&mut registry.diagnostics, diagnostics);
    registry.diagnostics.extend(clashes);
    registry.dormant = dormant;
    registry.stale = stale;
    registry.held_back = layers.held_back;
    registry.refused = refused;
    registry.diagnostics.extend(unmatched_names(&site.choice(), &registry));
    registry
}

//= docs/spec.md#layers
//# While a layer cannot be used as it is locked, what served of it before MUST continue to serve, and a
//# diagnostic MUST report it.
/// The packs that served from layers that cannot be used now, and that no other layer has.
fn lost_packs(names: &[String], refused: &[String], previous: &Registry) -> Vec<String> {
    let is_of = |pack: &Pack| pack.compiled.files.by_path.values().any(|file| refused.contains(&file.origin));
    let lost = previous.packs.iter().filter(|pack| !names.contains(&pack.name) && is_of(pack));
    lost.map(|pack| pack.name.clone()).collect()
}

/// The next generation; nothing if the process had no descriptor left each time, since what could not be read is not
/// gone.
//= docs/spec.md#robustness
//# When the process has no descriptors left, or may not extend a file, only the affected call MUST fail, with
//# the reason.
pub(super) fn load_with_retries(site: &dyn PackSource, before: &Registry) -> Option<Registry> {
    let (times, pause) = RETRIES;
    for _ in 0..times {
        let missed = shortages();
        let after = load_registry(site, before);
        if shortages() == missed {
            return Some(after);
        }
        thread::sleep(pause);
    }
    None
}

/// All packs of a site with all that is wrong with them, whether they serve or not: what `check` looks at.
pub fn load_packs(site: &dyn PackSource) -> (Vec<PackParts>, Vec<Diagnostic>) {
    let mut diagnostics = site.diagnostics();
    let trust = or_record(site.trust(), &mut diagnostics);
    let (settings, broken) = WorkspaceSettings::load(site.workspace().as_ref(), &trust);
    diagnostics.extend(broken);
    diagnostics.extend(absent_roots(site, &settings));
    let layers = or_record(site.layers(&settings), &mut diagnostics);
    diagnostics.extend(layers.diagnostics);
    let (files, broken) = PackFiles::collect(&layers.layers);
    diagnostics.extend(broken);
    let names = files.packs();
    diagnostics.extend(idle_tables(&settings, &names, &diagnostics));
    diagnostics.extend(absent_packs(&settings, &names, &diagnostics));
    // The definition of a pack may only be withheld.
    let mut ownerless = files.ownerless_files(&names);
    ownerless.retain(|(pack, _)| !diagnostics.iter().any(|diagnostic| is_withheld_of(diagnostic, pack)));
    diagnostics.extend(ownerless.into_iter().map(|(_, diagnostic)| diagnostic));
    let wanted = match choose_packs(site.choice(), &WorkspaceSettings::default(), &names, &mut diagnostics) {
        PackChoice::Named(wanted) => wanted,
        PackChoice::ByMarkers => names.clone(),
    };
    let read = |name: &String| PackParts::read(name, [0; 32], files.for_pack(name), &settings);
    let mut all: Vec<PackParts> = names.par_iter().map(read).collect();
    let found: Vec<Vec<Diagnostic>> = all
        .iter()
        .map(|parts| {
            let others: Vec<&PackParts> = all.iter().filter(|other| other.name != parts.name).collect();
            if wanted.contains(&parts.name) { check::check_among(parts, &others) } else { Vec::new() }
        })
        .collect();
    all.iter_mut().zip(found).for_each(|(parts, found)| parts.diagnostics.extend(found));
    all.retain(|parts| wanted.contains(&parts.name));
    (all, diagnostics)
}

/// Returns what is wrong with a registry and not with a single pack: names that two packs claim, and names in
/// `toolsd.toml` that no tool has.
pub fn wrong_names(registry: &Registry) -> impl Iterator<Item = Diagnostic> {
    let codes = [NAME_CLASH, UNMATCHED_NAME];
    registry.diagnostics.iter().filter(move |diagnostic| codes.contains(&diagnostic.code)).cloned()
}

struct PackLoader<'a> {
    site: &'a dyn PackSource,
    workspace: Arc<dyn World>,
    previous: &'a Registry,
    settings: WorkspaceSettings,
}

/// One pack after loading.
struct LoadedPack {
    found: PackState,
    diagnostics: Vec<Diagnostic>,
    /// Its parts that are broken and do not serve.
    refused: Vec<RefusedPart>,
}

enum PackState {
    /// New or changed, and it can be served there.
    New(Box<PackParts>, Arc<dyn World>),
    /// As before.
    Same,
    /// With an error; whether it served before.
    Broken { last_good: bool },
    /// It does not serve here; the markers that it looked for.
    Dormant(Vec<String>),
}

/// Returns the first diagnostic of each pack that reports a withheld file.
fn withheld_by_pack(diagnostics: &[Diagnostic]) -> BTreeMap<String, Diagnostic> {
    let mut found = BTreeMap::new();
    for diagnostic in diagnostics.iter().filter(|diagnostic| is_withheld(diagnostic)) {
        if let Some(pack) = diagnostic.at.as_ref().and_then(|at| pack_of_file(&at.source.path)) {
            found.entry(pack.to_owned()).or_insert_with(|| diagnostic.clone());
        }
    }
    found
}

impl LoadedPack {
    /// Reports the withheld file as the only cause: all other errors of the pack follow from it.
    fn attribute_to(&mut self, why: &Diagnostic) {
        self.diagnostics.retain(|diagnostic| !diagnostic.is_error());
        self.refused.iter_mut().for_each(|refused| refused.why = why.clone());
    }
}

/// Gives refused parts the names that clients know.
fn add_prefixes(refused: &mut [RefusedPart], settings: &WorkspaceSettings) {
    for one in refused {
        if let PackPart::Item(kind) = one.part
            && kind.has_prefix()
        {
            one.name.insert_str(0, settings.prefix(&one.pack));
        }
    }
}

/// Takes what is not approved out of the packs that were loaded.
fn refuse_unapproved(
    names: &[String],
    loaded: &mut [LoadedPack],
    unapproved: &[(String, Diagnostic)],
    previous: &Registry,
) {
    for (name, pack) in names.iter().zip(loaded) {
        if let Some((_, why)) = unapproved.iter().find(|(unapproved, _)| unapproved == name) {
            let last_good = previous.packs.iter().any(|pack| pack.name == *name);
            *pack = LoadedPack::unapproved(name, why, last_good);
        }
    }
}

impl LoadedPack {
    /// A pack that was not approved as it is.
    fn unapproved(name: &str, why: &Diagnostic, last_good: bool) -> Self {
        let refused =
            RefusedPart { pack: name.to_owned(), part: PackPart::Pack, name: name.to_owned(), why: why.clone() };
        Self {
            found: PackState::Broken { last_good },
            diagnostics: vec![why.clone()],
            refused: if last_good { Vec::new() } else { vec![refused] },
        }
    }
}

impl From<PackState> for LoadedPack {
    fn from(found: PackState) -> Self {
        Self { found, diagnostics: Vec::new(), refused: Vec::new() }
    }
}

impl PackLoader<'_> {
    /// Loads all packs. They are independent: they are read and compiled in parallel, the largest first, so that none
    /// is left for one thread at the end.
    fn load_packs(&self, names: &[String], files: &PackFiles, choice: &PackChoice) -> Vec<LoadedPack> {
        let mut work: Vec<(usize, PackFiles)> = names.iter().map(|name| files.for_pack(name)).enumerate().collect();
        work.sort_by_cached_key(|(_, files)| Reverse(files.definition_bytes()));
        let loaded = work.into_par_iter().with_max_len(1).map(|(index, files)| {
            let loaded = self.load_pack(&names[index], files, choice);
            (index, loaded)
        });
        let mut loaded: Vec<(usize, LoadedPack)> = loaded.collect();
        loaded.sort_by_key(|(index, _)| *index);
        loaded.into_iter().map(|(_, loaded)| loaded).collect()
    }

    fn load_pack(&self, name: &str, files: PackFiles, choice: &PackChoice) -> LoadedPack {
        let hash = self.hash(&files);
        // A clash dropped names of unchanged packs, which are assembled again.
        let clashed = self.previous.diagnostics.iter().any(|diagnostic| diagnostic.code == NAME_CLASH);
        let known = self.previous.packs.iter().find(|pack| pack.name == name);
        // One that was never sound as a whole has no last good state, and is looked at again.
        let in_part = self.previous.refused.iter().any(|refused| refused.pack == name);
        // What is known of it may be about a broken edit that was taken back.
        let is_stale = self.previous.stale.iter().any(|stale| stale == name);
        let unchanged = known.filter(|pack| pack.compiled.hash == hash && !clashed && !in_part && !is_stale);
        let has_last_good = known.is_some() && !in_part;
        if let Some(pack) = unchanged {
            let is_same =
                |root: &Arc<dyn World>| pack.compiled.root.as_ref().is_some_and(|old| old.root() == root.root());
            match self.locate(name, &pack.definition, choice) {
                Ok(root) if is_same(&root) => {
                    return LoadedPack { diagnostics: self.known_diagnostics(&files), ..PackState::Same.into() };
                }
                Ok(_) => {}
                Err(other) => return other,
            }
        }
        let mut merged = merge_definitions(name, &files, files.validation());
        //= docs/spec.md#definitions
        //# A path that a trusted `toolsd.toml` configures MUST be granted for reading.
        let paths = granted_paths(name, &merged.pack, &self.settings, self.workspace.root());
        merged.pack.grants.read.extend(paths);
        merged.pack.grants.read = expand_places(&merged.pack.grants.read, self.workspace.root(), self.site);
        match self.locate(name, &merged.pack, choice) {
            Ok(root) => judge_pack(compile_pack(name, hash, files, merged, &self.settings), root, has_last_good),
            Err(other) => other,
        }
    }

    /// What was found in the files of a pack that has not changed since.
    fn known_diagnostics(&self, files: &PackFiles) -> Vec<Diagnostic> {
        let is_in = |known: &&Diagnostic| known.at.as_ref().is_some_and(|at| files.has(&at.source.path));
        self.previous.diagnostics.iter().filter(is_in).filter(|known| !is_withheld(known)).cloned().collect()
    }

    /// Returns the root of a pack that serves here; otherwise the pack unchanged.
    fn locate(
        &self,
        name: &str,
        pack: &PackDefinition,
        choice: &PackChoice,
    ) -> std::result::Result<Arc<dyn World>, LoadedPack> {
        let folder = find_root(pack, self.workspace.as_ref(), self.site);
        let folder = folder.unwrap_or_else(|_| self.workspace.root().to_owned());
        let root = self.open(&folder, roots_outside(pack));
        let root = root.map_err(|diagnostic| LoadedPack {
            found: PackState::Broken { last_good: false },
            refused: vec![RefusedPart {
                pack: name.to_owned(),
                part: PackPart::Pack,
                name: name.to_owned(),
                why: (*diagnostic).clone(),
            }],
            diagnostics: vec![*diagnostic],
        })?;
        match select_pack(name, pack, choice, self.workspace.as_ref(), root.as_ref(), self.site) {
            PackSelection::Dormant(markers) => Err(PackState::Dormant(markers).into()),
            _ => Ok(root),
        }
    }

    fn open(&self, folder: &str, outer: Vec<String>) -> Result<Arc<dyn World>> {
        let mut roots = self.site.roots();
        roots.extend(self.settings.workspace.roots.iter().map(|root| path::join(self.workspace.root(), &root.value)));
        if roots.is_empty() && outer.is_empty() && folder == self.workspace.root() {
            return Ok(Arc::clone(&self.workspace));
        }
        self.site.open(folder, &roots, &outer)
    }

    fn hash(&self, files: &PackFiles) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&files.hash()).update(&self.settings.hash);
        *hasher.finalize().as_bytes()
    }
}

/// Decides whether a compiled pack serves, by what the rules find in it.
fn judge_pack(mut parts: PackParts, root: Arc<dyn World>, known: bool) -> LoadedPack {
    if parts.files.validation() == Validation::Full {
        let found = check::check(&parts);
        parts.diagnostics.extend(found);
    }
    let diagnostics = parts.diagnostics.clone();
    if parts.is_sound() {
        return LoadedPack { found: PackState::New(Box::new(parts), root), diagnostics, refused: Vec::new() };
    }
    if known {
        return LoadedPack { found: PackState::Broken { last_good: true }, diagnostics, refused: Vec::new() };
    }
    // There is no last good state: then the parts that are sound, unless none of it is.
    let refused = check::refuse_broken_parts(&mut parts);
    let found = match refused.iter().any(|refused| refused.part == PackPart::Pack) {
        true => PackState::Broken { last_good: false },
        false => PackState::New(Box::new(parts), root),
    };
    LoadedPack { found, diagnostics, refused }
}

/// Returns an error for each table `[packs.NAME]` without effect: its pack neither exists nor is withheld.
fn idle_tables(settings: &WorkspaceSettings, names: &[String], diagnostics: &[Diagnostic]) -> Vec<Diagnostic> {
    let withheld = withheld_by_pack(diagnostics);
    let tables = settings.workspace.packs.iter().map(|(name, _)| name);
    let idle = tables.filter(|name| !names.contains(&name.value) && !withheld.contains_key(name.value.as_str()));
    let mut diagnostics = idle
        .map(|name| {
            let mut diagnostic = *unknown_pack(&name.value, names, diagnostics).warning().at(name.at.clone());
            diagnostic.message = format!("`[packs.{}]` has no effect: {}", name.value, diagnostic.message);
            diagnostic
        })
        .collect();
    limit_diagnostics(&mut diagnostics);
    diagnostics
}

/// The errors for packs that a `toolsd.toml` wants served and that are not loaded. `found` are the diagnostics of the
/// collected files.
fn absent_packs(settings: &WorkspaceSettings, names: &[String], found: &[Diagnostic]) -> Vec<Diagnostic> {
    let wanted = settings.workspace.serve.iter().flatten().filter(|name| !names.contains(&name.value));
    wanted.map(|name| *unknown_pack(&name.value, names, found).at(name.at.clone())).collect()
}

/// Returns the packs that the command line chooses, otherwise `toolsd.toml`. Names of unknown packs become errors.
fn choose_packs(
    line: PackChoice,
    settings: &WorkspaceSettings,
    names: &[String],
    diagnostics: &mut Vec<Diagnostic>,
) -> PackChoice {
    let absent = absent_packs(settings, names, diagnostics);
    diagnostics.extend(absent);
    match (line, &settings.workspace.serve) {
        (PackChoice::Named(wanted), _) => {
            let unknown = wanted.iter().filter(|name| !names.contains(name));
            let unknown: Vec<Diagnostic> = unknown.map(|name| *unknown_pack(name, names, diagnostics)).collect();
            diagnostics.extend(unknown);
            PackChoice::Named(wanted)
        }
        (PackChoice::ByMarkers, Some(serve)) => {
            PackChoice::Named(serve.iter().map(|name| name.value.clone()).collect())
        }
        (PackChoice::ByMarkers, None) => PackChoice::ByMarkers,
    }
}

fn or_record<T: Default>(result: Result<T>, diagnostics: &mut Vec<Diagnostic>) -> T {
    result.unwrap_or_else(|diagnostic| {
        diagnostics.push(*diagnostic);
        T::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::Prompt;
    use crate::registry::{EMBEDDED, Layer, MergedDefinitions};

    fn files_of_the_binary() -> PackFiles {
        let (files, diagnostics) =
            PackFiles::collect(&[Layer { origin: EMBEDDED.to_owned(), world: None, trust: None, is_stored: false }]);
        assert_eq!(diagnostics, []);
        files
    }

    #[test]
    fn built_in_packs_have_no_diagnostics() {
        let files = files_of_the_binary();
        let read = |name: &String| PackParts::read(name, [0; 32], files.for_pack(name), &WorkspaceSettings::default());
        let all: Vec<PackParts> = files.packs().iter().map(read).collect();
        for parts in &all {
            let others: Vec<&PackParts> = all.iter().filter(|other| other.name != parts.name).collect();
            assert_eq!(parts.diagnostics, [], "{}", parts.name);
            assert_eq!(check::check_among(parts, &others), [], "{}", parts.name);
            assert_eq!(check::check_for_directory(parts), [], "{}", parts.name);
        }
    }

    #[test]
    fn a_start_reads_the_packs_of_the_binary_as_they_are() {
        let files = files_of_the_binary();
        for name in files.packs() {
            let read = |validation: Validation| {
                let MergedDefinitions { mut definitions, pack, .. } =
                    merge_definitions(&name, &files.for_pack(&name), validation);
                // A start needs none of them.
                assert!(validation == Validation::Full || definitions.cases.is_empty());
                definitions.cases.clear();
                let schemas = definitions.tools.iter_mut().flat_map(|tool| {
                    let operations = tool.dispatch.iter_mut().flat_map(|dispatch| &mut dispatch.operations);
                    let own = operations.map(|operation| &mut operation.input);
                    own.chain([&mut tool.input]).chain(&mut tool.output).collect::<Vec<_>>()
                });
                let defs = definitions.defs.iter_mut().map(|(_, schema)| schema);
                let variables = definitions.resources.iter_mut().flat_map(|resource| &mut resource.variables);
                schemas.chain(defs).chain(variables).for_each(|schema| schema.places.clear());
                (definitions, pack)
            };
            let ((known, pack), (full, whole)) = (read(Validation::Skipped), read(Validation::Full));
            assert_eq!(format!("{:#?}", known.tools), format!("{:#?}", full.tools), "{name}");
            assert_eq!(format!("{:?}", (known.resources, known.data)), format!("{:?}", (full.resources, full.data)));
            assert_eq!(format!("{:?}", (known.graph, known.defs)), format!("{:?}", (full.graph, full.defs)), "{name}");
            assert_eq!(format!("{:?}", known.skills), format!("{:?}", full.skills), "{name}");
            let names = |prompts: &[Prompt]| prompts.iter().map(|one| one.name.value.clone()).collect::<Vec<_>>();
            assert_eq!(names(&known.prompts), names(&full.prompts), "{name}");
            assert_eq!(
                (pack.title.value, pack.activate_if_exists),
                (whole.title.value, whole.activate_if_exists),
                "{name}"
            );
        }
    }
}
