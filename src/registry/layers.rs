//! The layers that packs come from, those inside the binary first: a higher layer's file stands for the one below it, an
//! empty file removes it.

use super::trust::WorkspaceTrust;
use super::workspace_files::{WORKSPACE_FOLDER, named_files, trusted_files};
use crate::definition::Validation;
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Source;
use crate::world::{BYTE_ORDER_MARK, Workspace, World};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock, OnceLock};

/// The origin of the layer inside the binary.
pub const EMBEDDED: &str = "embedded";

/// The file of a layer in which `eject` notes the hashes of the originals.
pub const EJECTED: &str = "ejected.json";

/// One layer.
#[derive(Clone)]
pub struct Layer {
    /// `embedded`, `user`, `workspace`, or the folder named by `--dir`.
    pub origin: String,
    /// Its files, with `tools.d` and the others at the root or, if it needs trust, in `.toolsd`; none for the layer
    /// inside the binary.
    pub world: Option<Arc<dyn World>>,
    /// The files that the user trusts, if the layer needs trust, as that of the workspace does.
    pub trust: Option<WorkspaceTrust>,
    /// Whether its files are those of a stored content, and not of a folder that people edit.
    pub is_stored: bool,
}

/// A file of a layer.
#[derive(Clone, Debug)]
pub struct LayerFile {
    /// The layer it came from.
    pub origin: String,
    /// Its text; none if it is not UTF-8.
    pub source: Option<Arc<Source>>,
    /// Its bytes, if they are not those of its text.
    binary: Arc<[u8]>,
    /// The BLAKE3 hash of its bytes, computed on first use.
    hash: OnceLock<[u8; 32]>,
}

/// The files inside the binary: the path of each from the root, and its bytes.
static FILES: &[(&str, &[u8])] = &include!(concat!(env!("OUT_DIR"), "/packs.rs"));

impl LayerFile {
    /// A file of the layer `origin`.
    fn new(origin: &str, path: &str, bytes: &[u8]) -> Self {
        let text = std::str::from_utf8(bytes).ok();
        // A byte order mark is skipped, as in every text.
        let plain = text.map(|text| text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text));
        Self {
            origin: origin.to_owned(),
            source: plain.map(|text| Source::new(path, text)),
            binary: if plain.is_some_and(|plain| plain.len() == bytes.len()) { Arc::default() } else { bytes.into() },
            hash: OnceLock::new(),
        }
    }

    /// A file inside the binary; its text is not copied.
    fn embedded(path: &str, bytes: &'static [u8]) -> Self {
        let Ok(text) = std::str::from_utf8(bytes) else { return Self::new(EMBEDDED, path, bytes) };
        Self {
            origin: EMBEDDED.to_owned(),
            source: Some(Source::from_text(path, Cow::Borrowed(text))),
            binary: Arc::default(),
            hash: OnceLock::new(),
        }
    }

    /// The BLAKE3 of its bytes.
    pub fn hash(&self) -> &[u8; 32] {
        self.hash.get_or_init(|| *blake3::hash(self.bytes()).as_bytes())
    }

    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        match &self.source {
            Some(source) if self.binary.is_empty() => source.text.as_bytes(),
            _ => &self.binary,
        }
    }
}

/// The layer of these files: made once, since they stay as they are.
fn embedded_layer() -> &'static BTreeMap<String, LayerFile> {
    static LAYER: LazyLock<BTreeMap<String, LayerFile>> = LazyLock::new(|| {
        FILES.iter().map(|(path, bytes)| ((*path).to_owned(), LayerFile::embedded(path, bytes))).collect()
    });
    &LAYER
}

/// Path from the root and bytes of each file.
pub fn embedded_files() -> impl Iterator<Item = (&'static str, &'static [u8])> {
    FILES.iter().copied()
}

/// All files that are in use, by their path from the root.
#[derive(Clone, Debug, Default)]
pub struct PackFiles {
    /// Path and file.
    pub by_path: BTreeMap<String, LayerFile>,
    /// What an empty file removed: path, and the layer of the empty file.
    pub removed: Vec<(String, String)>,
}

