//! `toolsd export`: prompts as files of other systems, one file each.

use super::check::plural;
use super::context::CommandContext;
use super::options::{CommandResult, Exit, OutputFormat};
use crate::call;
use crate::definition::Prompt;
use crate::diagnostic::{Code, Diagnostic, Result, did_you_mean, render};
use crate::exchange::{EXPORT, PromptTexts, export_command, export_dotprompt};
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
            match self.export(parts, prompt, &mut files, &mut findings) {
                Some((name, text)) => _ = files.insert(name, text),
                None => refused.push(prompt.name.value.as_str()),
            }
        }
        let written = chosen.len() - refused.len();
        self.write(&files)?;
        let terminal = &context.terminal;
        let names: Vec<&String> = files.keys().collect();
        if context.options.format == OutputFormat::Json {
            let findings = render::json(&findings);
            terminal.json(&json!({ "folder": self.out, "files": names, "refused": refused, "findings": findings }));
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
        let all = packs.iter().flat_map(|parts| parts.definitions.prompts.iter().map(move |prompt| (parts, prompt)));
        let all: Vec<(&PackParts, &Prompt)> = all.collect();
        let is_named =
            |name: &String, parts: &PackParts, prompt: &Prompt| parts.name == *name || prompt.name.value == *name;
        for name in &self.what {
            if !all.iter().any(|(parts, prompt)| is_named(name, parts, prompt)) {
                let known: Vec<&str> =
                    all.iter().flat_map(|(parts, prompt)| [parts.name.as_str(), &prompt.name.value]).collect();
                let help = withheld.first().map(|first| first.message.clone());
                let help = help.or_else(|| did_you_mean(name, known.iter().copied()));
                let diagnostic = Diagnostic::new(Code("usage"), format!("there is no pack or prompt `{name}`"));
                return Err(diagnostic.help(help.unwrap_or_else(|| "run `toolsd list`".to_owned())));
            }
        }
        let is_embedded = |parts: &PackParts, prompt: &Prompt| {
            parts.files.by_path.get(&prompt.at.source.path).is_some_and(|file| file.origin == EMBEDDED)
        };
        let is_meant = |(parts, prompt): &(&PackParts, &Prompt)| match self.what.as_slice() {
            [] => !is_embedded(parts, prompt),
            names => names.iter().any(|name| is_named(name, parts, prompt)),
        };
        Ok(all.into_iter().filter(is_meant).collect())
    }

    /// The name and the text of the file of a prompt.
    fn export(
        &self,
        parts: &PackParts,
        prompt: &Prompt,
        files: &mut BTreeMap<String, String>,
        findings: &mut Vec<Diagnostic>,
    ) -> Option<(String, String)> {
        let texts: PromptTexts<'_> = &|path, is_partial| {
            let is_meant = |known: &str| match known.strip_prefix(path) {
                Some(rest) if is_partial => {
                    rest.starts_with('.') && !rest.contains('/') && !known.starts_with("tools.d/")
                }
                Some(rest) => rest.is_empty(),
                None => false,
            };
            parts.files.by_path.iter().find(|(known, _)| is_meant(known)).and_then(|(_, file)| file.source.clone())
        };
        let name = &prompt.name.value;
        let mut refuse = |message: String, help: &str| {
            findings.push(*Diagnostic::new(EXPORT, message).at(prompt.name.at.clone()).help(help));
            None
        };
        if name.starts_with(['_', '.']) || name.contains(['/', '\\', '\0']) {
            return refuse(format!("`{name}` cannot be the name of a file"), "rename the prompt");
        }
        let ending = if self.to == ForeignFormat::Commands { "md" } else { "prompt" };
        let file = format!("{name}.{ending}");
        if files.contains_key(&file) {
            return refuse(format!("another pack has a prompt `{name}`, too"), "name one pack");
        }
        if self.to == ForeignFormat::Commands {
            return export_command(prompt, texts, findings).map(|text| (file, text));
        }
        let known =
            files.iter().filter_map(|(name, text)| Some((name.strip_prefix('_')?.strip_suffix(".prompt")?, text)));
        let mut partials: BTreeMap<String, String> =
            known.map(|(name, text)| (name.to_owned(), text.clone())).collect();
        let text = export_dotprompt(prompt, texts, &mut partials, findings)?;
        files.extend(partials.into_iter().map(|(name, text)| (format!("_{name}.prompt"), text)));
        Some((file, text))
    }

    /// Writes all files or none.
    fn write(&self, files: &BTreeMap<String, String>) -> Result<()> {
        let out = path::clean(&path::join(&current_folder()?, &self.out));
        // The folder may not exist yet.
        let mut root = out.as_str();
        let disk = loop {
            match Disk::new(root, []) {
                Ok(disk) => break disk,
                Err(error) if root == "/" => return Err(error),
                Err(_) => root = path::folder(root),
            }
        };
        let below = path::relative(&out, root).unwrap_or_else(|| ".".to_owned());
        let mut changes = Vec::new();
        for (name, text) in files {
            let path = path::clean(&path::join(&below, name));
            if disk.stat(&path)?.is_some() && !self.force {
                let diagnostic =
                    Diagnostic::new(Code("usage"), format!("`{}` already exists", path::join(&self.out, name)));
                return Err(diagnostic.help("nothing was written; use `--force` to overwrite it"));
            }
            changes.push(FileChange { path, bytes: Some(text.clone().into_bytes().into()), like: None });
        }
        disk.apply(&changes)
    }
}
