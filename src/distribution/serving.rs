//! Which content of each layer of a project serves: the locked one if it was trusted, otherwise the last one that was.

use super::LAYER;
use super::content::LayerContent;
use super::fetched::{FetchedLayer, Provenance};
use super::lock_file::LockFile;
use super::store::LayerStore;
use crate::definition::{LayerDefinition, LayerSource};
use crate::diagnostic::{Diagnostic, Result};
use crate::registry::{
    FOLDERS, Layer, Permissions, TrustedLayer, UNTRUSTED, WorkspaceSettings, WorkspaceTrust, embedded_files,
};
use crate::value::Json;
use crate::world::{Files, path};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What opens a folder of a layer with `path`.
pub type FolderOpener<'a> = &'a dyn Fn(&str) -> Result<Arc<dyn crate::world::World>>;

/// The layers of a project, as far as they can serve.
#[derive(Default)]
pub struct ProjectLayers {
    /// Those that serve, the strongest first.
    pub layers: Vec<Layer>,
    /// What is wrong with them.
    pub diagnostics: Vec<Diagnostic>,
    /// The names of those of which nothing serves.
    pub refused: Vec<String>,
    /// The packs of which an earlier content serves, and why.
    pub held_back: BTreeMap<String, Diagnostic>,
    /// The packs that serve, and the layer of each.
    pub packs: BTreeMap<String, String>,
}

/// What a layer would be if it were trusted.
#[derive(Clone, Debug)]
pub struct LayerState {
    /// Its name.
    pub name: String,
    /// The address of its repository, or its folder.
    pub source: String,
    /// Which one of it, as in `tag v2.3.0`.
    pub label: String,
    /// Its files.
    pub content: LayerContent,
    /// What each chosen pack asks for.
    pub packs: BTreeMap<String, Permissions>,
    /// Where it is from, if it was fetched on this machine.
    pub provenance: Option<Provenance>,
}

impl ProjectLayers {
    /// Chooses the content of each layer. With `is_locked`, only what is in the lock file serves.
    pub fn choose(
        settings: &WorkspaceSettings,
        workspace: &dyn Files,
        trust: &WorkspaceTrust,
        open: FolderOpener<'_>,
        is_locked: bool,
    ) -> Self {
        let mut chosen = Self::default();
        let definitions = &settings.workspace.layers;
        if definitions.is_empty() {
            return chosen;
        }
        let lock = LockFile::load(workspace);
        for definition in definitions {
            chosen.choose_one(definition, &lock, trust, open, is_locked, settings.held_back.as_ref());
        }
        chosen
    }

    /// The layers of these states, the strongest first, whether they are trusted or not.
    ///
    /// # Errors
    /// Memory is exhausted.
    pub fn of_states<'a>(states: impl IntoIterator<Item = (&'a LayerDefinition, LayerState)>) -> Result<Self> {
        let mut all = Self::default();
        for (definition, state) in states {
            all.serve(definition, &state.content, state.packs.into_keys().collect())?;
        }
        Ok(all)
    }

    fn choose_one(
        &mut self,
        definition: &LayerDefinition,
        lock: &Result<LockFile>,
        trust: &WorkspaceTrust,
        open: FolderOpener<'_>,
        is_locked: bool,
        settings_held_back: Option<&Diagnostic>,
    ) {
        let name = &definition.name.value;
        let found = match &definition.source {
            LayerSource::Path(path) if is_locked => {
                let message =
                    format!("layer {name} is the folder `{path}`, which is not locked, and so does not serve");
                Err(Diagnostic::new(LAYER, message).help("`--locked` serves layers with `git`"))
            }
            _ => LayerState::find(definition, lock, open),
        };
        // What is locked is for `toolsd.toml` as it is: while that is not trusted, it is the reason.
        let is_for_other = |lock: &LockFile| lock.find(definition).is_err();
        let is_git = matches!(definition.source, LayerSource::Git { .. });
        let settings_held_back = settings_held_back.filter(|_| is_git && lock.as_ref().is_ok_and(is_for_other));
        let found = settings_held_back.map_or(found, |why| Err(Box::new(why.clone())));
        let found = found.and_then(|state| match is_trusted(&state, trust) {
            true => Ok(state),
            false => Err(untrusted(&state)),
        });
        let error =
            match found.and_then(|state| self.serve(definition, &state.content, state.packs.into_keys().collect())) {
                Ok(()) => return,
                Err(error) => error,
            };
        //= docs/spec.md#layers
        //# While a layer cannot be used as it is locked, what served of it before MUST continue to serve, and a
        //# diagnostic MUST report it.
        let is_folder = matches!(definition.source, LayerSource::Path(_));
        let before = if is_locked && is_folder { None } else { last_trusted(definition, trust) };
        let message = match &before {
            Some((label, ..)) => format!("{}; {label} still serves", error.message),
            None => error.message.clone(),
        };
        let found = *Box::new(Diagnostic { message, ..*error }).at(definition.name.at.clone()).warning();
        // Of `toolsd.toml`, it is reported already.
        self.diagnostics.extend(settings_held_back.is_none().then(|| found.clone()));
        let served = before.map(|(_, content, packs)| {
            self.held_back.extend(packs.iter().map(|pack| (pack.clone(), found.clone())));
            self.serve(definition, &content, packs)
        });
        if !matches!(served, Some(Ok(()))) {
            self.refused.push(name.clone());
        }
    }

    /// Serves these packs of a content, except those that a stronger layer has: a layer that could add files to the pack
    /// of another one would use the grants that a person gave to that one.
    fn serve(&mut self, definition: &LayerDefinition, content: &LayerContent, packs: Vec<String>) -> Result<()> {
        let name = &definition.name.value;
        let (taken, free): (Vec<String>, Vec<String>) =
            packs.into_iter().partition(|pack| self.packs.contains_key(pack));
        for pack in taken {
            let message =
                format!("layer {name} has a pack `{pack}`, and so has layer {}, which is used", self.packs[&pack]);
            let help = format!("leave it out with `packs` in `[layers.{name}]`, or put this layer in front");
            self.diagnostics.push(*Diagnostic::new(LAYER, message).at(definition.name.at.clone()).warning().help(help));
        }
        for pack in free.iter().filter(|pack| is_embedded(pack)) {
            let message = format!("layer {name}: {}", of_embedded_name(pack));
            self.diagnostics.push(*Diagnostic::new(LAYER, message).at(definition.name.at.clone()).warning());
        }
        self.layers.push(content.layer(name, &free)?);
        self.packs.extend(free.into_iter().map(|pack| (pack, name.clone())));
        Ok(())
    }
}

