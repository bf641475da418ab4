//! `toolsd eject`: copies files of a pack into this workspace, to change them there.

use super::context::CommandContext;
use super::options::{CommandResult, Exit, OutputFormat};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::registry::{EJECTED, PackFiles, is_withheld_of, read_ejected, unknown_pack};
use crate::world::FileChange;
use clap::Args;
use serde_json::json;

/// Copy files of a pack out of the binary, to change them here.
#[derive(Args)]
pub struct EjectCommand {
    /// Paths as `toolsd list --where` shows them, or names of packs.
    #[arg(required = true, value_name = "PATH | PACK")]
    what: Vec<String>,
    /// Overwrite existing files.
    #[arg(long)]
    force: bool,
}

impl EjectCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let origin = context.target_origin();
        let layers = context.layers()?;
        let (_, found) = PackFiles::collect(&layers);
        let below: Vec<_> = layers.into_iter().filter(|layer| layer.origin != origin).collect();
        let (files, _) = PackFiles::collect(&below);
        let paths = self.paths(&files, &found)?;
        let target = context.target_layer()?;
        let mut hashes = read_ejected(target.as_ref(), EJECTED);
        let mut changes = Vec::new();
        //= docs/spec.md#command-line
        //# `toolsd eject` MUST write all files or none.
        for path in &paths {
            if target.stat(path)?.is_some() && !self.force {
                let diagnostic = Diagnostic::new(Code("usage"), format!("`{}/{path}` already exists", target.root()));
                return Err(diagnostic.help("nothing was written; use `--force` to overwrite it"));
            }
            let Some(file) = files.by_path.get(path) else { continue };
            changes.push(FileChange { path: path.clone(), bytes: Some(file.bytes().into()), like: None });
            hashes.insert(path.clone(), blake3::Hash::from(*file.hash()).to_string());
        }
        let hashes = serde_json::to_string_pretty(&hashes).unwrap_or_default() + "\n";
        changes.push(FileChange { path: EJECTED.to_owned(), bytes: Some(hashes.into_bytes().into()), like: None });
        target.apply(&changes)?;
        if context.options.format == OutputFormat::Json {
            context.terminal.json(&json!({ "folder": target.root(), "files": paths }));
        } else {
            paths.iter().for_each(|path| context.terminal.line(&format!("{}/{path}", target.root())));
            context.hint_at_trust(&origin);
        }
        Ok(Exit::Success)
    }

    /// The paths of the files that are meant, in the layers below; `found` are the diagnostics of all layers.
    fn paths(&self, files: &PackFiles, found: &[Diagnostic]) -> Result<Vec<String>> {
        let mut paths = Vec::new();
        let packs = files.packs();
        for name in &self.what {
            let by_path = files.by_path.keys().filter(|path| *path == name);
            let of_pack = if packs.contains(name) { files.for_pack(name) } else { PackFiles::default() };
            let all: Vec<String> = by_path.cloned().chain(of_pack.by_path.into_keys()).collect();
            if all.is_empty() && found.iter().any(|diagnostic| is_withheld_of(diagnostic, name)) {
                return Err(unknown_pack(name, &packs, found));
            }
            if all.is_empty() {
                let error = Diagnostic::new(Code("usage"), format!("no layer below has `{name}`"));
                let known = packs.iter().chain(files.by_path.keys()).map(String::as_str);
                return Err(error.help_for(name, known, "run `toolsd list --where`"));
            }
            paths.extend(all.into_iter().filter(|path| !path.contains("/shared/") || path == name));
        }
        paths.sort();
        paths.dedup();
        Ok(paths)
    }
}
