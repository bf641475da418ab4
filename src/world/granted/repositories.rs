//! Which repositories a pack may use, and what git may touch while it runs for it.

use super::Granted;
use super::grants::enclosing_folders;
use super::protected::protected_part;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::world::repository::{Done, Repository};
use crate::world::run::{Command, Git, Needs};
use crate::world::{EntryKind, path};

impl Granted {
    /// Whether a normal path lies below no root: neither that of the pack nor one that the user granted.
    pub(super) fn is_foreign(&self, normal: &str) -> bool {
        !path::is_below(normal, ".") && !self.rules.roots.iter().any(|root| path::is_below(normal, root))
    }

    /// The repository of a folder that the pack may look at.
    pub(super) fn chosen_repository(&self, folder: &str, needs: Needs) -> Result<Repository> {
        self.check_look(folder)?;
        if self.rules.allowed.git == Git::None {
            return Err(Diagnostic::new(Code::WORLD, "the pack may not use git")
                .help("allow it in `[pack]` by `grants = { git = \"read\" }`"));
        }
        let repository = self.world.repository(folder, needs)?;
        self.check_repository(folder, &repository)?;
        Ok(repository)
    }

    /// Runs git with what the pack was granted of the working tree.
    pub(super) fn run_git_confined(
        &self,
        command: &Command,
        repository: Option<&Repository>,
        settings: &[(String, String)],
    ) -> Result<Done> {
        let Some(repository) = repository else { return self.world.run_git(command, None, settings) };
        self.check_repository(&command.folder, repository)?;
        let mut command = command.clone();
        let allowed = &self.rules.allowed;
        let folders =
            |grants: &[String]| enclosing_folders(self.world.as_ref(), grants, &self.rules.roots, &repository.top);
        // Git reads its ignore and attribute files and compares what it knows with what is there: of a part it would tell
        // something else. Which contents a script may see was checked before: see `may_read`.
        command.confinement.read.push(repository.top.clone());
        if command.needs != Needs::ReadGit {
            command.confinement.write.extend(folders(&allowed.write));
        }
        self.world.run_git(&command, Some(repository), settings)
    }

    /// Whether grants cover a file, or all of a folder: then they cover a name in it that nobody has thought of.
    pub(super) fn check_read_below(&self, path: &str) -> Result<()> {
        self.check_effect(path)?;
        let is_folder = self.world.stat(path)?.is_some_and(|stat| stat.entry == EntryKind::Folder);
        let covered = match is_folder {
            true => self.covers(&path::join(path, "\u{1}/\u{1}")),
            false => self.covers(path),
        };
        if covered { Ok(()) } else { Err(self.refused(path, "read", &self.rules.allowed.read)) }
    }

    //= docs/spec.md#git
    //# A repository of which the grants of the pack to write cover any part MUST be refused.
    fn check_repository(&self, folder: &str, repository: &Repository) -> Result<()> {
        let parts = [&repository.git_dir, &repository.common_dir];
        for part in parts.into_iter().chain(&repository.elsewhere) {
            let normal = self.normal(part);
            if protected_part(&normal).is_none() && self.rules.write.may_match_below(&normal) {
                let message = format!("`{folder}` is no repository: the pack may write `{part}`, which it is made of");
                return Err(Diagnostic::new(Code::WORLD, message)
                    .help("a repository lies in a folder `.git`, which no grant to write covers"));
            }
        }
        self.check_borrowed(folder, repository)
    }

    //= docs/spec.md#git
    //# A repository, and an object store, that only a file names MUST lie where the pack may ask git itself.
    /// Refuses what a file of the workspace names for git: whoever wrote that has no say in what the pack may see. A working
    /// tree that its repository names in turn was made by git, for a person who wanted it.
    fn check_borrowed(&self, folder: &str, repository: &Repository) -> Result<()> {
        let is_own = repository.is_named_back || path::is_below(&repository.git_dir, &repository.top);
        let parts = [&repository.git_dir, &repository.common_dir].into_iter().filter(|_| !is_own);
        for part in parts.chain(&repository.elsewhere) {
            let owner = part.split_once("/.git/").map(|(owner, _)| owner).or_else(|| part.strip_suffix("/.git"));
            let owner = owner.unwrap_or(part);
            if self.check_look(owner).is_err() {
                let message = format!("`{folder}` has its history in `{part}`, where the pack may read nothing");
                return Err(Diagnostic::new(Code::WORLD, message)
                    .help(format!("grant it to read in `{owner}`, or name a repository of its own")));
            }
        }
        Ok(())
    }
}
