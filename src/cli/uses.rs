//! `toolsd uses`: who uses a template, a script or another file of a pack.

use super::context::CommandContext;
use super::options::{CommandResult, Exit, OutputFormat};
use crate::call::load_packs;
use crate::check::{FileUse, uses_of};
use crate::diagnostic::{Code, Diagnostic};
use crate::registry::PackChoice;
use crate::value::Json;
use clap::Args;
use serde_json::json;

/// Show who uses a file of a pack, directly or through others.
#[derive(Args)]
pub struct UsesCommand {
    /// Its path, as `toolsd list --where` shows it.
    path: String,
}

impl UsesCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let (packs, _) = load_packs(&context.pack_source(PackChoice::ByMarkers)?);
        if !packs.iter().any(|pack| pack.files.has(&self.path)) {
            let known = packs.iter().flat_map(|pack| pack.files.by_path.keys().map(String::as_str));
            let error = Diagnostic::new(Code("usage"), format!("no pack has the file `{}`", self.path));
            return Err(error.help_for(&self.path, known, "`toolsd list --where` lists all files"));
        }
        let uses =
            packs.iter().flat_map(|pack| uses_of(pack, &self.path).into_iter().map(|one| (pack.name.clone(), one)));
        let uses: Vec<_> = uses.collect();
        if context.options.format == OutputFormat::Json {
            let row = |(pack, one): &(String, FileUse)| json!({ "pack": pack, "file": one.at.source.path, "at": one.at.to_string(), "through": one.through });
            context.terminal.json(&json!({ "path": self.path, "uses": uses.iter().map(row).collect::<Vec<Json>>() }));
            return Ok(Exit::Success);
        }
        if uses.is_empty() {
            context.terminal.note(&format!("nothing names `{}`", self.path));
            return Ok(Exit::Success);
        }
        let row = |(pack, one): &(String, FileUse)| vec![one.at.to_string(), pack.clone(), one.through.join(" → ")];
        context.terminal.table(&["used at", "pack", "through"], uses.iter().map(row).collect());
        Ok(Exit::Success)
    }
}
