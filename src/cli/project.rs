//! The project that the commands for layers change: `toolsd.toml`, `toolsd.lock`, `toolsd.surface.json`, and trust.

use super::context::{CommandContext, change_trust_record, load_trust};
use super::options::OutputFormat;
use super::trust_layers::find_layer;
use crate::call::load_registry;
use crate::definition::{LayerDefinition, LayerSource, SETTINGS_FILE, WantedRevision, read_workspace};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::distribution::{
    FetchedLayer, LAYER, LOCK_FILE, LayerState, LayerStore, LockFile, LockedLayer, ProjectLayers, Remote,
};
use crate::registry::{
    FOLDERS, Layer, PackChoice, Permissions, Registry, UNTRUSTED, WorkspaceTrust, is_withheld, keep_trusted,
};
use crate::source::{Place, Source};
use crate::surface::{SURFACE_FILE, surface, surface_text};
use crate::value::Json;
use crate::world::{FileChange, World, path, text_from_bytes};
use rayon::prelude::*;
use serde_json::json;

/// A project as it is, or as it will be.
#[derive(Clone)]
pub struct Project {
    /// The text of `toolsd.toml`; empty if there is none.
    pub settings: String,
    pub definitions: Vec<LayerDefinition>,
    /// The packs that it serves, if it names them.
    pub serve: Option<Vec<String>>,
    pub lock: LockFile,
    /// `toolsd.toml` and the lock file as they were read.
    read: [Option<Vec<u8>>; 2],
    /// Layers that were fetched now, so that they need not be in the store.
    fetched: Vec<(String, FetchedLayer)>,
}

impl Project {
    /// Reads the files of a project.
    ///
    /// # Errors
    /// `toolsd.toml` is not trusted, or has errors in its layers; the lock file cannot be read.
    pub fn open(context: &CommandContext) -> Result<Self> {
        let workspace = context.workspace.as_ref();
        // Before anything else of them is read: what changes from now on is noticed by `write`.
        let read = read_files(workspace)?;
        let bytes = read[0].clone().unwrap_or_default();
        let trust = load_trust(workspace.root())?;
        if !bytes.is_empty() {
            trust.check_settings(&bytes).map_err(|error| {
                let message = format!("its layers are not read: {}", error.message);
                Diagnostic::new(UNTRUSTED, message).help("read it, then run `toolsd trust`")
            })?;
        }
        let lock = LockFile::load(workspace)?;
        let mut project =
            Self { settings: String::new(), definitions: Vec::new(), serve: None, lock, read, fetched: Vec::new() };
        project.set_settings(text_from_bytes(SETTINGS_FILE, bytes)?)?;
        Ok(project)
    }

    /// Takes another text of `toolsd.toml`.
    ///
    /// # Errors
    /// It has errors.
    pub fn set_settings(&mut self, text: String) -> Result<()> {
        let (workspace, diagnostics) = read_workspace(&Source::new(SETTINGS_FILE, text.as_str()));
        match diagnostics.into_iter().find(Diagnostic::is_error) {
            Some(error) => return Err(Box::new(error)),
            None => self.definitions = workspace.layers,
        }
        self.serve = workspace.serve.map(|names| names.into_iter().map(|name| name.value).collect());
        self.settings = text;
        let names: Vec<&str> = self.definitions.iter().map(|layer| layer.name.value.as_str()).collect();
        self.lock.layers.retain(|locked| names.contains(&locked.name.as_str()));
        Ok(())
    }

    /// The layer of this name.
    ///
    /// # Errors
    /// There is none.
    pub fn definition(&self, name: &str) -> Result<&LayerDefinition> {
        self.definitions.iter().find(|layer| layer.name.value == name).ok_or_else(|| {
            let error = Diagnostic::new(Code("usage"), format!("`{SETTINGS_FILE}` has no layer `{name}`"));
            let known = self.definitions.iter().map(|layer| layer.name.value.as_str());
            error.help_for(name, known, "`toolsd add URL` adds one")
        })
    }

