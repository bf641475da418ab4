//! Which files a verb will write or remove: git is asked beforehand, and each file is checked against the grants.
//!
//! Where a merge is involved, more is asked than will change: every file in which the two sides differ. If one of them
//! may not be written, renames are switched off for this call, and what is left is what the other side changed. A git
//! before 2.50 follows them all the same, so where a file that the other side changed is gone here, all that is new here
//! is asked about, too: a rename can lead nowhere else.
//!
//! No link is followed, and of a folder that goes all that lies in it is looked at.

use super::arguments::{GitArguments, is_on};
use super::nested;
use super::output::WorktreeEntry;
use super::session::{GitSession, command};
use super::verb::{GitVerb, WorktreeChanges};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::value::{Map, Value};
use crate::world::protected_name;
use crate::world::run::{ChangedFiles, ChildProcesses, ReadableFiles, RequiredGrant};
use crate::world::{EntryKind, TargetState, World, path};
use std::collections::{BTreeSet, HashSet};

/// How each of git's commands that compare is asked.
const RAW: [&str; 3] = ["--raw", "--no-renames", "-z"];
const INDEX: [&str; 3] = ["diff-index", "--cached", "--ignore-submodules=all"];
const TREES: [&str; 7] =
    ["diff-tree", "-r", "-m", "--root", "--no-commit-id", "--ignore-submodules=none", "--end-of-options"];

/// The notice where git itself would decide into which folder new files go.
const FOLDER_MOVED: &str = "a folder is gone on one side, and the other has new files in it: they stay in that folder (merge.directoryRenames is off here); git itself would look for where the folder moved";

/// Finds the files that a verb will change, and refuses those that the pack may not write.
pub(super) fn check_changes(
    session: &mut GitSession<'_>,
    verb: &GitVerb,
    said: &GitArguments,
    options: &Map,
) -> Result<()> {
    let is_on = |name: &str| is_on(options, name);
    let text = |name: &str| options.get(name).and_then(Value::as_text).map(str::to_owned);
    let first = || said.names.first().map_or("HEAD", String::as_str).to_owned();
    session.changed = ChangedFiles::Any;
    let finder = ChangeFinder { session };
    let names = match verb.changes {
        WorktreeChanges::WorktreeAdded | WorktreeChanges::Sparse => return Ok(()),
        WorktreeChanges::Nothing | WorktreeChanges::Made => return changes_no_file(session),
        WorktreeChanges::Switched => finder.between_head_and(&first())?,
        WorktreeChanges::Restored if is_on("staged") && !is_on("worktree") => return changes_no_file(session),
        WorktreeChanges::Restored => {
            let source = text("source").or_else(|| is_on("staged").then(|| "HEAD".to_owned()));
            finder.put_back(source.as_deref(), &said.paths)?
        }
        WorktreeChanges::Reset if !matches!(text("mode").as_deref(), Some("hard" | "merge" | "keep")) => {
            return changes_no_file(session);
        }
        WorktreeChanges::Reset => [finder.put_back(Some(&first()), &[])?, finder.between_head_and(&first())?].concat(),
        WorktreeChanges::Patched => match patched(session, verb, said, options)? {
            Some(names) => WorktreeEntry::from_names(names),
            None => return changes_no_file(session),
        },
        WorktreeChanges::Moved => WorktreeEntry::from_names(finder.moved(&said.paths)?),
        WorktreeChanges::Removed if is_on("cached") => return changes_no_file(session),
        WorktreeChanges::Removed => finder.removed(&said.paths)?,
        WorktreeChanges::Cleaned => {
            let ignored: &[&str] = if is_on("ignored") { &["--others"] } else { &["--others", "--exclude-standard"] };
            // Git passes by the repositories among them.
            let known = finder.known(ignored, &said.paths)?;
            WorktreeEntry::from_names(known.into_iter().filter(|name| !name.ends_with('/')).collect())
        }
        WorktreeChanges::StashPushed => finder.put_aside(said, is_on("staged"), is_on("untracked"))?,
        WorktreeChanges::WorktreeRemoved => return check_removed_worktree(session, verb, &first()),
        WorktreeChanges::Aborted => finder.aborted()?,
        WorktreeChanges::Merged
        | WorktreeChanges::Picked
        | WorktreeChanges::Reverted
        | WorktreeChanges::Rebased
        | WorktreeChanges::StashPopped => {
            let (wide, exact) = finder.joined(verb.changes, said, text("onto"))?;
            let has_moved = verb.changes == WorktreeChanges::Merged && finder.has_moved_folder(&first())?;
            if has_moved && session.repository.setting("merge.directoryrenames").is_none() {
                session.notices.push(FOLDER_MOVED.to_owned());
            }
            return check_merge(session, verb, &wide, &exact);
        }
    };
    check_found_entries(session, verb, options, &names)
}

