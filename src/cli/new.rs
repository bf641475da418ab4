//! `toolsd new`: writes a skeleton that works, and that passes `check` and `test`.

mod from_script;
mod skeleton;

use super::context::{CommandContext, change_trust_record, load_trust, open_layer};
use super::options::{CommandResult, Exit, OutputFormat};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::registry::{Permissions, WORKSPACE_FOLDER, differing_files, keep_trusted, pack_of_file};
use clap::{Args, Subcommand};
use from_script::SourceScript;
use serde_json::json;
use skeleton::{
    check_name, outdated_schema, pack_to_extend, print_written, skeleton_pack, skeleton_prompt, skeleton_tool,
};

/// Write a working skeleton.
#[derive(Args)]
pub struct NewCommand {
    #[command(subcommand)]
    what: NewKind,
}

#[derive(Subcommand)]
enum NewKind {
    /// A pack with one tool.
    Pack { name: String },
    /// A tool in a pack.
    Tool {
        name: String,
        #[command(flatten)]
        source: SourceScript,
    },
    /// A prompt in a pack.
    Prompt { name: String },
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
        let is_own = !matches!(&self.what, NewKind::Tool { source, .. } if source.is_given());
        let trusts = is_own && origin == "workspace" && others_are_trusted(context, &files)?;
        for (path, text) in &files {
            target.write(path, text.as_bytes())?;
        }
        // The files are written all the same; `toolsd trust`, which is then named, reports why it cannot trust.
        let trusts = trusts && trust_written(context, &files).is_ok();
        let schema = outdated_schema(target.as_ref());
        if let Some((path, text)) = &schema {
            target.write(path, text.as_bytes())?;
        }
        let paths: Vec<String> = files.into_iter().chain(schema).map(|(path, _)| path).collect();
        if context.options.format == OutputFormat::Json {
            context
                .terminal
                .json(&json!({ "folder": target.root(), "files": paths, "notes": notes, "trusted": trusts }));
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
            match trusts {
                true => context.terminal.note(
                    "trusted as written; after an edit run `toolsd trust` again, or once `toolsd trust --edits PACK`",
                ),
                false => context.hint_at_trust(&origin),
            }
            notes.iter().for_each(|note| context.terminal.note(note));
        }
        Ok(Exit::Success)
    }
}

fn path_in_workspace(path: &str) -> String {
    format!("{WORKSPACE_FOLDER}/{path}")
}

//= docs/spec.md#trust
//# As the only exception, what `toolsd new` writes without `--from-script` MUST be trusted at once, unless another
//# file of its pack is not as it was trusted.
/// Whether all files that their packs have before they are written are as they were trusted.
fn others_are_trusted(context: &CommandContext, files: &[(String, String)]) -> Result<bool> {
    let root = context.workspace.root();
    let differing = differing_files(open_layer(root)?.as_ref(), &load_trust(root)?);
    let is_of_pack = |path: &String| {
        files.iter().any(|(written, _)| pack_of_file(&path_in_workspace(written)) == pack_of_file(path))
    };
    Ok(!differing.iter().any(is_of_pack))
}

/// Trusts the bytes that were written, whatever is in the files by now.
fn trust_written(context: &CommandContext, files: &[(String, String)]) -> Result<()> {
    let root = context.workspace.root();
    files.iter().try_for_each(|(_, text)| keep_trusted(text.as_bytes()))?;
    change_trust_record(root, |record| {
        let written = files.iter().map(|(path, text)| {
            let (path, bytes) = (path_in_workspace(path), text.as_bytes());
            let permissions = Permissions::from_file(&path, bytes);
            (path, bytes, permissions)
        });
        record.workspace_mut(root).allow_files(written);
    })
    .map(drop)
}
