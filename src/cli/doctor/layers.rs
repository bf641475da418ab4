//! The layers of `toolsd.toml`: what is locked of each, whether it is on this machine and trusted, and the next step.

use super::checks::Finding;
use crate::cli::context::{CommandContext, load_trust};
use crate::cli::trust_layers::{ListedLayer, list_layers};

/// Reports each layer of the project.
pub fn layers(context: &CommandContext) -> Vec<Finding> {
    let trust = load_trust(context.workspace.root()).unwrap_or_default();
    let (layers, refused) = list_layers(context, &trust, false);
    let refused = refused.iter().map(|error| Finding::from_diagnostic("layer", error));
    layers.iter().map(layer).chain(refused).collect()
}

fn layer(ListedLayer { state, is_trusted, .. }: &ListedLayer) -> Finding {
    let short = |commit: &str| format!(", commit {}", commit.get(..12).unwrap_or(commit));
    let commit = state.provenance.as_ref().map_or_else(String::new, |from| short(&from.commit));
    let about = format!("`{}`, {}{commit}", state.name, state.label);
    if *is_trusted {
        let packs: Vec<&str> = state.packs.keys().map(String::as_str).collect();
        return Finding::ok("layer", format!("{about}: on this machine and trusted; its packs: {}", packs.join(", ")));
    }
    let finding = Finding::note("layer", format!("{about}: on this machine, and not trusted as it is"));
    finding.next("read it, then run `toolsd trust`")
}
