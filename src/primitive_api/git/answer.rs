//! What a script gets from a command of git: its exit code, its output, and the notices of toolsd.

use super::arguments::{GitArguments, checks, is_on};
use super::call::GitCall;
use super::notices::collect_own_files;
use super::submodules;
use super::verb::GitVerb;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::primitive_api::program_outcome::{ANY_BYTES, ended, let_through, no_text};
use crate::value::{Bytes, Map, Value};
use crate::world::run::{GitChanges, ProgramCommand, ProgramOutput, RequiredGrant};
use serde_json::json;

/// How many error messages of git become notices.
const MAX_COMPLAINTS: usize = 5;

/// Runs the single git command of most verbs, and returns its answer.
pub(super) fn run(call: &mut GitCall<'_>, verb: &GitVerb, said: GitArguments, options: &Map) -> Result<Value> {
    let command = call.command_of(verb, said, options);
    let before = if verb.changes == GitChanges::Files { call.commit("HEAD")? } else { None };
    let ran = submodules::run(call, verb, &command)?;
    before.map_or(Ok(()), |before| collect_own_files(call, &before))?;
    answer(call, &command, ran, options)
}

//= docs/spec.md#git
//# Output of git that is not UTF-8 MUST be returned on request, and MUST NOT fail a verb that changed
//# something.
/// The answer of a call, with all that was noticed in it.
pub(super) fn answer(
    call: &mut GitCall<'_>,
    command: &ProgramCommand,
    mut ran: ProgramOutput,
    options: &Map,
) -> Result<Value> {
    let shown = ProgramCommand { arguments: command.arguments[1..].to_vec(), ..command.clone() };
    let mut notices = std::mem::take(&mut call.notices);
    notices.append(&mut ran.notes);
    match ran.code {
        0 => notices.extend(complaints(&ran.errors)),
        _ => notices.extend(advice(&String::from_utf8_lossy(&ran.errors))),
    }
    let mut bytes = None;
    let is_done = command.needs != RequiredGrant::ReadGit && ran.code == 0;
    let wants_bytes = is_on(options, "lossy_utf8");
    if wants_bytes || is_done {
        let replaced = let_through(&mut ran, &mut bytes);
        bytes = bytes.filter(|_| wants_bytes || replaced.is_some());
        notices.extend(replaced);
    } else if let Some(error) = no_text(&shown, &ran).filter(|_| ran.code == 0 || !checks(options)) {
        let error = error.author_help(format!("{ANY_BYTES}; or name `paths` without that file"));
        return Err(with_notices(error, &notices));
    }
    let mut answer = ended(&shown, ran, Code("git"), checks(options)).map_err(|error| with_notices(error, &notices))?;
    if let Value::Map(fields) = &mut answer {
        if let Some(bytes) = bytes {
            fields.insert("bytes".into(), Bytes::value(bytes));
        }
        fields.insert("notices".into(), Value::list(notices.into_iter().map(Value::from)));
    }
    Ok(answer)
}

//= docs/spec.md#git
//# A verb that fails MUST report the exit code and the output of git, and what to do if git needed a program.
/// Adds the notices to an error: one of them may be why git fails.
fn with_notices(mut error: Box<Diagnostic>, notices: &[String]) -> Box<Diagnostic> {
    if notices.is_empty() {
        return error;
    }
    error.message = format!("{}; besides: {}", error.message, notices.join("; "));
    let mut data = error.data.take().map_or_else(|| json!({}), |data| *data);
    if data.is_object() {
        data["notices"] = notices.into();
    }
    error.data(data)
}

//= docs/spec.md#git
//# A result MUST report what git skipped: hooks, signatures, filters, objects that are missing and writes
//# that are still staged.
/// Git's own messages about what it failed to do or skipped, although it ended with 0.
fn complaints(errors: &[u8]) -> Vec<String> {
    let errors = String::from_utf8_lossy(errors);
    let begins = ["error:", "warning:", "Ignoring path"];
    let lines: Vec<&str> = errors.lines().filter(|line| begins.iter().any(|begin| line.starts_with(begin))).collect();
    let more = lines.len().saturating_sub(MAX_COMPLAINTS);
    let reported = lines.iter().take(MAX_COMPLAINTS).map(|line| format!("git ended with 0 and says: {line}"));
    reported.chain((more > 0).then(|| format!("git says {more} more such lines: see `errors`"))).collect()
}

/// Adds what git's output does not say: that it may start no program here, and what to do by hand.
fn advice(errors: &str) -> Option<String> {
    let has = |words: &[&str]| words.iter().any(|word| errors.contains(word));
    if has(&[".merge_file_"]) {
        return Some("a file is merged by a driver of its own (`merge.NAME.driver`), which is a program: git of a pack starts none; merge by hand".to_owned());
    }
    has(&["cannot fork", "cannot run", "cannot exec", "unable to create thread", "could not run"]).then(|| {
        let more = if has(&["submodule"]) {
            ", as it does in a submodule that changed: name other `paths`"
        } else {
            ": do this by hand"
        };
        format!("git wanted to start a program here, which git of a pack never does{more}")
    })
}