    /// Brings what a layer wants now, shows it, and locks it.
    ///
    /// # Errors
    /// As [`Remote::fetch`]; or a locked tag names another commit now, and that is not accepted.
    pub fn fetch(
        &mut self,
        context: &CommandContext,
        remote: &Remote,
        RemoteLayer { definition, url, wanted }: &RemoteLayer,
        accepts_moved: bool,
    ) -> Result<LayerState> {
        let (tag, commit) = remote.current(wanted)?;
        if !accepts_moved {
            self.lock.check_moved(&definition.name.value, url, tag.as_deref(), &commit)?;
        }
        let fetched = remote.fetch(definition, wanted)?;
        let state = LayerState::of_fetched(definition, &fetched)?;
        if context.options.format != OutputFormat::Json {
            state.lines("").iter().for_each(|line| context.terminal.line(line));
        }
        self.put(definition, fetched);
        Ok(state)
    }

    /// Puts a fetched layer into the lock, in place of what was locked.
    fn put(&mut self, definition: &LayerDefinition, fetched: FetchedLayer) {
        let name = definition.name.value.clone();
        let locked = LockedLayer::of_fetched(definition, &fetched);
        match self.lock.layers.iter_mut().find(|layer| layer.name == name) {
            Some(known) => *known = locked,
            None => self.lock.layers.push(locked),
        }
        let place = |layer: &LockedLayer| self.definitions.iter().position(|known| known.name.value == layer.name);
        self.lock.layers.sort_by_key(place);
        self.fetched.retain(|(known, _)| *known != name);
        self.fetched.push((name, fetched));
    }

    /// A layer as the lock has it.
    ///
    /// # Errors
    /// It is not locked, or not on this machine.
    pub fn state(&self, context: &CommandContext, definition: &LayerDefinition) -> Result<LayerState> {
        if let Some((_, fetched)) = self.fetched.iter().find(|(name, _)| *name == definition.name.value) {
            return LayerState::of_fetched(definition, fetched);
        }
        find_layer(context, definition, &Ok(self.lock.clone()))
    }

    /// Its layers as the lock has them, whether they are trusted or not.
    ///
    /// # Errors
    /// One is not on this machine.
    pub fn layers(&self, context: &CommandContext) -> Result<Vec<Layer>> {
        let state = |definition| Ok((definition, self.state(context, definition)?));
        let states: Result<Vec<_>> = self.definitions.iter().map(state).collect();
        Ok(ProjectLayers::of_states(states?)?.layers)
    }

    /// What serves if all its layers are trusted as they are. The packs of the user's folder are omitted, since other
    /// machines do not have them.
    ///
    /// # Errors
    /// A layer is not on this machine.
    pub fn registry(&self, context: &CommandContext) -> Result<Registry> {
        let mut source = context.pack_source(PackChoice::ByMarkers)?;
        source.take_layers(self.layers(context)?);
        Ok(load_registry(&source, &Registry::default()))
    }

    /// The surface of all that serves: `registry` is that of the project.
    ///
    /// # Errors
    /// A file of the workspace is not trusted, or one of a pack has errors, so that the surface would lack it.
    pub fn surface(&self, context: &CommandContext, registry: &Registry) -> Result<Json> {
        if let Some(withheld) = registry.diagnostics.iter().find(|found| is_withheld(found)) {
            let message = format!("the surface would lack what is not trusted: {}", withheld.message);
            return Err(Diagnostic::new(UNTRUSTED, message).help("read it, then run `toolsd trust`"));
        }
        let refused = registry.refused.first().map(|refused| &refused.why);
        if let Some(error) = registry.diagnostics.iter().find(|found| is_of_pack(found)).or(refused) {
            let message = format!("the surface would lack what has errors: {error}");
            return Err(Diagnostic::new(LAYER, message).help("`toolsd check` lists all errors"));
        }
        self.check_own_packs(context)?;
        Ok(surface(registry))
    }

