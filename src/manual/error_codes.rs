//! The error codes that no rule of `check` explains.

use crate::check::{ALL as RULES, DIRECTORY};
use crate::definition::code;
use std::sync::LazyLock;

/// An error code that no rule explains.
pub struct ErrorCode {
    /// Its stable name.
    pub code: &'static str,
    /// What it means, in one sentence with a full stop.
    pub summary: &'static str,
}

/// Codes that are not declared in a list where they are used: those of scripts, templates, packs and calls. The test of
/// the generated files detects a missing one.
const ALONE: &[(&str, &str)] = &[
    ("ask", "The client gave no valid answer, or questions cannot be asked here."),
    ("arguments", "The schema, or a primitive, does not accept these arguments."),
    ("cancelled", "The client disconnected or cancelled its request."),
    ("capability", "The client lacks a capability that a tool or a question needs."),
    ("case", "A case or an example produced a result other than the expected one."),
    ("config", "The configuration of a pack in `toolsd.toml` does not match its schema."),
    ("cycle", "There is a cycle where none is allowed."),
    ("ejected-original-changed", "The original of a copied file has changed since it was copied; compare the two."),
    ("fail", "A script refused with `fail(…)`, with a message for the model."),
    ("git", "A git command failed, or scripts may not run it."),
    ("internal", "A bug in toolsd."),
    ("layer", "A layer of `toolsd.toml` is not defined, fetched, locked, signed or approved as it must be."),
    ("limit", "A call took too many steps, too much time, memory or depth, or its result is too large."),
    ("locked", "A lock could not be acquired in time; the error names its holder."),
    ("misplaced", "A definition lies where nothing reads it."),
    ("missed-folder", "A folder of `--dir` has no packs; it must be the folder that contains `tools.d`."),
    ("not-found", "Something does not exist, or no resource matches the URI."),
    ("open-folder", "Everybody on this machine can change a folder whose packs are used without trust."),
    ("output", "The result of a tool does not match `[tool.output]`."),
    ("over-budget", "The list of tools takes more of a model's context than `budget` in `toolsd.toml` allows."),
    ("ownerless-file", "A script or a template belongs to no pack, so nothing finds it."),
    ("parse", "A text does not have the expected format, which follows the dot, as in `parse.json`."),
    ("placeholders", "A placeholder of a `{{name}}` text has no value, or a value has no placeholder."),
    ("protocol-error", "A script refused with `protocol_error(…)`, as a protocol error."),
    ("run", "A program failed, or the pack may not run it."),
    ("script", "A script failed, for instance because of a wrong type or a missing value."),
    ("script-syntax", "The script cannot be compiled."),
    ("skill", "A skill was skipped, or clients may refuse it, because of its front matter, its name or its size."),
    ("suspended", "A call is waiting for answers from the client; this is not an error."),
    ("template", "A template could not be rendered."),
    ("template-helper", "The template calls a helper that does not exist or is not pure."),
    ("template-partial", "The template includes a partial that does not exist."),
    ("template-syntax", "The template cannot be compiled."),
    ("unknown-pack", "No pack with this name is loaded."),
    ("unmatched-name", "A name in `toolsd.toml` that pins or excepts a tool is that of no tool."),
    ("untrusted", "A file of the workspace is not trusted and therefore not used; `toolsd trust` allows it."),
    ("usage", "The command line is wrong, or it asks for something that does not exist."),
    ("utf8", "The bytes are not UTF-8."),
    ("world", "A file could not be read or written, or access to it is not granted."),
];

static CODES: LazyLock<Vec<ErrorCode>> = LazyLock::new(|| {
    let definitions = code::ALL.iter().map(|(code, summary)| ErrorCode { code: code.0, summary });
    let alone = ALONE.iter().map(|(code, summary)| ErrorCode { code, summary });
    let is_rule = |error: &ErrorCode| RULES.iter().chain(DIRECTORY).any(|rule| rule.code.0 == error.code);
    let mut error_codes: Vec<ErrorCode> = definitions.chain(alone).filter(|error| !is_rule(error)).collect();
    error_codes.sort_by_key(|error| error.code);
    error_codes
});

/// All codes that no rule explains, sorted.
pub fn error_codes() -> Vec<&'static ErrorCode> {
    CODES.iter().collect()
}
