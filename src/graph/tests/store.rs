//! The store: always fresh, changed files only, one build at a time.

use super::*;
use crate::graph::{BuildPlan, GraphStore};
use crate::world::Workspace;
use crate::world::sealed::SealedWorld;

struct StoreFixture {
    files: Arc<FileTable>,
    functions: Arc<dyn Functions>,
    /// How often the scan function was called.
    scanned: Arc<AtomicUsize>,
    store: GraphStore,
}

impl StoreFixture {
    fn new(files: &[(&str, &str)]) -> Self {
        let scanned = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&scanned);
        let files = FileTable::with(files);
        let functions = Fake::default()
            .with("read", move |arguments| {
                counted.fetch_add(1, Ordering::Relaxed);
                read_lines(arguments)
            })
            .with("build", |arguments| {
                let Value::Handle(builder) = &arguments[0] else { panic!("a builder") };
                let Value::Handle(world) = &arguments[1] else { panic!("a world") };
                let files = world.downcast::<Walker>().unwrap().0.lock().unwrap().as_ref().unwrap().walk(&WALK)?;
                builder.downcast::<Builder>().unwrap().scan_files(&files.files, "read", &Value::Null)?;
                Ok(Value::Null)
            });
        Self { files, functions: functions.shared(), scanned, store: GraphStore::default() }
    }

    /// The script finds files through the world of the build, as `find_files` does.
    fn fresh(&self) -> Result<Arc<Graph>> {
        let world: Arc<dyn Workspace> = Arc::clone(&self.files) as _;
        let walker = Arc::new(Walker(Mutex::default()));
        self.store.fresh(&BuildPlan {
            world: &world,
            functions: &self.functions,
            entry: "build",
            config: &Value::Handle(Arc::clone(&walker) as _),
            within: &|world, run| {
                *walker.0.lock().unwrap() = Some(world);
                run()
            },
        })
    }

    fn counts(&self) -> (usize, usize) {
        (self.scanned.swap(0, Ordering::Relaxed), self.files.reads.swap(0, Ordering::Relaxed))
    }
}

const WALK: WalkOptions = WalkOptions { from: String::new(), hidden: false, ignore: false, follow: false, depth: None };

struct Walker(Mutex<Option<Arc<dyn Workspace>>>);

impl Object for Walker {
    fn kind(&self) -> crate::value::Kind {
        crate::value::Kind::Any
    }

    fn to_json(&self) -> Json {
        Json::Null
    }
}

//= docs/spec.md#freshness
//= type=test
//# Only files that changed SHOULD be read and parsed again.
#[test]
fn only_what_changed_is_read_and_parsed_again() {
    let bench = StoreFixture::new(&[("a", "node n 1"), ("b", "node n 2\nrefer 2 1 uses"), ("c", "node n 3")]);
    let first = bench.fresh().unwrap();
    assert_eq!(bench.counts(), (3, 3));
    assert!(Arc::ptr_eq(&first, &bench.fresh().unwrap()));
    assert_eq!(bench.counts().0, 0);
    bench.files.put("b", "node n 2\nnode n 4");
    let second = bench.fresh().unwrap();
    assert_eq!(bench.counts().0, 1);
    assert_eq!(keys(&second.nodes(&[])), ["1", "2", "4", "3"]);
    assert_eq!(keys(&first.nodes(&[])), ["1", "2", "3"], "a snapshot stays as it was");
    bench.files.put("a", "node n 1");
    assert_eq!(keys(&bench.fresh().unwrap().nodes(&[])), ["1", "2", "4", "3"]);
    assert_eq!(bench.counts().0, 0, "touched, but the same");
    bench.files.delete("c");
    bench.files.put("d", "node n 5");
    assert_eq!(keys(&bench.fresh().unwrap().nodes(&[])), ["1", "2", "4", "5"]);
    assert_eq!(bench.counts().0, 1);
}

