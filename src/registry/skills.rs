//! Skills: folders of a pack's files with a `SKILL.md`, as the Skills extension serves them (SEP-2640).

use super::Files;
use crate::definition::{Located, SkillsDefinition};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::parse::{self, Input};
use crate::source::Place;
use crate::value::Json;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// A skill that cannot be served as it is.
pub const SKILL: Code = Code("skill");

/// The file that makes a folder a skill.
pub const SKILL_FILE: &str = "SKILL.md";

/// What one skill should hold at most (SEP-2640).
const MOST_FILES: usize = 512;
const MOST_BYTES: u64 = 16 * 1024 * 1024;

/// A skill that is served.
#[derive(Clone, Debug, PartialEq)]
pub struct Skill {
    /// The URI of its `SKILL.md`: `skill://…/NAME/SKILL.md`.
    pub uri: String,
    /// Its front matter, as the author wrote it: `name` and `description` at least.
    pub frontmatter: Json,
    /// All its files, `SKILL.md` among them, in the order of their URIs.
    pub files: Vec<SkillFile>,
}

/// A file of a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillFile {
    /// Its URI.
    pub uri: String,
    /// Its path among the files of the pack.
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

/// The skills in the folders that a pack names, in the order of their URIs. One that is broken is left out, with a
/// warning: it never takes the others with it.
pub(super) fn skills(definitions: &[SkillsDefinition], files: &Files, faults: &mut Vec<Diagnostic>) -> Vec<Skill> {
    let mut found: BTreeMap<String, Skill> = BTreeMap::new();
    for dir in definitions.iter().flat_map(|definition| &definition.dirs) {
        let mut any = false;
        for folder in folders(&dir.value, files) {
            any = true;
            match skill(dir, &folder, files) {
                Ok((skill, more)) => {
                    faults.extend(more);
                    if let Some(first) = found.insert(skill.uri.clone(), skill) {
                        let message = format!("two skills are `{}`", first.uri);
                        faults.push(*warning(message, &dir.at, "skills of one folder have names of their own"));
                    }
                }
                //= docs/spec.md#skills
                //# A skill that is broken MUST NOT take the others with it.
                Err(fault) => faults.push(*fault),
            }
        }
        if !any {
            let message = format!("there is no skill below `{}`", dir.value);
            faults.push(*warning(message, &dir.at, "a skill is a folder with a SKILL.md among the pack's files"));
        }
    }
    found.into_values().collect()
}

fn warning(message: String, at: &Place, help: &str) -> Box<Diagnostic> {
    Diagnostic::new(SKILL, message).warning().at(at.clone()).help(help)
}

/// The folders below this one that hold a `SKILL.md`.
fn folders(dir: &str, files: &Files) -> Vec<String> {
    let below = format!("{}/", dir.trim_end_matches('/'));
    let skill_file = |path: &&String| path.starts_with(&below) && path.ends_with(&format!("/{SKILL_FILE}"));
    files.by_path.keys().filter(skill_file).map(|path| path[..path.len() - SKILL_FILE.len() - 1].to_owned()).collect()
}

/// The skill in a folder, and what should be better about it.
fn skill(dir: &Located<String>, folder: &str, files: &Files) -> Result<(Skill, Vec<Diagnostic>)> {
    let path = format!("{folder}/{SKILL_FILE}");
    let source = files.by_path.get(&path).and_then(|file| file.source.as_ref());
    let Some(source) = source else {
        return Err(warning(format!("`{path}` is no UTF-8"), &dir.at, "a SKILL.md is a text"));
    };
    let at = source.place(0..0);
    let refused = |message: String| warning(format!("`{path}` is left out: {message}"), &at, RULES);
    let read = parse::front_matter(&Input::of(&source.text.as_str().into()))
        .map_err(|fault| refused(fault.message.clone()))?;
    let read = read.to_json();
    if let Some(error) = read["error"].as_str() {
        return Err(refused(error.to_owned()));
    }
    let frontmatter = read["data"].clone();
    let name = frontmatter["name"].as_str().unwrap_or_default();
    if !is_name(name) {
        return Err(refused(format!("`{name}` is no name of a skill")));
    }
    if frontmatter["description"].as_str().is_none_or(|text| text.trim().is_empty()) {
        return Err(refused("it has no `description`".to_owned()));
    }
    let outer = folder.strip_prefix(dir.value.trim_end_matches('/')).unwrap_or_default();
    let outer = outer.rsplit_once('/').map_or("", |(outer, _)| outer).trim_start_matches('/');
    let base = if outer.is_empty() { format!("skill://{name}") } else { format!("skill://{outer}/{name}") };
    let files = manifest(folder, &base, files);
    let size: u64 = files.iter().map(|file| file.size).sum();
    let mut faults = Vec::new();
    if files.len() > MOST_FILES || size > MOST_BYTES {
        let message = format!("the skill `{name}` has {} files of {size} bytes", files.len());
        faults.push(*warning(message, &at, "clients may refuse more than 512 files or 16 MiB"));
    }
    Ok((Skill { uri: format!("{base}/{SKILL_FILE}"), frontmatter, files }, faults))
}

