//! The layers that `toolsd trust` and `toolsd fetch` show, and allow if a person agrees.

use super::context::{CommandContext, open_layer};
use super::terminal::Terminal;
use crate::definition::{LayerDefinition, SETTINGS_FILE, read_workspace};
use crate::diagnostic::{Diagnostic, Result};
use crate::distribution::{LayerState, LockFile, is_trusted};
use crate::registry::{TrustedLayer, WorkspaceTrust};
use crate::source::Source;
use crate::value::Json;
use crate::world::path;
use serde_json::json;

/// The layers of a project, as the lock file has them.
#[derive(Default)]
pub struct LayerListing {
    rows: Vec<ListedLayer>,
    /// The layers that are not on this machine, or cannot be used.
    pub refused: Vec<Diagnostic>,
}

/// The layers that `toolsd.toml` names, whether it is trusted or not.
pub fn named_layers(context: &CommandContext) -> Vec<LayerDefinition> {
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

struct ListedLayer {
    state: LayerState,
    /// What was trusted last.
    before: Option<TrustedLayer>,
    is_trusted: bool,
}

impl LayerListing {
    /// Lists the layers that `toolsd.toml` names, whether it is trusted or not.
    pub fn collect(context: &CommandContext, trust: &WorkspaceTrust) -> Self {
        let lock = LockFile::load(context.workspace.as_ref());
        let mut listing = Self::default();
        for definition in named_layers(context) {
            match find_layer(context, &definition, &lock) {
                Ok(state) => listing.rows.push(ListedLayer::new(state, &definition, trust)),
                Err(error) => listing.refused.push(*error.warning()),
            }
        }
        listing
    }

    /// Whether something is to be confirmed.
    pub fn needs_consent(&self) -> bool {
        self.rows.iter().any(|row| !row.is_trusted)
    }

    /// Number of layers that are to be confirmed.
    pub fn count(&self) -> usize {
        self.rows.iter().filter(|row| !row.is_trusted).count()
    }

    /// Whether there is no layer.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Prints what each layer that is not trusted asks for.
    pub fn show(&self, terminal: &Terminal) {
        for row in self.rows.iter().filter(|row| !row.is_trusted) {
            row.lines().iter().for_each(|line| terminal.line(line));
        }
    }

    /// The listing for machines.
    pub fn json(&self) -> Json {
        let row = |row: &ListedLayer| {
            json!({
                "name": row.state.name, "source": row.state.source, "label": row.state.label,
                "content": row.state.content.hash(),
                "signer": row.state.provenance.as_ref().and_then(|from| from.signer.clone()),
                "state": row.word(), "widened": row.widened(), "packs": row.state.packs_json(),
            })
        };
        self.rows.iter().map(row).collect()
    }

    /// Allows all layers of the listing. With `later`, also later versions that the same key signs.
    pub fn allow(&self, trust: &mut WorkspaceTrust, later: bool) {
        for row in &self.rows {
            let later = later || row.before.as_ref().is_some_and(|before| before.later);
            trust.allow_layer(&row.state.name, row.state.to_trusted(later));
        }
    }
}

impl ListedLayer {
    fn new(state: LayerState, definition: &LayerDefinition, trust: &WorkspaceTrust) -> Self {
        let known = trust.layers.get(&definition.name.value).and_then(|known| known.first());
        let before = known.filter(|known| known.source == state.source).cloned();
        let is_trusted = is_trusted(&state, trust);
        Self { state, before, is_trusted }
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

    fn lines(&self) -> Vec<String> {
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
