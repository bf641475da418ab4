//! `merge` in steps, because git's own starts git: the merge is made in memory first (`merge-tree`), so that nothing
//! has changed where it cannot be made; then files follow, and the state that `merge --abort` and `commit` look for.
//!
//! Absent: several branches at once, `rerere` and autostash.

use super::answer::{answer, run as run_command};
use super::arguments::{GitArguments, is_on};
use super::call::GitCall;
use super::notices::collect_own_files;
use super::verb::GitVerb;
use crate::diagnostic::Result;
use crate::value::{Map, Value};
use crate::world::path;
use crate::world::run::{GitChanges, ProgramCommand, ProgramOutput};

/// The message for a person after a conflict.
const CONFLICT: &str = "Automatic merge failed; fix conflicts and then commit the result.\n";

/// A merge that needs a commit, or a squash.
struct Merge<'a, 'b> {
    call: &'a mut GitCall<'b>,
    /// The branch or commit to merge, as it was named, and its commit.
    name: String,
    other: String,
    /// The commit that it is merged into.
    head: String,
    message: String,
    is_squash: bool,
    no_ff: bool,
}

/// What `merge-tree` made.
struct MergedTree {
    tree: String,
    /// Entries of an index for each path in conflict: mode, hash, stage, a tab, and the path.
    conflicts: Vec<Vec<u8>>,
    /// Git's messages about it.
    messages: Vec<u8>,
}

impl MergedTree {
    /// Reads `merge-tree --write-tree -z --messages`: see `git-merge-tree(1)`, "OUTPUT".
    fn parse(printed: &[u8]) -> Self {
        let mut parts = printed.split(|byte| *byte == 0);
        let tree = String::from_utf8_lossy(parts.next().unwrap_or_default()).into_owned();
        let conflicts = parts.by_ref().take_while(|part| !part.is_empty()).map(<[u8]>::to_vec).collect();
        let mut messages = Vec::new();
        // How many paths, these, the kind of message, the message.
        while let Some(count) = parts.next().and_then(|count| std::str::from_utf8(count).ok()?.parse::<usize>().ok()) {
            messages.extend_from_slice(parts.nth(count + 1).unwrap_or_default());
        }
        Self { tree, conflicts, messages }
    }

    fn paths(&self) -> Vec<&[u8]> {
        let path = |entry: &'_ Vec<u8>| entry.iter().position(|byte| *byte == b'\t').map(|at| at + 1);
        let mut found: Vec<&[u8]> = self.conflicts.iter().filter_map(|entry| entry.get(path(entry)?..)).collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The input of `update-index --index-info` that puts the conflicts into an index.
    fn entries(&self) -> Vec<u8> {
        let zeros = "0".repeat(self.tree.len());
        let gone = self.paths().into_iter().flat_map(|path| [b"0 ", zeros.as_bytes(), b"\t", path, b"\0"].concat());
        gone.chain(self.conflicts.iter().flat_map(|entry| [entry, &b"\0"[..]].concat())).collect()
    }
}

/// Merges. Whatever git does without starting another git, it does itself.
pub(super) fn run(call: &mut GitCall<'_>, verb: &GitVerb, said: GitArguments, options: &Map) -> Result<Value> {
    let name = said.names[0].clone();
    let (head, other) = (call.commit("HEAD")?, call.commit(&name)?);
    let (is_squash, no_ff) = (is_on(options, "squash"), is_on(options, "no_ff"));
    let (Some(head), Some(other)) = (head, other) else { return run_command(call, verb, said, options) };
    let base = String::from_utf8_lossy(&call.ask(&["merge-base", &head, &other])?.output).trim().to_owned();
    let is_busy = call.commit("MERGE_HEAD")?.is_some()
        || call.commit("CHERRY_PICK_HEAD")?.is_some()
        || !call.ask(&["ls-files", "--unmerged"])?.output.is_empty();
    let is_forward = base == head && !no_ff;
    if base == other || is_forward || is_busy || is_on(options, "ff_only") || is_squash && no_ff {
        return run_command(call, verb, said, options);
    }
    let shown = call.command_of(verb, said, options);
    let given = options.get("message").and_then(Value::as_text);
    let message = match given {
        Some(given) => format!("{}\n", given.trim_end()),
        None => default_message(call, &name)?,
    };
    let mut merge = Merge { call, name, other, head, message, is_squash, no_ff };
    let ran = merge.run()?;
    let head = merge.head;
    collect_own_files(call, &head)?;
    answer(call, &shown, ran, options)
}

/// The message that git would write.
fn default_message(call: &GitCall<'_>, name: &str) -> Result<String> {
    let printed =
        |words: &[&str]| -> Result<String> { Ok(String::from_utf8_lossy(&call.ask(words)?.output).trim().to_owned()) };
    let hash = printed(&["rev-parse", "--verify", "--end-of-options", name])?;
    let full = printed(&["rev-parse", "--symbolic-full-name", "--verify", "--quiet", "--end-of-options", name])?;
    let kinds = [("refs/heads/", "branch"), ("refs/tags/", "tag"), ("refs/remotes/", "remote-tracking branch")];
    let known = kinds.iter().find_map(|(start, kind)| Some(format!("{kind} '{}'", full.strip_prefix(start)?)));
    let what = known.unwrap_or_else(|| format!("commit '{name}'"));
    let mut command = call.step(&["fmt-merge-msg"], GitChanges::Nothing);
    command.input = format!("{hash}\t\t{what}\n").into_bytes();
    Ok(String::from_utf8_lossy(&call.run(&command)?.output).into_owned())
}

impl Merge<'_, '_> {
    fn run(&mut self) -> Result<ProgramOutput> {
        let words = ["merge-tree", "--write-tree", "-z", "--messages", "--end-of-options", "HEAD", &self.name];
        let ran = self.call.run(&self.call.step(&words, GitChanges::Repository))?;
        if !matches!(ran.code, 0 | 1) {
            return Ok(ran);
        }
        let merged = MergedTree::parse(&ran.output);
        // Made before a file changes: it fails if git does not know the user's name.
        let commit = match merged.conflicts.is_empty() && !self.is_squash {
            true => {
                let words = ["commit-tree", "-p", &self.head, "-p", &self.other, "-F", "-", &merged.tree];
                let made = self.call.run(&ProgramCommand {
                    input: self.message.clone().into_bytes(),
                    ..self.call.step(&words, GitChanges::Repository)
                })?;
                if made.code != 0 {
                    return Ok(made);
                }
                Some(String::from_utf8_lossy(&made.output).trim().to_owned())
            }
            false => None,
        };
        self.call.run(&self.call.step(&["update-ref", "ORIG_HEAD", &self.head], GitChanges::Repository))?;
        let fill = self.call.step(&["read-tree", "-m", "-u", "HEAD", &merged.tree], GitChanges::Files);
        let filled = self.call.run(&fill)?;
        if filled.code != 0 {
            return Ok(ProgramOutput { code: 2, ..filled });
        }
        // Only once the index has the merge: before, a commit would record the branch as merged without its changes.
        if !self.is_squash {
            self.write_state()?;
        }
        match commit {
            Some(commit) => self.move_head(&commit, merged.messages),
            None => self.stop(&merged),
        }
    }

