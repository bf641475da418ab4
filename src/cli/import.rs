//! `toolsd import`: prompts from files of other systems, as definitions and templates of a pack.

use super::check::plural;
use super::context::CommandContext;
use super::new::{check_name, definition, outdated_schema, print_written, title};
use super::options::{CommandResult, Exit, OutputFormat};
use crate::check::check_among;
use crate::definition::{Validation, read_definitions};
use crate::diagnostic::{Code, Diagnostic, Result, render};
use crate::exchange::{
    ForeignFile, IMPORT, Partials, PlainPrompt, definition_text, import_command, import_dotprompt, import_partial,
    partial_path, replace_prompt,
};
use crate::registry::{Layer, PackFiles, PackParts, WorkspaceSettings};
use crate::source::Source;
use crate::world::disk::{Disk, current_folder};
use crate::world::{EntryKind, FileChange, Files, WalkOptions, World, path, read_text, text_from_bytes};
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
            [] => "prompts",
            [one] => check_name(one)?,
            _ => return Err(usage("one pack is needed").help("name it by `--pack NAME`, once")),
        };
        let mut import = self.read(pack)?;
        let (mut paths, mut root) = (Vec::new(), String::new());
        if !import.prompts.is_empty() {
            let target = context.target_layer()?;
            let files = self.files(&import, pack, target.as_ref())?;
            paths.extend(files.keys().cloned());
            let change =
                |(path, text): (String, String)| FileChange { path, bytes: Some(text.into_bytes().into()), like: None };
            target.apply(&files.into_iter().map(change).collect::<Vec<_>>())?;
            target.root().clone_into(&mut root);
            import.findings.extend(check(context, pack, target)?);
        }
        let (terminal, count, refused) = (&context.terminal, import.prompts.len(), import.refused.len());
        if context.options.format == OutputFormat::Json {
            let prompts: Vec<&String> = import.prompts.iter().map(|(_, prompt)| &prompt.name).collect();
            let findings = render::json(&import.findings);
            terminal
                .json(&json!({ "files": paths, "prompts": prompts, "refused": import.refused, "findings": findings }));
        } else {
            import.findings.iter().for_each(|finding| terminal.diagnostic(finding));
            print_written(context, &root, &paths);
            let refused = if refused == 0 { String::new() } else { format!(", {refused} file{} not", plural(refused)) };
            terminal.line(&format!("{count} prompt{} imported{refused}", plural(count)));
            if count > 0 {
                context.hint_at_trust(&context.target_origin());
            }
        }
        Ok(if import.findings.iter().any(Diagnostic::is_error) { Exit::Errors } else { Exit::Success })
    }

    /// Reads all files, those of folders included.
    fn read(&self, pack: &str) -> Result<Import> {
        let (mut import, mut files, mut partials) = (Import::default(), Vec::new(), Partials::new());
        let (here, disk) = (current_folder()?, Disk::new("/", ["/"])?);
        let mut add = |shown: &str, path: &str, below: &str| match read_file(&disk, shown, path, below) {
            Ok(file) => match path::name(below).strip_prefix('_').filter(|_| below.ends_with(".prompt")) {
                Some(name) => partials.push((below.replace(path::name(below), path::stem(name)), file)),
                None => files.push((below.ends_with(".md"), file)),
            },
            Err(error) => import.refuse(shown, vec![*error]),
        };
        for shown in &self.files {
            let path = path::clean(&path::join(&here, shown));
            let Some(stat) = disk.stat(&path)? else { return Err(usage(format!("there is no file `{shown}`"))) };
            if stat.entry != EntryKind::Folder {
                // Commands are named by their folders below `commands`.
                let below = path.rsplit_once("/commands/").map_or_else(|| path::name(&path), |(_, below)| below);
                add(shown, &path, below);
                continue;
            }
            let from = ".".to_owned();
            let walk = WalkOptions { from, hidden: false, ignore: false, follow: false, depth: None };
            let mut found = Disk::new(&path, [])?.walk(&walk)?.files;
            found.retain(|file| ["prompt", "md"].contains(&path::extension(file)));
            if found.is_empty() {
                return Err(usage(format!("`{shown}` has no file `*.prompt` or `*.md`")));
            }
            found.iter().for_each(|below| add(&path::join(shown, below), &path::join(&path, below), below));
        }
        import.partials(&mut partials, pack);
        for (is_command, file) in files {
            let prompt = if is_command { import_command(&file) } else { import_dotprompt(&file, &partials, pack) };
            let is_twin = |(_, old): &&(String, PlainPrompt)| prompt.as_ref().is_some_and(|new| new.name == old.name);
            if let Some((other, old)) = import.prompts.iter().find(is_twin) {
                let message = format!("`{other}` is a prompt `{}`, too", old.name);
                file.error(file.source.place(0..0), message, "rename one of them");
            }
            match prompt.and_then(|prompt| file.unless_errors(prompt)) {
                Some(prompt) => {
                    import.prompts.push((file.source.path.clone(), prompt));
                    import.findings.extend(file.take_findings());
                }
                None => import.refuse(&file.source.path, file.take_findings()),
            }
        }
        Ok(import)
    }

    /// Path and text of each file that is written.
    fn files(&self, import: &Import, pack: &str, target: &dyn World) -> Result<BTreeMap<String, String>> {
        let refuse = |what: String, help: &str| Err(usage(what).help(format!("nothing was written; {help}")));
        let mut files = import.templates.clone();
        let at = format!("tools.d/{pack}.toml");
        let head = format!("[pack]\ntitle = \"{}\"\nversion = \"0.1.0\"\n", title(pack));
        let (_, mut text) = definition(at.clone(), &head);
        if target.stat(&at)?.is_some() {
            text = read_text(target, &at)?;
        }
        let (known, _) = read_definitions(&Source::new(at.as_str(), text.as_str()), Validation::Skipped);
        for (_, prompt) in &import.prompts {
            let shown = format!("the prompt `{}` of `{}/{at}`", prompt.name, target.root());
            if !self.force && known.prompts.iter().any(|known| known.name.value == prompt.name) {
                return refuse(format!("{shown} already exists"), "use `--force` to replace it");
            }
            let (table, templates) = definition_text(prompt, pack);
            let Some(replaced) = replace_prompt(&at, &text, &prompt.name, &table) else {
                return refuse(format!("{shown} cannot be replaced"), "remove its table first");
            };
            text = replaced;
            for (path, template) in templates {
                if files.contains_key(&path) {
                    return refuse(format!("two prompts would have the template `{path}`"), "rename one of them");
                }
                files.insert(path, template);
            }
        }
        for path in files.keys() {
            if !self.force && target.stat(path)?.is_some() {
                return refuse(format!("`{}/{path}` already exists", target.root()), "use `--force` to replace it");
            }
        }
        files.insert(at, text);
        files.extend(outdated_schema(target));
        Ok(files)
    }
}

