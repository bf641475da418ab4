//! `toolsd doctor`: looks at the set-up, says what is broken, and what to do about it.

mod clients;
mod comments;
mod packs;
mod place;

use super::options::Format;
use super::terminal::Style;
use super::{Ended, Exit, Session};
use crate::value::Json;
use clap::Args;
use serde_json::json;

/// Check the set-up: files, trust, packs, git, clients.
#[derive(Args)]
pub struct Doctor {}

/// What one look found.
pub struct Finding {
    state: State,
    /// What it is about: one word.
    about: &'static str,
    /// What was found.
    says: String,
    /// What to do about it.
    next: Option<String>,
}

/// How it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// As it should be.
    Well,
    /// Worth knowing; nothing is broken.
    Note,
    /// Something does not work.
    Broken,
}

impl State {
    fn name(self) -> &'static str {
        match self {
            Self::Well => "ok",
            Self::Note => "note",
            Self::Broken => "broken",
        }
    }

    fn style(self) -> Style {
        match self {
            Self::Well => Style::Green,
            Self::Note => Style::Yellow,
            Self::Broken => Style::Red,
        }
    }
}

impl Finding {
    fn well(about: &'static str, says: impl Into<String>) -> Self {
        Self { state: State::Well, about, says: says.into(), next: None }
    }

    fn note(about: &'static str, says: impl Into<String>) -> Self {
        Self { state: State::Note, about, says: says.into(), next: None }
    }

    fn broken(about: &'static str, says: impl Into<String>) -> Self {
        Self { state: State::Broken, about, says: says.into(), next: None }
    }

    fn next(self, next: impl Into<String>) -> Self {
        Self { next: Some(next.into()), ..self }
    }

    /// What a fault says: broken if it is an error.
    fn of_fault(about: &'static str, fault: &crate::diagnostic::Diagnostic) -> Self {
        let place = fault.at.as_ref().map_or_else(String::new, |at| format!("{at}: "));
        let state = if fault.is_error() { State::Broken } else { State::Note };
        Self { state, about, says: format!("{place}{}", fault.message), next: fault.help.clone() }
    }

    fn json(&self) -> Json {
        let mut json = json!({ "about": self.about, "state": self.state.name(), "says": self.says });
        if let Some(next) = &self.next {
            json["next"] = json!(next);
        }
        json
    }
}

/// Every check, in the order in which its findings are told.
const CHECKS: &[fn(&Session) -> Vec<Finding>] = &[
    place::workspace,
    place::files,
    place::left,
    place::trust,
    packs::packs,
    place::sandbox,
    place::git,
    clients::clients,
    place::http,
];

impl Doctor {
    pub(super) fn run(self, session: &Session) -> Ended {
        let findings: Vec<Finding> = CHECKS.iter().flat_map(|check| check(session)).collect();
        let is_broken = findings.iter().any(|finding| finding.state == State::Broken);
        if session.shared.format == Format::Json {
            let checks: Vec<Json> = findings.iter().map(Finding::json).collect();
            session.terminal.json(&json!({ "well": !is_broken, "findings": checks }));
        } else {
            findings.iter().for_each(|finding| show(session, finding));
        }
        //= docs/spec.md#trust
        //# `toolsd doctor` MUST end with code 1 if something is broken.
        Ok(if is_broken { Exit::Faults } else { Exit::Well })
    }
}

fn show(session: &Session, finding: &Finding) {
    let terminal = &session.terminal;
    let mark = format!("{:6}", finding.state.name());
    terminal
        .styled(&[(finding.state.style(), &mark), (Style::Plain, &format!("  {}: {}", finding.about, finding.says))]);
    if let Some(next) = &finding.next {
        terminal.line(&format!("        -> {next}"));
    }
}
