//! `toolsd trust`: allows the pack files and the settings of this workspace to be used.

use super::options::Format;
use super::session::save_trust;
use super::{Ended, Exit, Session};
use crate::registry::{self, SETTINGS, WORKSPACE_FOLDER};
use clap::Args;
use serde_json::json;

/// Allow the pack files of this workspace to be used.
#[derive(Args)]
pub struct Trust {
    /// Allow later edits too, so that they are reloaded while a server runs.
    #[arg(long)]
    edits: bool,
}

impl Trust {
    pub(super) fn run(self, session: &Session) -> Ended {
        let mut trust = registry::Trust { edits: self.edits, ..registry::Trust::default() };
        if let Some(layer) = session.workspace_layer()? {
            for (path, bytes) in registry::list_layer(layer.as_ref())? {
                trust.allow(&format!("{WORKSPACE_FOLDER}/{path}"), &bytes);
            }
        }
        let workspace = &session.workspace;
        if workspace.stat(SETTINGS)?.is_some() {
            trust.allow(SETTINGS, &workspace.read(SETTINGS)?);
        }
        save_trust(&trust, workspace.root())?;
        let files: Vec<&String> = trust.files.keys().collect();
        if session.shared.format == Format::Json {
            session.terminal.json(&json!({ "workspace": workspace.root(), "edits": self.edits, "files": files }));
            return Ok(Exit::Well);
        }
        files.iter().for_each(|path| session.terminal.line(&format!("trusted {path}")));
        match (files.is_empty(), self.edits) {
            (_, true) => session.terminal.note(&format!("later edits in `{}` are trusted too", workspace.root())),
            (true, false) => session.terminal.note(&format!("nothing to trust in `{}`", workspace.root())),
            (false, false) => {}
        }
        Ok(Exit::Well)
    }
}
