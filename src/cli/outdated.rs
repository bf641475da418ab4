//! `toolsd outdated`: which layers have a newer version.

use super::context::CommandContext;
use super::options::{CommandResult, Exit};
use super::project::{Project, RemoteLayer, RepositoryAnswer, ask_each, remote_layers};
use crate::diagnostic::Result;
use crate::distribution::{LockFile, LockedLayer, Remote};
use clap::Args;
use serde_json::json;

/// Show which layers have a newer version.
#[derive(Args)]
pub struct OutdatedCommand {
    /// Exit with 1 if a layer is not at what `toolsd.toml` wants of it. If a repository cannot be reached, the code is 2
    /// with and without this.
    #[arg(long)]
    exit_code: bool,
}

impl OutdatedCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let project = Project::open(context)?;
        let keys = ["layer", "locked", "wanted", "newest"];
        let (rows, failed) =
            ask_each(context, &remote_layers(&project, &[])?, &keys, |layer| versions(layer, &project.lock));
        let is_behind = rows.iter().any(|row| row["behind"] == true);
        Ok(match failed {
            // Whether something is outdated is not known: as other commands that cannot reach a repository.
            true => Exit::Usage,
            false if self.exit_code && is_behind => Exit::Errors,
            false => Exit::Success,
        })
    }
}

/// What a repository has of a layer, with a warning for a locked tag that names another commit now. `wanted` is what
/// `toolsd update` would take.
fn versions(layer: &RemoteLayer, lock: &LockFile) -> Result<RepositoryAnswer> {
    let remote = Remote::open(&layer.url)?;
    let (tag, commit) = remote.current(&layer.wanted)?;
    let name = &layer.definition.name.value;
    let locked = lock.layer(name);
    let moved = lock.check_moved(name, &layer.url, tag.as_deref(), &commit).err();
    let mark = if moved.is_some() { ", moved" } else { "" };
    let short = |commit: &str| commit.get(..12).unwrap_or(commit).to_owned();
    let newest = remote.versions().into_iter().find(|(version, _)| version.pre.is_empty()).map(|(_, tag)| tag);
    let of_locked = |locked: &LockedLayer| locked.tag.clone().unwrap_or_else(|| short(&locked.commit));
    let row = json!({
        "layer": name,
        "locked": locked.map_or_else(|| "nothing".to_owned(), of_locked),
        "wanted": tag.unwrap_or_else(|| short(&commit)) + mark,
        "newest": newest.unwrap_or_else(|| "no version".to_owned()),
        "behind": locked.is_none_or(|locked| locked.commit != commit),
        "moved": moved.is_some(),
    });
    Ok((row, moved.map(|error| *error.warning())))
}
