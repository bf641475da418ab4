//! A layer as it came from its repository: its files, and where they are from.

use super::content::LayerContent;
use serde::{Deserialize, Serialize};

/// A layer as it came from its repository.
#[derive(Clone, Debug)]
pub struct FetchedLayer {
    /// Its files.
    pub content: LayerContent,
    /// Where they are from.
    pub provenance: Provenance,
}

/// Where a content is from: what git and its signature said when it was fetched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provenance {
    /// The address of the repository.
    pub git: String,
    /// What was wanted of it, as in `version ^2.3`.
    pub wanted: String,
    /// The tag by which it was found, if there is one.
    pub tag: Option<String>,
    /// The commit.
    pub commit: String,
    /// The time of the commit, in seconds since 1970-01-01T00:00:00Z.
    pub time: i64,
    /// The fingerprint of the key that signed the tag, if that was checked.
    pub signer: Option<String>,
}

impl Provenance {
    /// Which one of the repository it is, as in `tag v2.3.0` or `branch main at 1a2b3c4`.
    pub fn label(&self) -> String {
        label(self.tag.as_deref(), &self.wanted, &self.commit)
    }
}

/// Which one of a repository a commit is: two commits of a branch have different labels.
pub(super) fn label(tag: Option<&str>, wanted: &str, commit: &str) -> String {
    match tag {
        Some(tag) => format!("tag {tag}"),
        None if wanted.contains(commit) => wanted.to_owned(),
        None => format!("{wanted} at {}", commit.get(..7).unwrap_or(commit)),
    }
}
