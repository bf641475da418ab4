//! The pack files of a workspace, and of the other layers on the disk. Those of a workspace are let in only if the bytes of
//! a pack were trusted together; who owns a file, and whether a link leads to it, does not matter.

use super::trust::{TrustedFile, TrustedState, UNTRUSTED, WorkspaceTrust, hash_hex};
use super::trusted_contents::kept;
use crate::definition::SETTINGS_FILE;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::source::Source;
use crate::world::{EntryKind, FolderEntry, Workspace, path};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The folders of a layer that packs are made of.
pub const FOLDERS: [&str; 3] = ["tools.d", "prompts", "templates"];

/// The folder of a workspace that is a layer.
pub const WORKSPACE_FOLDER: &str = ".toolsd";

/// Maximum number of entries of a layer: no user can review more.
const MAX_ENTRIES: usize = 10_000;

/// Maximum depth of folders.
const MAX_DEPTH: usize = 32;

/// Returns the sorted paths of the pack files, relative to the workspace; reports those that cannot be used.
pub fn workspace_files(workspace: &dyn Workspace, diagnostics: &mut Vec<Diagnostic>) -> Vec<String> {
    files_below(workspace, WORKSPACE_FOLDER, diagnostics)
}

/// The files of a layer that needs no trust, by their path from its root, each read once.
pub(super) fn named_files(layer: &dyn Workspace, diagnostics: &mut Vec<Diagnostic>) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for file in files_below(layer, ".", diagnostics) {
        match layer.read(&file) {
            Ok(bytes) => files.push((file, bytes)),
            Err(diagnostic) => diagnostics.push(*diagnostic.at(Source::new(file, "").place(0..0))),
        }
    }
    files
}

fn files_below(workspace: &dyn Workspace, layer: &str, diagnostics: &mut Vec<Diagnostic>) -> Vec<String> {
    let mut looking = FolderScan { workspace, diagnostics, files: Vec::new(), entries: 0 };
    if matches!(workspace.stat(layer), Ok(None)) {
        return Vec::new();
    }
    let found = workspace.list(layer).and_then(|entries| {
        let is_searched = |entry: &&FolderEntry| entry.entry == EntryKind::Folder && FOLDERS.contains(&&*entry.name);
        entries.iter().filter(is_searched).try_for_each(|entry| looking.folder(&path::join(layer, &entry.name), 0))
    });
    let mut files = std::mem::take(&mut looking.files);
    if let Err(diagnostic) = found {
        // A layer that was not read to its end is not used at all.
        diagnostics.push(*diagnostic);
        return Vec::new();
    }
    files.sort();
    files
}

/// The bytes of the pack files that serve, by their path from the root of the workspace: those of a pack as they are if
/// they were trusted together, otherwise those of the nearest state that was trusted. Why files are not used as they are is reported.
pub(super) fn trusted_files(
    workspace: &dyn Workspace,
    trust: &WorkspaceTrust,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<(String, Vec<u8>)> {
    //= docs/spec.md#trust
    //# The owner, the permissions and the symlinks of a file of the workspace MUST NOT decide whether it
    //# is used.
    let mut packs: BTreeMap<Option<String>, Vec<(String, Vec<u8>)>> = BTreeMap::new();
    for file in workspace_files(workspace, diagnostics) {
        // A file without a record of trust is not read: it may be of any size.
        let bytes = if trust.has_record(&file) { workspace.read(&file) } else { Ok(Vec::new()) };
        match bytes {
            Ok(bytes) => packs.entry(pack_of_file(&file).map(str::to_owned)).or_default().push((file, bytes)),
            Err(diagnostic) => diagnostics.push(*diagnostic.at(Source::new(file, "").place(0..0))),
        }
    }
    let admission = Admission { trust, now_ms: workspace.now_ms() };
    // What all packs share comes first: a pack serves with what was confirmed together with it.
    let shared = packs.remove(&None).unwrap_or_default();
    let all: Vec<&TrustedState> = trust.states.iter().collect();
    let (mut admitted, state) = admission.admit(None, shared, &all, diagnostics);
    let is_same_shared =
        |known: &&TrustedState| state.is_none_or(|state| files_of(known, None).eq(files_of(state, None)));
    let states: Vec<&TrustedState> = all.into_iter().filter(is_same_shared).collect();
    for (pack, files) in packs {
        admitted.extend(admission.admit(pack.as_deref(), files, &states, diagnostics).0);
    }
    admitted
}

/// The paths of the pack files that are not as they were trusted together, those that are gone included.
pub fn differing_files(workspace: &dyn Workspace, trust: &WorkspaceTrust) -> Vec<String> {
    let mut diagnostics = Vec::new();
    trusted_files(workspace, trust, &mut diagnostics);
    let withheld = diagnostics.iter().filter(|diagnostic| is_withheld(diagnostic));
    withheld.filter_map(|diagnostic| diagnostic.at.as_ref()).map(|at| at.source.path.clone()).collect()
}

/// The files of a state that belong to a pack, or to no pack.
fn files_of<'a>(state: &'a TrustedState, pack: Option<&'a str>) -> impl Iterator<Item = (&'a String, &'a TrustedFile)> {
    state.iter().filter(move |(path, _)| pack_of_file(path) == pack && *path != SETTINGS_FILE)
}

