//! The packs inside the binary.

use include_dir::{Dir, DirEntry, include_dir};

static FOLDERS: [(&str, Dir<'static>); 3] = [
    ("tools.d", include_dir!("$CARGO_MANIFEST_DIR/tools.d")),
    ("prompts", include_dir!("$CARGO_MANIFEST_DIR/prompts")),
    ("templates", include_dir!("$CARGO_MANIFEST_DIR/templates")),
];

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
