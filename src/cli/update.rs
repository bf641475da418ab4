//! `toolsd update`: moves layers to what their repositories have now, after a person saw what changes.

use super::context::CommandContext;
use super::diff::{AcceptedChange, judge, refused_changes};
use super::old_cases::play_old_cases;
use super::options::{CommandResult, Exit, OutputFormat};
use super::project::{Project, remote_layers, show_layer};
use crate::definition::{LayerDefinition, LayerSource, SETTINGS_FILE, WantedRevision};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::distribution::{LAYER, LayerState, LayerStore, LockedLayer, Provenance, Remote};
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
        let layers: Vec<_> =
            remote_layers(&before, &self.names)?.into_iter().map(|(layer, url)| (layer.clone(), url)).collect();
        if let (Some(_), 2..) | (Some(_), 0) = (&self.to, layers.len()) {
            let error = Diagnostic::new(Code("usage"), "`--to` moves one layer");
            return Err(error.help("name it: `toolsd update LAYER --to TAG`"));
        }
        for (definition, url) in layers {
            moves.extend(self.find_move(context, &mut after, definition, url)?);
        }
        let is_json = context.options.format == OutputFormat::Json;
        if moves.is_empty() {
            match is_json {
                true => context.terminal.json(&json!({ "moved": [], "written": [] })),
                false => context.terminal.line("every layer is at what `toolsd.toml` wants"),
            }
            return Ok(Exit::Success);
        }
        moves.iter().for_each(|moved| show_layer(context, &moved.state));
        let registry = after.registry(context)?;
        let files = after.changes(context, &registry)?;
        let changes = self.review(context, &before, &after, &registry)?;
        let refused: Vec<&Change> = refused_changes(&changes, &self.accept).collect();
        if !is_json {
            context.terminal.text(verdict::text(&changes).trim_end());
        }
        let question = "Move these layers, and trust them as they are now? [y/N] ";
        let agreed = refused.is_empty() && context.terminal.agrees(self.yes, question);
        let files = if agreed { after.write(context, files)? } else { Vec::new() };
        if is_json {
            let moved: Vec<Json> = moves.iter().map(Move::json).collect();
            let report = verdict::json(&changes);
            context.terminal.json(&json!({ "moved": moved, "written": files, "changes": report }));
        } else if agreed {
            context.terminal.line(&format!("updated; commit {}", files.join(", ")));
        } else {
            context.terminal.note(&format!("nothing was written{}", self.next_step(context, &refused)));
        }
        Ok(if agreed { Exit::Success } else { Exit::Errors })
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

    /// What to do after nothing was written.
    fn next_step(&self, context: &CommandContext, refused: &[&Change]) -> String {
        let accepted = [
            ("breaking", refused.iter().any(|change| change.verdict == Verdict::Breaking)),
            ("widens", refused.iter().any(|change| change.widens)),
        ];
        let words: Vec<&str> = accepted.into_iter().filter(|(_, needed)| *needed).map(|(word, _)| word).collect();
        match words.as_slice() {
            [] if context.terminal.can_ask() => String::new(),
            [] => "; without a terminal, `--yes` moves them".to_owned(),
            words => format!("; `--accept {}` takes it", words.join(",")),
        }
    }

    /// Puts a layer into the project as its repository has it now; nothing if that is locked already.
    fn find_move(
        &self,
        context: &CommandContext,
        project: &mut Project,
        definition: LayerDefinition,
        url: &str,
    ) -> Result<Option<Move>> {
        let name = definition.name.value.clone();
        let remote = Remote::open(url)?;
        let mut definition = definition;
        if let Some(to) = &self.to {
            definition = move_to(project, &definition, &remote.resolve(to)?)?;
        }
        let LayerSource::Git { wanted, .. } = &definition.source else { return Ok(None) };
        let (tag, commit) = remote.current(wanted)?;
        let locked = project.lock.locked(&definition).cloned();
        if let Some(locked) = &locked
            && locked.commit == commit
        {
            if context.options.format != OutputFormat::Json {
                let label = tag.map_or_else(|| wanted.describe(), |tag| format!("tag {tag}"));
                context.terminal.line(&format!("layer {name} is at {label}{}", newer(&remote, wanted)));
            }
            return Ok(None);
        }
        if !self.accept.contains(&AcceptedChange::Moved) {
            project.lock.check_moved(&name, url, tag.as_deref(), &commit)?;
        }
        let before = project.lock.layer(&name).cloned();
        let fetched = remote.fetch(&name, wanted, &definition.dir, &definition.signed_by)?;
        if let (None, Some(before)) = (&self.to, &before) {
            refuse_older(before, &fetched.provenance)?;
        }
        let state = LayerState::of_fetched(&definition, &fetched)?;
        project.put(&definition, fetched);
        Ok(Some(Move { before, state }))
    }
}

/// Refuses a commit that is older than the locked one: a publisher took a tag back, or a branch. A person who names it gets
/// it.
fn refuse_older(before: &LockedLayer, now: &Provenance) -> Result<()> {
    let known = LayerStore::of_user()?.provenance(&before.content).filter(|known| known.git == now.git);
    let Some(known) = known.filter(|known| known.time > now.time) else { return Ok(()) };
    let (name, label) = (&before.name, now.label());
    let message = format!("layer {name} would go back: {label} is older than {}, which is locked", known.label());
    let to = now.tag.as_ref().unwrap_or(&now.commit);
    Err(Diagnostic::new(LAYER, message)
        .help(format!("ask its publisher why; `toolsd update {name} --to {to}` takes it")))
}

/// Writes another tag, branch or commit into `toolsd.toml`.
fn move_to(project: &mut Project, definition: &LayerDefinition, wanted: &WantedRevision) -> Result<LayerDefinition> {
    let name = &definition.name.value;
    let LayerSource::Git { wanted: old, .. } = &definition.source else { return Ok(definition.clone()) };
    let (key, value) = wanted.key_and_value();
    let text = replace_key(&project.settings, "layers", name, old.key_and_value().0, (key, &json!(value)));
    let text = text.ok_or_else(|| {
        let error = Diagnostic::new(Code("usage"), format!("`[layers.{name}]` of `{SETTINGS_FILE}` cannot be edited"));
        error.help(format!("write `{key} = {value:?}` into it, run `toolsd trust`, then `toolsd lock`"))
    })?;
    let locked = project.lock.clone();
    project.set_settings(text)?;
    project.lock = locked;
    project.definition(name).cloned()
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
