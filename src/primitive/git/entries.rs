//! What git is going to put, replace or remove, entry by entry: no link is followed, and of a folder that goes all that
//! lies in it is looked at.

use super::session::Session;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::world::granted::protected_name;
use crate::world::{EntryKind, Standing};
use std::collections::{BTreeSet, HashSet};

/// The mode of a submodule, as git writes it.
const SUBMODULE: &str = "160000";

/// The mode of what is not there.
const NOTHING: &str = "000000";

/// An entry of the working tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// Its path from the top.
    pub(super) name: String,
    /// Whether it is a submodule and becomes none but another one, or nothing: its folder stays as it is.
    pub(super) is_submodule: bool,
    /// Whether the first side has it and the second has not.
    pub(super) is_gone: bool,
    /// Whether the second side has it and the first has not.
    pub(super) is_new: bool,
}

impl Entry {
    /// Files, for all that is known of them.
    pub(super) fn files(names: Vec<String>) -> Vec<Self> {
        names.into_iter().map(|name| Self { name, is_submodule: false, is_gone: false, is_new: false }).collect()
    }

    /// What `--raw -z` prints: modes and hashes, and then the path.
    pub(super) fn of_raw(printed: Vec<String>) -> Vec<Self> {
        let mut found = Vec::new();
        let mut parts = printed.into_iter();
        while let Some(modes) = parts.next() {
            let Some(modes) = modes.trim_start_matches('\n').strip_prefix(':').map(str::to_owned) else { continue };
            let Some(name) = parts.next() else { break };
            let modes: Vec<&str> = modes.split(' ').take(2).collect();
            let is_other = |mode: &&str| *mode != SUBMODULE && *mode != NOTHING;
            found.push(Self {
                name,
                is_gone: modes.get(1) == Some(&NOTHING),
                is_new: modes.first() == Some(&NOTHING),
                is_submodule: modes.contains(&SUBMODULE) && !modes.iter().any(is_other),
            });
        }
        found
    }

    /// What `ls-tree -z` and `ls-files -s -z` print: a mode and more, a tab, and the path.
    pub(super) fn of_list(printed: Vec<String>) -> Vec<Self> {
        let parts = printed.iter().filter_map(|line| line.split_once('\t'));
        let entry = |(mode, name): (&str, &str)| Self {
            name: name.to_owned(),
            is_submodule: mode.starts_with(SUBMODULE),
            is_gone: false,
            is_new: true,
        };
        parts.map(entry).collect()
    }
}

/// How many refused files are named beside the first one.
const MOST_NAMED: usize = 20;

//= docs/spec.md#git
//# Every file that git is going to write or remove MUST pass the check of a write by the script itself.
//= docs/spec.md#git
//# A tracked symlink MUST be replaced and removed as an entry of its own, and a submodule's pointer without its folder, as git does; where git would take a folder away, all that lies in it MUST pass.
/// Refuses entries that the pack may not write.
pub(super) fn may_write(session: &Session<'_>, verb: &str, entries: &[Entry]) -> Result<()> {
    let names: HashSet<&str> = entries.iter().map(|entry| entry.name.as_str()).collect();
    let mut refused = entries.iter().filter_map(|entry| Some((entry, one(session, entry, &names).err()?)));
    let Some((first, fault)) = refused.next() else { return Ok(()) };
    Err(told(verb, &first.name, &fault, refused.map(|(entry, _)| entry.name.as_str())))
}

/// The same of entries that were found in the working tree: what no grant to read covers is not named.
pub(super) fn may_write_found(session: &Session<'_>, verb: &str, entries: &[Entry]) -> Result<()> {
    let is_hidden = |entry: &&Entry| {
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
pub(super) fn stands_alone(session: &Session<'_>, entry: &Entry) -> bool {
    let standing = session.world.may_replace(&session.below_top(&entry.name));
    matches!(standing, Ok(Standing::File | Standing::Link))
}

/// Why the first entry is refused, and which others are: whoever widens a grant wants to know all of them.
fn told<'a>(verb: &str, first: &str, refused: &Diagnostic, others: impl Iterator<Item = &'a str>) -> Box<Diagnostic> {
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

fn one(session: &Session<'_>, entry: &Entry, names: &HashSet<&str>) -> Result<()> {
    let place = session.below_top(&entry.name);
    match session.world.may_replace(&place)? {
        Standing::File | Standing::Link => Ok(()),
        Standing::Folder if entry.is_submodule => Ok(()),
        Standing::Folder => folder(session, &entry.name),
        // The link goes first if it changes, too: then there is a folder.
        Standing::BehindLink if goes_first(session, &entry.name, names) => Ok(()),
        Standing::BehindLink => session.world.may_write(&place),
    }
}

/// Whether a link on the way to an entry is itself one of those that change.
fn goes_first(session: &Session<'_>, name: &str, names: &HashSet<&str>) -> bool {
    let above = name.match_indices('/').map(|(at, _)| &name[..at]);
    let is_link = |name: &str| matches!(session.world.may_replace(&session.below_top(name)), Ok(Standing::Link));
    above.into_iter().find(|name| is_link(name)).is_some_and(|link| names.contains(link))
}

/// A repository, and a working tree of one, has this in it.
const MARKER: &str = ".git";
/// Folders in folders, at most, and entries in all, that are looked at.
const MOST_DEPTH: usize = 64;
const MOST_ENTRIES: usize = 50_000;

/// The first folder at or below `name` that is a repository of its own: to git, which looks for what it knows and what it
/// may add, there is none where its index has a file of that name.
fn repository_in(session: &Session<'_>, name: &str) -> Result<Option<String>> {
    let mut folders = vec![(name.trim_end_matches('/').to_owned(), 0)];
    let mut left = MOST_ENTRIES;
    while let Some((folder, depth)) = folders.pop() {
        let entries = session.world.list(&session.below_top(&folder))?;
        if entries.iter().any(|entry| entry.name.eq_ignore_ascii_case(MARKER)) {
            return Ok(Some(folder));
        }
        left = left.checked_sub(entries.len()).filter(|_| depth < MOST_DEPTH).ok_or_else(|| {
            Diagnostic::new(Code::WORLD, format!("`{folder}` would go, and holds more than can be looked at"))
                .help("a person does that with git itself")
        })?;
        let below = entries.iter().filter(|entry| entry.entry == EntryKind::Folder && !entry.link);
        folders.extend(below.map(|entry| (format!("{folder}/{}", entry.name), depth + 1)));
    }
    Ok(None)
}

fn own_repository(name: &str) -> Box<Diagnostic> {
    let message = format!("`{}` is a repository of its own, and would go with all in it", name.trim_end_matches('/'));
    Diagnostic::new(Code::WORLD, message).help("a person does that with git itself")
}

/// A folder where git puts a file: all in it would go.
fn folder(session: &Session<'_>, name: &str) -> Result<()> {
    if let Some(repository) = repository_in(session, name)? {
        return Err(own_repository(&repository));
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
            return Err(own_repository(&below));
        }
        match session.world.may_replace(&session.below_top(&below))? {
            Standing::File | Standing::Link => {}
            Standing::Folder | Standing::BehindLink => session.world.may_write(&session.below_top(&below))?,
        }
    }
    Ok(())
}
