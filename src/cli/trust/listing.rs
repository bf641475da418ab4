//! What there is to trust in a workspace: each file, whether it is new or changed, and what it asks for.

use super::super::terminal::Terminal;
use crate::definition::SETTINGS_FILE;
use crate::diagnostic::{Code, Diagnostic, Result, did_you_mean, quoted};
use crate::registry::{Permissions, WorkspaceTrust, hash_hex, pack_of_file, workspace_files};
use crate::source::Source;
use crate::value::Json;
use crate::world::World;
use serde_json::json;
use std::collections::BTreeSet;

/// What there is to trust.
pub struct Listing {
    rows: Vec<Row>,
    /// Whether only some of the files are meant.
    is_partial: bool,
    /// The edits that are asked for, in words: they belong to what the hash is of.
    edits: String,
    /// The files that cannot be trusted as they are.
    pub refused: Vec<Diagnostic>,
}

struct Row {
    path: String,
    bytes: Vec<u8>,
    state: State,
    asks: Permissions,
    /// What it asked for when it was trusted.
    before: Permissions,
    edits_until: Option<i64>,
    /// Whether edits are asked for, or trust of them is to be renewed.
    wants_edits: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    New,
    Changed,
    Same,
}

impl State {
    fn name(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Changed => "changed",
            Self::Same => "same",
        }
    }
}

impl Listing {
    /// Everything in a workspace that needs trust, as it is now.
    pub fn of(workspace: &dyn World, trust: &WorkspaceTrust) -> Result<Self> {
        let mut refused = Vec::new();
        let mut paths = workspace_files(workspace, &mut refused);
        if !matches!(workspace.stat(SETTINGS_FILE), Ok(None)) {
            paths.push(SETTINGS_FILE.to_owned());
        }
        let mut rows = Vec::new();
        for path in paths {
            match workspace.read_owned(&path).and_then(|bytes| readable(&path, bytes)) {
                Ok(bytes) => rows.push(Row::of(path, bytes, trust)),
                Err(fault) => refused.push(*fault),
            }
        }
        Ok(Self { rows, is_partial: false, edits: String::new(), refused })
    }

    /// Leaves only the files that are named by their paths or by their packs, for edits of them.
    pub fn only(&mut self, names: &[String]) -> Result<()> {
        let packs: BTreeSet<&str> = self.rows.iter().filter_map(|row| pack_of_file(&row.path)).collect();
        if names.is_empty() {
            let packs: Vec<&str> = packs.into_iter().collect();
            let fault = Diagnostic::new(Code("usage"), "`--edits` needs the files or packs whose edits you trust");
            return Err(fault.help(format!("the packs here: {}", packs.join(", "))));
        }
        for name in names {
            if clean(name) == SETTINGS_FILE {
                let fault = Diagnostic::new(Code("usage"), format!("edits of `{SETTINGS_FILE}` cannot be trusted"));
                return Err(
                    fault.help("it says which packs serve, and where: each change of it is shown and asked for")
                );
            }
            if !self.rows.iter().any(|row| row.is_meant(name)) {
                if let Some(unusable) = self.refused.first() {
                    let message = format!(
                        "there is no pack file, and no pack, `{name}` here that can be trusted as it is: {}",
                        unusable.message
                    );
                    return Err(Diagnostic::new(Code("usage"), message).help(unusable.help.clone().unwrap_or_default()));
                }
                let known = packs.iter().copied().chain(self.rows.iter().map(|row| row.path.as_str()));
                let fault =
                    Diagnostic::new(Code("usage"), format!("there is no pack file, and no pack, `{name}` here"));
                return Err(fault.help(did_you_mean(name, known).unwrap_or_else(|| "run `toolsd trust`".to_owned())));
            }
        }
        self.rows.retain(|row| names.iter().any(|name| row.is_meant(name)));
        self.rows.iter_mut().for_each(|row| row.wants_edits = true);
        self.is_partial = true;
        Ok(())
    }

    /// Notes for how long edits are asked for.
    pub fn note_edits(&mut self, time: &str) {
        self.edits = time.to_owned();
    }

