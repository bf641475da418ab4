//! A git repository of packs: which tags it has, and the content of a commit of it.

use super::LAYER;
use super::commit::{checked, commit_content};
use super::fetched::{FetchedLayer, Provenance};
use super::lock_file::{LockedLayer, RESTORE_LOCK, moved_tag};
use super::signature::verify_tag;
use crate::definition::{LayerDefinition, WantedRevision};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::world::disk::UserGit;
use semver::{Version, VersionReq};
use std::collections::BTreeMap;

/// Where a fetched commit or tag is kept in the temporary repository.
const FETCHED: &str = "refs/toolsd/fetched";

/// Where the history of a branch is kept in it.
const HISTORY: &str = "refs/toolsd/history";

/// A repository, and a temporary one for what is fetched from it.
pub struct Remote {
    url: String,
    git: UserGit,
    /// The commit of each branch and tag, by the name that begins with `refs/`; a tag object is resolved.
    refs: BTreeMap<String, String>,
}

impl Remote {
    /// Asks a repository for its branches and tags.
    ///
    /// # Errors
    /// Git cannot reach it; the error has what git and ssh said.
    pub fn open(url: &str) -> Result<Self> {
        let git = UserGit::new()?;
        let listed = checked(git.run(&["ls-remote", "--heads", "--tags", "--", url], b"")?)?;
        let mut refs = BTreeMap::new();
        for line in String::from_utf8_lossy(&listed.stdout).lines() {
            if let Some((commit, name)) = line.split_once('\t') {
                // The commit of a tag object follows it, under the same name with a suffix.
                refs.insert(name.trim_end_matches("^{}").to_owned(), commit.to_owned());
            }
        }
        Ok(Self { url: url.to_owned(), git, refs })
    }

    /// The versions among the tags, the highest first, each with its tag. Prereleases are among them.
    pub fn versions(&self) -> Vec<(Version, String)> {
        let tags = self.names("refs/tags/").filter_map(|tag| Some((parse_version(tag)?, tag.to_owned())));
        let mut versions: Vec<(Version, String)> = tags.collect();
        versions.sort();
        versions.reverse();
        versions
    }

    /// The tag of the highest version that meets a requirement.
    pub fn highest(&self, wanted: &VersionReq) -> Option<String> {
        self.versions().into_iter().find(|(version, _)| wanted.matches(version)).map(|(_, tag)| tag)
    }

    /// What a name on the command line means: a tag, a branch, the hash of a commit, or a requirement such as `^1.0`.
    ///
    /// # Errors
    /// It is none of them; the error has the nearest name, or the commit that a part of a hash is of.
    pub fn resolve(&self, name: &str) -> Result<WantedRevision> {
        let key = [("refs/tags/", "tag"), ("refs/heads/", "branch")];
        let known = key.into_iter().find(|(begin, _)| self.refs.contains_key(&format!("{begin}{name}")));
        match known {
            Some((_, key)) => WantedRevision::parse(key, name),
            None if name.starts_with(['^', '~', '=', '>', '<', '*']) => WantedRevision::parse("version", name),
            None => WantedRevision::parse("rev", name).map_err(|_| self.unknown_revision(name)),
        }
    }

