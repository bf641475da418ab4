//! The layers of `toolsd.toml`: what is locked of each, whether it is on this machine and trusted, and the next step.

use super::checks::{Finding, FindingState};
use crate::cli::context::{CommandContext, load_trust};
use crate::cli::trust_layers::{find_layer, named_layers};
use crate::definition::{LayerDefinition, LayerSource};
use crate::diagnostic::Result;
use crate::distribution::{LockFile, is_trusted};
use crate::registry::WorkspaceTrust;

/// Reports each layer of the project.
pub fn layers(context: &CommandContext) -> Vec<Finding> {
    let trust = load_trust(context.workspace.root()).unwrap_or_default();
    let lock = LockFile::load(context.workspace.as_ref());
    named_layers(context).iter().map(|definition| layer(context, definition, &lock, &trust)).collect()
}

fn layer(
    context: &CommandContext,
    definition: &LayerDefinition,
    lock: &Result<LockFile>,
    trust: &WorkspaceTrust,
) -> Finding {
    let name = &definition.name.value;
    let which = match &definition.source {
        LayerSource::Path(path) => format!("the folder `{path}`"),
        LayerSource::Git { wanted, .. } => match lock.as_ref().ok().and_then(|lock| lock.layer(name)) {
            Some(locked) => {
                let label = locked.tag.as_ref().map_or_else(|| locked.wanted.clone(), |tag| format!("tag {tag}"));
                format!("{label}, commit {}", locked.commit.get(..12).unwrap_or(&locked.commit))
            }
            None => wanted.describe(),
        },
    };
    let about = format!("`{name}`, {which}");
    match find_layer(context, definition, lock) {
        Err(error) => {
            let finding = Finding::from_diagnostic("layer", &error);
            Finding { state: FindingState::Broken, says: format!("{about}: {}", error.message), ..finding }
        }
        Ok(state) if is_trusted(&state, trust) => {
            let packs: Vec<&str> = state.packs.keys().map(String::as_str).collect();
            Finding::ok("layer", format!("{about}: on this machine and trusted; its packs: {}", packs.join(", ")))
        }
        Ok(_) => Finding::note("layer", format!("{about}: on this machine, and not trusted as it is"))
            .next("read it, then run `toolsd trust`"),
    }
}
