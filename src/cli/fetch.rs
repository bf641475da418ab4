//! `toolsd fetch`: brings what the lock file names to this machine, for a new clone, for CI, and for work offline.

use super::context::{CommandContext, change_trust_record, load_trust};
use super::options::{CommandResult, Exit, OutputFormat};
use super::project::{Project, remote_layers};
use super::trust_layers::LayerListing;
use crate::diagnostic::{Diagnostic, Result};
use crate::distribution::{LayerStore, LockedLayer, Remote};
use crate::value::Json;
use clap::Args;
use rayon::prelude::*;
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
        for (definition, _) in remote_layers(&project, &self.names)? {
            wanted.push((project.lock.find(definition)?, definition.signed_by.as_slice()));
        }
        let fetched: Vec<(&LockedLayer, Result<Fetched>)> =
            wanted.par_iter().map(|(locked, signed_by)| (*locked, fetch_layer(&store, locked, signed_by))).collect();
        let mut failed = false;
        let mut rows: Vec<Json> = Vec::new();
        for (locked, outcome) in fetched {
            let outcome = outcome.map_err(|error| {
                failed = true;
                context.terminal.diagnostic(&error);
            });
            let how = match outcome {
                Ok(Fetched::Now(moved)) => {
                    moved.iter().for_each(|warning| context.terminal.diagnostic(warning));
                    "fetched"
                }
                Ok(Fetched::Before) => "here already",
                Err(()) => "failed",
            };
            rows.push(
                json!({ "layer": locked.name, "commit": locked.commit, "content": locked.content, "state": how }),
            );
            if context.options.format != OutputFormat::Json {
                context.terminal.line(&format!("{}  {}  {how}", locked.name, locked.commit));
            }
        }
        match context.options.format {
            OutputFormat::Json => context.terminal.json(&json!({ "layers": rows })),
            _ if rows.is_empty() => context.terminal.note("no layer of `toolsd.toml` is from git"),
            _ => {}
        }
        let trusted = failed || self.trust(context)?;
        Ok(if failed || !trusted { Exit::Errors } else { Exit::Success })
    }

    //= docs/spec.md#trust
    //# A file MUST NOT be trusted before what it requests, and who else can change it if its edits are to be trusted,
    //# was shown and confirmed.
    /// Asks whether the layers are trusted as they are. Returns whether all of them are.
    fn trust(&self, context: &CommandContext) -> Result<bool> {
        let root = context.workspace.root();
        let layers = LayerListing::collect(context, &load_trust(root)?);
        if !layers.needs_consent() {
            return Ok(true);
        }
        if context.options.format != OutputFormat::Json {
            layers.show(&context.terminal);
        }
        let agreed = context.terminal.agrees(self.yes, "Trust these layers as they are now? [y/N] ");
        if agreed {
            change_trust_record(root, |record| {
                layers.allow(record.workspaces.entry(root.to_owned()).or_default(), false);
            })?;
        } else {
            context.terminal.note("they are not trusted yet; `toolsd trust`, or `--yes` here, trusts them");
        }
        Ok(agreed)
    }
}

/// When a layer came to this machine.
enum Fetched {
    /// It was here already.
    Before,
    /// Now; a warning if its tag names something else.
    Now(Option<Diagnostic>),
}

/// Brings a layer that is not here, or whose file was changed.
fn fetch_layer(store: &LayerStore, locked: &LockedLayer, signed_by: &[String]) -> Result<Fetched> {
    let is_here = store.get(&locked.content).is_ok_and(|content| content.is_some());
    // What was checked when it was fetched need not be checked again.
    let is_checked = || store.provenance(&locked.content).is_some_and(|from| from.git == locked.git);
    if is_here && is_checked() {
        return Ok(Fetched::Before);
    }
    let (fetched, moved) = Remote::open(&locked.git)?.fetch_locked(locked, signed_by)?;
    store.put_fetched(&fetched)?;
    Ok(Fetched::Now(moved))
}