impl PackFiles {
    /// Files in memory: path from the root, and text.
    pub fn from_texts<'a>(texts: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        Self::from_bytes("memory", texts.into_iter().map(|(path, text)| (path, text.as_bytes())))
    }

    /// Files in memory: path from the root, and bytes.
    pub fn from_bytes<'a>(origin: &str, files: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> Self {
        let file = |(path, bytes): (&str, &[u8])| (path.to_owned(), LayerFile::new(origin, path, bytes));
        Self { by_path: files.into_iter().map(file).collect(), removed: Vec::new() }
    }

    /// Reads all layers to the end, in order of precedence. Files that cannot be read are in the list of diagnostics.
    pub fn collect(layers: &[Layer]) -> (Self, Vec<Diagnostic>) {
        let mut files = Self::default();
        let mut diagnostics = Vec::new();
        for layer in layers.iter().rev() {
            let read = read_layer(layer, &mut diagnostics);
            files.warn_of_moved_originals(layer, &read, &mut diagnostics);
            for (path, file) in read {
                //= docs/spec.md#definitions
                //# An empty file of a higher layer MUST remove the file below it.
                if file.bytes().trim_ascii().is_empty() && files.by_path.remove(&path).is_some() {
                    files.removed.push((path, file.origin));
                } else {
                    //= docs/spec.md#definitions
                    //# A file of a higher layer MUST replace the file with the same path in a lower layer.
                    files.removed.retain(|(removed, _)| *removed != path);
                    files.by_path.insert(path, file);
                }
            }
        }
        (files, diagnostics)
    }

    /// Returns the names of the packs: the stems of `tools.d/*.toml` and the folders under `tools.d` with such a file.
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
    pub fn for_pack(&self, pack: &str) -> Self {
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

    /// A warning for each script and template that belongs to none of these packs, so that nothing finds it: the
    /// name of the pack that it would belong to, and the warning.
    pub fn ownerless_files(&self, packs: &[String]) -> Vec<(&str, Diagnostic)> {
        let texts = self.texts("tools.d/", ".rhai").chain(self.texts("templates/", ".hbs"));
        let reported = texts.filter_map(|source| {
            let path = source.path.as_str();
            let start = path.find('/')? + 1;
            let end = start + path[start..].find('/').or_else(|| path[start..].rfind('.'))?;
            let name = &path[start..end];
            if packs.iter().any(|pack| pack == name) || (name == "shared" && path.starts_with("templates/")) {
                return None;
            }
            let message = format!("`{path}` belongs to no pack, so nothing finds it: there is no pack `{name}`");
            let help = match path[end..].starts_with('/') {
                true => format!("rename the folder to that of a pack, or write `tools.d/{name}.toml`"),
                false => {
                    format!("rename it to `{}PACK/{}`, or write `tools.d/{name}.toml`", &path[..start], &path[start..])
                }
            };
            let diagnostic =
                Diagnostic::new(Code("ownerless-file"), message).warning().help(help).at(source.place(0..0));
            Some((name, *diagnostic))
        });
        reported.collect()
    }

    /// How much there is to read in definitions.
    pub fn definition_bytes(&self) -> usize {
        self.texts("tools.d/", ".toml").map(|source| source.text.len()).sum()
    }

    /// How closely they must be validated. A test ensures that the files inside the binary are sound; that holds as
    /// long as no other layer adds or removes one.
    pub fn validation(&self) -> Validation {
        let embedded = self.removed.is_empty() && self.by_path.values().all(|file| file.origin == EMBEDDED);
        if embedded { Validation::Skipped } else { Validation::Full }
    }

    /// Returns one hash of all paths, layers and contents. Contents inside the binary are omitted, since they do not
    /// change while it runs.
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

    /// Whether there is a file with this path.
    pub fn has(&self, path: &str) -> bool {
        self.by_path.contains_key(path)
    }

    /// The texts whose paths begin and end so, in the order of their paths.
    pub fn texts<'a>(&'a self, begin: &'a str, end: &'a str) -> impl Iterator<Item = &'a Arc<Source>> {
        let matching = self.by_path.iter().filter(move |(path, _)| path.starts_with(begin) && path.ends_with(end));
        matching.filter_map(|(_, file)| file.source.as_ref())
    }

    /// Returns an error for each definition, script and template that is not UTF-8, and is therefore not read.
    pub fn encoding_diagnostics(&self) -> Vec<Diagnostic> {
        let is_read = |path: &str| match path.split_once('/') {
            Some(("tools.d", rest)) => rest.ends_with(".toml") || rest.ends_with(".rhai"),
            Some(("templates", rest)) => rest.ends_with(".hbs"),
            Some(("prompts", rest)) => rest.ends_with(".md") || rest.ends_with(".hbs") || rest.ends_with(".txt"),
            _ => false,
        };
        let unread = self.by_path.iter().filter(|(path, file)| file.source.is_none() && is_read(path));
        unread.filter_map(|(path, file)| encoding_diagnostic(path, file.bytes())).collect()
    }

    fn warn_of_moved_originals(
        &self,
        layer: &Layer,
        read: &BTreeMap<String, LayerFile>,
        diagnostics: &mut Vec<Diagnostic>,
    ) {
        let Some(world) = &layer.world else { return };
        let noted = match &layer.trust {
            Some(_) => read_ejected(world.as_ref(), &format!("{WORKSPACE_FOLDER}/{EJECTED}")),
            None => read_ejected(world.as_ref(), EJECTED),
        };
        for (path, recorded) in noted {
            let Some(original) = self.by_path.get(&path) else { continue };
            let Some(ours) = read.get(&path) else { continue };
            if blake3::Hash::from(*original.hash()).to_string() != recorded {
                let message = format!("`{path}` has changed in the layer `{}` since it was ejected", original.origin);
                let diagnostic = Diagnostic::new(Code("ejected-original-changed"), message)
                    .warning()
                    .help("compare both, then run `toolsd eject` again or keep yours");
                let diagnostic = match &ours.source {
                    Some(source) => diagnostic.at(source.place(0..0)),
                    None => diagnostic,
                };
                diagnostics.push(*diagnostic);
            }
        }
    }
}