/// Refuses entries that the pack may not write; else these are what git gets to change.
fn check_found_entries(
    session: &mut GitSession<'_>,
    verb: &GitVerb,
    options: &Map,
    entries: &[WorktreeEntry],
) -> Result<()> {
    //= docs/spec.md#git
    //# What is found in the working tree where no grant to read covers it MUST NOT be named, and the answer MUST tell how many such files were left out.
    match verb.changes {
        WorktreeChanges::Switched | WorktreeChanges::Patched | WorktreeChanges::Moved | WorktreeChanges::Removed => {
            may_write(session, verb.name, entries)?;
        }
        _ => may_write_found(session, verb.name, entries)?,
    }
    // Folders go that no name says.
    let has_folders = is_on(options, "untracked") || is_on(options, "folders");
    session.changed = match changed_files(session, entries) {
        ChangedFiles::Files(files) if has_folders => ChangedFiles::Around(files),
        changed => changed,
    };
    Ok(())
}

/// What a patch names, if it is to be put into files; what is read of the working tree is checked in any case.
fn patched(
    session: &mut GitSession<'_>,
    verb: &GitVerb,
    said: &GitArguments,
    options: &Map,
) -> Result<Option<Vec<String>>> {
    let names = ChangeFinder { session }.of_patch(said, is_on(options, "reverse"))?;
    if is_on(options, "cached") {
        return Ok(None);
    }
    session.contents = ReadableFiles::Of(may_be_read(session, verb, &names)?);
    Ok(Some(names).filter(|_| !is_on(options, "only_check")))
}

/// For a verb that changes no file of the working tree: git gets no folder of it to write.
fn changes_no_file(session: &mut GitSession<'_>) -> Result<()> {
    session.changed = ChangedFiles::None;
    Ok(())
}

/// What git gets to write. Where submodules are, it makes folders for them that no list of files has; where a folder or a
/// link gives way, it changes more than the entry.
pub(super) fn changed_files(session: &GitSession<'_>, entries: &[WorktreeEntry]) -> ChangedFiles {
    let has_submodules = !matches!(session.world.stat(&session.below_top(".gitmodules")), Ok(None));
    // The folder of a submodule that only moves stays as it is.
    let comes_or_goes = |entry: &&WorktreeEntry| !entry.is_submodule || entry.is_gone || entry.is_new;
    let files = entries.iter().filter(comes_or_goes).map(|entry| session.below_top(&entry.name)).collect();
    match has_submodules || !entries.iter().all(|entry| stands_alone(session, entry)) {
        true => ChangedFiles::Around(files),
        false => ChangedFiles::Files(files),
    }
}

//= docs/spec.md#git
//# Every file that a patch touches MUST be one that the pack may read: whether a patch fits tells what a file holds.
fn may_be_read(session: &GitSession<'_>, verb: &GitVerb, names: &[String]) -> Result<Vec<String>> {
    let places = names.iter().map(|name| session.below_top(name));
    places.map(|place| session.may_read(verb.name, &place).map(|()| place)).collect()
}

/// Checks a merge of any kind: with renames if all that differs may be written, else without.
fn check_merge(
    session: &mut GitSession<'_>,
    verb: &GitVerb,
    wide: &[WorktreeEntry],
    exact: &[WorktreeEntry],
) -> Result<()> {
    if may_write(session, verb.name, wide).is_ok() {
        session.changed = changed_files(session, &[wide, exact].concat());
        return Ok(());
    }
    may_write(session, verb.name, exact)?;
    session.changed = changed_files(session, exact);
    session.settings.push(("merge.renames".to_owned(), "false".to_owned()));
    session
        .notices
        .push("renames were not followed: both sides differ in files that the pack may not write".to_owned());
    Ok(())
}

