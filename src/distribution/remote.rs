//! A git repository of packs: which tags it has, and the content of a commit of it.

use super::LAYER;
use super::content::LayerContent;
use super::fetched::{FetchedLayer, Provenance};
use super::lock_file::LockedLayer;
use super::signature::verify_tag;
use crate::definition::WantedRevision;
use crate::diagnostic::{Code, Diagnostic, Result, did_you_mean};
use crate::registry::FOLDERS;
use crate::world::disk::{UserGit, UserGitOutput};
use crate::world::path;
use semver::{Version, VersionReq};
use std::collections::BTreeMap;

/// Where a fetched commit or tag is kept in the temporary repository.
const FETCHED: &str = "refs/toolsd/fetched";

/// The modes of `git ls-tree` of what is not a plain file.
const SYMLINK_MODE: &str = "120000";
const SUBMODULE_MODE: &str = "160000";

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
    /// Git cannot reach it; the error has the last line of git.
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

    /// What a name on the command line means: a tag, a branch or the hash of a commit.
    ///
    /// # Errors
    /// It is none of them; the error has the nearest name.
    pub fn resolve(&self, name: &str) -> Result<WantedRevision> {
        let key = [("refs/tags/", "tag"), ("refs/heads/", "branch")];
        let known = key.into_iter().find(|(begin, _)| self.refs.contains_key(&format!("{begin}{name}")));
        match known {
            Some((_, key)) => WantedRevision::parse(key, name),
            None => WantedRevision::parse("rev", name).map_err(|_| self.unknown("tag, branch or commit", name)),
        }
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
    pub fn fetch(&self, name: &str, wanted: &WantedRevision, dir: &str, signed_by: &[String]) -> Result<FetchedLayer> {
        let (tag, commit) = self.current(wanted)?;
        self.bring(name, wanted.describe(), tag, &commit, dir, signed_by)
    }

    /// Brings what is locked.
    ///
    /// # Errors
    /// The tag was moved, the content is another one, or as with [`fetch`](Self::fetch).
    pub fn fetch_locked(&self, locked: &LockedLayer, signed_by: &[String]) -> Result<FetchedLayer> {
        if let Some(tag) = &locked.tag {
            let (name, now) = (&locked.name, self.refs.get(&format!("refs/tags/{tag}")));
            match now {
                Some(now) if *now == locked.commit => {}
                Some(now) => return Err(moved_tag(name, tag, now, &locked.commit)),
                None => return Err(self.unknown("tag", tag)),
            }
        }
        let (wanted, tag) = (locked.wanted.clone(), locked.tag.clone());
        let fetched = self.bring(&locked.name, wanted, tag, &locked.commit, &locked.dir, signed_by)?;
        match fetched.content.hash() == locked.content {
            true => Ok(fetched),
            false => {
                let (name, found) = (&locked.name, fetched.content.hash());
                let message = format!(
                    "layer {name} is not what `toolsd.lock` says: {} expected, {found} found in commit {}",
                    locked.content, locked.commit
                );
                Err(Diagnostic::new(LAYER, message)
                    .help("the lock file was changed by hand, or for another `dir`: run `toolsd lock`"))
            }
        }
    }

    fn bring(
        &self,
        name: &str,
        wanted: String,
        tag: Option<String>,
        commit: &str,
        dir: &str,
        signed_by: &[String],
    ) -> Result<FetchedLayer> {
        let from = tag.as_ref().map_or_else(|| commit.to_owned(), |tag| format!("refs/tags/{tag}"));
        let refspec = format!("+{from}:{FETCHED}");
        let arguments = ["fetch", "--quiet", "--depth=1", "--no-tags", "--", &self.url, &refspec];
        checked(self.git.run(&arguments, b"")?)?;
        let found = checked(self.git.run(&["rev-parse", "--verify", &format!("{FETCHED}^{{commit}}")], b"")?)?;
        let found = String::from_utf8_lossy(&found.stdout).trim().to_owned();
        if let Some(tag) = tag.as_ref().filter(|_| found != commit) {
            return Err(moved_tag(name, tag, &found, commit));
        }
        let signer = match (&tag, signed_by) {
            (_, []) => None,
            (Some(tag), keys) => Some(verify_tag(&self.git, name, tag, FETCHED, keys)?),
            (None, _) => {
                let message = format!("layer {name} wants {wanted}, and `signed_by` is about tags");
                return Err(Diagnostic::new(LAYER, message).help("use `tag` or `version`, or remove `signed_by`"));
            }
        };
        let time = checked(self.git.run(&["show", "--no-patch", "--format=%ct", &found], b"")?)?;
        let time = String::from_utf8_lossy(&time.stdout).trim().parse().unwrap_or(0);
        let content = self.content(&found, dir).map_err(|error| {
            Box::new(Diagnostic { message: format!("layer {name}, commit {found}: {}", error.message), ..*error })
        })?;
        let provenance = Provenance { git: self.url.clone(), wanted, tag, commit: found, time, signer };
        Ok(FetchedLayer { content, provenance })
    }

    /// The files of a commit, as it has them: no attribute of the repository, and no setting, changes their bytes.
    fn content(&self, commit: &str, dir: &str) -> Result<LayerContent> {
        let dir = path::clean(dir);
        let folders = FOLDERS.map(|folder| path::clean(&path::join(&dir, folder)));
        let mut arguments = vec!["ls-tree", "-r", "-z", "--full-tree", commit, "--"];
        arguments.extend(folders.iter().map(String::as_str));
        let listed = checked(self.git.run(&arguments, b"")?)?;
        let (mut paths, mut objects) = (Vec::new(), String::new());
        for entry in listed.stdout.split(|byte| *byte == 0).filter(|entry| !entry.is_empty()) {
            let entry = std::str::from_utf8(entry)
                .map_err(|_| Diagnostic::new(LAYER, "a file has a name that is not UTF-8".to_owned()))?;
            let Some((head, path)) = entry.split_once('\t') else { continue };
            let mut words = head.split(' ');
            let (mode, object) = (words.next().unwrap_or_default(), words.nth(1).unwrap_or_default());
            let what = match mode {
                SYMLINK_MODE => "a symlink",
                SUBMODULE_MODE => "a submodule",
                _ => {
                    let below = path::relative(path, &dir).unwrap_or_else(|| path.to_owned());
                    paths.push(below);
                    objects.push_str(object);
                    objects.push('\n');
                    continue;
                }
            };
            return Err(Diagnostic::new(LAYER, format!("`{path}` is {what}: a layer has plain files")));
        }
        let printed = checked(self.git.run(&["cat-file", "--batch"], objects.as_bytes())?)?;
        let blobs = read_batch(&printed.stdout).filter(|blobs| blobs.len() == paths.len());
        let blobs = blobs.ok_or_else(|| Diagnostic::new(LAYER, "git did not print all files".to_owned()))?;
        LayerContent::new(paths.into_iter().zip(blobs))
    }

    fn names<'a>(&'a self, begin: &'a str) -> impl Iterator<Item = &'a str> + Clone {
        self.refs.keys().filter_map(move |name| name.strip_prefix(begin))
    }

    fn unknown(&self, what: &str, name: &str) -> Box<Diagnostic> {
        let known = self.names("refs/tags/").chain(self.names("refs/heads/"));
        let error = Diagnostic::new(Code("not-found"), format!("`{}` has no {what} `{name}`", self.url));
        let newest = || match self.versions().first() {
            Some((_, tag)) => format!("its newest version is the tag `{tag}`"),
            None => "`git ls-remote` lists what it has".to_owned(),
        };
        error.help(did_you_mean(name, known).unwrap_or_else(newest))
    }
}

