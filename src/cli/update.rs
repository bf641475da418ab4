//! `toolsd update`: moves layers to what their repositories have now, after a person saw what changes.

use super::context::CommandContext;
use super::diff::{AcceptedChange, judge, refused_changes};
use super::old_cases::play_old_cases;
use super::options::{CommandResult, Exit, OutputFormat};
use super::project::{Project, RemoteLayer, remote_layers};
use crate::definition::{SETTINGS_FILE, WantedRevision};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::distribution::{LAYER, LayerState, LockedLayer, Provenance, Remote, parse_version};
use crate::edit::replace_key;
use crate::registry::Registry;
use crate::surface::{SURFACE_FILE, surface};
use crate::value::Json;
use crate::verdict::{self, Change, Verdict};
use clap::Args;
use serde_json::json;

/// Move layers to what their repositories have now.
#[derive(Args)]
pub struct UpdateCommand {
    /// Only these layers [default: all].
    #[arg(value_name = "LAYER")]
    names: Vec<String>,
    /// Move one layer to this tag, branch or commit.
    #[arg(long, value_name = "TAG")]
    to: Option<String>,
    /// Accept what is otherwise refused.
    #[arg(long, value_enum, value_delimiter = ',')]
    accept: Vec<AcceptedChange>,
    /// Play the cases of the old versions on the new ones.
    #[arg(long)]
    cases: bool,
    /// Do not ask.
    #[arg(long)]
    yes: bool,
}

/// A layer that moves.
struct Move {
    before: Option<LockedLayer>,
    state: LayerState,
}

impl Move {
    fn json(&self) -> Json {
        let from = self.before.as_ref().map(|before| &before.commit);
        let to = self.state.provenance.as_ref().map(|to| &to.commit);
        json!({ "layer": self.state.name, "from": from, "to": to, "label": self.state.label })
    }
}

impl UpdateCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let before = Project::open(context)?;
        let mut after = before.clone();
        let mut moves = Vec::new();
        let layers = remote_layers(&before, &self.names)?;
        if let (Some(_), 2..) | (Some(_), 0) = (&self.to, layers.len()) {
            let error = Diagnostic::new(Code("usage"), "`--to` moves one layer");
            return Err(error.help("name it: `toolsd update LAYER --to TAG`"));
        }
        for layer in layers {
            moves.extend(self.find_move(context, &mut after, layer)?);
        }
        let is_json = context.options.format == OutputFormat::Json;
        if moves.is_empty() {
            match is_json {
                true => context.terminal.json(&json!({ "moved": [], "written": [] })),
                false => context.terminal.line("every layer is at what `toolsd.toml` wants"),
            }
            return Ok(Exit::Success);
        }
        let registry = after.registry(context)?;
        let files = after.changes(context, &registry)?;
        let changes = self.review(context, &before, &after, &registry)?;
        let refused: Vec<&Change> = refused_changes(&changes, &self.accept).collect();
        if !is_json {
            context.terminal.text(verdict::text(&changes).trim_end());
        }
        let written = if refused.is_empty() {
            let question = "Move these layers, and trust them as they are now? [y/N] ";
            after.write_agreed(context, files, self.yes, question)?
        } else {
            context.terminal.note(&format!("nothing was written; `--accept {}` takes it", accepting(&refused)));
            None
        };
        if is_json {
            let moved: Vec<Json> = moves.iter().map(Move::json).collect();
            let (files, report) = (written.as_deref().unwrap_or_default(), verdict::json(&changes));
            context.terminal.json(&json!({ "moved": moved, "written": files, "changes": report }));
        } else if let Some(files) = &written {
            context.terminal.line(&format!("updated; commit {}", files.join(", ")));
        }
        Ok(if written.is_some() { Exit::Success } else { Exit::Errors })
    }

    /// What a move changes: `registry` is what would serve. If the layers of before are not on this machine any more, what
    /// `toolsd.surface.json` says of them counts.
    fn review(
        &self,
        context: &CommandContext,
        before: &Project,
        after: &Project,
        registry: &Registry,
    ) -> Result<Vec<Change>> {
        let stored = || serde_json::from_slice(&context.workspace.read(SURFACE_FILE).ok()?).ok();
        let old = before.registry(context).map(|old| surface(&old)).or_else(|error| stored().ok_or(error))?;
        let played = match self.cases {
            true => play_old_cases(context, &before.layers(context)?, Some(&after.layers(context)?))?.changes,
            false => Vec::new(),
        };
        Ok(judge(&old, &surface(registry), played))
    }

    /// Puts a layer into the project as its repository has it now; nothing if that is locked already.
    fn find_move(
        &self,
        context: &CommandContext,
        project: &mut Project,
        mut layer: RemoteLayer,
    ) -> Result<Option<Move>> {
        let remote = Remote::open(&layer.url)?;
        if let Some(to) = &self.to {
            move_to(project, &mut layer, remote.resolve(to)?)?;
        }
        let (name, wanted) = (&layer.definition.name.value, &layer.wanted);
        let (tag, commit) = remote.current(wanted)?;
        if project.lock.find(&layer.definition).is_ok_and(|locked| locked.commit == commit) {
            if context.options.format != OutputFormat::Json {
                let label = tag.map_or_else(|| wanted.describe(), |tag| format!("tag {tag}"));
                context.terminal.line(&format!("layer {name} is at {label}{}", newer(&remote, wanted)));
            }
            return Ok(None);
        }
        let before = project.lock.layer(name).cloned();
        let accepts_moved = self.accept.contains(&AcceptedChange::Moved);
        let state = project.fetch(context, &remote, &layer, accepts_moved)?;
        if let (false, Some(before), Some(now)) = (accepts_moved, &before, &state.provenance) {
            refuse_taken_back(&remote, before, &layer, now)?;
        }
        Ok(Some(Move { before, state }))
    }
}

