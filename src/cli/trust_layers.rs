//! The layers that `toolsd trust` and `toolsd fetch` show, and allow if a person agrees.

use super::context::{CommandContext, open_layer};
use crate::definition::{LayerDefinition, SETTINGS_FILE, read_workspace};
use crate::diagnostic::{Diagnostic, Result};
use crate::distribution::{LayerState, LockFile, is_trusted};
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
    /// The layer.
    pub state: LayerState,
    /// What was trusted last.
    before: Option<TrustedLayer>,
    /// Whether it is trusted as it is.
    pub is_trusted: bool,
    /// Whether it is trusted because of its signer: its content itself was not confirmed.
    pub is_trusted_by_signer: bool,
}

/// Lists the layers that `toolsd.toml` names, whether it is trusted or not; an error for each that is not on this machine,
/// or cannot be used.
pub fn list_layers(context: &CommandContext, trust: &WorkspaceTrust) -> (Vec<ListedLayer>, Vec<Diagnostic>) {
    let lock = LockFile::load(context.workspace.as_ref());
    let (mut layers, mut refused) = (Vec::new(), Vec::new());
    for definition in named_layers(context) {
        match find_layer(context, &definition, &lock) {
            Ok(state) => layers.push(ListedLayer::new(state, trust)),
            Err(error) => refused.push(*error),
        }
    }
    (layers, refused)
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