/// Files of a workspace against what was trusted of it.
struct Admission<'a> {
    trust: &'a WorkspaceTrust,
    now_ms: i64,
}

impl<'a> Admission<'a> {
    /// The files of a pack that serve, and the state that has them.
    //= docs/spec.md#trust
    //# A file of the workspace MUST NOT be used unless its content was trusted together with the other files of
    //# its pack, or edits of it were trusted and have not expired.
    fn admit(
        &self,
        pack: Option<&str>,
        files: Vec<(String, Vec<u8>)>,
        states: &[&'a TrustedState],
        diagnostics: &mut Vec<Diagnostic>,
    ) -> (Vec<(String, Vec<u8>)>, Option<&'a TrustedState>) {
        if let Some(state) = states.iter().find(|state| self.differences(pack, &files, state).is_empty()) {
            return (files, Some(state));
        }
        //= docs/spec.md#trust
        //# While the files of a pack, `toolsd.toml` or a layer are not trusted as they are, the nearest content that was
        //# trusted MUST serve, and a notice MUST report that.
        let have_pack = states.iter().filter(|state| files_of(state, pack).next().is_some());
        // Other branches have other states: that with the most files as they are here, and of these the last one.
        let hashes: Vec<(&String, String)> = files.iter().map(|(path, bytes)| (path, hash_hex(bytes))).collect();
        let is_in = |state: &TrustedState, (path, hash): &(&String, String)| {
            state.get(*path).is_some_and(|known| known.hash == *hash)
        };
        let nearest = have_pack.min_by_key(|state| Reverse(hashes.iter().filter(|file| is_in(state, file)).count()));
        let known = nearest.and_then(|state| {
            let kept = files_of(state, pack).map(|(path, file)| Some((path.clone(), kept(&file.hash)?)));
            Some((kept.collect::<Option<Vec<_>>>()?, *state))
        });
        let none = TrustedState::new();
        let differences = self.differences(pack, &files, nearest.unwrap_or(&&none));
        diagnostics.extend(differences.into_iter().map(|(path, mut diagnostic)| {
            if known.is_some() {
                diagnostic.message.push_str(SERVES_ON);
            }
            *diagnostic.at(Source::new(path, "").place(0..0))
        }));
        known.map_or((Vec::new(), None), |(files, state)| (files, Some(state)))
    }

    /// What keeps the files of a pack from being those of a state, each with its path.
    fn differences(
        &self,
        pack: Option<&str>,
        files: &[(String, Vec<u8>)],
        state: &TrustedState,
    ) -> Vec<(String, Box<Diagnostic>)> {
        let check = |(path, bytes): &(String, Vec<u8>)| {
            let refused = self.trust.check(path, bytes, Some(state), self.now_ms).err()?;
            Some((path.clone(), refused))
        };
        let is_gone = |(path, _): &(&String, &TrustedFile)| files.iter().all(|(known, _)| known != *path);
        let gone = files_of(state, pack).filter(is_gone).map(|(path, _)| {
            let message = format!("`{path}` was trusted and is gone");
            (path.clone(), Diagnostic::new(UNTRUSTED, message).warning().help("run `toolsd trust` if that is meant"))
        });
        files.iter().filter_map(check).chain(gone).collect()
    }
}

/// What is said of a file in whose place another content serves.
pub(super) const SERVES_ON: &str = "; what was trusted serves on";

/// The pack that a file of the workspace belongs to, by its path; none for what all packs share.
pub fn pack_of_file(path: &str) -> Option<&str> {
    let (_folder, rest) = path.strip_prefix(WORKSPACE_FOLDER)?.strip_prefix('/')?.split_once('/')?;
    let owner =
        rest.split_once('/').map_or_else(|| rest.rsplit_once('.').map_or(rest, |(stem, _)| stem), |(owner, _)| owner);
    (owner != "shared").then_some(owner)
}

/// Returns whether a diagnostic reports a withheld pack file; for `toolsd.toml`, it reports what the file may not set.
pub fn is_withheld_file(diagnostic: &Diagnostic) -> bool {
    is_withheld(diagnostic)
        && diagnostic.at.as_ref().is_some_and(|at| path::is_below(&at.source.path, WORKSPACE_FOLDER))
}

/// Returns whether a diagnostic reports a withheld file of this pack.
pub fn is_withheld_of(diagnostic: &Diagnostic, pack: &str) -> bool {
    is_withheld(diagnostic) && diagnostic.at.as_ref().and_then(|at| pack_of_file(&at.source.path)) == Some(pack)
}

/// The packs of the workspace of which a file is withheld, each as one error; of `named` only, if any are named. Files
/// that all packs share count for each choice.
//= docs/spec.md#command-line
//# `toolsd test` and `toolsd check` MUST exit with 1 if a pack has a file that is not trusted, and MUST
//# report the reason and the next step.
pub fn withheld_packs(diagnostics: &[Diagnostic], named: &[String]) -> Vec<Diagnostic> {
    let mut by_pack: BTreeMap<Option<&str>, Vec<&Diagnostic>> = BTreeMap::new();
    for diagnostic in diagnostics.iter().filter(|diagnostic| is_withheld_file(diagnostic)) {
        let pack = diagnostic.at.as_ref().and_then(|at| pack_of_file(&at.source.path));
        if named.is_empty() || pack.is_none_or(|pack| named.iter().any(|name| name == pack)) {
            by_pack.entry(pack).or_default().push(diagnostic);
        }
    }
    let reported = |(pack, withheld): (Option<&str>, Vec<&Diagnostic>)| {
        let what = pack.map_or_else(|| "what packs share".to_owned(), |pack| format!("the pack `{pack}`"));
        let more = match withheld.len() {
            1 => String::new(),
            2 => ", nor is 1 file more".to_owned(),
            many => format!(", nor are {} files more", many - 1),
        };
        let message =
            format!("{what} is not used as its files are now, and so was not looked at: {}{more}", withheld[0].message);
        let help =
            "read it, then run `toolsd trust`; a pipeline that trusts its checkout runs `toolsd trust --yes` first";
        let diagnostic = Diagnostic::new(UNTRUSTED, message).help(help);
        *withheld[0].at.clone().into_iter().fold(diagnostic, |diagnostic, at| diagnostic.at(at))
    };
    by_pack.into_iter().map(reported).collect()
}

/// Returns whether a diagnostic reports a withheld file of the workspace.
pub fn is_withheld(diagnostic: &Diagnostic) -> bool {
    diagnostic.code == UNTRUSTED
}

struct FolderScan<'a> {
    workspace: &'a dyn Workspace,
    diagnostics: &'a mut Vec<Diagnostic>,
    files: Vec<String>,
    entries: usize,
}

