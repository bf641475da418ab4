//! `toolsd.lock`: the commit and the content of each layer of a project, the same for everyone who has the file.

#![allow(missing_docs, reason = "plain fields whose names say it")]

use super::LAYER;
use super::fetched::{FetchedLayer, Provenance, label};
use super::signature::fingerprint;
use crate::definition::{LayerDefinition, LayerSource, SETTINGS_FILE};
use crate::diagnostic::{Diagnostic, Result};
use crate::source::Source;
use crate::world::{Files, text_from_bytes};
use serde::{Deserialize, Serialize};
use std::fmt::Write;

/// The name of the file.
pub const LOCK_FILE: &str = "toolsd.lock";

/// What to do about a file that was changed by hand.
pub const RESTORE_LOCK: &str =
    "the lock file was changed by hand: take it from git as it was, or delete it and run `toolsd lock`";

/// What a person reads first in the file.
const HEAD: &str = "# Written by `toolsd lock`; commit it with `toolsd.toml`. Each machine keeps the contents in \
    ~/.local/share/toolsd/layers.\n";
/// The version that this program writes.
const VERSION: i64 = 1;

/// Maximum size in bytes of a file that is read.
const MAX_BYTES: u64 = 1 << 20;

/// The contents of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LockFile {
    /// In the order of `toolsd.toml`.
    pub layers: Vec<LockedLayer>,
}

/// A layer as it was locked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LockedLayer {
    pub name: String,
    /// The address of its repository.
    pub git: String,
    /// What `toolsd.toml` wanted, as in `version ^2.3`.
    pub wanted: String,
    /// The folder of the repository.
    pub dir: String,
    /// The tag that it was found by, if it was found by one.
    pub tag: Option<String>,
    pub commit: String,
    /// The hash of its content.
    pub content: String,
    /// The fingerprint of the key that signed the tag, if that was checked.
    pub signer: Option<String>,
}

impl LockedLayer {
    pub fn of_fetched(definition: &LayerDefinition, fetched: &FetchedLayer) -> Self {
        let Provenance { git, wanted, tag, commit, time: _, signer } = fetched.provenance.clone();
        Self {
            name: definition.name.value.clone(),
            dir: definition.dir.clone(),
            content: fetched.content.hash().to_owned(),
            git,
            wanted,
            tag,
            commit,
            signer,
        }
    }

    /// As that of its [`Provenance`].
    pub fn label(&self) -> String {
        label(self.tag.as_deref(), &self.wanted, &self.commit)
    }

    /// What `toolsd.toml` wants otherwise than it is locked: what is locked, and what is wanted; `None` if this fits.
    fn difference(&self, definition: &LayerDefinition) -> Option<(String, String)> {
        let LayerSource::Git { url, wanted } = &definition.source else { return None };
        let wanted = wanted.describe();
        let pairs = [("git", &self.git, url), ("", &self.wanted, &wanted), ("dir", &self.dir, &definition.dir)];
        if let Some((key, locked, wanted)) = pairs.into_iter().find(|(_, locked, wanted)| locked != wanted) {
            let words = |value: &str| format!("`{}`", format!("{key} {value}").trim_start());
            return Some((words(locked), words(wanted)));
        }
        let keys = &definition.signed_by;
        let is_signer = |signer: &str| keys.iter().any(|key| fingerprint(key).is_none_or(|known| known == signer));
        match &self.signer {
            Some(signer) if keys.is_empty() => Some((format!("the signer {signer}"), "no signature".to_owned())),
            Some(signer) if !is_signer(signer) => Some((format!("the signer {signer}"), "another one".to_owned())),
            None if !keys.is_empty() => Some(("no signer".to_owned(), "a signature".to_owned())),
            _ => None,
        }
    }

    /// Whether a content that was fetched came from where this says.
    pub fn is_from(&self, from: &Provenance) -> bool {
        let Provenance { git, tag, commit, signer, wanted: _, time: _ } = from;
        (git, tag, commit, signer) == (&self.git, &self.tag, &self.commit, &self.signer)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    #[serde(rename = "version")]
    _version: u64,
    #[serde(default)]
    layer: Vec<LockedLayer>,
}

impl LockFile {
    /// Reads the file of a workspace; an empty one if there is none.
    ///
    /// # Errors
    /// It has conflict marks, is of a later version, or is not a lock file.
    pub fn load(workspace: &dyn Files) -> Result<Self> {
        match workspace.stat(LOCK_FILE)? {
            None => Ok(Self::default()),
            Some(found) if found.size > MAX_BYTES => Err(wrong(format!("has more than {} kB", MAX_BYTES >> 10))),
            Some(_) => Self::parse(&text_from_bytes(LOCK_FILE, workspace.read(LOCK_FILE)?)?),
        }
    }

