//! The layers that packs come from: the first one that has a file wins, an empty file removes it.

use super::embedded::{Content, embedded_layer};
use super::trust::Trust;
use super::workspace_files::{admitted, owned_files};
use crate::definition::Care;
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Source;
use crate::world::World;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

/// The folders of a layer that packs are made of.
pub const FOLDERS: [&str; 3] = ["tools.d", "prompts", "templates"];
/// The origin of the layer inside the binary.
pub const EMBEDDED: &str = "embedded";
/// The file of a layer in which `eject` notes the hashes of the originals.
pub const EJECTED: &str = "ejected.json";
/// The folder of a workspace that is a layer.
pub const WORKSPACE_FOLDER: &str = ".toolsd";

/// One layer.
#[derive(Clone)]
pub struct Layer {
    /// `embedded`, `user`, `workspace`, or the folder named by `--dir`.
    pub origin: String,
    /// Its files, rooted so that `tools.d` and the others lie at the top, or, if it needs trust, in `.toolsd`; nothing for
    /// those inside the binary.
    pub world: Option<Arc<dyn World>>,
    /// What a person allowed, if the layer needs it: that of the workspace does.
    pub trust: Option<Trust>,
}

/// A file of a layer.
#[derive(Clone, Debug)]
pub struct LayerFile {
    /// The layer it came from.
    pub origin: String,
    /// Its text; nothing if it is no UTF-8.
    pub source: Option<Arc<Source>>,
    /// The tree of its text, if it is a definition inside the binary.
    pub tree: &'static [u8],
    /// Its bytes, if they are no UTF-8.
    binary: Arc<[u8]>,
    /// The BLAKE3 of its bytes, once somebody asked.
    hash: OnceLock<[u8; 32]>,
}

impl LayerFile {
    /// A file of the layer `origin`.
    pub(super) fn new(origin: &str, path: &str, bytes: &[u8]) -> Self {
        let text = std::str::from_utf8(bytes).ok();
        Self {
            origin: origin.to_owned(),
            source: text.map(|text| Source::new(path, text)),
            tree: &[],
            binary: if text.is_some() { Arc::default() } else { bytes.into() },
            hash: OnceLock::new(),
        }
    }

    /// A file inside the binary.
    pub(super) fn embedded(path: &str, content: Content) -> Self {
        match content {
            Content::Bytes(bytes) => Self::new(EMBEDDED, path, bytes),
            Content::Text(text, tree) => Self {
                origin: EMBEDDED.to_owned(),
                source: Some(Source::from_text(path, Cow::Borrowed(text))),
                tree,
                binary: Arc::default(),
                hash: OnceLock::new(),
            },
        }
    }

    /// The BLAKE3 of its bytes.
    pub fn hash(&self) -> &[u8; 32] {
        self.hash.get_or_init(|| *blake3::hash(self.bytes()).as_bytes())
    }

    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        self.source.as_ref().map_or(&self.binary, |source| source.text.as_bytes())
    }
}

/// All files that are in use, by their path from the root.
#[derive(Clone, Debug, Default)]
pub struct Files {
    /// Path and file.
    pub by_path: BTreeMap<String, LayerFile>,
    /// What an empty file removed: path, and the layer of the empty file.
    pub removed: Vec<(String, String)>,
}

