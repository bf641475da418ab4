//! `toolsd://status`: what serves, what does not, and what is wrong.

use crate::diagnostic::{Diagnostic, Severity};
use crate::registry::{RefusedPart, Registry};
use crate::value::Json;
use serde_json::json;

/// The URI of the host's own resource.
pub const STATUS: &str = "toolsd://status";

/// The state of a registry.
pub fn status(registry: &Registry) -> Json {
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
    //# What is wrong with a pack, and where, MUST stand in `toolsd://status` and in the log.
    let dormant: Vec<Json> =
        registry.dormant.iter().map(|(name, markers)| json!({ "name": name, "when": markers })).collect();
    json!({
        "generation": registry.generation,
        "packs": packs,
        "dormant": dormant,
        "refused": refused(registry),
        "faults": registry.faults.iter().map(fault).collect::<Vec<_>>(),
    })
}

/// What is not served since it is broken, each with its reason.
fn refused(registry: &Registry) -> Vec<Json> {
    let one = |refused: &RefusedPart| {
        json!({
            "pack": refused.pack,
            "part": refused.part.name(),
            "name": refused.name,
            "why": fault(&refused.why),
        })
    };
    registry.refused.iter().map(one).collect()
}

/// A fault as data.
pub fn fault(fault: &Diagnostic) -> Json {
    let mut json = json!({
        "severity": match fault.severity { Severity::Error => "error", Severity::Warning => "warning" },
        "code": fault.code.0,
        "message": fault.message,
    });
    if let Some(place) = &fault.at {
        json["at"] = json!(place.to_string());
    }
    if let Some(help) = &fault.help {
        json["help"] = json!(help);
    }
    json
}
