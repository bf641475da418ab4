//! `toolsd trust`: shows what the files of this workspace ask for, allows them if a person agrees, and revokes that.

use super::context::{
    CommandContext, change_trust_record, load_trust, load_trust_record, open_layer, trust_record_path,
};
use super::misplaced::misplaced_definitions;
use super::options::{CommandResult, Exit, OutputFormat};
use super::terminal::Terminal;
use super::trust_layers::{ListedLayer, list_layers};
use crate::call::load_registry;
use crate::definition::SETTINGS_FILE;
use crate::diagnostic::{Code, Diagnostic, Result, quoted};
use crate::registry::{
    PackChoice, Permissions, Registry, TrustRecord, TrustedFile, TrustedState, WorkspaceTrust, differing_files,
    hash_hex, keep_trusted, pack_of_file, workspace_files,
};
use crate::source::Source;
use crate::value::Json;
use crate::world::World;
use crate::world::disk::{Disk, other_writers};
use clap::Args;
use serde_json::json;
use std::collections::BTreeSet;

/// Allow the pack files of this workspace to be used.
#[derive(Args)]
pub struct TrustCommand {
    /// Trust only these files, or the files of these packs, and later edits of them, as long as they ask for no more.
    #[arg(long, value_name = "FILE | PACK", num_args = 0..)]
    edits: Option<Vec<String>>,
    /// For how long edits are trusted: `12h`, `30d` or `8w` [default: 30d].
    #[arg(long, value_name = "TIME", requires = "edits")]
    until: Option<String>,
    /// Trust later versions of signed layers too, as long as the same key signs them and they ask for no more.
    #[arg(long)]
    signed: bool,
    /// Do not ask.
    #[arg(long)]
    yes: bool,
    /// Refuse if the listing no longer has this hash; required with `--yes` and `--format json`.
    #[arg(long, value_name = "HASH", requires = "yes")]
    hash: Option<String>,
    /// List what is trusted on this machine.
    #[arg(long, conflicts_with_all = ["edits", "yes", "revoke"])]
    list: bool,
    /// Trust these files of this workspace no more: files, packs, `all`, or the path of another workspace.
    #[arg(long, value_name = "FILE | PACK | all", num_args = 1.., conflicts_with_all = ["edits", "yes"])]
    revoke: Vec<String>,
}

/// How long edits are trusted by default.
const DEFAULT_TIME: &str = "30d";

/// How long edits can be trusted at most.
const MAX_TRUST_DAYS: i64 = 366;

const HOUR_MS: i64 = 3_600_000;