impl Files {
    /// Files in memory: path from the root, and text.
    pub fn of_texts<'a>(texts: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let file = |(path, text): (&str, &str)| (path.to_owned(), LayerFile::new("memory", path, text.as_bytes()));
        Self { by_path: texts.into_iter().map(file).collect(), removed: Vec::new() }
    }

    /// Reads all layers, the first one strongest, to the end: what cannot be read is in the list of faults.
    pub fn collect(layers: &[Layer]) -> (Self, Vec<Diagnostic>) {
        let mut files = Self::default();
        let mut faults = Vec::new();
        for layer in layers.iter().rev() {
            let read = read_layer(layer, &mut faults);
            files.warn_of_moved_originals(layer, &read, &mut faults);
            for (path, file) in read {
                //= docs/spec.md#definitions
                //# An empty file of a higher layer MUST remove the file below it.
                if file.bytes().trim_ascii().is_empty() && files.by_path.remove(&path).is_some() {
                    files.removed.push((path, file.origin));
                } else {
                    //= docs/spec.md#definitions
                    //# A file of a higher layer MUST stand for the file of the same path below it.
                    files.removed.retain(|(removed, _)| *removed != path);
                    files.by_path.insert(path, file);
                }
            }
        }
        (files, faults)
    }

    /// The names of the packs: the stems of `tools.d/*.toml` and the folders below `tools.d` that hold such a file.
    pub fn packs(&self) -> Vec<String> {
        let mut names: Vec<String> = self
            .by_path
            .keys()
            .filter(|path| path.ends_with(".toml"))
            .filter_map(|path| path.strip_prefix("tools.d/"))
            .map(|path| path.split_once('/').map_or_else(|| path.trim_end_matches(".toml"), |(folder, _)| folder))
            .map(str::to_owned)
            .collect();
        names.sort();
        names.dedup();
        names
    }

    /// The files of one pack, those shared by all packs included.
    pub fn of_pack(&self, pack: &str) -> Self {
        let belongs = |path: &str| {
            let Some((folder, rest)) = path.split_once('/') else { return false };
            match rest.split_once('/') {
                Some((owner, _)) => owner == pack || (owner == "shared" && folder != "tools.d"),
                None => rest.rsplit_once('.').is_some_and(|(stem, _)| stem == pack),
            }
        };
        let by_path = self.by_path.iter().filter(|(path, _)| belongs(path));
        let by_path = by_path.map(|(path, file)| (path.clone(), file.clone())).collect();
        Self { by_path, removed: self.removed.iter().filter(|(path, _)| belongs(path)).cloned().collect() }
    }

    /// How much there is to read in definitions.
    pub fn definition_bytes(&self) -> usize {
        self.texts("tools.d/", ".toml").map(|source| source.text.len()).sum()
    }

    /// How closely a start must look at them: a test holds that those of the binary are sound, as long as none comes
    /// from another layer and none is removed by one.
    pub fn care(&self) -> Care {
        let embedded = self.removed.is_empty() && self.by_path.values().all(|file| file.origin == EMBEDDED);
        if embedded { Care::Known } else { Care::Full }
    }

    /// One hash of all paths, layers and contents; those inside the binary stay the same for as long as it runs.
    pub fn hash(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new();
        for (path, file) in &self.by_path {
            for part in [path, &file.origin] {
                hasher.update(&(part.len() as u64).to_le_bytes());
                hasher.update(part.as_bytes());
            }
            if file.origin != EMBEDDED {
                hasher.update(file.hash());
            }
        }
        *hasher.finalize().as_bytes()
    }

    /// The texts whose paths begin and end so, in the order of their paths.
    pub fn texts<'a>(&'a self, begin: &'a str, end: &'a str) -> impl Iterator<Item = &'a Arc<Source>> {
        let matching = self.by_path.iter().filter(move |(path, _)| path.starts_with(begin) && path.ends_with(end));
        matching.filter_map(|(_, file)| file.source.as_ref())
    }

    fn warn_of_moved_originals(&self, layer: &Layer, read: &BTreeMap<String, LayerFile>, faults: &mut Vec<Diagnostic>) {
        let Some(world) = &layer.world else { return };
        let noted = match &layer.trust {
            Some(_) => ejected(world.as_ref(), &format!("{WORKSPACE_FOLDER}/{EJECTED}")),
            None => ejected(world.as_ref(), EJECTED),
        };
        for (path, recorded) in noted {
            let Some(original) = self.by_path.get(&path) else { continue };
            let Some(ours) = read.get(&path) else { continue };
            if blake3::Hash::from(*original.hash()).to_string() != recorded {
                let message = format!("`{path}` has changed in the layer `{}` since it was ejected", original.origin);
                let fault = Diagnostic::new(Code("ejected-original-changed"), message)
                    .warning()
                    .help("compare both, then run `toolsd eject` again or keep yours");
                let fault = match &ours.source {
                    Some(source) => fault.at(source.place(0..0)),
                    None => fault,
                };
                faults.push(*fault);
            }
        }
    }
}

/// The hashes of originals that `eject` noted in a layer: path and hash in hexadecimal digits.
pub fn ejected(layer: &dyn World, path: &str) -> BTreeMap<String, String> {
    let Ok(Some(_)) = layer.stat(path) else { return BTreeMap::new() };
    layer.read(path).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
}

/// Whether a file is none of a pack: editors leave such beside it. Folders of samples may have names like that.
pub fn is_hidden(path: &str) -> bool {
    crate::world::path::name(path).starts_with('.')
}

fn read_layer(layer: &Layer, faults: &mut Vec<Diagnostic>) -> BTreeMap<String, LayerFile> {
    let Some(world) = &layer.world else { return embedded_layer().clone() };
    let file = |path: String, bytes: Vec<u8>| {
        // What was looked at is what is compiled: the bytes are read once.
        let file = LayerFile::new(&layer.origin, &path, &bytes);
        (path, file)
    };
    if let Some(trust) = &layer.trust {
        let admitted = admitted(world.as_ref(), trust, faults).into_iter();
        let within =
            |path: String| path.strip_prefix(WORKSPACE_FOLDER).map(|path| path.trim_start_matches('/').to_owned());
        return admitted.filter_map(|(path, bytes)| Some(file(within(path)?, bytes))).collect();
    }
    owned_files(world.as_ref(), faults).into_iter().map(|(path, bytes)| file(path, bytes)).collect()
}
