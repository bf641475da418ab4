//! What the caller is told of a program that failed where it was confined: what was refused to it, what it may touch, and
//! which grant says so.

use super::roots::Roots;
use crate::world::path;
use crate::world::run::{Command, Confinement, ProgramFile, Ran};
use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;

/// What programs say when the system refuses them something.
const REFUSED: [&str; 12] = [
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
];

/// What they say when they do not find a part of their own.
const LOST: [&str; 4] =
    ["no module named", "cannot find module", "error while loading shared libraries", "could not find platform"];

/// How a shell ends whose program cannot be executed, or is not found.
const NOT_EXECUTED: [i64; 2] = [126, 127];

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
    let cut = |bytes: &[u8]| String::from_utf8_lossy(&bytes[..bytes.len().min(MOST_SAID)]).into_owned();
    let mut said = cut(&ran.errors);
    if ran.code != 0 {
        // Many say there what went wrong, too.
        said = format!("{said}\n{}", cut(&ran.output));
    }
    let says = |words: &[&str], line: &str| {
        let line = line.to_lowercase();
        words.iter().any(|word| line.contains(word))
    };
    let lines: Vec<&str> = said.lines().filter(|line| says(&REFUSED, line)).collect();
    let home = own_folder(file).filter(|home| ran.code != 0 && says(&LOST, &said) && !covers(&confinement.read, home));
    if lines.is_empty() && !NOT_EXECUTED.contains(&ran.code) && home.is_none() {
        return None;
    }
    let name = &command.program;
    let read = named(roots, &confinement.read).unwrap_or_else(|| "nothing".to_owned());
    let write = named(roots, &confinement.write).unwrap_or_else(|| "nothing".to_owned());
    let network = if confinement.network { "has the network" } else { "has no network" };
    let folder = path::join(roots.main(), &roots.spelled(&command.folder));
    let paths: BTreeSet<String> = lines.iter().flat_map(|line| paths_of(line, &folder)).collect();
    let refused: Vec<String> = paths.iter().filter_map(|at| refusal(roots, confinement, at)).take(MOST_NAMED).collect();
    let refused = refused.iter().map(|one| format!("; {one}")).collect::<String>();
    let is_program = |at: &String| {
        let known = std::fs::metadata(at).ok();
        covers(&confinement.read, at)
            && known.is_some_and(|known| known.is_file() && known.permissions().mode() & 0o111 != 0)
    };
    let executed = if NOT_EXECUTED.contains(&ran.code) || paths.iter().any(is_program) {
        "; it starts no program outside of the system's folders: grant that one by its absolute path, or start its \
         interpreter (`node`, `python3`, `sh`) with the file as an argument"
    } else {
        ""
    };
    let home = home.map_or_else(String::new, |home| {
        format!("; what belongs to it lies in `{home}`, which it may not read: grant that folder to read")
    });
    Some(format!(
        "`{name}` ran confined: beside the system's programs and its own `TMPDIR` it reads {read}, writes {write}, and \
         {network}{refused}{executed}{home}; more is granted by `run = [{{ program = {name:?}, read = […], write = […], network = … }}]`"
    ))
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

/// The paths that a line of a complaint names, absolute: what holds a `/`, or stands in quotes or before a colon.
fn paths_of(line: &str, folder: &str) -> Vec<String> {
    let is_quote = |letter: char| "'\"`‘’“”".contains(letter);
    let quoted = line.split(is_quote).skip(1).step_by(2);
    let words = line.split(|letter: char| letter.is_whitespace() || is_quote(letter));
    let words =
        words.map(|word| word.trim_matches(|letter| ":,;()[]<>".contains(letter))).filter(|word| word.contains('/'));
    let before = line.split(": ").filter(|part| !part.contains(' '));
    let all =
        quoted.chain(words).chain(before).filter(|word| !word.is_empty() && word.len() < 1024 && !word.contains("://"));
    let all = all.map(|word| path::clean(&path::join(folder, word)));
    all.filter(|at| std::fs::symlink_metadata(at).is_ok() || std::fs::symlink_metadata(path::folder(at)).is_ok())
        .collect()
}

/// What is said of a path that a program complains of, if no grant of it is wide enough.
fn refusal(roots: &Roots, confinement: &Confinement, at: &str) -> Option<String> {
    if covers(&confinement.write, at) {
        return None;
    }
    let shown = named(roots, &[at.to_owned()])?;
    if path::is_below(at, "/dev/shm") {
        return Some(format!("{shown}: programs have no memory that they share with others by name"));
    }
    match covers(&confinement.read, at) {
        true => Some(format!("{shown} is granted to read, and not to write")),
        // What is not there at all, below what may be seen, was complained of by mistake.
        false if path::folder(at) == "/" => None,
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
