//! The context of a command: the workspace, the layers of packs, the record of trust, the service.

use super::options::SharedOptions;
use super::terminal::{Terminal, print_error_json};
use crate::call::{Answer, AskMode, Asker, Caller, PackSource, Peer, Request, Service};
use crate::check;
use crate::definition::WorkspaceDefinition;
use crate::diagnostic::{Code, Diagnostic, Result, did_you_mean};
use crate::distribution::{LAYER, ProjectLayers};
use crate::guard::CancelFlag;
use crate::platform::{SignalKind, signal};
use crate::primitive_api::{Effect, Notice};
use crate::registry::{
    EJECTED, EMBEDDED, FOLDERS, Layer, NO_PACK, PackChoice, PackFiles, Registry, TRUST_RECORD, TrustRecord, UNTRUSTED,
    WORKSPACE_FOLDER, WorkspaceSettings, WorkspaceTrust, WorldOpener, unknown_pack,
};
use crate::surface::{SURFACE_FILE, surface};
use crate::value::Json;
use crate::watch::shortage;
use crate::world::disk::{self, Disk, OtherWriter, TRUST_BELOW_HOME, config_folder, current_folder, trust_folder};
use crate::world::memory::MemoryWorld;
use crate::world::{Ambient, Files, Lock, World, path};
use serde_json::json;
use std::sync::{Arc, Once};

/// Describes the markers of a pack.
pub(super) fn describe_markers(markers: &[String]) -> String {
    if markers.is_empty() { "nothing: it serves by `--pack` only".to_owned() } else { markers.join(", ") }
}

/// Returns an environment variable.
pub fn environment_variable(name: &str) -> Option<String> {
    Disk::new("/", []).ok()?.env(name)
}

pub struct CommandContext {
    /// The options of all commands.
    pub options: SharedOptions,
    /// The terminal that it writes to.
    pub terminal: Terminal,
    pub workspace: Arc<dyn World>,
    /// Whether only what `toolsd.lock` and `toolsd.surface.json` name serves.
    pub is_locked: bool,
    /// What the command line changes in the settings.
    pub overrides: SettingsOverrides,
}

/// What the command line changes in the settings of a workspace.
#[derive(Clone, Debug, Default)]
pub struct SettingsOverrides {
    /// The strongest effect of the calls of scripts.
    pub code_mode: Option<Effect>,
    /// The tools that are pinned, if the list is short.
    pub discover: Option<Vec<String>>,
}

impl CommandContext {
    /// Opens the workspace that the options name. Fails if a folder does not exist.
    pub fn open(mut options: SharedOptions, terminal: Terminal) -> Result<Self> {
        disk::fail_at_largest_file();
        disk::check_threads()?;
        disk::choose_sandbox(options.sandbox.into());
        let here = current_folder()?;
        let absolute = |folder: &String| path::clean(&path::join(&here, folder));
        let folder = options.workspace.as_ref().map_or_else(|| here.clone(), absolute);
        options.dirs = options.dirs.iter().map(absolute).collect();
        options.roots = options.roots.iter().map(absolute).collect();
        let roots: Vec<&str> = options.roots.iter().map(String::as_str).collect();
        let all: Vec<&str> = std::iter::once(folder.as_str()).chain(roots.iter().copied()).collect();
        disk::recover(&all);
        let workspace: Arc<dyn World> = Arc::new(Disk::new(&folder, roots)?);
        Ok(Self { options, terminal, workspace, is_locked: false, overrides: SettingsOverrides::default() })
    }

    /// Opens the service of this workspace.
    pub fn service(&self) -> Result<Arc<Service>> {
        disk::sweep();
        let site = self.pack_source(match self.options.packs.as_slice() {
            [] => PackChoice::ByMarkers,
            names => PackChoice::Named(names.to_vec()),
        })?;
        let service = Service::open(Arc::new(site));
        self.audit(&service);
        Ok(service)
    }