/// All that lies in a working tree which goes.
fn check_removed_worktree(session: &mut GitSession<'_>, verb: &GitVerb, given: &str) -> Result<()> {
    let folder = path::join(&session.repository.folder, given);
    may_hold_tree(session.world, verb, &folder)?;
    session.changed = ChangedFiles::Around(vec![folder.clone()]);
    // Git itself refuses what is no working tree.
    let Ok(repository) = session.world.repository(&folder, RequiredGrant::ReadGit) else { return Ok(()) };
    if repository.top != folder {
        return Ok(());
    }
    let below = GitSession::new(session.world, repository, folder);
    let names = ChangeFinder { session: &below }.known(&["--cached", "--others"], &[])?;
    // What was hidden is not there.
    let there = |name: &&String| !matches!(below.world.stat(&below.below_top(name)), Ok(None));
    let names: Vec<String> = names.iter().filter(there).cloned().collect();
    may_write_found(&below, verb.name, &WorktreeEntry::from_names(names))
}

struct ChangeFinder<'a, 'w> {
    session: &'a GitSession<'w>,
}

impl ChangeFinder<'_, '_> {
    /// What one of git's commands that compare tells to differ.
    fn changed(&self, command: &[&str], named: &[&str]) -> Result<Vec<WorktreeEntry>> {
        let (command, options) = command.split_at(1);
        self.session.names(&[command, &RAW, options, named].concat()).map(WorktreeEntry::from_raw)
    }

    /// The commit that is checked out; none in a repository without commits.
    fn head(&self) -> Result<Option<String>> {
        self.hash("HEAD")
    }

    fn hash(&self, name: &str) -> Result<Option<String>> {
        let words = ["rev-parse", "--verify", "--quiet", "--end-of-options", &format!("{name}^{{commit}}")];
        let done = self.session.try_ask(&words)?;
        let hash = String::from_utf8_lossy(&done.ran.output).trim().to_owned();
        Ok((done.ran.code == 0 && !hash.is_empty()).then_some(hash))
    }

    /// The hash of a commit that has to be there.
    fn commit(&self, name: &str) -> Result<String> {
        self.hash(name)?.ok_or_else(|| {
            Diagnostic::new(Code("git"), format!("`{name}` names no commit"))
                .help("`git_read(\"refs\")` lists what there is")
        })
    }

    fn parents(&self, commit: &str) -> Result<Vec<String>> {
        let printed = self.session.ask(&["rev-parse", "--end-of-options", &format!("{commit}^@")])?;
        let lines = String::from_utf8_lossy(&printed).into_owned();
        Ok(lines.lines().filter(|line| !line.starts_with('-')).map(str::to_owned).collect())
    }

    fn between(&self, from: &str, to: &str) -> Result<Vec<WorktreeEntry>> {
        self.changed(&TREES, &[from, to])
    }

    /// What differs between a commit and what is in the index: a side of a merge, with what is in no commit yet.
    fn since_index(&self, commit: &str) -> Result<Vec<WorktreeEntry>> {
        self.changed(&INDEX, &[commit, "--"])
    }

    /// Where a change could go besides: git takes a file that is gone on our side for one that is new there, and older
    /// versions do so whatever they are told.
    fn followed(&self, base: &str, exact: &[WorktreeEntry]) -> Result<Vec<WorktreeEntry>> {
        let ours = self.since_index(base)?;
        let gone: HashSet<&str> = ours.iter().filter(|entry| entry.is_gone).map(|entry| entry.name.as_str()).collect();
        match exact.iter().any(|entry| gone.contains(entry.name.as_str())) {
            true => Ok(ours.into_iter().filter(|entry| entry.is_new).collect()),
            false => Ok(Vec::new()),
        }
    }

    fn between_head_and(&self, name: &str) -> Result<Vec<WorktreeEntry>> {
        let to = self.commit(name)?;
        match self.head()? {
            Some(head) => self.between(&head, &to),
            None => self.all_of(&to),
        }
    }

    fn all_of(&self, tree: &str) -> Result<Vec<WorktreeEntry>> {
        self.session
            .names(&["ls-tree", "-r", "-z", "--full-tree", "--end-of-options", tree])
            .map(WorktreeEntry::from_list)
    }

