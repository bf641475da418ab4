//! `toolsd import`: prompts from files of other systems, as definitions and templates of a pack.

use super::check::plural;
use super::context::CommandContext;
use super::new::{check_name, definition, outdated_schema, print_written, title};
use super::options::{CommandResult, Exit, OutputFormat};
use crate::check::check_among;
use crate::definition::{Validation, read_definitions};
use crate::diagnostic::{Code, Diagnostic, Result, render};
use crate::exchange::{
    ForeignFile, IMPORT, Partials, PlainPrompt, PromptFolder, definition_text, import_command, import_dotprompt,
    import_partial, replace_prompt,
};
use crate::registry::{Layer, PackFiles, PackParts, WorkspaceSettings};
use crate::source::Source;
use crate::world::disk::{Disk, current_folder};
use crate::world::{EntryKind, FileChange, Files, WalkOptions, World, path};
use clap::Args;
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Import prompts from files of other systems: dotprompt, commands of Claude Code.
#[derive(Args)]
pub struct ImportCommand {
    /// Files `*.prompt` (dotprompt) and `*.md` (commands of Claude Code), or folders of them. `--pack` names the pack
    /// [default: prompts].
    #[arg(required = true, value_name = "FILE | FOLDER")]
    files: Vec<String>,
    /// Replace prompts and templates that exist.
    #[arg(long)]
    force: bool,
}

/// A file to import: its path as it is shown, where it is, and its path in the folder of its catalogue.
struct Found {
    shown: String,
    path: String,
    below: String,
}

/// What is imported, and what is not.
#[derive(Default)]
struct Import {
    prompts: Vec<(String, PlainPrompt)>,
    templates: BTreeMap<String, String>,
    refused: Vec<String>,
    findings: Vec<Diagnostic>,
}

