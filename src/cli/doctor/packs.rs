//! Which packs serve here, which do not, and why.

use super::super::Session;
use super::super::list::looked_for;
use super::Finding;
use crate::registry::{PackPart, Permissions, RefusedPart, Registry, is_withheld};

/// What is refused: one finding for all parts of a pack that have the same reason.
fn refused(registry: &Registry) -> Vec<Finding> {
    let mut groups: Vec<(&RefusedPart, Vec<String>)> = Vec::new();
    for one in &registry.refused {
        let name = format!("the {} `{}`", one.part.name(), one.name);
        match groups.iter_mut().find(|(first, _)| first.pack == one.pack && first.why.message == one.why.message) {
            Some((_, names)) => names.push(name),
            // A pack that is refused as a whole is named by itself, with its parts behind it.
            None if one.part == PackPart::Pack => groups.push((one, Vec::new())),
            None => groups.push((one, vec![name])),
        }
    }
    let told = groups.into_iter().map(|(first, names)| {
        let (pack, parts) = (format!("the pack `{}`", first.pack), names.join(", "));
        let who = match (first.part, names.len()) {
            (PackPart::Pack, 0) => format!("{pack} is"),
            (PackPart::Pack, _) => format!("{pack}, with {parts}, is"),
            (_, 1) => format!("{parts} of {pack} is"),
            _ => format!("{parts} of {pack} are"),
        };
        let what = format!("{who} not served: {}", first.why.message);
        let next = match (is_withheld(&first.why), first.part) {
            (true, _) => first.why.help.clone().unwrap_or_default(),
            (false, PackPart::Pack) => "`toolsd check` shows all that is wrong with it".to_owned(),
            (false, _) => "`toolsd check`".to_owned(),
        };
        Finding::broken("pack", what).next(next)
    });
    told.collect()
}

/// Every pack: served, served in part, refused, or offered for other workspaces.
pub fn packs(session: &Session) -> Vec<Finding> {
    let service = match session.service() {
        Ok(service) => service,
        Err(fault) => return vec![Finding::of_fault("packs", &fault)],
    };
    let registry = service.registry();
    let mut findings = Vec::new();
    for pack in &registry.packs {
        let words = Permissions::from_pack(&pack.definition).describe();
        let may = if words.is_empty() { "nothing outside of itself".to_owned() } else { words.join("  ") };
        let part = if registry.refused.iter().any(|one| one.pack == pack.name) { " in part" } else { "" };
        findings.push(Finding::well("pack", format!("`{}` serves{part}; it may: {may}", pack.name)));
    }
    findings.extend(refused(&registry));
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
