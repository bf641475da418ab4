//! Which files a verb is going to write or remove: asked of git before it does, and checked one by one.
//!
//! Where a merge is involved, more is asked than will change: every file in which the two sides differ. If one of them
//! may not be written, renames are switched off for this call, and what is left is what the other side changed. A git
//! before 2.50 follows them all the same, so where a file that the other side changed is gone here, all that is new here
//! is asked about, too: a rename can lead nowhere else.

use super::arguments::{Said, is_on};
use super::entries::{Entry, may_write, may_write_found, stands_alone};
use super::session::{Session, command};
use super::steps::may_hold_tree;
use super::verb::{Changes, Verb};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::value::{Map, Value};
use crate::world::run::{Changed, Contents, Needs, Processes};
use crate::world::{EntryKind, path};
use std::collections::HashSet;

/// How each of git's commands that compare is asked.
const RAW: [&str; 3] = ["--raw", "--no-renames", "-z"];
const INDEX: [&str; 3] = ["diff-index", "--cached", "--ignore-submodules=all"];
const TREES: [&str; 7] =
    ["diff-tree", "-r", "-m", "--root", "--no-commit-id", "--ignore-submodules=none", "--end-of-options"];

/// What is told where git would ask, or decide, where new files belong.
const FOLDER_MOVED: &str = "a folder is gone on one side, and the other has new files in it: they stay in that folder (merge.directoryRenames is off here); git itself would look for where the folder moved";

/// Refuses what the pack may not write.
pub(super) fn check(session: &mut Session<'_>, verb: &Verb, said: &Said, options: &Map) -> Result<()> {
    let is_on = |name: &str| is_on(options, name);
    let text = |name: &str| options.get(name).and_then(Value::as_text).map(str::to_owned);
    let first = || said.names.first().map_or("HEAD", String::as_str).to_owned();
    session.changed = Changed::Any;
    let look = Look { session };
    let names = match verb.changes {
        Changes::WorktreeAdded | Changes::Sparse => return Ok(()),
        Changes::Nothing | Changes::Made => return none(session),
        Changes::Switched => look.between_head_and(&first())?,
        Changes::Restored if is_on("staged") && !is_on("worktree") => return none(session),
        Changes::Restored => {
            let source = text("source").or_else(|| is_on("staged").then(|| "HEAD".to_owned()));
            look.put_back(source.as_deref(), &said.paths)?
        }
        Changes::Reset if !matches!(text("mode").as_deref(), Some("hard" | "merge" | "keep")) => return none(session),
        Changes::Reset => [look.put_back(Some(&first()), &[])?, look.between_head_and(&first())?].concat(),
        Changes::Patched => match patched(session, verb, said, options)? {
            Some(names) => Entry::files(names),
            None => return none(session),
        },
        Changes::Moved => Entry::files(look.moved(&said.paths)?),
        Changes::Removed if is_on("cached") => return none(session),
        Changes::Removed => look.removed(&said.paths)?,
        Changes::Cleaned => {
            let ignored: &[&str] = if is_on("ignored") { &["--others"] } else { &["--others", "--exclude-standard"] };
            // Git passes by the repositories among them.
            let known = look.known(ignored, &said.paths)?;
            Entry::files(known.into_iter().filter(|name| !name.ends_with('/')).collect())
        }
        Changes::StashPushed => look.put_aside(said, is_on("staged"), is_on("untracked"))?,
        Changes::WorktreeRemoved => return worktree(session, verb, &first()),
        Changes::Aborted => look.aborted()?,
        Changes::Merged | Changes::Picked | Changes::Reverted | Changes::Rebased | Changes::StashPopped => {
            let (wide, exact) = look.joined(verb.changes, said, text("onto"))?;
            let has_moved = verb.changes == Changes::Merged && look.has_moved_folder(&first())?;
            if has_moved && session.repository.setting("merge.directoryrenames").is_none() {
                session.notices.push(FOLDER_MOVED.to_owned());
            }
            return joined(session, verb, &wide, &exact);
        }
    };
    //= docs/spec.md#git
    //# What is found in the working tree where no grant to read covers it MUST NOT be named, and the answer MUST tell how many such files were left out.
    match verb.changes {
        Changes::Switched | Changes::Patched | Changes::Moved | Changes::Removed => {
            may_write(session, verb.name, &names)?;
        }
        _ => may_write_found(session, verb.name, &names)?,
    }
    // Folders go that no name says.
    let has_folders = is_on("untracked") || is_on("folders");
    session.changed = match changed(session, &names) {
        Changed::Files(files) if has_folders => Changed::Around(files),
        changed => changed,
    };
    Ok(())
}

/// What a patch names, if it is to be put into files; what is read of the working tree is checked in any case.
fn patched(session: &mut Session<'_>, verb: &Verb, said: &Said, options: &Map) -> Result<Option<Vec<String>>> {
    let names = Look { session }.of_patch(said, is_on(options, "reverse"))?;
    if is_on(options, "cached") {
        return Ok(None);
    }
    session.contents = Contents::Of(may_be_read(session, verb, &names)?);
    Ok(Some(names).filter(|_| !is_on(options, "only_check")))
}