    /// Files that git writes anew when it puts back what a commit, or the index, has: besides those that differ, those whose
    /// time or size is not what the index says of them, though their lines are what it would write, with other ends of
    /// lines, say.
    fn written_anew(&self, source: Option<&str>, paths: &[&str]) -> Result<Vec<WorktreeEntry>> {
        let command = if source.is_some() { "diff-index" } else { "diff-files" };
        let source = source.map(|source| self.commit(source)).transpose()?;
        let named: Vec<&str> = source.as_deref().into_iter().chain(["--"]).chain(paths.iter().copied()).collect();
        self.changed(&[command, "--ignore-submodules=all"], &named)
    }

    /// What a verb writes that puts back files, whatever they are now.
    fn put_back(&self, source: Option<&str>, paths: &[String]) -> Result<Vec<WorktreeEntry>> {
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        Ok([self.written_anew(source, &paths)?, self.assumed(&paths)?].concat())
    }

    /// Files that the index says to be unchanged, whatever they are (`update-index --assume-unchanged`): a difference of them
    /// is not told, and git puts them back all the same.
    fn assumed(&self, paths: &[&str]) -> Result<Vec<WorktreeEntry>> {
        let start = ["ls-files", "-v", "-z", "--full-name", "--cached", "--"];
        let listed = match paths {
            [] => self.session.names_by_patterns(&[&start[..], &[":(top)"]].concat()),
            paths => self.session.names(&[&start[..], paths].concat()),
        };
        // A small letter is the mark; behind it and a blank stands the name.
        let marked = |line: &String| line.starts_with(|tag: char| tag.is_ascii_lowercase());
        let names = listed?.into_iter().filter(marked).filter_map(|line| line.get(2..).map(str::to_owned));
        Ok(WorktreeEntry::from_names(names.collect()))
    }

    /// What a stash takes from the working tree.
    fn put_aside(&self, said: &GitArguments, is_staged: bool, has_untracked: bool) -> Result<Vec<WorktreeEntry>> {
        let paths: Vec<&str> = said.paths.iter().map(String::as_str).collect();
        let status =
            ["status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=no", "--ignore-submodules=all"];
        // Git looks into the files first: one that has another time only, it leaves. Two letters and a blank precede a name.
        let seen = self.session.names(&[&status[..], &["--"], &paths].concat())?;
        let seen: HashSet<&str> = seen.iter().filter_map(|line| line.get(3..)).collect();
        let mut found = self.written_anew(self.head()?.as_deref(), &paths)?;
        found.retain(|entry| seen.contains(entry.name.as_str()));
        found.extend(self.assumed(&paths)?);
        if is_staged {
            // All that is staged, whatever the paths are.
            found.extend(self.changed(&["diff", "--cached", "--ignore-submodules=all"], &[])?);
        }
        if has_untracked {
            found.extend(WorktreeEntry::from_names(self.known(&["--others", "--exclude-standard"], &said.paths)?));
        }
        Ok(found)
    }

    /// Files that git knows, or does not.
    fn known(&self, which: &[&str], paths: &[String]) -> Result<Vec<String>> {
        let start = [&["ls-files", "-z", "--full-name"], which, &["--"]].concat();
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        // A repository in a folder is shown as that folder, with a `/` at its end.
        match paths.is_empty() {
            // All of the working tree, wherever the call is.
            true => self.session.names_by_patterns(&[&start[..], &[":(top)"]].concat()),
            false => self.session.names(&[&start[..], &paths[..]].concat()),
        }
    }

    /// What `rm` takes away: of a submodule the folder, too, and what `.gitmodules` says of it.
    fn removed(&self, paths: &[String]) -> Result<Vec<WorktreeEntry>> {
        let mut found = WorktreeEntry::from_list(self.known(&["--cached", "--stage"], paths)?);
        let Some(submodule) = found.iter().find(|entry| entry.is_submodule) else { return Ok(found) };
        let place = self.session.below_top(&submodule.name);
        if self.session.world.stat(&place)?.is_some() && !self.session.world.list(&place)?.is_empty() {
            let message = format!("git rm would take away the submodule `{}` with all in it", submodule.name);
            return Err(Diagnostic::new(Code::WORLD, message)
                .help("`cached: true` takes it out of the index and leaves the folder; a person does the rest with git itself"));
        }
        found.extend(WorktreeEntry::from_names(vec![".gitmodules".to_owned()]));
        Ok(found)
    }

