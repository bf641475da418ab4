//! Skills: folders with a `SKILL.md`, as the Skills extension serves them (SEP-2640), among the files of a pack or found by a
//! script in the workspace.

use super::layers::{LayerFile, PackFiles};
use crate::definition::{Located, SkillsDefinition};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::parse::{ParserInput, parse_front_matter};
use crate::source::{Place, Source};
use crate::value::Json;
use crate::world::recorded::COARSEST_MTIME_MS;
use crate::world::{Stat, WalkOptions, Workspace, path};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::sync::Mutex;

/// The file that makes a folder a skill.
pub const SKILL_FILE: &str = "SKILL.md";

/// A skill that is served.
#[derive(Clone, Debug, PartialEq)]
pub struct Skill {
    /// The URI of its `SKILL.md`: `skill://…/NAME/SKILL.md`.
    pub uri: String,
    /// Its front matter, as the author wrote it: `name` and `description` at least.
    pub frontmatter: Json,
    /// All its files, `SKILL.md` among them, in the order of their URIs.
    pub files: Vec<SkillFile>,
    /// Whether its files are in the workspace, found by a script; otherwise they belong to the pack.
    pub is_found: bool,
}

/// A file of a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillFile {
    /// Its URI.
    pub uri: String,
    /// Its path: among the files of the pack, or in the workspace.
    pub path: String,
    /// `sha256:` and the hash of its bytes in hex.
    pub digest: String,
    /// Its length in bytes.
    pub size: u64,
}

impl Skill {
    /// A text of its front matter.
    pub fn text(&self, key: &str) -> &str {
        self.frontmatter.get(key).and_then(Json::as_str).unwrap_or_default()
    }
}

/// Returns the skills in the folders that a pack names, in the order of their URIs. A broken skill is skipped with a
/// warning and does not affect the others.
pub(super) fn pack_skills(
    definitions: &[SkillsDefinition],
    files: &PackFiles,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<Skill> {
    let mut found: BTreeMap<String, Skill> = BTreeMap::new();
    for dir in definitions.iter().flat_map(|definition| &definition.dirs) {
        let mut any = false;
        for folder in skill_folders(&dir.value, files) {
            any = true;
            match pack_skill(dir, &folder, files) {
                Ok((skill, more)) => {
                    diagnostics.extend(more);
                    if let Some(first) = found.insert(skill.uri.clone(), skill) {
                        let message = format!("two skills are `{}`", first.uri);
                        diagnostics.push(*skill_warning(message, &dir.at, "give each skill its own name"));
                    }
                }
                //= docs/spec.md#skills
                //# A broken skill MUST NOT affect other skills.
                Err(diagnostic) => diagnostics.push(*diagnostic),
            }
        }
        if !any {
            let message = format!("there is no skill below `{}`", dir.value);
            diagnostics.push(*skill_warning(
                message,
                &dir.at,
                "a skill is a folder with a SKILL.md among the pack's files",
            ));
        }
    }
    found.into_values().collect()
}

/// Returns the folders under this one that contain a `SKILL.md`.
fn skill_folders(dir: &str, files: &PackFiles) -> Vec<String> {
    let below = format!("{}/", dir.trim_end_matches('/'));
    let skill_file = |path: &&String| path.starts_with(&below) && path.ends_with(&format!("/{SKILL_FILE}"));
    files.by_path.keys().filter(skill_file).map(|path| path[..path.len() - SKILL_FILE.len() - 1].to_owned()).collect()
}

/// The skill in a folder, and what should be better about it.
fn pack_skill(dir: &Located<String>, folder: &str, files: &PackFiles) -> Result<(Skill, Vec<Diagnostic>)> {
    let path = format!("{folder}/{SKILL_FILE}");
    let source = files.by_path.get(&path).and_then(|file| file.source.as_ref());
    let Some(source) = source else {
        return Err(skill_warning(format!("`{path}` is not valid UTF-8"), &dir.at, "save SKILL.md as UTF-8 text"));
    };
    let outer = folder.strip_prefix(dir.value.trim_end_matches('/')).unwrap_or_default();
    let outer = outer.rsplit_once('/').map_or("", |(outer, _)| outer).trim_start_matches('/');
    let origin = SkillSource { path: &path, text: &source.text, at: &source.place(0..0), is_found: false };
    let base = |name: &str| if outer.is_empty() { name.to_owned() } else { format!("{outer}/{name}") };
    read_skill(&origin, base, |base| Ok(pack_manifest(folder, base, files)))
}

fn pack_manifest(folder: &str, base: &str, files: &PackFiles) -> Vec<SkillFile> {
    let below = format!("{folder}/");
    let inside = files.by_path.iter().filter_map(|(path, file)| Some((path, path.strip_prefix(&below)?, file)));
    let one = |(path, rest, file): (&String, &str, &LayerFile)| SkillFile {
        uri: format!("{base}/{}", encode_path(rest)),
        path: path.clone(),
        digest: sha256_digest(file.bytes()),
        size: file.bytes().len() as u64,
    };
    inside.map(one).collect()
}

/// The hashes of files, valid for as long as their metadata do not change.
#[derive(Default)]
pub struct FileDigests(Mutex<HashMap<String, (Stat, String)>>);

impl FileDigests {
    /// The digest of a file and its size in bytes.
    fn digest(&self, world: &dyn Workspace, path: &str, stat: Option<Stat>) -> Result<(String, u64)> {
        let known = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner).get(path).cloned();
        if let (Some((before, digest)), Some(now)) = (&known, stat)
            && *before == now
        {
            return Ok((digest.clone(), now.size));
        }
        let at_ms = world.now_ms();
        let bytes = world.read(path)?;
        let digest = sha256_digest(&bytes);
        // A file may have changed twice within the resolution of a recent time stamp.
        if let Some(stat) = stat.filter(|stat| stat.modified_ns <= i128::from(at_ms - COARSEST_MTIME_MS) * 1_000_000) {
            let mut known = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            known.insert(path.to_owned(), (stat, digest.clone()));
        }
        Ok((digest, bytes.len() as u64))
    }
}

