//! One call of git: its repository, its turn among the writers there, and the commands that a verb becomes.

use super::arguments::{GitArguments, is_on};
use super::verb::{FileUse, GitVerb, OptionKind};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard;
use crate::primitive_api::host::{Context, Host};
use crate::value::Map;
use crate::world::repository::Repository;
use crate::world::run::{Confinement, GitChanges, GitUse, ProgramCommand, ProgramOutput, RequiredGrant};
use crate::world::{Lock, LockAttempt, World, path};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// How many bytes git may print.
const MAX_OUTPUT: usize = 32 << 20;

/// The longest that git may take; the time of the call ends before.
pub(super) const MAX_GIT_TIMEOUT: Duration = Duration::from_secs(86_400);

/// The oldest git that has all that is asked of it: `merge-tree --write-tree`.
const OLDEST: (u64, u64) = (2, 38);

/// The longest pause between two attempts to get the turn.
const MAX_POLL_INTERVAL: Duration = Duration::from_millis(10);

/// How long the lock of another git is waited for: an editor that asks for the state holds it no longer.
const LOCK_TIMEOUT: Duration = Duration::from_secs(2);

/// The pause before git is asked again.
const RETRY_INTERVAL: Duration = Duration::from_millis(40);

/// A repository, and the world that contains it.
pub(super) struct GitCall<'a> {
    pub(super) host: &'a dyn Host,
    pub(super) world: &'a dyn World,
    pub(super) repository: Repository,
    /// The folder of the call, as given.
    pub(super) folder: String,
    /// What the caller has to know.
    pub(super) notices: Vec<String>,
    /// The file of the index that the verb uses, if it is not the user's.
    index: Option<String>,
}

impl<'a> GitCall<'a> {
    /// A call before its first command, with an index of this name or with that of the user.
    pub(super) fn new(host: &'a dyn Host, repository: Repository, folder: String, index: Option<&str>) -> Self {
        let index = index.map(|name| path::join(&repository.git_dir, &format!("toolsd-{name}.index")));
        Self { host, world: &**host.world(), repository, folder, notices: Vec::new(), index }
    }
}

impl GitCall<'_> {
    /// A command that is not run yet, with these changes. `words` begin with git's subcommand.
    pub(super) fn step(&self, words: &[&str], changes: GitChanges) -> ProgramCommand {
        let words = [&["--no-pager"][..], words].concat();
        ProgramCommand {
            folder: self.folder.clone(),
            env: self.index.clone().map(|file| ("GIT_INDEX_FILE".to_owned(), file)).into_iter().collect(),
            needs: if changes == GitChanges::Nothing { RequiredGrant::ReadGit } else { RequiredGrant::WriteGit },
            confinement: Confinement { git: GitUse { changes, ..GitUse::default() }, ..Confinement::default() },
            ..ProgramCommand::git(&words, MAX_GIT_TIMEOUT, MAX_OUTPUT)
        }
    }

    /// The command of a verb, with all its arguments in order.
    pub(super) fn command_of(&self, verb: &GitVerb, mut said: GitArguments, options: &Map) -> ProgramCommand {
        let is_part = self.repository.is_seen_in_part();
        let looks_at_files = looks(verb, &said, options);
        //= docs/spec.md#git
        //# The paths that a verb takes and returns MUST be in the working tree below the granted roots.
        if is_part && is_whole(verb, &said, options) {
            said.paths.push(self.repository.visible.clone());
        }
        if is_part && verb.name == "commit" {
            said.words.push("--untracked-files=no".to_owned());
        }
        let mut words = std::mem::take(&mut said.words);
        if verb.ends_options && !said.names.is_empty() {
            words.push("--end-of-options".to_owned());
        }
        words.append(&mut said.names);
        if verb.options().any(|option| option.kind == OptionKind::Paths) {
            words.extend(verb.ends_names.then(|| "--".to_owned()));
            words.append(&mut said.paths);
        }
        let mut input = said.input;
        for file in &said.files {
            input.extend([path::join(&self.repository.folder, file).as_bytes(), b"\n"].concat());
        }
        let mut command = self.step(&[], verb.changes);
        command.arguments.append(&mut words);
        command.confinement.git.looks_at_files = looks_at_files;
        command.input = input;
        command.env.extend(said.env);
        command
    }

    /// Refuses paths outside of what the pack may look at.
    pub(super) fn check_paths(&self, verb: &GitVerb, said: &GitArguments, options: &Map) -> Result<()> {
        let repository = &self.repository;
        let is_of_commits = verb.files == FileUse::None && verb.changes == GitChanges::Nothing;
        let limit = if is_of_commits { &repository.top } else { &repository.visible };
        for given in said.paths.iter().chain(&said.files) {
            let at = path::join(&repository.folder, given);
            let is_inside =
                path::is_below(&at, limit) || path::is_below(&self.world.spelled(&at), &self.world.spelled(limit));
            if !is_inside {
                let message = format!("git may not reach `{at}`: it is outside of `{limit}`");
                return Err(
                    Diagnostic::new(Code::WORLD, message).help("name the repository's own files, or another `folder`")
                );
            }
            if verb.files == FileUse::TakesIn {
                self.may_take_in(verb, &at)?;
            }
        }
        for file in &said.files {
            if file.contains('\n') {
                let message = format!("`{file}` has a line break, which separates paths in git's input");
                return Err(Diagnostic::new(Code::ARGUMENTS, message).help("rename the file"));
            }
            if self.world.stat(&path::join(&repository.folder, file))?.is_none() {
                return Err(Diagnostic::new(Code::WORLD, format!("there is no file `{file}`")));
            }
        }
        let takes_all = verb.files == FileUse::TakesIn && said.paths.is_empty() && said.files.is_empty();
        if verb.name == "commit" && repository.is_seen_in_part() && is_on(options, "all") {
            let message = format!(
                "`all` of git \"commit\" is about the whole repository `{}`, of which the pack may see `{}`",
                repository.top, repository.visible
            );
            return Err(Diagnostic::new(Code::WORLD, message).help(format!(
                "`add` with `update: true` first, which takes only what the pack may see; or start with `--root {}`",
                repository.top
            )));
        }
        if takes_all && (is_on(options, "all") || is_on(options, "update")) {
            self.may_take_in(verb, &repository.visible)?;
        }
        Ok(())
    }

    fn may_take_in(&self, verb: &GitVerb, at: &str) -> Result<()> {
        self.world.ensure_readable(at).map_err(|refused| {
            let message = format!("git {} would read `{at}`: {}", verb.name, refused.message);
            let help = refused.help.as_deref().unwrap_or_default();
            Diagnostic::new(Code::WORLD, message).help(format!("name `paths` that the pack may read; {help}"))
        })
    }

    /// Runs git for a question of toolsd; the pack does not see the answer.
    pub(super) fn ask(&self, words: &[&str]) -> Result<ProgramOutput> {
        self.run(&self.step(words, GitChanges::Nothing))
    }

    /// The name of the commit that a name stands for, if it stands for one.
    pub(super) fn commit(&self, name: &str) -> Result<Option<String>> {
        let name = format!("{name}^{{commit}}");
        let ran = self.ask(&["rev-parse", "--verify", "--quiet", "--end-of-options", &name])?;
        Ok((ran.code == 0).then(|| String::from_utf8_lossy(&ran.output).trim().to_owned()))
    }

    //= docs/spec.md#git
    //# Verbs that change a repository MUST run one at a time across processes, and MUST wait briefly for the
    //# lock of another git.
    /// Runs git; again, if the index was locked: git takes that lock before it changes anything.
    pub(super) fn run(&self, command: &ProgramCommand) -> Result<ProgramOutput> {
        let began = Instant::now();
        self.host.wait_for_program(&mut || {
            loop {
                let ran = self.world.run_git(command, &self.repository)?;
                let errors = String::from_utf8_lossy(&ran.errors);
                let is_locked = ran.code != 0 && errors.contains("index.lock'") && errors.contains("File exists");
                if !is_locked || began.elapsed() > LOCK_TIMEOUT {
                    return Ok(ran);
                }
                guard::check()?;
                std::thread::sleep(RETRY_INTERVAL);
            }
        })
    }
}

