//! `toolsd fetch`: brings what the lock file names to this machine, for a new clone, for CI, and for work offline.

use super::context::{CommandContext, load_trust};
use super::options::{CommandResult, Exit, OutputFormat};
use super::project::{Project, ask_each, remote_layers};
use super::trust::TrustListing;
use super::trust_layers::fetch_layer;
use crate::diagnostic::Result;
use crate::distribution::LayerStore;
use clap::Args;
use serde_json::json;

/// Bring the layers that `toolsd.lock` names to this machine.
#[derive(Args)]
pub struct FetchCommand {
    /// Only these layers.
    #[arg(value_name = "LAYER")]
    names: Vec<String>,
    /// Trust what was fetched, without a question.
    #[arg(long)]
    yes: bool,
}

impl FetchCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let project = Project::open(context)?;
        let store = LayerStore::of_user()?;
        let mut wanted = Vec::new();
        for layer in remote_layers(&project, &self.names)? {
            wanted.push((project.lock.find(&layer.definition)?, layer.definition));
        }
        let (_, failed) = ask_each(context, &wanted, &["layer", "commit", "state"], |(locked, layer)| {
            let (state, found) = fetch_layer(&store, layer, locked).unwrap_or_else(|error| ("failed", Some(*error)));
            let row = json!({
                "layer": locked.name, "commit": locked.commit, "content": locked.content, "state": state,
            });
            Ok((row, found))
        });
        let trusted = failed || self.trust(context)?;
        Ok(if failed || !trusted { Exit::Errors } else { Exit::Success })
    }

    //= docs/spec.md#trust
    //# A file MUST NOT be trusted before what it requests, and who else can change it if its edits are to be trusted,
    //# was shown and confirmed.
    /// Asks whether the layers are trusted as they are. Returns whether all of them are.
    fn trust(&self, context: &CommandContext) -> Result<bool> {
        let layers = TrustListing::of_layers(context, &load_trust(context.workspace.root())?, false);
        layers.record_signed(context)?;
        if !layers.needs_consent() {
            return Ok(true);
        }
        if context.options.format != OutputFormat::Json {
            layers.show(&context.terminal);
        }
        let agreed = context.terminal.agrees(self.yes, &layers.question());
        if agreed {
            layers.record(context, None)?;
        } else {
            context.terminal.note("they are not trusted yet; `toolsd trust`, or `--yes` here, trusts them");
        }
        Ok(agreed)
    }
}