/// Returns the error of a file that is not UTF-8, at its first wrong byte.
fn encoding_diagnostic(path: &str, bytes: &[u8]) -> Option<Diagnostic> {
    let offset = std::str::from_utf8(bytes).err()?.valid_up_to();
    // The text before the wrong byte stays as it is, so the offset holds in it too.
    let at = Source::new(path, String::from_utf8_lossy(bytes)).place(offset..offset + 1);
    let wrong = bytes.get(offset).copied().unwrap_or_default();
    let message = format!("`{path}` is not UTF-8: the byte 0x{wrong:02X} at offset {offset} begins no character");
    let help = "save it as UTF-8, such as with `iconv -f ISO-8859-1 -t UTF-8 FILE`";
    Some(*Diagnostic::new(Code::UTF8, message).help(help).at(at))
}

/// The hashes of originals that `eject` noted in a layer: path and hash in hexadecimal digits.
pub fn read_ejected(layer: &dyn Workspace, path: &str) -> BTreeMap<String, String> {
    let Ok(Some(_)) = layer.stat(path) else { return BTreeMap::new() };
    layer.read(path).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
}

fn read_layer(layer: &Layer, diagnostics: &mut Vec<Diagnostic>) -> BTreeMap<String, LayerFile> {
    let Some(world) = &layer.world else { return embedded_layer().clone() };
    let file = |path: String, bytes: Vec<u8>| {
        // The bytes are read once, so those that were checked are those that are compiled.
        let file = LayerFile::new(&layer.origin, &path, &bytes);
        (path, file)
    };
    if let Some(trust) = &layer.trust {
        let admitted = trusted_files(world.as_ref(), trust, diagnostics).into_iter();
        let within =
            |path: String| path.strip_prefix(WORKSPACE_FOLDER).map(|path| path.trim_start_matches('/').to_owned());
        return admitted.filter_map(|(path, bytes)| Some(file(within(path)?, bytes))).collect();
    }
    named_files(world.as_ref(), diagnostics).into_iter().map(|(path, bytes)| file(path, bytes)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pack_file_that_is_not_utf8_is_named_with_its_first_wrong_byte() {
        let text: &[u8] = b"// ok\nfn a() { \"caf\xe9\" }";
        let paths = ["tools.d/a.rhai", "tools.d/a/b.toml", "templates/a/b.hbs", "prompts/a/b.md", "templates/a/b.png"];
        let file = |path: &str| (path.to_owned(), LayerFile::new("memory", path, text));
        let files = PackFiles { by_path: paths.map(file).into(), removed: Vec::new() };
        let reported: Vec<String> =
            files.encoding_diagnostics().iter().map(|diagnostic| diagnostic.to_string()).collect();
        assert_eq!(reported.len(), 4, "{reported:?}");
        let script = reported.iter().find(|reported| reported.contains("a.rhai")).expect("it is reported");
        let wrong =
            "tools.d/a.rhai:2:14: `tools.d/a.rhai` is not UTF-8: the byte 0xE9 at offset 19 begins no character";
        assert!(script.contains(wrong), "{script}");
    }

    #[test]
    fn scripts_and_templates_without_pack_are_reported() {
        let paths =
            ["tools.d/a.toml", "tools.d/a.rhai", "templates/a/b.hbs", "templates/shared/b.hbs", "templates/c.md"];
        let lost = [("templates/b.hbs", ""), ("tools.d/c/d.rhai", "")];
        let files = PackFiles::from_texts(paths.map(|path| (path, "")).into_iter().chain(lost));
        let reported = files.ownerless_files(&["a".to_owned()]);
        let reported: Vec<_> =
            reported.iter().map(|(pack, diagnostic)| (*pack, diagnostic.help.as_deref().unwrap_or_default())).collect();
        let expected = [
            ("c", "rename the folder to that of a pack, or write `tools.d/c.toml`"),
            ("b", "rename it to `templates/PACK/b.hbs`, or write `tools.d/b.toml`"),
        ];
        assert_eq!(reported, expected);
    }
}
