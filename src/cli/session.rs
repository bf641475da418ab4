//! Where a command works: the workspace, the layers of packs, the trust of a person, the service.

use super::list::looked_for;
use super::options::Shared;
use super::record::load_trust;
use super::terminal::Terminal;
use crate::call::{Answer, AskMode, Caller, PackSource, Peer, Request, Service};
use crate::diagnostic::{Code, Diagnostic, Result, did_you_mean};
use crate::guard::CancelFlag;
use crate::primitive::Notice;
use crate::registry::{
    EJECTED, EMBEDDED, Layer, PackChoice, Registry, UNTRUSTED, WORKSPACE_FOLDER, WorkspaceSettings, WorkspaceTrust,
    WorldOpener,
};
use crate::world::disk::{self, Disk, config_folder, current_folder};
use crate::world::memory::Memory;
use crate::world::ownership::NOT_OWNED;
use crate::world::{World, path};
use serde_json::json;
use std::sync::Arc;

/// A variable of the environment.
pub fn variable(name: &str) -> Option<String> {
    Disk::new("/", []).ok()?.env(name)
}

/// Where a command works.
pub struct Session {
    /// The options that every command takes.
    pub shared: Shared,
    /// Where it writes.
    pub terminal: Terminal,
    /// The workspace.
    pub workspace: Arc<dyn World>,
}

impl Session {
    /// Opens the workspace that the options name. A folder that is not there is a fault.
    pub fn open(mut shared: Shared, terminal: Terminal) -> Result<Self> {
        disk::fail_at_largest_file();
        disk::check_threads()?;
        disk::choose_sandbox(shared.sandbox.into());
        let here = current_folder()?;
        let absolute = |folder: &String| path::clean(&path::join(&here, folder));
        let folder = shared.workspace.as_ref().map_or_else(|| here.clone(), absolute);
        shared.dirs = shared.dirs.iter().map(absolute).collect();
        shared.roots = shared.roots.iter().map(absolute).collect();
        let roots: Vec<&str> = shared.roots.iter().map(String::as_str).collect();
        let all: Vec<&str> = std::iter::once(folder.as_str()).chain(roots.iter().copied()).collect();
        disk::recover(&all);
        let workspace: Arc<dyn World> = Arc::new(Disk::new(&folder, roots)?);
        Ok(Self { shared, terminal, workspace })
    }

    /// The service of this workspace.
    pub fn service(&self) -> Result<Arc<Service>> {
        disk::sweep();
        let site = self.site(match self.shared.packs.as_slice() {
            [] => PackChoice::ByMarkers,
            names => PackChoice::Named(names.to_vec()),
        })?;
        let service = Service::open(Arc::new(site));
        self.audit(&service);
        Ok(service)
    }

    /// Has the calls of a service told on standard error, if that was asked for.
    pub fn audit(&self, service: &Service) {
        if self.shared.audit {
            service.audit(super::terminal::error_line);
        }
    }

    /// The site of this workspace, with this choice of packs.
    pub fn site(&self, choice: PackChoice) -> Result<DiskSite> {
        // A folder that was named must be there from the beginning.
        for dir in self.shared.dirs.iter().chain(&self.shared.roots) {
            Disk::new(dir, [])?;
        }
        Ok(DiskSite {
            workspace: Arc::clone(&self.workspace),
            dirs: self.shared.dirs.clone(),
            roots: self.shared.roots.clone(),
            choice,
        })
    }

    /// The further roots: those of the command line, and those that a trusted `toolsd.toml` names.
    pub fn further_roots(&self) -> Vec<String> {
        let root = self.workspace.root();
        let trust = load_trust(root).unwrap_or_default();
        let (settings, _) = WorkspaceSettings::load(self.workspace.as_ref(), &trust);
        let written = settings.workspace.roots.iter().map(|known| path::join(root, &known.value));
        self.shared.roots.iter().cloned().chain(written).collect()
    }

    /// The folders that scripts may be let into: the workspace, further roots, folders of packs.
    pub fn folders(&self) -> Vec<String> {
        let workspace = self.workspace.root().to_owned();
        [&[workspace], self.further_roots().as_slice(), &self.shared.dirs].concat()
    }

    /// The layers, the first one strongest.
    pub fn layers(&self) -> Result<Vec<Layer>> {
        self.site(PackChoice::ByMarkers)?.layers()
    }