impl TrustCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        if self.list {
            return list_record(context);
        }
        if !self.revoke.is_empty() {
            return revoke(context, &self.revoke);
        }
        let trust = load_trust(context.workspace.root())?;
        let workspace = open_layer(context.workspace.root())?;
        let mut listing = TrustListing::of_layers(context, &trust, self.edits.is_none());
        listing.list_files(workspace.as_ref(), &trust);
        listing.signed = self.signed;
        let mut until = None;
        if let Some(names) = &self.edits {
            listing.restrict_to(names)?;
            let time = self.until.as_deref().unwrap_or(DEFAULT_TIME);
            until = Some(context.workspace.now_ms() + parse_duration_ms(time)?);
            listing.note_edits(time);
        }
        //= docs/spec.md#trust
        //# A file MUST NOT be trusted before what it requests, and who else can change it if its edits are to be
        //# trusted, was shown and confirmed.
        let agreed = self.ask_consent(context, &listing)?;
        if agreed {
            listing.record(context, until)?;
        }
        self.print_outcome(context, &listing, agreed);
        let waits = !agreed && listing.needs_consent();
        let has_failed = listing.refused.iter().chain(&listing.refused_layers).any(Diagnostic::is_error);
        Ok(if waits || !listing.refused.is_empty() || has_failed { Exit::Errors } else { Exit::Success })
    }

    /// Shows the listing to a person, and whether it is agreed to.
    fn ask_consent(&self, context: &CommandContext, listing: &TrustListing) -> Result<bool> {
        let is_json = context.options.format == OutputFormat::Json;
        if !is_json {
            listing.show(&context.terminal);
        }
        if !listing.needs_consent() {
            // Nothing needs confirmation, but files that no longer exist are removed from the record.
            return Ok(true);
        }
        if let Some(hash) = &self.hash
            && *hash != listing.hash()
        {
            let diagnostic = Diagnostic::new(Code("usage"), "the listing does not have this hash");
            return Err(diagnostic.help(format!("read the listing again; its hash is now {}", listing.hash())));
        }
        if self.yes && is_json && self.hash.is_none() {
            let diagnostic =
                Diagnostic::new(Code("usage"), "`--yes` with `--format json` requires the `--hash` of the listing");
            return Err(diagnostic.help("`toolsd trust --format json` prints the listing and its hash"));
        }
        if self.yes {
            return Ok(true);
        }
        Ok(!is_json && context.terminal.confirm(&listing.question()) == Some(true))
    }

    fn print_outcome(&self, context: &CommandContext, listing: &TrustListing, agreed: bool) {
        let terminal = &context.terminal;
        let root = context.workspace.root();
        if context.options.format == OutputFormat::Json {
            let mut json = listing.json();
            json["workspace"] = json!(root);
            json["trusted"] = json!(agreed);
            terminal.json(&json);
            return;
        }
        let refused = listing.refused.iter().chain(&listing.refused_layers);
        refused.for_each(|diagnostic| terminal.diagnostic(diagnostic));
        misplaced_definitions(context).iter().for_each(|diagnostic| terminal.diagnostic(diagnostic));
        match (agreed, listing.needs_consent()) {
            _ if listing.is_empty() && listing.refused.is_empty() => {
                terminal.note(&format!("nothing to trust in `{root}`; `toolsd new pack NAME` writes a pack"));
            }
            (true, true) => terminal.line(&format!("trusted {}", listing.describe_count())),
            (true, false) => {}
            (false, _) if terminal.can_ask() => terminal.note("nothing was trusted"),
            (false, _) => terminal.note("nothing was trusted; without a terminal, `--yes` accepts this listing"),
        }
        if agreed {
            report_errors(context);
        }
    }
}

/// Warns of errors in what is trusted: it does not serve because of them.
fn report_errors(context: &CommandContext) {
    let Ok(source) = context.pack_source(PackChoice::ByMarkers) else { return };
    let registry = load_registry(&source, &Registry::default());
    let errors: Vec<&Diagnostic> = registry.diagnostics.iter().filter(|found| found.is_error()).collect();
    let Some(first) = errors.first() else { return };
    let others = if errors.len() == 1 { String::new() } else { format!(", and {} more", errors.len() - 1) };
    let message = format!("what is trusted has errors: {}{others}", first.message);
    let warning = Box::new(Diagnostic { message, ..(*first).clone() }).warning();
    context.terminal.diagnostic(&warning.help("`toolsd check` lists all errors"));
}

/// Parses `12h`, `30d`, `8w` into milliseconds.
fn parse_duration_ms(time: &str) -> Result<i64> {
    let wrong = || {
        let diagnostic = Diagnostic::new(Code("usage"), format!("`{time}` is not a valid duration"));
        diagnostic.help(format!("a number and `h`, `d` or `w`, as in `30d`; {MAX_TRUST_DAYS}d at most"))
    };
    let (number, unit) = time.split_at(time.len() - time.chars().next_back().map_or(0, char::len_utf8));
    let hours = match unit {
        "h" => 1,
        "d" => 24,
        "w" => 7 * 24,
        _ => return Err(wrong()),
    };
    let number: i64 = number.parse().map_err(|_| wrong())?;
    let total =
        number.checked_mul(hours).filter(|hours| (1..=MAX_TRUST_DAYS * 24).contains(hours)).ok_or_else(wrong)?;
    Ok(total * HOUR_MS)
}

