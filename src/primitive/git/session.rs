//! One call of git: the repository that the host chose, and what git is asked about it before it changes something.

use super::arguments::{Said, is_on};
use super::ended;
use super::entries::Entry;
use super::verb::{Changes, Reads, Tells, Verb};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard;
use crate::value::Map;
use crate::world::repository::{GitOutput, Repository};
use crate::world::run::{ChangedFiles, ChildProcesses, Confinement, ProgramCommand, ReadableFiles, RequiredGrant};
use crate::world::{World, path};
use std::sync::OnceLock;
use std::time::Duration;

/// How many bytes git may print.
const MOST: usize = 32 << 20;

/// The longest that git may take; the time of the call ends before.
pub(super) const LONGEST: Duration = Duration::from_secs(86_400);

/// The oldest git that has all that is asked of it.
const OLDEST: (u64, u64) = (2, 37);

/// A repository, and the world that it lies in.
pub(super) struct Session<'a> {
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

impl<'a> Session<'a> {
    /// One that nothing was said in yet.
    pub(super) fn new(world: &'a dyn World, repository: Repository, folder: String) -> Self {
        let (contents, changed) = (ReadableFiles::Covered, ChangedFiles::None);
        let (settings, notices) = (Vec::new(), Vec::new());
        Self { world, repository, folder, settings, notices, index: None, contents, changed, markers: Vec::new() }
    }
}

impl Session<'_> {
    /// What git says, if it ends well.
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
        asked.env.push(super::taken_as_patterns());
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
            asked.env.push(super::taken_as_patterns());
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
        let submodules = Entry::of_list(all).into_iter().filter(|entry| entry.is_submodule);
        Ok(submodules.map(|entry| path::join(&self.below_top(&entry.name), "./.git")).collect())
    }

    fn utf8(&self, bytes: &[u8]) -> Result<String> {
        String::from_utf8(bytes.to_vec()).map_err(|_| {
            let message = format!("`{}` is no UTF-8: it cannot be checked", String::from_utf8_lossy(bytes));
            Diagnostic::new(Code::UTF8, message).help("rename the file with git itself")
        })
    }

    /// What git is told of an index of its own.
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
    pub(super) fn contents_for(&self, verb: &Verb, said: &Said, options: &Map) -> Result<ReadableFiles> {
        let is_on = |name: &str| is_on(options, name);
        let is_range = || said.names.len() > 1 || said.names.iter().any(|name| name.contains(".."));
        let reads = match verb.reads {
            Reads::Nothing => false,
            Reads::All => true,
            Reads::Compared => !is_on("cached") && !is_range(),
            Reads::Searched => !is_on("cached") && said.names.is_empty(),
            Reads::Committed => is_on("all") || !said.paths.is_empty(),
            Reads::Named => !said.files.is_empty(),
        };
        let given = said.paths.iter().chain(&said.files);
        let mut places: Vec<String> = given.map(|given| path::join(&self.repository.folder, given)).collect();
        if matches!(verb.tells, Tells::Status | Tells::Files) || verb.changes == Changes::Cleaned {
            places.iter().try_for_each(|place| self.may_look(verb, place))?;
        }
        if !reads {
            //= docs/spec.md#git
            //# Git MUST be kept by the system from reading a file of the working tree for a pack that no grant to read covers.
            let compares = !matches!(verb.changes, Changes::Nothing | Changes::Patched);
            return Ok(match compares || verb.is_of_commits {
                true => ReadableFiles::All,
                false => ReadableFiles::Covered,
            });
        }
        if places.is_empty() {
            let whole = if verb.reads == Reads::Searched { &self.repository.folder } else { &self.repository.top };
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
    fn may_look(&self, verb: &Verb, place: &str) -> Result<()> {
        if self.world.may_read(place).is_ok() || self.world.stat(place).is_ok_and(|stat| stat.is_some()) {
            return Ok(());
        }
        self.may_read(verb.name, place)
    }
}

/// Refuses a git that is too old, once. What keeps it from being asked for a command that changes something keeps that from
/// being run as well, and is told there: it needs another grant than the question.
pub fn new_enough(world: &dyn World, needs: RequiredGrant) -> Result<()> {
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
