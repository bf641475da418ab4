//! What a `SKILL.md` says, and whether the Skills extension takes it.

use super::{SKILL_FILE, Skill, SkillFile};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::parse::{ParserInput, parse_front_matter};
use crate::source::Place;
use sha2::{Digest, Sha256};
use std::fmt::Write as _;

/// A skill that cannot be served as it is.
const SKILL: Code = Code("skill");

/// Why a skill is left out: a warning.
pub type Rejected = Box<Diagnostic>;

/// What one skill should hold at most (SEP-2640).
const MOST_FILES: usize = 512;
const MOST_BYTES: u64 = 16 * 1024 * 1024;

/// The longest description, in characters (Agent Skills).
const LONGEST: usize = 1_024;

const RULES: &str = "it needs `name`, of at most 64 lower-case letters, digits and single hyphens, and `description`, \
                     of at most 1024 characters";

/// A `SKILL.md`.
pub(super) struct Origin<'a> {
    pub path: &'a str,
    pub text: &'a str,
    pub at: &'a Place,
    pub is_found: bool,
}

/// Reads a skill: `base` makes the path of its URIs from its name, `manifest` its files from `skill://` and that path.
/// Gives what should be better about it, too.
pub(super) fn read(
    origin: &Origin<'_>,
    base: impl FnOnce(&str) -> String,
    manifest: impl FnOnce(&str) -> Result<Vec<SkillFile>>,
) -> std::result::Result<(Skill, Vec<Diagnostic>), Rejected> {
    let refused = |message: &str| advice(format!("`{}` is left out: {message}", origin.path), origin.at, RULES);
    let read =
        parse_front_matter(&ParserInput::from_value(&origin.text.into())).map_err(|fault| refused(&fault.message))?;
    let read = read.to_json();
    if let Some(error) = read["error"].as_str() {
        return Err(refused(error));
    }
    let frontmatter = read["data"].clone();
    let name = frontmatter["name"].as_str().unwrap_or_default();
    if !is_name(name) {
        return Err(refused(&format!("`{name}` is no name of a skill")));
    }
    match frontmatter["description"].as_str().map(|text| text.trim().chars().count()) {
        None | Some(0) => return Err(refused("it has no `description`")),
        Some(length) if length > LONGEST => return Err(refused(&format!("its `description` has {length} characters"))),
        Some(_) => {}
    }
    let path = base(name);
    if path.rsplit('/').next() != Some(name) {
        return Err(refused(&format!("its path `{path}` does not end in its name `{name}`")));
    }
    let base = format!("skill://{}", encoded(&path));
    let mut files = manifest(&base).map_err(|fault| refused(&fault.message))?;
    files.sort_by(|one, other| one.uri.cmp(&other.uri));
    let uri = format!("{base}/{SKILL_FILE}");
    if !files.iter().any(|file| file.uri == uri) {
        return Err(refused("it is a symlink"));
    }
    //= docs/spec.md#skills
    //# A skill of more than 512 files or 16 MiB SHOULD be told of.
    let size: u64 = files.iter().map(|file| file.size).sum();
    let mut faults = Vec::new();
    if files.len() > MOST_FILES || size > MOST_BYTES {
        let message = format!("the skill `{name}` has {} files of {size} bytes", files.len());
        faults.push(*advice(message, origin.at, "clients may refuse more than 512 files or 16 MiB"));
    }
    Ok((Skill { uri, frontmatter, files, is_found: origin.is_found }, faults))
}

/// A warning about a skill.
pub(super) fn advice(message: String, at: &Place, help: &str) -> Box<Diagnostic> {
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
pub(super) fn encoded(path: &str) -> String {
    use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
    const SEGMENTS: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'_').remove(b'.').remove(b'~');
    utf8_percent_encode(path, SEGMENTS).to_string()
}

/// `sha256:` and the hash in hex.
pub(super) fn digest(bytes: &[u8]) -> String {
    let mut text = String::from("sha256:");
    for byte in Sha256::digest(bytes) {
        let _ = write!(text, "{byte:02x}");
    }
    text
}