/// A verb that leaves the working tree as it is: it gets no folder of it to write.
fn none(session: &mut Session<'_>) -> Result<()> {
    session.changed = Changed::None;
    Ok(())
}

/// What git gets to write. Where submodules are, it makes folders for them that no list of files has; where a folder or a
/// link gives way, it changes more than the entry.
pub(super) fn changed(session: &Session<'_>, entries: &[Entry]) -> Changed {
    let has_submodules = !matches!(session.world.stat(&session.below_top(".gitmodules")), Ok(None));
    // The folder of a submodule that only moves stays as it is.
    let comes_or_goes = |entry: &&Entry| !entry.is_submodule || entry.is_gone || entry.is_new;
    let files = entries.iter().filter(comes_or_goes).map(|entry| session.below_top(&entry.name)).collect();
    match has_submodules || !entries.iter().all(|entry| stands_alone(session, entry)) {
        true => Changed::Around(files),
        false => Changed::Files(files),
    }
}

//= docs/spec.md#git
//# Every file that a patch touches MUST be one that the pack may read: whether a patch fits tells what a file holds.
fn may_be_read(session: &Session<'_>, verb: &Verb, names: &[String]) -> Result<Vec<String>> {
    let places = names.iter().map(|name| session.below_top(name));
    places.map(|place| session.may_read(verb.name, &place).map(|()| place)).collect()
}

/// Checks a merge of any kind: with renames if all that differs may be written, else without.
fn joined(session: &mut Session<'_>, verb: &Verb, wide: &[Entry], exact: &[Entry]) -> Result<()> {
    if may_write(session, verb.name, wide).is_ok() {
        session.changed = changed(session, &[wide, exact].concat());
        return Ok(());
    }
    may_write(session, verb.name, exact)?;
    session.changed = changed(session, exact);
    session.settings.push(("merge.renames".to_owned(), "false".to_owned()));
    session
        .notices
        .push("renames were not followed: both sides differ in files that the pack may not write".to_owned());
    Ok(())
}

/// All that lies in a working tree which goes.
fn worktree(session: &mut Session<'_>, verb: &Verb, given: &str) -> Result<()> {
    let folder = path::join(&session.repository.folder, given);
    may_hold_tree(session.world, verb, &folder)?;
    session.changed = Changed::Around(vec![folder.clone()]);
    // Git itself refuses what is no working tree.
    let Ok(repository) = session.world.repository(&folder, Needs::ReadGit) else { return Ok(()) };
    if repository.top != folder {
        return Ok(());
    }
    let below = Session::new(session.world, repository, folder);
    let names = Look { session: &below }.known(&["--cached", "--others"], &[])?;
    // What was hidden is not there.
    let there = |name: &&String| !matches!(below.world.stat(&below.below_top(name)), Ok(None));
    let names: Vec<String> = names.iter().filter(there).cloned().collect();
    may_write_found(&below, verb.name, &Entry::files(names))
}

struct Look<'a, 'w> {
    session: &'a Session<'w>,
}