    /// Audits the calls of a service on standard error, if the options ask for it.
    pub fn audit(&self, service: &Service) {
        if self.options.audit {
            service.audit(print_error_json);
        }
    }

    /// Whether `--dir` names the workspace itself, which is a layer then.
    pub fn is_own_layer(&self) -> bool {
        let root = path::clean(self.workspace.root());
        self.options.dirs.iter().any(|dir| path::clean(dir) == root)
    }

    /// Returns the packs and the workspace on the disk, with this choice of packs.
    pub fn pack_source(&self, choice: PackChoice) -> Result<DiskPackSource> {
        // A named folder must exist from the start.
        for dir in self.options.dirs.iter().chain(&self.options.roots) {
            Disk::new(dir, [])?;
        }
        Ok(DiskPackSource {
            workspace: Arc::clone(&self.workspace),
            dirs: self.options.dirs.clone(),
            roots: self.options.roots.clone(),
            choice,
            is_locked: self.is_locked,
            overrides: self.overrides.clone(),
            taken: None,
            is_of_another_time: false,
        })
    }

    /// Returns the additional roots: those of the command line, and those that a trusted `toolsd.toml` names.
    pub fn further_roots(&self) -> Vec<String> {
        let root = self.workspace.root();
        let trust = load_trust(root).unwrap_or_default();
        let (settings, _) = WorkspaceSettings::load(self.workspace.as_ref(), &trust);
        let written = settings.workspace.roots.iter().map(|known| path::join(root, &known.value));
        self.options.roots.iter().cloned().chain(written).collect()
    }

    /// Returns the folders that scripts may be granted: the workspace, additional roots, folders of packs.
    pub fn folders(&self) -> Vec<String> {
        let workspace = self.workspace.root().to_owned();
        [&[workspace], self.further_roots().as_slice(), &self.options.dirs].concat()
    }

    /// Returns the layers in order of precedence.
    pub fn layers(&self) -> Result<Vec<Layer>> {
        let source = self.pack_source(PackChoice::ByMarkers)?;
        let (settings, _) = WorkspaceSettings::load(self.workspace.as_ref(), &source.trust().unwrap_or_default());
        Ok(source.layers(&settings)?.layers)
    }

    /// Refuses a name of `--pack` that no pack has, or only one that is not trusted.
    pub fn check_named_packs(&self) -> Result<()> {
        let (files, found) = PackFiles::collect(&self.layers()?);
        let known = files.packs();
        let unknown = self.options.packs.iter().find(|name| !known.contains(name));
        unknown.map_or(Ok(()), |name| Err(unknown_pack(name, &known, &found)))
    }

    /// Returns the layer of the workspace, if it has one.
    pub fn workspace_layer(&self) -> Result<Option<Arc<dyn World>>> {
        if self.workspace.stat(WORKSPACE_FOLDER)?.is_none() {
            return Ok(None);
        }
        let folder = path::join(self.workspace.root(), WORKSPACE_FOLDER);
        Ok(Some(Arc::new(Disk::new(&folder, [])?)))
    }

    /// Returns the origin of the layer that `new` and `eject` write to: the first `--dir`, otherwise the workspace.
    pub fn target_origin(&self) -> String {
        self.options.dirs.first().cloned().unwrap_or_else(|| "workspace".to_owned())
    }

    /// Returns the layer that `new` and `eject` write to; that of the workspace is created if necessary.
    pub fn target_layer(&self) -> Result<Arc<dyn World>> {
        if let Some(dir) = self.options.dirs.first() {
            return Ok(Arc::new(Disk::new(dir, [])?));
        }
        if !self.has_target_layer()? {
            // Files of a layer are text that people commit to their repository: an empty record marks the folder.
            self.workspace.write(&format!("{WORKSPACE_FOLDER}/{}", EJECTED), b"{}\n")?;
        }
        let layer = self.workspace_layer()?;
        layer.ok_or_else(|| Diagnostic::new(Code::WORLD, format!("`{WORKSPACE_FOLDER}` cannot be created")))
    }

