//! What a program or git may touch while it runs for a pack: exactly what is granted, otherwise it is refused.
//!
//! A part of `granted`, in a file of its own because of its length.

use super::GrantedWorld;
use crate::diagnostic::{Code, Diagnostic, Result, did_you_mean};
use crate::world::Files;
use crate::world::disk::holds_hosts_own;
use crate::world::effects::GRANT_ROOT;
use crate::world::grants::{
    describe_missing_grant, folders, is_forbidden_variable, protected_part, system_folder, undeclared,
};
use crate::world::path;
use crate::world::repository::Repository;
use crate::world::run::{
    ChildProcesses, Confinement, GitAccess, GitChanges, ProgramCommand, ProgramFile, ProgramGrant, RequiredGrant,
};
use crate::world::secret_values::{remember_secret, secret_within};
use crate::world::variable_grant::is_secret_variable;
use std::time::Duration;

impl GrantedWorld {
    /// Refuses a program that no grant covers, or the declared effect does not.
    pub(super) fn check_run(&self, command: &ProgramCommand) -> Result<()> {
        let allowed = &self.rules.allowed;
        let (may, effect, grant) = match command.needs {
            RequiredGrant::ReadGit => (allowed.may_read, "reads", allowed.git >= GitAccess::Read),
            RequiredGrant::WriteGit => (allowed.may_run, "runs", allowed.git >= GitAccess::Write),
            RequiredGrant::FetchGit => (allowed.may_run, "runs", allowed.git >= GitAccess::Fetch),
            RequiredGrant::Program => (allowed.may_run, "runs", self.grant_of(&command.program).is_some()),
        };
        if !may {
            return Err(undeclared(&command.program, "run", effect));
        }
        if !grant && is_git(&command.program) && command.needs == RequiredGrant::Program {
            return Err(Diagnostic::new(Code::WORLD, "`run` does not run `git`: no grant of `run` covers it").author_help(
                "call `git_read(VERB)` with `grants = { git = \"read\" }`, or `git(VERB)` with `git = \"write\"` or `\"fetch\"`; `toolsd docs git` lists the verbs",
            ));
        }
        if !grant {
            let (what, (key, value)) = match command.needs {
                RequiredGrant::ReadGit => ("run git".to_owned(), ("git", "read")),
                RequiredGrant::WriteGit => ("change a repository".to_owned(), ("git", "write")),
                RequiredGrant::FetchGit => ("fetch from a remote".to_owned(), ("git", "fetch")),
                RequiredGrant::Program => (format!("run `{}`", command.line()), ("run", command.program.as_str())),
            };
            let error = Diagnostic::new(Code::WORLD, format!("the pack may not {what}"));
            let program = &command.program;
            // No name of a program has arguments in it.
            if let Some((name, rest)) = program.split_once(char::is_whitespace)
                && command.needs == RequiredGrant::Program
                && !path::is_absolute(program)
            {
                let words: Vec<&str> = rest.split_whitespace().collect();
                return Err(
                    error.help(format!("a program and its arguments are separate values: `run({name:?}, {words:?})`"))
                );
            }
            return Err(
                match command.needs == RequiredGrant::Program && program.contains('/') && !path::is_absolute(program) {
                    // A grant names no relative path, and neither does a call.
                    true => error.help(format!(
                        "grant it and call it by its absolute path: `{}`",
                        path::clean(&path::join(self.world.root(), program))
                    )),
                    false => error.author_help(describe_missing_grant(allowed, key, value)),
                },
            );
        }
        //= docs/spec.md#roots
        //# A program that changes something MUST NOT be run in a folder that only the grants of its pack
        //# name.
        if command.needs != RequiredGrant::ReadGit && self.is_foreign(&self.normalize(&command.folder)) {
            let message = format!("the pack may not run `{}` in `{}`", command.program, command.folder);
            return Err(Diagnostic::new(Code::WORLD, message).help(GRANT_ROOT));
        }
        // A program may stand at the root, whatever it reads there.
        let is_at_root = self.normalize(&command.folder) == ".";
        if command.needs == RequiredGrant::Program && is_at_root { Ok(()) } else { self.check_folder(&command.folder) }
    }

    fn grant_of(&self, program: &str) -> Option<&ProgramGrant> {
        self.rules.allowed.run.iter().find(|grant| grant.program == program)
    }

