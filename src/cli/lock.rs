//! `toolsd lock`: writes `toolsd.lock` and `toolsd.surface.json` from `toolsd.toml` and the packs, or checks them.

use super::context::CommandContext;
use super::options::{CommandResult, Exit, OutputFormat};
use super::project::{Project, remote_layers, show_layer};
use crate::definition::{LayerSource, SETTINGS_FILE};
use crate::diagnostic::{Diagnostic, Result};
use crate::distribution::{LAYER, LOCK_FILE, LayerState, LayerStore, LockedLayer, RESTORE_LOCK, Remote};
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
        let layers: Vec<_> =
            remote_layers(&project, &[])?.into_iter().map(|(layer, url)| (layer.clone(), url.to_owned())).collect();
        let mut is_new = false;
        for (layer, url) in layers {
            let name = &layer.name.value;
            if self.check
                && let Err(error) = project.lock.find(&layer).and_then(|locked| check_origin(locked, &layer.signed_by))
            {
                context.terminal.diagnostic(&error);
                return Ok(Exit::Errors);
            }
            if project.lock.locked(&layer).is_some() {
                continue;
            }
            let LayerSource::Git { wanted, .. } = &layer.source else { continue };
            let remote = Remote::open(&url)?;
            let (tag, commit) = remote.current(wanted)?;
            project.lock.check_moved(name, &url, tag.as_deref(), &commit)?;
            let fetched = remote.fetch(name, wanted, &layer.dir, &layer.signed_by)?;
            show_layer(context, &LayerState::of_fetched(&layer, &fetched)?);
            project.put(&layer, fetched);
            is_new = true;
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
        if is_new && !context.terminal.agrees(self.yes, question) {
            report(false);
            context.terminal.note("nothing was written; without a terminal, `--yes` locks and trusts them");
            return Ok(Exit::Errors);
        }
        project.write(context, changes)?;
        report(true);
        match names.as_slice() {
            _ if is_json => {}
            [] => context.terminal.line("nothing to write"),
            names => context.terminal.line(&format!("wrote {}; commit it", names.join(", "))),
        }
        Ok(Exit::Success)
    }
}

/// Fails if a layer is not from the commit that is locked, or not signed as it was locked. Its repository is asked only if
/// this machine has it from elsewhere.
fn check_origin(locked: &LockedLayer, signed_by: &[String]) -> Result<()> {
    let known = LayerStore::of_user()?.provenance(&locked.content);
    if known.is_none_or(|known| locked.is_from(&known)) {
        return Ok(());
    }
    let (fetched, moved) = Remote::open(&locked.git)?.fetch_locked(locked, signed_by)?;
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