/// Reads the skill in a folder of a world. Returns it with its warnings. Its URIs begin with `skill://` and `at`, or
/// its name if that is not set. Symlinks in it are skipped.
pub fn read_found_skill(
    world: &dyn Workspace,
    dir: &str,
    at: Option<&str>,
    digests: &FileDigests,
) -> std::result::Result<(Skill, Vec<Diagnostic>), SkillRejection> {
    let dir = path::clean(dir);
    let file = path::join(&dir, SKILL_FILE);
    let nowhere = Source::new(&file, "").place(0..0);
    let left_out =
        |why: &str| skill_warning(format!("`{file}` is skipped: {why}"), &nowhere, "save SKILL.md as UTF-8 text");
    let bytes = world.read(&file).map_err(|diagnostic| left_out(&diagnostic.message))?;
    let text = String::from_utf8(bytes).map_err(|_| left_out("it is not valid UTF-8"))?;
    let source = Source::new(&file, &text);
    let origin = SkillSource { path: &file, text: &text, at: &source.place(0..0), is_found: true };
    let base = |name: &str| at.map_or_else(|| name.to_owned(), |at| at.trim_matches('/').to_owned());
    read_skill(&origin, base, |base| workspace_manifest(world, &dir, base, digests))
}

fn workspace_manifest(world: &dyn Workspace, dir: &str, base: &str, digests: &FileDigests) -> Result<Vec<SkillFile>> {
    let walk = WalkOptions { from: dir.to_owned(), hidden: true, ignore: false, follow: false, depth: None };
    let files = world.walk(&walk)?.files;
    let stats = world.stat_all(&files.iter().map(String::as_str).collect::<Vec<_>>());
    let below = if dir == "." { String::new() } else { format!("{dir}/") };
    let mut manifest = Vec::with_capacity(files.len());
    for (path, stat) in files.into_iter().zip(stats) {
        let (digest, size) = digests.digest(world, &path, stat?)?;
        let uri = format!("{base}/{}", encode_path(path.strip_prefix(&below).unwrap_or(&path)));
        manifest.push(SkillFile { uri, path, digest, size });
    }
    Ok(manifest)
}

/// Creates the warning for a skill that cannot be served.
const SKILL: Code = Code("skill");

/// Why a skill is skipped: a warning.
pub type SkillRejection = Box<Diagnostic>;

/// Recommended maximum size of a skill (SEP-2640).
const MAX_SKILL_FILES: usize = 512;

const MAX_SKILL_BYTES: u64 = 16 * 1024 * 1024;

/// Maximum length of a description, in characters (Agent Skills).
const MAX_DESCRIPTION_CHARS: usize = 1_024;

