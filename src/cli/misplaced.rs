//! Definitions that nothing reads: in `.toolsd` itself, or in a `tools.d` of the workspace that no `--dir` names.

use super::context::CommandContext;
use crate::diagnostic::{Code, Diagnostic};
use crate::registry::{FOLDERS, WORKSPACE_FOLDER};
use crate::source::Source;
use crate::world::{EntryKind, path};

/// The code of a definition that nothing reads.
const MISPLACED: Code = Code("misplaced");

/// A warning for each folder of the workspace in which definitions lie that nothing reads, at the first of them.
pub fn misplaced_definitions(context: &CommandContext) -> Vec<Diagnostic> {
    let [tools, ..] = FOLDERS;
    let belong = format!("`{WORKSPACE_FOLDER}/{tools}`");
    let own = (!context.is_own_layer())
        .then(|| (tools, format!("move them to {belong}, or add `--dir .`, which makes a layer of this folder")));
    let places = own.into_iter().chain([(WORKSPACE_FOLDER, format!("move them to {belong}"))]);
    let found = places.filter_map(|(folder, help)| {
        let entries = context.workspace.list(folder).ok()?;
        let is_definition = |name: &str| name.ends_with(".toml") || name.ends_with(".rhai");
        let mut named: Vec<String> = entries
            .iter()
            .filter(|entry| entry.entry == EntryKind::File && is_definition(&entry.name))
            .map(|entry| path::join(folder, &entry.name))
            .collect();
        named.sort_unstable();
        let first = named.first()?;
        let others =
            if named.len() == 1 { String::new() } else { format!(", nor are {} others there", named.len() - 1) };
        let message = format!("`{first}` is not read{others}: definitions of this workspace belong in {belong}");
        let warning = Diagnostic::new(MISPLACED, message).warning().help(help);
        Some(*warning.at(Source::new(first.as_str(), "").place(0..0)))
    });
    found.collect()
}
