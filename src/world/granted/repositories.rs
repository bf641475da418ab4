//! Which repositories a pack may use, and what git may touch while it runs for it.

use super::Granted;
use super::grants::{ALL_BELOW, enclosing_folders};
use super::judging::widened;
use super::protected::protected_part;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::world::repository::{Done, Repository, is_repository};
use crate::world::run::{Changed, Command, Confinement, Contents, Git, Needs};
use crate::world::{EntryKind, path};

/// Files that decide what git says of others. What they hold it does not show.
const DECIDING: [&str; 2] = [".gitattributes", ".gitignore"];

/// The files above a place that decide what git says of it.
fn deciding(place: &str, top: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut folder = place;
    while folder != top && path::is_below(folder, top) {
        folder = path::folder(folder);
        found.extend(DECIDING.map(|name| path::join(folder, name)));
    }
    found
}

impl Granted {
    /// Whether a normal path lies below no root: neither that of the pack nor one that the user granted.
    pub(super) fn is_foreign(&self, normal: &str) -> bool {
        !path::is_below(normal, ".") && !self.rules.roots.iter().any(|root| path::is_below(normal, root))
    }

    /// The folder on the way to a path that git takes for a repository, or would with this path: what it looks for is there.
    /// The root itself is none: whoever starts the host there wants to work in it.
    pub(super) fn repository_around<'a>(&self, normal: &'a str) -> Option<&'a str> {
        let is_there = |at: &str| matches!(self.world.stat(at), Ok(Some(_)));
        let above = normal.match_indices('/').map(|(at, _)| (&normal[..at], &normal[at + 1..]));
        let found = above.into_iter().filter(|(folder, _)| !folder.is_empty()).find(|(folder, rest)| {
            let next = rest.split('/').next().unwrap_or_default();
            // Most names are none of these: nothing is asked of the system then.
            is_repository(|name| name.eq_ignore_ascii_case(next) || is_there(&path::join(folder, name)))
        });
        found.map(|(folder, _)| folder)
    }

    /// The repository of a folder that the pack may look at.
    pub(super) fn chosen_repository(&self, folder: &str, needs: Needs) -> Result<Repository> {
        self.check_folder(folder)?;
        if self.rules.allowed.git == Git::None {
            let grant = match needs {
                Needs::WriteGit => "write",
                Needs::FetchGit => "fetch",
                Needs::ReadGit | Needs::Program => "read",
            };
            return Err(Diagnostic::new(Code::WORLD, "the pack may not use git")
                .help(format!("allow it in `[pack]` by `grants = {{ git = {grant:?} }}`")));
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
        self.give_contents(&mut command.confinement, &repository.top)?;
        if command.needs != Needs::ReadGit && command.confinement.changed != Changed::None {
            let mut granted = self.parts(&self.rules.allowed.write, &repository.top);
            if let Changed::Files(changed) | Changed::Around(changed) = &command.confinement.changed {
                // A working tree is made, and taken away, beside the one that git runs in, too.
                for file in changed.iter().filter(|file| !path::is_below(file, &repository.top)) {
                    granted.extend(self.parts(&self.rules.allowed.write, path::folder(file)));
                }
                changed.iter().try_for_each(|file| self.check_replaced(file, &granted))?;
            }
            command.confinement.write.extend(granted);
        }
        self.world.run_git(&command, Some(repository), settings)
    }

    fn parts(&self, grants: &[String], top: &str) -> Vec<String> {
        enclosing_folders(self.world.as_ref(), grants, &self.rules.roots, top)
    }

    //= docs/spec.md#git
    //# Git MUST be kept by the system from reading a file of the working tree for a pack that no grant to read covers.
    /// Gives git the files that it may read. It follows a folder that becomes a link while it works: what such a link
    /// leads to is not among them.
    fn give_contents(&self, confinement: &mut Confinement, top: &str) -> Result<()> {
        if confinement.contents == Contents::All || self.covers(&path::join(top, ALL_BELOW)) {
            confinement.read.push(top.to_owned());
            return Ok(());
        }
        let places = match &confinement.contents {
            Contents::Of(places) => {
                places.iter().try_for_each(|place| self.check_read_below(place))?;
                places.clone()
            }
            _ => self.parts(&self.rules.allowed.read, top),
        };
        confinement.list.push(top.to_owned());
        for place in &places {
            confinement.read.extend(deciding(place, top));
        }
        confinement.read.extend(places);
        confinement.read.sort_unstable();
        confinement.read.dedup();
        Ok(())
    }

    //= docs/spec.md#git
    //# A verb that puts a file anew in its place MUST be refused before it begins if the grants to write cover the file and not its folder.
    /// Git never writes into a file that is there: it removes it and makes another one, which changes the folder.
    fn check_replaced(&self, file: &str, granted: &[String]) -> Result<()> {
        let folder = path::folder(file);
        if granted.iter().any(|part| part != file && path::is_below(folder, part)) {
            return Ok(());
        }
        let message = format!("git would make `{file}` anew in its folder, and the pack may write the file alone");
        let folder = self.normal(folder);
        Err(Diagnostic::new(Code::WORLD, message).help(widened("write", &self.rules.allowed.write, &folder)))
    }

    /// Whether grants cover a file, or all of a folder: then they cover a name in it that nobody has thought of.
    pub(super) fn check_read_below(&self, path: &str) -> Result<()> {
        self.check_effect(path)?;
        let is_folder = self.world.stat(path)?.is_some_and(|stat| stat.entry == EntryKind::Folder);
        let covered = match is_folder {
            true => self.covers(&path::join(path, ALL_BELOW)),
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
