//! How a program ended, as a map; and as a fault that has what it said.

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::value::Value;
use crate::world::run::{ProgramCommand, ProgramOutput};
use serde_json::json;

/// So much of what git said stands in the message of a fault.
const MOST_MESSAGE: usize = 1_500;

/// So much of each stream stands in the data of a fault.
const MOST_DATA: usize = 16 << 10;

/// How a program ended, as a map. Another exit code than 0 is a fault of this code, if it is checked.
pub fn ended(command: &ProgramCommand, ran: ProgramOutput, code: Code, checks: bool) -> Result<Value> {
    let errors = String::from_utf8_lossy(&ran.errors).into_owned();
    if checks && ran.code != 0 {
        return Err(failed(command, ran.code, &String::from_utf8_lossy(&ran.output), &errors, code));
    }
    let Ok(text) = String::from_utf8(ran.output) else {
        return Err(Diagnostic::new(Code::UTF8, format!("`{}` prints what is no UTF-8", command.line())));
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
//# A verb that fails MUST tell its exit code and what git said on both streams; what is cut MUST be told.
fn failed(command: &ProgramCommand, ended: i64, output: &str, errors: &str, code: Code) -> Box<Diagnostic> {
    let mut lines = errors.lines().chain(output.lines()).map(str::trim_end).filter(|line| !line.trim().is_empty());
    // Git's first line is seldom the one that says it: of a conflict it names the file that went well before.
    let told = match code == Code("git") {
        true => cut(&lines.collect::<Vec<_>>().join("; "), MOST_MESSAGE),
        false => lines.next().unwrap_or_default().to_owned(),
    };
    let message = format!("`{}` ended with {ended}: {told}", command.line());
    let help = match errors.split('\'').find(|part| part.ends_with(".lock")).filter(|_| errors.contains("exists")) {
        Some(lock) => format!(
            "another git is at work here (a person's, an editor's), or one was ended: try again; only if none runs, remove `{lock}`"
        ),
        None if errors.contains("no -m option was given") => {
            "`mainline: 1` says which parent of the merge counts as what was there before".to_owned()
        }
        None => "`check: false` gives the code instead".to_owned(),
    };
    Diagnostic::new(code, message.trim_end_matches(": "))
        .data(json!({ "code": ended, "errors": cut(errors, MOST_DATA), "output": cut(output, MOST_DATA) }))
        .help(help)
}

/// The beginning of a text, and how much of it is missing.
fn cut(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(most);
    format!("{}… (cut: {} bytes more)", &text[..end], text.len() - end)
}