impl LayerState {
    /// Finds what `toolsd.toml` and the lock file name.
    ///
    /// # Errors
    /// The lock file does not name it, it is not on this machine, it was changed there, or it has not the packs that
    /// `packs` names.
    pub fn find(definition: &LayerDefinition, lock: &Result<LockFile>, open: FolderOpener<'_>) -> Result<Self> {
        let name = definition.name.value.clone();
        let (source, label, content, provenance) = match &definition.source {
            LayerSource::Path(path) => {
                let content =
                    LayerContent::from_folder(open(path)?.as_ref()).map_err(|error| in_layer(&name, *error))?;
                (path.clone(), "the folder".to_owned(), content, None)
            }
            LayerSource::Git { url, .. } => {
                let locked = lock.as_ref().map_err(Clone::clone)?.find(definition)?;
                let store = LayerStore::of_user()?;
                let content = store.get(&locked.content)?.ok_or_else(|| {
                    let message = format!("layer {name} is not on this machine");
                    Diagnostic::new(LAYER, message).help("run `toolsd trust`, which fetches it")
                })?;
                (url.clone(), locked.label(), content, store.provenance(&locked.content))
            }
        };
        let packs = choose_packs(definition, &content)?;
        Ok(Self { name, source, label, content, packs, provenance })
    }

    /// A layer as it was fetched.
    ///
    /// # Errors
    /// It has not the packs that `packs` names.
    pub fn of_fetched(definition: &LayerDefinition, fetched: &FetchedLayer) -> Result<Self> {
        let FetchedLayer { content, provenance } = fetched;
        Ok(Self {
            name: definition.name.value.clone(),
            source: provenance.git.clone(),
            label: provenance.label(),
            packs: choose_packs(definition, content)?,
            content: content.clone(),
            provenance: Some(provenance.clone()),
        })
    }

    /// What is written into the record of trust when a person allows it; `later` says whether later versions of the
    /// same signer are allowed too.
    pub fn to_trusted(&self, later: bool) -> TrustedLayer {
        let provenance = self.provenance.as_ref();
        let signer = provenance.and_then(|known| known.signer.clone());
        TrustedLayer {
            source: self.source.clone(),
            label: self.label.clone(),
            content: self.content.hash().to_owned(),
            packs: self.packs.clone(),
            later: later && signer.is_some(),
            signer,
            time: provenance.map_or(0, |known| known.time),
        }
    }

    /// Where it is from, and what each of its packs asks for; `mark` is said in front.
    pub fn lines(&self, mark: &str) -> Vec<String> {
        let Self { name, source, label, packs, provenance, content: _ } = self;
        let from = provenance.as_ref().map_or_else(String::new, |from| {
            let signed =
                from.signer.as_ref().map_or("signature not checked".to_owned(), |key| format!("signed by {key}"));
            format!(", commit {}, {signed}", from.commit)
        });
        let mut lines = vec![format!("layer {name}: {mark}{source} {label}{from}")];
        for (pack, asked) in packs {
            let asked = asked.describe().join("  ");
            lines.push(format!("  pack {pack}  {}", if asked.is_empty() { "asks for nothing" } else { &asked }));
            if is_embedded(pack) {
                lines.push(format!("  {}", of_embedded_name(pack)));
            }
        }
        lines
    }