/// Whether a verb is about the whole working tree, of which only the visible part is shown or added.
pub(super) fn is_whole(verb: &GitVerb, said: &GitArguments, options: &Map) -> bool {
    let is_shown = ["status", "diff"].contains(&verb.name) && looks(verb, said, options);
    let is_added = verb.name == "add" && (is_on(options, "all") || is_on(options, "update"));
    said.paths.is_empty() && (is_shown || is_added)
}

/// Whether the answer of a verb depends on files of the working tree.
fn looks(verb: &GitVerb, said: &GitArguments, options: &Map) -> bool {
    let is_range = || said.names.len() > 1 || said.names.iter().any(|name| name.contains(".."));
    match verb.files {
        FileUse::None | FileUse::TakesIn | FileUse::Fills => false,
        FileUse::Looks => true,
        FileUse::Compares => !is_on(options, "cached") && !is_range(),
        FileUse::Searches => !is_on(options, "cached") && said.names.is_empty(),
    }
}

/// The version of git, in its own words; it is asked once per process.
///
/// # Errors
/// There is none, it fails, or it is too old.
pub fn git_version(world: &dyn World) -> Result<&'static str> {
    static KNOWN: OnceLock<String> = OnceLock::new();
    if let Some(known) = KNOWN.get() {
        return Ok(known);
    }
    let ran = world.run(&ProgramCommand::git(&["version"], Duration::from_secs(20), 1 << 10))?;
    if ran.code != 0 {
        let message = format!("`git version` ended with {}", ran.code);
        return Err(Diagnostic::new(Code("git"), message).help("put a git that works first in `PATH`"));
    }
    let reported = String::from_utf8_lossy(&ran.output).trim().to_owned();
    let mut numbers = reported.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse::<u64>().ok());
    let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    //= docs/spec.md#git
    //# A git older than 2.38 MUST be refused at its first use.
    if version < OLDEST {
        let message = format!("`{reported}` is too old");
        return Err(Diagnostic::new(Code("git"), message).help(format!("git {}.{} or later", OLDEST.0, OLDEST.1)));
    }
    Ok(KNOWN.get_or_init(|| reported))
}

/// Waits until no other call changes the repository.
pub(super) fn wait_for_turn(
    context: &Context<'_>,
    repository: &Repository,
    needs: RequiredGrant,
) -> Result<Option<Box<dyn Lock>>> {
    // `fetch` waits for others for long, and writes nothing but refs, each with a lock of git's own.
    if needs != RequiredGrant::WriteGit {
        return Ok(None);
    }
    let world = context.host.world();
    if let LockAttempt::Held(lock) = world.hold_repository(repository)? {
        return Ok(Some(lock));
    }
    let (mut had, mut pause) = (None, Duration::from_millis(1));
    context.host.wait_replaced(&mut || {
        loop {
            guard::check().map_err(|mut error| {
                let top = &repository.top;
                error.message =
                    format!("{} while it waited for another call that changes the repository `{top}`", error.message);
                error
            })?;
            if let LockAttempt::Held(lock) = world.hold_repository(repository)? {
                had = Some(lock);
                return Ok(());
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(MAX_POLL_INTERVAL);
        }
    })?;
    Ok(had)
}
