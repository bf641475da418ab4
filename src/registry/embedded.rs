//! The packs inside the binary.

use super::{EMBEDDED, LayerFile};
use include_dir::{Dir, DirEntry, include_dir};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::LazyLock;

static FOLDERS: [(&str, Dir<'static>); 3] = [
    ("tools.d", include_dir!("$CARGO_MANIFEST_DIR/tools.d")),
    ("prompts", include_dir!("$CARGO_MANIFEST_DIR/prompts")),
    ("templates", include_dir!("$CARGO_MANIFEST_DIR/templates")),
];

/// The layer of these files: read once, since they stay as they are.
pub(super) fn embedded_layer() -> &'static BTreeMap<String, LayerFile> {
    static LAYER: LazyLock<BTreeMap<String, LayerFile>> = LazyLock::new(|| {
        let read = |(path, bytes): (String, &[u8])| {
            let file = LayerFile::new(EMBEDDED, &path, bytes);
            (path, file)
        };
        embedded_files().into_par_iter().map(read).collect()
    });
    &LAYER
}

/// Path from the root and bytes of each file, but for hidden ones.
pub fn embedded_files() -> Vec<(String, &'static [u8])> {
    let mut files = Vec::new();
    for (name, folder) in &FOLDERS {
        collect(name, folder, &mut files);
    }
    files
}

fn collect(root: &str, folder: &'static Dir<'static>, files: &mut Vec<(String, &'static [u8])>) {
    for entry in folder.entries() {
        match entry {
            DirEntry::Dir(inner) => collect(root, inner, files),
            DirEntry::File(file) => {
                let path = file.path().to_string_lossy().replace('\\', "/");
                if !super::is_hidden(&path) {
                    files.push((format!("{root}/{path}"), file.contents()));
                }
            }
        }
    }
}
