//! One call of git: its repository, its turn among the writers there, the questions that git is asked beforehand, and the
//! command that a verb becomes.

use super::arguments::{GitArguments, is_on};
use super::output::WorktreeEntry;
use super::verb::{GitVerb, OptionKind, ToldNames, WorktreeChanges, WorktreeReads};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard;
use crate::primitive::host::Context;
use crate::primitive::program_outcome::ended;
use crate::value::Map;
use crate::world::repository::{GitOutput, Repository};
use crate::world::run::{ChangedFiles, ChildProcesses, Confinement, ProgramCommand, ReadableFiles, RequiredGrant};
use crate::world::{Lock, LockAttempt, World, path};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// How many bytes git may print.
const MOST: usize = 32 << 20;

/// The longest that git may take; the time of the call ends before.
pub(super) const LONGEST: Duration = Duration::from_secs(86_400);

/// The oldest git that has all that is asked of it.
const OLDEST: (u64, u64) = (2, 37);

/// The longest pause between two attempts.
const PAUSE: Duration = Duration::from_millis(10);

/// How long the lock of another git is waited for: an editor that asks for the state holds it no longer.
const PATIENCE: Duration = Duration::from_secs(2);

/// The pause before git is asked again.
const AGAIN: Duration = Duration::from_millis(40);

/// A repository, and the world that it lies in.
pub(super) struct GitSession<'a> {
    pub(super) world: &'a dyn World,
    pub(super) repository: Repository,
    /// The folder of the call, as given.
    pub(super) folder: String,
    /// Keys of the configuration that this call adds.
    pub(super) settings: Vec<(String, String)>,
    /// What the caller has to know.
    pub(super) notices: Vec<String>,
    /// The file of the index that the verb uses, if it is not the user's: questions about files are put to that one.
    pub(super) index: Option<String>,
    /// Which files of the working tree the verb gets to read.
    pub(super) contents: ReadableFiles,
    /// Which files of the working tree the verb is going to change.
    pub(super) changed: ChangedFiles,
    /// What of submodules git gets to read besides.
    pub(super) markers: Vec<String>,
}

/// What git prints in answer to a question, if it ends well.
fn well(asked: ProgramCommand, put: impl Fn(&ProgramCommand) -> Result<GitOutput>) -> Result<Vec<u8>> {
    let done = put(&asked)?;
    if done.ran.code != 0 {
        let arguments = asked.arguments[1..].to_vec();
        ended(&ProgramCommand { arguments, ..asked }, done.ran, Code("git"), true)?;
        return Ok(Vec::new());
    }
    Ok(done.ran.output)
}

/// A command of git that is not run yet.
pub(super) fn command(
    words: Vec<String>,
    folder: &str,
    needs: RequiredGrant,
    processes: ChildProcesses,
) -> ProgramCommand {
    ProgramCommand {
        program: "git".to_owned(),
        arguments: [vec!["--no-pager".to_owned()], words].concat(),
        folder: folder.to_owned(),
        input: Vec::new(),
        env: Vec::new(),
        time: LONGEST,
        most: MOST,
        needs,
        confinement: Confinement { processes, network: needs == RequiredGrant::FetchGit, ..Confinement::default() },
        stop: guard::check,
    }
}

impl<'a> GitSession<'a> {
    /// A session before its first command.
    pub(super) fn new(world: &'a dyn World, repository: Repository, folder: String) -> Self {
        let (contents, changed) = (ReadableFiles::Covered, ChangedFiles::None);
        let (settings, notices) = (Vec::new(), Vec::new());
        Self { world, repository, folder, settings, notices, index: None, contents, changed, markers: Vec::new() }
    }
}

