//! Definitions that nothing reads: in `.toolsd` itself, in an unknown folder of it, in `toolsd` without the dot, in a
//! `tools.d` of the workspace that no `--dir` names, or in a folder above the workspace.

use super::context::CommandContext;
use crate::check::MISSING_FILE;
use crate::definition::SETTINGS_FILE;
use crate::diagnostic::{Code, Diagnostic};
use crate::registry::{FOLDERS, WORKSPACE_FOLDER, pack_of_file};
use crate::source::Source;
use crate::world::disk::Disk;
use crate::world::{EntryKind, Files, path};
use std::path::Path;

/// The code of a definition that nothing reads.
const MISPLACED: Code = Code("misplaced");

/// Folders of `.toolsd` that may have such files for another purpose.
const OTHER_FOLDERS: [&str; 2] = ["fixtures", "schema"];

/// A warning for each folder of the workspace in which definitions lie that nothing reads, at the first of them.
pub fn misplaced_definitions(context: &CommandContext) -> Vec<Diagnostic> {
    let [tools, ..] = FOLDERS;
    let belong = format!("`{WORKSPACE_FOLDER}/{tools}`");
    let mut places = Vec::new();
    if !context.is_own_layer() {
        let help = format!("move them to {belong}, or add `--dir .`, which makes a layer of this folder");
        places.push((tools.to_owned(), help));
    }
    let dotless = WORKSPACE_FOLDER.trim_start_matches('.');
    let absolute = path::join(context.workspace.root(), dotless);
    if !context.options.dirs.iter().any(|dir| path::clean(dir) == absolute) {
        let help = format!("move them to {belong}: the name of the folder begins with a dot");
        places.push((path::join(dotless, tools), help));
    }
    places.push((WORKSPACE_FOLDER.to_owned(), format!("move them to {belong}")));
    let entries = context.workspace.list(WORKSPACE_FOLDER).unwrap_or_default();
    let known = FOLDERS.iter().chain(&OTHER_FOLDERS);
    let unknown = entries
        .iter()
        .filter(|entry| entry.entry == EntryKind::Folder && !known.clone().any(|name| *name == entry.name));
    places.extend(unknown.map(|entry| (path::join(WORKSPACE_FOLDER, &entry.name), format!("move them to {belong}"))));
    places.iter().filter_map(|(folder, help)| find_misplaced(context, folder, help, &belong)).collect()
}

fn find_misplaced(context: &CommandContext, folder: &str, help: &str, belong: &str) -> Option<Diagnostic> {
    let entries = context.workspace.list(folder).ok()?;
    let is_definition = |name: &str| [".toml", ".rhai", ".hbs"].iter().any(|ending| name.ends_with(ending));
    let mut named: Vec<String> = entries
        .iter()
        .filter(|entry| entry.entry == EntryKind::File && is_definition(&entry.name))
        .map(|entry| path::join(folder, &entry.name))
        .collect();
    // A definition is first, if there is one: a template belongs elsewhere.
    named.sort_unstable_by_key(|name| (name.ends_with(".hbs"), name.clone()));
    let first = named.first()?;
    let others = if named.len() == 1 { String::new() } else { format!(", nor are {} others there", named.len() - 1) };
    let templates = format!("`{WORKSPACE_FOLDER}/templates/PACK`");
    let message = format!("`{first}` is not read{others}: definitions of this workspace belong in {belong}");
    let help = match named.last().is_some_and(|name| name.ends_with(".hbs")) {
        true => format!("{help}, and templates to {templates}"),
        false => help.to_owned(),
    };
    let warning = Diagnostic::new(MISPLACED, message).warning().help(help);
    Some(*warning.at(Source::new(first.as_str(), "").place(0..0)))
}

/// Adds to each error of a missing template of this workspace where a file of its name is, and where it belongs.
pub fn locate_templates(context: &CommandContext, diagnostics: &mut [Diagnostic]) {
    let [tools, _, templates] = FOLDERS;
    let folders =
        [".", WORKSPACE_FOLDER].into_iter().flat_map(|layer| [tools, templates].map(|name| path::join(layer, name)));
    let folders: Vec<String> = folders.chain([WORKSPACE_FOLDER.to_owned()]).collect();
    for diagnostic in diagnostics.iter_mut().filter(|diagnostic| diagnostic.code == MISSING_FILE) {
        let Some(named) = diagnostic.message.strip_prefix("there is no template `") else { continue };
        let file = path::name(named.trim_end_matches('`'));
        let Some(at) = &diagnostic.at else { continue };
        let own = path::join(WORKSPACE_FOLDER, &at.source.path);
        let (Some(pack), Ok(Some(_))) = (pack_of_file(&own), context.workspace.stat(&own)) else { continue };
        let wanted = format!("{templates}/{pack}/{file}");
        let belongs = path::join(WORKSPACE_FOLDER, &wanted);
        let found =
            folders.iter().find_map(|folder| find_file(context, folder, file)).filter(|found| *found != belongs);
        if let Some(found) = found {
            diagnostic.help = Some(format!("it is at `{found}`: move it to `{belongs}`, and write `{wanted}`"));
        }
    }
}

/// A file in a folder or in a folder of that one.
fn find_file(context: &CommandContext, folder: &str, file: &str) -> Option<String> {
    let entries = context.workspace.list(folder).ok()?;
    let folders = entries.iter().filter(|entry| entry.entry == EntryKind::Folder);
    let folders = folders.map(|entry| path::join(folder, &entry.name)).chain([folder.to_owned()]);
    let mut files = folders.map(|folder| path::join(&folder, file));
    files.find(|found| context.workspace.stat(found).is_ok_and(|stat| stat.is_some()))
}

/// A warning if a folder above the working directory is a workspace, and this one is not: a user may have started toolsd
/// too deep in a project.
pub fn workspace_above(context: &CommandContext) -> Option<Diagnostic> {
    let options = &context.options;
    let is_chosen = options.workspace.is_some() || !options.dirs.is_empty() || !options.packs.is_empty();
    let has = |name: &str| matches!(context.workspace.stat(name), Ok(Some(_)));
    if is_chosen || has(WORKSPACE_FOLDER) || has(SETTINGS_FILE) {
        return None;
    }
    let disk = Disk::new("/", []).ok()?;
    let [tools, prompts, _] = FOLDERS;
    let has_packs = |folder: &&str| {
        let layer = path::join(folder, WORKSPACE_FOLDER);
        [tools, prompts].iter().any(|name| matches!(disk.stat(&path::join(&layer, name)), Ok(Some(_))))
    };
    let here = context.workspace.root();
    let above = Path::new(here).ancestors().skip(1).filter_map(Path::to_str).find(has_packs)?;
    let message = format!(
        "`{}` is not read: toolsd serves the folder that it is started in, `{here}`",
        path::join(above, WORKSPACE_FOLDER)
    );
    let warning = Diagnostic::new(MISPLACED, message).warning();
    Some(*warning.help(format!("start it in `{above}`, or add `--workspace {above}`")))
}