    /// Whether the folder that new files are written to exists already.
    pub fn has_target_layer(&self) -> Result<bool> {
        Ok(!self.options.dirs.is_empty() || self.workspace.stat(WORKSPACE_FOLDER)?.is_some())
    }

    /// Notes that a new file of the workspace layer must be trusted before it is used.
    pub fn hint_at_trust(&self, origin: &str) {
        if origin == "workspace" {
            self.terminal.note("run `toolsd trust` to use it, or `toolsd trust --edits PACK` to use later edits, too");
        }
    }

    /// Answers a request and waits for it.
    pub fn answer(&self, service: &Arc<Service>, request: Request) -> Answer {
        self.answer_asking(None, service, request)
    }

    /// The same for a request whose forms and URLs are answered by `asker`.
    pub fn answer_asking(&self, asker: Option<Arc<dyn Asker>>, service: &Arc<Service>, request: Request) -> Answer {
        end_at_signals();
        let is_script = matches!(request, Request::Script(_));
        let caller = Caller {
            cancel: CancelFlag::default(),
            // The log output of scripts is in the log already, and `--calls` shows the calls of a script.
            notices: Box::new(move |notice| match notice {
                Notice::Log { .. } => {}
                Notice::Progress { .. } if is_script => {}
                notice => tracing::info!("{notice}"),
            }),
            capabilities: asker
                .as_ref()
                .map_or_else(|| json!({}), |_| json!({ "elicitation": { "form": {}, "url": {} } })),
            asking: asker.map_or(AskMode::Never, |asker| AskMode::Waits { asker, record: Box::default() }),
            peer: Peer::default(),
        };
        service.wait(request, caller)
    }

    /// Prints the diagnostics of the packs on standard error. Many untrusted files are one line.
    pub fn print_diagnostics(&self, registry: &Registry) {
        self.print(registry.diagnostics.iter());
    }

    /// The same without the warnings of rules, which are for `toolsd check` and not for callers.
    pub fn print_diagnostics_of_use(&self, registry: &Registry) {
        let is_of_rule = |diagnostic: &Diagnostic| check::ALL.iter().any(|rule| rule.code == diagnostic.code);
        self.print(registry.diagnostics.iter().filter(|diagnostic| diagnostic.is_error() || !is_of_rule(diagnostic)));
    }