impl FolderScan<'_> {
    fn folder(&mut self, folder: &str, depth: usize) -> Result<()> {
        if depth > MAX_DEPTH {
            return Err(too_many(format!("the folder `{folder}` is more than {MAX_DEPTH} folders deep")));
        }
        for entry in self.workspace.list(folder)? {
            self.entries += 1;
            if self.entries > MAX_ENTRIES {
                return Err(too_many(format!("`{folder}` and what is before it has more than {MAX_ENTRIES} entries")));
            }
            let path = path::join(folder, &entry.name);
            match entry.entry {
                _ if is_hidden(&path) && entry.entry != EntryKind::Folder => {}
                EntryKind::Folder => self.folder(&path, depth + 1)?,
                EntryKind::File => self.files.push(path),
                EntryKind::Other if entry.link.is_some() => self.diagnostics.push(*no_file(&path)),
                EntryKind::Other => {}
            }
        }
        Ok(())
    }
}

fn no_file(path: &str) -> Box<Diagnostic> {
    Diagnostic::new(Code::WORLD, format!("`{path}` is a symlink that leads to no file or folder, and so is not used"))
        .help("fix its target, or check whether the pack needs it")
}

fn too_many(message: String) -> Box<Diagnostic> {
    Diagnostic::new(Code::LIMIT, message)
        .help("no file of this layer is used; keep files that belong to no pack in another folder")
}

/// Returns whether a file is hidden or a leftover of an editor, and therefore belongs to no pack. Folders may have such
/// names.
pub fn is_hidden(path: &str) -> bool {
    let name = path::name(path);
    let is_of_editor = name.ends_with('~')
        || name.ends_with(".swp")
        || name.ends_with(".swo")
        || (name.len() > 1 && name.starts_with('#') && name.ends_with('#'));
    name.starts_with('.') || is_of_editor
}
