//! `toolsd new`: writes a skeleton that works, and that passes `check` and `test`.

mod skeletons;

use super::options::Format;
use super::{Ended, Exit, Session};
use crate::diagnostic::{Code, Diagnostic};
use clap::{Args, Subcommand};
use serde_json::json;

/// Write a working skeleton.
#[derive(Args)]
pub struct New {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// A pack with one tool.
    Pack {
        /// Its name.
        name: String,
    },
    /// A tool in a pack.
    Tool {
        /// Its name.
        name: String,
    },
    /// A prompt in a pack.
    Prompt {
        /// Its name.
        name: String,
    },
}

impl New {
    pub(super) fn run(self, session: &Session) -> Ended {
        let files = match &self.what {
            What::Pack { name } => skeletons::pack(named(name)?),
            What::Tool { name } => skeletons::tool(&self.pack_of(session)?, named(name)?),
            What::Prompt { name } => skeletons::prompt(&self.pack_of(session)?, named(name)?),
        };
        let (target, origin) = session.target_layer()?;
        for (path, _) in &files {
            if target.stat(path)?.is_some() {
                let fault = Diagnostic::new(Code("usage"), format!("`{}/{path}` is already there", target.root()));
                return Err(fault.help("choose another name"));
            }
        }
        for (path, text) in &files {
            target.write(path, text.as_bytes())?;
        }
        let paths: Vec<String> = files.iter().map(|(path, _)| path.clone()).collect();
        session.keep_from_others(target.as_ref(), &paths)?;
        if session.shared.format == Format::Json {
            session.terminal.json(&json!({ "folder": target.root(), "files": paths }));
        } else {
            // Below the workspace as the author sees it, elsewhere in full.
            let inside = target.root().strip_prefix(session.workspace.root()).map(|rest| rest.trim_start_matches('/'));
            let folder = inside.filter(|inside| !inside.is_empty()).unwrap_or(target.root());
            paths.iter().for_each(|path| session.terminal.line(&format!("wrote {folder}/{path}")));
            session.hint_of_trust(&origin);
        }
        Ok(Exit::Well)
    }

    /// The pack that the new thing belongs to: the one named by `--pack`, else the only one of the layer.
    fn pack_of(&self, session: &Session) -> Result<String, Box<Diagnostic>> {
        let wrong = |message: String, help: &str| Err(Diagnostic::new(Code("usage"), message).help(help));
        match session.shared.packs.as_slice() {
            [one] => return named(one).map(str::to_owned),
            [] => {}
            _ => return wrong("one pack is needed".to_owned(), "name it by `--pack NAME`, once"),
        }
        let (target, origin) = session.target_layer()?;
        let layer = crate::registry::Layer { origin, world: Some(target), trust: None };
        match crate::registry::PackFiles::collect(&[layer]).0.packs().as_slice() {
            [one] => Ok(one.clone()),
            [] => wrong(
                "there is no pack to put it in".to_owned(),
                "name one by `--pack NAME`, or `toolsd new pack NAME`",
            ),
            several => wrong(format!("there are several packs: {}", several.join(", ")), "name one by `--pack NAME`"),
        }
    }
}

/// A name that can be one of a tool and of a function: a lower-case letter, then letters, digits and `_`.
fn named(name: &str) -> Result<&str, Box<Diagnostic>> {
    let sound = name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.chars().all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_');
    if sound {
        return Ok(name);
    }
    Err(Diagnostic::new(Code("usage"), format!("`{name}` cannot be a name"))
        .help("use lower-case letters, digits and `_`, a letter first"))
}