/// The files that can be trusted.
pub struct TrustListing {
    rows: Vec<ListedFile>,
    /// Whether only some of the files are meant.
    is_partial: bool,
    /// The requested duration of trust in edits, as text; a part of the hash.
    edits: String,
    /// The layers of the project.
    layers: Vec<ListedLayer>,
    /// The layers that are not on this machine, or cannot be used.
    refused_layers: Vec<Diagnostic>,
    /// Whether later versions of signed layers are meant too.
    signed: bool,
    /// The files that were trusted and are gone, while others of their pack are there.
    gone: Vec<String>,
    /// The files that cannot be trusted as they are.
    pub refused: Vec<Diagnostic>,
}

struct ListedFile {
    path: String,
    bytes: Vec<u8>,
    state: FileState,
    asks: Permissions,
    /// What it requested when it was trusted.
    before: Permissions,
    edits_until: Option<i64>,
    /// Who else can change it, as text: trust in edits includes them.
    other_writers: Vec<String>,
    /// Whether edits are asked for, or trust of them is to be renewed.
    wants_edits: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FileState {
    New,
    Changed,
    Same,
}

impl FileState {
    fn name(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Changed => "changed",
            Self::Same => "same",
        }
    }
}

impl TrustListing {
    /// Lists the layers of a project, and no files. With `fetches`, layers that are not on this machine are brought.
    pub fn of_layers(context: &CommandContext, trust: &WorkspaceTrust, fetches: bool) -> Self {
        let (layers, refused_layers) = list_layers(context, trust, fetches);
        let (rows, gone, refused, edits) = (Vec::new(), Vec::new(), Vec::new(), String::new());
        Self { rows, is_partial: true, edits, layers, refused_layers, signed: false, gone, refused }
    }

    /// Lists all files of a workspace that need trust, in their current state.
    fn list_files(&mut self, workspace: &dyn World, trust: &WorkspaceTrust) {
        let mut paths = workspace_files(workspace, &mut self.refused);
        let differing = differing_files(workspace, trust);
        self.gone = differing.iter().filter(|path| !paths.contains(path)).cloned().collect();
        if !matches!(workspace.stat(SETTINGS_FILE), Ok(None)) {
            paths.push(SETTINGS_FILE.to_owned());
        }
        for path in paths {
            match workspace.read(&path).and_then(|bytes| refuse_unreadable(&path, bytes)) {
                Ok(bytes) => {
                    let differs = differing.contains(&path);
                    let mut row = ListedFile::new(path, bytes, trust, differs);
                    let writers = other_writers(&crate::world::path::join(workspace.root(), &row.path));
                    row.other_writers = writers.iter().map(|other| format!("{other} can change it")).collect();
                    self.rows.push(row);
                }
                Err(diagnostic) => self.refused.push(*diagnostic),
            }
        }
        self.is_partial = false;
    }

    /// Keeps only the files of packs that are named, by themselves or by one of their files, to trust edits of what is
    /// named.
    pub fn restrict_to(&mut self, names: &[String]) -> Result<()> {
        let packs: BTreeSet<&str> = self.rows.iter().filter_map(|row| pack_of_file(&row.path)).collect();
        if names.is_empty() {
            let packs: Vec<&str> = packs.into_iter().collect();
            let diagnostic = Diagnostic::new(Code("usage"), "`--edits` needs the files or packs whose edits you trust");
            return Err(diagnostic.help(format!("the packs here: {}", packs.join(", "))));
        }
        for name in names {
            if clean(name) == SETTINGS_FILE {
                let diagnostic =
                    Diagnostic::new(Code("usage"), format!("edits of `{SETTINGS_FILE}` cannot be trusted"));
                return Err(diagnostic.help("it chooses packs and folders: each change must be confirmed"));
            }
            if !self.rows.iter().any(|row| row.is_named_by(name)) {
                if let Some(unusable) = self.refused.first() {
                    let message = format!(
                        "there is no pack file, and no pack, `{name}` here that can be trusted as it is: {}",
                        unusable.message
                    );
                    return Err(Diagnostic::new(Code("usage"), message).help(unusable.help.clone().unwrap_or_default()));
                }
                let known = packs.iter().copied().chain(self.rows.iter().map(|row| row.path.as_str()));
                let message = format!("there is no pack file, and no pack, `{name}` here");
                return Err(Diagnostic::new(Code("usage"), message).help_for(name, known, "run `toolsd trust`"));
            }
        }
        self.rows.iter_mut().for_each(|row| row.wants_edits = names.iter().any(|name| row.is_named_by(name)));
        let named = self.rows.iter().filter(|row| row.wants_edits);
        let packs: BTreeSet<Option<String>> = named.map(|row| pack_of_file(&row.path).map(str::to_owned)).collect();
        let is_of_one = |path: &str| path != SETTINGS_FILE && packs.contains(&pack_of_file(path).map(str::to_owned));
        self.rows.retain(|row| is_of_one(&row.path));
        self.gone.retain(|path| is_of_one(path));
        (self.layers, self.refused_layers) = (Vec::new(), Vec::new());
        self.is_partial = true;
        Ok(())
    }