    fn print<'a>(&self, diagnostics: impl Iterator<Item = &'a Diagnostic>) {
        let (untrusted, others): (Vec<_>, Vec<_>) = diagnostics.partition(|diagnostic| diagnostic.code == UNTRUSTED);
        if untrusted.len() > 3 {
            let message = format!("{} files are not trusted and therefore not used", untrusted.len());
            let help = "`toolsd check` lists them; read them, then run `toolsd trust`";
            self.terminal.diagnostic(&Diagnostic::new(UNTRUSTED, message).warning().help(help));
        } else {
            untrusted.iter().for_each(|diagnostic| self.terminal.diagnostic(diagnostic));
        }
        // Print a diagnostic that many parts share only once.
        let mut seen: Vec<&Diagnostic> = Vec::new();
        for diagnostic in others {
            if seen.iter().all(|known| known.message != diagnostic.message || known.help != diagnostic.help) {
                self.terminal.diagnostic(diagnostic);
                seen.push(diagnostic);
            }
        }
    }

    /// Returns the error for an unknown name.
    pub fn unknown_name<'a>(
        &self,
        what: &str,
        name: &str,
        known: impl Iterator<Item = &'a str> + Clone,
        registry: &Registry,
    ) -> Box<Diagnostic> {
        if registry.packs.is_empty() && registry.refused.is_empty() {
            return self.no_pack_serves(registry);
        }
        let refused = registry.refused.iter().find(|refused| refused.name == name);
        // The refusal includes its reason, which is therefore not printed separately.
        let reported = refused.map(|refused| refused.why.message.as_str());
        self.print(registry.diagnostics.iter().filter(|diagnostic| reported != Some(diagnostic.message.as_str())));
        if let Some(refused) = refused {
            return refused.diagnostic();
        }
        let diagnostic = Diagnostic::new(Code("usage"), format!("there is no {what} `{name}`"));
        match did_you_mean(name, known) {
            Some(help) => diagnostic.help(help),
            None => diagnostic.help("run `toolsd list`"),
        }
    }

    /// Returns the error for a workspace without an active pack. It names the markers that each pack looked for.
    pub fn no_pack_serves(&self, registry: &Registry) -> Box<Diagnostic> {
        if let Some(unknown) =
            registry.diagnostics.iter().find(|diagnostic| diagnostic.code == NO_PACK && diagnostic.is_error())
        {
            self.print(registry.diagnostics.iter().filter(|diagnostic| *diagnostic != unknown));
            return Box::new(unknown.clone());
        }
        self.print_diagnostics(registry);
        // Files without the definition of a pack may be the reason.
        if let Ok((files, _)) = self.layers().map(|layers| PackFiles::collect(&layers)) {
            let ownerless = files.ownerless_files(&files.packs());
            ownerless.iter().for_each(|(_, diagnostic)| self.terminal.diagnostic(diagnostic));
        }
        let message = format!("no pack serves `{}`", self.workspace.root());
        let dormant: Vec<String> = registry
            .dormant
            .iter()
            .map(|(name, when)| format!("`{name}` looked for {}", describe_markers(when)))
            .collect();
        let help = match dormant.is_empty() {
            _ if registry.withheld().next().is_some() => {
                "its files are not trusted (see above): read them, then run `toolsd trust`; `toolsd doctor` shows more"
                    .to_owned()
            }
            true => "there are no packs; `toolsd new pack NAME` writes one".to_owned(),
            false => {
                format!("`toolsd new pack NAME` writes one, `--pack NAME` serves one of these: {}", dormant.join("; "))
            }
        };
        Diagnostic::new(Code("usage"), message).help(help)
    }
}

/// The code of a warning for a folder of packs that everybody can change.
pub(super) const OPEN_FOLDER: Code = Code("open-folder");

/// The code of a warning for a folder of `--dir` that contains no packs.
const MISSED_FOLDER: Code = Code("missed-folder");

/// The packs and the workspace on the disk.
pub struct DiskPackSource {
    workspace: Arc<dyn World>,
    dirs: Vec<String>,
    roots: Vec<String>,
    choice: PackChoice,
    /// Whether only what is in the lock file serves.
    is_locked: bool,
    overrides: SettingsOverrides,
    /// The layers of the project, in place of those that its files name; without those of the user.
    taken: Option<Vec<Layer>>,
    /// Whether the layers that were taken stand for all others, too.
    is_of_another_time: bool,
}

impl DiskPackSource {
    /// Takes these layers of the project, whether they are trusted or not, in place of those that its files name. The
    /// packs of the user's folder are omitted.
    pub fn take_layers(&mut self, layers: Vec<Layer>) {
        self.taken = Some(layers);
    }

    /// Takes these layers in place of all others but that of the binary: those of another time.
    pub fn take_all_layers(&mut self, layers: Vec<Layer>) {
        self.taken = Some(layers);
        self.is_of_another_time = true;
    }

    /// Returns whether the folder of the user's packs is in the workspace.
    fn is_misled(&self, folder: &str) -> bool {
        disk::is_misled(folder, self.workspace.root(), disk::CONFIG_BELOW_HOME)
    }

    /// Returns the folder of the user's packs, unless it is in the workspace.
    fn user_folder(&self) -> Option<String> {
        config_folder().filter(|folder| !self.is_misled(folder))
    }
}

impl WorldOpener for DiskPackSource {
    fn open(&self, folder: &str, granted: &[String], named: &[String]) -> Result<Arc<dyn World>> {
        let (granted, named) = (granted.iter().map(String::as_str), named.iter().map(String::as_str));
        Ok(Arc::new(Disk::with_outer_roots(folder, granted, named)?))
    }
}

