//! What the caller is told of a program that failed where it was confined: what it may touch, and which grant says so.

use super::roots::Roots;
use crate::world::path;
use crate::world::run::{Command, Confinement, Ran};

/// What programs say when the system refuses them something.
const REFUSED: [&str; 7] = [
    "permission denied",
    "operation not permitted",
    "permissionerror",
    "eacces",
    "eperm",
    "could not resolve",
    "name resolution",
];

/// How a shell ends whose program cannot be executed, or is not found.
const NOT_EXECUTED: [i64; 2] = [126, 127];

/// The most paths that are named.
const MOST_NAMED: usize = 4;

/// What holds a program, if it failed and says that something was refused to it.
//= docs/spec.md#programs
//# A program that failed because it was confined MUST be told of with what it may touch, and the grant that says so.
pub(super) fn told(roots: &Roots, command: &Command, confinement: &Confinement, ran: &Ran) -> Option<String> {
    let said = String::from_utf8_lossy(&ran.errors).to_lowercase();
    let was_refused = REFUSED.iter().any(|words| said.contains(words)) || NOT_EXECUTED.contains(&ran.code);
    if ran.code == 0 || !was_refused {
        return None;
    }
    let name = &command.program;
    let read = named(roots, &confinement.read).unwrap_or_else(|| "nothing".to_owned());
    let write = named(roots, &confinement.write).unwrap_or_else(|| "nothing".to_owned());
    let network = if confinement.network { "has the network" } else { "has no network" };
    let executed = if NOT_EXECUTED.contains(&ran.code) {
        "; a program that starts another one outside of the system's folders cannot: grant that one by its absolute path"
    } else {
        ""
    };
    Some(format!(
        "`{name}` ran confined: beside the system's programs and its own `TMPDIR` it reads {read}, writes {write}, and \
         {network}{executed}; more is granted by `run = [{{ program = {name:?}, read = […], write = […], network = … }}]`"
    ))
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
