//! Names in `toolsd.toml` that are meant for tools and that no tool has.

use super::code_mode::matches_name;
use crate::diagnostic::{Code, Diagnostic, did_you_mean};
use crate::registry::{PackChoice, Registry};

/// The code of a warning for a name in `toolsd.toml` that no tool has.
pub(super) const UNMATCHED_NAME: Code = Code("unmatched-name");

/// A warning for each name that pins a tool, or decides which tools scripts may call, and that no tool has: a
/// misspelt exception would except nothing. None if packs that have the tools may not serve.
pub(super) fn unmatched_names(choice: &PackChoice, registry: &Registry) -> Vec<Diagnostic> {
    if *choice != PackChoice::ByMarkers || registry.diagnostics.iter().any(Diagnostic::is_error) {
        return Vec::new();
    }
    let workspace = &registry.settings.workspace;
    let pins = workspace.discover.iter().flat_map(|discover| &discover.pin).map(|name| ("`pin` of `[discover]`", name));
    let of_scripts = workspace.code_mode.iter().flat_map(|code_mode| {
        let tools = code_mode.tools.iter().flatten().map(|name| ("`tools` of `[code_mode]`", name));
        tools.chain(code_mode.without.iter().map(|name| ("`without` of `[code_mode]`", name)))
    });
    let names: Vec<&str> = registry.tools.iter().map(|tool| tool.name.as_str()).collect();
    let unmatched = pins.chain(of_scripts).filter_map(|(key, pattern)| {
        if names.iter().any(|name| matches_name(pattern, name)) {
            return None;
        }
        let warning = Diagnostic::new(UNMATCHED_NAME, format!("{key} has `{pattern}`, which no tool is called"));
        let help = did_you_mean(pattern, names.iter().copied());
        let help = help.unwrap_or_else(|| "`toolsd list tools` has the names, with their prefixes".to_owned());
        Some(*warning.warning().help(help))
    });
    unmatched.collect()
}
