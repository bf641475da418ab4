//! The result of a `list` function is kept as long as nothing that it looked at can have changed, and no longer.

use std::sync::Arc;
use toolsd::call::{Answer, AskMode, Caller, PackSource, Peer, Request, Service};
use toolsd::diagnostic::Result;
use toolsd::distribution::ProjectLayers;
use toolsd::guard::CancelFlag;
use toolsd::registry::{Layer, PackChoice, WorkspaceSettings, WorkspaceTrust, WorldOpener};
use toolsd::value::Json;
use toolsd::world::memory::MemoryWorld;
use toolsd::world::{Files, World};

const SCRIPT: &str = "fn build(g, config) { for path in find_files(\"*.md\") { g.add_node(\"note\", path, #{ path: path }); } }\n\
                      fn read_note(v) { v.name }\n\
                      fn names(list) { list.map(|name| `note://${name}`) }\n";

struct House {
    workspace: Arc<MemoryWorld>,
    layer: Arc<MemoryWorld>,
}

impl WorldOpener for House {
    fn open(&self, _folder: &str, _granted: &[String], _named: &[String]) -> Result<Arc<dyn World>> {
        Ok(Arc::clone(&self.workspace) as _)
    }
}

impl PackSource for House {
    fn workspace(&self) -> Arc<dyn World> {
        Arc::clone(&self.workspace) as _
    }

    fn layers(&self, _settings: &WorkspaceSettings) -> Result<ProjectLayers> {
        let layer = Layer {
            origin: "test".to_owned(),
            world: Some(Arc::clone(&self.layer) as _),
            trust: None,
            is_stored: false,
        };
        Ok(ProjectLayers { layers: vec![layer], ..ProjectLayers::default() })
    }

    fn trust(&self) -> Result<WorkspaceTrust> {
        Ok(WorkspaceTrust::default())
    }

    fn choice(&self) -> PackChoice {
        PackChoice::ByMarkers
    }

    fn roots(&self) -> Vec<String> {
        Vec::new()
    }
}

impl House {
    /// A workspace with one note, and the pack with this body of `list_notes`.
    fn with(body: &str) -> (Arc<Self>, Arc<Service>) {
        let workspace = Arc::new(MemoryWorld::with([("a.md", "one")]).unwrap());
        workspace.set_env("WHO", "me");
        let layer = Arc::new(MemoryWorld::with([("tools.d/notes.toml", include_str!("listing/pack.toml"))]).unwrap());
        let house = Arc::new(Self { workspace, layer });
        house.lists(body);
        let service = Service::open(Arc::clone(&house) as _);
        assert_eq!(service.registry().diagnostics, [], "{body}");
        (house, service)
    }

    /// Puts another body in place.
    fn lists(&self, body: &str) {
        let script = format!("{SCRIPT}fn list_notes() {{ {body} }}\n");
        self.layer.write("tools.d/notes.rhai", script.as_bytes()).unwrap();
    }
}

fn list(service: &Arc<Service>) -> Arc<Vec<Json>> {
    let caller = Caller {
        cancel: CancelFlag::default(),
        notices: Box::new(|_| {}),
        capabilities: Json::Null,
        asking: AskMode::Never,
        peer: Peer::default(),
    };
    match service.wait(Request::ListResources, caller) {
        Answer::Resources(all) => all,
        other => panic!("{other:?}"),
    }
}

fn uris(listed: &[Json]) -> Vec<&str> {
    listed.iter().map(|one| one["uri"].as_str().unwrap()).collect()
}

const GRAPH_NAMES: &str = "names(graph().nodes(\"note\").column(\"path\"))";

//= docs/spec.md#freshness
//= type=test
//# The result of a `list` function MAY be cached while its pack and its graph are the same, unless it read
//# anything else that can change.
#[test]
fn only_what_cannot_have_changed_is_kept() {
    for (body, is_kept) in [
        (GRAPH_NAMES, true),
        ("names(data(\"names\").all)", true),
        ("names([`${config().len()}`])", true),
        ("names(if exists(\"a.md\") { [\"a\"] } else { [] })", false),
        ("names([read_text(\"a.md\")])", false),
        ("names([now()])", false),
        ("names([uuid()])", false),
        ("names([env(\"WHO\")])", false),
        ("names([`${cache_get(\"seen\")}`])", false),
        ("log(\"info\", \"listed\"); names([])", false),
        ("names([`${client_supports(\"roots\")}`])", false),
        ("names(session().keys())", false),
        ("names(server().keys())", false),
        ("if graph().nodes(\"note\").len() > 0 { throw \"no\" } else { [] }", false),
    ] {
        let (_, service) = House::with(body);
        assert_eq!(Arc::ptr_eq(&list(&service), &list(&service)), is_kept, "{body}");
    }
}

#[test]
fn another_graph_and_another_pack_have_another_list() {
    let (house, service) = House::with(GRAPH_NAMES);
    assert_eq!(uris(&list(&service)), ["note://a.md"]);
    house.workspace.write("b.md", b"two").unwrap();
    let both = list(&service);
    assert_eq!(uris(&both), ["note://a.md", "note://b.md"]);
    assert!(Arc::ptr_eq(&both, &list(&service)));
    house.workspace.remove("a.md").unwrap();
    assert_eq!(uris(&list(&service)), ["note://b.md"]);
    house.lists("names(data(\"names\").all)");
    service.reload();
    let fixed = list(&service);
    assert_eq!(uris(&fixed), ["note://x", "note://y"]);
    house.workspace.write("c.md", b"three").unwrap();
    assert!(Arc::ptr_eq(&fixed, &list(&service)), "it looks at no graph");
}
