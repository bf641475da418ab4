//! The packs inside the binary, as the build script put them there.

use super::LayerFile;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// A file inside the binary.
struct Embedded {
    /// Its path from the root.
    path: &'static str,
    content: Content,
}

/// What is in a file.
#[derive(Clone, Copy)]
pub(super) enum Content {
    /// A text, and the tree of it if it is a definition.
    Text(&'static str, &'static [u8]),
    /// Anything else.
    Bytes(&'static [u8]),
}

static FILES: &[Embedded] = &include!(concat!(env!("OUT_DIR"), "/packs.rs"));

/// The layer of these files: made once, since they stay as they are.
pub(super) fn embedded_layer() -> &'static BTreeMap<String, LayerFile> {
    static LAYER: LazyLock<BTreeMap<String, LayerFile>> = LazyLock::new(|| {
        FILES.iter().map(|file| (file.path.to_owned(), LayerFile::embedded(file.path, file.content))).collect()
    });
    &LAYER
}

/// Path from the root and bytes of each file.
pub fn embedded_files() -> impl Iterator<Item = (&'static str, &'static [u8])> {
    FILES.iter().map(|file| match file.content {
        Content::Text(text, _) => (file.path, text.as_bytes()),
        Content::Bytes(bytes) => (file.path, bytes),
    })
}
