//! Which files of a workspace a person allowed to be used: their hashes, kept outside the workspace.

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::world::World;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The name of the file, in the state folder, that holds the records of all workspaces.
pub const TRUST_RECORD: &str = "trust.json";

/// What a person allowed in one workspace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trust {
    /// Whether later edits are allowed too.
    #[serde(default)]
    pub edits: bool,
    /// Path from the root of the workspace, and the BLAKE3 of the file in hexadecimal digits.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
}

type Record = BTreeMap<String, Trust>;

impl Trust {
    /// Reads what was allowed in `workspace` (an absolute path) from the record at `path`.
    pub fn load(state: &dyn World, path: &str, workspace: &str) -> Result<Self> {
        Ok(record(state, path)?.remove(workspace).unwrap_or_default())
    }

    /// Writes what is allowed in `workspace` to the record at `path`, in place of what was.
    pub fn save(&self, state: &dyn World, path: &str, workspace: &str) -> Result<()> {
        let mut all = record(state, path)?;
        all.insert(workspace.to_owned(), self.clone());
        let text = serde_json::to_string_pretty(&all)
            .map_err(|fault| Diagnostic::new(Code::INTERNAL, format!("the trust record: {fault}")))?;
        state.write(path, (text + "\n").as_bytes())
    }

    /// Allows a file as it is now.
    pub fn allow(&mut self, path: &str, bytes: &[u8]) {
        self.files.insert(path.to_owned(), blake3::hash(bytes).to_string());
    }

    /// Whether a file with this BLAKE3 may be used.
    pub fn allows(&self, path: &str, hash: &[u8; 32]) -> bool {
        let known = self.files.get(path);
        self.edits || known.is_some_and(|known| *known == blake3::Hash::from(*hash).to_string())
    }
}

fn record(state: &dyn World, path: &str) -> Result<Record> {
    if state.stat(path)?.is_none() {
        return Ok(Record::new());
    }
    serde_json::from_slice(&state.read(path)?).map_err(|fault| {
        Diagnostic::new(Code::WORLD, format!("`{path}` is no record of trust: {fault}"))
            .help("remove it, then run `toolsd trust` again in your workspaces")
    })
}
