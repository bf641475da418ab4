//! The checks of `toolsd doctor`: the workspace and its folders, trust, packs, the sandbox, git, and HTTP.

use crate::cli::context::{
    CommandContext, OPEN_FOLDER, describe_markers, environment_variable, load_trust, trust_record_path,
};
use crate::cli::misplaced::misplaced_definitions;
use crate::cli::terminal::TextStyle;
use crate::definition::SETTINGS_FILE;
use crate::diagnostic::Code;
use crate::primitive_api::git::git_version;
use crate::registry::{PackPart, Permissions, RefusedPart, Registry, is_withheld};
use crate::value::Json;
use crate::watch::probe;
use crate::world::Files;
use crate::world::disk::{Disk, config_folder, recovered, sandbox_status, secret_variable, state_folder, try_git};
use crate::world::run::RequiredGrant;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::Path;

/// The result of one check.
pub struct Finding {
    pub(super) state: FindingState,
    /// Its subject: one word.
    pub(super) about: &'static str,
    /// What was found.
    pub(super) says: String,
    /// What to do about it.
    pub(super) next: Option<String>,
}

/// How serious a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FindingState {
    /// As it should be.
    Ok,
    /// Worth knowing; nothing is broken.
    Note,
    /// Something does not work.
    Broken,
}

impl FindingState {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Note => "note",
            Self::Broken => "broken",
        }
    }

    pub(super) fn style(self) -> TextStyle {
        match self {
            Self::Ok => TextStyle::Green,
            Self::Note => TextStyle::Yellow,
            Self::Broken => TextStyle::Red,
        }
    }
}

impl Finding {
    pub(super) fn ok(about: &'static str, says: impl Into<String>) -> Self {
        Self { state: FindingState::Ok, about, says: says.into(), next: None }
    }

    pub(super) fn note(about: &'static str, says: impl Into<String>) -> Self {
        Self { state: FindingState::Note, about, says: says.into(), next: None }
    }

    pub(super) fn broken(about: &'static str, says: impl Into<String>) -> Self {
        Self { state: FindingState::Broken, about, says: says.into(), next: None }
    }

    pub(super) fn next(self, next: impl Into<String>) -> Self {
        Self { next: Some(next.into()), ..self }
    }

    /// Turns a diagnostic into a finding: broken if it is an error.
    pub(super) fn from_diagnostic(about: &'static str, diagnostic: &crate::diagnostic::Diagnostic) -> Self {
        let place = diagnostic.at.as_ref().map_or_else(String::new, |at| format!("{at}: "));
        let state = if diagnostic.is_error() { FindingState::Broken } else { FindingState::Note };
        Self { state, about, says: format!("{place}{}", diagnostic.message), next: diagnostic.help.clone() }
    }

    pub(super) fn json(&self) -> Json {
        let mut json = json!({ "about": self.about, "state": self.state.name(), "says": self.says });
        if let Some(next) = &self.next {
            json["next"] = json!(next);
        }
        json
    }
}

/// Checks the workspace and the additional roots.
pub fn workspace(context: &CommandContext) -> Vec<Finding> {
    let root = context.workspace.root();
    let mut findings = vec![Finding::ok("workspace", root)];
    for folder in context.further_roots() {
        findings.push(match Disk::new(&folder, []) {
            Ok(_) => Finding::ok("root", folder),
            Err(diagnostic) => Finding::broken("root", diagnostic.message.clone())
                .next(format!("name an existing folder, or remove it from `--root` or `{SETTINGS_FILE}`")),
        });
    }
    findings
}

