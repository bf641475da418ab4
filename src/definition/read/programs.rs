//! Lowers `run` of `[pack.grants]`: the programs that a pack may run.

use crate::definition::{Fields, Located, ProgramGrant, TextOrTable, code};
use crate::diagnostic::Diagnostic;
use crate::source::Place;
use crate::world::is_forbidden_variable;
use crate::world::path;

/// The programs, each once, and where each is named. What cannot be granted is told at its place.
pub fn programs(grants: &Fields<'_>, faults: &mut Vec<Diagnostic>) -> (Vec<ProgramGrant>, Vec<Place>) {
    let (mut found, mut places): (Vec<ProgramGrant>, _) = (Vec::new(), Vec::new());
    for item in grants.texts_or_tables("run", faults) {
        let (program, grant) = match item {
            TextOrTable::Text(program) => {
                let grant = ProgramGrant { program: program.value.clone(), ..ProgramGrant::default() };
                (program, grant)
            }
            TextOrTable::Table(table) => (table.needed("program"), described(&table, faults)),
        };
        if let Some(fault) = refused(&program, &found) {
            faults.push(*fault.at(program.at));
        } else if !program.value.is_empty() {
            found.push(grant);
            places.push(program.at);
        }
    }
    (found, places)
}

fn described(table: &Fields<'_>, faults: &mut Vec<Diagnostic>) -> ProgramGrant {
    for name in table.located_texts("env") {
        if is_forbidden_variable(&name.value) {
            let message = format!("`env` cannot have `{}`", name.value);
            let fault = Diagnostic::new(code::WRONG_VALUE, message).at(name.at);
            faults.push(*fault.help("it chooses other programs or code: name variables that only say how to work"));
        } else if !is_variable(&name.value) {
            let message = format!("`{}` of `env` is no name of a variable", name.value);
            let fault = Diagnostic::new(code::WRONG_VALUE, message).at(name.at);
            faults.push(*fault.help("name each variable: letters, digits and `_`, no digit first"));
        }
    }
    let list = |name| table.has(name).then(|| table.texts(name));
    ProgramGrant {
        program: table.needed("program").value,
        network: table.flag("network").unwrap_or(false),
        read: list("read"),
        write: list("write"),
        start: table.texts("start"),
        env: table.texts("env"),
    }
}

/// Whether a text is the name of a variable (POSIX.1-2017, 8.1): a shell takes functions from others.
fn is_variable(name: &str) -> bool {
    !name.starts_with(|letter: char| letter.is_ascii_digit())
        && !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Why a program cannot be granted.
//= docs/spec.md#programs
//# A program that is named by a relative path MUST be refused.
fn refused(program: &Located<String>, others: &[ProgramGrant]) -> Option<Box<Diagnostic>> {
    let name = program.value.as_str();
    let wrong = |message: String| Diagnostic::new(code::WRONG_VALUE, message);
    if name.contains('/') && !path::is_clean_absolute(name) {
        let help = "a program is a name that is looked for in the host's `PATH`, or an absolute path";
        return Some(wrong(format!("`{name}` is no program that can be granted")).help(help));
    }
    //= docs/spec.md#programs
    //# Git MUST be granted by `git`, not as a program of `run`.
    if path::name(name) == "git" {
        let help = "use `git = \"read\"`, `\"write\"` or `\"fetch\"`: its verbs are typed, and each file they change is checked";
        return Some(wrong(format!("`{name}` cannot be granted by `run`")).help(help));
    }
    if others.iter().any(|other| other.program == name) {
        return Some(wrong(format!("`{name}` is granted twice")).help("say in one place what it may do"));
    }
    None
}