    /// Sets how long edits are to be trusted.
    pub fn note_edits(&mut self, time: &str) {
        self.edits = time.to_owned();
    }

    /// Returns whether there is something to confirm.
    pub fn needs_consent(&self) -> bool {
        let has_changed = self.rows.iter().any(ListedFile::needs_consent) || !self.gone.is_empty();
        has_changed || self.new_layers().next().is_some() || self.wants_signers()
    }

    /// The layers that are not trusted as they are.
    fn new_layers(&self) -> impl Iterator<Item = &ListedLayer> {
        self.layers.iter().filter(|layer| !layer.is_trusted)
    }

    /// Whether trust in later versions is asked for, and there is a layer that it may be about.
    fn wants_signers(&self) -> bool {
        self.signed && !self.layers.is_empty()
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.layers.is_empty()
    }

    /// `1 file`, `2 files`, `2 files and 1 layer`.
    pub fn describe_count(&self) -> String {
        let of = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
        match self.new_layers().count() {
            0 => of(self.rows.len(), "file"),
            layers => format!("{} and {}", of(self.rows.len(), "file"), of(layers, "layer")),
        }
    }

    /// Returns the question to the user.
    pub fn question(&self) -> String {
        let (these, them) = match (self.rows.len(), self.new_layers().count()) {
            (1, 0) => ("this file as it is", "it"),
            (_, 0) => ("these files as they are", "them"),
            (0, _) => ("these layers as they are", "them"),
            _ => ("these files and layers as they are", "them"),
        };
        let edits = match self.edits.as_str() {
            "" => String::new(),
            time => format!(", and edits of {them} for {time}"),
        };
        format!("Trust {these} now{edits}? [y/N] ")
    }

    /// Returns the BLAKE3 hash of everything that is confirmed: files, their bytes, edits.
    pub fn hash(&self) -> String {
        let mut parts = vec![json!(self.edits)];
        // Without layers the hash is that of the files alone.
        parts.extend((!self.layers.is_empty()).then(|| json!([self.layers_json(), self.signed])));
        parts.extend(self.rows.iter().map(|row| json!([row.path, hash_hex(&row.bytes), row.reported_writers()])));
        parts.extend((!self.gone.is_empty()).then(|| json!({ "gone": self.gone })));
        hash_hex(json!(parts).to_string().as_bytes())
    }

    /// Trusts everything in the listing; removes files that no longer exist from the record.
    fn allow(&self, trust: &mut WorkspaceTrust, until: Option<i64>) {
        // Keep the trust in a file that currently cannot be used, since it may be fixed.
        let is_whole = !self.is_partial && self.refused.is_empty();
        let mut state = if is_whole { TrustedState::new() } else { trust.last_state().cloned().unwrap_or_default() };
        state.retain(|path, _| !self.gone.contains(path));
        for row in &self.rows {
            let file = TrustedFile { hash: hash_hex(&row.bytes), permissions: row.asks.clone() };
            state.insert(row.path.clone(), file);
        }
        if !self.rows.is_empty() {
            trust.allow_state(state);
        }
        let edited = self.rows.iter().filter(|row| row.wants_edits);
        trust.edits.extend(edited.filter_map(|row| Some((row.path.clone(), until?))));
        self.layers.iter().for_each(|layer| layer.allow(trust, self.signed));
    }

