//! `toolsd eject`: copies files of a pack into this workspace, to change them there.

use super::context::CommandContext;
use super::options::{CommandResult, Exit, OutputFormat};
use crate::diagnostic::{Code, Diagnostic, did_you_mean};
use crate::registry::{EJECTED, PackFiles, read_ejected};
use clap::Args;
use serde_json::json;

/// Copy files of a pack out of the binary, to change them here.
#[derive(Args)]
pub struct EjectCommand {
    /// Paths as `toolsd list --where` shows them, or names of packs.
    #[arg(required = true, value_name = "PATH | PACK")]
    what: Vec<String>,
    /// Overwrite what is already there.
    #[arg(long)]
    force: bool,
}

impl EjectCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let (target, origin) = context.target_layer()?;
        let below: Vec<_> = context.layers()?.into_iter().filter(|layer| layer.origin != origin).collect();
        let (files, _) = PackFiles::collect(&below);
        let mut paths = Vec::new();
        for name in &self.what {
            let found = files.by_path.keys().filter(|path| *path == name);
            let of_pack = if files.packs().contains(name) { files.for_pack(name) } else { PackFiles::default() };
            let owned: Vec<String> = found.cloned().chain(of_pack.by_path.into_keys()).collect();
            if owned.is_empty() {
                let fault = Diagnostic::new(Code("usage"), format!("no layer below has `{name}`"));
                let known = files.by_path.keys().map(String::as_str);
                return Err(fault.help(did_you_mean(name, known).unwrap_or_else(|| "run `toolsd list --where`".into())));
            }
            paths.extend(owned.into_iter().filter(|path| !path.contains("/shared/") || path == name));
        }
        let mut hashes = read_ejected(target.as_ref(), EJECTED);
        for path in &paths {
            if target.stat(path)?.is_some() && !self.force {
                let fault = Diagnostic::new(Code("usage"), format!("`{}/{path}` is already there", target.root()));
                return Err(fault.help("use `--force` to overwrite it"));
            }
            let Some(file) = files.by_path.get(path) else { continue };
            target.write(path, file.bytes())?;
            hashes.insert(path.clone(), blake3::Hash::from(*file.hash()).to_string());
        }
        target.write(EJECTED, (serde_json::to_string_pretty(&hashes).unwrap_or_default() + "\n").as_bytes())?;
        if context.options.format == OutputFormat::Json {
            context.terminal.json(&json!({ "folder": target.root(), "files": paths }));
        } else {
            paths.iter().for_each(|path| context.terminal.line(&format!("{}/{path}", target.root())));
            context.hint_at_trust(&origin);
        }
        Ok(Exit::Success)
    }
}
