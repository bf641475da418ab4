//! The graph of a pack for a call: the workspace within the grants, the build within its own limits.

use super::host::CallHost;
use crate::definition::{GraphDefinition, Refresh};
use crate::diagnostic::Result;
use crate::graph::{BuildPlan, Functions, GraphOrigin, GraphStore};
use crate::guard::{self, Guard};
use crate::primitive::Host;
use crate::script::watch_over;
use crate::value::Value;
use crate::world::World;
use std::sync::Arc;

/// How a graph is asked for: [`GraphStore::origin`], or [`GraphStore::latest_origin`].
type Ask = fn(&GraphStore, &BuildPlan<'_>) -> Result<GraphOrigin>;

/// The graph as the pack refreshes it: as the files are now, unless that is seen to beside the calls. What the call
/// itself wrote it always sees.
pub fn graph(host: &Arc<CallHost>, store: &Arc<GraphStore>, graph: &GraphDefinition) -> Result<GraphOrigin> {
    let wrote = host.world().staged().is_some_and(|staged| !staged.is_empty());
    match graph.refresh {
        Refresh::Beside { .. } if !wrote => asked(host, store, graph, GraphStore::latest_origin),
        _ => asked(host, store, graph, GraphStore::origin),
    }
}

/// The graph as the files are now.
pub fn fresh(host: &Arc<CallHost>, store: &Arc<GraphStore>, graph: &GraphDefinition) -> Result<GraphOrigin> {
    asked(host, store, graph, GraphStore::origin)
}

/// The time of a build is not the call's.
fn asked(host: &Arc<CallHost>, store: &Arc<GraphStore>, graph: &GraphDefinition, ask: Ask) -> Result<GraphOrigin> {
    let made = &host.pack.compiled;
    let functions = made.program.functions_of(&graph.script.value);
    let functions: Arc<dyn Functions> = Arc::new(OfPack { functions, hash: made.hash });
    let outer = guard::current();
    let _pause = outer.as_ref().map(|outer| outer.pause());
    let within = |world: Arc<dyn World>, job: &mut dyn FnMut() -> Result<()>| {
        let guard = Guard::without_address(made.build_limits, host.cancel.clone());
        let _watched = watch_over(&guard);
        let inner = host.for_build(world) as Arc<dyn Host>;
        made.program.within(&graph.script.value, inner, guard, job)
    };
    let config = host.config();
    let world = host.readable()?;
    let build = BuildPlan { world: &world, functions: &functions, entry: "build", config: &config, within: &within };
    ask(store, &build)
}

/// The functions of a pack, for its graph: what they make depends on the scripts, and on the tables, settings and
/// files that they may read, so a fragment is kept only while none of these has changed.
struct OfPack {
    functions: Arc<dyn Functions>,
    hash: [u8; 32],
}

impl Functions for OfPack {
    fn call(&self, name: &str, arguments: Vec<Value>) -> Result<Value> {
        self.functions.call(name, arguments)
    }

    fn fingerprint(&self) -> [u8; 32] {
        self.hash
    }

    fn parallel(&self, jobs: usize, job: &(dyn Fn(usize) + Sync)) {
        self.functions.parallel(jobs, job);
    }
}