    fn own_file(&self, name: &str, bytes: Option<&[u8]>) -> Result<()> {
        let at = path::join(&self.call.repository.git_dir, name);
        self.call.world.write_git_file(&self.call.repository, &at, bytes)
    }

    //= docs/spec.md#git
    //# Git that is stopped MUST leave no lock of its own, and a stopped merge MUST leave what `merge_abort`
    //# needs.
    /// Says that a merge is under way.
    fn write_state(&self) -> Result<()> {
        self.own_file("MERGE_MSG", Some(self.message.as_bytes()))?;
        self.own_file("MERGE_MODE", Some(if self.no_ff { b"no-ff" } else { b"" }))?;
        self.own_file("MERGE_HEAD", Some(format!("{}\n", self.other).as_bytes()))
    }

    fn forget_state(&self) -> Result<()> {
        ["MERGE_HEAD", "MERGE_MODE", "MERGE_MSG"].iter().try_for_each(|name| self.own_file(name, None))
    }

    fn move_head(&self, commit: &str, mut messages: Vec<u8>) -> Result<ProgramOutput> {
        let note = format!("merge {}: Merge made by the 'ort' strategy.", self.name);
        let words = ["update-ref", "-m", &note, "HEAD", commit, &self.head];
        let moved = self.call.run(&self.call.step(&words, GitChanges::Repository))?;
        if moved.code == 0 {
            self.forget_state()?;
            messages.extend_from_slice(b"Merge made by the 'ort' strategy.\n");
        }
        Ok(ProgramOutput { output: messages, ..moved })
    }

    /// Ends a squash or a conflict without a commit: the caller makes it.
    fn stop(&self, merged: &MergedTree) -> Result<ProgramOutput> {
        let mut output = merged.messages.clone();
        if self.is_squash {
            let range = format!("{}..{}", self.head, self.other);
            // As `git merge --squash` lists them, whatever `log` is configured to show.
            let form = ["--no-decorate", "--no-abbrev-commit", "--pretty=medium", "--date=default"];
            let log = self.call.ask(&[&["log"][..], &form, &[range.as_str()]].concat())?.output;
            self.own_file("SQUASH_MSG", Some(&[b"Squashed commit of the following:\n\n", &log[..]].concat()))?;
            output.extend_from_slice(b"Squash commit -- not updating HEAD\n");
        }
        if merged.conflicts.is_empty() {
            return Ok(ProgramOutput { output, ..ProgramOutput::default() });
        }
        let words = ["update-index", "-z", "--index-info"];
        let noted = self
            .call
            .run(&ProgramCommand { input: merged.entries(), ..self.call.step(&words, GitChanges::Repository) })?;
        if noted.code != 0 {
            return Ok(noted);
        }
        let hint = merged.paths().into_iter().flat_map(|path| [b"#\t", path, b"\n"].concat());
        let message = if self.is_squash { "" } else { &self.message };
        let text: Vec<u8> = [message.as_bytes(), b"\n# Conflicts:\n"].concat().into_iter().chain(hint).collect();
        self.own_file("MERGE_MSG", Some(&text))?;
        output.extend_from_slice(CONFLICT.as_bytes());
        Ok(ProgramOutput { code: 1, output, ..ProgramOutput::default() })
    }
}