const RULES: &str = "it needs `name`, of at most 64 lower-case letters, digits and single hyphens, and `description`, \
                     of at most 1024 characters";

/// A `SKILL.md`.
struct SkillSource<'a> {
    pub path: &'a str,
    pub text: &'a str,
    pub at: &'a Place,
    pub is_found: bool,
}

/// Reads a skill. `base` makes the path of its URIs from its name, `manifest` its files from `skill://` and that path.
/// Returns the skill and its warnings.
fn read_skill(
    origin: &SkillSource<'_>,
    base: impl FnOnce(&str) -> String,
    manifest: impl FnOnce(&str) -> Result<Vec<SkillFile>>,
) -> std::result::Result<(Skill, Vec<Diagnostic>), SkillRejection> {
    let refused = |message: &str| skill_warning(format!("`{}` is skipped: {message}", origin.path), origin.at, RULES);
    let read = parse_front_matter(&ParserInput::from_value(&origin.text.into()))
        .map_err(|diagnostic| refused(&diagnostic.message))?;
    let read = read.to_json();
    if let Some(error) = read["error"].as_str() {
        return Err(refused(error));
    }
    let frontmatter = read["data"].clone();
    let name = frontmatter["name"].as_str().unwrap_or_default();
    if !is_name(name) {
        return Err(refused(&format!("`{name}` is not a valid skill name")));
    }
    match frontmatter["description"].as_str().map(|text| text.trim().chars().count()) {
        None | Some(0) => return Err(refused("it has no `description`")),
        Some(length) if length > MAX_DESCRIPTION_CHARS => {
            return Err(refused(&format!("its `description` has {length} characters")));
        }
        Some(_) => {}
    }
    let path = base(name);
    if path.rsplit('/').next() != Some(name) {
        return Err(refused(&format!("its path `{path}` does not end in its name `{name}`")));
    }
    let base = format!("skill://{}", encode_path(&path));
    let mut files = manifest(&base).map_err(|diagnostic| refused(&diagnostic.message))?;
    files.sort_by(|one, other| one.uri.cmp(&other.uri));
    let uri = format!("{base}/{SKILL_FILE}");
    if !files.iter().any(|file| file.uri == uri) {
        return Err(refused("it is a symlink"));
    }
    //= docs/spec.md#skills
    //# A skill with more than 512 files or 16 MiB SHOULD be reported.
    let size: u64 = files.iter().map(|file| file.size).sum();
    let mut diagnostics = Vec::new();
    if files.len() > MAX_SKILL_FILES || size > MAX_SKILL_BYTES {
        let message = format!("the skill `{name}` has {} files of {size} bytes", files.len());
        diagnostics.push(*skill_warning(message, origin.at, "clients may refuse more than 512 files or 16 MiB"));
    }
    Ok((Skill { uri, frontmatter, files, is_found: origin.is_found }, diagnostics))
}

/// A warning about a skill.
fn skill_warning(message: String, at: &Place, help: &str) -> Box<Diagnostic> {
    Diagnostic::new(SKILL, message).warning().at(at.clone()).help(help)
}

/// Agent Skills: at most 64 of `a-z0-9-`, no hyphen at an end, no two in a row.
fn is_name(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=64).contains(&name.len())
        && name.bytes().all(allowed)
        && !name.starts_with('-')
        && !name.ends_with('-')
        && !name.contains("--")
}

/// The segments of a path as a URI writes them (RFC 3986 §3.3).
fn encode_path(path: &str) -> String {
    use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
    const SEGMENTS: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'_').remove(b'.').remove(b'~');
    utf8_percent_encode(path, SEGMENTS).to_string()
}

