//! The pack files of a workspace, and of the other layers on the disk: found without following links, each let in only if
//! it is the user's; those of a workspace only if they were trusted.

use super::trust::{UNTRUSTED, WorkspaceTrust};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::source::Source;
use crate::world::{EntryKind, World, path};
use crate::world::{NOT_OWNED, symlink_fault};

/// The folders of a layer that packs are made of.
pub const FOLDERS: [&str; 3] = ["tools.d", "prompts", "templates"];

/// The folder of a workspace that is a layer.
pub const WORKSPACE_FOLDER: &str = ".toolsd";

/// The most entries of a layer: more than this nobody has read.
const MOST_ENTRIES: usize = 10_000;

/// Folders in folders, at most.
const MOST_DEPTH: usize = 32;

/// The sorted paths of the pack files, from the root of the workspace; what cannot be used is reported.
pub fn workspace_files(workspace: &dyn World, faults: &mut Vec<Diagnostic>) -> Vec<String> {
    files_below(workspace, WORKSPACE_FOLDER, faults)
}

/// The files of a layer that needs no trust, by their path from its root, each read once. Files that others can change are
/// reported, and not used.
//= docs/spec.md#trust
//# A file of the user's packs, or of a folder that `--dir` names, MUST NOT be used if another user than this one or root owns it or can change it.
pub(super) fn owned_files(layer: &dyn World, faults: &mut Vec<Diagnostic>) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for file in files_below(layer, ".", faults) {
        match layer.read_owned(&file) {
            Ok(bytes) => files.push((file, bytes)),
            Err(fault) => faults.push(*fault.at(Source::new(file, "").place(0..0))),
        }
    }
    files
}

fn files_below(workspace: &dyn World, layer: &str, faults: &mut Vec<Diagnostic>) -> Vec<String> {
    let mut looking = FolderScan { workspace, faults, files: Vec::new(), entries: 0 };
    if matches!(workspace.stat(layer), Ok(None)) {
        return Vec::new();
    }
    let found = workspace.check_owned(layer).and_then(|()| {
        for folder in FOLDERS {
            let folder = path::join(layer, folder);
            if workspace.stat(&folder)?.is_some() {
                looking.folder(&folder, 0)?;
            }
        }
        Ok(())
    });
    let mut files = std::mem::take(&mut looking.files);
    if let Err(fault) = found {
        // What others may have put there is not used in part either.
        faults.push(*fault);
        return Vec::new();
    }
    files.sort();
    files
}

/// The bytes of the trusted pack files, by their path from the root of the workspace; why others are not used is reported.
pub(super) fn trusted_files(
    workspace: &dyn World,
    trust: &WorkspaceTrust,
    faults: &mut Vec<Diagnostic>,
) -> Vec<(String, Vec<u8>)> {
    let mut admitted = Vec::new();
    let now = workspace.now_ms();
    for file in workspace_files(workspace, faults) {
        // A file without a record of trust is not read: it may be of any size.
        let bytes = if trust.has_record(&file) { workspace.read_owned(&file) } else { Ok(Vec::new()) };
        //= docs/spec.md#definitions
        //# A file of the workspace layer MUST NOT be used before its content was trusted.
        match bytes.and_then(|bytes| trust.check(&file, &bytes, now).map(|()| bytes)) {
            Ok(bytes) => admitted.push((file, bytes)),
            Err(fault) => faults.push(*fault.at(Source::new(file, "").place(0..0))),
        }
    }
    admitted
}

/// The pack that a file of the workspace belongs to, by its path; none for what all packs share.
pub fn pack_of_file(path: &str) -> Option<&str> {
    let (_folder, rest) = path.strip_prefix(WORKSPACE_FOLDER)?.strip_prefix('/')?.split_once('/')?;
    let owner =
        rest.split_once('/').map_or_else(|| rest.rsplit_once('.').map_or(rest, |(stem, _)| stem), |(owner, _)| owner);
    (owner != "shared").then_some(owner)
}

/// Whether a fault says that a file of the workspace is withheld.
pub fn is_withheld(fault: &Diagnostic) -> bool {
    fault.code == UNTRUSTED || fault.code == NOT_OWNED
}

struct FolderScan<'a> {
    workspace: &'a dyn World,
    faults: &'a mut Vec<Diagnostic>,
    files: Vec<String>,
    entries: usize,
}

impl FolderScan<'_> {
    fn folder(&mut self, folder: &str, depth: usize) -> Result<()> {
        if depth > MOST_DEPTH {
            return Err(too_many(format!("the folder `{folder}` lies more than {MOST_DEPTH} folders deep")));
        }
        if let Err(fault) = self.workspace.check_owned(folder) {
            self.faults.push(*fault);
            return Ok(());
        }
        for entry in self.workspace.list(folder)? {
            self.entries += 1;
            if self.entries > MOST_ENTRIES {
                return Err(too_many(format!("`{folder}` and what is before it has more than {MOST_ENTRIES} entries")));
            }
            let path = path::join(folder, &entry.name);
            match entry.entry {
                _ if is_hidden(&path) && entry.entry != EntryKind::Folder => {}
                _ if entry.link => self.faults.push(*symlink_fault(&path)),
                EntryKind::Folder => self.folder(&path, depth + 1)?,
                EntryKind::File => self.files.push(path),
                EntryKind::Other => {}
            }
        }
        Ok(())
    }
}

fn too_many(message: String) -> Box<Diagnostic> {
    Diagnostic::new(Code::LIMIT, message)
        .warning()
        .help("no file of this layer is used; keep files that belong to no pack in another folder")
}

/// Whether a file is hidden and so belongs to no pack, such as those that editors leave. Folders may have such names.
pub fn is_hidden(path: &str) -> bool {
    path::name(path).starts_with('.')
}
