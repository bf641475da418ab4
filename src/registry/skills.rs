//! Skills: folders with a `SKILL.md`, as the Skills extension serves them (SEP-2640); those among a pack's files here.

mod found;
mod reading;

pub use found::{Digests, found_skill};
pub use reading::Rejected;

use super::{Files, Pack};
use crate::definition::{Located, SkillsDefinition};
use crate::diagnostic::{Diagnostic, Result};
use crate::value::Json;
use reading::{Origin, advice, digest, encoded, read};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

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
    /// Whether its files are the workspace's, found by a script; else they are the pack's.
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

/// The skills that are served, found by their URIs and by those of their files.
#[derive(Clone, Default)]
pub struct Skills {
    skills: BTreeMap<String, (Arc<Pack>, Arc<Skill>)>,
    /// Of each file: the URI of its skill, and its place there.
    files: HashMap<String, (String, usize)>,
}

impl Skills {
    /// Adds one. If its URI is taken, nothing happens, and the pack that has it comes back.
    pub fn add(&mut self, pack: &Arc<Pack>, skill: &Arc<Skill>) -> Option<&Arc<Pack>> {
        if self.skills.contains_key(&skill.uri) {
            return self.skills.get(&skill.uri).map(|(first, _)| first);
        }
        for (at, file) in skill.files.iter().enumerate() {
            // A file of a skill within a skill is a file of both, and the same.
            self.files.entry(file.uri.clone()).or_insert_with(|| (skill.uri.clone(), at));
        }
        self.skills.insert(skill.uri.clone(), (Arc::clone(pack), Arc::clone(skill)));
        None
    }

    /// The skill with this URI, and its pack.
    pub fn get(&self, uri: &str) -> Option<&(Arc<Pack>, Arc<Skill>)> {
        self.skills.get(uri)
    }

    /// The file of a skill with this URI, its skill, and the pack.
    pub fn file(&self, uri: &str) -> Option<(&Arc<Pack>, &Arc<Skill>, &SkillFile)> {
        let (skill, at) = self.files.get(uri)?;
        let (pack, skill) = self.skills.get(skill)?;
        Some((pack, skill, skill.files.get(*at)?))
    }

    /// All of them, in the order of their URIs.
    pub fn iter(&self) -> impl Iterator<Item = &(Arc<Pack>, Arc<Skill>)> {
        self.skills.values()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.skills.is_empty()
    }
}

impl PartialEq for Skills {
    fn eq(&self, other: &Self) -> bool {
        self.iter().map(|(_, skill)| skill).eq(other.iter().map(|(_, skill)| skill))
    }
}

impl std::fmt::Debug for Skills {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_list().entries(self.skills.keys()).finish()
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
                        faults.push(*advice(message, &dir.at, "skills of one folder have names of their own"));
                    }
                }
                //= docs/spec.md#skills
                //# A skill that is broken MUST NOT take the others with it.
                Err(fault) => faults.push(*fault),
            }
        }
        if !any {
            let message = format!("there is no skill below `{}`", dir.value);
            faults.push(*advice(message, &dir.at, "a skill is a folder with a SKILL.md among the pack's files"));
        }
    }
    found.into_values().collect()
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
        return Err(advice(format!("`{path}` is no UTF-8"), &dir.at, "a SKILL.md is a text"));
    };
    let outer = folder.strip_prefix(dir.value.trim_end_matches('/')).unwrap_or_default();
    let outer = outer.rsplit_once('/').map_or("", |(outer, _)| outer).trim_start_matches('/');
    let origin = Origin { path: &path, text: &source.text, at: &source.place(0..0), is_found: false };
    let base = |name: &str| if outer.is_empty() { name.to_owned() } else { format!("{outer}/{name}") };
    read(&origin, base, |base| Ok(manifest(folder, base, files)))
}

fn manifest(folder: &str, base: &str, files: &Files) -> Vec<SkillFile> {
    let below = format!("{folder}/");
    let inside = files.by_path.iter().filter_map(|(path, file)| Some((path, path.strip_prefix(&below)?, file)));
    let one = |(path, rest, file): (&String, &str, &super::LayerFile)| SkillFile {
        uri: format!("{base}/{}", encoded(rest)),
        path: path.clone(),
        digest: digest(file.bytes()),
        size: file.bytes().len() as u64,
    };
    inside.map(one).collect()
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
        let definition = SkillsDefinition { dirs: vec![dir], list: None, script: String::new() };
        let found = skills(&[definition], &files, &mut faults);
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