impl Look<'_, '_> {
    /// What one of git's commands that compare tells to differ.
    fn changed(&self, command: &[&str], named: &[&str]) -> Result<Vec<Entry>> {
        let (command, options) = command.split_at(1);
        self.session.names(&[command, &RAW, options, named].concat()).map(Entry::of_raw)
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

    fn between(&self, from: &str, to: &str) -> Result<Vec<Entry>> {
        self.changed(&TREES, &[from, to])
    }

    /// What differs between a commit and what is in the index: a side of a merge, with what is in no commit yet.
    fn since_index(&self, commit: &str) -> Result<Vec<Entry>> {
        self.changed(&INDEX, &[commit, "--"])
    }

    /// Where a change could go besides: git takes a file that is gone on our side for one that is new there, and older
    /// versions do so whatever they are told.
    fn followed(&self, base: &str, exact: &[Entry]) -> Result<Vec<Entry>> {
        let ours = self.since_index(base)?;
        let gone: HashSet<&str> = ours.iter().filter(|entry| entry.is_gone).map(|entry| entry.name.as_str()).collect();
        match exact.iter().any(|entry| gone.contains(entry.name.as_str())) {
            true => Ok(ours.into_iter().filter(|entry| entry.is_new).collect()),
            false => Ok(Vec::new()),
        }
    }

    fn between_head_and(&self, name: &str) -> Result<Vec<Entry>> {
        let to = self.commit(name)?;
        match self.head()? {
            Some(head) => self.between(&head, &to),
            None => self.all_of(&to),
        }
    }

    fn all_of(&self, tree: &str) -> Result<Vec<Entry>> {
        self.session.names(&["ls-tree", "-r", "-z", "--full-tree", "--end-of-options", tree]).map(Entry::of_list)
    }

    /// Files that git writes anew when it puts back what a commit, or the index, has: besides those that differ, those whose
    /// time or size is not what the index says of them, though their lines are what it would write, with other ends of
    /// lines, say.
    fn written_anew(&self, source: Option<&str>, paths: &[&str]) -> Result<Vec<Entry>> {
        let command = if source.is_some() { "diff-index" } else { "diff-files" };
        let source = source.map(|source| self.commit(source)).transpose()?;
        let named: Vec<&str> = source.as_deref().into_iter().chain(["--"]).chain(paths.iter().copied()).collect();
        self.changed(&[command, "--ignore-submodules=all"], &named)
    }

    /// What a verb writes that puts back files, whatever they are now.
    fn put_back(&self, source: Option<&str>, paths: &[String]) -> Result<Vec<Entry>> {
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        Ok([self.written_anew(source, &paths)?, self.assumed(&paths)?].concat())
    }

    /// Files that the index says to be unchanged, whatever they are (`update-index --assume-unchanged`): a difference of them
    /// is not told, and git puts them back all the same.
    fn assumed(&self, paths: &[&str]) -> Result<Vec<Entry>> {
        let start = ["ls-files", "-v", "-z", "--full-name", "--cached", "--"];
        let listed = match paths {
            [] => self.session.names_by_patterns(&[&start[..], &[":(top)"]].concat()),
            paths => self.session.names(&[&start[..], paths].concat()),
        };
        // A small letter is the mark; behind it and a blank stands the name.
        let marked = |line: &String| line.starts_with(|tag: char| tag.is_ascii_lowercase());
        let names = listed?.into_iter().filter(marked).filter_map(|line| line.get(2..).map(str::to_owned));
        Ok(Entry::files(names.collect()))
    }

    /// What a stash takes from the working tree.
    fn put_aside(&self, said: &Said, is_staged: bool, has_untracked: bool) -> Result<Vec<Entry>> {
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
            found.extend(Entry::files(self.known(&["--others", "--exclude-standard"], &said.paths)?));
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
    fn removed(&self, paths: &[String]) -> Result<Vec<Entry>> {
        let mut found = Entry::of_list(self.known(&["--cached", "--stage"], paths)?);
        let Some(submodule) = found.iter().find(|entry| entry.is_submodule) else { return Ok(found) };
        let place = self.session.below_top(&submodule.name);
        if self.session.world.stat(&place)?.is_some() && !self.session.world.list(&place)?.is_empty() {
            let message = format!("git rm would take away the submodule `{}` with all in it", submodule.name);
            return Err(Diagnostic::new(Code::WORLD, message)
                .help("`cached: true` takes it out of the index and leaves the folder; a person does the rest with git itself"));
        }
        found.extend(Entry::files(vec![".gitmodules".to_owned()]));
        Ok(found)
    }

    //= docs/spec.md#git
    //# A patch that renames MUST be refused.
    fn of_patch(&self, said: &Said, is_reversed: bool) -> Result<Vec<String>> {
        let ask = |form: &[&str]| {
            let mut words = vec!["apply".to_owned()];
            words.extend(is_reversed.then(|| "--reverse".to_owned()));
            words.extend(form.iter().map(|word| (*word).to_owned()));
            let mut asked = command(words, &self.session.folder, Needs::ReadGit, Processes::None);
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

    /// Files are moved one by one: what lies in a folder that moves, nobody has looked at.
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
    fn aborted(&self) -> Result<Vec<Entry>> {
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
    fn joined(&self, changes: Changes, said: &Said, onto: Option<String>) -> Result<(Vec<Entry>, Vec<Entry>)> {
        let Some(head) = self.head()? else {
            let all = self.all_of(&self.commit(said.names.first().map_or("HEAD", String::as_str))?)?;
            return Ok((all.clone(), all));
        };
        match changes {
            Changes::Merged => self.merged(&head, &said.names[0]),
            Changes::Picked | Changes::Reverted => self.picked(&said.names, changes == Changes::Reverted),
            Changes::Rebased => self.rebased(&head, &said.names[0], onto),
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
    fn lacks_folder(&self, new: &[Entry], changed: &[Entry], other: &str) -> Result<bool> {
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

    fn merged(&self, head: &str, other: &str) -> Result<(Vec<Entry>, Vec<Entry>)> {
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

    fn picked(&self, names: &[String], is_reverted: bool) -> Result<(Vec<Entry>, Vec<Entry>)> {
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
    fn rebased(&self, head: &str, upstream: &str, onto: Option<String>) -> Result<(Vec<Entry>, Vec<Entry>)> {
        let upstream = self.commit(upstream)?;
        let onto = onto.map_or_else(|| Ok(upstream.clone()), |onto| self.commit(&onto))?;
        let range = format!("{upstream}..{head}");
        let log = ["log", "-m", "--raw", "--no-renames", "--ignore-submodules=none", "--format=", "-z"];
        let commits = self.session.names(&[&log[..], &["--end-of-options", &range]].concat())?;
        let exact = [self.between(head, &onto)?, Entry::of_raw(commits)].concat();
        Ok((exact.clone(), exact))
    }

    fn popped(&self, entry: &str) -> Result<(Vec<Entry>, Vec<Entry>)> {
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