    /// Writes into the record of this machine that everything in the listing is trusted.
    pub fn record(&self, context: &CommandContext, until: Option<i64>) -> Result<()> {
        let root = context.workspace.root();
        self.rows.iter().try_for_each(|row| keep_trusted(&row.bytes))?;
        self.layers.iter().try_for_each(ListedLayer::keep)?;
        change_trust_record(root, |record| self.allow(record.workspace_mut(root), until)).map(drop)
    }

    /// Writes layers that are trusted because of their signer into the record of trust: should a later version be
    /// refused, the last one that served is the one that continues to serve.
    pub fn record_signed(&self, context: &CommandContext) -> Result<()> {
        let root = context.workspace.root();
        let signed: Vec<&ListedLayer> = self.layers.iter().filter(|layer| layer.is_trusted_by_signer).collect();
        if signed.is_empty() {
            return Ok(());
        }
        change_trust_record(root, |record| {
            let trust = record.workspace_mut(root);
            signed.iter().for_each(|layer| layer.allow(trust, false));
        })
        .map(drop)
    }

    fn layers_json(&self) -> Json {
        self.layers.iter().map(ListedLayer::json).collect()
    }

    /// Prints a line for each file that is new, changed, or whose trust is extended, and the number of the others.
    pub fn show(&self, terminal: &Terminal) {
        let rows: Vec<(&ListedFile, String)> =
            self.rows.iter().filter(|row| row.is_shown()).map(|row| (row, quoted(&row.path))).collect();
        let width = rows.iter().map(|(_, path)| path.chars().count()).max().unwrap_or(0);
        for (row, path) in &rows {
            let line = format!("{path:width$}  {:7}  {}", row.state.name(), row.describe());
            terminal.line(line.trim_end());
        }
        self.gone.iter().for_each(|path| terminal.line(&format!("{}  gone", quoted(path))));
        match self.rows.len() - rows.len() {
            0 => {}
            1 => terminal.line("1 file is as it was trusted"),
            others => terminal.line(&format!("{others} files are as they were trusted")),
        }
        self.new_layers().flat_map(ListedLayer::lines).for_each(|line| terminal.line(&line));
    }

    /// Returns the listing for machines.
    pub fn json(&self) -> Json {
        let files = self.rows.iter().map(|row| {
            json!({
                "path": row.path,
                "state": row.state.name(),
                "blake3": hash_hex(&row.bytes),
                "permissions": row.asks.describe(),
                "widened": row.widened_permissions(),
                "edits_until": row.edits_until.map(format_date),
                "changed_by_others": row.reported_writers(),
            })
        });
        let refused: Vec<String> = self.refused.iter().chain(&self.refused_layers).map(ToString::to_string).collect();
        json!({
            "hash": self.hash(), "files": files.collect::<Vec<_>>(), "gone": self.gone, "layers": self.layers_json(), "refused": refused,
        })
    }
}

/// Returns the bytes. Fails for settings that cannot be parsed: their requests cannot be shown, so they cannot be
/// confirmed.
fn refuse_unreadable(path: &str, bytes: Vec<u8>) -> Result<Vec<u8>> {
    if path != SETTINGS_FILE {
        return Ok(bytes);
    }
    let text = std::str::from_utf8(&bytes).map_err(|diagnostic| diagnostic.to_string());
    match text.and_then(|text| text.parse::<toml::Table>().map_err(|diagnostic| diagnostic.message().to_owned())) {
        Ok(_) => Ok(bytes),
        Err(why) => {
            let message = format!("cannot trust `{path}`: invalid TOML: {why}");
            let help = "fix the file (`toolsd check` shows the location), then run `toolsd trust` again";
            Err(Diagnostic::new(Code("usage"), message).help(help))
        }
    }
}