/// The folders of the host.
pub fn folders(_: &CommandContext) -> Vec<Finding> {
    let is_there = |path: &str| Disk::new("/", []).is_ok_and(|disk| matches!(disk.stat(path), Ok(Some(_))));
    let mut findings = Vec::new();
    for (what, place) in [
        ("your packs are in", config_folder()),
        ("trust is kept in", trust_record_path()),
        ("locks and unfinished writes are in", state_folder()),
    ] {
        findings.push(match place {
            Some(place) if is_there(&place) => Finding::ok("files", format!("{what} {place}")),
            Some(place) => Finding::ok("files", format!("{what} {place} (does not exist yet)")),
            None => {
                let why = environment_variable("HOME")
                    .map_or("is not set".to_owned(), |home| format!("is `{home}`, which is not an absolute path"));
                Finding::broken("files", format!("{what} no folder: `HOME` {why}"))
                    .next("set `HOME` to your home folder")
            }
        });
    }
    findings.push(Finding::ok("files", "the log is written to standard error; some clients keep it"));
    findings
}

/// Reports what is trusted here, what waits for trust, and what cannot be trusted.
pub fn trust(context: &CommandContext) -> Vec<Finding> {
    let root = context.workspace.root();
    let trust = match load_trust(root) {
        Ok(trust) => trust,
        Err(diagnostic) => return vec![Finding::from_diagnostic("trust", &diagnostic)],
    };
    let mut findings = vec![match trust.last_state().map_or(0, BTreeMap::len) {
        0 => Finding::ok("trust", "no file of this workspace is trusted"),
        1 => Finding::ok("trust", "1 file of this workspace is trusted"),
        many => Finding::ok("trust", format!("{many} files of this workspace are trusted")),
    }];
    let now = context.workspace.now_ms();
    for (file, _) in trust.edits.iter().filter(|(_, until)| **until <= now) {
        findings.push(
            Finding::note("trust", format!("edits of `{file}` are trusted no more"))
                .next("`toolsd trust --edits FILE` trusts them again"),
        );
    }
    if let Ok(service) = context.service() {
        let registry = service.registry();
        findings.extend(registry.withheld().map(|diagnostic| Finding::from_diagnostic("trust", diagnostic)));
    }
    findings.extend(misplaced_definitions(context).iter().map(|found| Finding::from_diagnostic("files", found)));
    findings
}

/// Reports what killed servers left behind.
pub fn leftovers(_: &CommandContext) -> Vec<Finding> {
    recovered().into_iter().map(|reported| Finding::note("left", reported)).collect()
}

/// Whether programs that packs start are confined here.
pub fn sandbox(_: &CommandContext) -> Vec<Finding> {
    let status = sandbox_status();
    let says = status.to_string();
    vec![match (status.is_confining(), status.is_refusing()) {
        (true, _) => Finding::ok("sandbox", says),
        (_, true) => {
            Finding::note("sandbox", says).next(
                "a newer kernel, or a container that allows Landlock and seccomp; or `--sandbox off` among the arguments by which you or your client start the server: no file sets it",
            )
        }
        _ => Finding::note("sandbox", says).next(
            "leave out `--sandbox` among the arguments that start the server to have programs confined, or refused",
        ),
    }]
}

/// Whether the system reports changes of files. What it does not report is polled.
pub fn watches(context: &CommandContext) -> Vec<Finding> {
    let shortage = probe(Path::new(context.workspace.root()));
    shortage.iter().map(|diagnostic| Finding::from_diagnostic("watches", diagnostic)).collect()
}

/// Reports whether git is installed, and which version.
pub fn git(context: &CommandContext) -> Vec<Finding> {
    let version = match git_version(&*context.workspace) {
        Ok(version) => version,
        Err(diagnostic) if diagnostic.code == Code("git") => return vec![Finding::from_diagnostic("git", &diagnostic)],
        Err(diagnostic) => {
            let next = "install git: packs with a `git` grant need it";
            return vec![Finding::note("git", diagnostic.message.clone()).next(next)];
        }
    };
    let mut findings = try_git_steps(version);
    // What a pack is refused here, it is refused whatever its grants say.
    findings.push(match context.workspace.repository(".", RequiredGrant::ReadGit) {
        Ok(repository) => Finding::ok("git", format!("the repository here is `{}`", repository.top)),
        Err(diagnostic) => Finding { state: FindingState::Note, ..Finding::from_diagnostic("git", &diagnostic) },
    });
    findings
}