    /// The layer of the workspace, if it has one.
    pub fn workspace_layer(&self) -> Result<Option<Arc<dyn World>>> {
        if self.workspace.stat(WORKSPACE_FOLDER)?.is_none() {
            return Ok(None);
        }
        let folder = path::join(self.workspace.root(), WORKSPACE_FOLDER);
        Ok(Some(Arc::new(Disk::new(&folder, [])?)))
    }

    /// The layer that `new` and `eject` write to, and its origin: the first `--dir`, else that of the workspace.
    pub fn target_layer(&self) -> Result<(Arc<dyn World>, String)> {
        if let Some(dir) = self.shared.dirs.first() {
            return Ok((Arc::new(Disk::new(dir, [])?), dir.clone()));
        }
        if self.workspace.stat(WORKSPACE_FOLDER)?.is_none() {
            // Files of a layer are text that people keep in their repository: an empty note marks the folder.
            self.workspace.write(&format!("{WORKSPACE_FOLDER}/{}", EJECTED), b"{}\n")?;
        }
        let layer = self.workspace_layer()?;
        let layer =
            layer.ok_or_else(|| Diagnostic::new(Code::WORLD, format!("`{WORKSPACE_FOLDER}` cannot be made")))?;
        Ok((layer, "workspace".to_owned()))
    }

    /// Takes from the files that were just written, and their folders, the write permission that a umask gave to others:
    /// with it they would not be used.
    pub fn keep_from_others(&self, target: &dyn World, paths: &[String]) -> Result<()> {
        let mut all: std::collections::BTreeSet<&str> = [".", EJECTED].into();
        for file in paths {
            all.extend(file.match_indices('/').map(|(at, _)| &file[..at]));
            all.insert(file);
        }
        for one in all {
            if target.stat(one)?.is_some() {
                disk::take_write_from_others(&path::join(target.root(), one))?;
            }
        }
        Ok(())
    }

    /// Says what a new file of the workspace layer waits for.
    pub fn hint_of_trust(&self, origin: &str) {
        if origin == "workspace" {
            self.terminal
                .note("run `toolsd trust` to have it used, `toolsd trust --edits PACK` to have later edits used too");
        }
    }

    /// Answers a request and waits for it.
    pub fn ask(&self, service: &Arc<Service>, request: Request) -> Answer {
        super::interruption::heed();
        let caller = Caller {
            cancel: CancelFlag::default(),
            // What a script logs is in the log already.
            notices: Box::new(|notice| match notice {
                Notice::Log { .. } => {}
                notice => tracing::info!("{notice:?}"),
            }),
            capabilities: json!({}),
            asking: AskMode::Nobody,
            peer: Peer::default(),
        };
        service.wait(request, caller)
    }

    /// Tells what is wrong with the packs, on standard error. Many files that nobody trusted are one line.
    pub fn tell_faults(&self, registry: &Registry) {
        self.tell(registry.faults.iter());
    }

    fn tell<'a>(&self, faults: impl Iterator<Item = &'a Diagnostic>) {
        let (untrusted, others): (Vec<_>, Vec<_>) = faults.partition(|fault| fault.code == UNTRUSTED);
        if untrusted.len() > 3 {
            let message = format!("{} files are not trusted and so not used", untrusted.len());
            let help = "`toolsd check` lists them; read them, then run `toolsd trust`";
            self.terminal.fault(&Diagnostic::new(UNTRUSTED, message).warning().help(help));
        } else {
            untrusted.iter().for_each(|fault| self.terminal.fault(fault));
        }
        // What is wrong in one way with many parts is one line.
        let mut seen: Vec<&Diagnostic> = Vec::new();
        for fault in others {
            if seen.iter().all(|known| known.message != fault.message || known.help != fault.help) {
                self.terminal.fault(fault);
                seen.push(fault);
            }
        }
    }

    /// The fault of a name that nothing here answers.
    pub fn unknown<'a>(
        &self,
        what: &str,
        name: &str,
        known: impl Iterator<Item = &'a str> + Clone,
        registry: &Registry,
    ) -> Box<Diagnostic> {
        if registry.packs.is_empty() && registry.refused.is_empty() {
            return self.nothing_serves(registry);
        }
        let refused = registry.refused.iter().find(|refused| refused.name == name);
        // A reason that is told with the refusal is not told before it, too.
        let told = refused.map(|refused| refused.why.message.as_str());
        self.tell(registry.faults.iter().filter(|fault| told != Some(fault.message.as_str())));
        if let Some(refused) = refused {
            return refused.fault();
        }
        let fault = Diagnostic::new(Code("usage"), format!("there is no {what} `{name}`"));
        match did_you_mean(name, known) {
            Some(help) => fault.help(help),
            None => fault.help("run `toolsd list`"),
        }
    }

    /// The fault of a workspace in which no pack serves: the marker that each looked for.
    pub fn nothing_serves(&self, registry: &Registry) -> Box<Diagnostic> {
        self.tell_faults(registry);
        let message = format!("no pack serves `{}`", self.workspace.root());
        let dormant: Vec<String> =
            registry.dormant.iter().map(|(name, when)| format!("`{name}` looked for {}", looked_for(when))).collect();
        let changeable = registry.withheld().find(|fault| fault.code == NOT_OWNED).and_then(|fault| fault.help.clone());
        let help = match dormant.is_empty() {
            // Trust does not help there.
            _ if let Some(mend) = changeable => {
                format!("what others can change is not used, as told above: {mend}; then `toolsd trust`")
            }
            _ if registry.withheld().next().is_some() => {
                "its files are not trusted, as told above: read them, then run `toolsd trust`; `toolsd doctor` says more".to_owned()
            }
            true => "there are no packs; `toolsd new pack NAME` writes one".to_owned(),
            false => dormant.join("; "),
        };
        Diagnostic::new(Code("usage"), message).help(help)
    }
}