impl Import {
    /// Imports partials. Those that fail are removed, so that what includes them fails, too.
    fn partials(&mut self, partials: &mut Partials, pack: &str) {
        loop {
            let path = |at: usize| partial_path(pack, &partials[at].0);
            let mut broken = Vec::new();
            for (at, (_, file)) in partials.iter().enumerate() {
                if let Some(twin) = (0..partials.len()).find(|other| *other != at && path(*other) == path(at)) {
                    let message = format!("`{}` is a partial of the same name", partials[twin].1.source.path);
                    file.error(file.source.place(0..0), message, "rename one of them");
                }
                match import_partial(file, partials, pack) {
                    Some(text) => _ = self.templates.insert(format!("{}.hbs", path(at)), text),
                    None => broken.push(at),
                }
            }
            for at in broken.iter().rev() {
                let (_, file) = partials.remove(*at);
                self.templates.clear();
                self.refuse(&file.source.path, file.take_findings());
            }
            let found = partials.iter().map(|(_, file)| file.take_findings());
            let found: Vec<Diagnostic> = found.flatten().collect();
            if broken.is_empty() {
                return self.findings.extend(found);
            }
        }
    }

    fn refuse(&mut self, file: &str, findings: Vec<Diagnostic>) {
        self.refused.push(file.to_owned());
        self.findings.extend(findings);
    }
}

fn usage(message: impl Into<String>) -> Box<Diagnostic> {
    Diagnostic::new(Code("usage"), message)
}

fn read_file(disk: &Disk, shown: &str, path: &str, below: &str) -> Result<ForeignFile> {
    let Some(name) = [".prompt", ".md"].iter().find_map(|ending| below.strip_suffix(ending)) else {
        let message = format!("files `*.{}` are not imported", path::extension(below));
        let place = Source::new(shown, "").place(0..0);
        let help = "known: `*.prompt` (dotprompt), `*.md` (Claude Code)";
        return Err(Diagnostic::new(IMPORT, message).at(place).help(help));
    };
    ForeignFile::read(shown, name, &text_from_bytes(shown, disk.read(path)?)?)
}

/// The errors of the pack as it is now, whether its files are trusted or not.
fn check(context: &CommandContext, pack: &str, target: Arc<dyn World>) -> Result<Vec<Diagnostic>> {
    let new = Layer { origin: context.target_origin(), world: Some(target), trust: None, is_stored: false };
    let layers: Vec<Layer> = std::iter::once(new).chain(context.layers()?).collect();
    let (files, _) = PackFiles::collect(&layers);
    let parts = PackParts::read(pack, [0; 32], files.for_pack(pack), &WorkspaceSettings::default());
    let found = parts.diagnostics.iter().cloned().chain(check_among(&parts, &[]));
    Ok(found.filter(Diagnostic::is_error).collect())
}