    //= docs/spec.md#secrets
    //# The value of a secret variable MUST be refused in the arguments of a program.
    /// Remembers the secret variables of a program, and refuses values of such in its arguments.
    pub(super) fn check_arguments(&self, command: &ProgramCommand) -> Result<()> {
        let inherited = self.grant_of(&command.program).into_iter().flat_map(|grant| &grant.env);
        let inherited = inherited.filter_map(|name| Some((name.clone(), self.world.env(name)?)));
        for (name, value) in inherited.chain(command.env.iter().cloned()) {
            if is_secret_variable(&self.rules.allowed.env, &name) {
                remember_secret(&name, &value);
            }
        }
        let mut arguments = command.arguments.iter().zip(1..);
        let found = arguments.find_map(|(argument, position)| Some((position, secret_within(argument)?)));
        let Some((position, name)) = found else { return Ok(()) };
        let message = format!("argument {position} of `{}` contains the secret value of `{name}`", command.program);
        Err(Diagnostic::new(Code::WORLD, message).author_help(format!(
            "other users can see the arguments of programs: pass it by `input` (`curl -K -` and `curl -H @-` read it there) or by `env` of `run`; if it is not a secret, grant `{{ name = {name:?}, secret = false }}`"
        )))
    }

    /// The command with a confinement that matches its grant.
    pub(super) fn with_confinement(&self, command: &ProgramCommand) -> Result<ProgramCommand> {
        let Some(grant) = self.grant_of(&command.program).filter(|_| command.needs == RequiredGrant::Program) else {
            return Ok(command.clone());
        };
        check_env(command, grant)?;
        let file = self.world.program(&command.program)?;
        let allowed = &self.rules.allowed;
        let mut read = self.granted_places(grant, "read", grant.read.as_ref().unwrap_or(&allowed.read))?;
        let write = self.granted_places(grant, "write", grant.write.as_ref().unwrap_or(&allowed.write))?;
        if let Some(at) = self.find_writable_part(&file, &write)? {
            let message = format!("`{}` is not run: the pack may write `{at}`", command.program);
            return Err(Diagnostic::new(Code::WORLD, message).help(
                "a program that a pack makes is never run; what a compiler makes is, if only the compiler may write there: `run = [{ program = \"cc\", write = [\"out\"] }, …]`, and no `write` of the pack that covers it",
            ));
        }
        write.iter().try_for_each(|at| check_written(grant, at))?;
        let mut start = self.granted_places(grant, "start", &grant.start)?;
        self.check_start(grant, &start)?;
        let installation = self.installation(&file);
        read.extend(installation.iter().cloned());
        read.sort_unstable();
        read.dedup();
        start.extend(installation);
        let (processes, network) = (ChildProcesses::Any, grant.network);
        //= docs/spec.md#programs
        //# The file that is executed MUST be the file that was checked.
        let judged = Some(file);
        let confinement = Confinement { read, write, start, processes, network, judged, ..Confinement::default() };
        Ok(ProgramCommand { confinement, ..command.clone() })
    }

