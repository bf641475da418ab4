//! `toolsd check`: every fault of every pack at once.

use super::options::Format;
use super::terminal::Style;
use super::{Ended, Exit, Session};
use crate::call;
use crate::diagnostic::{Diagnostic, render};
use crate::registry::PackChoice;
use clap::Args;

/// Check packs: definitions, schemas, scripts, templates.
#[derive(Args)]
pub struct Check {
    /// Check these packs only [default: all].
    #[arg(value_name = "PACK")]
    only: Vec<String>,
}

impl Check {
    pub(super) fn run(self, session: &Session) -> Ended {
        let packs: Vec<String> = self.only.into_iter().chain(session.shared.packs.clone()).collect();
        let choice = if packs.is_empty() { PackChoice::ByMarkers } else { PackChoice::Named(packs) };
        let (parts, mut faults) = call::load_packs(&session.site(choice)?);
        let count = parts.len();
        faults.extend(parts.into_iter().flat_map(|parts| parts.faults));
        faults.extend(call::name_clashes(session.service()?.registry().as_ref()));
        faults.sort_by_cached_key(|fault| {
            let place = fault.at.as_ref().map(|at| (at.source.path.clone(), at.span.start));
            (place.is_none(), place)
        });
        faults.dedup();
        tell(session, &faults, count);
        Ok(if faults.iter().any(Diagnostic::is_error) { Exit::Faults } else { Exit::Well })
    }
}

fn tell(session: &Session, faults: &[Diagnostic], packs: usize) {
    let terminal = &session.terminal;
    match session.shared.format {
        Format::Json => terminal.json(&render::json(faults)),
        Format::Sarif => terminal.json(&render::sarif(faults)),
        Format::Text => {
            if !faults.is_empty() {
                terminal.excerpts(faults);
            }
            let errors = faults.iter().filter(|fault| fault.is_error()).count();
            let style = if errors == 0 { Style::Green } else { Style::Red };
            let warnings = faults.len() - errors;
            let summary = format!(
                "{packs} pack{}, {errors} error{}, {warnings} warning{}",
                plural(packs),
                plural(errors),
                plural(warnings)
            );
            terminal.styled(&[(style, &summary)]);
        }
    }
}

/// The ending of a counted noun.
pub(super) fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}
