//! The layers that `toolsd trust` and `toolsd fetch` show, and allow if a person agrees.

use super::context::{CommandContext, open_layer};
use crate::definition::{LayerDefinition, LayerSource, SETTINGS_FILE, read_workspace};
use crate::diagnostic::{Diagnostic, Result};
use crate::distribution::{LayerState, LayerStore, LockFile, LockedLayer, Remote, is_trusted};
use crate::registry::{TrustedLayer, WorkspaceTrust};
use crate::source::Source;
use crate::value::Json;
use crate::world::path;
use serde_json::json;

/// The layers that `toolsd.toml` names, whether it is trusted or not.
fn named_layers(context: &CommandContext) -> Vec<LayerDefinition> {
    let workspace = context.workspace.as_ref();
    let Ok(Some(_)) = workspace.stat(SETTINGS_FILE) else { return Vec::new() };
    let Ok(bytes) = workspace.read(SETTINGS_FILE) else { return Vec::new() };
    read_workspace(&Source::new(SETTINGS_FILE, String::from_utf8_lossy(&bytes))).0.layers
}

/// A layer as it is locked, whether it is trusted or not.
///
/// # Errors
/// As [`LayerState::find`].
pub fn find_layer(
    context: &CommandContext,
    definition: &LayerDefinition,
    lock: &Result<LockFile>,
) -> Result<LayerState> {
    let open = |folder: &str| open_layer(&path::clean(&path::join(context.workspace.root(), folder)));
    LayerState::find(definition, lock, &open)
}

/// A layer of a project, as the lock file has it.
pub struct ListedLayer {
    pub state: LayerState,
    /// What was trusted last.
    before: Option<TrustedLayer>,
    /// Whether it is trusted as it is.
    pub is_trusted: bool,
    /// Whether it is trusted because of its signer: its content itself was not confirmed.
    pub is_trusted_by_signer: bool,
}

/// Lists the layers that `toolsd.toml` names, whether it is trusted or not; an error for each that is not on this machine,
/// or cannot be used, and a warning for each tag that was moved. With `fetches`, those that are not here are brought.
pub fn list_layers(
    context: &CommandContext,
    trust: &WorkspaceTrust,
    fetches: bool,
) -> (Vec<ListedLayer>, Vec<Diagnostic>) {
    let lock = LockFile::load(context.workspace.as_ref());
    let (mut layers, mut refused) = (Vec::new(), Vec::new());
    for definition in named_layers(context) {
        match if fetches { fetch_locked(&definition, &lock) } else { Ok(None) } {
            Ok(moved) => refused.extend(moved),
            Err(error) => {
                refused.push(*error);
                continue;
            }
        }
        match find_layer(context, &definition, &lock) {
            Ok(state) => layers.push(ListedLayer::new(state, trust)),
            // The files can be trusted all the same.
            Err(error) => refused.push(if fetches { *error.warning() } else { *error }),
        }
    }
    (layers, refused)
}

/// Brings a layer that the lock file names and that is not on this machine; a warning if its tag was moved.
fn fetch_locked(definition: &LayerDefinition, lock: &Result<LockFile>) -> Result<Option<Diagnostic>> {
    match lock.as_ref().map_err(Clone::clone).and_then(|lock| lock.find(definition)) {
        Ok(locked) if matches!(definition.source, LayerSource::Git { .. }) => {
            fetch_layer(&LayerStore::of_user()?, definition, locked).map(|(_, moved)| moved)
        }
        // What the lock file lacks is reported where the layer is looked for.
        _ => Ok(None),
    }
}

/// Brings a layer that is not here, or whose file was changed. Returns what was done, and a warning if its tag names
/// something else.
///
/// # Errors
/// Its repository cannot be read, or does not have what is locked.
pub fn fetch_layer(
    store: &LayerStore,
    layer: &LayerDefinition,
    locked: &LockedLayer,
) -> Result<(&'static str, Option<Diagnostic>)> {
    let is_here = store.get(&locked.content).is_ok_and(|content| content.is_some());
    // What was checked when it was fetched need not be checked again.
    let is_checked = || store.provenance(&locked.content).is_some_and(|from| from.git == locked.git);
    if is_here && is_checked() {
        return Ok(("here already", None));
    }
    let (fetched, moved) = Remote::open(&locked.git)?.fetch_locked(layer, locked)?;
    store.put(&fetched)?;
    Ok(("fetched", moved))
}

impl ListedLayer {
    fn new(state: LayerState, trust: &WorkspaceTrust) -> Self {
        let known = trust.layers.get(&state.name).map(Vec::as_slice).unwrap_or_default();
        let before = known.first().filter(|known| known.source == state.source).cloned();
        let is_trusted = is_trusted(&state, trust);
        let is_trusted_by_signer = is_trusted && known.iter().all(|known| known.content != state.content.hash());
        Self { state, before, is_trusted, is_trusted_by_signer }
    }

    /// The layer for machines.
    pub fn json(&self) -> Json {
        json!({
            "name": self.state.name, "source": self.state.source, "label": self.state.label,
            "content": self.state.content.hash(),
            "signer": self.state.provenance.as_ref().and_then(|from| from.signer.clone()),
            "state": self.word(), "widened": self.widened(), "packs": self.state.packs_json(),
        })
    }

    /// Keeps its content, so that it serves while another one is not trusted.
    pub fn keep(&self) -> Result<()> {
        LayerStore::of_user()?.put_content(&self.state.content)
    }

    /// Allows it. With `later`, also later versions that the same key signs.
    pub fn allow(&self, trust: &mut WorkspaceTrust, later: bool) {
        trust.allow_layer(&self.state.name, self.state.to_trusted(later));
    }

    fn word(&self) -> &'static str {
        match (&self.before, self.is_trusted) {
            (_, true) => "same",
            (Some(_), false) => "changed",
            (None, false) => "new",
        }
    }

    fn widened(&self) -> Vec<String> {
        self.before.as_ref().map(|before| self.state.widened(before)).unwrap_or_default()
    }

    /// What it asks for, and how that differs from what was trusted.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = self.state.lines(&format!("{}, ", self.word()));
        if let Some(before) = &self.before {
            let widened = self.widened();
            let more = match widened.is_empty() {
                true => "asks for no more".to_owned(),
                false => format!("+ {}", widened.join("  + ")),
            };
            lines.insert(1, format!("  since {}: {more}", before.label));
        }
        lines
    }
}
