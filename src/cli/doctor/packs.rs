//! Which packs serve here, which do not, and why.

use super::super::Session;
use super::super::list::looked_for;
use super::Finding;
use crate::registry::{Part, Permissions, is_withheld};

/// Every pack: served, served in part, refused, or offered for other workspaces.
pub fn packs(session: &Session) -> Vec<Finding> {
    let service = match session.service() {
        Ok(service) => service,
        Err(fault) => return vec![Finding::of_fault("packs", &fault)],
    };
    let registry = service.registry();
    let mut findings = Vec::new();
    for pack in &registry.packs {
        let words = Permissions::of_pack(&pack.name, &pack.definition).words();
        let may = if words.is_empty() { "nothing outside of itself".to_owned() } else { words.join("  ") };
        let part = if registry.refused.iter().any(|one| one.pack == pack.name) { " in part" } else { "" };
        findings.push(Finding::well("pack", format!("`{}` serves{part}; it may: {may}", pack.name)));
    }
    for refused in &registry.refused {
        let what = format!("the {} `{}` is not served: {}", refused.part.name(), refused.name, refused.why.message);
        let next = if refused.part == Part::Pack {
            "`toolsd check` shows all that is wrong with it"
        } else {
            "`toolsd check`"
        };
        findings.push(Finding::broken("pack", what).next(next));
    }
    let others = registry.faults.iter().filter(|fault| fault.is_error() && !is_withheld(fault));
    findings.extend(others.map(|fault| Finding::of_fault("fault", fault)));
    for (name, markers) in &registry.dormant {
        findings.push(Finding::well("pack", format!("`{name}` is offered; it looked for {}", looked_for(markers))));
    }
    if registry.packs.is_empty() {
        findings.push(
            Finding::note("pack", "no pack serves here")
                .next("`--pack NAME` serves one; `toolsd new pack NAME` writes one"),
        );
    }
    findings
}