impl ImportCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let pack = match context.options.packs.as_slice() {
            [] => "prompts".to_owned(),
            [one] => check_name(one)?.to_owned(),
            _ => {
                let diagnostic = Diagnostic::new(Code("usage"), "one pack is needed");
                return Err(diagnostic.help("name it by `--pack NAME`, once"));
            }
        };
        let import = Import::read(&self.find()?, &PromptFolder { pack: &pack });
        let (mut paths, mut errors, mut root) = (Vec::new(), Vec::new(), None);
        if !import.prompts.is_empty() {
            let target = context.target_layer()?;
            let files = self.files(&import, &pack, target.as_ref())?;
            let change =
                |(path, text): (String, String)| FileChange { path, bytes: Some(text.into_bytes().into()), like: None };
            paths = files.iter().map(|(path, _)| path.clone()).collect();
            target.apply(&files.into_iter().map(change).collect::<Vec<_>>())?;
            root = Some(target.root().to_owned());
            errors = check(context, &pack, target)?;
        }
        let terminal = &context.terminal;
        if context.options.format == OutputFormat::Json {
            let prompts = import.prompts.iter().map(|(from, prompt)| json!({ "name": prompt.name, "from": from }));
            terminal.json(&json!({
                "folder": root, "files": paths, "prompts": prompts.collect::<Vec<_>>(), "refused": import.refused,
                "findings": render::json(&import.findings), "check": render::json(&errors),
            }));
        } else {
            import.findings.iter().for_each(|finding| terminal.diagnostic(finding));
            print_written(context, root.as_deref().unwrap_or_default(), &paths);
            if !errors.is_empty() {
                terminal.excerpts(&errors);
            }
            let (count, refused) = (import.prompts.len(), import.refused.len());
            let refused = if refused == 0 { String::new() } else { format!(", {refused} file{} not", plural(refused)) };
            terminal.line(&format!("{count} prompt{} imported{refused}", plural(count)));
            if count > 0 {
                context.hint_at_trust(&context.target_origin());
            }
        }
        Ok(if import.refused.is_empty() && errors.is_empty() { Exit::Success } else { Exit::Errors })
    }

    /// The files that are meant, those of folders included.
    fn find(&self) -> Result<Vec<Found>> {
        let (here, disk) = (current_folder()?, Disk::new("/", [])?);
        let mut found = Vec::new();
        for shown in &self.files {
            let path = path::clean(&path::join(&here, shown));
            let usage = |message: String| Diagnostic::new(Code("usage"), message);
            let Some(stat) = disk.stat(&path)? else { return Err(usage(format!("there is no file `{shown}`"))) };
            if stat.entry != EntryKind::Folder {
                // Commands are named by their folders below `commands`.
                let below = path.rsplit_once("/commands/").map_or_else(|| path::name(&path), |(_, below)| below);
                found.push(Found { shown: shown.clone(), below: below.to_owned(), path });
                continue;
            }
            let from = ".".to_owned();
            let walk = WalkOptions { from, hidden: false, ignore: false, follow: false, depth: None };
            let mut files = Disk::new(&path, [])?.walk(&walk)?.files;
            files.retain(|file| ["prompt", "md"].contains(&path::extension(file).trim_start_matches('.')));
            if files.is_empty() {
                return Err(usage(format!("`{shown}` has no file `*.prompt` or `*.md`")));
            }
            let one =
                |below: String| Found { shown: path::join(shown, &below), path: path::join(&path, &below), below };
            found.extend(files.into_iter().map(one));
        }
        Ok(found)
    }

    //= docs/spec.md#command-line
    //# `toolsd import` MUST write all files or none, and MUST NOT replace existing ones without `--force`.
    /// Path and text of each file that is written.
    fn files(&self, import: &Import, pack: &str, target: &dyn World) -> Result<Vec<(String, String)>> {
        let exists = |what: String| {
            let help = "nothing was written; use `--force` to replace it";
            Err(Diagnostic::new(Code("usage"), format!("{what} already exists")).help(help))
        };
        let mut files = import.templates.clone();
        let at = format!("tools.d/{pack}.toml");
        let head = format!("[pack]\ntitle = \"{}\"\nversion = \"0.1.0\"\n", title(pack));
        let (_, mut text) = definition(at.clone(), &head);
        let mut names = Vec::new();
        if target.stat(&at)?.is_some() {
            text = crate::world::read_text(target, &at)?;
            let (known, _) = read_definitions(&Source::new(at.as_str(), text.as_str()), Validation::Skipped);
            names = known.prompts.into_iter().map(|prompt| prompt.name.value).collect();
        }
        for (_, prompt) in &import.prompts {
            if names.contains(&prompt.name) && !self.force {
                return exists(format!("the prompt `{}` of `{}/{at}`", prompt.name, target.root()));
            }
            let (table, templates) = definition_text(prompt, &PromptFolder { pack });
            let Some(replaced) = replace_prompt(&at, &text, &prompt.name, &table) else {
                let message = format!("the prompt `{}` cannot be replaced in `{}/{at}`", prompt.name, target.root());
                return Err(Diagnostic::new(Code("usage"), message).help("nothing was written; remove its table first"));
            };
            text = replaced;
            for (path, template) in templates {
                if files.insert(path.clone(), template).is_some() {
                    let message = format!("two prompts would have the template `{path}`");
                    return Err(Diagnostic::new(Code("usage"), message).help("nothing was written; rename one of them"));
                }
            }
        }
        for path in files.keys() {
            if target.stat(path)?.is_some() && !self.force {
                return exists(format!("`{}/{path}`", target.root()));
            }
        }
        files.insert(at, text);
        files.extend(outdated_schema(target));
        Ok(files.into_iter().collect())
    }
}

