//! A stamp of everything that git's answers about a folder depend on, except the files in it, taken without running
//! git.

use super::discovery::named_text;
use super::settings;
use crate::world::disk::read::read_small;
use crate::world::path;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, SystemTime};

/// What changed more lately may change again without another time of modification.
const MTIME_RESOLUTION: Duration = Duration::from_millis(100);
/// A larger `.gitmodules` is not looked into.
const MAX_GITMODULES_BYTES: u64 = 1 << 20;
/// Folders of refs that are looked into, at most.
const MAX_REF_FOLDERS: usize = 2_000;

/// The stamp while it is computed.
struct GitStamp {
    hasher: blake3::Hasher,
    now: SystemTime,
    /// Whether times cannot show that something is unchanged.
    unsure: bool,
    folders: usize,
}

/// Returns a text that changes whenever one of these changes: the repository that contains `root`, the user's
/// configuration of git, and the ignore and attribute files from its top down to these folders. Without a repository it
/// records that. `None` if it cannot be determined: something changed just now.
pub(in crate::world::disk) fn stamp(root: &str, folders: &[&str]) -> Option<String> {
    let (hasher, unsure) = (blake3::Hasher::new(), false);
    let mut stamp = GitStamp { hasher, now: SystemTime::now(), unsure, folders: 0 };
    let mut above = root;
    let top = loop {
        let marker = path::join(above, ".git");
        stamp.file(&marker);
        if fs::symlink_metadata(&marker).is_ok() {
            break Some((above, marker));
        }
        if above == "/" {
            break None;
        }
        above = path::folder(above);
    };
    if let Some((top, marker)) = top {
        stamp.repository(top, &marker);
        let mut seen: Vec<String> = Vec::new();
        for folder in folders {
            let mut at = path::clean(&path::join(root, folder));
            while path::is_below(&at, top) && !seen.contains(&at) {
                stamp.file(&path::join(&at, ".gitignore"));
                stamp.file(&path::join(&at, ".gitattributes"));
                seen.push(at.clone());
                at = path::folder(&at).to_owned();
            }
        }
    }
    stamp.user();
    (!stamp.unsure).then(|| stamp.hasher.finalize().to_hex()[..32].to_owned())
}

impl GitStamp {
    /// A file or a folder; its absence counts too.
    fn file(&mut self, path: &str) {
        self.hasher.update(path.as_bytes()).update(&[0]);
        match fs::metadata(path) {
            Ok(known) => {
                for number in [known.ino(), known.size(), known.dev()] {
                    self.hasher.update(&number.to_le_bytes());
                }
                for number in [known.mtime(), known.mtime_nsec(), known.ctime(), known.ctime_nsec()] {
                    self.hasher.update(&number.to_le_bytes());
                }
                let age = known.modified().ok().and_then(|modified| self.now.duration_since(modified).ok());
                self.unsure |= age.is_none_or(|age| age < MTIME_RESOLUTION);
            }
            Err(error) => {
                self.hasher.update(&[1]);
                self.unsure |= !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory);
            }
        }
    }

    fn repository(&mut self, top: &str, marker: &str) {
        // The work tree of another repository, or a submodule, names the folder in a file.
        let mut named = |path: &str, word: &str| {
            if fs::symlink_metadata(path).is_ok_and(|found| found.is_dir()) {
                return None;
            }
            let read = named_text(path, word);
            self.unsure |= read.is_err();
            read.ok().flatten()
        };
        let own = named(marker, "gitdir:").map_or_else(|| marker.to_owned(), |given| path::join(top, &given));
        let common =
            named(&path::join(&own, "commondir"), "").map_or_else(|| own.clone(), |given| path::join(&own, &given));
        for name in ["HEAD", "index", "config.worktree", "commondir", "info/sparse-checkout"] {
            self.file(&path::join(&own, name));
        }
        for name in ["config", "packed-refs", "info/exclude", "info/attributes", "reftable/tables.list"] {
            self.file(&path::join(&common, name));
        }
        for name in ["refs/heads", "refs/remotes", "refs/replace"] {
            self.refs(&path::join(&common, name));
        }
        self.submodules(&path::join(&own, "modules"));
        self.submodules_in_place(top);
    }

    /// The same of submodules that have their repository where they are.
    fn submodules_in_place(&mut self, top: &str) {
        let file = path::join(top, ".gitmodules");
        self.file(&file);
        let read = read_small(&file, MAX_GITMODULES_BYTES);
        self.unsure |= read.is_err();
        let text = read.ok().flatten().unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let named = text.lines().filter_map(|line| line.trim().strip_prefix("path")?.trim_start().strip_prefix('='));
        for named in named.map(|name| name.trim().trim_matches('"')) {
            let marker = path::clean(&path::join(&path::join(top, named), ".git"));
            self.file(&marker);
            if path::is_below(&marker, top) && fs::symlink_metadata(&marker).is_ok_and(|found| found.is_dir()) {
                self.commit_of(&marker);
            }
        }
    }

    /// At which commit a repository is.
    fn commit_of(&mut self, git_dir: &str) {
        for name in ["HEAD", "packed-refs"] {
            self.file(&path::join(git_dir, name));
        }
        self.refs(&path::join(git_dir, "refs/heads"));
    }

    /// Which commits the submodules are at: git reports one that moved. Their folders are nested as their names are.
    fn submodules(&mut self, folder: &str) {
        for inner in self.folders_in(folder) {
            if fs::symlink_metadata(path::join(&inner, "HEAD")).is_err() {
                self.submodules(&inner);
                continue;
            }
            self.commit_of(&inner);
            self.submodules(&path::join(&inner, "modules"));
        }
    }

    /// A ref is written to a new file and renamed: that changes its folder.
    fn refs(&mut self, folder: &str) {
        for inner in self.folders_in(folder) {
            self.refs(&inner);
        }
    }

    /// The folders in a folder, in order; that one counts itself.
    fn folders_in(&mut self, folder: &str) -> Vec<String> {
        self.folders += 1;
        if self.folders > MAX_REF_FOLDERS {
            self.unsure = true;
            return Vec::new();
        }
        self.file(folder);
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let inner = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        let mut inner: Vec<String> =
            inner.filter_map(|entry| entry.path().into_os_string().into_string().ok()).collect();
        inner.sort_unstable();
        inner
    }

    fn user(&mut self) {
        settings::usual_files().iter().for_each(|file| self.file(file));
        if let Some(folder) = settings::config_folder() {
            self.file(&path::join(&folder, "git/ignore"));
            self.file(&path::join(&folder, "git/attributes"));
        }
    }
}