    //= docs/spec.md#git
    //# A patch that renames MUST be refused.
    fn of_patch(&self, said: &GitArguments, is_reversed: bool) -> Result<Vec<String>> {
        let ask = |form: &[&str]| {
            let mut words = vec!["apply".to_owned()];
            words.extend(is_reversed.then(|| "--reverse".to_owned()));
            words.extend(form.iter().map(|word| (*word).to_owned()));
            let mut asked = command(words, &self.session.folder, RequiredGrant::ReadGit, ChildProcesses::None);
            asked.input.clone_from(&said.input);
            let done = self.session.world.run_git(&asked, Some(&self.session.repository), &[])?;
            match done.ran.code {
                0 => Ok(done.ran.output),
                _ => {
                    let told = String::from_utf8_lossy(&done.ran.errors).trim().to_owned();
                    Err(Diagnostic::new(Code("git"), format!("the patch cannot be read: {told}"))
                        .help("`git diff` writes such patches"))
                }
            }
        };
        let summary = ask(&["--summary"])?;
        let renames = |line: &[u8]| line.starts_with(b" rename ") || line.starts_with(b" copy ");
        if summary.split(|byte| *byte == b'\n').any(renames) {
            return Err(Diagnostic::new(Code::WORLD, "git apply does not take a patch that renames or copies files")
                .help("make it by `git diff --no-renames`"));
        }
        let mut names = Vec::new();
        for entry in ask(&["--numstat", "-z"])?.split(|byte| *byte == 0).filter(|entry| !entry.is_empty()) {
            let name = entry.splitn(3, |byte| *byte == b'\t').nth(2).unwrap_or(entry);
            let name = std::str::from_utf8(name);
            names.push(
                name.map_err(|_| {
                    Diagnostic::new(Code::UTF8, "the patch names a file that is no UTF-8").help("rename the file")
                })?
                .to_owned(),
            );
        }
        Ok(names)
    }

    /// The files that `mv` moves and their destinations. Folders are refused: their contents were not checked.
    fn moved(&self, paths: &[String]) -> Result<Vec<String>> {
        let session = self.session;
        let Some((to, from)) = paths.split_last().filter(|(_, from)| !from.is_empty()) else {
            return Err(Diagnostic::new(Code::ARGUMENTS, "git \"mv\" needs files, and where they go")
                .help("`paths: [\"a.md\", \"b.md\"]`"));
        };
        let place = |given: &str| path::join(&session.repository.folder, given);
        let is_folder = |given: &str| {
            session.world.stat(given).map(|found| found.is_some_and(|stat| stat.entry == EntryKind::Folder))
        };
        let into = is_folder(&place(to))?;
        let mut names = Vec::new();
        for file in from {
            if is_folder(&place(file))? {
                if session.world.stat(&path::join(&place(file), ".git")).is_ok_and(|there| there.is_some()) {
                    let message = format!("git \"mv\" moves files, and `{file}` is a repository of its own");
                    return Err(Diagnostic::new(Code::ARGUMENTS, message)
                        .help("a person moves a submodule with git itself: its configuration changes, too"));
                }
                return Err(Diagnostic::new(
                    Code::ARGUMENTS,
                    format!("git \"mv\" moves files, and `{file}` is a folder"),
                )
                .help("name the files in it: `git_read(\"files\", #{ paths: … })` lists them"));
            }
            names.push(place(file));
            names.push(if into { path::join(&place(to), path::name(file)) } else { place(to) });
        }
        let top = &session.repository.top;
        Ok(names.iter().filter_map(|name| path::relative(name, top)).collect())
    }

    /// What giving up a merge, rebase, cherry-pick or revert can bring back.
    fn aborted(&self) -> Result<Vec<WorktreeEntry>> {
        let Some(head) = self.head()? else { return Ok(Vec::new()) };
        let mut names = self.put_back(Some(&head), &[])?;
        for begun in [
            "ORIG_HEAD",
            "MERGE_AUTOSTASH",
            "sequencer/head",
            "rebase-merge/orig-head",
            "rebase-merge/autostash",
            "rebase-apply/orig-head",
            "rebase-apply/autostash",
        ] {
            if begun != "ORIG_HEAD"
                && let Some(begun) = self.hash(begun)?
            {
                names.extend(self.between(&head, &begun)?);
            }
        }
        Ok(names)
    }

