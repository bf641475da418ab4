//! Registries for tests of this room and of those above it.

use crate::registry::{PackFiles, PackParts, Registry, RegistryParts, ServedTool, WorkspaceSettings, assemble};
use crate::world::World;
use crate::world::memory::MemoryWorld;
use std::sync::Arc;

/// A registry of packs, each with its name and its definitions.
pub fn registry(packs: &[(&str, &str)]) -> Registry {
    let settings = WorkspaceSettings::default();
    let fresh = packs.iter().map(|(name, definitions)| {
        let path = format!("tools.d/{name}.toml");
        let files = PackFiles::from_texts([(path.as_str(), *definitions)]);
        let world: Arc<dyn World> = Arc::new(MemoryWorld::default());
        (PackParts::read(name, [0; 32], files, &settings), world)
    });
    let fresh = fresh.collect();
    assemble(RegistryParts { fresh, kept: Vec::new(), previous: &Registry::default(), settings })
}

/// The only tool of a pack with these definitions.
pub(super) fn tool(definitions: &str) -> Arc<ServedTool> {
    let registry = registry(&[("a", definitions)]);
    assert_eq!(registry.tools.len(), 1, "{definitions}: {:?}", registry.diagnostics);
    Arc::clone(&registry.tools[0])
}
