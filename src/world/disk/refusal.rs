//! Explains to the caller why a confined program failed: what was refused to it, what it may touch, and which grant
//! says so.

use super::handle::Disk;
use super::roots::Roots;
use crate::world::path;
use crate::world::run::{Confinement, ProgramCommand, ProgramFile, ProgramOutput};
use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;

/// Phrases of programs that were refused something by the system.
const REFUSED: [&str; 7] = [
    "permission denied",
    "operation not permitted",
    "permissionerror",
    "accessdenied",
    "eacces",
    "eperm",
    "unable to open database",
];

/// Phrases of programs without a network: such a line names hosts, not files.
const UNRESOLVED: [&str; 12] = [
    "could not resolve",
    "couldn't resolve",
    "unable to resolve",
    "name resolution",
    "name or service not known",
    "no address associated",
    "nodename nor servname",
    "eai_again",
    "eai_fail",
    "enotfound",
    "unknownhost",
    "lookup address",
];

/// Phrases of programs that do not find a part of their own.
const LOST: [&str; 4] =
    ["no module named", "cannot find module", "error while loading shared libraries", "could not find platform"];

/// Further phrases of programs that have no network.
const UNCONNECTED: [&str; 6] =
    ["connect to server", "failed to connect", "network is unreachable", "enetunreach", "socket", "getaddrinfo"];

/// Phrases about memory that processes share by name.
const SHARED: [&str; 4] = ["semlock", "sem_open", "shm_open", "/dev/shm"];

/// How a shell ends whose program cannot be executed, or is not found.
const NOT_EXECUTED: [i64; 2] = [126, 127];

/// How a program of Node ends that was refused a file and says nothing: by the negative number of the error, `EACCES`.
const SILENT: i64 = 243;

const OF_NODE: &str =
    "it was refused a file and does not say which: programs of Node write below `HOME`, which may be their `TMPDIR`";
const NO_NETWORK: &str = "it asked for a host or a socket, and found none";
const NO_SHARED: &str =
    "programs have no memory that processes share by name, unless `write` of their grant has `/dev/shm`";

/// The maximum number of paths that are named.
const MOST_NAMED: usize = 4;

/// How many bytes of its output are searched.
const MOST_SAID: usize = 64 * 1024;

/// What holds a program, if it says that something was refused to it, or failed as if.
//= docs/spec.md#programs
//# A program that failed because it was confined MUST be told of with what it may touch, and the grant that says so.
pub(super) fn explain(
    disk: &Disk,
    command: &ProgramCommand,
    file: &ProgramFile,
    ran: &ProgramOutput,
) -> Option<String> {
    let (roots, confinement) = (&disk.roots, &command.confinement);
    let said = complaints(ran);
    let is_cut_off =
        |line: &str| !confinement.network && (has_phrase(&UNRESOLVED, line) || has_phrase(&UNCONNECTED, line));
    let (cut_off, lines): (Vec<&str>, Vec<&str>) =
        said.lines().filter(|line| has_phrase(&REFUSED, line) || is_cut_off(line)).partition(|line| is_cut_off(line));
    let home =
        own_folder(file).filter(|home| ran.code != 0 && has_phrase(&LOST, &said) && !covers(&confinement.read, home));
    let is_silent = ran.code == SILENT && lines.is_empty();
    let not_executed = NOT_EXECUTED.contains(&ran.code);
    let is_known = !lines.is_empty() || !cut_off.is_empty() || not_executed || home.is_some() || is_silent;
    if !is_known && ran.code == 0 {
        return None;
    }
    let name = &command.program;
    let read = describe_paths(roots, &confinement.read).unwrap_or_else(|| "nothing".to_owned());
    let write = describe_paths(roots, &confinement.write).unwrap_or_else(|| "nothing".to_owned());
    let network = if confinement.network { "has the network" } else { "has no network" };
    let bounds = format!(
        "`{name}` ran confined: beside the system's programs and its own `TMPDIR` it reads {read}, writes {write}, and \
         {network}"
    );
    if !is_known {
        // Many do not say why they failed: what was refused to them, they may keep to themselves.
        return Some(format!("{bounds}; it ended with {}, and names nothing that was refused to it", ran.code));
    }
    let folder = path::join(roots.main(), &roots.spelled(&command.folder));
    // A shell that cannot start what it names speaks of programs: one that may be read was not to be written.
    let is_meant = |named: &NamedPath| !(not_executed && (named.is_bare || is_program(confinement, &named.at)));
    let paths: BTreeSet<NamedPath> = lines.iter().flat_map(|line| paths_of(line, &folder)).collect();
    let refused = paths.iter().filter(|named| is_meant(named));
    let mut parts: Vec<String> =
        refused.filter_map(|named| refusal(roots, confinement, named)).take(MOST_NAMED).collect();
    parts.extend((!cut_off.is_empty()).then(|| NO_NETWORK.to_owned()));
    parts.extend(is_silent.then(|| OF_NODE.to_owned()));
    parts.extend((!lines.is_empty() && has_phrase(&SHARED, &said)).then(|| NO_SHARED.to_owned()));
    let programs: Vec<&str> =
        paths.iter().map(|named| named.at.as_str()).filter(|at| is_program(confinement, at)).collect();
    parts.extend((not_executed || !programs.is_empty()).then(|| not_started(disk, confinement, &programs)));
    parts.extend(
        home.map(|home| {
            format!("what belongs to it lies in `{home}`, which it may not read: grant that folder to read")
        }),
    );
    let parts = parts.iter().map(|one| format!("; {one}")).collect::<String>();
    Some(format!(
        "{bounds}{parts}; more is granted by `run = [{{ program = {name:?}, read = […], write = […], start = […], network = … }}]`"
    ))
}