    /// What a merge of any kind can change, and what it changes if renames are not followed.
    fn joined(
        &self,
        changes: WorktreeChanges,
        said: &GitArguments,
        onto: Option<String>,
    ) -> Result<(Vec<WorktreeEntry>, Vec<WorktreeEntry>)> {
        let Some(head) = self.head()? else {
            let all = self.all_of(&self.commit(said.names.first().map_or("HEAD", String::as_str))?)?;
            return Ok((all.clone(), all));
        };
        match changes {
            WorktreeChanges::Merged => self.merged(&head, &said.names[0]),
            WorktreeChanges::Picked | WorktreeChanges::Reverted => {
                self.picked(&said.names, changes == WorktreeChanges::Reverted)
            }
            WorktreeChanges::Rebased => self.rebased(&head, &said.names[0], onto),
            _ => self.popped(said.names.first().map_or("stash@{0}", String::as_str)),
        }
    }

    //= docs/spec.md#git
    //# A merge that leaves new files in a folder which the other side moved MUST tell so.
    /// Whether one side has new files in a folder of which the other one has left nothing.
    fn has_moved_folder(&self, other: &str) -> Result<bool> {
        let Some(head) = self.head()? else { return Ok(false) };
        let other = self.commit(other)?;
        let base = self.session.try_ask(&["merge-base", "--end-of-options", &head, &other])?.ran.output;
        let base = String::from_utf8_lossy(&base).trim().to_owned();
        if base.is_empty() {
            return Ok(false);
        }
        let (ours, theirs) = (self.between(&base, &head)?, self.between(&base, &other)?);
        Ok(self.lacks_folder(&ours, &theirs, &other)? || self.lacks_folder(&theirs, &ours, &head)?)
    }

