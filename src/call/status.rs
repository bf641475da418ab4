//! `toolsd://status`: what serves, what does not, and why. Errors as data and in the log.

use crate::diagnostic::{Diagnostic, Severity};
use crate::registry::{RefusedPart, Registry};
use crate::value::Json;
use crate::world::World;
use serde_json::json;

/// The URI of the host's own resource.
pub const STATUS: &str = "toolsd://status";

/// The state of a registry.
pub(super) fn registry_status(registry: &Registry) -> Json {
    let packs: Vec<Json> = registry
        .packs
        .iter()
        .map(|pack| {
            let definition = &pack.definition;
            let stale = registry.stale.contains(&pack.name);
            let in_part = registry.refused.iter().any(|refused| refused.pack == pack.name);
            let state = match (stale, in_part) {
                (true, _) => "its last good state serves",
                (false, true) => "serves in part",
                (false, false) => "serves",
            };
            json!({
                "name": pack.name,
                "title": definition.title.value,
                "version": definition.version,
                "state": state,
                "may": registry.permissions(&pack.name).describe(),
            })
        })
        .collect();
    //= docs/spec.md#reload
    //# Errors of packs MUST be listed with their location in `toolsd://status` and in the log.
    let dormant: Vec<Json> =
        registry.dormant.iter().map(|(name, markers)| json!({ "name": name, "activate_if_exists": markers })).collect();
    json!({
        "generation": registry.generation,
        "packs": packs,
        "dormant": dormant,
        "refused": describe_refused(registry),
        "errors": registry.diagnostics.iter().map(error_json).collect::<Vec<_>>(),
    })
}

/// Returns the broken parts that are not served, each with its reason.
fn describe_refused(registry: &Registry) -> Vec<Json> {
    let one = |refused: &RefusedPart| {
        json!({
            "pack": refused.pack,
            "part": refused.part.name(),
            "name": refused.name,
            "why": error_json(&refused.why),
        })
    };
    registry.refused.iter().map(one).collect()
}

/// Returns a diagnostic as data.
pub fn error_json(error: &Diagnostic) -> Json {
    let mut json = json!({
        "severity": match error.severity { Severity::Error => "error", Severity::Warning => "warning" },
        "code": error.code.0,
        "message": error.message,
    });
    if let Some(place) = &error.at {
        json["at"] = json!(place.to_string());
    }
    if let Some(help) = &error.help {
        json["help"] = json!(help);
    }
    json
}

/// Returns the errors of the roots of a workspace.
pub(super) fn displaced_roots(workspace: &dyn World) -> Vec<Json> {
    let roots = std::iter::once(".".to_owned()).chain(workspace.granted_roots());
    roots.filter_map(|root| workspace.stat(&root).err().map(|wrong| error_json(&wrong))).collect()
}

/// Writes a diagnostic to the log.
pub fn log_error(error: &Diagnostic) {
    match error.severity {
        Severity::Error => tracing::error!("{error}"),
        Severity::Warning => tracing::warn!("{error}"),
    }
}