    /// Fails where packs lie at the top of the workspace and no `--dir` names it: a catalogue's own repository.
    fn check_own_packs(&self, context: &CommandContext) -> Result<()> {
        let [tools, ..] = FOLDERS;
        if context.is_own_layer() || !matches!(context.workspace.stat(tools), Ok(Some(_))) {
            return Ok(());
        }
        let message = format!("the packs in `{tools}` of this folder are not looked at: only a layer has packs");
        Err(Diagnostic::new(Code("usage"), message).help("add `--dir .`, which makes a layer of this folder"))
    }

    /// The files of the project that would change, path and text: `registry` is that of the project.
    ///
    /// # Errors
    /// As [`surface`](Self::surface), or a file cannot be read.
    pub fn changes(&self, context: &CommandContext, registry: &Registry) -> Result<ChangedFiles> {
        let workspace = context.workspace.as_ref();
        let surface = surface_text(&self.surface(context, registry)?);
        let files = [(SETTINGS_FILE, self.settings.clone()), (LOCK_FILE, self.lock.to_text()), (SURFACE_FILE, surface)];
        let mut changes = Vec::new();
        for (file, text) in files {
            let before = match workspace.stat(file)? {
                None => None,
                Some(_) => Some(workspace.read(file)?),
            };
            // A project without layers needs no lock file.
            if before.is_none() && file == LOCK_FILE && self.lock.layers.is_empty() {
                continue;
            }
            // Git may check text out with `\r\n`.
            let plain = |before: &[u8]| String::from_utf8_lossy(before).replace("\r\n", "\n");
            let is_same = before.as_deref().map_or(text.is_empty(), |before| plain(before) == plain(text.as_bytes()));
            if !is_same {
                changes.push((file, text));
            }
        }
        Ok(changes)
    }

    //= docs/spec.md#layers
    //# A command that changes layers MUST write all of its files, or none.
    /// Writes the files that [change](Self::changes), stores what was fetched, and trusts it. Returns the names of the
    /// files.
    ///
    /// # Errors
    /// A file cannot be written; then none is.
    pub fn write(&self, context: &CommandContext, changes: ChangedFiles) -> Result<Vec<&'static str>> {
        let store = LayerStore::of_user()?;
        self.fetched.iter().try_for_each(|(_, fetched)| store.put(fetched))?;
        keep_trusted(self.settings.as_bytes())?;
        let mut states = Vec::new();
        for (name, _) in &self.fetched {
            states.push(self.state(context, self.definition(name)?)?);
        }
        let change = |(path, text): &(&str, String)| FileChange {
            path: (*path).to_owned(),
            bytes: Some(text.as_bytes().into()),
            like: None,
        };
        let files: Vec<FileChange> = changes.iter().map(change).collect();
        let mut is_unchanged = Ok(());
        // Trust comes first: a process that is killed in between leaves files that are trusted, as they were before. While one
        // process holds the record, no other one writes the files of a project.
        let _held = change_trust_record(context.workspace.root(), |record| {
            is_unchanged = self.check_unchanged(context);
            if is_unchanged.is_ok() {
                self.trust(record.workspace_mut(context.workspace.root()), &states);
            }
        })?;
        is_unchanged.and_then(|()| context.workspace.apply(&files))?;
        Ok(changes.into_iter().map(|(file, _)| file).collect())
    }

    /// Writes the files that change if a person agrees; otherwise a note says how to agree.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub fn write_agreed(
        &self,
        context: &CommandContext,
        changes: ChangedFiles,
        yes: bool,
        question: &str,
    ) -> Result<Option<Vec<&'static str>>> {
        if context.terminal.agrees(yes, question) {
            return self.write(context, changes).map(Some);
        }
        let how = if context.terminal.can_ask() { "" } else { "; without a terminal, `--yes` agrees" };
        context.terminal.note(&format!("nothing was written{how}"));
        Ok(None)
    }

    /// Fails if another process has changed the project since it was read.
    fn check_unchanged(&self, context: &CommandContext) -> Result<()> {
        if read_files(context.workspace.as_ref())? == self.read {
            return Ok(());
        }
        let message = format!("`{SETTINGS_FILE}` or `{LOCK_FILE}` has changed meanwhile; nothing was written");
        Err(Diagnostic::new(LAYER, message).help("run the command again"))
    }

    fn trust(&self, trust: &mut WorkspaceTrust, states: &[LayerState]) {
        let settings = self.settings.as_bytes();
        // What the last layer leaves behind may be an empty file.
        if !settings.is_empty() || self.read[0].is_some() {
            let source = Source::new(SETTINGS_FILE, self.settings.as_str());
            trust.allow_files([(SETTINGS_FILE.to_owned(), settings, Permissions::from_settings(&source))]);
        }
        for state in states {
            trust.allow_layer(&state.name, state.to_trusted(false));
        }
    }
}