impl PackSource for DiskPackSource {
    fn workspace(&self) -> Arc<dyn World> {
        Arc::clone(&self.workspace)
    }

    fn layers(&self, settings: &WorkspaceSettings) -> Result<ProjectLayers> {
        let mut layers = Vec::new();
        if let (true, Some(taken)) = (self.is_of_another_time, &self.taken) {
            layers.clone_from(taken);
            layers.push(Layer { origin: EMBEDDED.to_owned(), world: None, trust: None, is_stored: false });
            return Ok(ProjectLayers { layers, ..ProjectLayers::default() });
        }
        for dir in &self.dirs {
            layers.push(Layer { origin: dir.clone(), world: Some(open_layer(dir)?), trust: None, is_stored: false });
        }
        // Errors of the record are reported where it is requested; nothing is trusted then.
        let trust = self.trust().unwrap_or_default();
        let root = self.workspace.root();
        let open = |folder: &str| open_layer(&path::clean(&path::join(root, folder)));
        let mut chosen = match &self.taken {
            Some(layers) => ProjectLayers { layers: layers.clone(), ..ProjectLayers::default() },
            None => ProjectLayers::choose(settings, self.workspace.as_ref(), &trust, &open, self.is_locked),
        };
        let workspace = Some(open_layer(root)?);
        layers.push(Layer { origin: "workspace".to_owned(), world: workspace, trust: Some(trust), is_stored: false });
        layers.append(&mut chosen.layers);
        //= docs/spec.md#layers
        //# With `--locked`, only layers as `toolsd.lock` has them, packs that publish what `toolsd.surface.json`
        //# says, and what was trusted of both before, MUST serve.
        let user = self.user_folder().filter(|_| !self.is_locked && self.taken.is_none());
        if let Some(world) = user.and_then(|folder| open_layer(&folder).ok()) {
            layers.push(Layer { origin: "user".to_owned(), world: Some(world), trust: None, is_stored: false });
        }
        layers.push(Layer { origin: EMBEDDED.to_owned(), world: None, trust: None, is_stored: false });
        Ok(ProjectLayers { layers, ..chosen })
    }

    fn trust(&self) -> Result<WorkspaceTrust> {
        load_trust(self.workspace.root())
    }

    fn diagnostics(&self) -> Vec<Diagnostic> {
        //= docs/spec.md#trust
        //# Trust records and user packs inside the workspace, and trust records that others can change, MUST
        //# be ignored.
        let misled = config_folder().filter(|folder| self.is_misled(folder) && Disk::new(folder, []).is_ok());
        let diagnostic = misled.map(|folder| {
            let message = format!("the packs in `{folder}` are not used: the folder is in the workspace");
            *Diagnostic::new(UNTRUSTED, message)
                .warning()
                .help("set `XDG_CONFIG_HOME` and `HOME` to folders outside of the workspace")
        });
        let named = self.dirs.iter().cloned().chain(self.user_folder());
        let missed = self.dirs.iter().filter_map(|dir| warn_of_missed_folder(dir));
        diagnostic
            .into_iter()
            .chain(missed)
            .chain(named.filter_map(|folder| warn_of_open_folder(&folder)))
            .chain(shortage())
            .collect()
    }

    fn unapproved(&self, registry: &Registry) -> Vec<(String, Diagnostic)> {
        if self.is_locked { unapproved_packs(self.workspace.as_ref(), registry) } else { Vec::new() }
    }

    fn adjust(&self, settings: &mut WorkspaceDefinition) {
        if let Some(allow) = self.overrides.code_mode {
            settings.code_mode.get_or_insert_default().allow = Some(allow);
        }
        if let Some(pins) = &self.overrides.discover {
            settings.discover.get_or_insert_default().pin.extend(pins.iter().cloned());
        }
    }

    fn choice(&self) -> PackChoice {
        self.choice.clone()
    }

