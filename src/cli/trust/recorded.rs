//! What is trusted on this machine: listed, and taken back.

use super::super::options::Format;
use super::super::record::{change_record, load_record, record_path};
use super::super::{Ended, Exit, Session};
use super::listing::date;
use crate::diagnostic::{Code, Diagnostic, did_you_mean, quoted};
use crate::registry::{TrustRecord, TrustedFile, pack_of_file};
use crate::value::Json;
use crate::world::disk::Disk;
use serde_json::json;

/// Lists every workspace of the record, and its files.
pub fn list(session: &Session) -> Ended {
    let record = load_record(session.workspace.root())?;
    let terminal = &session.terminal;
    if session.shared.format == Format::Json {
        let file = |(path, file): (&String, &TrustedFile)| {
            json!({
                "path": path, "blake3": file.hash, "permissions": file.permissions.describe(),
                "edits_until": file.edits_until.map(date),
            })
        };
        let workspaces: Vec<Json> = record
            .workspaces
            .iter()
            .map(|(root, trust)| {
                let files: Vec<Json> = trust.files.iter().map(file).collect();
                json!({ "workspace": root, "is_there": Disk::new(root, []).is_ok(), "files": files })
            })
            .collect();
        terminal.json(&json!({ "record": record_path(), "workspaces": workspaces }));
        return Ok(Exit::Well);
    }
    let now = session.workspace.now_ms();
    for (root, trust) in &record.workspaces {
        let gone = if Disk::new(root, []).is_ok() { "" } else { " (there is no such folder any more)" };
        terminal.line(&format!("{}{gone}", quoted(root)));
        for (path, file) in &trust.files {
            let edits = match file.edits_until {
                Some(until) if until > now => format!("  edits until {}", date(until)),
                Some(until) => format!("  edits until {}, which is over", date(until)),
                None => String::new(),
            };
            let line = format!("  {}  {}{edits}", quoted(path), file.permissions.describe().join("  "));
            terminal.line(line.trim_end());
        }
    }
    if record.workspaces.is_empty() {
        terminal.note(&format!("nothing is trusted on this machine ({})", record_path().unwrap_or_default()));
    }
    Ok(Exit::Well)
}

/// Takes trust back from files, packs, this workspace, or another one.
pub fn revoke(session: &Session, names: &[String]) -> Ended {
    let root = session.workspace.root();
    let mut record = load_record(root)?;
    let mut taken = Vec::new();
    for name in names {
        taken.extend(without(&mut record, root, name)?);
    }
    change_record(root, |record| {
        for name in names {
            // What is not there any more was taken back by somebody else meanwhile.
            let _ = without(record, root, name);
        }
    })?;
    if session.shared.format == Format::Json {
        session.terminal.json(&json!({ "workspace": root, "revoked": taken }));
    } else {
        taken.iter().for_each(|path| session.terminal.line(&format!("trusted no more: {}", quoted(path))));
    }
    Ok(Exit::Well)
}

/// Removes what a name means from the record: the paths that it meant.
fn without(record: &mut TrustRecord, root: &str, name: &str) -> Result<Vec<String>, Box<Diagnostic>> {
    if let Some(other) = record.workspaces.get_mut(name) {
        return Ok(std::mem::take(&mut other.files).into_keys().map(|path| format!("{name}/{path}")).collect());
    }
    let known = record.workspaces.entry(root.to_owned()).or_default();
    let clean = crate::world::path::clean(name);
    let is_meant = |path: &String| name == "all" || *path == clean || pack_of_file(path) == Some(name);
    let taken: Vec<String> = known.files.keys().filter(|path| is_meant(path)).cloned().collect();
    if taken.is_empty() && name != "all" {
        let fault = Diagnostic::new(Code("usage"), format!("nothing named `{name}` is trusted in `{root}`"));
        let help = did_you_mean(name, known.files.keys().map(String::as_str));
        return Err(fault.help(help.unwrap_or_else(|| "run `toolsd trust --list`".to_owned())));
    }
    taken.iter().for_each(|path| drop(known.files.remove(path)));
    Ok(taken)
}
