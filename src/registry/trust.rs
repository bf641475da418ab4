//! Which files of a workspace a person allowed to be used, with which permissions, and until when edits of them count.

use super::permissions::Permissions;
use crate::definition::SETTINGS_FILE;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::value::Json;
use crate::world::disk::main_worktree_path;
use crate::world::{Lock, LockAttempt, Workspace};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;

/// The name of the file with the records of all workspaces.
pub const TRUST_RECORD: &str = "trust.json";
/// The code for files that are not used because they are not trusted.
pub const UNTRUSTED: Code = Code("untrusted");

/// How many states of a workspace, and how many contents of a layer, stay trusted: other branches have them.
const MAX_TRUSTED_CONTENTS: usize = 16;

/// The form of the record that this program writes.
const FORMAT: u64 = 2;
/// The file that is locked while the record is changed.
const LOCK: &str = "./trust.lock";
/// Number of attempts for a lock that another process holds, and the pause between them.
const MAX_LOCK_ATTEMPTS: u32 = 100;
const LOCK_RETRY_INTERVAL: Duration = Duration::from_millis(50);

/// What the user trusts in one workspace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkspaceTrust {
    /// Its files as they were confirmed together, the last time first.
    pub states: Vec<TrustedState>,
    /// Until when later edits of a file are allowed too, in milliseconds since 1970-01-01T00:00:00Z, by its path from the
    /// root of the workspace.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub edits: BTreeMap<String, i64>,
    /// The layers of `toolsd.toml`, by name: the contents that were trusted, the last one first.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub layers: BTreeMap<String, Vec<TrustedLayer>>,
}

/// The files of a workspace at a time when a person confirmed them, by the path from its root.
pub type TrustedState = BTreeMap<String, TrustedFile>;

/// A content of a layer as a person allowed it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrustedLayer {
    /// The address of its repository, or its folder.
    pub source: String,
    /// Which one of it, as in `tag v2.3.0`.
    pub label: String,
    /// The hash of all its files.
    pub content: String,
    /// What each of its packs asked for.
    pub packs: BTreeMap<String, Permissions>,
    /// The fingerprint of the key that signed it, if that was checked.
    pub signer: Option<String>,
    /// Whether later versions that this key signs are trusted too, as long as they ask for no more.
    pub later: bool,
    /// The time of its commit, in seconds since 1970-01-01T00:00:00Z.
    pub time: i64,
}

/// A file as a person allowed it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrustedFile {
    /// The BLAKE3 of its bytes in hexadecimal digits.
    pub hash: String,
    /// What it requested when it was confirmed.
    pub permissions: Permissions,
}

/// The record: what was allowed, by workspace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrustRecord {
    format: u64,
    /// By the path of the workspace, in the main working tree of its repository.
    pub workspaces: BTreeMap<String, WorkspaceTrust>,
}

impl Default for TrustRecord {
    fn default() -> Self {
        Self { format: FORMAT, workspaces: BTreeMap::new() }
    }
}

impl TrustRecord {
    /// Reads the record in its folder; an empty one if there is none.
    pub fn load(folder: &dyn Workspace) -> Result<Self> {
        if folder.stat(TRUST_RECORD)?.is_none() {
            return Ok(Self::default());
        }
        let shown = crate::world::path::join(folder.root(), TRUST_RECORD);
        let bytes = folder.read(TRUST_RECORD)?;
        let wrong = |why: String| {
            Diagnostic::new(Code::WORLD, format!("`{shown}` is not a record of trust: {why}"))
                .help("move it elsewhere, then run `toolsd trust` again in your workspaces")
        };
        let record: Json = serde_json::from_slice(&bytes).map_err(|diagnostic| wrong(diagnostic.to_string()))?;
        match record["format"].as_u64() {
            Some(FORMAT) | None => serde_json::from_value(record).map_err(|diagnostic| wrong(diagnostic.to_string())),
            Some(other) => Err(wrong(format!("its format is {other}, not {FORMAT}"))),
        }
    }

    /// What is trusted in a workspace, to be changed.
    pub fn workspace_mut(&mut self, root: &str) -> &mut WorkspaceTrust {
        self.workspaces.entry(main_worktree_path(root)).or_default()
    }

    /// Changes the record while no other process does. Returns the lock: as long as it is held, no other process does.
    pub fn change(folder: &dyn Workspace, change: impl FnOnce(&mut Self)) -> Result<Box<dyn Lock>> {
        let held = lock(folder)?;
        let mut record = Self::load(folder)?;
        change(&mut record);
        record.workspaces.retain(|_, trust| !trust.states.is_empty() || !trust.layers.is_empty());
        let text = serde_json::to_string_pretty(&record)
            .map_err(|diagnostic| Diagnostic::new(Code::INTERNAL, format!("the record of trust: {diagnostic}")))?;
        folder.write(TRUST_RECORD, (text + "\n").as_bytes())?;
        Ok(held)
    }
}

fn lock(folder: &dyn Workspace) -> Result<Box<dyn Lock>> {
    for _ in 0..MAX_LOCK_ATTEMPTS {
        if let LockAttempt::Held(lock) = folder.lock(LOCK)? {
            return Ok(lock);
        }
        std::thread::sleep(LOCK_RETRY_INTERVAL);
    }
    Err(Diagnostic::new(
        Code("locked"),
        format!("another process is changing the record of trust in `{}`", folder.root()),
    )
    .help("wait until it ends, then try again"))
}

impl WorkspaceTrust {
    /// The state that was confirmed last.
    pub fn last_state(&self) -> Option<&TrustedState> {
        self.states.first()
    }