    //= docs/spec.md#programs
    //# A program MUST be able to read and start what belongs to its installation.
    /// The folders that a program was installed in: those above each `bin` that leads to it. A home folder and its
    /// `.local` hold data of many programs; of these, libraries belong to it.
    fn installation(&self, file: &ProgramFile) -> Vec<String> {
        let home = self.rules.home.as_deref().unwrap_or("/");
        let kept = [home, self.world.root()].into_iter().chain(self.rules.roots.iter().map(String::as_str));
        let kept: Vec<&str> = kept.collect();
        let mut found = Vec::new();
        for name in &file.names {
            let folder = path::folder(name);
            let above = path::folder(folder);
            if !["bin", "sbin", "shims"].contains(&path::name(folder)) || is_of_system(above) {
                continue;
            }
            match path::name(above) == ".local" || kept.iter().any(|kept| path::is_below(kept, above)) {
                true => found.extend(["lib", "libexec"].map(|part| path::join(above, part))),
                false => found.push(above.to_owned()),
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    //= docs/spec.md#programs
    //# A program MUST NOT be granted to start programs from a folder where the pack can write.
    /// Refuses to let a program start others from a folder that the pack may write. What the program itself may write
    /// it may start: it could do all of that before.
    fn check_start(&self, grant: &ProgramGrant, start: &[String]) -> Result<()> {
        let program = &grant.program;
        let roots = [&[self.world.root().to_owned()], self.rules.roots.as_slice()].concat();
        for at in start {
            let of_git = path::join(at, ".git");
            let holds =
                roots.iter().any(|root| path::is_below(root, at)) || matches!(self.world.stat(&of_git), Ok(Some(_)));
            let normal = self.normalize(at);
            let why = match protected_part(&normal) {
                Some(part) => format!("no grant covers `{part}`"),
                None if holds && self.rules.allowed.git >= GitAccess::Write => {
                    "it holds a repository, and git of the pack writes there".to_owned()
                }
                None => continue,
            };
            let message = format!("`{program}` is not run: it may start programs of `{at}`, and {why}");
            return Err(Diagnostic::new(Code::WORLD, message)
                .help("name the folders in which the programs lie: `start = [\"scripts\"]`"));
        }
        for glob in &self.rules.allowed.write {
            let world = self.world.as_ref();
            let written = folders(world, glob, &self.rules.roots)
                .or_else(|folder| folders(world, &folder, &self.rules.roots))
                .unwrap_or_default();
            let written: Vec<String> = written.iter().map(|at| world.real_place(at)).collect();
            let meet = |at: &&String| written.iter().any(|own| path::is_below(own, at) || path::is_below(at, own));
            if let Some(at) = start.iter().find(meet) {
                let message =
                    format!("`{program}` is not run: it may start programs of `{at}`, and the pack may write `{glob}`");
                return Err(Diagnostic::new(Code::WORLD, message).help(format!(
                    "let no `write` of the pack reach there; what `{program}` alone makes it may start: `run = [{}]`",
                    grant.spelled_with("write", "[…]")
                )));
            }
        }
        Ok(())
    }

    //= docs/spec.md#programs
    //# A program that the pack can write MUST NOT be run, neither by name, nor through a link, nor as an
    //# interpreter.
    /// Finds a part of a program that the pack can write: a file that is executed, a link or a folder on the way to
    /// one, or a further name of one. The program itself may write `places`.
    fn find_writable_part(&self, file: &ProgramFile, places: &[String]) -> Result<Option<String>> {
        let is_granted = |name: &String| self.rules.write.matches(&self.normalize(name));
        if let Some(name) = file.names.iter().find(|name| is_granted(name)) {
            return Ok(Some(name.clone()));
        }
        if let Some(name) = self.world.program_below(file, places)?.into_iter().next() {
            return Ok(Some(name));
        }
        // Everything that a glob covers is below the folder that it begins with, but a name there need not be covered.
        let mut around = Vec::new();
        for glob in &self.rules.allowed.write {
            match folders(self.world.as_ref(), glob, &self.rules.roots) {
                Ok(exact) if exact.iter().all(|at| places.contains(&self.world.real_place(at))) => {}
                Ok(exact) => {
                    if let Some(name) = self.world.program_below(file, &exact)?.into_iter().next() {
                        return Ok(Some(name));
                    }
                }
                Err(folder) => {
                    around.extend(folders(self.world.as_ref(), &folder, &self.rules.roots).unwrap_or_default());
                }
            }
        }
        Ok(self.world.program_below(file, &around)?.into_iter().find(is_granted))
    }

    /// Returns the files and folders that these grants cover: absolute paths for each root.
    fn granted_places(&self, grant: &ProgramGrant, verb: &str, globs: &[String]) -> Result<Vec<String>> {
        let mut places = Vec::new();
        for glob in globs {
            match folders(self.world.as_ref(), glob, &self.rules.roots) {
                //= docs/spec.md#programs
                //# A program's grant MUST be checked at the target of its symlinks, and MUST NOT be reached
                //# through a symlink below a root.
                Ok(found) => {
                    if let Some(system) = found.iter().find_map(|at| system_folder(at)) {
                        let message = format!("`{}` is not run: no grant covers `{system}`", grant.program);
                        return Err(Diagnostic::new(Code::WORLD, message).help("grant folders with files of people"));
                    }
                    places.extend(found.iter().map(|at| self.world.real_place(at)));
                }
                //= docs/spec.md#programs
                //# A grant that is narrower than a folder MUST be refused for a program, not widened.
                Err(folder) => {
                    let program = &grant.program;
                    let message =
                        format!("`{program}` is not run: no program can be held to the grant to {verb} `{glob}`");
                    let key = if verb == "start" { "execute" } else { verb };
                    let help = format!("name folders: `run = [{}]`", grant.spelled_with(key, &format!("[{folder:?}]")));
                    return Err(Diagnostic::new(Code::WORLD, message).help(help));
                }
            }
        }
        Ok(places)
    }

    /// The repository of a folder, for what the pack may do there. To hold it, and to write files of git in it, needs no
    /// further grant: this is the only way to one.
    pub(super) fn chosen_repository(&self, folder: &str, needs: RequiredGrant) -> Result<Repository> {
        let asked = ProgramCommand::git(&[], Duration::ZERO, 0);
        self.check_run(&ProgramCommand { needs, folder: folder.to_owned(), ..asked })?;
        let repository = self.world.repository(folder, needs)?;
        self.check_repository(folder, &repository)?;
        Ok(repository)
    }

    //= docs/spec.md#git
    //# A verb that reads files MUST have a grant to read the whole working tree, and one that changes files a
    //# grant to write it.
    /// Refuses git that looks at, or changes, a working tree which the grants do not cover as a whole.
    pub(super) fn check_git_use(&self, command: &ProgramCommand, repository: &Repository) -> Result<()> {
        // For each command: a program that runs at the same time can change where these paths lead.
        self.check_repository(&command.folder, repository)?;
        let git = &command.confinement.git;
        let (top, visible) = (&repository.top, &repository.visible);
        let verb = command.arguments.iter().find(|word| !word.starts_with('-')).map_or("", String::as_str);
        let reported = |what: &str, refused: &Diagnostic| {
            let message = format!("git {verb} {what} the working tree `{visible}`: {}", refused.message);
            let reported = Diagnostic::new(refused.code, message);
            let help = refused.help.as_deref().unwrap_or_default();
            reported.help(format!("git of a pack gets all of a working tree or nothing of it; {help}"))
        };
        if git.looks_at_files {
            self.check_read_below(visible).map_err(|refused| reported("looks at files of", &refused))?;
        }
        if git.changes == GitChanges::Files {
            if top != visible {
                let message = format!("git {verb} changes files of all of `{top}`, which reaches out of `{visible}`");
                return Err(Diagnostic::new(Code::WORLD, message).help(format!("start with `--root {top}`")));
            }
            self.ensure_fillable(top).map_err(|refused| reported("changes files of", &refused))?;
        }
        command.confinement.write.iter().try_for_each(|place| self.ensure_fillable(place))
    }

    /// Refuses to write a file that does not belong to git.
    pub(super) fn check_git_file(&self, repository: &Repository, at: &str) -> Result<()> {
        let is_own = [&repository.git_dir, &repository.common_dir].iter().any(|own| path::is_below(at, own));
        match is_own {
            true => Ok(()),
            false if path::name(at) == ".git" => self.ensure_fillable(path::folder(at)),
            false => Err(Diagnostic::new(Code::INTERNAL, format!("`{at}` is not a file of git"))),
        }
    }

    //= docs/spec.md#git
    //# A repository that the pack can write to MUST be refused.
    fn check_repository(&self, folder: &str, repository: &Repository) -> Result<()> {
        let parts = [&repository.git_dir, &repository.common_dir];
        for part in parts.into_iter().chain(&repository.elsewhere) {
            let normal = self.normalize(part);
            if protected_part(&normal).is_none() && self.rules.write.may_match_below(&normal) {
                let message =
                    format!("`{folder}` is not a repository: the pack may write `{part}`, which it is made of");
                return Err(Diagnostic::new(Code::WORLD, message)
                    .help("use a repository in a folder `.git`, which no grant to write covers"));
            }
        }
        self.check_borrowed(folder, repository)
    }

    //= docs/spec.md#git
    //# A repository that refers to repositories, object stores or configuration that the pack may not access
    //# MUST be refused.
    /// Refuses what a file of the workspace names for git: its author does not decide what the pack may see.
    fn check_borrowed(&self, folder: &str, repository: &Repository) -> Result<()> {
        for part in &repository.elsewhere {
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

/// Whether a folder is one of the system's, which every program reads.
fn is_of_system(folder: &str) -> bool {
    folder == "/" || ["/usr", "/nix/store", "/gnu/store"].iter().any(|system| path::is_below(folder, system))
}

//= docs/spec.md#programs
//# A program's grant to write MUST NOT name `.git`, `.toolsd`, or a folder that holds the user's packs or
//# trust.
fn check_written(grant: &ProgramGrant, at: &str) -> Result<()> {
    let why = match protected_part(at) {
        Some(part) => format!("no grant covers `{part}`"),
        None if holds_hosts_own(at) => "the host keeps packs and trust there".to_owned(),
        None => return Ok(()),
    };
    let program = &grant.program;
    Err(Diagnostic::new(Code::WORLD, format!("`{program}` is not run: it would write `{at}`, and {why}"))
        .help(format!("name folders that hold none of that: `run = [{{ program = {program:?}, write = [\"out\"] }}]`")))
}

//= docs/spec.md#programs
//# `env` of `run` MUST set only variables that the grant names, and none that selects other programs.
fn check_env(command: &ProgramCommand, grant: &ProgramGrant) -> Result<()> {
    for (name, _) in &command.env {
        if is_forbidden_variable(name) {
            let message = format!("`env` of `run` may not set `{name}`");
            return Err(Diagnostic::new(Code::WORLD, message).help("it chooses other programs: no grant covers it"));
        }
        if !grant.env.contains(name) {
            let message = format!("`env` of `run` may not set `{name}` for `{}`", command.program);
            let mut names: Vec<String> = grant.env.iter().map(|known| format!("{known:?}")).collect();
            names.push(format!("{name:?}"));
            let names = format!("[{}]", names.join(", "));
            let allow = format!("allow it by `run = [{}]`", grant.spelled_with("env", &names));
            let help = did_you_mean(name, grant.env.iter().map(String::as_str));
            return Err(Diagnostic::new(Code::WORLD, message).help(help.unwrap_or(allow)));
        }
    }
    Ok(())
}

/// Whether a program is git, by its name: git has a separate grant and primitives.
fn is_git(program: &str) -> bool {
    path::name(program) == "git"
}