impl Import {
    fn read(found: &[Found], folder: &PromptFolder<'_>) -> Self {
        let (mut import, mut partials, mut files) = (Self::default(), Partials::default(), Vec::new());
        for one in found {
            match read_file(one) {
                Err(diagnostic) => import.refuse(&one.shown, vec![*diagnostic]),
                Ok(file) => match partial_name(&one.below) {
                    Some(name) => _ = partials.0.insert(name, file),
                    None => files.push((one, file)),
                },
            }
        }
        import.partials(&mut partials, folder);
        for (one, file) in files {
            let is_command = one.below.ends_with(".md");
            let (prompt, mut findings) =
                if is_command { import_command(&file) } else { import_dotprompt(&file, &partials, folder) };
            let twin = prompt.as_ref().and_then(|new| import.prompts.iter().find(|(_, old)| old.name == new.name));
            if let (Some((other, old)), Some(_)) = (twin, &prompt) {
                let diagnostic = Diagnostic::new(IMPORT, format!("`{other}` is a prompt `{}`, too", old.name));
                findings.push(*diagnostic.at(file.source.place(0..0)).help("rename one of them"));
            }
            match prompt.filter(|_| findings.iter().all(|finding| !finding.is_error())) {
                Some(prompt) => {
                    import.prompts.push((one.shown.clone(), prompt));
                    import.findings.append(&mut findings);
                }
                None => import.refuse(&one.shown, findings),
            }
        }
        import
    }

    /// Imports partials. Those that fail are removed, so that what includes them fails, too.
    fn partials(&mut self, partials: &mut Partials, folder: &PromptFolder<'_>) {
        loop {
            let mut broken = Vec::new();
            self.templates.clear();
            for (name, file) in &partials.0 {
                match import_partial(file, partials, folder) {
                    (Some(text), findings) => {
                        _ = self.templates.insert(format!("{}.hbs", folder.partial(name)), text);
                        self.findings.extend(
                            findings.into_iter().filter(|finding| !self.findings.contains(finding)).collect::<Vec<_>>(),
                        );
                    }
                    (None, findings) => broken.push((name.clone(), file.source.path.clone(), findings)),
                }
            }
            if broken.is_empty() {
                return;
            }
            for (name, path, findings) in broken {
                partials.0.remove(&name);
                self.refuse(&path, findings);
            }
        }
    }

    fn refuse(&mut self, file: &str, findings: Vec<Diagnostic>) {
        self.refused.push(file.to_owned());
        self.findings.extend(findings);
    }
}

fn read_file(found: &Found) -> Result<ForeignFile> {
    let disk = Disk::new("/", ["/"])?;
    let ending = path::extension(&found.below);
    let Some(name) = [".prompt", ".md"].iter().find_map(|ending| found.below.strip_suffix(ending)) else {
        let source = Source::new(found.shown.as_str(), "");
        let diagnostic = Diagnostic::new(IMPORT, format!("files `*.{ending}` are not imported"));
        return Err(diagnostic.at(source.place(0..0)).help("known: `*.prompt` (dotprompt), `*.md` (Claude Code)"));
    };
    let size = disk.stat(&found.path)?.map_or(0, |stat| stat.size);
    ForeignFile::check_size(&found.shown, size)?;
    ForeignFile::read(&found.shown, name, &disk.read(&found.path)?)
}

/// The name of a partial, such as `shared/style` for `shared/_style.prompt`.
fn partial_name(below: &str) -> Option<String> {
    let name = path::name(below).strip_prefix('_')?.strip_suffix(".prompt")?;
    Some(path::join(path::folder(below), name).trim_start_matches("./").to_owned())
}

/// The errors of the pack as it is now, whether its files are trusted or not.
fn check(context: &CommandContext, pack: &str, target: Arc<dyn World>) -> Result<Vec<Diagnostic>> {
    let new = Layer { origin: context.target_origin(), world: Some(target), trust: None, is_stored: false };
    let layers: Vec<Layer> = std::iter::once(new).chain(context.layers()?).collect();
    let (files, _) = PackFiles::collect(&layers);
    let parts = PackParts::read(pack, [0; 32], files.for_pack(pack), &WorkspaceSettings::default());
    let mut errors: Vec<Diagnostic> = parts.diagnostics.iter().cloned().chain(check_among(&parts, &[])).collect();
    errors.retain(Diagnostic::is_error);
    Ok(errors)
}
