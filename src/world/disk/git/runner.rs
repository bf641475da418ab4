//! How every git is started: by its absolute path, with an environment of our own, and confined.

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::world::disk::handle::Disk;
use crate::world::disk::process;
use crate::world::disk::program;
use crate::world::run::{Confinement, ProgramCommand};
use std::time::Duration;

/// The environment of every git: nothing outside of the repository counts, and git never prompts.
pub(super) const ENVIRONMENT: [(&str, &str); 23] = [
    ("GIT_ADVICE", "0"),
    ("GIT_ASKPASS", "false"),
    ("GIT_ATTR_NOSYSTEM", "1"),
    ("GIT_CONFIG_COUNT", "0"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_CONFIG_SYSTEM", "/dev/null"),
    ("GIT_EDITOR", ":"),
    ("GIT_LITERAL_PATHSPECS", "1"),
    ("GIT_MERGE_AUTOEDIT", "no"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_PAGER", "cat"),
    ("GIT_SEQUENCE_EDITOR", ":"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("HOME", "/dev/null"),
    // Messages in English, and unchanged characters: `LC_ALL` would override both.
    ("LANG", "C"),
    ("LC_ALL", ""),
    ("LC_CTYPE", "C.UTF-8"),
    ("LC_MESSAGES", "C"),
    ("PATH", "/dev/null"),
    ("SSH_ASKPASS", "false"),
    ("SSH_ASKPASS_REQUIRE", "never"),
    ("XDG_CONFIG_HOME", "/dev/null"),
];

/// Devices that git opens; it writes to the first one.
pub(super) const DEVICES: [&str; 2] = ["/dev/null", "/dev/urandom"];

/// The maximum time of a question that toolsd asks git, and the maximum size of the answer.
const MAX_TIME: Duration = Duration::from_secs(20);
const MAX_BYTES: usize = 4 << 20;

/// Variables as a command takes them.
pub(super) fn owned(variables: &[(&str, &str)]) -> Vec<(String, String)> {
    variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// Returns what git prints in answer to a question of toolsd. Git may read `places`.
///
/// # Errors
/// Git ended with a code other than 0: its own message.
pub(super) fn ask(disk: &Disk, words: &[&str], env: &[(&str, &str)], places: &[String]) -> Result<Vec<u8>> {
    let words = [&["--no-pager"][..], words].concat();
    let read = places.iter().cloned().chain(DEVICES.map(str::to_owned)).collect();
    let command = ProgramCommand {
        program: program::find("git")?.path,
        env: [owned(&ENVIRONMENT), owned(env)].concat(),
        confinement: Confinement { read, ..Confinement::default() },
        ..ProgramCommand::git(&words, MAX_TIME, MAX_BYTES)
    };
    let ran = process::run(disk, &command)?;
    match ran.code {
        0 => Ok(ran.output),
        _ => Err(Diagnostic::new(Code("git"), String::from_utf8_lossy(&ran.errors).trim().replace('\n', "; "))),
    }
}
