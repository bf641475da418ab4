//! What the scripts of one call can reach: the pack's workspace within its grants, its graph, data and files.

use crate::content::ResourceBody;
use crate::diagnostic::{Code, Diagnostic, Result, did_you_mean};
use crate::graph::{Graph, Store};
use crate::primitive::{Host, Notice, PackFile};
use crate::registry::Pack;
use crate::value::{Json, Value};
use crate::world::World;
use base64::Engine;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

/// Takes the notices of a call.
pub type Notices = Arc<dyn Fn(Notice) + Send + Sync>;

/// The host of one call.
pub struct CallHost {
    pub(super) pack: Arc<Pack>,
    pub(super) world: Arc<dyn World>,
    store: Arc<Store>,
    notices: Notices,
    now_ms: i64,
    graph: OnceLock<Result<Arc<Graph>>>,
    building: Mutex<()>,
    /// Whether it is the host of a build, in which there is no graph yet.
    builds: bool,
    itself: Weak<Self>,
}

impl CallHost {
    /// A host for a pack, in `world`.
    pub fn new(pack: &Arc<Pack>, world: Arc<dyn World>, store: &Arc<Store>, notices: Notices) -> Arc<Self> {
        let now_ms = world.now_ms();
        Self::make(pack, world, store, notices, now_ms, false)
    }

    fn make(
        pack: &Arc<Pack>,
        world: Arc<dyn World>,
        store: &Arc<Store>,
        notices: Notices,
        now_ms: i64,
        builds: bool,
    ) -> Arc<Self> {
        Arc::new_cyclic(|itself| Self {
            pack: Arc::clone(pack),
            world,
            store: Arc::clone(store),
            notices,
            now_ms,
            graph: OnceLock::new(),
            building: Mutex::new(()),
            builds,
            itself: itself.clone(),
        })
    }

    /// The host of the build of the graph: the same pack in the world that records what is read.
    pub(super) fn for_build(&self, world: Arc<dyn World>) -> Arc<Self> {
        Self::make(&self.pack, world, &self.store, Arc::clone(&self.notices), self.now_ms, true)
    }

    /// A file of the pack as a resource holds it: text, or base64.
    pub fn pack_bytes(&self, path: &str) -> Result<ResourceBody> {
        let file = self.pack.files.by_path.get(path).ok_or_else(|| self.no_file(path))?;
        Ok(match &file.source {
            Some(source) => ResourceBody::Text(source.text.clone()),
            None => ResourceBody::Blob(base64::engine::general_purpose::STANDARD.encode(&file.bytes)),
        })
    }

    fn no_file(&self, path: &str) -> Box<Diagnostic> {
        let fault = Diagnostic::new(Code::WORLD, format!("the pack `{}` has no file `{path}`", self.pack.name));
        let known: Vec<&str> = self.pack.files.by_path.keys().map(String::as_str).collect();
        match did_you_mean(path, known) {
            Some(help) => fault.help(help),
            None => fault.help("write the path from the root, such as `templates/pack/file.md`"),
        }
    }

    fn build(&self) -> Result<Arc<Graph>> {
        let Some(graph) = &self.pack.graph else {
            let fault = Diagnostic::new(Code::SCRIPT, format!("the pack `{}` has no graph", self.pack.name));
            return Err(fault.help("declare one: `[graph]` with `script`"));
        };
        let Some(host) = self.itself.upgrade() else {
            return Err(Diagnostic::new(Code::INTERNAL, "the call has ended"));
        };
        super::building::fresh(&host, &self.store, graph)
    }
}

impl Host for CallHost {
    fn world(&self) -> &Arc<dyn World> {
        &self.world
    }

    /// Looked at once in a call: an edit made before the call is seen, one made while it runs is not.
    fn graph(&self) -> Result<Arc<Graph>> {
        if self.builds {
            let fault = Diagnostic::new(Code::SCRIPT, "the graph is being built");
            return Err(fault.help("in `build` use `g`, in a scan use what the file says"));
        }
        let _building = self.building.lock().unwrap_or_else(PoisonError::into_inner);
        self.graph.get_or_init(|| self.build()).clone()
    }

    fn config(&self) -> Value {
        self.pack.config.clone()
    }

    fn data(&self, name: &str) -> Option<Value> {
        self.pack.data.get(name).cloned()
    }

    fn data_names(&self) -> Vec<String> {
        self.pack.data.keys().cloned().collect()
    }

    fn render(&self, template: &str, context: &Json) -> Result<String> {
        self.pack.templates.render(template, context)
    }

    fn pack_file(&self, path: &str) -> Result<PackFile> {
        let file = self.pack.files.by_path.get(path).ok_or_else(|| self.no_file(path))?;
        let Some(source) = &file.source else {
            return Err(Diagnostic::new(Code::UTF8, format!("`{path}` is no UTF-8")));
        };
        Ok(PackFile { text: source.text.clone(), origin: file.origin.clone(), path: path.to_owned() })
    }

    fn now_ms(&self) -> i64 {
        self.now_ms
    }

    fn uuid(&self) -> String {
        uuid::Uuid::from_bytes(self.world.uuid()).to_string()
    }

    fn notify(&self, notice: Notice) {
        (self.notices)(notice);
    }
}
