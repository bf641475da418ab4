//! Makes the registry: files of all layers, definitions, checks, what serves here, the last good state of what is broken.

use crate::check;
use crate::diagnostic::{Diagnostic, Result};
use crate::primitive::Effect;
use crate::registry::{
    Assembly, Choice, Files, Layer, PackParts, Registry, Served, Settings, Trust, Worlds, assemble, compile, grant,
    merge, no_pack, outer_roots, root_of, serves,
};
use crate::world::World;
use std::sync::Arc;

/// Where packs come from, and where they work.
pub trait Site: Worlds + 'static {
    /// The workspace.
    fn workspace(&self) -> Arc<dyn World>;

    /// The layers, the first one strongest.
    fn layers(&self) -> Result<Vec<Layer>>;

    /// What a person allowed in the workspace.
    fn trust(&self) -> Result<Trust>;

    /// Which packs the command line asks for.
    fn choice(&self) -> Choice;

    /// Further roots that the command line names.
    fn roots(&self) -> Vec<String>;
}

/// Makes the next generation. Reads to the end: what is wrong is in its `faults`.
pub fn load(site: &dyn Site, previous: &Registry) -> Registry {
    let mut faults = Vec::new();
    let trust = caught(site.trust(), &mut faults);
    let layers = caught(site.layers(), &mut faults);
    let workspace = site.workspace();
    let (settings, broken) = Settings::load(workspace.as_ref(), &trust);
    faults.extend(broken);
    let (files, broken) = Files::collect(&layers);
    faults.extend(broken);
    let names = files.packs();
    let choice = chosen(site.choice(), &settings, &names, &mut faults);
    let mut loading = Loading { site, workspace, previous, settings, faults, fresh: Vec::new(), kept: Vec::new() };
    let (mut dormant, mut stale) = (Vec::new(), Vec::new());
    for name in &names {
        match loading.pack(name, files.of_pack(name), &choice) {
            Found::Serves => {}
            Found::Broken { last_good } => stale.extend(last_good.then(|| name.clone())),
            Found::Dormant(markers) => dormant.push((name.clone(), markers)),
        }
    }
    let Loading { settings, faults, fresh, kept, .. } = loading;
    let mut registry = assemble(Assembly { fresh, kept, previous, settings });
    let clashes = std::mem::replace(&mut registry.faults, faults);
    registry.faults.extend(clashes);
    registry.dormant = dormant;
    registry.stale = stale;
    registry
}

/// All packs of a site with all that is wrong with them, whether they serve or not: what `check` looks at.
pub fn parts(site: &dyn Site) -> (Vec<PackParts>, Vec<Diagnostic>) {
    let mut faults = Vec::new();
    let trust = caught(site.trust(), &mut faults);
    let layers = caught(site.layers(), &mut faults);
    let (settings, broken) = Settings::load(site.workspace().as_ref(), &trust);
    faults.extend(broken);
    let (files, broken) = Files::collect(&layers);
    faults.extend(broken);
    let names = files.packs();
    let wanted = match chosen(site.choice(), &Settings::default(), &names, &mut faults) {
        Choice::Named(wanted) => wanted,
        Choice::ByMarkers => names,
    };
    let mut all = Vec::new();
    for name in wanted {
        let mut parts = PackParts::read(&name, [0; 32], files.of_pack(&name), &settings);
        parts.faults.extend(check::check(&parts));
        all.push(parts);
    }
    (all, faults)
}

/// The faults of a registry that no pack has by itself: names that two of them claim.
pub fn clashes(registry: &Registry) -> impl Iterator<Item = Diagnostic> {
    registry.faults.iter().filter(|fault| fault.code.0 == "name-clash").cloned()
}

struct Loading<'a> {
    site: &'a dyn Site,
    workspace: Arc<dyn World>,
    previous: &'a Registry,
    settings: Settings,
    faults: Vec<Diagnostic>,
    fresh: Vec<(PackParts, Arc<dyn World>)>,
    kept: Vec<String>,
}

enum Found {
    Serves,
    Broken { last_good: bool },
    Dormant(Vec<String>),
}