/// Reads the contents that `git cat-file --batch` prints.
fn read_batch(mut bytes: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut blobs = Vec::new();
    while !bytes.is_empty() {
        let end = bytes.iter().position(|byte| *byte == b'\n')?;
        let (head, rest) = bytes.split_at_checked(end)?;
        let size: usize = std::str::from_utf8(head).ok()?.rsplit(' ').next()?.parse().ok()?;
        let (blob, rest) = rest.get(1..)?.split_at_checked(size)?;
        blobs.push(blob.to_vec());
        bytes = rest.get(1..)?;
    }
    Some(blobs)
}

/// `v1.2.3` or `1.2.3` as a version.
fn parse_version(tag: &str) -> Option<Version> {
    Version::parse(tag.strip_prefix('v').unwrap_or(tag)).ok()
}

/// Fails if git did, with its last line.
pub(super) fn checked(output: UserGitOutput) -> Result<UserGitOutput> {
    if output.succeeded {
        return Ok(output);
    }
    let mut lines = output.stderr.lines().map(str::trim).filter(|line| !line.is_empty());
    // What explains the most is the line of the cause, not the advice that follows it.
    let cause = lines.clone().find(|line| line.starts_with("fatal:") || line.starts_with("error:"));
    let cause = cause.or_else(|| lines.next_back()).unwrap_or("git printed no reason").to_owned();
    let help = format!("toolsd ran `{}`: the same command in your shell shows whether git may read it", output.command);
    Err(Diagnostic::new(Code("git"), cause).help(help))
}

//= docs/spec.md#layers
//# A tag MUST be refused if it was moved since it was locked, or if no key of `signed_by` signed it under its
//# own name.
fn moved_tag(layer: &str, tag: &str, now: &str, locked: &str) -> Box<Diagnostic> {
    let message =
        format!("tag {tag} of {layer} is commit {now} now, and `toolsd.lock` says {locked}: the tag was moved");
    Diagnostic::new(LAYER, message)
        .help(format!("ask its publisher why; `toolsd update {layer} --accept moved` takes it"))
}