impl ListedFile {
    fn new(path: String, bytes: Vec<u8>, trust: &WorkspaceTrust, differs: bool) -> Self {
        let asks = match path == SETTINGS_FILE {
            true => Permissions::from_settings(&Source::new(SETTINGS_FILE, String::from_utf8_lossy(&bytes))),
            false => Permissions::from_file(&path, &bytes),
        };
        let mut known = trust.states.iter().filter_map(|state| state.get(&path));
        let before = known.clone().next().map(|known| known.permissions.clone());
        let hash = hash_hex(&bytes);
        let state = match &before {
            None => FileState::New,
            Some(_) if !differs && known.any(|known| known.hash == hash) => FileState::Same,
            Some(_) => FileState::Changed,
        };
        let (before, edits_until) = (before.unwrap_or_default(), trust.edits.get(&path).copied());
        Self { path, bytes, state, asks, before, edits_until, other_writers: Vec::new(), wants_edits: false }
    }

    fn needs_consent(&self) -> bool {
        self.state != FileState::Same || self.wants_edits
    }

    /// Returns whether it contains something that the user has not seen before.
    fn is_shown(&self) -> bool {
        let has_others = !self.other_writers.is_empty();
        self.state != FileState::Same || (self.wants_edits && (self.edits_until.is_none() || has_others))
    }

    /// Returns who else can edit it, if its edits are to be trusted.
    fn reported_writers(&self) -> Option<&[String]> {
        self.wants_edits.then_some(self.other_writers.as_slice())
    }

    fn is_named_by(&self, name: &str) -> bool {
        self.path == clean(name) || pack_of_file(&self.path) == Some(name)
    }

    /// Returns what a changed file requests beyond what it was trusted with.
    fn widened_permissions(&self) -> Vec<String> {
        if self.state == FileState::Changed {
            self.asks.exceeding(&self.before).describe_within(&self.asks)
        } else {
            Vec::new()
        }
    }

    fn describe(&self) -> String {
        let edits = self.edits_until.map(|_| "edits too".to_owned());
        let mut words = match self.state {
            FileState::Changed => {
                let mut words: Vec<String> =
                    self.widened_permissions().into_iter().map(|word| format!("+ {word}")).collect();
                let before = self.before.describe();
                if !words.is_empty() {
                    let before = if before.is_empty() { "nothing".to_owned() } else { before.join("  ") };
                    words.push(format!("(was: {before})"));
                }
                words
            }
            FileState::New | FileState::Same => self.asks.describe(),
        };
        words.extend(edits);
        words.extend(self.reported_writers().unwrap_or_default().iter().cloned());
        words.join("  ")
    }
}

fn clean(name: &str) -> String {
    crate::world::path::clean(name)
}

/// Returns the day of a time in milliseconds.
fn format_date(ms: i64) -> String {
    jiff::Timestamp::from_millisecond(ms).map_or_else(|_| ms.to_string(), |time| time.strftime("%Y-%m-%d").to_string())
}

