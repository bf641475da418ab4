//! A view that limits a world to what the pack was granted and its definition declares.

mod programs;
#[cfg(test)]
mod tests;

use super::effects::{Ambient, FileChange, FilePolicy, Files, GRANT_ROOT, LockAttempt, Programs, TargetState, World};
use super::grants::{
    ALL_BELOW, CompiledGrants, GrantedAccess, SECRET_VARIABLES, below_root, describe_missing_grant, protected_part,
    system_folder, undeclared,
};
use super::path;
use super::repository::{Repository, is_repository};
use super::run::{GitAccess, ProgramCommand, ProgramFile, ProgramOutput, RequiredGrant};
use super::secret_values::{redact_bytes, remember_secret};
use super::staging::StagedWrites;
use super::variable_grant::is_secret_variable;
use super::walk::{self, EntryKind, FolderEntry, Stat, WalkOptions, WalkResult};
use crate::diagnostic::{Code, Diagnostic, Result};
use std::borrow::Cow;
use std::sync::Arc;

/// A world limited to the grants of a pack.
pub struct GrantedWorld {
    world: Arc<dyn World>,
    rules: Arc<CompiledGrants>,
}

impl GrantedWorld {
    /// Limits `world`. A grant that is not a valid glob is an error; one that names an unset variable grants nothing.
    pub fn new(world: Arc<dyn World>, allowed: GrantedAccess) -> Result<Self> {
        let rules = Arc::new(CompiledGrants::new(world.as_ref(), allowed)?);
        //= docs/spec.md#roots
        //# A grant MUST be checked on the file that was opened, whatever name or symlink led to it.
        let world = world.with_policy(Arc::clone(&rules) as Arc<dyn FilePolicy>)?;
        Ok(Self { world, rules })
    }

    /// The same grants over a view of [`inner`](Self::inner).
    #[must_use]
    pub fn with_world(&self, world: Arc<dyn World>) -> Self {
        Self { world, rules: Arc::clone(&self.rules) }
    }

    /// The world under the view: not limited by names, but with these grants as its policy for symlinks.
    pub fn inner(&self) -> &Arc<dyn World> {
        &self.world
    }

