//! An error as callers see it: without locations and help that only the author of the pack can use.

use crate::diagnostic::{Code, Diagnostic};
use crate::registry::FOLDERS;

/// What a caller can do about an error in the pack's own code.
const ADVICE: &str = "try other arguments, or report it to the pack's author: the server's log has the location";

//= docs/spec.md#calls
//# The answer to a caller MUST NOT contain locations or advice for the author of the pack; the log MUST contain them.
/// Returns the error as a caller sees it that requested `what`: the name of a tool, or a URI.
pub fn for_caller(error: &Diagnostic, what: Option<&str>) -> Diagnostic {
    let is_in_pack = error.at.as_ref().is_some_and(|at| is_pack_file(&at.source.path));
    let mut reported = error.clone();
    reported.trace.clear();
    if reported.is_for_author {
        reported.help = None;
    }
    if reported.help.is_none() && error.code == Code::LIMIT {
        reported.help = Some("ask for less in one call".to_owned());
    }
    if !is_in_pack {
        return reported;
    }
    reported.at = None;
    if [Code::SCRIPT.0, Code::ARGUMENTS.0, Code::TEMPLATE.0].contains(&error.code.kind()) {
        // The data of a script's own arguments would be mistaken for those of the caller.
        reported.data = None;
        let what = what.map_or_else(|| "the pack".to_owned(), |what| format!("`{what}`"));
        reported.message = format!("the code of {what} failed: {}", error.message);
        reported.help = Some(ADVICE.to_owned());
    }
    reported
}

/// Returns whether a path belongs to a script, a definition or a template of a pack.
fn is_pack_file(path: &str) -> bool {
    path.ends_with(".rhai") || path.split_once('/').is_some_and(|(folder, _)| FOLDERS.contains(&folder))
}