/// Lists every workspace of the record, and its files.
fn list_record(context: &CommandContext) -> CommandResult {
    let record = load_trust_record(context.workspace.root())?;
    let terminal = &context.terminal;
    if context.options.format == OutputFormat::Json {
        let file = |trust: &WorkspaceTrust, path: &String, file: &TrustedFile| {
            json!({
                "path": path, "blake3": file.hash, "permissions": file.permissions.describe(),
                "edits_until": trust.edits.get(path).copied().map(format_date),
            })
        };
        let workspaces: Vec<Json> = record
            .workspaces
            .iter()
            .map(|(root, trust)| {
                let known = trust.last_state().into_iter().flatten();
                let files: Vec<Json> = known.map(|(path, known)| file(trust, path, known)).collect();
                json!({
                    "workspace": root, "is_there": Disk::new(root, []).is_ok(), "files": files, "layers": trust.layers,
                })
            })
            .collect();
        terminal.json(&json!({ "record": trust_record_path(), "workspaces": workspaces }));
        return Ok(Exit::Success);
    }
    let now = context.workspace.now_ms();
    for (root, trust) in &record.workspaces {
        let gone = if Disk::new(root, []).is_ok() { "" } else { " (the folder no longer exists)" };
        terminal.line(&format!("{}{gone}", quoted(root)));
        for (path, file) in trust.last_state().into_iter().flatten() {
            let edits = match trust.edits.get(path) {
                Some(until) if *until > now => format!("  edits until {}", format_date(*until)),
                Some(until) => format!("  edits until {}, expired", format_date(*until)),
                None => String::new(),
            };
            let line = format!("  {}  {}{edits}", quoted(path), file.permissions.describe().join("  "));
            terminal.line(line.trim_end());
        }
        for (name, contents) in &trust.layers {
            for known in contents {
                let later = known.signer.as_ref().filter(|_| known.later);
                let later = later.map(|signer| format!(", and later versions signed by {signer}"));
                terminal.line(&format!(
                    "  layer {name}  {} {}{}",
                    known.source,
                    known.label,
                    later.unwrap_or_default()
                ));
            }
        }
    }
    if record.workspaces.is_empty() {
        terminal.note(&format!("nothing is trusted on this machine ({})", trust_record_path().unwrap_or_default()));
    }
    Ok(Exit::Success)
}

/// Revokes trust in files, packs, this workspace, or another one.
fn revoke(context: &CommandContext, names: &[String]) -> CommandResult {
    let root = context.workspace.root();
    let mut record = load_trust_record(root)?;
    let mut taken = Vec::new();
    for name in names {
        taken.extend(remove_trusted(&mut record, root, name)?);
    }
    change_trust_record(root, |record| {
        for name in names {
            // Ignore what another process has revoked meanwhile.
            let _ = remove_trusted(record, root, name);
        }
    })?;
    if context.options.format == OutputFormat::Json {
        context.terminal.json(&json!({ "workspace": root, "revoked": taken }));
    } else {
        taken.iter().for_each(|path| context.terminal.line(&format!("trusted no more: {}", quoted(path))));
    }
    Ok(Exit::Success)
}

/// Removes the files that a name refers to from the record, with the others of their packs, and returns their paths.
fn remove_trusted(record: &mut TrustRecord, root: &str, name: &str) -> Result<Vec<String>> {
    if let Some(other) = record.workspaces.get_mut(name) {
        let layers = std::mem::take(&mut other.layers).into_keys().map(|layer| format!("{name}: layer {layer}"));
        let files = std::mem::take(&mut other.states).into_iter().flat_map(TrustedState::into_keys);
        let files: BTreeSet<String> = files.map(|path| format!("{name}/{path}")).collect();
        return Ok(files.into_iter().chain(layers).collect());
    }
    let known = record.workspace_mut(root);
    if known.layers.remove(name).is_some() {
        return Ok(vec![format!("layer {name}")]);
    }
    let clean = crate::world::path::clean(name);
    let paths: BTreeSet<String> = known.states.iter().flat_map(TrustedState::keys).cloned().collect();
    let pack = pack_of_file(&clean).filter(|_| paths.contains(&clean)).unwrap_or(name);
    let is_named_by = |path: &str| name == "all" || path == clean || pack_of_file(path) == Some(pack);
    let taken: Vec<String> = paths.iter().filter(|path| is_named_by(path)).cloned().collect();
    if taken.is_empty() && name != "all" {
        let diagnostic = Diagnostic::new(Code("usage"), format!("nothing named `{name}` is trusted in `{root}`"));
        let known = paths.iter().filter_map(|path| pack_of_file(path)).chain(paths.iter().map(String::as_str));
        return Err(diagnostic.help_for(name, known, "run `toolsd trust --list`"));
    }
    known.revoke_files(is_named_by);
    if name == "all" {
        let layers = std::mem::take(&mut known.layers);
        return Ok(taken.into_iter().chain(layers.into_keys().map(|name| format!("layer {name}"))).collect());
    }
    Ok(taken)
}
