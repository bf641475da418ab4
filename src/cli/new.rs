//! `toolsd new`: writes a skeleton that works, and that passes `check` and `test`.

mod from_script;
mod skeleton;

use super::context::CommandContext;
use super::options::{CommandResult, Exit, OutputFormat};
use crate::diagnostic::{Code, Diagnostic};
use clap::{Args, Subcommand};
use from_script::SourceScript;
use serde_json::json;
use skeleton::{pack_to_extend, skeleton_pack, skeleton_prompt, skeleton_tool};

pub(super) use skeleton::{check_name, definition, outdated_schema, print_written, title};

/// Write a working skeleton.
#[derive(Args)]
pub struct NewCommand {
    #[command(subcommand)]
    what: NewKind,
}

#[derive(Subcommand)]
enum NewKind {
    /// A pack with one tool.
    Pack {
        /// Its name.
        name: String,
    },
    /// A tool in a pack.
    Tool {
        /// Its name.
        name: String,
        #[command(flatten)]
        source: SourceScript,
    },
    /// A prompt in a pack.
    Prompt {
        /// Its name.
        name: String,
    },
}

/// Up to this number of copied files, each is listed.
const MAX_LISTED_FILES: usize = 5;

impl NewCommand {
    //= docs/spec.md#definitions
    //# `toolsd new` MUST create files that pass `toolsd check` and `toolsd test`.
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let mut notes = Vec::new();
        let files = match &self.what {
            NewKind::Pack { name } => skeleton_pack(check_name(name)?),
            NewKind::Tool { name, source } => match source.tool(context, name)? {
                Some((files, further)) => {
                    notes = further;
                    files
                }
                None => skeleton_tool(&pack_to_extend(context)?, check_name(name)?),
            },
            NewKind::Prompt { name } => skeleton_prompt(&pack_to_extend(context)?, check_name(name)?),
        };
        let (target, origin) = (context.target_layer()?, context.target_origin());
        for (path, _) in &files {
            if target.stat(path)?.is_some() {
                let diagnostic = Diagnostic::new(Code("usage"), format!("`{}/{path}` already exists", target.root()));
                return Err(diagnostic.help("choose another name"));
            }
        }
        for (path, text) in &files {
            target.write(path, text.as_bytes())?;
        }
        let schema = outdated_schema(target.as_ref());
        if let Some((path, text)) = &schema {
            target.write(path, text.as_bytes())?;
        }
        let paths: Vec<String> = files.into_iter().chain(schema).map(|(path, _)| path).collect();
        if context.options.format == OutputFormat::Json {
            context.terminal.json(&json!({ "folder": target.root(), "files": paths, "notes": notes }));
        } else {
            let (copied, own): (Vec<String>, Vec<String>) =
                paths.into_iter().partition(|path| path.starts_with("fixtures/"));
            print_written(context, target.root(), &own);
            match copied.first().filter(|_| copied.len() > MAX_LISTED_FILES) {
                Some(first) => {
                    context.terminal.line(&format!("wrote {} files, such as {}/{first}", copied.len(), target.root()))
                }
                None => print_written(context, target.root(), &copied),
            }
            context.hint_at_trust(&origin);
            notes.iter().for_each(|note| context.terminal.note(note));
        }
        Ok(Exit::Success)
    }
}
