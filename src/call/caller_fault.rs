//! An error as callers see it: without locations and help that only the author of the pack can use.

use crate::diagnostic::{Code, Diagnostic};
use crate::registry::FOLDERS;

/// What a caller can do about an error in the pack's own code.
const ADVICE: &str = "try other arguments, or report it to the pack's author: the server's log has the location";

//= docs/spec.md#calls
//# The answer to a caller MUST NOT hold places or advice that only the author of the pack can use; the log MUST
//# hold them.
/// Returns the error as a caller sees it that requested `what`: the name of a tool, or a URI.
pub fn for_caller(fault: &Diagnostic, what: Option<&str>) -> Diagnostic {
    let is_in_pack = fault.at.as_ref().is_some_and(|at| is_pack_file(&at.source.path));
    let mut told = fault.clone();
    told.trace.clear();
    if told.is_for_author {
        told.help = None;
    }
    if told.help.is_none() && fault.code == Code::LIMIT {
        told.help = Some("ask for less in one call".to_owned());
    }
    if !is_in_pack {
        return told;
    }
    told.at = None;
    if [Code::SCRIPT.0, Code::ARGUMENTS.0, Code::TEMPLATE.0].contains(&fault.code.kind()) {
        // The data of a script's own arguments would be mistaken for those of the caller.
        told.data = None;
        let what = what.map_or_else(|| "the pack".to_owned(), |what| format!("`{what}`"));
        told.message = format!("the code of {what} failed: {}", fault.message);
        told.help = Some(ADVICE.to_owned());
    }
    told
}

/// Returns whether a path belongs to a script, a definition or a template of a pack.
fn is_pack_file(path: &str) -> bool {
    path.ends_with(".rhai") || path.split_once('/').is_some_and(|(folder, _)| FOLDERS.contains(&folder))
}
