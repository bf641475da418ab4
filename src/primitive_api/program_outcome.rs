//! The outcome of a program: a map for the script, or an error with its output. Also handles output that is not UTF-8.

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::value::Value;
use crate::world::run::{ProgramCommand, ProgramOutput};
use serde_json::json;

/// The notice about output that is not UTF-8.
const NO_TEXT: &str = "output that is not UTF-8 is `\u{fffd}` in `text`; `bytes` has it unchanged";

/// Maximum length of a line in a message, in bytes.
const MAX_LINE_BYTES: usize = 120;

/// Maximum length of the output in an error message, in bytes.
const MAX_MESSAGE_BYTES: usize = 1_500;

/// Maximum length of each stream in the data of an error, in bytes.
const MAX_STREAM_BYTES: usize = 16 << 10;

/// Returns the outcome of a program as a map.
///
/// # Errors
/// The exit code is not 0 and `checks` is set, which is an error of this `code`; or the output is not UTF-8.
pub fn ended(command: &ProgramCommand, ran: ProgramOutput, code: Code, checks: bool) -> Result<Value> {
    let errors = String::from_utf8_lossy(&ran.errors).into_owned();
    if checks && ran.code != 0 {
        return Err(failed(command, ran.code, &String::from_utf8_lossy(&ran.output), &errors, code));
    }
    let Ok(text) = String::from_utf8(ran.output) else {
        return Err(Diagnostic::new(Code::UTF8, format!("the output of `{}` is not UTF-8", command.line())));
    };
    let line = text.lines().next().unwrap_or_default().to_owned();
    Ok(Value::map([
        ("code", Value::Integer(ran.code)),
        ("text", text.into()),
        ("line", line.into()),
        ("errors", errors.into()),
    ]))
}

//= docs/spec.md#git
//# A verb that fails MUST report the exit code and the output of git, and what to do if git needed a program.
fn failed(command: &ProgramCommand, ended: i64, output: &str, errors: &str, code: Code) -> Box<Diagnostic> {
    let lines = errors.lines().chain(output.lines()).map(str::trim_end).filter(|line| !line.trim().is_empty());
    // The relevant line depends on the program: the first of a compiler, the last of an interpreter.
    let reported = ends(&lines.collect::<Vec<_>>().join("; "), MAX_MESSAGE_BYTES);
    let message = format!("`{}` ended with {ended}: {reported}", command.line());
    let error = Diagnostic::new(code, message.trim_end_matches(": ")).data(
        json!({ "code": ended, "errors": cut(errors, MAX_STREAM_BYTES), "output": cut(output, MAX_STREAM_BYTES) }),
    );
    match errors.split('\'').find(|part| part.ends_with(".lock")).filter(|_| errors.contains("exists")) {
        Some(lock) => error.help(format!(
            "another git process holds `{lock}`, or one was killed: retry; if no git process is running, remove the lock file"
        )),
        None => error.author_help("set `check: false` to get the code instead"),
    }
}

/// Returns the beginning of a text, and the length of the rest.
fn cut(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(most);
    format!("{}… (cut: {} bytes more)", &text[..end], text.len() - end)
}

/// Returns the beginning and the end of a text, and the length of the part between them.
fn ends(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let (end, begin) = (text.floor_char_boundary(most / 3), text.ceil_char_boundary(text.len() - most / 3 * 2));
    format!("{} … (cut: {} bytes) … {}", &text[..end], begin - end, &text[begin..])
}

/// Replaces the output by valid UTF-8 and keeps its bytes in `bytes`; returns a notice if they differ.
pub fn let_through(ran: &mut ProgramOutput, bytes: &mut Option<Vec<u8>>) -> Option<String> {
    let text = String::from_utf8_lossy(&ran.output).into_owned().into_bytes();
    let is_lossy = text != ran.output;
    *bytes = Some(std::mem::replace(&mut ran.output, text));
    is_lossy.then(|| NO_TEXT.to_owned())
}

/// The help for output that is not UTF-8.
pub const ANY_BYTES: &str = "set `lossy_utf8: true` to get it: `text` with `\u{fffd}` instead, and `bytes` unchanged";

/// Returns the error of a program whose output is not UTF-8, with the first such line.
pub fn no_text(shown: &ProgramCommand, ran: &ProgramOutput) -> Option<Box<Diagnostic>> {
    let at = std::str::from_utf8(&ran.output).err()?.valid_up_to();
    let begin = ran.output[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let line = ran.output[begin..].split(|byte| *byte == b'\n').next().unwrap_or_default();
    let line = String::from_utf8_lossy(&line[..line.len().min(MAX_LINE_BYTES)]).into_owned();
    let number = ran.output[..begin].iter().filter(|byte| **byte == b'\n').count() + 1;
    let message = format!("the output of `{}` is not UTF-8, first in line {number}: `{line}`", shown.line());
    Some(Diagnostic::new(Code::UTF8, message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::run::{Confinement, RequiredGrant};
    use std::time::Duration;

    /// An interpreter reports the error at the end, a compiler at the beginning.
    #[test]
    fn errors_show_the_start_and_end_of_output() {
        let said = |errors: &str| {
            let command = ProgramCommand {
                program: "python3".to_owned(),
                arguments: vec!["a.py".to_owned()],
                folder: ".".to_owned(),
                input: Vec::new(),
                env: Vec::new(),
                time: Duration::from_secs(1),
                most: 1,
                needs: RequiredGrant::Program,
                confinement: Confinement::default(),
                stop: crate::guard::check,
            };
            failed(&command, 1, "", errors, Code::WORLD).message.clone()
        };
        let short = said("Traceback (most recent call last):\n  File \"a.py\", line 1\nKeyError: 'x'\n");
        assert!(short.ends_with("; KeyError: 'x'"), "{short}");
        let long = said(&format!("error: first\n{}KeyError: 'é'\n", "  é line\n".repeat(1_000)));
        assert!(long.contains("error: first") && long.ends_with("KeyError: 'é'") && long.contains("(cut: "), "{long}");
        assert!(long.len() < 2_000, "{}", long.len());
    }
}
