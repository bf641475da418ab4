//! Where everything lies, whether it is there, and whether it may be used.

use super::super::Session;
use super::super::record::{load_trust, record_path};
use super::super::session::variable;
use super::{Finding, State};
use crate::definition::SETTINGS_FILE;
use crate::primitive::git::check_git_version;
use crate::registry::is_withheld;
use crate::world::World;
use crate::world::disk::{Disk, config_folder, recovered, sandbox_status, secret_variable, state_folder, try_git};
use crate::world::run::{Command, Confinement, Needs};
use std::time::Duration;

/// The workspace and the further roots.
pub fn workspace(session: &Session) -> Vec<Finding> {
    let root = session.workspace.root();
    let mut findings = vec![Finding::well("workspace", root)];
    for folder in session.further_roots() {
        findings.push(match Disk::new(&folder, []) {
            Ok(_) => Finding::well("root", folder),
            Err(fault) => Finding::broken("root", fault.message.clone())
                .next(format!("name a folder that is there, or take it out of `--root` or `{SETTINGS_FILE}`")),
        });
    }
    findings
}

/// The folders of the host.
pub fn files(_: &Session) -> Vec<Finding> {
    let is_there = |path: &str| Disk::new("/", []).is_ok_and(|disk| matches!(disk.stat(path), Ok(Some(_))));
    let mut findings = Vec::new();
    for (what, place) in [
        ("your packs lie in", config_folder()),
        ("trust is kept in", record_path()),
        ("locks and unfinished writes lie in", state_folder()),
    ] {
        findings.push(match place {
            Some(place) if is_there(&place) => Finding::well("files", format!("{what} {place}")),
            Some(place) => Finding::well("files", format!("{what} {place} (nothing is there yet)")),
            None => {
                let why = variable("HOME")
                    .map_or("is not set".to_owned(), |home| format!("is `{home}`, which is no absolute path"));
                Finding::broken("files", format!("{what} no folder: `HOME` {why}"))
                    .next("set `HOME` to your home folder")
            }
        });
    }
    findings.push(Finding::well("files", "the log goes to standard error: a client keeps it, or not"));
    findings
}

/// What is trusted here, what waits for it, and what cannot be trusted as it is.
pub fn trust(session: &Session) -> Vec<Finding> {
    let root = session.workspace.root();
    let trust = match load_trust(root) {
        Ok(trust) => trust,
        Err(fault) => return vec![Finding::of_fault("trust", &fault)],
    };
    let mut findings = vec![match trust.files.len() {
        0 => Finding::well("trust", "no file of this workspace is trusted"),
        1 => Finding::well("trust", "1 file of this workspace is trusted"),
        many => Finding::well("trust", format!("{many} files of this workspace are trusted")),
    }];
    let now = session.workspace.now_ms();
    for (file, trusted) in &trust.files {
        if trusted.edits_until.is_some_and(|until| until <= now) {
            findings.push(
                Finding::note("trust", format!("edits of `{file}` are trusted no more"))
                    .next("`toolsd trust --edits FILE` trusts them again"),
            );
        }
    }
    if let Ok(service) = session.service() {
        let registry = service.registry();
        for fault in registry.faults.iter().filter(|fault| is_withheld(fault)) {
            let found = Finding::of_fault("trust", fault);
            let changeable = fault.code == crate::world::ownership::NOT_OWNED;
            findings.push(if changeable { Finding { state: State::Broken, ..found } } else { found });
        }
    }
    findings
}

/// What servers that were killed left behind.
pub fn left(_: &Session) -> Vec<Finding> {
    recovered().into_iter().map(|told| Finding::note("left", told)).collect()
}

/// Whether programs that packs start are confined here.
pub fn sandbox(_: &Session) -> Vec<Finding> {
    let status = sandbox_status();
    let says = status.to_string();
    vec![match (status.is_confining(), status.is_refusing()) {
        (true, _) => Finding::well("sandbox", says),
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

/// Whether git is there, and which.
pub fn git(session: &Session) -> Vec<Finding> {
    let command = Command {
        program: "git".to_owned(),
        arguments: vec!["--version".to_owned()],
        folder: ".".to_owned(),
        input: Vec::new(),
        env: Vec::new(),
        time: Duration::from_secs(10),
        most: 1024,
        needs: Needs::ReadGit,
        confinement: Confinement::default(),
        stop: || Ok(()),
    };
    let version = match session.workspace.run(&command) {
        Ok(ran) if ran.code == 0 => String::from_utf8_lossy(&ran.output).trim().to_owned(),
        Ok(ran) => return vec![Finding::broken("git", format!("`git --version` ends with code {}", ran.code))],
        Err(fault) => {
            let next = "install git: packs with a grant of it need it";
            return vec![Finding::note("git", fault.message.clone()).next(next)];
        }
    };
    if let Err(fault) = check_git_version(&*session.workspace, Needs::ReadGit) {
        return vec![Finding::of_fault("git", &fault)];
    }
    let mut findings = tried(&version);
    // What a pack is refused here, it is refused whatever its grants say.
    findings.push(match session.workspace.repository(".", Needs::ReadGit) {
        Ok(repository) => Finding::well("git", format!("the repository here is `{}`", repository.top)),
        Err(fault) => Finding { state: State::Note, ..Finding::of_fault("git", &fault) },
    });
    findings
}

//= docs/spec.md#git
//# `toolsd doctor` MUST try what the verbs of git need, and tell what fails of it.
/// What the verbs need, tried.
fn tried(version: &str) -> Vec<Finding> {
    if sandbox_status().is_refusing() {
        return vec![Finding::note("git", format!("{version}; it only looks: see `sandbox`"))];
    }
    let steps = match try_git() {
        Ok(steps) => steps,
        Err(fault) => return vec![Finding::of_fault("git", &fault)],
    };
    let well: Vec<&str> = steps.iter().filter(|(_, ended)| ended.is_ok()).map(|(shows, _)| *shows).collect();
    let mut findings = vec![Finding::well("git", format!("{version}; tried: {}", well.join(", ")))];
    findings.extend(steps.iter().filter_map(|(shows, ended)| {
        let fault = ended.as_ref().err()?;
        let next =
            fault.help.clone().unwrap_or_else(|| "another git in `PATH` may do: verbs that need this fail".to_owned());
        Some(Finding::broken("git", format!("tried in vain that {shows}: {}", fault.message)).next(next))
    }));
    findings
}

/// Who is let in over HTTP.
pub fn http(_: &Session) -> Vec<Finding> {
    vec![match secret_variable("TOOLSD_HTTP_TOKEN") {
        Some(token) if token.is_empty() => Finding::broken("http", "`TOOLSD_HTTP_TOKEN` is empty")
            .next("set a token, for example the output of `openssl rand -hex 32`, or unset it"),
        Some(_) => Finding::well("http", "`TOOLSD_HTTP_TOKEN` is set: clients must bring it"),
        None => Finding::well("http", "no token is set: `serve --http` serves this machine only"),
    }]
}