/// The packs and the workspace on the disk.
pub struct DiskSite {
    workspace: Arc<dyn World>,
    dirs: Vec<String>,
    roots: Vec<String>,
    choice: PackChoice,
}

impl DiskSite {
    /// Whether the folder of the user's packs is the workspace's.
    fn is_misled(&self, folder: &str) -> bool {
        disk::is_misled(folder, self.workspace.root(), disk::CONFIG_BELOW_HOME)
    }
}

impl WorldOpener for DiskSite {
    fn open(&self, folder: &str, granted: &[String], named: &[String]) -> Result<Arc<dyn World>> {
        let (granted, named) = (granted.iter().map(String::as_str), named.iter().map(String::as_str));
        Ok(Arc::new(Disk::reaching(folder, granted, named)?))
    }
}

impl PackSource for DiskSite {
    fn workspace(&self) -> Arc<dyn World> {
        Arc::clone(&self.workspace)
    }

    fn layers(&self) -> Result<Vec<Layer>> {
        let mut layers = Vec::new();
        for dir in &self.dirs {
            layers.push(Layer { origin: dir.clone(), world: Some(Arc::new(Disk::new(dir, [])?)), trust: None });
        }
        // What is wrong with the record is told where it is asked for; then nothing is trusted.
        let trust = Some(self.trust().unwrap_or_default());
        let workspace = Arc::clone(&self.workspace);
        layers.push(Layer { origin: "workspace".to_owned(), world: Some(workspace), trust });
        let user = config_folder().filter(|folder| !self.is_misled(folder));
        if let Some(world) = user.and_then(|folder| Disk::new(&folder, []).ok()) {
            layers.push(Layer { origin: "user".to_owned(), world: Some(Arc::new(world)), trust: None });
        }
        layers.push(Layer { origin: EMBEDDED.to_owned(), world: None, trust: None });
        Ok(layers)
    }

    fn trust(&self) -> Result<WorkspaceTrust> {
        load_trust(self.workspace.root())
    }

    fn faults(&self) -> Vec<Diagnostic> {
        //= docs/spec.md#trust
        //# A folder of the user's packs that a variable leads into the workspace MUST NOT be used.
        let misled = config_folder().filter(|folder| self.is_misled(folder) && Disk::new(folder, []).is_ok());
        let fault = misled.map(|folder| {
            let message = format!("the packs in `{folder}` are not used: the folder lies in the workspace");
            *Diagnostic::new(UNTRUSTED, message)
                .warning()
                .help("let `XDG_CONFIG_HOME` and `HOME` lead out of the workspace")
        });
        fault.into_iter().collect()
    }

    fn choice(&self) -> PackChoice {
        self.choice.clone()
    }

    fn roots(&self) -> Vec<String> {
        self.roots.clone()
    }
}

/// The packs inside the binary, as a folder.
pub(super) fn embedded() -> Result<Arc<dyn World>> {
    let world = Memory::new();
    for (path, bytes) in crate::registry::embedded_files() {
        world.write(path, bytes)?;
    }
    Ok(Arc::new(world))
}