/// Files of a project and their new texts.
pub type ChangedFiles = Vec<(&'static str, String)>;

/// The bytes of `toolsd.toml` and of the lock file.
fn read_files(workspace: &dyn World) -> Result<[Option<Vec<u8>>; 2]> {
    let read = |file: &str| workspace.stat(file)?.map(|_| workspace.read(file)).transpose();
    Ok([read(SETTINGS_FILE)?, read(LOCK_FILE)?])
}

/// Whether this is an error in a file of a pack.
fn is_of_pack(found: &Diagnostic) -> bool {
    let is_in = |place: &Place| FOLDERS.into_iter().any(|folder| path::is_below(&place.source.path, folder));
    found.is_error() && found.at.as_ref().is_some_and(is_in)
}

/// A layer with `git`.
pub struct RemoteLayer {
    pub definition: LayerDefinition,
    /// The address of its repository.
    pub url: String,
    /// Which commit of it.
    pub wanted: WantedRevision,
}

/// Each layer with `git`, or those of these names.
pub fn remote_layers(project: &Project, names: &[String]) -> Result<Vec<RemoteLayer>> {
    names.iter().try_for_each(|name| project.definition(name).map(drop))?;
    let mut remotes = Vec::new();
    let is_chosen = |layer: &&LayerDefinition| names.is_empty() || names.contains(&layer.name.value);
    for definition in project.definitions.iter().filter(is_chosen) {
        match &definition.source {
            LayerSource::Git { url, wanted } => {
                let (url, wanted) = (url.clone(), wanted.clone());
                remotes.push(RemoteLayer { definition: definition.clone(), url, wanted });
            }
            LayerSource::Path(path) if !names.is_empty() => {
                let message = format!("layer {} is the folder `{path}`: it is not locked", definition.name.value);
                return Err(Diagnostic::new(LAYER, message).help("edit its files, then run `toolsd trust`"));
            }
            LayerSource::Path(_) => {}
        }
    }
    Ok(remotes)
}

/// What a repository answered: a row for the listing, and an error or a warning.
pub type RepositoryAnswer = (Json, Option<Diagnostic>);

/// Asks the repositories of all layers at once, and lists what they answered by these keys. Returns the rows, and whether
/// one failed.
pub fn ask_each<L: Sync>(
    context: &CommandContext,
    layers: &[L],
    keys: &[&str],
    ask: impl Fn(&L) -> Result<RepositoryAnswer> + Send + Sync,
) -> (Vec<Json>, bool) {
    let answers: Vec<Result<RepositoryAnswer>> = layers.par_iter().map(ask).collect();
    let (mut rows, mut failed) = (Vec::new(), false);
    for answer in answers {
        let found = match answer {
            Ok((row, found)) => {
                rows.push(row);
                found
            }
            Err(error) => Some(*error),
        };
        failed |= found.as_ref().is_some_and(Diagnostic::is_error);
        found.iter().for_each(|found| context.terminal.diagnostic(found));
    }
    let cell = |row: &Json, key: &str| row[key].as_str().unwrap_or_default().to_owned();
    match context.options.format {
        OutputFormat::Json => context.terminal.json(&json!({ "layers": rows })),
        _ if layers.is_empty() => context.terminal.note("no layer of `toolsd.toml` is from git"),
        _ if rows.is_empty() => {}
        _ => {
            let cells = rows.iter().map(|row| keys.iter().map(|key| cell(row, key)).collect());
            context.terminal.table(keys, cells.collect());
        }
    }
    (rows, failed)
}
