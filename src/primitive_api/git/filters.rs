//! Files that pass a filter (a program, such as git-crypt or git-lfs). Refuses to take one in, or to write one that
//! would be wrong in the working tree without its filter; otherwise reports them.

use super::arguments::{GitArguments, is_on};
use super::call::GitCall;
use super::verb::{FileUse, GitVerb};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::value::Map;
use crate::world::repository::Repository;
use crate::world::run::GitChanges;

/// How many files a message names.
const MAX_NAMED: usize = 3;

/// Files that pass a filter, by their paths below the folder of the call, and the filters.
struct Filtered {
    paths: Vec<String>,
    filters: Vec<String>,
}

impl Filtered {
    /// Such as "`a.key` and 2 others pass a filter (`git-crypt`), which is a program".
    fn describe(&self) -> String {
        let names: Vec<String> = self.paths.iter().take(MAX_NAMED).map(|path| format!("`{path}`")).collect();
        let others = match self.paths.len().saturating_sub(MAX_NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let verb = if self.paths.len() == 1 { "passes" } else { "pass" };
        format!("{}{others} {verb} a filter (`{}`), which is a program", names.join(", "), self.filters.join("`, `"))
    }
}

//= docs/spec.md#git
//# A verb MUST fail before any change if a filter applies to an added file, or if objects of the files to
//# write are missing.
/// Refuses a verb that would take in a file that only its filter makes fit for the repository, or write one that only
/// its filter makes fit for the working tree.
pub(super) fn check(call: &GitCall<'_>, verb: &GitVerb, said: &GitArguments, options: &Map) -> Result<()> {
    if call.repository.filters().is_empty() {
        return Ok(());
    }
    match verb.files {
        FileUse::TakesIn => check_taken_in(call, verb, said, options),
        FileUse::Fills => check_filled(call, verb, said),
        _ => Ok(()),
    }
}

fn check_taken_in(call: &GitCall<'_>, verb: &GitVerb, said: &GitArguments, options: &Map) -> Result<()> {
    let is_whole = ["all", "update"].iter().any(|name| is_on(options, name));
    let taken = match (said.files.is_empty(), is_whole || !said.paths.is_empty()) {
        (false, _) => said.files.iter().flat_map(|file| [file.as_bytes(), b"\0"].concat()).collect(),
        (true, true) => changed_files(call, verb, said, options)?,
        (true, false) => return Ok(()),
    };
    let Some(found) = find(call, taken, None, &call.repository.filters())? else { return Ok(()) };
    let message = format!(
        "{} and is not run here: git \"{}\" would put into the repository what only the filter may put there",
        found.describe(),
        verb.name
    );
    let help = format!(
        "name other `paths`, or put it in by hand: `git add {}`; where only the time of the file changed, `git status` by hand is enough",
        found.paths[0]
    );
    Err(Diagnostic::new(Code("git"), message).help(help))
}

/// The files that a verb would take in, a NUL after each: those that differ from the index, and new ones.
fn changed_files(call: &GitCall<'_>, verb: &GitVerb, said: &GitArguments, options: &Map) -> Result<Vec<u8>> {
    let mut words = vec!["ls-files", "-z", "--modified"];
    if verb.name == "add" && !is_on(options, "update") {
        words.push("--others");
        words.extend((!is_on(options, "force")).then_some("--exclude-standard"));
    }
    words.push("--");
    match said.paths.is_empty() {
        true => words.push(&call.repository.visible),
        false => words.extend(said.paths.iter().map(String::as_str)),
    }
    Ok(call.ask(&words)?.output)
}

fn check_filled(call: &GitCall<'_>, verb: &GitVerb, said: &GitArguments) -> Result<()> {
    let filters = filling(&call.repository);
    let name = |at: usize| said.names.get(at).map_or("HEAD", String::as_str);
    let between = ["diff", "--name-only", "-z", "--no-relative", "--no-renames", "--no-ext-diff", "--diff-filter=d"];
    let (commit, words) = match verb.name {
        "switch" => (name(0), vec!["HEAD".to_owned(), name(0).to_owned()]),
        "merge" => (name(0), vec![format!("HEAD...{}", name(0))]),
        "worktree_add" => (name(1), Vec::new()),
        _ => return Ok(()),
    };
    if filters.is_empty() || call.commit(commit)?.is_none() {
        return Ok(());
    }
    let written = if words.is_empty() {
        call.ask(&["ls-tree", "-r", "-z", "--name-only", "--full-tree", commit])?.output
    } else {
        let words = between.into_iter().chain(words.iter().map(String::as_str)).chain(["--"]);
        call.ask(&words.collect::<Vec<_>>())?.output
    };
    let Some(found) = find(call, written, Some(commit), &filters)? else { return Ok(()) };
    let message = format!(
        "{} and is not run here: git \"{}\" would leave in the working tree what the repository holds, which the next commit by hand would filter a second time",
        found.describe(),
        verb.name
    );
    let command = verb.name.replacen('_', " ", 1);
    Err(Diagnostic::new(Code("git"), message)
        .help(format!("do this by hand: `git {command} {}`", said.names.join(" "))))
}

/// The filters through which files must go to the working tree. Git-lfs does not count, since its own pointers may
/// remain there; many filters only clean.
fn filling(repository: &Repository) -> Vec<&str> {
    let is_set = |filter: &str, end: &str| {
        let value = repository.setting(&format!("filter.{filter}.{end}")).map_or("", |one| one.value.as_str());
        !["", "cat"].contains(&value)
    };
    let fills = |filter: &&str| *filter != "lfs" && (is_set(filter, "smudge") || is_set(filter, "process"));
    repository.filters().into_iter().filter(fills).collect()
}

/// Those of these paths (a NUL after each) that pass one of the filters, by the attributes of a commit or of the files.
fn find(call: &GitCall<'_>, paths: Vec<u8>, commit: Option<&str>, filters: &[&str]) -> Result<Option<Filtered>> {
    let ask = |source: Option<String>| {
        let words = ["check-attr", "-z", "--stdin"].into_iter().chain(source.as_deref()).chain(["filter"]);
        let mut command = call.step(&words.collect::<Vec<_>>(), GitChanges::Nothing);
        command.input.clone_from(&paths);
        if commit.is_some() {
            command.folder.clone_from(&call.repository.top);
        }
        call.run(&command)
    };
    let mut reported = ask(commit.map(|commit| format!("--source={commit}")))?;
    // Git before 2.40 knows no `--source`: there the attributes of the files have to do.
    if reported.code != 0 && commit.is_some() {
        reported = ask(None)?;
    }
    if reported.code != 0 {
        let message =
            format!("git cannot say which files pass a filter: {}", String::from_utf8_lossy(&reported.errors));
        return Err(Diagnostic::new(Code("git"), message));
    }
    let printed = String::from_utf8_lossy(&reported.output);
    let (mut found, mut used) = (Vec::new(), Vec::new());
    for [path, _, value] in printed.split('\0').collect::<Vec<_>>().as_chunks::<3>().0 {
        if filters.contains(value) {
            found.push((*path).to_owned());
            used.push((*value).to_owned());
        }
    }
    // A file in conflict is listed once for each of its stages.
    for list in [&mut found, &mut used] {
        list.sort_unstable();
        list.dedup();
    }
    Ok((!found.is_empty()).then_some(Filtered { paths: found, filters: used }))
}

/// The notice about files that pass a filter, where the verb shows or fills them as the repository has them.
pub(super) fn notice(call: &GitCall<'_>, verb: &GitVerb) -> Result<Option<String>> {
    let filters = call.repository.filters();
    if filters.is_empty() || !matches!(verb.files, FileUse::Looks | FileUse::Compares | FileUse::Fills) {
        return Ok(None);
    }
    let patterns: Vec<String> = filters.iter().map(|filter| format!(":(top,attr:filter={filter})")).collect();
    let words = ["ls-files", "-z", "--"].into_iter().chain(patterns.iter().map(String::as_str));
    let mut command = call.step(&words.collect::<Vec<_>>(), GitChanges::Nothing);
    // The only paths that are patterns: those of toolsd itself.
    command.env.push(("GIT_LITERAL_PATHSPECS".to_owned(), "0".to_owned()));
    let printed = call.run(&command)?.output;
    let paths: Vec<String> = String::from_utf8_lossy(&printed).split_terminator('\0').map(str::to_owned).collect();
    let what = if verb.files == FileUse::Fills {
        "it holds what the commit holds"
    } else {
        "it is compared unfiltered, and may look changed"
    };
    let lfs = if filters.contains(&"lfs") { "; `git lfs pull` fills it" } else { "" };
    let filters = filters.into_iter().map(str::to_owned).collect();
    Ok((!paths.is_empty()).then(|| format!("{} and is not run: {what}{lfs}", Filtered { paths, filters }.describe())))
}