impl GitSession<'_> {
    /// What git prints in answer to a question.
    ///
    /// # Errors
    /// Git ended with another code than 0.
    pub(super) fn ask(&self, words: &[&str]) -> Result<Vec<u8>> {
        well(self.question(words, ReadableFiles::All), |asked| self.put(asked))
    }

    /// The same, however it ends.
    pub(super) fn try_ask(&self, words: &[&str]) -> Result<GitOutput> {
        self.put(&self.question(words, ReadableFiles::All))
    }

    /// The host's own question: the pack does not see the answer.
    fn question(&self, words: &[&str], contents: ReadableFiles) -> ProgramCommand {
        let words = words.iter().map(|word| (*word).to_owned()).collect();
        let mut asked = command(words, &self.folder, RequiredGrant::ReadGit, ChildProcesses::None);
        asked.confinement.contents = contents;
        asked.confinement.read.clone_from(&self.markers);
        asked.env.extend(self.index_variable());
        asked
    }

    fn put(&self, asked: &ProgramCommand) -> Result<GitOutput> {
        self.world.run_git(asked, Some(&self.repository), &[])
    }

    /// The entries that git prints with a NUL behind each.
    pub(super) fn names(&self, words: &[&str]) -> Result<Vec<String>> {
        self.names_seeing(words, ReadableFiles::All)
    }

    /// The same, of a git that gets to read these files only.
    pub(super) fn names_seeing(&self, words: &[&str], contents: ReadableFiles) -> Result<Vec<String>> {
        self.split(&well(self.question(words, contents), |asked| self.put(asked))?)
    }

    /// The same, with paths that are patterns of the host's own.
    pub(super) fn names_by_patterns(&self, words: &[&str]) -> Result<Vec<String>> {
        let mut asked = self.question(words, ReadableFiles::All);
        asked.env.push(taken_as_patterns());
        self.split(&well(asked, |asked| self.put(asked))?)
    }

    /// The lines of all files of attributes that give something a value: in the working tree, in the index, and in these
    /// commits, as far as there are such.
    pub(super) fn lines_of_attributes(&self, commits: &[&str]) -> Result<Vec<u8>> {
        let all = [":(top,glob)**/.gitattributes"];
        let lines = ["grep", "-h", "--threads=1", "-e", "="];
        let asks = [vec!["--untracked"], vec!["--cached"]].into_iter();
        // One that names no commit spoils no other. `grep` knows `--end-of-options` as of git 2.43.
        let asks = asks.chain(commits.iter().filter(|commit| !commit.starts_with('-')).map(|commit| vec![*commit]));
        let mut found = Vec::new();
        for more in asks {
            let mut asked = self.question(&[&lines, &more[..], &["--"], &all].concat(), ReadableFiles::All);
            asked.env.push(taken_as_patterns());
            found.extend(self.put(&asked)?.ran.output);
        }
        Ok(found)
    }

    fn split(&self, printed: &[u8]) -> Result<Vec<String>> {
        let parts = printed.split(|byte| *byte == 0).filter(|part| !part.is_empty());
        parts.map(|part| self.utf8(part)).collect()
    }

    //= docs/spec.md#git
    //# A submodule that no grant to read covers MUST keep no verb from what it does beside it.
    /// What git reads of submodules to tell whether they moved, where the pack may not read all: the `.git` of each. What
    /// it holds, no answer shows.
    pub(super) fn markers_of_submodules(&self) -> Result<Vec<String>> {
        if self.contents == ReadableFiles::All || self.world.may_read(&self.repository.top).is_ok() {
            return Ok(Vec::new());
        }
        let all = self.names_by_patterns(&["ls-files", "-z", "--full-name", "--stage", "--", ":(top)"])?;
        let submodules = WorktreeEntry::from_list(all).into_iter().filter(|entry| entry.is_submodule);
        Ok(submodules.map(|entry| path::join(&self.below_top(&entry.name), "./.git")).collect())
    }

    fn utf8(&self, bytes: &[u8]) -> Result<String> {
        String::from_utf8(bytes.to_vec()).map_err(|_| {
            let message = format!("`{}` is no UTF-8: it cannot be checked", String::from_utf8_lossy(bytes));
            Diagnostic::new(Code::UTF8, message).help("rename the file with git itself")
        })
    }

    /// The environment variable of the verb's own index, if it has one.
    pub(super) fn index_variable(&self) -> Option<(String, String)> {
        self.index.clone().map(|file| ("GIT_INDEX_FILE".to_owned(), file))
    }

    /// A path from the top of the working tree, absolute.
    pub(super) fn below_top(&self, name: &str) -> String {
        path::join(&self.repository.top, &format!("./{name}"))
    }

    //= docs/spec.md#git
    //# Git MUST NOT read a file outside of the granted roots.
    /// Refuses a path that lies outside of the working tree.
    pub(super) fn check_inside(&self, given: &str) -> Result<()> {
        let given = path::join(&self.repository.folder, given);
        if path::is_below(&given, &self.repository.top)
            || path::is_below(&self.world.spelled(&given), &self.world.spelled(&self.repository.top))
        {
            return Ok(());
        }
        let message = format!("git may not reach `{given}`: it lies outside of `{}`", self.repository.top);
        Err(Diagnostic::new(Code::WORLD, message).help("name the repository's own files, or another `folder`"))
    }

    //= docs/spec.md#git
    //# A verb that reads files of the working tree MUST be refused files that no grant to read covers.
    /// Refuses files of the working tree that git would read for the pack, and the pack may not; gives those that it gets
    /// to read. What commits hold is covered by the grant of git itself.
    pub(super) fn contents_for(&self, verb: &GitVerb, said: &GitArguments, options: &Map) -> Result<ReadableFiles> {
        let is_on = |name: &str| is_on(options, name);
        let is_range = || said.names.len() > 1 || said.names.iter().any(|name| name.contains(".."));
        let reads = match verb.reads {
            WorktreeReads::Nothing => false,
            WorktreeReads::All => true,
            WorktreeReads::Compared => !is_on("cached") && !is_range(),
            WorktreeReads::Searched => !is_on("cached") && said.names.is_empty(),
            WorktreeReads::Committed => is_on("all") || !said.paths.is_empty(),
            WorktreeReads::Named => !said.files.is_empty(),
        };
        let given = said.paths.iter().chain(&said.files);
        let mut places: Vec<String> = given.map(|given| path::join(&self.repository.folder, given)).collect();
        if matches!(verb.tells, ToldNames::Status | ToldNames::Files) || verb.changes == WorktreeChanges::Cleaned {
            places.iter().try_for_each(|place| self.may_look(verb, place))?;
        }
        if !reads {
            //= docs/spec.md#git
            //# Git MUST be kept by the system from reading a file of the working tree for a pack that no grant to read covers.
            let compares = !matches!(verb.changes, WorktreeChanges::Nothing | WorktreeChanges::Patched);
            return Ok(match compares || verb.is_of_commits {
                true => ReadableFiles::All,
                false => ReadableFiles::Covered,
            });
        }
        if places.is_empty() {
            let whole =
                if verb.reads == WorktreeReads::Searched { &self.repository.folder } else { &self.repository.top };
            places.push(whole.clone());
        }
        places.iter().try_for_each(|place| self.may_read(verb.name, place))?;
        Ok(ReadableFiles::Of(places))
    }

    /// Refuses a file, or a folder with all that lies below it, that git would read and no grant to read covers.
    pub(super) fn may_read(&self, verb: &str, place: &str) -> Result<()> {
        self.world.may_read(place).map_err(|refused| {
            let message = format!("git {verb} would read `{place}`: {}", refused.message);
            let help = refused.help.clone().unwrap_or_default();
            let name = if verb == "apply" { "take a patch of files" } else { "name `paths`" };
            Diagnostic::new(Code::WORLD, message).help(format!("{name} that the pack may read; {help}"))
        })
    }

    //= docs/spec.md#git
    //# A path that a verb would tell the state of MUST be one that the pack may look at.
    /// Refuses a path of which the answer would tell whether it is there, though it named nothing.
    fn may_look(&self, verb: &GitVerb, place: &str) -> Result<()> {
        if self.world.may_read(place).is_ok() || self.world.stat(place).is_ok_and(|stat| stat.is_some()) {
            return Ok(());
        }
        self.may_read(verb.name, place)
    }

    //= docs/spec.md#git
    //# A verb that finds the lock of another git on the index MUST be tried again for a moment before it fails.
    /// Runs git; again, if the index was locked: git takes that lock before it changes anything.
    pub(super) fn run(&self, asked: &ProgramCommand) -> Result<GitOutput> {
        let began = Instant::now();
        loop {
            let done = self.world.run_git(asked, Some(&self.repository), &self.settings)?;
            let errors = String::from_utf8_lossy(&done.ran.errors);
            let is_locked = done.ran.code != 0 && errors.contains("index.lock'") && errors.contains("File exists");
            if !is_locked || began.elapsed() > PATIENCE {
                return Ok(done);
            }
            guard::check()?;
            std::thread::sleep(AGAIN);
        }
    }
}

