//! A server on a workspace in memory, with one pack.

use std::sync::Arc;
use toolsd::call::{PackSource, Service};
use toolsd::diagnostic::Result;
use toolsd::registry::{Choice, Layer, Trust, Worlds};
use toolsd::world::World;
use toolsd::world::memory::MemoryWorld;

const PACK: &str = r#"
[pack]
title = "Under test"
version = "1.0.0"
[[tool]]
name = "echo"
description = "Returns its input."
effect = "pure"
text = "{{text}}"
[tool.input]
type = "object"
required = ["text"]
properties.text = { type = "string", description = "What to say" }
[[resource]]
uri_template = "note:///{name}"
name = "note"
description = "A note."
text = "{{name}}"
[[prompt]]
name = "ask"
description = "Asks."
text = "Say it."
"#;

struct Kept {
    workspace: Arc<dyn World>,
    layer: Arc<dyn World>,
}

impl Worlds for Kept {
    fn open(&self, _: &str, _: &[String], _: &[String]) -> Result<Arc<dyn World>> {
        Ok(Arc::clone(&self.workspace))
    }
}

impl PackSource for Kept {
    fn workspace(&self) -> Arc<dyn World> {
        Arc::clone(&self.workspace)
    }

    fn layers(&self) -> Result<Vec<Layer>> {
        Ok(vec![Layer { origin: "test".to_owned(), world: Some(Arc::clone(&self.layer)), trust: None }])
    }

    fn trust(&self) -> Result<Trust> {
        Ok(Trust::default())
    }

    fn choice(&self) -> Choice {
        Choice::ByMarkers
    }

    fn roots(&self) -> Vec<String> {
        Vec::new()
    }
}

/// The server; what is wrong with its pack ends the target.
pub fn service() -> Arc<Service> {
    let layer = MemoryWorld::with([("tools.d/under_test.toml", PACK)]).expect("a pack");
    let service = Service::open(Arc::new(Kept { workspace: Arc::new(MemoryWorld::new()), layer: Arc::new(layer) }));
    let registry = service.registry();
    assert!(registry.packs.len() == 1, "{:?}", registry.errors);
    service
}
