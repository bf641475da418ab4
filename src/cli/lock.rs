//! `toolsd lock`: writes `toolsd.lock` and `toolsd.surface.json` from `toolsd.toml` and the packs, or checks them.

use super::context::CommandContext;
use super::options::{CommandResult, Exit, OutputFormat};
use super::project::{Project, remote_layers};
use crate::definition::{LayerDefinition, SETTINGS_FILE};
use crate::diagnostic::{Diagnostic, Result};
use crate::distribution::{LAYER, LOCK_FILE, LayerStore, LockedLayer, RESTORE_LOCK, Remote};
use crate::surface::SURFACE_FILE;
use clap::Args;
use serde_json::json;

/// Write `toolsd.lock` and `toolsd.surface.json`.
#[derive(Args)]
pub struct LockCommand {
    /// Write nothing; exit with 1 if a file would change.
    #[arg(long)]
    check: bool,
    /// Do not ask whether new layers are trusted.
    #[arg(long, conflicts_with = "check")]
    yes: bool,
}

impl LockCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let mut project = Project::open(context)?;
        let mut is_new = false;
        for layer in remote_layers(&project, &[])? {
            let locked = project.lock.find(&layer.definition);
            if self.check
                && let Err(error) = locked.and_then(|locked| check_origin(locked, &layer.definition))
            {
                context.terminal.diagnostic(&error);
                return Ok(Exit::Errors);
            }
            if project.lock.find(&layer.definition).is_err() {
                project.fetch(context, &Remote::open(&layer.url)?, &layer, false)?;
                is_new = true;
            }
        }
        let changes = project.changes(context, &project.registry(context)?)?;
        let names: Vec<&str> = changes.iter().map(|(file, _)| *file).collect();
        let is_json = context.options.format == OutputFormat::Json;
        let report = |written: bool| {
            if is_json {
                context.terminal.json(&json!({ "changed": names, "written": written }));
            }
        };
        if self.check {
            report(false);
            for file in &names {
                let message = match *file == SURFACE_FILE {
                    true => format!("`{file}` does not say what the packs publish now"),
                    false => format!("`{file}` does not fit `{SETTINGS_FILE}`"),
                };
                let error = Diagnostic::new(LAYER, message);
                context.terminal.diagnostic(&error.help("run `toolsd lock`, and review its diff"));
            }
            return Ok(if names.is_empty() { Exit::Success } else { Exit::Errors });
        }
        let question = "Lock these layers, and trust them as they are now? [y/N] ";
        let written = project.write_agreed(context, changes, self.yes || !is_new, question)?.is_some();
        report(written);
        match names.as_slice() {
            _ if is_json || !written => {}
            [] => context.terminal.line("nothing to write"),
            names => context.terminal.line(&format!("wrote {}; commit it", names.join(", "))),
        }
        Ok(if written { Exit::Success } else { Exit::Errors })
    }
}

/// Fails if a layer is not from the commit that is locked, or not signed as it was locked. Its repository is asked only if
/// this machine has it from elsewhere.
fn check_origin(locked: &LockedLayer, layer: &LayerDefinition) -> Result<()> {
    let known = LayerStore::of_user()?.provenance(&locked.content);
    if known.is_none_or(|known| locked.is_from(&known)) {
        return Ok(());
    }
    let (fetched, moved) = Remote::open(&locked.git)?.fetch_locked(layer, locked)?;
    let from = &fetched.provenance;
    match moved {
        Some(moved) => Err(Box::new(moved)),
        None if locked.is_from(from) => Ok(()),
        None => {
            let signed = from.signer.as_ref().map_or("not signed".to_owned(), |signer| format!("signed by {signer}"));
            let message =
                format!("layer {} is commit {}, {signed}: `{LOCK_FILE}` says something else", locked.name, from.commit);
            Err(Diagnostic::new(LAYER, message).help(RESTORE_LOCK))
        }
    }
}