/// Which programs it does not start, and what would let it start these: their folders, and those of what runs them.
fn not_started(disk: &Disk, confinement: &Confinement, programs: &[&str]) -> String {
    let files = programs.iter().filter_map(|at| disk.programs.find(at).ok()).flat_map(|found| found.files);
    let files = files.filter(|file| !is_systems(&file.path) && !covers(&confinement.start, &file.path));
    let places: BTreeSet<String> = files.map(|file| place_to_start(disk.roots.main(), &file.path)).collect();
    let places: Vec<String> = places.into_iter().take(MOST_NAMED).collect();
    let places = if places.is_empty() { vec!["node_modules".to_owned()] } else { places };
    format!(
        "it starts no program outside of the system's folders but what `start` of its grant names: `start = {places:?}`, or \
         start its interpreter (`node`, `python3`, `sh`) with the file as an argument"
    )
}

/// What a grant names so that a program may be started: its folder, all of `node_modules`, or the file if it lies in
/// the root itself.
fn place_to_start(root: &str, file: &str) -> String {
    let below = |at: &str| at.strip_prefix(root).map_or(at, |rest| rest.trim_start_matches('/')).to_owned();
    let modules = file.find("/node_modules/").map(|at| &file[..at + "/node_modules".len()]);
    match below(modules.unwrap_or(path::folder(file))) {
        folder if folder.is_empty() => below(file),
        folder => folder,
    }
}

/// The output that may hold complaints.
fn complaints(ran: &ProgramOutput) -> String {
    let cut = |bytes: &[u8]| String::from_utf8_lossy(&bytes[..bytes.len().min(MOST_SAID)]).into_owned();
    match ran.code {
        0 => cut(&ran.errors),
        // Many say it where they print, too.
        _ => format!("{}\n{}", cut(&ran.errors), cut(&ran.output)),
    }
}

/// Whether a text has one of these, not in the middle of a word: `FileNotFoundError` has `ENOTFOUND` in it.
fn has_phrase(words: &[&str], text: &str) -> bool {
    let text = text.to_lowercase();
    let begins = |at: usize| !text[..at].chars().next_back().is_some_and(char::is_alphanumeric);
    words.iter().any(|word| text.match_indices(word).any(|(at, _)| begins(at)))
}

/// Whether a file that may be read could be executed, if the system let it.
fn is_program(confinement: &Confinement, at: &str) -> bool {
    let is_one = |known: std::fs::Metadata| known.is_file() && known.permissions().mode() & 0o111 != 0;
    covers(&confinement.read, at) && std::fs::metadata(at).is_ok_and(is_one)
}

fn covers(grants: &[String], at: &str) -> bool {
    grants.iter().any(|grant| path::is_below(at, grant))
}

/// The folder that a program outside of the system's folders was installed in: the one above its `bin`.
fn own_folder(file: &ProgramFile) -> Option<String> {
    let real = file.files.first().map(|file| file.path.as_str())?;
    let folder = path::folder(real);
    let above = if ["bin", "sbin", "Scripts"].contains(&path::name(folder)) { path::folder(folder) } else { folder };
    (!is_systems(real)).then(|| above.to_owned())
}

/// Whether a file lies in the system's folders of programs and libraries.
fn is_systems(file: &str) -> bool {
    ["/usr/", "/bin/", "/sbin/", "/lib", "/nix/store/", "/gnu/store/"].iter().any(|at| file.starts_with(at))
}

/// A path that a complaint names.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct NamedPath {
    /// Absolute.
    at: String,
    /// Whether it is written so: else it is one of another folder, if the program changed to that.
    is_absolute: bool,
    /// Whether it is a name alone, without quotes or a folder: it may be the name of something else.
    is_bare: bool,
}

/// Words that stand where a complaint may name a file, but are none.
const DEEDS: [&str; 16] = [
    "access",
    "chmod",
    "create",
    "directory",
    "exec",
    "execute",
    "file",
    "link",
    "mkdir",
    "open",
    "read",
    "remove",
    "stat",
    "symlink",
    "utime",
    "write",
];

