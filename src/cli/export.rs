//! `toolsd export`: prompts as files of other systems, one file each.

use super::check::plural;
use super::context::CommandContext;
use super::options::{CommandResult, Exit, OutputFormat};
use crate::call;
use crate::definition::Prompt;
use crate::diagnostic::{Code, Diagnostic, Result, did_you_mean, render};
use crate::exchange::{PromptExport, PromptTexts, export_command, export_dotprompt};
use crate::registry::{EMBEDDED, PackChoice, PackParts, withheld_packs};
use crate::world::disk::{Disk, current_folder};
use crate::world::{FileChange, Files, path};
use clap::{Args, ValueEnum};
use serde_json::json;
use std::collections::BTreeMap;

/// Export prompts to files of other systems: dotprompt, commands of Claude Code.
#[derive(Args)]
pub struct ExportCommand {
    /// Packs or prompts [default: all prompts that are not inside the binary].
    #[arg(value_name = "PACK | PROMPT")]
    what: Vec<String>,
    /// What to write.
    #[arg(long, value_enum)]
    to: ForeignFormat,
    /// The folder to write into.
    #[arg(long, value_name = "DIR")]
    out: String,
    /// Overwrite existing files.
    #[arg(long)]
    force: bool,
}

/// The files of another system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ForeignFormat {
    /// `NAME.prompt`, and partials as `_NAME.prompt`.
    Dotprompt,
    /// `NAME.md`: commands of Claude Code.
    Commands,
}

impl ExportCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let choice = match context.options.packs.as_slice() {
            [] => PackChoice::ByMarkers,
            names => PackChoice::Named(names.to_vec()),
        };
        let (packs, found) = call::load_packs(&context.pack_source(choice)?);
        let chosen = self.chosen(&packs, &withheld_packs(&found, &[]))?;
        let (mut files, mut findings, mut refused) = (BTreeMap::new(), Vec::new(), Vec::new());
        for (parts, prompt) in &chosen {
            if !self.export(parts, prompt, &mut files, &mut findings) {
                refused.push(prompt.name.value.as_str());
            }
        }
        self.write(&files)?;
        let (terminal, written) = (&context.terminal, chosen.len() - refused.len());
        let names: Vec<&String> = files.keys().collect();
        if context.options.format == OutputFormat::Json {
            terminal.json(&json!({ "files": names, "refused": refused, "findings": render::json(&findings) }));
        } else {
            findings.iter().for_each(|finding| terminal.diagnostic(finding));
            names.iter().for_each(|name| terminal.line(&format!("wrote {}", path::join(&self.out, name))));
            let not = if refused.is_empty() { String::new() } else { format!(", {} not", refused.len()) };
            terminal.line(&format!("{written} prompt{} exported{not}", plural(written)));
        }
        Ok(if refused.is_empty() { Exit::Success } else { Exit::Errors })
    }

    /// The prompts that are meant, each with its pack.
    fn chosen<'a>(&self, packs: &'a [PackParts], withheld: &[Diagnostic]) -> Result<Vec<(&'a PackParts, &'a Prompt)>> {
        let mut all: Vec<(&PackParts, &Prompt)> = packs
            .iter()
            .flat_map(|parts| parts.definitions.prompts.iter().map(move |prompt| (parts, prompt)))
            .collect();
        let names = |parts: &'a PackParts, prompt: &'a Prompt| [parts.name.as_str(), prompt.name.value.as_str()];
        let known: Vec<&str> = all.iter().flat_map(|(parts, prompt)| names(parts, prompt)).collect();
        if let Some(unknown) = self.what.iter().find(|name| !known.contains(&name.as_str())) {
            let help = withheld.first().map(|first| first.message.clone());
            let help = help.or_else(|| did_you_mean(unknown, known.iter().copied()));
            let diagnostic = Diagnostic::new(Code("usage"), format!("there is no pack or prompt `{unknown}`"));
            return Err(diagnostic.help(help.unwrap_or_else(|| "run `toolsd list`".to_owned())));
        }
        all.retain(|(parts, prompt)| match self.what.as_slice() {
            [] => parts.files.by_path.get(&prompt.at.source.path).is_none_or(|file| file.origin != EMBEDDED),
            what => what.iter().any(|name| names(parts, prompt).contains(&name.as_str())),
        });
        Ok(all)
    }

    /// Adds the files of a prompt, or what is in the way.
    fn export(
        &self,
        parts: &PackParts,
        prompt: &Prompt,
        files: &mut BTreeMap<String, String>,
        findings: &mut Vec<Diagnostic>,
    ) -> bool {
        let texts: PromptTexts<'_> = &|path, is_partial| {
            let is_meant =
                |rest: &str| if is_partial { rest.starts_with('.') && !rest.contains('/') } else { rest.is_empty() };
            let mut known = parts.files.by_path.iter();
            known.find(|(known, _)| known.strip_prefix(path).is_some_and(is_meant))?.1.source.clone()
        };
        let is_command = self.to == ForeignFormat::Commands;
        let (format, ending) = if is_command { ("a command", "md") } else { ("dotprompt", "prompt") };
        let mut export = PromptExport { prompt, texts, format, findings: Vec::new() };
        let name = &prompt.name.value;
        let file = format!("{name}.{ending}");
        if name.starts_with(['_', '.']) || name.contains(['/', '\\', '\0']) {
            export.refuse("a name that cannot be the name of a file");
        } else if files.contains_key(&file) {
            export.refuse("the name of a prompt of another pack");
        }
        let mut partials = files.clone();
        let text = if is_command { export_command(&mut export) } else { export_dotprompt(&mut export, &mut partials) };
        findings.append(&mut export.findings);
        text.is_some_and(|text| {
            partials.insert(file, text);
            *files = partials;
            true
        })
    }

    /// Writes all files or none.
    fn write(&self, files: &BTreeMap<String, String>) -> Result<()> {
        let out = path::clean(&path::join(&current_folder()?, &self.out));
        // The folder may not exist yet.
        let mut root = out.as_str();
        while root != "/" && Disk::new(root, []).is_err() {
            root = path::folder(root);
        }
        let disk = Disk::new(root, [])?;
        let below = path::relative(&out, root).unwrap_or_else(|| ".".to_owned());
        let mut changes = Vec::new();
        for (name, text) in files {
            let path = path::clean(&path::join(&below, name));
            if disk.stat(&path)?.is_some() && !self.force {
                let message = format!("`{}` already exists", path::join(&self.out, name));
                let help = "nothing was written; use `--force` to overwrite it";
                return Err(Diagnostic::new(Code("usage"), message).help(help));
            }
            changes.push(FileChange { path, bytes: Some(text.clone().into_bytes().into()), like: None });
        }
        disk.apply(&changes)
    }
}
