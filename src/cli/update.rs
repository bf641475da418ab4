//! `toolsd update`: moves layers to what their repositories have now, after a person saw what changes.

use super::context::CommandContext;
use super::options::{CommandResult, Exit, OutputFormat};
use super::project::{Project, new_errors, remote_layers, show_layer};
use crate::definition::{LayerDefinition, LayerSource, SETTINGS_FILE, WantedRevision};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::distribution::{LAYER, LayerState, LockedLayer, Remote};
use crate::edit::replace_key;
use crate::value::Json;
use clap::{Args, ValueEnum};
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
    accept: Vec<Accepted>,
    /// Do not ask.
    #[arg(long)]
    yes: bool,
}

/// What an update does only if it was accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Accepted {
    /// The packs ask for more than before.
    Widens,
    /// A tag names another commit than before.
    Moved,
}

/// A layer that moves.
struct Move {
    definition: LayerDefinition,
    before: Option<LockedLayer>,
    state: LayerState,
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
        let mut refused = Vec::new();
        for moved in &moves {
            show_layer(context, &moved.state);
            refused.extend(self.refusals(&before, context, moved));
        }
        let errors = new_errors(&after.registry(context)?, &before.registry(context).unwrap_or_default());
        errors.iter().for_each(|error| context.terminal.diagnostic(error));
        refused.iter().for_each(|error| context.terminal.diagnostic(error));
        let is_refused = !errors.is_empty() || !refused.is_empty();
        let agreed = !is_refused
            && (self.yes
                || context.terminal.confirm("Move these layers, and trust them as they are now? [y/N] ") == Some(true));
        let files = if agreed { after.write(context, false)? } else { Vec::new() };
        let row = |moved: &Move| {
            let from = moved.before.as_ref().map(|before| &before.commit);
            let to = moved.state.provenance.as_ref().map(|to| &to.commit);
            json!({ "layer": moved.state.name, "from": from, "to": to, "label": moved.state.label })
        };
        if is_json {
            let errors: Vec<String> =
                errors.iter().map(ToString::to_string).chain(refused.iter().map(ToString::to_string)).collect();
            let rows: Vec<Json> = moves.iter().map(row).collect();
            context.terminal.json(&json!({ "moved": rows, "written": files, "refused": errors }));
        } else if agreed {
            context.terminal.line(&format!("updated; commit {}", files.join(", ")));
        } else {
            let how =
                if is_refused || context.terminal.can_ask() { "" } else { "; without a terminal, `--yes` moves them" };
            context.terminal.note(&format!("nothing was written{how}"));
        }
        Ok(if agreed { Exit::Success } else { Exit::Errors })
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
        let locked = project.lock.layer(&name).filter(|locked| locked.is_of(&definition)).cloned();
        if let Some(locked) = &locked
            && locked.commit == commit
        {
            if context.options.format != OutputFormat::Json {
                let label = tag.map_or_else(|| wanted.describe(), |tag| format!("tag {tag}"));
                context.terminal.line(&format!("layer {name} is at {label}{}", newer(&remote, wanted)));
            }
            return Ok(None);
        }
        //= docs/spec.md#layers
        //# A tag MUST be refused if it was moved since it was locked, or if no key of `signed_by` signed it
        //# under its own name.
        if let (Some(locked), Some(tag)) = (&locked, &tag)
            && locked.tag.as_ref() == Some(tag)
            && !self.accept.contains(&Accepted::Moved)
        {
            let message = format!(
                "tag {tag} of {name} is commit {commit} now, and `toolsd.lock` says {}: the tag was moved",
                locked.commit
            );
            let help = format!("ask its publisher why; `toolsd update {name} --accept moved` takes it");
            return Err(Diagnostic::new(LAYER, message).help(help));
        }
        let before = project.lock.layer(&name).cloned();
        let fetched = remote.fetch(&name, wanted, &definition.dir, &definition.signed_by)?;
        let state = LayerState::of_fetched(&definition, &fetched)?;
        project.put(&definition, fetched);
        Ok(Some(Move { definition, before, state }))
    }

    /// Why a move is refused unless it was accepted.
    fn refusals(&self, before: &Project, context: &CommandContext, moved: &Move) -> Option<Diagnostic> {
        if self.accept.contains(&Accepted::Widens) {
            return None;
        }
        let known = before
            .state(context, &moved.definition)
            .or_else(|_| before.state(context, before.definition(&moved.state.name)?));
        let known = known.map(|state| state.to_trusted(false)).ok()?;
        let more = moved.state.widened(&known);
        let message = format!("layer {} asks for more: + {}", moved.state.name, more.join(", + "));
        let error = Diagnostic::new(LAYER, message).help("`--accept widens` takes it");
        (!more.is_empty()).then_some(*error)
    }
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