    /// Whether there is something to agree to.
    pub fn waits(&self) -> bool {
        self.rows.iter().any(Row::waits)
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// `1 file`, `2 files`.
    pub fn counted(&self) -> String {
        let count = self.rows.len();
        format!("{count} file{}", if count == 1 { "" } else { "s" })
    }

    /// What a person is asked.
    pub fn question(&self) -> String {
        let (these, them) = match self.rows.len() {
            1 => ("this file as it is", "it"),
            _ => ("these files as they are", "them"),
        };
        let edits = match self.edits.as_str() {
            "" => String::new(),
            time => format!(", and edits of {them} for {time}"),
        };
        format!("Trust {these} now{edits}? [y/N] ")
    }

    /// The BLAKE3 of all that is agreed to: files, their bytes, edits.
    pub fn hash(&self) -> String {
        let mut parts = vec![json!(self.edits)];
        parts.extend(self.rows.iter().map(|row| json!([row.path, hash_hex(&row.bytes), row.wants_edits])));
        hash_hex(json!(parts).to_string().as_bytes())
    }

    /// Notes that everything here is allowed; what is no longer there is forgotten.
    pub fn allow(&self, trust: &mut WorkspaceTrust, until: Option<i64>) {
        // One that cannot be used as it is may be mended: its trust stays.
        if !self.is_partial && self.refused.is_empty() {
            trust.files.retain(|path, _| self.rows.iter().any(|row| row.path == *path));
        }
        for row in &self.rows {
            trust.allow(&row.path, &row.bytes, row.asks.clone());
            if let (true, Some(file)) = (row.wants_edits, trust.files.get_mut(&row.path)) {
                file.edits_until = until;
            }
        }
    }

    /// Writes a line for each file that is new, changed, or to be trusted further; the others are counted.
    pub fn show(&self, terminal: &Terminal) {
        let rows: Vec<(&Row, String)> =
            self.rows.iter().filter(|row| row.is_news()).map(|row| (row, quoted(&row.path))).collect();
        let width = rows.iter().map(|(_, path)| path.chars().count()).max().unwrap_or(0);
        for (row, path) in &rows {
            let line = format!("{path:width$}  {:7}  {}", row.state.name(), row.words());
            terminal.line(line.trim_end());
        }
        match self.rows.len() - rows.len() {
            0 => {}
            1 => terminal.line("1 file is as it was trusted"),
            others => terminal.line(&format!("{others} files are as they were trusted")),
        }
    }

    /// The listing for machines.
    pub fn json(&self) -> Json {
        let files = self.rows.iter().map(|row| {
            json!({
                "path": row.path,
                "state": row.state.name(),
                "blake3": hash_hex(&row.bytes),
                "permissions": row.asks.describe(),
                "widened": row.beyond(),
                "edits_until": row.edits_until.map(date),
            })
        });
        let refused: Vec<String> = self.refused.iter().map(ToString::to_string).collect();
        json!({ "hash": self.hash(), "files": files.collect::<Vec<_>>(), "refused": refused })
    }
}

//= docs/spec.md#trust
//# Nothing MUST be trusted before what each file asks for was shown and agreed to.
/// The bytes, unless they are settings that cannot be read: what those ask for nobody can show, and nobody can agree to.
fn readable(path: &str, bytes: Vec<u8>) -> Result<Vec<u8>> {
    if path != SETTINGS_FILE {
        return Ok(bytes);
    }
    let text = std::str::from_utf8(&bytes).map_err(|fault| fault.to_string());
    match text.and_then(|text| text.parse::<toml::Table>().map_err(|fault| fault.message().to_owned())) {
        Ok(_) => Ok(bytes),
        Err(why) => {
            let message = format!("`{path}` cannot be trusted: it is no TOML, so what it asks for is not known: {why}");
            Err(Diagnostic::new(Code("usage"), message).help("`toolsd check` says where; mend it, then trust it"))
        }
    }
}

impl Row {
    fn of(path: String, bytes: Vec<u8>, trust: &WorkspaceTrust) -> Self {
        let asks = match path == SETTINGS_FILE {
            true => Permissions::from_settings(&Source::new(SETTINGS_FILE, String::from_utf8_lossy(&bytes))),
            false => Permissions::from_file(&path, &bytes),
        };
        let known = trust.files.get(&path);
        let state = match known {
            None => State::New,
            Some(known) if known.hash == hash_hex(&bytes) => State::Same,
            Some(_) => State::Changed,
        };
        let before = known.map(|known| known.permissions.clone()).unwrap_or_default();
        let edits_until = known.and_then(|known| known.edits_until);
        Self { path, bytes, state, asks, before, edits_until, wants_edits: false }
    }

    fn waits(&self) -> bool {
        self.state != State::Same || self.wants_edits
    }

    /// Whether a person has something to see that was not seen before.
    fn is_news(&self) -> bool {
        self.state != State::Same || (self.wants_edits && self.edits_until.is_none())
    }

    fn is_meant(&self, name: &str) -> bool {
        self.path == clean(name) || pack_of_file(&self.path) == Some(name)
    }

    /// What a changed file asks for beyond what it was trusted with.
    fn beyond(&self) -> Vec<String> {
        if self.state == State::Changed {
            self.asks.exceeding(&self.before).describe_within(&self.asks)
        } else {
            Vec::new()
        }
    }

    fn words(&self) -> String {
        let edits = self.edits_until.map(|_| "edits too".to_owned());
        let mut words = match self.state {
            State::Changed => {
                let mut words: Vec<String> = self.beyond().into_iter().map(|word| format!("+ {word}")).collect();
                let before = self.before.describe();
                if !words.is_empty() {
                    let before = if before.is_empty() { "nothing".to_owned() } else { before.join("  ") };
                    words.push(format!("(was: {before})"));
                }
                words
            }
            State::New | State::Same => self.asks.describe(),
        };
        words.extend(edits);
        words.join("  ")
    }
}

fn clean(name: &str) -> String {
    crate::world::path::clean(name)
}

/// The day of a time in milliseconds.
pub(super) fn date(ms: i64) -> String {
    jiff::Timestamp::from_millisecond(ms).map_or_else(|_| ms.to_string(), |time| time.strftime("%Y-%m-%d").to_string())
}