const RULES: &str = "it needs `name`, of at most 64 lower-case letters, digits and single hyphens, and `description`";

/// Agent Skills: at most 64 of `a-z0-9-`, no hyphen at an end, no two in a row.
fn is_name(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=64).contains(&name.len())
        && name.bytes().all(allowed)
        && !name.starts_with('-')
        && !name.ends_with('-')
        && !name.contains("--")
}

fn manifest(folder: &str, base: &str, files: &Files) -> Vec<SkillFile> {
    let below = format!("{folder}/");
    let inside = files.by_path.iter().filter_map(|(path, file)| Some((path, path.strip_prefix(&below)?, file)));
    let one = |(path, rest, file): (&String, &str, &super::LayerFile)| SkillFile {
        uri: format!("{base}/{}", encoded(rest)),
        path: path.clone(),
        digest: digest(&file.bytes),
        size: file.bytes.len() as u64,
    };
    let mut all: Vec<SkillFile> = inside.map(one).collect();
    all.sort_by(|one, other| one.uri.cmp(&other.uri));
    all
}

/// The segments of a path as a URI writes them (RFC 3986 §3.3).
fn encoded(path: &str) -> String {
    use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
    const SEGMENTS: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'_').remove(b'.').remove(b'~');
    utf8_percent_encode(path, SEGMENTS).to_string()
}

fn digest(bytes: &[u8]) -> String {
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
    use crate::source::Source;

    fn read(texts: &[(&str, &str)]) -> (Vec<Skill>, Vec<String>) {
        let source = Source::new("tools.d/tea.toml", "x");
        let dir = Located { value: "templates/tea/skills".to_owned(), at: source.place(0..1) };
        let mut faults = Vec::new();
        let files = Files::of_texts(texts.iter().copied());
        let found = skills(&[SkillsDefinition { dirs: vec![dir] }], &files, &mut faults);
        (found, faults.into_iter().map(|fault| fault.message).collect())
    }

    #[test]
    fn a_skill_has_all_its_files_with_their_hashes() {
        let (found, faults) = read(&[
            ("templates/tea/skills/brew/SKILL.md", "---\nname: brew\ndescription: Brews.\nextra: [1]\n---\nBoil.\n"),
            ("templates/tea/skills/brew/more/a b.txt", "hello"),
            ("templates/tea/other.txt", "no"),
        ]);
        assert_eq!(faults, Vec::<String>::new());
        let uris: Vec<&str> = found[0].files.iter().map(|file| file.uri.as_str()).collect();
        assert_eq!(uris, ["skill://brew/SKILL.md", "skill://brew/more/a%20b.txt"]);
        assert_eq!(found[0].files[1].digest, "sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824");
        assert_eq!((found[0].files[1].size, &found[0].frontmatter["extra"]), (5, &serde_json::json!([1])));
    }

    //= docs/spec.md#skills
    //= type=test
    //# A skill that is broken MUST NOT take the others with it.
    #[test]
    fn a_broken_skill_is_left_out_and_told() {
        let (found, faults) = read(&[
            ("templates/tea/skills/good/SKILL.md", "---\nname: good\ndescription: d\n---\n"),
            ("templates/tea/skills/Bad/SKILL.md", "---\nname: Mixed-Case\ndescription: d\n---\n"),
            ("templates/tea/skills/none/SKILL.md", "no front matter"),
        ]);
        assert_eq!(found.iter().map(|skill| skill.uri.as_str()).collect::<Vec<_>>(), ["skill://good/SKILL.md"]);
        assert_eq!(faults.len(), 2, "{faults:?}");
        assert_eq!(read(&[]).1, ["there is no skill below `templates/tea/skills`"]);
    }
}