/// The paths that a line of a complaint names. A name without quotes or a folder counts where complaints name what
/// they are about: before a colon, and not as the first word, which is the program's own.
fn paths_of(line: &str, folder: &str) -> Vec<NamedPath> {
    let is_quote = |letter: char| "'\"`‘’“”".contains(letter);
    let is_there = |word: &str| std::fs::symlink_metadata(path::join(folder, word)).is_ok();
    let quoted = line.split(is_quote).skip(1).step_by(2);
    let quoted =
        quoted.filter(|text| is_there(text) || !text.contains(char::is_whitespace) && !has_phrase(&REFUSED, text));
    let words = line.split(|letter: char| letter.is_whitespace() || is_quote(letter)).enumerate();
    let words = words.map(|(at, word)| (at, word, word.trim_matches(|letter| ":,;()[]<>".contains(letter))));
    let is_about = |(at, whole, word): &(usize, &str, &str)| {
        let is_before = *at > 0 && whole.ends_with(':') && !word.bytes().all(|byte| byte.is_ascii_digit());
        word.contains('/') || is_before && (is_file_name(word) || is_there(word))
    };
    let words = words.filter(is_about).map(|(_, _, word)| (word, !word.contains('/')));
    let mut found: Vec<(&str, bool)> = quoted.map(|text| (text, false)).chain(words).collect();
    if found.is_empty() {
        // `sh: 1: cannot create NAME: Permission denied`, `NAME (Permission denied)`
        let lower = line.to_lowercase();
        let end = [": permission denied", " (permission denied"].iter().find_map(|said| lower.find(said));
        let last = end.and_then(|end| line.get(..end)).and_then(|before| before.split(' ').next_back());
        found.extend(last.filter(|word| !DEEDS.contains(&&*word.to_lowercase())).map(|word| (word, true)));
    }
    let all = found.into_iter().filter(|(word, _)| !word.is_empty() && word.len() < 1024 && !word.contains("://"));
    let all = all.map(|(word, is_bare)| NamedPath {
        at: path::clean(&path::join(folder, word)),
        is_absolute: path::is_absolute(word),
        is_bare,
    });
    let could_be = |named: &NamedPath| {
        [named.at.as_str(), path::folder(&named.at)].iter().any(|at| std::fs::symlink_metadata(at).is_ok())
    };
    all.filter(could_be).collect()
}

/// Whether a word looks like the name of a file: a stem and a short ending.
fn is_file_name(word: &str) -> bool {
    let is_plain = |part: &str, most: usize| {
        (1..=most).contains(&part.len()) && part.chars().all(|letter| letter.is_alphanumeric() || "-_".contains(letter))
    };
    word.split_once('.').is_some_and(|(stem, ending)| is_plain(stem, 100) && is_plain(ending, 5))
}

/// What is said of a path that a program complains of, if no grant of it is wide enough.
fn refusal(roots: &Roots, confinement: &Confinement, NamedPath { at, is_absolute, .. }: &NamedPath) -> Option<String> {
    // What a program says of its own folder is not known to be of the one that it began in.
    let perhaps = if *is_absolute { "" } else { ", if that is the one it means" };
    if covers(&confinement.write, at) {
        return None;
    }
    let shown = describe_paths(roots, std::slice::from_ref(at))?;
    if path::is_below(at, "/dev/shm") {
        return None;
    }
    match covers(&confinement.read, at) {
        true => Some(format!("{shown} is granted to read, and not to write{perhaps}")),
        false if at == "/" => None,
        false if ["/usr", "/bin", "/sbin", "/lib"].iter().any(|own| path::is_below(at, own)) => None,
        false => Some(format!("nothing grants {shown}{perhaps}")),
    }
}

/// Paths as grants name them; nothing if there is none.
fn describe_paths(roots: &Roots, paths: &[String]) -> Option<String> {
    let below = |at: &String| match path::is_below(at, roots.main()) {
        true => match at[roots.main().len()..].trim_start_matches('/') {
            "" => "`.`".to_owned(),
            rest => format!("`{rest}`"),
        },
        false => format!("`{at}`"),
    };
    let shown: Vec<String> = paths.iter().take(MOST_NAMED).map(below).collect();
    let more = paths.len().saturating_sub(MOST_NAMED);
    match (shown.is_empty(), more) {
        (true, _) => None,
        (_, 0) => Some(shown.join(", ")),
        (_, more) => Some(format!("{} and {more} more", shown.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_says_that_no_host_was_found_is_no_part_of_another_word() {
        for text in ["getaddrinfo ENOTFOUND a.example", "code: 'ENOTFOUND'", "java.net.UnknownHostException: a"] {
            assert!(has_phrase(&["enotfound", "unknownhost"], text), "{text}");
        }
        for text in ["FileNotFoundError: [Errno 2]", "ModuleNotFoundError", "é\u{130}noTFound", ""] {
            assert!(!has_phrase(&["enotfound"], text), "{text}");
        }
    }
}