    fn unknown_revision(&self, name: &str) -> Box<Diagnostic> {
        let error = self.unknown("tag, branch or commit", name);
        if name.len() < 4 || !name.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return error;
        }
        let known = self.refs.iter().find(|(_, commit)| commit.starts_with(&name.to_lowercase()));
        let digits = match known {
            Some((place, commit)) => format!("{commit} begins with these, and is `{place}`"),
            None => format!("`git rev-parse {name}` in a clone shows them"),
        };
        error.help(format!("name a commit by all 40 digits of its hash: {digits}"))
    }

    /// The tag, and the commit, that a repository has now for what a layer wants.
    ///
    /// # Errors
    /// There is no such tag or branch, or no version that meets the requirement.
    pub fn current(&self, wanted: &WantedRevision) -> Result<(Option<String>, String)> {
        let commit_of = |name: String, what: &str, short: &str| {
            self.refs.get(&name).cloned().ok_or_else(|| self.unknown(what, short))
        };
        match wanted {
            WantedRevision::Commit(commit) => Ok((None, commit.clone())),
            WantedRevision::Branch(branch) => Ok((None, commit_of(format!("refs/heads/{branch}"), "branch", branch)?)),
            WantedRevision::Tag(tag) => Ok((Some(tag.clone()), commit_of(format!("refs/tags/{tag}"), "tag", tag)?)),
            WantedRevision::Version(version) => {
                let tag = self.highest(version).ok_or_else(|| {
                    let error = Diagnostic::new(LAYER, format!("no tag of `{}` meets `{version}`", self.url));
                    match self.versions().first() {
                        Some((highest, _)) => error.help(format!("the highest version is {highest}")),
                        None => error.help("its tags are not versions such as `v1.2.0`: name a `tag` or a `branch`"),
                    }
                })?;
                let commit = commit_of(format!("refs/tags/{tag}"), "tag", &tag)?;
                Ok((Some(tag), commit))
            }
        }
    }

    /// Brings what a layer wants now.
    ///
    /// # Errors
    /// As [`current`](Self::current); the tag is not signed by one of `signed_by`, if there are any; or the files
    /// cannot be a layer.
    pub fn fetch(&self, layer: &LayerDefinition, wanted: &WantedRevision) -> Result<FetchedLayer> {
        let (tag, commit) = self.current(wanted)?;
        self.bring(layer, wanted.describe(), tag, &commit)
    }

    /// Brings what is locked. If its tag was moved or removed, the locked commit is brought all the same, with a warning: what
    /// it must contain is known.
    ///
    /// # Errors
    /// The content is another one, the commit is not there any more, or as with [`fetch`](Self::fetch): with `signed_by`, a
    /// tag that was moved is refused, since the signature was that of the tag as it was.
    pub fn fetch_locked(
        &self,
        layer: &LayerDefinition,
        locked: &LockedLayer,
    ) -> Result<(FetchedLayer, Option<Diagnostic>)> {
        let moved = self.check_tag(locked).err();
        if let (Some(error), false) = (&moved, layer.signed_by.is_empty()) {
            return Err(error.clone());
        }
        let fetched = self.bring(layer, locked.wanted.clone(), locked.tag.clone(), &locked.commit);
        let fetched = fetched.map_err(|error| match &moved {
            Some(moved) => {
                Box::new(Diagnostic { message: format!("{}; {}", moved.message, error.message), ..*moved.clone() })
            }
            None => error,
        })?;
        if fetched.content.hash() != locked.content {
            let (name, found) = (&locked.name, fetched.content.hash());
            let message = format!(
                "layer {name} is not what `toolsd.lock` says: {} expected, {found} found in commit {}",
                locked.content, locked.commit
            );
            return Err(Diagnostic::new(LAYER, message).help(RESTORE_LOCK));
        }
        let taken = |error: Box<Diagnostic>| Diagnostic {
            message: format!("{}; the locked commit was taken", error.message),
            ..*error.warning()
        };
        Ok((fetched, moved.map(taken)))
    }

    /// Fails if the tag of a locked layer does not name the locked commit.
    fn check_tag(&self, locked: &LockedLayer) -> Result<()> {
        let Some(tag) = &locked.tag else { return Ok(()) };
        match self.refs.get(&format!("refs/tags/{tag}")) {
            Some(now) if *now == locked.commit => Ok(()),
            Some(now) => Err(moved_tag(&locked.name, tag, now, &locked.commit)),
            None => Err(self.unknown("tag", tag)),
        }
    }

    fn bring(
        &self,
        layer: &LayerDefinition,
        wanted: String,
        tag: Option<String>,
        commit: &str,
    ) -> Result<FetchedLayer> {
        let name = &layer.name.value;
        let (found, time) = self.download(tag.as_deref(), commit)?;
        if let Some(tag) = tag.as_ref().filter(|_| found != commit) {
            return Err(moved_tag(name, tag, &found, commit));
        }
        let signer = match (&tag, layer.signed_by.as_slice()) {
            (_, []) => None,
            (Some(tag), keys) => Some(verify_tag(&self.git, name, tag, FETCHED, keys)?),
            (None, _) => {
                let message = format!("layer {name} wants {wanted}, and `signed_by` is about tags");
                return Err(Diagnostic::new(LAYER, message).help("use `tag` or `version`, or remove `signed_by`"));
            }
        };
        let content = commit_content(&self.git, &found, &layer.dir).map_err(|error| {
            Box::new(Diagnostic { message: format!("layer {name}, commit {found}: {}", error.message), ..*error })
        })?;
        let provenance = Provenance { git: self.url.clone(), wanted, tag, commit: found, time, signer };
        Ok(FetchedLayer { content, provenance })
    }

    /// Fetches a tag that names a commit, otherwise the commit itself. Returns the commit that came, and its time in
    /// seconds since 1970.
    fn download(&self, tag: Option<&str>, commit: &str) -> Result<(String, i64)> {
        let tag = tag.map(|tag| format!("refs/tags/{tag}"));
        let tag = tag.filter(|tag| self.refs.get(tag).is_some_and(|now| now == commit));
        let refspec = format!("+{}:{FETCHED}", tag.as_deref().unwrap_or(commit));
        let fetched = self.git.run(&["fetch", "--quiet", "--depth=1", "--no-tags", "--", &self.url, &refspec], b"")?;
        if tag.is_some() || fetched.succeeded {
            checked(fetched)?;
        } else {
            // Some servers give a commit only as a part of a branch or a tag.
            let [heads, tags] = ["heads", "tags"].map(|kind| format!("+refs/{kind}/*:refs/toolsd/{kind}/*"));
            checked(self.git.run(&["fetch", "--quiet", "--no-tags", "--", &self.url, &heads, &tags], b"")?)?;
            if !self.git.run(&["update-ref", FETCHED, commit], b"")?.succeeded {
                let message = format!("no branch or tag of `{}` contains commit {commit}", self.url);
                let help = "compare all of its digits; if it was there before, ask its publisher to push it again";
                return Err(Diagnostic::new(Code("not-found"), message).help(help));
            }
        }
        let found = format!("{FETCHED}^{{commit}}");
        let found =
            checked(self.git.run(&["log", "-1", "--no-show-signature", "--format=%H %ct", &found, "--"], b"")?)?;
        let found = String::from_utf8_lossy(&found.stdout);
        let (commit, time) = found.trim().split_once(' ').unwrap_or_default();
        Ok((commit.to_owned(), time.parse().unwrap_or(0)))
    }

    /// Whether the history of a branch contains a commit. Only commits are fetched, if the server can omit the rest.
    ///
    /// # Errors
    /// Git cannot fetch the branch.
    pub fn contains(&self, branch: &str, commit: &str) -> Result<bool> {
        let refspec = format!("+refs/heads/{branch}:{HISTORY}");
        // All of it, although what was fetched before has no parents here.
        let all = "--depth=2147483647";
        let words = ["fetch", "--quiet", all, "--filter=tree:0", "--no-tags", "--", &self.url, &refspec];
        checked(self.git.run(&words, b"")?)?;
        // It fails, too, where the commit is not there at all.
        Ok(self.git.run(&["merge-base", "--is-ancestor", commit, HISTORY], b"")?.succeeded)
    }

    fn names<'a>(&'a self, begin: &'a str) -> impl Iterator<Item = &'a str> + Clone {
        self.refs.keys().filter_map(move |name| name.strip_prefix(begin))
    }

    fn unknown(&self, what: &str, name: &str) -> Box<Diagnostic> {
        let known = self.names("refs/tags/").chain(self.names("refs/heads/"));
        let error = Diagnostic::new(Code("not-found"), format!("`{}` has no {what} `{name}`", self.url));
        let newest = match self.versions().first() {
            Some((_, tag)) => format!("its newest version is the tag `{tag}`"),
            None => "`git ls-remote` lists what it has".to_owned(),
        };
        error.help_for(name, known, &newest)
    }
}

/// `v1.2.3` or `1.2.3` as a version; `None` for another tag.
pub fn parse_version(tag: &str) -> Option<Version> {
    Version::parse(tag.strip_prefix('v').unwrap_or(tag)).ok()
}