    fn roots(&self) -> Vec<String> {
        self.roots.clone()
    }
}

/// The packs whose surface is not that of the file.
fn unapproved_packs(workspace: &dyn Files, registry: &Registry) -> Vec<(String, Diagnostic)> {
    let refused = |why: &str, help: &str| *Diagnostic::new(LAYER, why.to_owned()).help(help);
    let approved: Option<Json> =
        workspace.read(SURFACE_FILE).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let surface = surface(registry);
    let packs = surface["packs"].as_object().into_iter().flatten();
    // The file is that of what is not trusted yet, and a person trusted what serves in its place.
    let judged = packs.filter(|(name, _)| registry.staleness(name).is_none()).filter_map(|(name, published)| {
        let Some(approved) = &approved else {
            let why =
                format!("pack `{name}` does not serve: with `--locked`, `{SURFACE_FILE}` must say what it publishes");
            return Some((name.clone(), refused(&why, "run `toolsd lock`, and commit the file")));
        };
        let why = match approved["packs"].get(name) {
            Some(approved) if approved == published => return None,
            Some(_) => format!("pack `{name}` publishes something else than `{SURFACE_FILE}` says"),
            None => format!("pack `{name}` is not in `{SURFACE_FILE}`"),
        };
        Some((name.clone(), refused(&why, "run `toolsd lock`, and review the diff of the file")))
    });
    judged.collect()
}

//= docs/spec.md#trust
//# A warning MUST name each folder of the user's packs, or of `--dir`, that everybody can change.
/// A warning for a folder of packs that need no trust, if everybody can change it.
fn warn_of_open_folder(folder: &str) -> Option<Diagnostic> {
    let places = ["."].into_iter().chain(FOLDERS).map(|name| path::join(folder, name));
    let open = places.into_iter().find(|place| disk::other_writers(place).contains(&OtherWriter::Everybody))?;
    let message = format!("everybody on this machine can change `{open}`, and packs in it are used without trust");
    Some(*Diagnostic::new(OPEN_FOLDER, message).warning().help("`chmod -R o-w` of the folder prevents that"))
}

/// A warning for a folder of `--dir` that has no folder of packs, and so no pack.
fn warn_of_missed_folder(dir: &str) -> Option<Diagnostic> {
    let folder = Disk::new(dir, []).ok()?;
    let has = |name: &str| folder.stat(name).is_ok_and(|known| known.is_some());
    if FOLDERS.into_iter().any(has) {
        return None;
    }
    let inside = FOLDERS.into_iter().find_map(|name| {
        let below = dir.rfind(&format!("/{name}/")).or_else(|| dir.strip_suffix(&format!("/{name}")).map(str::len))?;
        Some(&dir[..below])
    });
    let help = match inside {
        Some("") => "use `--dir /`".to_owned(),
        Some(around) => format!("use `--dir {around}`"),
        None if has(WORKSPACE_FOLDER) => format!("use `--dir {}`", path::join(dir, WORKSPACE_FOLDER)),
        None => {
            format!("put a pack into `{}`; `toolsd new pack NAME --dir {dir}` writes one", path::join(dir, "tools.d"))
        }
    };
    let message = format!("`{dir}` has no packs: `--dir` names the folder that contains `tools.d`");
    Some(*Diagnostic::new(MISSED_FOLDER, message).warning().help(help))
}

/// A folder of packs, to be read: links in it are followed wherever they lead, since what is read is trusted by its
/// bytes, or needs no trust.
pub(super) fn open_layer(folder: &str) -> Result<Arc<dyn World>> {
    Ok(Arc::new(Disk::new(folder, ["/"])?))
}

/// The packs inside the binary, as a folder.
pub(super) fn embedded() -> Result<Arc<dyn World>> {
    let world = MemoryWorld::new();
    for (path, bytes) in crate::registry::embedded_files() {
        world.write(path, bytes)?;
    }
    Ok(Arc::new(world))
}

