//! `toolsd diff`: what changed of all that packs publish, and what each change means for those who call them.

use super::context::CommandContext;
use super::old_cases::play_old_cases;
use super::options::{CommandResult, Exit, OutputFormat};
use super::project::Project;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::distribution::{LAYER, LOCK_FILE, LayerStore, LockFile, Revision};
use crate::registry::{Layer, WORKSPACE_FOLDER};
use crate::surface::SURFACE_FILE;
use crate::value::Json;
use crate::verdict::{self, Change, Verdict};
use crate::world::path;
use clap::{Args, ValueEnum};
use serde_json::json;

/// Judge what changed of all that packs publish.
#[derive(Args)]
pub struct DiffCommand {
    /// Compare with a commit of this repository, such as `origin/main` [default: the file `toolsd.surface.json`].
    #[arg(long, value_name = "COMMIT")]
    from: Option<String>,
    /// Play the cases that the packs had at that commit on the packs as they are now, and compare what the prompts in
    /// them say.
    #[arg(long, requires = "from")]
    cases: bool,
    /// Exit with 0 in spite of these changes.
    #[arg(long, value_enum, value_delimiter = ',')]
    accept: Vec<AcceptedChange>,
}

/// Changes that are refused unless they are accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum AcceptedChange {
    /// A call that worked may fail, or means something else.
    Breaking,
    /// The packs ask for more than before.
    Widens,
    /// A tag names another commit than before, or a branch does not contain the commit that is locked.
    Moved,
}

pub fn refused_changes<'a>(changes: &'a [Change], accepted: &'a [AcceptedChange]) -> impl Iterator<Item = &'a Change> {
    changes.iter().filter(|change| {
        let is_breaking = change.verdict == Verdict::Breaking && !accepted.contains(&AcceptedChange::Breaking);
        is_breaking || (change.widens && !accepted.contains(&AcceptedChange::Widens))
    })
}

impl DiffCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let project = Project::open(context)?;
        let root = context.workspace.root();
        let revision = self.from.as_ref().map(|from| Revision::open(root, from)).transpose()?;
        let old = old_surface(context, revision.as_ref())?;
        let new = project.surface(context, &project.registry(context)?)?;
        let played = match revision.filter(|_| self.cases) {
            Some(revision) => Some(play_old_cases(context, &old_layers(context, &revision)?, None)?),
            None => None,
        };
        let count = played.as_ref().map(|played| played.count);
        let changes = judge(&old, &new, played.map_or_else(Vec::new, |played| played.changes));
        let terminal = &context.terminal;
        match context.options.format {
            OutputFormat::Json => {
                let mut report = verdict::json(&changes);
                report["old_cases"] = json!(count);
                terminal.json(&report);
            }
            OutputFormat::Sarif => terminal.json(&verdict::sarif(&changes)),
            OutputFormat::Markdown => terminal.text(verdict::markdown(&changes).trim_end()),
            OutputFormat::Text => {
                terminal.text(verdict::text(&changes).trim_end());
                if let Some(count) = count {
                    terminal.note(&format!("{count} old cases were played"));
                }
            }
        }
        let is_refused = refused_changes(&changes, &self.accept).next().is_some();
        Ok(if is_refused { Exit::Errors } else { Exit::Success })
    }
}

/// What changed: what old cases show, what the surfaces show, and versions that were not raised.
pub fn judge(old: &Json, new: &Json, played: Vec<Change>) -> Vec<Change> {
    let mut changes = played;
    changes.extend(verdict::compare(old, new));
    let steps = verdict::version_steps(old, new, &changes);
    changes.extend(steps);
    changes
}

/// What was published before.
fn old_surface(context: &CommandContext, revision: Option<&Revision>) -> Result<Json> {
    let (bytes, place) = match revision {
        Some(revision) => (revision.file(SURFACE_FILE)?, format!("commit {}", revision.commit)),
        None => {
            let there = context.workspace.stat(SURFACE_FILE)?;
            let bytes = there.map(|_| context.workspace.read(SURFACE_FILE)).transpose()?;
            (bytes, format!("`{}`", context.workspace.root()))
        }
    };
    let bytes = bytes.ok_or_else(|| {
        let error = Diagnostic::new(Code::NOT_FOUND, format!("{place} has no `{SURFACE_FILE}` to compare with"));
        error.help("`toolsd lock` writes it; commit it, and compare from then on")
    })?;
    serde_json::from_slice(&bytes).map_err(|error| {
        let error = Diagnostic::new(LAYER, format!("`{SURFACE_FILE}` of {place} is not JSON: {error}"));
        error.help("`toolsd lock` writes it again")
    })
}

/// The layers of a project at a commit: folders of `--dir` in the repository, the workspace's own, those that were
/// locked. What is not there is omitted, with a note for locked layers that are not on this machine.
fn old_layers(context: &CommandContext, revision: &Revision) -> Result<Vec<Layer>> {
    let root = context.workspace.root();
    let mut layers = Vec::new();
    let own = context.options.dirs.iter().filter_map(|dir| path::relative(dir, root));
    for dir in own.chain([WORKSPACE_FOLDER.to_owned()]) {
        if let Some(content) = revision.content(&dir)? {
            layers.push(content.layer(&dir, &content.packs())?);
        }
    }
    let locked = revision.file(LOCK_FILE)?;
    let locked = locked.map(|bytes| LockFile::parse(&String::from_utf8_lossy(&bytes))).transpose()?.unwrap_or_default();
    let store = LayerStore::of_user()?;
    for layer in &locked.layers {
        match store.get(&layer.content)? {
            Some(content) => layers.push(content.layer(&layer.name, &content.packs())?),
            None => {
                let message = format!(
                    "the cases of layer {} as it was then are not played: it is not on this machine",
                    layer.name
                );
                context
                    .terminal
                    .diagnostic(&Diagnostic::new(LAYER, message).warning().help("fetch it in a clone at that commit"));
            }
        }
    }
    Ok(layers)
}