/// `sha256:` and the hash in hex.
fn sha256_digest(bytes: &[u8]) -> String {
    let mut text = String::from("sha256:");
    for byte in Sha256::digest(bytes) {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::world::Files;
    use crate::world::memory::MemoryWorld;

    fn read(texts: &[(&str, &str)]) -> (Vec<Skill>, Vec<String>) {
        let source = Source::new("tools.d/tea.toml", "x");
        let dir = Located { value: "templates/tea/skills".to_owned(), at: source.place(0..1) };
        let mut diagnostics = Vec::new();
        let files = PackFiles::from_texts(texts.iter().copied());
        let definition = SkillsDefinition { at: dir.at.clone(), dirs: vec![dir], list: None, script: String::new() };
        let found = pack_skills(&[definition], &files, &mut diagnostics);
        (found, diagnostics.into_iter().map(|diagnostic| diagnostic.message).collect())
    }

    #[test]
    fn a_skill_has_all_its_files_with_their_hashes() {
        let (found, diagnostics) = read(&[
            ("templates/tea/skills/brew/SKILL.md", "---\nname: brew\ndescription: Brews.\nextra: [1]\n---\nBoil.\n"),
            ("templates/tea/skills/brew/more/a b.txt", "hello"),
            ("templates/tea/other.txt", "no"),
        ]);
        assert_eq!(diagnostics, Vec::<String>::new());
        let uris: Vec<&str> = found[0].files.iter().map(|file| file.uri.as_str()).collect();
        assert_eq!(uris, ["skill://brew/SKILL.md", "skill://brew/more/a%20b.txt"]);
        assert_eq!(found[0].files[1].digest, "sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824");
        assert_eq!((found[0].files[1].size, &found[0].frontmatter["extra"]), (5, &serde_json::json!([1])));
    }

    //= docs/spec.md#skills
    //= type=test
    //# A broken skill MUST NOT affect other skills.
    #[test]
    fn broken_skills_are_omitted_and_reported() {
        let (found, diagnostics) = read(&[
            ("templates/tea/skills/good/SKILL.md", "---\nname: good\ndescription: d\n---\n"),
            ("templates/tea/skills/Bad/SKILL.md", "---\nname: Mixed-Case\ndescription: d\n---\n"),
            ("templates/tea/skills/none/SKILL.md", "no front matter"),
        ]);
        assert_eq!(found.iter().map(|skill| skill.uri.as_str()).collect::<Vec<_>>(), ["skill://good/SKILL.md"]);
        assert_eq!(diagnostics.len(), 2, "{diagnostics:?}");
        assert_eq!(read(&[]).1, ["there is no skill below `templates/tea/skills`"]);
    }

    const BREW: &str = "---\nname: brew\ndescription: Brews.\n---\nBoil.\n";

    fn uris(skill: &Skill) -> Vec<&str> {
        skill.files.iter().map(|file| file.uri.as_str()).collect()
    }

    #[test]
    fn a_skill_is_hashed_again_only_where_it_changed() {
        let world = MemoryWorld::with([("~/a/tea pot/SKILL.md", BREW), ("~/a/tea pot/more/x.txt", "hello")]).unwrap();
        world.advance_ms(COARSEST_MTIME_MS + 1);
        let digests = FileDigests::default();
        let found = || read_found_skill(&world, "~/a/tea pot/", Some("set/brew"), &digests).unwrap().0;
        let first = found();
        assert_eq!(uris(&first), ["skill://set/brew/SKILL.md", "skill://set/brew/more/x.txt"]);
        assert_eq!(first, found());
        world.write("~/a/tea pot/more/x.txt", b"hullo").unwrap();
        let second = found();
        assert_eq!(first.files[0], second.files[0]);
        assert_ne!(first.files[1].digest, second.files[1].digest);
        world.write("~/a/tea pot/more/x.txt", b"hallo").unwrap();
        assert_ne!(second.files[1].digest, found().files[1].digest);
    }

    #[test]
    fn what_the_extension_does_not_take_is_left_out() {
        let long = format!("---\nname: brew\ndescription: {}\n---\n", "x".repeat(1_025));
        let texts = [("a/SKILL.md", BREW), ("b/SKILL.md", "x"), ("c/SKILL.md", long.as_str())];
        let world = MemoryWorld::with(texts).unwrap();
        let reported = |dir: &str, at: Option<&str>| {
            read_found_skill(&world, dir, at, &FileDigests::default())
                .map(|(skill, _)| skill.uri)
                .map_err(|why| why.message)
        };
        assert_eq!(reported("a", None).unwrap(), "skill://brew/SKILL.md");
        assert_eq!(
            reported("a", Some("x/pot")).unwrap_err(),
            "`a/SKILL.md` is skipped: its path `x/pot` does not end in its name `brew`"
        );
        assert_eq!(reported("b", None).unwrap_err(), "`b/SKILL.md` is skipped: `` is not a valid skill name");
        assert_eq!(reported("c", None).unwrap_err(), "`c/SKILL.md` is skipped: its `description` has 1025 characters");
        assert_eq!(reported("d", None).unwrap_err(), "`d/SKILL.md` is skipped: there is no file `d/SKILL.md`");
    }
}