    /// The path as grants see it: clean, `~` filled in, relative if it is below the root.
    fn normalize<'a>(&self, path: &'a str) -> Cow<'a, str> {
        if path::is_clean_below(path) || self.world.is_spelled(path) {
            return Cow::Borrowed(path);
        }
        let clean = path::clean(path);
        let clean = match (clean.strip_prefix("~/"), &self.rules.home) {
            (Some(rest), Some(home)) => path::join(home, rest),
            _ => clean,
        };
        Cow::Owned(match path::is_absolute(&clean) {
            true => below_root(self.world.root(), self.world.spelled(&clean)),
            false => clean,
        })
    }

    fn check_effect(&self, path: &str) -> Result<()> {
        match self.rules.allowed.may_read {
            true => Ok(()),
            false => Err(undeclared(path, "read", "reads")),
        }
    }

    /// Whether a file may be looked at, whatever it is.
    fn may_stat(&self, path: &str) -> bool {
        // The result of a walk depends on the ignore files above it: their changes must be visible.
        self.rules.allowed.may_read && (walk::IGNORE_FILES.contains(&path::name(path)) || self.covers(path))
    }

    /// Whether a grant to read covers the path.
    fn covers(&self, path: &str) -> bool {
        let is_below = |folder: &String| path::is_below(path, folder);
        if path.starts_with('~') && self.rules.at_home.iter().any(is_below) && path::is_clean_at_home(path) {
            return true;
        }
        let normal = self.normalize(path);
        self.rules.read.matches(&normal) && system_folder(&normal).is_none()
    }

    fn check_read(&self, path: &str) -> Result<()> {
        self.check_effect(path)?;
        match self.covers(path) {
            true => Ok(()),
            false => Err(self.refused(path, "read")),
        }
    }

    /// Refuses to list a folder unless it leads to something granted. What a listing shows is filtered.
    fn check_look(&self, path: &str) -> Result<()> {
        self.check_effect(path)?;
        match self.rules.read.may_match_below(&self.normalize(path)) {
            true => Ok(()),
            false => Err(self.refused(path, "read")),
        }
    }

    fn check_write(&self, path: &str) -> Result<()> {
        self.check_unprotected(path)?;
        match self.rules.write.matches(&self.normalize(path)) {
            true => Ok(()),
            false => Err(self.refused(path, "write")),
        }
    }

    /// Refuses what no grant to write covers, and all where the definition declares no writes.
    fn check_unprotected(&self, path: &str) -> Result<()> {
        if !self.rules.allowed.may_write {
            return Err(undeclared(path, "written", "writes"));
        }
        let normal = self.normalize(path);
        //= docs/spec.md#writes
        //# A grant to write MUST NOT cover `.git`, `.toolsd`, `toolsd.toml` or the folders of the user's
        //# packs, trust and state.
        if let Some(part) = protected_part(&normal) {
            let message = format!("`{path}` may not be written: no grant covers `{part}`");
            return Err(Diagnostic::new(Code::WORLD, message).help("it is for people and for the host to change"));
        }
        //= docs/spec.md#writes
        //# A grant to write MUST NOT cover a git repository, whatever its name is, nor turn a folder into
        //# one.
        if let Some(part) = self.repository_around(&normal) {
            let message = format!(
                "`{path}` may not be written: with it, git takes `{part}` for a repository, which no grant covers"
            );
            return Err(Diagnostic::new(Code::WORLD, message)
                .help("git believes what `config` and `hooks` there say; `HEAD`, `objects` and `refs` make it one"));
        }
        if super::disk::is_hosts_own(&path::join(self.root(), &normal)) {
            let message = format!("`{path}` may not be written: no grant covers the folders of toolsd itself");
            return Err(Diagnostic::new(Code::WORLD, message).help("they are for people and for the host to change"));
        }
        Ok(())
    }

    //= docs/spec.md#roots
    //# Whether a path exists that no grant covers MUST NOT be revealed, neither directly nor through a
    //# symlink.
    /// Refuses a folder to run in that may not be looked into, itself or as what a link leads to.
    fn check_folder(&self, folder: &str) -> Result<()> {
        self.check_look(folder)?;
        self.world.stat(folder).map(drop)
    }

    /// Checks that grants cover a file or all of a folder. All of a folder includes names that do not exist yet.
    fn check_read_below(&self, path: &str) -> Result<()> {
        self.check_effect(path)?;
        let is_folder = self.world.stat(path)?.is_some_and(|stat| stat.entry == EntryKind::Folder);
        let covered = match is_folder {
            true => self.covers(&path::join(path, ALL_BELOW)),
            false => self.covers(path),
        };
        if covered { Ok(()) } else { Err(self.refused(path, "read")) }
    }

    /// Whether a normalized path is outside of all roots: that of the pack and those that the user granted.
    fn is_foreign(&self, normal: &str) -> bool {
        !path::is_below(normal, ".") && !self.rules.roots.iter().any(|root| path::is_below(normal, root))
    }

    /// Returns the folder above a path that git takes for a repository, or would take for one if the path existed.
    /// The root itself does not count: a user who starts toolsd there wants to work in it.
    fn repository_around<'a>(&self, normal: &'a str) -> Option<&'a str> {
        let is_there = |at: &str| matches!(self.world.stat(at), Ok(Some(_)));
        let above = normal.match_indices('/').map(|(at, _)| (&normal[..at], &normal[at + 1..]));
        let found = above.into_iter().filter(|(folder, _)| !folder.is_empty()).find(|(folder, rest)| {
            let next = rest.split('/').next().unwrap_or_default();
            // Most names are none of these: nothing is asked of the system then.
            is_repository(|name| name.eq_ignore_ascii_case(next) || is_there(&path::join(folder, name)))
        });
        found.map(|(folder, _)| folder)
    }

    fn refused(&self, path: &str, verb: &str) -> Box<Diagnostic> {
        let allowed = &self.rules.allowed;
        let granted = if verb == "write" { &allowed.write } else { &allowed.read };
        let error = Diagnostic::new(Code::WORLD, format!("the pack may not {verb} `{path}`"));
        let normal = self.normalize(path);
        let everywhere = |glob: &String| path::is_below(glob, ".");
        //= docs/spec.md#roots
        //# A path outside of the granted roots MUST be refused with the way to grant it.
        if self.is_foreign(&normal) && granted.iter().any(everywhere) {
            return error.help(GRANT_ROOT);
        }
        let root = if self.is_foreign(&normal) { ", or start with `--root` of its folder" } else { "" };
        // Below the root a grant names it from there.
        let named = if path::is_below(&normal, ".") && path::is_absolute(path) { normal.as_ref() } else { path };
        error.author_help(format!("{}{root}", describe_missing_grant(allowed, verb, named)))
    }
}