/// The words that accept what is refused.
fn accepting(refused: &[&Change]) -> String {
    let accepted = [
        ("breaking", refused.iter().any(|change| change.verdict == Verdict::Breaking)),
        ("widens", refused.iter().any(|change| change.widens)),
    ];
    let words: Vec<&str> = accepted.into_iter().filter(|(_, needed)| *needed).map(|(word, _)| word).collect();
    words.join(",")
}

/// Refuses what a publisher took back: a lower version than the locked one, or a branch without the locked commit. A user who
/// asks for something else in `toolsd.toml`, or with `--to`, gets it.
fn refuse_taken_back(remote: &Remote, before: &LockedLayer, layer: &RemoteLayer, now: &Provenance) -> Result<()> {
    let (name, locked) = (&before.name, &before.commit);
    if before.wanted != layer.wanted.describe() || before.git != now.git {
        return Ok(());
    }
    let message = match &layer.wanted {
        WantedRevision::Branch(branch) if !remote.contains(branch, locked)? => {
            format!(
                "branch {branch} of {name} was rewritten: commit {locked}, which is locked, is not in its history any more"
            )
        }
        WantedRevision::Version(_) if is_lower(now.tag.as_ref(), before.tag.as_ref()) => {
            format!("layer {name} would go back: {} is lower than {}, which is locked", now.label(), before.label())
        }
        _ => return Ok(()),
    };
    let error = Diagnostic::new(LAYER, message);
    Err(error.help(format!("ask its publisher why; `toolsd update {name} --accept moved` takes it")))
}

fn is_lower(tag: Option<&String>, other: Option<&String>) -> bool {
    tag.zip(other).and_then(|(tag, other)| Some(parse_version(tag)? < parse_version(other)?)).unwrap_or(false)
}

/// Writes another tag, branch or commit into `toolsd.toml`.
fn move_to(project: &mut Project, layer: &mut RemoteLayer, wanted: WantedRevision) -> Result<()> {
    let name = &layer.definition.name.value;
    let (key, value) = wanted.key_and_value();
    let text = replace_key(&project.settings, "layers", name, layer.wanted.key_and_value().0, (key, &json!(value)));
    let text = text.ok_or_else(|| {
        let error = Diagnostic::new(Code("usage"), format!("`[layers.{name}]` of `{SETTINGS_FILE}` cannot be edited"));
        error.help(format!("write `{key} = {value:?}` into it, run `toolsd trust`, then `toolsd lock`"))
    })?;
    let locked = project.lock.clone();
    project.set_settings(text)?;
    project.lock = locked;
    layer.definition = project.definition(name)?.clone();
    layer.wanted = wanted;
    Ok(())
}

/// Which version is newer than what a layer wants.
fn newer(remote: &Remote, wanted: &WantedRevision) -> String {
    let newest = remote.versions().into_iter().find(|(version, _)| version.pre.is_empty());
    match (wanted, newest) {
        (WantedRevision::Tag(tag), Some((_, newest))) if newest != *tag => {
            format!("; the newest is {newest}: `--to {newest}` takes it")
        }
        _ => String::new(),
    }
}
