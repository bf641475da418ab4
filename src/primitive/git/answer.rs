//! What a script is given of a command of git: how it ended, what it printed, and what the host has to say besides.

use super::arguments::is_on;
use super::session::Session;
use super::{checks, ended, unnamed};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::value::{Bytes, Map, Value};
use crate::world::run::{ProgramCommand, ProgramOutput, RequiredGrant};
use serde_json::json;

/// What is told where an answer holds what is no text.
const NO_TEXT: &str = "what is no UTF-8 stands as `\u{fffd}` in `text`; `bytes` has it as it is";

/// So much of a line stands in a message.
const MOST_LINE: usize = 120;

/// So many lines in which git complains are told.
const MOST_COMPLAINTS: usize = 5;

/// The answer of a call, with all that was noticed in it.
pub(super) fn answered(
    session: &mut Session<'_>,
    asked: &ProgramCommand,
    mut ran: ProgramOutput,
    options: &Map,
) -> Result<Value> {
    if asked.needs == RequiredGrant::WriteGit {
        let left_out = unnamed::leave_out(session, options, &mut ran)?;
        session.notices.extend(left_out);
    }
    answer(asked, ran, options, std::mem::take(&mut session.notices))
}

//= docs/spec.md#git
//# What git prints that is no UTF-8 MUST be given where it is asked for, and else be a fault that says where it stands and how to ask.
/// The same, with these notices.
pub(super) fn answer(
    asked: &ProgramCommand,
    mut ran: ProgramOutput,
    options: &Map,
    mut notices: Vec<String>,
) -> Result<Value> {
    let shown = ProgramCommand { arguments: asked.arguments[1..].to_vec(), ..asked.clone() };
    notices.append(&mut ran.notes);
    if ran.code == 0 {
        notices.extend(complaints(&ran.errors));
    }
    let mut bytes = None;
    //= docs/spec.md#git
    //# What a verb did that changes something MUST NOT be told as a fault because of what it printed.
    let is_done = asked.needs != RequiredGrant::ReadGit && ran.code == 0;
    if is_on(options, "any_bytes") || is_done {
        notices.extend(let_through(&mut ran, &mut bytes));
    } else if let Some(fault) = no_text(&shown, &ran).filter(|_| ran.code == 0 || !checks(options)) {
        let fault = fault.help(format!("{ANY_BYTES}; or name `paths` without that file"));
        return Err(with_notices(fault, &notices));
    }
    let mut answer = ended(&shown, ran, Code("git"), checks(options)).map_err(|fault| with_notices(fault, &notices))?;
    if let Value::Map(fields) = &mut answer {
        if let Some(bytes) = bytes {
            fields.insert("bytes".into(), Bytes::value(bytes));
        }
        fields.insert("notices".into(), Value::list(notices.into_iter().map(Value::from)));
    }
    Ok(answer)
}

//= docs/spec.md#git
//# What an answer would have noticed MUST be told by the fault of a command that fails, too.
/// A fault that says besides what was noticed: a setting that does not count may be why git fails.
fn with_notices(mut fault: Box<Diagnostic>, notices: &[String]) -> Box<Diagnostic> {
    if notices.is_empty() {
        return fault;
    }
    fault.message = format!("{}; besides: {}", fault.message, notices.join("; "));
    let mut data = fault.data.take().map_or_else(|| json!({}), |data| *data);
    if data.is_object() {
        data["notices"] = notices.into();
    }
    fault.data(data)
}

//= docs/spec.md#git
//# What git passed over though it ended well MUST be told.
/// What git could not do or left out, in its own words: it ends with 0 all the same.
fn complaints(errors: &[u8]) -> Vec<String> {
    let errors = String::from_utf8_lossy(errors);
    let begins = ["error:", "warning:", "Ignoring path"];
    let lines: Vec<&str> = errors.lines().filter(|line| begins.iter().any(|begin| line.starts_with(begin))).collect();
    let more = lines.len().saturating_sub(MOST_COMPLAINTS);
    let told = lines.iter().take(MOST_COMPLAINTS).map(|line| format!("git ended with 0 and says: {line}"));
    told.chain((more > 0).then(|| format!("git says {more} more such lines: see `errors`"))).collect()
}

/// Puts a text in the place of what was printed, which is kept beside; says so, if that was no text.
pub fn let_through(ran: &mut ProgramOutput, bytes: &mut Option<Vec<u8>>) -> Option<String> {
    let text = String::from_utf8_lossy(&ran.output).into_owned().into_bytes();
    let is_lossy = text != ran.output;
    *bytes = Some(std::mem::replace(&mut ran.output, text));
    is_lossy.then(|| NO_TEXT.to_owned())
}

/// The next step where a program prints what is no text.
pub const ANY_BYTES: &str =
    "`any_bytes: true` gives it all the same: `text` with `\u{fffd}` in its place, and `bytes` as it is";

/// The fault of a program that printed what is no text, with the first line of that.
pub fn no_text(shown: &ProgramCommand, ran: &ProgramOutput) -> Option<Box<Diagnostic>> {
    let at = std::str::from_utf8(&ran.output).err()?.valid_up_to();
    let begin = ran.output[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let line = ran.output[begin..].split(|byte| *byte == b'\n').next().unwrap_or_default();
    let line = String::from_utf8_lossy(&line[..line.len().min(MOST_LINE)]).into_owned();
    let number = ran.output[..begin].iter().filter(|byte| **byte == b'\n').count() + 1;
    let message = format!("`{}` prints what is no UTF-8, first in line {number}: `{line}`", shown.line());
    Some(Diagnostic::new(Code::UTF8, message))
}