impl Loading<'_> {
    fn pack(&mut self, name: &str, files: Files, choice: &Choice) -> Found {
        let hash = self.hash(&files);
        // A clash dropped names of unchanged packs: they are put together anew.
        let clashed = self.previous.faults.iter().any(|fault| fault.code.0 == "name-clash");
        let known = self.previous.packs.iter().find(|pack| pack.name == name);
        let unchanged = known.filter(|pack| pack.made.hash == hash && !clashed);
        let (definitions, definition, broken) = match unchanged {
            Some(pack) => (None, pack.definition.clone(), Vec::new()),
            None => {
                let (definitions, definition, broken) = merge(name, &files);
                (Some(definitions), definition, broken)
            }
        };
        let folder = root_of(&definition, self.workspace.as_ref(), self.site);
        let folder = folder.unwrap_or_else(|_| self.workspace.root().to_owned());
        let root = match self.open(&folder, outer_roots(&definition)) {
            Ok(root) => root,
            Err(fault) => {
                self.faults.push(*fault);
                return Found::Broken { last_good: false };
            }
        };
        if let Served::No(markers) = serves(name, &definition, choice, self.workspace.as_ref(), root.as_ref()) {
            return Found::Dormant(markers);
        }
        let same_root = known.and_then(|pack| pack.made.root.as_ref()).is_some_and(|old| old.root() == root.root());
        let Some(definitions) = definitions else {
            if same_root {
                self.kept.push(name.to_owned());
                return Found::Serves;
            }
            let parts = PackParts::read(name, hash, files, &self.settings);
            return self.take(parts, root, known.is_some());
        };
        let parts = compile(name, hash, files, definitions, definition, broken, &self.settings);
        self.take(parts, root, known.is_some())
    }

    fn take(&mut self, mut parts: PackParts, root: Arc<dyn World>, known: bool) -> Found {
        parts.faults.extend(check::check(&parts));
        if let Err(fault) = grant(&parts.pack, &root, Effect::Writes) {
            parts.faults.push(*fault.at(parts.pack.title.at.clone()));
        }
        self.faults.extend(parts.faults.iter().cloned());
        //= docs/spec.md#reload
        //# A pack MUST be replaced as a whole or not at all.
        if parts.is_sound() {
            self.fresh.push((parts, root));
            return Found::Serves;
        }
        //= docs/spec.md#reload
        //# A pack with a fault MUST leave the last good one serving.
        if known {
            self.kept.push(parts.name);
        }
        Found::Broken { last_good: known }
    }

    fn open(&self, folder: &str, outer: Vec<String>) -> Result<Arc<dyn World>> {
        let mut roots = self.site.roots();
        roots.extend(self.settings.workspace.roots.iter().map(|root| root.value.clone()));
        roots.extend(outer);
        if roots.is_empty() && folder == self.workspace.root() {
            return Ok(Arc::clone(&self.workspace));
        }
        self.site.open(folder, &roots)
    }

    fn hash(&self, files: &Files) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&files.hash()).update(&self.settings.hash);
        *hasher.finalize().as_bytes()
    }
}

/// The command line's word, else that of `toolsd.toml`; names of packs that are not there are told.
fn chosen(line: Choice, settings: &Settings, names: &[String], faults: &mut Vec<Diagnostic>) -> Choice {
    let told = settings.workspace.serve.iter().flatten().filter(|name| !names.contains(&name.value));
    faults.extend(told.map(|name| *no_pack(&name.value, names).at(name.at.clone())));
    match (line, &settings.workspace.serve) {
        (Choice::Named(wanted), _) => {
            faults.extend(wanted.iter().filter(|name| !names.contains(name)).map(|name| *no_pack(name, names)));
            Choice::Named(wanted)
        }
        (Choice::ByMarkers, Some(serve)) => Choice::Named(serve.iter().map(|name| name.value.clone()).collect()),
        (Choice::ByMarkers, None) => Choice::ByMarkers,
    }
}

fn caught<T: Default>(result: Result<T>, faults: &mut Vec<Diagnostic>) -> T {
    result.unwrap_or_else(|fault| {
        faults.push(*fault);
        T::default()
    })
}
