//! What a commit holds: the files of a layer, or a single file, as they are in it.

use super::LAYER;
use super::content::LayerContent;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::registry::FOLDERS;
use crate::world::disk::{UserGit, UserGitOutput};
use crate::world::path;

/// The modes of `git ls-tree` of what is not a plain file.
const SYMLINK_MODE: &str = "120000";
const SUBMODULE_MODE: &str = "160000";

/// A commit of the repository that the user works in.
pub struct Revision {
    git: UserGit,
    /// Its hash.
    pub commit: String,
    /// The folder, from the root of the repository.
    prefix: String,
}

impl Revision {
    /// Finds a commit by a name such as `origin/main`, in the repository that contains a folder.
    ///
    /// # Errors
    /// There is no repository, or no such commit.
    pub fn open(folder: &str, name: &str) -> Result<Self> {
        let git = UserGit::of_folder(folder);
        let prefix = checked(git.run(&["rev-parse", "--show-prefix"], b"")?)?;
        let commit = format!("{name}^{{commit}}");
        let found = checked(git.run(&["rev-parse", "--verify", "--end-of-options", &commit], b"")?)?;
        let text = |output: &UserGitOutput| String::from_utf8_lossy(&output.stdout).trim().to_owned();
        Ok(Self { commit: text(&found), prefix: text(&prefix), git })
    }

    /// The bytes of a file below the folder; `None` if the commit does not have it.
    ///
    /// # Errors
    /// Git cannot read it.
    pub fn file(&self, file: &str) -> Result<Option<Vec<u8>>> {
        let path = path::clean(&path::join(&self.prefix, file));
        if !self.has(&path)? {
            return Ok(None);
        }
        let found = self.git.run(&["cat-file", "blob", &format!("{}:{path}", self.commit)], b"")?;
        checked(found).map(|found| Some(found.stdout))
    }

    /// The files of a layer in `dir`, a folder relative to the folder; `None` if the commit has none there.
    ///
    /// # Errors
    /// They cannot be a layer.
    pub fn content(&self, dir: &str) -> Result<Option<LayerContent>> {
        let dir = path::clean(&path::join(&self.prefix, dir));
        match self.has(&path::clean(&path::join(&dir, FOLDERS[0])))? {
            true => commit_content(&self.git, &self.commit, &dir).map(Some),
            false => Ok(None),
        }
    }

    /// Whether the commit has a file or folder at a path from the root of the repository: its trees list it, even where
    /// a partial clone lacks the file.
    fn has(&self, path: &str) -> Result<bool> {
        let listed = self.git.run(&["ls-tree", "-z", "--full-tree", &self.commit, "--", path], b"")?;
        Ok(!checked(listed)?.stdout.is_empty())
    }
}

/// The files of a commit, as it has them: no attribute of the repository, and no setting, changes their bytes.
pub(super) fn commit_content(git: &UserGit, commit: &str, dir: &str) -> Result<LayerContent> {
    let dir = path::clean(dir);
    let folders = FOLDERS.map(|folder| path::clean(&path::join(&dir, folder)));
    let mut arguments = vec!["ls-tree", "-r", "-z", "--full-tree", commit, "--"];
    arguments.extend(folders.iter().map(String::as_str));
    let listed = checked(git.run(&arguments, b"")?)?;
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
    let printed = checked(git.run(&["cat-file", "--batch"], objects.as_bytes())?)?;
    let blobs = read_batch(&printed.stdout).filter(|blobs| blobs.len() == paths.len());
    let blobs = blobs.ok_or_else(|| Diagnostic::new(LAYER, "git did not print all files".to_owned()))?;
    LayerContent::new(paths.into_iter().zip(blobs))
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

/// Fails if git did, with all that it said: the cause may be a line of ssh, or of the server.
pub(super) fn checked(output: UserGitOutput) -> Result<UserGitOutput> {
    if output.succeeded {
        return Ok(output);
    }
    let lines: Vec<&str> = output.stderr.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let said = if lines.is_empty() { "git printed no reason".to_owned() } else { lines.join(" ") };
    let help = format!("toolsd ran `{}`: the same command in your shell shows whether git may read it", output.command);
    Err(Diagnostic::new(Code("git"), said).help(help))
}
