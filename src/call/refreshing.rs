//! Graphs that are refreshed beside the calls, and what is computed from a graph when it changed.

use super::interview::Interview;
use super::service::{Calling, Service};
use super::staging::Lines;
use super::{Asking, Change, Peer};
use crate::definition::Refresh;
use crate::diagnostic::Result;
use crate::graph::Graph;
use crate::guard::CancelFlag;
use crate::primitive::{Effect, LogLevel, Notice};
use crate::registry::{Pack, Registry};
use crate::value::{Json, Object, Value};
use crate::world::{World, path};
use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

/// How the graph of a pack is refreshed beside the calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pace {
    /// The pack.
    pub pack: String,
    /// The time between two looks by the clock, if the clock counts.
    pub every: Option<Duration>,
    /// Whether it is looked at when a file that it was made of changes.
    pub watch: bool,
}

/// The graph of each pack that its descriptions were computed from.
#[derive(Default)]
pub struct Described(Mutex<HashMap<String, Weak<Graph>>>);

impl Described {
    fn is_from(&self, pack: &str, graph: &Arc<Graph>) -> bool {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(pack).is_some_and(|known| std::ptr::eq(known.as_ptr(), Arc::as_ptr(graph)))
    }

    /// Notes that the descriptions of a pack come from this graph.
    pub fn note(&self, pack: &str, graph: Option<&Arc<Graph>>) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(pack.to_owned(), graph.map_or_else(Weak::new, Arc::downgrade));
    }
}

impl Service {
    /// The packs whose graphs are refreshed beside the calls, and how.
    pub fn paces(&self) -> Vec<Pace> {
        let registry = self.registry();
        registry.packs.iter().filter_map(|pack| pace(pack, self.configuration(pack))).collect()
    }

    /// Looks at the graph of a pack again, and builds it aside if something that it was made of changed; calls go on
    /// with the last one. Then computes what follows from it, and announces the lists that differ. A graph that cannot
    /// be built is told in the log. Runs on this thread, whose stack must be as large as that of a script thread.
    /// Tells whether the graph is another one now.
    pub fn refresh(&self, pack: &str, cancel: CancelFlag) -> bool {
        let registry = self.registry();
        let Some(pack) = registry.packs.iter().find(|known| known.name == pack) else { return false };
        let calling = self.background(&registry, cancel);
        let (began, before) = (Instant::now(), self.store(&pack.name).last_graph());
        let seen = self.found.outline();
        //= docs/spec.md#freshness
        //# Where a graph is refreshed beside the calls, an edit MUST be seen by the calls after the next refresh.
        let after = match calling.refreshed(pack) {
            Ok(Some(after)) => after,
            Ok(None) => return false,
            Err(fault) => {
                let data = Json::from(format!("the graph of `{}` is not refreshed: {fault}", pack.name));
                told(self.log(), LogLevel::Warning, &data);
                self.changes.announce(&Change::Log { level: LogLevel::Warning, data });
                return false;
            }
        };
        let took = format!("in {:.1} ms", began.elapsed().as_secs_f64() * 1e3);
        if before.is_some_and(|before| Arc::ptr_eq(&before, &after)) {
            tracing::debug!("`{}` is refreshed {took}: nothing changed", pack.name);
            return false;
        }
        let news = format!("`{}` is refreshed {took}: {}", pack.name, after.to_json());
        told(self.log(), LogLevel::Info, &Json::from(news));
        self.describe();
        if seen.is_some() && seen != Some(calling.skills().outline()) {
            self.changes.announce(&Change::Lists { tools: false, prompts: false, resources: true });
        }
        true
    }

    /// What the graph of a pack was made of: absolute paths of files and folders.
    pub fn touched(&self, pack: &str) -> Vec<String> {
        let registry = self.registry();
        let Some(pack) = registry.packs.iter().find(|known| known.name == pack) else { return Vec::new() };
        let Ok(world) = pack.world(Effect::Reads) else { return Vec::new() };
        let absolute = |path: String| path::clean(&path::join(world.root(), &world.whole().spelled(&path)));
        self.store(&pack.name).read_paths().into_iter().map(absolute).collect()
    }

    /// Computes descriptions again if a graph that they were computed from is another one now.
    pub(super) fn describe_if_stale(&self) {
        //= docs/spec.md#reload
        //# A computed description MUST be computed again when the graph of its pack changed.
        if !self.describes.load(Ordering::Relaxed) {
            return;
        }
        let registry = self.registry();
        let described = registry.tools.iter().filter(|one| one.tool.describe.is_some());
        let is_stale = |pack: &Pack| {
            let last = self.store(&pack.name).last_graph();
            last.is_some_and(|graph| !self.described.is_from(&pack.name, &graph))
        };
        if described.into_iter().any(|one| is_stale(&one.pack)) {
            self.describe();
        }
    }

    /// Something that nobody asked for: what it tells goes to the log, here and of every client.
    pub(super) fn background<'a>(&'a self, registry: &'a Registry, cancel: CancelFlag) -> Calling<'a> {
        let (changes, log) = (Arc::clone(&self.changes), self.log().cloned());
        let notices = Arc::new(move |notice| {
            if let Notice::Log { level, data } = notice {
                told(log.as_ref(), level, &data);
                changes.announce(&Change::Log { level, data });
            }
        });
        let interview = Interview::new(Asking::Nobody, Json::Null, Peer::default());
        Calling { service: self, registry, cancel, notices, interview }
    }
}

impl Calling<'_> {
    fn refreshed(&self, pack: &Arc<Pack>) -> Result<Option<Arc<Graph>>> {
        let limits = pack.compiled.build_limits;
        let running = self.begin(pack, Effect::Reads, limits, false, None)?;
        let _guarded = running.guard.enter();
        running.host.refresh()
    }
}

/// How a pack is refreshed, if it is refreshed beside the calls.
fn pace(pack: &Pack, config: &Value) -> Option<Pace> {
    let Refresh::Beside { every_ms, watch } = &pack.compiled.graph.as_ref()?.refresh else { return None };
    let config = config.to_json();
    let every_ms = every_ms.value(&config, Json::as_u64).unwrap_or(0);
    let watch = watch.value(&config, Json::as_bool).unwrap_or(false);
    let every = (every_ms > 0).then(|| Duration::from_millis(every_ms));
    Some(Pace { pack: pack.name.clone(), every, watch })
}

/// Writes what a script tells to the log, or where a stage keeps its lines.
pub fn told(log: Option<&Lines>, level: LogLevel, data: &Json) {
    let text = data.as_str().map_or_else(|| data.to_string(), str::to_owned);
    if let Some(log) = log {
        return log.lock().unwrap_or_else(PoisonError::into_inner).push((level, text));
    }
    match level {
        LogLevel::Debug => tracing::debug!("{text}"),
        LogLevel::Info | LogLevel::Notice => tracing::info!("{text}"),
        LogLevel::Warning => tracing::warn!("{text}"),
        _ => tracing::error!("{text}"),
    }
}
