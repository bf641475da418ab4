//! What the caller is told of a program that failed where it was confined: what was refused to it, what it may touch, and
//! which grant says so.

use super::roots::Roots;
use crate::world::path;
use crate::world::run::{Command, Confinement, ProgramFile, Ran};
use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;

/// What programs say when the system refuses them something.
const REFUSED: [&str; 13] = [
    "permission denied",
    "operation not permitted",
    "permissionerror",
    "accessdenied",
    "eacces",
    "eperm",
    "could not resolve",
    "unable to resolve",
    "name resolution",
    "eai_again",
    "unknownhost",
    "lookup address",
    "unable to open database",
];

/// What they say when they do not find a part of their own.
const LOST: [&str; 4] =
    ["no module named", "cannot find module", "error while loading shared libraries", "could not find platform"];

/// What is said where a program has no network, and its kind of complaint names none.
const UNCONNECTED: [&str; 3] = ["connect to server", "failed to connect", "network is unreachable"];

/// What is said of memory that processes share by name.
const SHARED: [&str; 4] = ["semlock", "sem_open", "shm_open", "/dev/shm"];

/// How a shell ends whose program cannot be executed, or is not found.
const NOT_EXECUTED: [i64; 2] = [126, 127];

/// How a program of Node ends that was refused a file and says nothing: by the negative number of the error, `EACCES`.
const SILENT: i64 = 243;

const OF_NODE: &str =
    "it was refused a file and does not say which: programs of Node write below `HOME`, which may be their `TMPDIR`";
const NO_SHARED: &str = "programs have no memory that processes share by name (`/dev/shm`)";
const NOT_STARTED: &str = "it starts no program outside of the system's folders: grant that one by its absolute path, \
                           or start its interpreter (`node`, `python3`, `sh`) with the file as an argument";

/// The most paths that are named.
const MOST_NAMED: usize = 4;

/// How much of what it complained of is looked at.
const MOST_SAID: usize = 64 * 1024;

/// What holds a program, if it says that something was refused to it, or failed as if.
//= docs/spec.md#programs
//# A program that failed because it was confined MUST be told of with what it may touch, and the grant that says so.
pub(super) fn told(
    roots: &Roots,
    command: &Command,
    confinement: &Confinement,
    file: &ProgramFile,
    ran: &Ran,
) -> Option<String> {
    let said = said(ran);
    let is_refusal = |line: &str| says(&REFUSED, line) || !confinement.network && says(&UNCONNECTED, line);
    let lines: Vec<&str> = said.lines().filter(|line| is_refusal(line)).collect();
    let home = own_folder(file).filter(|home| ran.code != 0 && says(&LOST, &said) && !covers(&confinement.read, home));
    let is_silent = ran.code == SILENT && lines.is_empty();
    let not_executed = NOT_EXECUTED.contains(&ran.code);
    if lines.is_empty() && !not_executed && home.is_none() && !is_silent {
        return None;
    }
    let name = &command.program;
    let read = named(roots, &confinement.read).unwrap_or_else(|| "nothing".to_owned());
    let write = named(roots, &confinement.write).unwrap_or_else(|| "nothing".to_owned());
    let network = if confinement.network { "has the network" } else { "has no network" };
    let folder = path::join(roots.main(), &roots.spelled(&command.folder));
    let paths: BTreeSet<String> = lines.iter().flat_map(|line| paths_of(line, &folder)).collect();
    let mut parts: Vec<String> =
        paths.iter().filter_map(|at| refusal(roots, confinement, at)).take(MOST_NAMED).collect();
    parts.extend(is_silent.then(|| OF_NODE.to_owned()));
    parts.extend((!lines.is_empty() && says(&SHARED, &said)).then(|| NO_SHARED.to_owned()));
    parts.extend((not_executed || paths.iter().any(|at| is_program(confinement, at))).then(|| NOT_STARTED.to_owned()));
    parts.extend(
        home.map(|home| {
            format!("what belongs to it lies in `{home}`, which it may not read: grant that folder to read")
        }),
    );
    let parts = parts.iter().map(|one| format!("; {one}")).collect::<String>();
    Some(format!(
        "`{name}` ran confined: beside the system's programs and its own `TMPDIR` it reads {read}, writes {write}, and \
         {network}{parts}; more is granted by `run = [{{ program = {name:?}, read = […], write = […], network = … }}]`"
    ))
}

/// What it complained of.
fn said(ran: &Ran) -> String {
    let cut = |bytes: &[u8]| String::from_utf8_lossy(&bytes[..bytes.len().min(MOST_SAID)]).into_owned();
    match ran.code {
        0 => cut(&ran.errors),
        // Many say it where they print, too.
        _ => format!("{}\n{}", cut(&ran.errors), cut(&ran.output)),
    }
}

fn says(words: &[&str], text: &str) -> bool {
    let text = text.to_lowercase();
    words.iter().any(|word| text.contains(word))
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
    let is_systems =
        ["/usr/", "/bin/", "/sbin/", "/lib", "/nix/store/", "/gnu/store/"].iter().any(|at| real.starts_with(at));
    let folder = path::folder(real);
    let above = if ["bin", "sbin", "Scripts"].contains(&path::name(folder)) { path::folder(folder) } else { folder };
    (!is_systems).then(|| above.to_owned())
}

/// The paths that a line of a complaint names, absolute.
fn paths_of(line: &str, folder: &str) -> Vec<String> {
    let is_quote = |letter: char| "'\"`‘’“”".contains(letter);
    let is_there = |word: &str| std::fs::symlink_metadata(path::join(folder, word)).is_ok();
    let quoted = line.split(is_quote).skip(1).step_by(2);
    let quoted = quoted.filter(|text| is_there(text) || !text.contains(char::is_whitespace));
    let words = line.split(|letter: char| letter.is_whitespace() || is_quote(letter));
    let words = words.map(|word| word.trim_matches(|letter| ":,;()[]<>".contains(letter)));
    let words = words.filter(|word| word.contains('/') || is_file_name(word) || is_there(word));
    let mut found: Vec<&str> = quoted.chain(words).collect();
    if found.is_empty() {
        // `sh: 1: cannot create NAME: Permission denied`
        let before = line.to_lowercase().find(": permission denied").and_then(|end| line.get(..end));
        found.extend(before.and_then(|before| before.split(' ').next_back()));
    }
    let all = found.into_iter().filter(|word| !word.is_empty() && word.len() < 1024 && !word.contains("://"));
    let all = all.map(|word| path::clean(&path::join(folder, word)));
    let could_be = |at: &String| [at, path::folder(at)].iter().any(|at| std::fs::symlink_metadata(at).is_ok());
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
fn refusal(roots: &Roots, confinement: &Confinement, at: &str) -> Option<String> {
    if covers(&confinement.write, at) {
        return None;
    }
    let shown = named(roots, &[at.to_owned()])?;
    if path::is_below(at, "/dev/shm") {
        return None;
    }
    match covers(&confinement.read, at) {
        true => Some(format!("{shown} is granted to read, and not to write")),
        false if at == "/" => None,
        false if ["/usr", "/bin", "/sbin", "/lib"].iter().any(|own| path::is_below(at, own)) => None,
        false => Some(format!("nothing grants {shown}")),
    }
}

/// Paths as grants name them; nothing if there is none.
fn named(roots: &Roots, paths: &[String]) -> Option<String> {
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
