//! One call of git: the repository that the host chose, and what git is asked about it before it changes something.

use super::arguments::{Said, is_on};
use super::ended;
use super::verb::{Reads, Verb};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard;
use crate::value::Map;
use crate::world::repository::{Done, Repository};
use crate::world::run::{Command, Confinement, Needs, Processes};
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
}

/// A command of git that is not run yet.
pub(super) fn command(words: Vec<String>, folder: &str, needs: Needs, processes: Processes) -> Command {
    Command {
        program: "git".to_owned(),
        arguments: [vec!["--no-pager".to_owned()], words].concat(),
        folder: folder.to_owned(),
        input: Vec::new(),
        env: Vec::new(),
        time: LONGEST,
        most: MOST,
        needs,
        confinement: Confinement { processes, network: needs == Needs::FetchGit, ..Confinement::default() },
        stop: guard::check,
    }
}

impl Session<'_> {
    /// What git says, if it ends well.
    pub(super) fn ask(&self, words: &[&str]) -> Result<Vec<u8>> {
        let done = self.try_ask(words)?;
        let shown = command(
            words.iter().map(|word| (*word).to_owned()).collect(),
            &self.folder,
            Needs::ReadGit,
            Processes::None,
        );
        if done.ran.code != 0 {
            ended(&shown, done.ran, Code("git"), true)?;
            return Ok(Vec::new());
        }
        Ok(done.ran.output)
    }

    /// The same, however it ends.
    pub(super) fn try_ask(&self, words: &[&str]) -> Result<Done> {
        let words = words.iter().map(|word| (*word).to_owned()).collect();
        let asked = command(words, &self.folder, Needs::ReadGit, Processes::None);
        self.world.run_git(&asked, Some(&self.repository), &[])
    }

    /// The entries that git prints with a NUL behind each.
    pub(super) fn names(&self, words: &[&str]) -> Result<Vec<String>> {
        let printed = self.ask(words)?;
        let parts = printed.split(|byte| *byte == 0).filter(|part| !part.is_empty());
        parts.map(|part| self.utf8(part)).collect()
    }

    /// The same, with paths that are patterns of the host's own.
    pub(super) fn names_by_patterns(&self, words: &[&str]) -> Result<Vec<String>> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let mut asked = command(words, &self.folder, Needs::ReadGit, Processes::None);
        asked.env.push(super::taken_as_patterns());
        let done = self.world.run_git(&asked, Some(&self.repository), &[])?;
        if done.ran.code != 0 {
            ended(&Command { arguments: asked.arguments[1..].to_vec(), ..asked }, done.ran, Code("git"), true)?;
            return Ok(Vec::new());
        }
        let parts = done.ran.output.split(|byte| *byte == 0).filter(|part| !part.is_empty());
        parts.map(|part| self.utf8(part)).collect()
    }

    fn utf8(&self, bytes: &[u8]) -> Result<String> {
        String::from_utf8(bytes.to_vec()).map_err(|_| {
            let message = format!("`{}` is no UTF-8: it cannot be checked", String::from_utf8_lossy(bytes));
            Diagnostic::new(Code::UTF8, message).help("rename the file with git itself")
        })
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
    /// Refuses files of the working tree that git would read for the pack, and the pack may not. What commits hold is
    /// covered by the grant of git itself.
    pub(super) fn may_read_files(&self, verb: &Verb, said: &Said, options: &Map) -> Result<()> {
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
        if !reads {
            return Ok(());
        }
        let whole = if verb.reads == Reads::Searched { &self.repository.folder } else { &self.repository.top };
        let given: Vec<&String> = said.paths.iter().chain(&said.files).collect();
        let places = if given.is_empty() { vec![whole] } else { given };
        for place in places {
            let place = path::join(&self.repository.folder, place);
            self.world.may_read(&place).map_err(|refused| {
                let message = format!("git {} would read `{place}`: {}", verb.name, refused.message);
                let help = refused.help.clone().unwrap_or_default();
                Diagnostic::new(Code::WORLD, message).help(format!("name `paths` that the pack may read; {help}"))
            })?;
        }
        Ok(())
    }
}

/// Refuses a git that is too old, once.
pub(super) fn new_enough(world: &dyn World) -> Result<()> {
    static KNOWN: OnceLock<()> = OnceLock::new();
    if KNOWN.get().is_some() {
        return Ok(());
    }
    let asked = command(vec!["version".to_owned()], ".", Needs::ReadGit, Processes::None);
    let told = String::from_utf8_lossy(&world.run_git(&asked, None, &[])?.ran.output).into_owned();
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