#[test]
fn failed_builds_are_reported_and_retried() {
    let files = FileTable::with(&[]);
    let fails = Arc::new(std::sync::atomic::AtomicBool::new(true));
    let flag = Arc::clone(&fails);
    let functions = Fake::default()
        .with("build", move |_| match flag.load(Ordering::Relaxed) {
            true => Err(Diagnostic::new(Code::PARSE, "bad settings")),
            false => Ok(Value::Null),
        })
        .shared();
    let world: Arc<dyn Workspace> = files;
    let store = GraphStore::default();
    let build = BuildPlan {
        world: &world,
        functions: &functions,
        entry: "build",
        config: &Value::Null,
        within: &|_, run| run(),
    };
    assert_eq!(store.fresh(&build).err().unwrap().message, "bad settings");
    assert!(store.last_graph().is_none());
    fails.store(false, Ordering::Relaxed);
    assert!(store.fresh(&build).unwrap().is_empty());
}

#[test]
fn one_builds_and_the_others_wait() {
    let builds = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&builds);
    let functions = Fake::default()
        .with("build", move |_| {
            counted.fetch_add(1, Ordering::Relaxed);
            std::thread::sleep(std::time::Duration::from_millis(30));
            Ok(Value::Null)
        })
        .shared();
    let world: Arc<dyn Workspace> = FileTable::with(&[]);
    let store = GraphStore::default();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let build = BuildPlan {
                    world: &world,
                    functions: &functions,
                    entry: "build",
                    config: &Value::Null,
                    within: &|_, run| run(),
                };
                store.fresh(&build).unwrap()
            });
        }
    });
    assert_eq!(builds.load(Ordering::Relaxed), 1);
}

//= docs/spec.md#freshness
//= type=test
//# A background refresh of a graph MUST NOT delay calls, and MUST make earlier edits visible to later calls.
#[test]
fn the_current_graph_is_returned_during_a_build() {
    let (gate, waits) = std::sync::mpsc::channel::<()>();
    let waits = Mutex::new(waits);
    let builds = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&builds);
    let functions = Fake::default()
        .with("build", move |_| {
            if counted.fetch_add(1, Ordering::Relaxed) > 0 {
                waits.lock().unwrap().recv().unwrap();
            }
            Ok(Value::Null)
        })
        .shared();
    let files = FileTable::with(&[("a", "1")]);
    let world: Arc<dyn Workspace> = Arc::clone(&files) as _;
    let read = |world: Arc<SealedWorld>, run: &mut dyn FnMut() -> Result<()>| world.read("a").and_then(|_| run());
    let config = Value::Null;
    let build = || BuildPlan { world: &world, functions: &functions, entry: "build", config: &config, within: &read };
    let store = GraphStore::default();
    let first = store.latest(&build()).unwrap();
    files.put("a", "2");
    std::thread::scope(|scope| {
        let refreshing = scope.spawn(|| store.fresh(&build()).unwrap());
        while builds.load(Ordering::Relaxed) < 2 {
            std::thread::yield_now();
        }
        assert!(Arc::ptr_eq(&first, &store.latest(&build()).unwrap()));
        gate.send(()).unwrap();
        let second = refreshing.join().unwrap();
        assert!(!Arc::ptr_eq(&first, &second));
        assert!(Arc::ptr_eq(&second, &store.latest(&build()).unwrap()));
    });
}

//= docs/spec.md#scripts
//= type=test
//# A function that scans a file MUST NOT read any other file.
#[test]
fn a_scan_function_reads_nothing_else() {
    let files = FileTable::with(&[("a", "x")]);
    let seen: Arc<Mutex<Option<Arc<dyn Workspace>>>> = Arc::default();
    let inside = Arc::clone(&seen);
    let functions = Fake::default()
        .with("read", move |_| inside.lock().unwrap().as_ref().unwrap().read("a").map(|_| Value::Null))
        .with("build", |arguments| {
            arguments[0].as_object::<Builder>().unwrap().scan_files(&names(&["a"]), "read", &Value::Null)?;
            Ok(Value::Null)
        })
        .shared();
    let world: Arc<dyn Workspace> = files;
    let build = BuildPlan {
        world: &world,
        functions: &functions,
        entry: "build",
        config: &Value::Null,
        within: &|world, run| {
            *seen.lock().unwrap() = Some(world);
            run()
        },
    };
    let error = GraphStore::default().fresh(&build).err().unwrap();
    assert!(error.message.ends_with("a scan function can read only its own file"), "{error}");
}