    /// Reads a text.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn parse(text: &str) -> Result<Self> {
        if let Some(line) = text.lines().position(|line| line.starts_with("<<<<<<<") || line.starts_with(">>>>>>>")) {
            return Err(wrong(format!("has conflict marks at line {}", line + 1))
                .help("keep the right `toolsd.toml`, delete `toolsd.lock`, then run `toolsd lock`"));
        }
        let version = toml::from_str::<toml::Table>(text).ok().and_then(|table| table.get("version")?.as_integer());
        if let Some(other) = version.filter(|version| *version != VERSION) {
            return Err(wrong(format!("is of version {other}, and this toolsd reads version {VERSION}"))
                .help("update toolsd to the version that your team uses"));
        }
        let written: Written = toml::from_str(text).map_err(|error| {
            let place = error.span().map(|span| Source::new(LOCK_FILE, text).place(span));
            let error = wrong(format!("is not a lock file: {}", error.message()));
            match place {
                Some(place) => error.at(place),
                None => error,
            }
        })?;
        if let Some(layer) = written.layer.iter().find(|layer| !is_hash(&layer.content)) {
            return Err(wrong(format!("has no hash as the content of layer {}", layer.name)));
        }
        Ok(Self { layers: written.layer })
    }

    /// The text of the file.
    pub fn to_text(&self) -> String {
        let mut text = format!("{HEAD}version = {VERSION}\n");
        for layer in &self.layers {
            text.push_str("\n[[layer]]\n");
            let fields = serde_json::to_value(layer).unwrap_or_default();
            for (key, value) in fields.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null()) {
                // A string of JSON is one of TOML, as names and addresses have no control characters.
                let _ = writeln!(text, "{key} = {value}");
            }
        }
        text
    }

    /// Whether a tag that was locked still names the same commit, whatever of the repository is wanted now.
    ///
    /// # Errors
    /// It names another one.
    pub fn check_moved(&self, name: &str, git: &str, tag: Option<&str>, commit: &str) -> Result<()> {
        match self
            .layer(name)
            .filter(|locked| locked.git == git && locked.tag.is_some() && locked.tag.as_deref() == tag)
        {
            Some(locked) if locked.commit != commit => {
                Err(moved_tag(name, tag.unwrap_or_default(), commit, &locked.commit))
            }
            _ => Ok(()),
        }
    }

    /// What is locked of a layer.
    ///
    /// # Errors
    /// Nothing, or not what `toolsd.toml` wants of it.
    pub fn find(&self, definition: &LayerDefinition) -> Result<&LockedLayer> {
        let name = &definition.name.value;
        let refused = |why: String| Err(Diagnostic::new(LAYER, why).help("run `toolsd lock`, which writes it"));
        let Some(locked) = self.layer(name) else { return refused(format!("`{LOCK_FILE}` has no layer {name}")) };
        match locked.difference(definition) {
            None => Ok(locked),
            Some((locked, wanted)) => {
                refused(format!("`{LOCK_FILE}` has {locked} of layer {name}, and `{SETTINGS_FILE}` wants {wanted}"))
            }
        }
    }

    /// The layer of this name.
    pub fn layer(&self, name: &str) -> Option<&LockedLayer> {
        self.layers.iter().find(|layer| layer.name == name)
    }
}

//= docs/spec.md#layers
//# A tag MUST be refused if it was moved since it was locked, or if no key of `signed_by` signed it under its own name.
/// The error for a tag that names another commit than before.
pub(super) fn moved_tag(layer: &str, tag: &str, now: &str, locked: &str) -> Box<Diagnostic> {
    let message =
        format!("tag {tag} of {layer} is commit {now} now, and `toolsd.lock` says {locked}: the tag was moved");
    Diagnostic::new(LAYER, message)
        .help(format!("ask its publisher why; `toolsd update {layer} --accept moved` takes it"))
}

/// Whether this is `blake3:` and 64 digits.
fn is_hash(content: &str) -> bool {
    let digits = content.strip_prefix("blake3:").unwrap_or_default();
    digits.len() == 64 && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn wrong(why: String) -> Box<Diagnostic> {
    Diagnostic::new(LAYER, format!("`{LOCK_FILE}` {why}")).help("`toolsd lock` writes it again from `toolsd.toml`")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_written_file_is_read_again() {
        let layer = LockedLayer {
            name: "team".to_owned(),
            git: "https://example.com/a\"b.git".to_owned(),
            wanted: "version ^2.3".to_owned(),
            dir: ".".to_owned(),
            tag: Some("v2.3.1".to_owned()),
            commit: "9a96".to_owned(),
            content: format!("blake3:{}", "7".repeat(64)),
            signer: None,
        };
        let lock = LockFile { layers: vec![layer] };
        assert_eq!(LockFile::parse(&lock.to_text()).unwrap(), lock);
    }

    #[test]
    fn what_is_wrong_with_a_file_is_reported_with_the_next_step() {
        let wrong = [
            ("version = 2\n", "is of version 2, and this toolsd reads version 1", "update toolsd"),
            ("version = 2\n[[new]]\n", "is of version 2, and this toolsd reads version 1", "update toolsd"),
            ("version = 1\n<<<<<<< HEAD\n", "has conflict marks at line 2", "delete `toolsd.lock`"),
            ("version = 1\nlayers = 3\n", "unknown field `layers`", "`toolsd lock` writes it again"),
            (
                "version = 1\n[[layer]]\nname='a'\ngit='b'\nwanted='c'\ndir='.'\ncommit='d'\ncontent='../x'\n",
                "has no hash",
                "writes it again",
            ),
            ("version = \n", "is not a lock file", "`toolsd lock` writes it again"),
        ];
        for (text, words, help) in wrong {
            let error = LockFile::parse(text).unwrap_err();
            assert!(error.message.contains(words), "{}", error.message);
            assert!(error.help.as_deref().unwrap().contains(help), "{:?}", error.help);
        }
    }
}