    /// Whether a side put something new into a folder that `other` has no more, though it changed there.
    fn lacks_folder(&self, new: &[WorktreeEntry], changed: &[WorktreeEntry], other: &str) -> Result<bool> {
        let gone: HashSet<&str> =
            changed.iter().filter(|entry| entry.is_gone).map(|entry| path::folder(&entry.name)).collect();
        let folders = new.iter().filter(|entry| entry.is_new).map(|entry| path::folder(&entry.name));
        let folders: HashSet<&str> = folders.filter(|folder| *folder != "." && gone.contains(folder)).collect();
        for folder in folders {
            let name = format!("{other}:{folder}");
            if self.session.try_ask(&["rev-parse", "--verify", "--quiet", "--end-of-options", &name])?.ran.code != 0 {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn merged(&self, head: &str, other: &str) -> Result<(Vec<WorktreeEntry>, Vec<WorktreeEntry>)> {
        let other = self.commit(other)?;
        let wide = [self.between(head, &other)?, self.since_index(&other)?].concat();
        let bases = self.session.try_ask(&["merge-base", "--all", "--end-of-options", head, &other])?.ran.output;
        let bases = String::from_utf8_lossy(&bases).into_owned();
        let mut exact = Vec::new();
        for base in bases.lines() {
            exact.extend(self.between(base, &other)?);
        }
        for base in bases.lines() {
            exact.extend(self.followed(base, &exact)?);
        }
        if bases.is_empty() {
            exact.clone_from(&wide);
        }
        Ok((wide, exact))
    }

    fn picked(&self, names: &[String], is_reverted: bool) -> Result<(Vec<WorktreeEntry>, Vec<WorktreeEntry>)> {
        let mut words = vec!["rev-list", "--no-walk", "--end-of-options"];
        words.extend(names.iter().map(String::as_str));
        let commits = String::from_utf8_lossy(&self.session.ask(&words)?).into_owned();
        let (mut wide, mut exact) = (Vec::new(), Vec::new());
        for commit in commits.lines() {
            exact.extend(self.changed(&TREES, &[commit])?);
            wide.extend(self.since_index(commit)?);
        }
        wide.extend(exact.clone());
        for commit in commits.lines() {
            let bases = if is_reverted { vec![commit.to_owned()] } else { self.parents(commit)? };
            for base in bases {
                exact.extend(self.followed(&base, &exact)?);
            }
        }
        Ok((wide, exact))
    }

    /// Where a rename could lead, one of the commits or the place that they come to has a file: all of these are asked about.
    fn rebased(
        &self,
        head: &str,
        upstream: &str,
        onto: Option<String>,
    ) -> Result<(Vec<WorktreeEntry>, Vec<WorktreeEntry>)> {
        let upstream = self.commit(upstream)?;
        let onto = onto.map_or_else(|| Ok(upstream.clone()), |onto| self.commit(&onto))?;
        let range = format!("{upstream}..{head}");
        let log = ["log", "-m", "--raw", "--no-renames", "--ignore-submodules=none", "--format=", "-z"];
        let commits = self.session.names(&[&log[..], &["--end-of-options", &range]].concat())?;
        let exact = [self.between(head, &onto)?, WorktreeEntry::from_raw(commits)].concat();
        Ok((exact.clone(), exact))
    }

    fn popped(&self, entry: &str) -> Result<(Vec<WorktreeEntry>, Vec<WorktreeEntry>)> {
        let entry = self.commit(entry)?;
        let base = format!("{entry}^1");
        let mut exact = self.between(&base, &entry)?;
        exact.extend(self.followed(&base, &exact)?);
        if let Some(untracked) = self.hash(&format!("{entry}^3"))? {
            exact.extend(self.all_of(&untracked)?);
        }
        Ok(([self.since_index(&entry)?, exact.clone()].concat(), exact))
    }
}

/// How many refused files are named besides the first.
const MOST_NAMED: usize = 20;

//= docs/spec.md#git
//# Every file that git is going to write or remove MUST pass the check of a write by the script itself.
//= docs/spec.md#git
//# A tracked symlink MUST be replaced and removed as an entry of its own, and a submodule's pointer without its folder, as git does; where git would take a folder away, all that lies in it MUST pass.
/// Refuses entries that the pack may not write.
pub(super) fn may_write(session: &GitSession<'_>, verb: &str, entries: &[WorktreeEntry]) -> Result<()> {
    let names: HashSet<&str> = entries.iter().map(|entry| entry.name.as_str()).collect();
    let mut refused = entries.iter().filter_map(|entry| Some((entry, check_entry(session, entry, &names).err()?)));
    let Some((first, fault)) = refused.next() else { return Ok(()) };
    Err(refused_files(verb, &first.name, &fault, refused.map(|(entry, _)| entry.name.as_str())))
}

/// The same of entries that were found in the working tree: what no grant to read covers is not named.
fn may_write_found(session: &GitSession<'_>, verb: &str, entries: &[WorktreeEntry]) -> Result<()> {
    let is_hidden = |entry: &&WorktreeEntry| {
        let place = session.below_top(&entry.name);
        session.world.may_replace(&place).is_err() && session.world.may_read(&place).is_err()
    };
    match entries.iter().filter(is_hidden).count() {
        0 => may_write(session, verb, entries),
        count => {
            let message = format!("git {verb} would change {count} files that no grant to write covers");
            let next = match verb {
                // A hard reset takes no paths.
                "reset" => "`restore` the `paths` that the pack may write, or widen its grant to write",
                _ => "name `paths` that the pack may write",
            };
            let help = format!("{next}; the files are not named, for it may not read there");
            Err(Diagnostic::new(Code::WORLD, message).help(help))
        }
    }
}

/// Whether nothing but the entry itself changes with it: no folder goes, and no link on its way.
fn stands_alone(session: &GitSession<'_>, entry: &WorktreeEntry) -> bool {
    let standing = session.world.may_replace(&session.below_top(&entry.name));
    matches!(standing, Ok(TargetState::File | TargetState::Link))
}

/// Why the first entry is refused, and which others are: whoever widens a grant wants to know all of them.
fn refused_files<'a>(
    verb: &str,
    first: &str,
    refused: &Diagnostic,
    others: impl Iterator<Item = &'a str>,
) -> Box<Diagnostic> {
    let message = format!("git {verb} would write `{first}`: {}", refused.message);
    let others: BTreeSet<&str> = others.filter(|name| *name != first).collect();
    let mut told = Diagnostic::new(Code::WORLD, message);
    told.help.clone_from(&refused.help);
    // What git does not know yet is in the way as long as nobody says what it is.
    if let ("stash_push" | "clean", Some(part)) = (verb, first.split('/').find_map(protected_name)) {
        told.help =
            Some(format!("name `paths` without it, or have a person commit `{part}` or name it in `.gitignore`"));
    }
    if !others.is_empty() {
        let named: Vec<String> = others.iter().take(MOST_NAMED).map(|name| format!("`{name}`")).collect();
        let more = others.len() - named.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        told.message += &format!("; it would also write {}{more}, which are refused as well", named.join(", "));
    }
    told
}

fn check_entry(session: &GitSession<'_>, entry: &WorktreeEntry, names: &HashSet<&str>) -> Result<()> {
    let place = session.below_top(&entry.name);
    match session.world.may_replace(&place)? {
        TargetState::File | TargetState::Link => Ok(()),
        TargetState::Folder if entry.is_submodule => Ok(()),
        TargetState::Folder => check_folder(session, &entry.name),
        // The link goes first if it changes, too: then there is a folder.
        TargetState::BehindLink if goes_first(session, &entry.name, names) => Ok(()),
        TargetState::BehindLink => session.world.may_write(&place),
    }
}

/// Whether a link on the way to an entry is itself one of those that change.
fn goes_first(session: &GitSession<'_>, name: &str, names: &HashSet<&str>) -> bool {
    let above = name.match_indices('/').map(|(at, _)| &name[..at]);
    let is_link = |name: &str| matches!(session.world.may_replace(&session.below_top(name)), Ok(TargetState::Link));
    above.into_iter().find(|name| is_link(name)).is_some_and(|link| names.contains(link))
}

/// A folder where git puts a file: all in it would go.
fn check_folder(session: &GitSession<'_>, name: &str) -> Result<()> {
    if let Some(repository) = nested::repository_in(session, name)? {
        return Err(nested::own_repository(&repository));
    }
    let within = format!("{}/", name.trim_end_matches('/'));
    let literal = format!(":(top,literal){within}");
    let ours = ["ls-files", "-z", "--full-name", "--cached", "--others", "--", &literal];
    for below in session.names_by_patterns(&ours)? {
        let is_empty = || session.world.list(&session.below_top(name)).is_ok_and(|found| found.is_empty());
        if !below.starts_with(&within) && is_empty() {
            // A submodule that nobody has brought.
            continue;
        }
        if below.ends_with('/') || !below.starts_with(&within) {
            return Err(nested::own_repository(&below));
        }
        match session.world.may_replace(&session.below_top(&below))? {
            TargetState::File | TargetState::Link => {}
            TargetState::Folder | TargetState::BehindLink => session.world.may_write(&session.below_top(&below))?,
        }
    }
    Ok(())
}

/// Refuses a folder of which the pack may not write all: with a `.git` in it, all of it is git's to change.
pub(super) fn may_fill(world: &dyn World, verb: &GitVerb, folder: &str) -> Result<()> {
    world.may_fill(folder).map_err(|refused| {
        let told =
            Diagnostic::new(Code::WORLD, format!("git {} would fill `{folder}`: {}", verb.name, refused.message));
        told.help(refused.help.clone().unwrap_or_default())
    })
}

//= docs/spec.md#git
//# A working tree MUST be made and removed below a granted root only, and else be refused before anything is made.
/// The same of a working tree: git runs in it, too, so it lies below a root.
pub(super) fn may_hold_tree(world: &dyn World, verb: &GitVerb, folder: &str) -> Result<()> {
    may_fill(world, verb, folder)?;
    let place = world.spelled(folder);
    if is_below_roots(world, &place) {
        return Ok(());
    }
    let message = format!("git {} works in `{place}`, outside of the roots: git runs below those alone", verb.name);
    Err(Diagnostic::new(Code::WORLD, message).help(format!(
        "start with `--root {}`, or name that in `roots` of `toolsd.toml` and run `toolsd trust`",
        path::folder(&place)
    )))
}

/// Whether a place, spelled as it lies there, is below one of the roots.
pub(super) fn is_below_roots(world: &dyn World, place: &str) -> bool {
    path::is_below(place, ".") || world.granted_roots().iter().any(|root| path::is_below(place, root))
}
