//! The codes that a diagnostic may have and that no rule of `check` explains.

use crate::check::ALL as RULES;
use crate::definition::code;
use std::sync::LazyLock;

/// A code of faults that no rule explains.
pub struct ErrorCode {
    /// Its stable name.
    pub code: &'static str,
    /// What it means, in one sentence with a full stop.
    pub summary: &'static str,
}

/// Codes that stand alone where they are made: those of scripts, templates, packs and calls. The test of generated
/// files finds one that is missing here.
const ALONE: &[(&str, &str)] = &[
    ("ask", "The client gave no answer that fits, or nobody can be asked here."),
    ("arguments", "The schema, or a primitive, does not take these arguments."),
    ("cancelled", "The client went away or took its request back."),
    ("capability", "The client lacks what a tool or a question needs of it."),
    ("case", "A case or an example gave something else than it says."),
    ("config", "The configuration of a pack in `toolsd.toml` is not what its schema says."),
    ("cycle", "A chain bites its tail."),
    ("ejected-original-changed", "The file that a copy was made of has changed since; compare the two."),
    ("fail", "A script says no, to the model, by `fail(…)`."),
    ("git", "A command of git failed, or is one that a script may not give."),
    ("internal", "A fault of toolsd itself."),
    ("limit", "A call took too many steps, too much time, memory or depth, or its result is too large."),
    ("locked", "A lock was not had in time; the fault names who holds it."),
    ("not_found", "There is no such thing, or nothing answers the URI."),
    ("not-owned", "A file that is code is another user's, can be changed by others, or is a symlink; it is not used."),
    ("output", "The result of a tool is not what `[tool.output]` says."),
    ("parse", "A text is not of the format it should be; the format stands after the dot, as in `parse.json`."),
    ("reject", "A script says no, to the protocol, by `reject(…)`."),
    ("run", "A program failed, or is none that the pack may run."),
    ("script", "A script failed: a wrong type, a value that is not there."),
    ("script-syntax", "The script cannot be compiled."),
    ("skill", "A skill is left out, or its clients may refuse it: its front matter, its name, its size."),
    ("suspended", "A call waits for answers of the client; it is no fault."),
    ("template", "A template could not be filled."),
    ("template-helper", "The template calls a helper that there is not, or one that is not pure."),
    ("template-partial", "The template includes a part that there is not."),
    ("template-syntax", "The template cannot be compiled."),
    ("tokens", "A text of `{{token}}`s lacks a value, or has no place for one."),
    ("unknown-pack", "There is no pack of that name."),
    ("untrusted", "A file of the workspace was not trusted and so is not used; `toolsd trust` allows it."),
    ("usage", "The command line is wrong, or nothing here answers it."),
    ("utf8", "The bytes are no UTF-8."),
    ("world", "A file could not be read or written, or nothing granted it."),
];

static CODES: LazyLock<Vec<ErrorCode>> = LazyLock::new(|| {
    let definitions = code::ALL.iter().map(|(code, summary)| ErrorCode { code: code.0, summary });
    let alone = ALONE.iter().map(|(code, summary)| ErrorCode { code, summary });
    let is_rule = |fault: &ErrorCode| RULES.iter().any(|rule| rule.code.0 == fault.code);
    let mut faults: Vec<ErrorCode> = definitions.chain(alone).filter(|fault| !is_rule(fault)).collect();
    faults.sort_by_key(|fault| fault.code);
    faults
});

/// All codes that no rule explains, sorted.
pub fn error_codes() -> Vec<&'static ErrorCode> {
    CODES.iter().collect()
}