/// Refuses a git that is too old; asks for its version once per process. If a verb that writes cannot ask, the verb itself
/// reports why.
pub fn check_git_version(world: &dyn World, needs: RequiredGrant) -> Result<()> {
    static KNOWN: OnceLock<()> = OnceLock::new();
    if KNOWN.get().is_some() {
        return Ok(());
    }
    let asked = command(vec!["version".to_owned()], ".", RequiredGrant::ReadGit, ChildProcesses::None);
    let done = match world.run_git(&asked, None, &[]) {
        Ok(done) => done,
        Err(fault) if needs == RequiredGrant::ReadGit => return Err(fault),
        Err(_) => return Ok(()),
    };
    let told = String::from_utf8_lossy(&done.ran.output).into_owned();
    let mut numbers = told.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse::<u64>().ok());
    let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    //= docs/spec.md#git
    //# A git older than 2.37 MUST be refused at its first use.
    if version < OLDEST {
        let message = format!("`{}` is too old", told.trim());
        return Err(Diagnostic::new(Code("git"), message).help(format!("git {}.{} or later", OLDEST.0, OLDEST.1)));
    }
    let _known_by_another_thread = KNOWN.set(());
    Ok(())
}

/// The command of a verb, with all its words in their places.
pub(super) fn verb_command(session: &GitSession<'_>, verb: &GitVerb, said: GitArguments) -> Result<ProgramCommand> {
    let has_files = verb.options().any(|option| matches!(option.kind, OptionKind::Files)) || said.reads_files;
    let input = if has_files { listed_files(session, &said)? } else { said.input };
    let mut words = said.words;
    if verb.ends_options && !said.names.is_empty() {
        words.push("--end-of-options".to_owned());
    }
    words.extend(said.names);
    if verb.options().any(|option| option.kind == OptionKind::Paths) {
        words.extend(verb.ends_names.then(|| "--".to_owned()));
        words.extend(said.paths);
    }
    let mut asked = command(words, &session.folder, verb.needs, verb.processes);
    asked.input = input;
    asked.confinement.contents.clone_from(&session.contents);
    asked.confinement.changed.clone_from(&session.changed);
    asked.confinement.read.clone_from(&session.markers);
    asked.env.extend(said.env);
    asked.env.extend(session.index_variable());
    Ok(asked)
}