    /// Whether a state has a file; one that none has need not be read.
    pub fn has_record(&self, path: &str) -> bool {
        self.states.iter().any(|state| state.contains_key(path))
    }

    /// Trusts the files of a workspace as they are together.
    pub fn allow_state(&mut self, state: TrustedState) {
        self.states.retain(|before| *before != state);
        self.states.insert(0, state);
        self.states.truncate(MAX_TRUSTED_CONTENTS);
        self.edits.retain(|path, _| self.states.iter().any(|state| state.contains_key(path)));
    }

    /// Trusts other contents of these files, among those that were confirmed last.
    pub fn allow_files<'a>(&mut self, files: impl IntoIterator<Item = (String, &'a [u8], Permissions)>) {
        let mut state = self.last_state().cloned().unwrap_or_default();
        let files = files.into_iter();
        state
            .extend(files.map(|(path, bytes, permissions)| (path, TrustedFile { hash: hash_hex(bytes), permissions })));
        self.allow_state(state);
    }

    /// Trusts a content of the layer `name`. The contents before it are kept, since they serve while this one cannot. If
    /// later versions of the same signer were trusted, they still are, until that is taken back.
    pub fn allow_layer(&mut self, name: &str, mut layer: TrustedLayer) {
        let known = self.layers.entry(name.to_owned()).or_default();
        let is_same = |before: &TrustedLayer| before.source == layer.source && before.signer == layer.signer;
        layer.later |= layer.signer.is_some() && known.first().is_some_and(|before| before.later && is_same(before));
        known.retain(|before| before.content != layer.content);
        known.insert(0, layer);
        known.truncate(MAX_TRUSTED_CONTENTS);
    }

    /// Trusts these files no more, in whichever state they are.
    pub fn revoke_files(&mut self, is_meant: impl Fn(&str) -> bool) {
        self.states.iter_mut().for_each(|state| state.retain(|path, _| !is_meant(path)));
        self.states.retain(|state| !state.is_empty());
        self.edits.retain(|path, _| !is_meant(path));
    }

    /// Checks whether a file may be used as it is, among the other files of `state`. Edits are those of the state that
    /// was confirmed last.
    ///
    /// # Errors
    /// Its bytes are not those that were trusted, and either edits of it are not trusted at `now_ms`, or it asks for
    /// more than before.
    //= docs/spec.md#trust
    //# A file of the workspace MUST NOT be used unless its content was trusted together with the other files of
    //# its pack, or edits of it were trusted and have not expired.
    pub fn check(&self, path: &str, bytes: &[u8], state: Option<&TrustedState>, now_ms: i64) -> Result<()> {
        let refused = |why: String, help: &str| Err(Diagnostic::new(UNTRUSTED, why).warning().help(help));
        let Some(known) = state.and_then(|state| state.get(path)) else {
            return refused(format!("`{path}` is not trusted and so not used"), READ_IT);
        };
        if known.hash == hash_hex(bytes) {
            return Ok(());
        }
        let takes_edits = path != SETTINGS_FILE && state == self.last_state();
        let Some(until) = self.edits.get(path).filter(|_| takes_edits) else {
            return refused(format!("`{path}` has changed since it was trusted, and so is not used"), CHANGED);
        };
        if *until <= now_ms {
            return refused(format!("`{path}` has changed, and edits of it are trusted no more"), CHANGED);
        }
        // The last good state keeps serving; the errors of the file are reported as such.
        let Some(asks) = Permissions::from_served_file(path, bytes) else { return Ok(()) };
        let beyond = asks.exceeding(&known.permissions);
        if !beyond.is_empty() {
            let wants = beyond.describe_within(&asks).join("; ");
            let why = format!("`{path}` now asks for more than it was trusted with, and so is not used: {wants}");
            return refused(why, READ_IT);
        }
        Ok(())
    }

    /// Checks whether `toolsd.toml` may be used as it is: it was confirmed at any time.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub fn check_settings(&self, bytes: &[u8]) -> Result<()> {
        let mut known = self.states.iter().filter(|state| state.contains_key(SETTINGS_FILE));
        let last = known.clone().next();
        let is_confirmed = known.any(|state| state[SETTINGS_FILE].hash == hash_hex(bytes));
        if is_confirmed { Ok(()) } else { self.check(SETTINGS_FILE, bytes, last, 0) }
    }
}

const READ_IT: &str = "read it, then run `toolsd trust`";
const CHANGED: &str = "read it, then run `toolsd trust`; `toolsd trust --edits FILE` also trusts later edits of a file";

/// The BLAKE3 of bytes in hexadecimal digits.
pub fn hash_hex(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_versions_stay_trusted_only_from_the_same_source_and_key() {
        let layer = |content: &str, source: &str, signer: Option<&str>, later: bool| TrustedLayer {
            source: source.to_owned(),
            label: format!("tag {content}"),
            content: content.to_owned(),
            packs: BTreeMap::new(),
            signer: signer.map(str::to_owned),
            later,
            time: 0,
        };
        let second = |source: &str, signer: Option<&str>| {
            let mut trust = WorkspaceTrust::default();
            trust.allow_layer("team", layer("v1", "https://a.example/packs", Some("ours"), true));
            trust.allow_layer("team", layer("v2", source, signer, false));
            trust.layers["team"][0].later
        };
        assert!(second("https://a.example/packs", Some("ours")));
        assert!(!second("https://a.example/packs", Some("theirs")), "a person confirmed this version, not this key");
        assert!(!second("https://a.example/packs", None));
        assert!(!second("https://b.example/packs", Some("ours")));
    }
}
