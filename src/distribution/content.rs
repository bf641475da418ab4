//! The files of a layer, and the one hash of all of them, which is the same on every machine.

use super::LAYER;
use crate::diagnostic::{Diagnostic, Result};
use crate::registry::{FOLDERS, Layer, PackFiles, Permissions, is_hidden};
use crate::world::memory::MemoryWorld;
use crate::world::{EntryKind, Files, WalkOptions, World, path};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Maximum number of files of a layer.
const MAX_FILES: usize = 2_000;
/// Maximum size of one file, and of all, in bytes: a layer is text that people review.
const MAX_FILE_BYTES: usize = 1 << 20;
const MAX_BYTES: usize = 20 << 20;

/// How a hash begins.
const ALGORITHM: &str = "blake3:";

/// How a file of Git LFS begins whose content is elsewhere.
const LFS_POINTER: &[u8] = b"version https://git-lfs.github.com/spec/";

/// The files of a layer, by their path from the folder that contains `tools.d`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayerContent {
    files: BTreeMap<String, Vec<u8>>,
    hash: String,
}

impl LayerContent {
    /// The content that these files make. Hidden files, and those outside of `tools.d`, `prompts` and `templates`, are
    /// omitted.
    ///
    /// # Errors
    /// There are too many files, one is too large, or one has a name that not every system can have.
    pub fn new(files: impl IntoIterator<Item = (String, Vec<u8>)>) -> Result<Self> {
        let is_used = |path: &str| FOLDERS.into_iter().any(|folder| path::is_below(path, folder)) && !is_hidden(path);
        let files: BTreeMap<String, Vec<u8>> = files.into_iter().filter(|(path, _)| is_used(path)).collect();
        if files.len() > MAX_FILES {
            return Err(refused(format!("a layer has at most {MAX_FILES} files, this one has {}", files.len())));
        }
        let (mut total, mut lower) = (0_usize, BTreeMap::new());
        for (path, bytes) in &files {
            total += bytes.len();
            if let Some(why) = refusal(path, bytes) {
                return Err(refused(format!("`{path}` {why}")));
            }
            if let Some(other) = lower.insert(path.to_lowercase(), path) {
                return Err(refused(format!("`{path}` and `{other}` are one file where letter case does not count")));
            }
        }
        if total > MAX_BYTES {
            return Err(refused(format!("the files of a layer have at most {} MB together", MAX_BYTES >> 20)));
        }
        if files.is_empty() {
            let folders = FOLDERS.map(|folder| format!("`{folder}`")).join(", ");
            return Err(refused(format!("there is no file in {folders}"))
                .help("`dir` names the folder that contains `tools.d`"));
        }
        let hash = hash(&serialize(&files));
        Ok(Self { files, hash })
    }

    /// Reads the files of a folder.
    ///
    /// # Errors
    /// As [`new`](Self::new), or the folder cannot be read.
    pub fn from_folder(folder: &dyn Files) -> Result<Self> {
        let mut files = Vec::new();
        for name in FOLDERS {
            if folder.stat(name)?.is_none_or(|found| found.entry != EntryKind::Folder) {
                continue;
            }
            let walk = WalkOptions { from: name.to_owned(), hidden: false, ignore: false, follow: false, depth: None };
            let found = folder.walk(&walk)?;
            if found.linked {
                return Err(refused(format!("there is a symlink in `{name}`: a layer has plain files")));
            }
            for file in found.files {
                let bytes = folder.read(&file)?;
                files.push((file, bytes));
            }
        }
        Self::new(files)
    }

    /// Reads what [`to_bytes`](Self::to_bytes) wrote; `None` if it is something else.
    pub fn from_bytes(mut bytes: &[u8]) -> Option<Self> {
        let hash = hash(bytes);
        let mut files = BTreeMap::new();
        while !bytes.is_empty() {
            let path = String::from_utf8(take(&mut bytes)?.to_vec()).ok()?;
            files.insert(path, take(&mut bytes)?.to_vec());
        }
        Some(Self { files, hash })
    }

    /// Path and bytes of each file, each after its length, in the order of the paths: what the hash is taken of.
    pub fn to_bytes(&self) -> Vec<u8> {
        serialize(&self.files)
    }

    /// `blake3:` and 64 digits.
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// Its packs, sorted.
    pub fn packs(&self) -> Vec<String> {
        self.pack_files().packs()
    }