//= docs/spec.md#command-line
//# `toolsd doctor` MUST try what the verbs of git need, report what fails, and exit with 1 if something is
//# broken.
/// What the verbs need, tried.
fn try_git_steps(version: &str) -> Vec<Finding> {
    if sandbox_status().is_refusing() {
        return vec![Finding::note("git", format!("{version}; it only looks: see `sandbox`"))];
    }
    let steps = match try_git() {
        Ok(steps) => steps,
        Err(diagnostic) => return vec![Finding::from_diagnostic("git", &diagnostic)],
    };
    let well: Vec<&str> = steps.iter().filter(|(_, ended)| ended.is_ok()).map(|(shows, _)| *shows).collect();
    let mut findings = vec![Finding::ok("git", format!("{version}; tried: {}", well.join(", ")))];
    findings.extend(steps.iter().filter_map(|(shows, ended)| {
        let diagnostic = ended.as_ref().err()?;
        let next = diagnostic
            .help
            .clone()
            .unwrap_or_else(|| "another git in `PATH` may do: verbs that need this fail".to_owned());
        Some(Finding::broken("git", format!("tried in vain that {shows}: {}", diagnostic.message)).next(next))
    }));
    findings
}

/// Who is let in over HTTP.
pub fn http(_: &CommandContext) -> Vec<Finding> {
    vec![match secret_variable("TOOLSD_HTTP_TOKEN") {
        Some(token) if token.is_empty() => Finding::broken("http", "`TOOLSD_HTTP_TOKEN` is empty")
            .next("set a token, for example the output of `openssl rand -hex 32`, or unset it"),
        Some(_) => Finding::ok("http", "`TOOLSD_HTTP_TOKEN` is set: clients must send it"),
        None => Finding::ok("http", "no token is set: `serve --http` serves this machine only"),
    }]
}

/// What is refused: one finding for all parts of a pack that have the same reason.
fn refused_packs(registry: &Registry) -> Vec<Finding> {
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
    let reported = groups.into_iter().map(|(first, names)| {
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
            (false, PackPart::Pack) => "`toolsd check` lists its errors".to_owned(),
            (false, _) => "`toolsd check`".to_owned(),
        };
        Finding::broken("pack", what).next(next)
    });
    reported.collect()
}

/// Every pack: served, served in part, refused, or offered for other workspaces.
pub fn packs(context: &CommandContext) -> Vec<Finding> {
    let service = match context.service() {
        Ok(service) => service,
        Err(diagnostic) => return vec![Finding::from_diagnostic("packs", &diagnostic)],
    };
    let registry = service.registry();
    let mut findings = Vec::new();
    for pack in &registry.packs {
        let words = Permissions::from_pack(&pack.definition).describe();
        let may = if words.is_empty() { "nothing outside of itself".to_owned() } else { words.join("  ") };
        let part = if registry.refused.iter().any(|one| one.pack == pack.name) { " in part" } else { "" };
        findings.push(Finding::ok("pack", format!("`{}` serves{part}; it may: {may}", pack.name)));
    }
    findings.extend(refused_packs(&registry));
    let others = registry
        .diagnostics
        .iter()
        .filter(|diagnostic| (diagnostic.is_error() || diagnostic.code == OPEN_FOLDER) && !is_withheld(diagnostic));
    findings.extend(others.map(|diagnostic| Finding::from_diagnostic("fault", diagnostic)));
    for (name, markers) in &registry.dormant {
        findings.push(Finding::ok("pack", format!("`{name}` is offered; it looked for {}", describe_markers(markers))));
    }
    if registry.packs.is_empty() {
        findings.push(
            Finding::note("pack", "no pack serves here")
                .next("`--pack NAME` serves one; `toolsd new pack NAME` writes one"),
        );
    }
    findings
}
