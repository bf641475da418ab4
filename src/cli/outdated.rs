//! `toolsd outdated`: which layers have a newer version.

use super::context::CommandContext;
use super::options::{CommandResult, Exit, OutputFormat};
use super::project::{Project, remote_layers};
use crate::definition::{LayerDefinition, LayerSource};
use crate::diagnostic::{Diagnostic, Result};
use crate::distribution::{LockFile, Remote};
use crate::value::Json;
use clap::Args;
use rayon::prelude::*;
use serde_json::json;

/// Show which layers have a newer version.
#[derive(Args)]
pub struct OutdatedCommand {
    /// Exit with 1 if a layer is not at what `toolsd.toml` wants of it. If a repository cannot be reached, the code is 2
    /// with and without this.
    #[arg(long)]
    exit_code: bool,
}

/// What a repository has of a layer.
struct Versions {
    name: String,
    locked: String,
    /// What `toolsd update` would take.
    wanted: String,
    newest: String,
    is_behind: bool,
    /// The warning for a locked tag that names another commit now.
    moved: Option<Diagnostic>,
}

impl OutdatedCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let project = Project::open(context)?;
        let layers = remote_layers(&project, &[])?;
        let found: Vec<Result<Versions>> =
            layers.par_iter().map(|(layer, url)| versions(layer, url, &project.lock)).collect();
        let (mut rows, mut failed) = (Vec::new(), false);
        for one in found {
            match one {
                Ok(versions) => rows.push(versions),
                Err(error) => {
                    failed = true;
                    context.terminal.diagnostic(&error);
                }
            }
        }
        if context.options.format == OutputFormat::Json {
            let row = |row: &Versions| {
                json!({
                    "layer": row.name, "locked": row.locked, "wanted": row.wanted, "newest": row.newest,
                    "behind": row.is_behind, "moved": row.moved.is_some(),
                })
            };
            let rows: Vec<Json> = rows.iter().map(row).collect();
            context.terminal.json(&json!({ "layers": rows }));
        } else if layers.is_empty() {
            context.terminal.note("no layer of `toolsd.toml` is from git");
        } else if !rows.is_empty() {
            let cells =
                |row: &Versions| vec![row.name.clone(), row.locked.clone(), row.wanted.clone(), row.newest.clone()];
            context.terminal.table(&["layer", "locked", "wanted", "newest"], rows.iter().map(cells).collect());
        }
        rows.iter().filter_map(|row| row.moved.as_ref()).for_each(|warning| context.terminal.diagnostic(warning));
        let is_behind = rows.iter().any(|row| row.is_behind);
        Ok(match failed {
            // Whether something is outdated is not known: as other commands that cannot reach a repository.
            true => Exit::Usage,
            false if self.exit_code && is_behind => Exit::Errors,
            false => Exit::Success,
        })
    }
}

fn versions(layer: &LayerDefinition, url: &str, lock: &LockFile) -> Result<Versions> {
    let remote = Remote::open(url)?;
    let LayerSource::Git { wanted, .. } = &layer.source else { unreachable!("only layers from git are asked for") };
    let (tag, commit) = remote.current(wanted)?;
    let name = layer.name.value.clone();
    let locked = lock.layer(&name);
    let moved = lock.check_moved(&name, url, tag.as_deref(), &commit).err();
    let mark = if moved.is_some() { ", moved" } else { "" };
    let short = |commit: &str| commit.get(..12).unwrap_or(commit).to_owned();
    let newest = remote.versions().into_iter().find(|(version, _)| version.pre.is_empty()).map(|(_, tag)| tag);
    Ok(Versions {
        name,
        locked: locked
            .map_or_else(|| "nothing".to_owned(), |locked| locked.tag.clone().unwrap_or_else(|| short(&locked.commit))),
        is_behind: locked.is_none_or(|locked| locked.commit != commit),
        wanted: tag.unwrap_or_else(|| short(&commit)) + mark,
        moved: moved.map(|error| *error.warning()),
        newest: newest.unwrap_or_else(|| "no version".to_owned()),
    })
}