    /// What each of its packs asks for.
    pub fn permissions(&self) -> BTreeMap<String, Permissions> {
        let files = self.pack_files();
        let of_pack = |pack: &String| {
            let mut asked = Permissions::default();
            for (path, file) in &files.for_pack(pack).by_path {
                asked.add(&Permissions::from_file(path, file.bytes()));
            }
            asked
        };
        files.packs().into_iter().map(|pack| (pack.clone(), of_pack(&pack))).collect()
    }

    /// The layer `name` of these packs.
    ///
    /// # Errors
    /// Memory is exhausted.
    pub fn layer(&self, name: &str, packs: &[String]) -> Result<Layer> {
        let files = self.pack_files();
        let world = MemoryWorld::new();
        for pack in packs {
            for path in files.for_pack(pack).by_path.keys() {
                world.write(path, self.files.get(path).map_or(&[][..], Vec::as_slice))?;
            }
        }
        let world: Arc<dyn World> = Arc::new(world);
        Ok(Layer { origin: name.to_owned(), world: Some(world), trust: None, is_stored: true })
    }

    fn pack_files(&self) -> PackFiles {
        PackFiles::from_bytes("layer", self.files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice())))
    }
}

fn refused(message: String) -> Box<Diagnostic> {
    Diagnostic::new(LAYER, message)
}

/// Why a file cannot be in a layer.
fn refusal(path: &str, bytes: &[u8]) -> Option<String> {
    let is_plain = |part: &str| !part.ends_with(['.', ' ']) && !matches!(part, "." | "..");
    if path.contains(|letter: char| letter.is_control() || "\\:*?\"<>|".contains(letter))
        || !path.split('/').all(is_plain)
    {
        return Some("has a name that not every system can have".to_owned());
    }
    if bytes.starts_with(LFS_POINTER) {
        return Some("is a pointer of Git LFS: a layer has plain files".to_owned());
    }
    let megabytes = MAX_FILE_BYTES >> 20;
    (bytes.len() > MAX_FILE_BYTES).then(|| format!("has more than {megabytes} MB, which is the limit of a file"))
}

fn hash(bytes: &[u8]) -> String {
    format!("{ALGORITHM}{}", blake3::hash(bytes))
}

fn serialize(files: &BTreeMap<String, Vec<u8>>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for part in files.iter().flat_map(|(path, content)| [path.as_bytes(), content]) {
        bytes.extend((part.len() as u64).to_le_bytes());
        bytes.extend(part);
    }
    bytes
}

/// Takes a part and its length from the beginning.
fn take<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (length, rest) = bytes.split_first_chunk::<8>()?;
    let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
    let (part, rest) = rest.split_at_checked(length)?;
    *bytes = rest;
    Some(part)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn content(files: &[(&str, &str)]) -> Result<LayerContent> {
        LayerContent::new(files.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())))
    }

    #[test]
    fn only_what_packs_are_made_of_counts() {
        let all = content(&[("tools.d/a.toml", "x"), ("README.md", "y"), ("tools.d/.swp", "z")]).unwrap();
        assert_eq!(all, content(&[("tools.d/a.toml", "x")]).unwrap());
        assert_eq!((all.packs(), all.files.len()), (vec!["a".to_owned()], 1));
    }

    #[test]
    fn names_and_sizes_that_not_every_machine_takes_are_refused() {
        let large = "x".repeat(MAX_FILE_BYTES + 1);
        let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0";
        let refused: &[(&[(&str, &str)], &str)] = &[
            (&[("tools.d/a:b.toml", "")], "name that not every system"),
            (&[("tools.d/a\\b.toml", "")], "name that not every system"),
            (&[("tools.d/a.toml", ""), ("tools.d/A.toml", "")], "letter case"),
            (&[("prompts/a/b.md", pointer)], "Git LFS"),
            (&[("prompts/a/b.md", &large)], "more than 1 MB"),
            (&[("README.md", "")], "there is no file in"),
        ];
        for (files, words) in refused {
            let message = content(files).unwrap_err().to_string();
            assert!(message.contains(words), "{message}");
        }
    }

    proptest! {
        #[test]
        fn what_is_stored_is_read_again(files in proptest::collection::btree_map("tools\\.d/[a-z]{1,8}\\.toml", ".{0,40}", 1..6)) {
            let content = LayerContent::new(files.into_iter().map(|(path, text)| (path, text.into_bytes()))).ok();
            prop_assume!(content.is_some());
            let content = content.unwrap();
            prop_assert_eq!(LayerContent::from_bytes(&content.to_bytes()), Some(content));
        }
    }
}