//= docs/spec.md#scripts
//# A script MUST NOT reach a file, a variable or a program that its pack was not granted.
impl Files for GrantedWorld {
    fn stat(&self, path: &str) -> Result<Option<Stat>> {
        if self.may_stat(path) {
            return self.world.stat(path);
        }
        self.check_look(path)?;
        match self.world.stat(path)? {
            Some(stat) if stat.entry == EntryKind::Folder => Ok(Some(stat)),
            _ => Err(self.refused(path, "read")),
        }
    }

    fn stat_all(&self, paths: &[&str]) -> Vec<Result<Option<Stat>>> {
        let covered: Vec<&str> = paths.iter().copied().filter(|path| self.may_stat(path)).collect();
        let mut seen = self.world.stat_all(&covered).into_iter();
        if covered.len() == paths.len() {
            return seen.collect();
        }
        let mut covered = covered.into_iter().peekable();
        let one = |path: &&str| match covered.next_if_eq(path).and_then(|_| seen.next()) {
            Some(seen) => seen,
            None => self.stat(path),
        };
        paths.iter().map(one).collect()
    }

    fn read(&self, path: &str) -> Result<Vec<u8>> {
        self.check_read(path)?;
        self.world.read(path)
    }

    fn list(&self, path: &str) -> Result<Vec<FolderEntry>> {
        self.check_look(path)?;
        let mut entries = self.world.list(path)?;
        let folder = path::clean(path);
        entries.retain(|entry| {
            let below = walk::child_path(&folder, &entry.name);
            let below = self.normalize(&below);
            self.rules.read.matches(&below)
                || (entry.entry == EntryKind::Folder && self.rules.read.may_match_below(&below))
        });
        Ok(entries)
    }

    fn walk(&self, walk: &WalkOptions) -> Result<WalkResult> {
        self.check_look(&walk.from)?;
        let mut walked = self.world.walk(walk)?;
        walked.files.retain(|path| self.rules.read.matches(&self.normalize(path)));
        walked.folders.retain(|path| self.rules.read.may_match_below(&self.normalize(path)));
        walked.unreadable.retain(|path| self.rules.read.may_match_below(&self.normalize(path)));
        walked.skipped.retain(|path| self.rules.read.matches(&self.normalize(path)));
        Ok(walked)
    }

    fn write(&self, path: &str, bytes: &[u8]) -> Result<()> {
        self.check_write(path)?;
        self.world.write(path, bytes)
    }

    fn remove(&self, path: &str) -> Result<()> {
        self.check_write(path)?;
        self.world.remove(path)
    }

    fn remove_folder(&self, path: &str) -> Result<()> {
        self.check_write(path)?;
        self.world.remove_folder(path)
    }

    fn apply(&self, changes: &[FileChange]) -> Result<()> {
        changes.iter().try_for_each(|change| self.check_write(&change.path))?;
        self.world.apply(changes)
    }

    fn ensure_writable(&self, path: &str) -> Result<()> {
        self.check_write(path)?;
        self.world.ensure_writable(path)
    }

    fn ensure_fillable(&self, folder: &str) -> Result<()> {
        self.check_unprotected(folder)?;
        if !self.rules.write.matches(&self.normalize(&path::join(folder, ALL_BELOW))) {
            let mut refused = self.refused(folder, "write");
            refused.message = format!("the pack may not write all of `{folder}`");
            return Err(refused);
        }
        self.world.ensure_fillable(folder)
    }