    /// Its packs, and what each asks for.
    pub fn packs_json(&self) -> Json {
        let packs = self.packs.iter();
        packs.map(|(name, asked)| json!({ "name": name, "permissions": asked.describe() })).collect()
    }

    /// What it asks for beyond what a trusted content asked for, pack by pack.
    pub fn widened(&self, before: &TrustedLayer) -> Vec<String> {
        let none = Permissions::default();
        let beyond = self.packs.iter().flat_map(|(pack, asked)| {
            let more = asked.exceeding(before.packs.get(pack).unwrap_or(&none));
            more.describe_within(asked).into_iter().map(move |words| format!("{pack}: {words}"))
        });
        beyond.collect()
    }
}

/// Whether toolsd itself has a pack of this name.
fn is_embedded(pack: &str) -> bool {
    let file = path::join(FOLDERS[0], &format!("{pack}.toml"));
    embedded_files().any(|(path, _)| path == file)
}

/// What happens to a pack that is named like an embedded one: it may be meant, and its author may not know.
fn of_embedded_name(pack: &str) -> String {
    format!(
        "its pack `{pack}` has the name of a pack of toolsd: its files take the place of that pack's files one by one, and \
         the others of that pack stay; another name keeps them apart"
    )
}

/// The chosen packs of a content, and what each asks for.
pub(super) fn choose_packs(
    definition: &LayerDefinition,
    content: &LayerContent,
) -> Result<BTreeMap<String, Permissions>> {
    let mut all = content.permissions();
    let Some(wanted) = &definition.packs else { return Ok(all) };
    if let Some(unknown) = wanted.iter().find(|pack| !all.contains_key(&pack.value)) {
        let message = format!("layer {} has no pack `{}`", definition.name.value, unknown.value);
        let known: Vec<&str> = all.keys().map(String::as_str).collect();
        let (error, otherwise) = (Diagnostic::new(LAYER, message), format!("its packs: {}", known.join(", ")));
        return Err(error.at(unknown.at.clone()).help_for(&unknown.value, known, &otherwise));
    }
    all.retain(|pack, _| wanted.iter().any(|wanted| wanted.value == *pack));
    Ok(all)
}

//= docs/spec.md#layers
//# A layer MUST serve only if a person trusted its content, or trusted its signer and it asks for no more and
//# is not older.
/// Whether a person allowed a layer as it is.
pub fn is_trusted(state: &LayerState, trust: &WorkspaceTrust) -> bool {
    let known = trust.layers.get(&state.name).map(Vec::as_slice).unwrap_or_default();
    let mut known = known.iter().filter(|known| known.source == state.source);
    let has_packs = |known: &TrustedLayer| state.packs.keys().all(|pack| known.packs.contains_key(pack));
    if known.clone().any(|known| known.content == state.content.hash() && has_packs(known)) {
        return true;
    }
    let (Some(last), Some(from)) = (known.next(), &state.provenance) else { return false };
    last.later
        && last.signer.is_some()
        && from.signer == last.signer
        && from.git == state.source
        && from.time >= last.time
        && state.widened(last).is_empty()
}

/// The content that was trusted last and is still here, that of the wanted tag before others: how it is called, its files, its packs.
fn last_trusted(definition: &LayerDefinition, trust: &WorkspaceTrust) -> Option<(String, LayerContent, Vec<String>)> {
    let (LayerSource::Git { url: source, .. } | LayerSource::Path(source)) = &definition.source;
    let store = LayerStore::of_user().ok()?;
    let wanted =
        if let LayerSource::Git { wanted, .. } = &definition.source { wanted.describe() } else { String::new() };
    let known = trust.layers.get(&definition.name.value)?.iter().filter(|known| known.source == *source);
    // Another one may have been trusted on another branch since.
    let (as_wanted, others): (Vec<_>, Vec<_>) = known.partition(|known| known.label == wanted);
    as_wanted.into_iter().chain(others).find_map(|known| {
        let content = store.get(&known.content).ok()??;
        let mut packs = choose_packs(definition, &content).ok()?;
        packs.retain(|pack, _| known.packs.contains_key(pack));
        Some((known.label.clone(), content, packs.into_keys().collect()))
    })
}

fn in_layer(name: &str, error: Diagnostic) -> Box<Diagnostic> {
    Box::new(Diagnostic { message: format!("layer {name}: {}", error.message), ..error })
}

fn untrusted(state: &LayerState) -> Box<Diagnostic> {
    let packs = state.packs.len();
    let asks: Vec<String> = state.packs.values().flat_map(Permissions::describe).collect();
    let asks = if asks.is_empty() { String::new() } else { format!(", {}", asks.join(", ")) };
    let plural = if packs == 1 { "" } else { "s" };
    let message = format!("layer {} ({}) is not trusted: {packs} pack{plural}{asks}", state.name, state.label);
    Diagnostic::new(UNTRUSTED, message).help("read it, then run `toolsd trust`")
}
