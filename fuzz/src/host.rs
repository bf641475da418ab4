//! A host with nothing to reach: primitives that need more fail, and must fail well.

use std::sync::{Arc, LazyLock};
use toolsd::primitive_api::Host;
use toolsd::world::World;
use toolsd::world::memory::MemoryWorld;

/// See above.
pub struct Nowhere;

static WORLD: LazyLock<Arc<dyn World>> = LazyLock::new(|| Arc::new(MemoryWorld::new()));

impl Host for Nowhere {
    fn world(&self) -> &Arc<dyn World> {
        &WORLD
    }
}