/// Returns the path of the record of trust; `None` if this machine keeps no state.
pub fn trust_record_path() -> Option<String> {
    trust_folder().map(|folder| path::join(&folder, TRUST_RECORD))
}

/// What a person allowed in a workspace; nothing if this machine keeps no state.
pub fn load_trust(workspace: &str) -> Result<WorkspaceTrust> {
    Ok(load_trust_record(workspace)?.workspaces.remove(&disk::main_worktree_path(workspace)).unwrap_or_default())
}

/// Reads the record of trust of all workspaces.
///
/// # Errors
/// The record is in this workspace, cannot be read, or can be written by other users.
pub fn load_trust_record(workspace: &str) -> Result<TrustRecord> {
    let Some(folder) = trust_folder() else { return Ok(TrustRecord::default()) };
    refuse_misled(&folder, workspace)?;
    match is_record_there(&folder)? {
        true => TrustRecord::load(&Disk::new(&folder, [])?),
        false => Ok(TrustRecord::default()),
    }
}

/// Returns whether this folder has a record. Fails if other users may have written it.
fn is_record_there(folder: &str) -> Result<bool> {
    let record = path::join(folder, TRUST_RECORD);
    if Disk::new("/", [])?.stat(&record)?.is_none() {
        return Ok(false);
    }
    let real = Disk::new(folder, [])?;
    disk::check_private(real.root()).and_then(|()| disk::check_private(&record)).map(|()| true).map_err(|diagnostic| {
        Diagnostic::new(Code::WORLD, format!("the record of trust is not believed: {}", diagnostic.message))
            .help("others may have written it: move it elsewhere, then run `toolsd trust` again in your workspaces")
    })
}

/// Changes the record of trust. Returns its lock: as long as it is held, no other process changes the record.
///
/// # Errors
/// The record is in this workspace, or cannot be written.
pub fn change_trust_record(workspace: &str, change: impl FnOnce(&mut TrustRecord)) -> Result<Box<dyn Lock>> {
    let Some(folder) = trust_folder() else {
        let diagnostic = Diagnostic::new(Code::WORLD, "there is no folder for the record of trust");
        return Err(diagnostic.help("set `HOME`"));
    };
    refuse_misled(&folder, workspace)?;
    disk::make_private_folder(&folder)?;
    is_record_there(&folder)?;
    let held = TrustRecord::change(&Disk::new(&folder, [])?, change)?;
    // A umask may have let the group write the file that is new: then it would not be believed.
    disk::take_write_from_others(&path::join(&folder, TRUST_RECORD))?;
    Ok(held)
}

fn refuse_misled(folder: &str, workspace: &str) -> Result<()> {
    if !disk::is_misled(folder, workspace, TRUST_BELOW_HOME) {
        return Ok(());
    }
    let message = format!("the record of trust is not believed: its folder `{folder}` is in the workspace");
    let help = format!("serve a folder below `{workspace}`, or set `HOME` to your home folder");
    Err(Diagnostic::new(Code::WORLD, message).help(help))
}

/// What a shell adds to the number of the signal that ended a program.
const SIGNAL_EXIT_BASE: i32 = 128;

/// Has SIGINT and SIGTERM end this process in good order from now on. If that cannot be set up, they end it at once,
/// and the next command cleans up. SIGHUP is left alone: `nohup` ignores it.
//= docs/spec.md#programs
//# When the server ends, for whatever reason, its programs and everything that they started MUST end.
pub(super) fn end_at_signals() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        std::thread::spawn(|| {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().ok()?;
            let came = runtime.block_on(async {
                let mut interrupted = signal(SignalKind::interrupt()).ok()?;
                let mut terminated = signal(SignalKind::terminate()).ok()?;
                Some(tokio::select! {
                    _ = interrupted.recv() => SignalKind::interrupt(),
                    _ = terminated.recv() => SignalKind::terminate(),
                })
            });
            came.map(|kind| -> () { disk::end_process(SIGNAL_EXIT_BASE + kind.as_raw_value()) })
        });
    });
}