/// The files whose contents git is to read, a line for each, or a NUL behind each.
fn listed_files(session: &GitSession<'_>, said: &GitArguments) -> Result<Vec<u8>> {
    let mut input = Vec::new();
    for file in &said.files {
        if !said.reads_files {
            let literal = if file.starts_with(':') { "./" } else { "" };
            input.extend([literal.as_bytes(), file.as_bytes(), b"\0"].concat());
            continue;
        }
        let place = path::join(&session.repository.folder, file);
        if file.contains('\n') {
            return Err(Diagnostic::new(
                Code::ARGUMENTS,
                format!("`{file}` has a line break: git cannot be told of it"),
            )
            .help("give `content` in place of `paths`"));
        }
        //= docs/spec.md#git
        //# A file whose content git keeps by its name MUST be one that the script itself may read.
        if session.world.stat(&place)?.is_none() {
            return Err(Diagnostic::new(Code::WORLD, format!("there is no file `{file}`")));
        }
        input.extend([place.as_bytes(), b"\n"].concat());
    }
    Ok(input)
}

/// Paths count as patterns of git for this command: those that the host itself writes.
pub(super) fn taken_as_patterns() -> (String, String) {
    ("GIT_LITERAL_PATHSPECS".to_owned(), "0".to_owned())
}

//= docs/spec.md#git
//# Verbs that change a repository MUST run one after the other, also those of other processes of the host; waiting MUST end with the call.
/// Waits until no other call changes the repository. The flag is whether it had to wait: then the repository may have changed.
pub(super) fn wait_for_turn(
    context: &Context<'_>,
    repository: &Repository,
    needs: RequiredGrant,
) -> Result<(Option<Box<dyn Lock>>, bool)> {
    // `fetch` waits for others for long, and writes nothing but refs, each with a lock of git's own.
    if needs != RequiredGrant::WriteGit {
        return Ok((None, false));
    }
    let world = context.host.world();
    if let LockAttempt::Held(lock) = world.hold_repository(repository)? {
        return Ok((Some(lock), false));
    }
    let (mut had, mut pause) = (None, Duration::from_millis(1));
    context.host.aside(&mut || {
        loop {
            guard::check().map_err(|fault| waited(repository, fault))?;
            if let LockAttempt::Held(lock) = world.hold_repository(repository)? {
                had = Some(lock);
                return Ok(());
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(PAUSE);
        }
    })?;
    match had {
        Some(lock) => Ok((Some(lock), true)),
        None => Err(Diagnostic::new(Code::INTERNAL, "the turn in the repository was not taken")),
    }
}

fn waited(repository: &Repository, mut fault: Box<Diagnostic>) -> Box<Diagnostic> {
    let top = &repository.top;
    fault.message = format!("{} while it waited for another call that changes the repository `{top}`", fault.message);
    fault
}