    fn ensure_replaceable(&self, path: &str) -> Result<TargetState> {
        self.check_write(path)?;
        self.world.ensure_replaceable(path)
    }

    /// A lock with a bare name is not in a folder of the workspace.
    fn lock(&self, path: &str) -> Result<LockAttempt> {
        match path.contains('/') {
            true => self.check_write(path)?,
            false if !self.rules.allowed.may_write => return Err(undeclared(path, "locked", "writes")),
            false => {}
        }
        self.world.lock(path)
    }

    fn ensure_readable(&self, path: &str) -> Result<()> {
        self.check_read_below(path)
    }

    delegate! { world;
        fn root(&self) -> &str;
        fn spelled(&self, path: &str) -> String;
        fn is_spelled(&self, path: &str) -> bool;
        fn granted_roots(&self) -> Vec<String>;
        fn root_of(&self, path: &str) -> String;
        fn staged(&self) -> Option<&dyn StagedWrites>;
    }
}

impl Ambient for GrantedWorld {
    fn env(&self, name: &str) -> Option<String> {
        self.may_env(name).ok()?;
        let value = self.world.env(name)?;
        if is_secret_variable(&self.rules.allowed.env, name) {
            remember_secret(name, &value);
        }
        Some(value)
    }

    fn may_env(&self, name: &str) -> Result<()> {
        //= docs/spec.md#secrets
        //# Scripts and the programs that they start MUST NOT see a secret of the server.
        // They are gone from the environment at the start: this is the second line.
        if SECRET_VARIABLES.contains(&name) {
            let error = Diagnostic::new(Code::WORLD, format!("no grant covers the variable `{name}`"));
            return Err(error.author_help("it is the host's own; `server()` says whether there is a token"));
        }
        match self.rules.allowed.may_read {
            false => Err(undeclared(&format!("${name}"), "read", "reads")),
            true if self.rules.allowed.env.iter().any(|grant| grant.covers(name)) => Ok(()),
            true => Err(Diagnostic::new(Code::WORLD, format!("the pack may not read the variable `{name}`"))
                .author_help(describe_missing_grant(&self.rules.allowed, "env", name))),
        }
    }

    fn env_names(&self) -> Vec<String> {
        self.world.env_names().into_iter().filter(|name| self.may_env(name).is_ok()).collect()
    }

    delegate! { world;
        fn now_ms(&self) -> i64;
        fn uuid(&self) -> [u8; 16];
    }
}

impl Programs for GrantedWorld {
    fn run(&self, command: &ProgramCommand) -> Result<ProgramOutput> {
        self.check_arguments(command)?;
        self.check_run(command)?;
        let mut ran = self.world.run(&self.with_confinement(command)?)?;
        redact_bytes(&mut ran.output);
        redact_bytes(&mut ran.errors);
        Ok(ran)
    }

    fn repository(&self, folder: &str, needs: RequiredGrant) -> Result<Repository> {
        self.chosen_repository(folder, needs)
    }

    fn run_git(&self, command: &ProgramCommand, repository: &Repository) -> Result<ProgramOutput> {
        self.check_run(command)?;
        self.check_git_use(command, repository)?;
        self.world.run_git(command, repository)
    }

    fn write_git_file(&self, repository: &Repository, path: &str, bytes: Option<&[u8]>) -> Result<()> {
        self.check_git_file(repository, path)?;
        self.world.write_git_file(repository, path, bytes)
    }

    fn hold_repository(&self, repository: &Repository) -> Result<LockAttempt> {
        self.world.hold_repository(repository)
    }

    fn git_fingerprint(&self, folders: &[&str]) -> Result<Option<String>> {
        let may = self.rules.allowed.may_read && self.rules.allowed.git >= GitAccess::Read;
        if may { self.world.git_fingerprint(folders) } else { Ok(None) }
    }

    delegate! { world;
        fn program(&self, name: &str) -> Result<ProgramFile>;
        fn program_below(&self, program: &ProgramFile, places: &[String]) -> Result<Vec<String>>;
        fn real_place(&self, path: &str) -> String;
    }
}
