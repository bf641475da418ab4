//! Fields computed from other nodes when they are first read, and kept for the snapshot.

use super::{Graph, Node, plain};
use crate::diagnostic::{Code, Diagnostic, Result, did_you_mean};
use crate::guard;
use crate::value::{Handle, Text, Value};
use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// Nodes fewer than this are computed on the thread that asks.
const FEW: usize = 64;
/// Nodes that one job computes.
const PER_JOB: usize = 16;
/// Derived fields within derived fields, at most: each is a call of a script within a call of a script.
const DEEPEST: usize = 100;

/// `derive(kind, [fields], "function")`: fields of one kind that one function computes together.
pub(super) struct Group {
    kind: Text,
    fields: Arc<[Text]>,
    function: Text,
    results: OnceLock<Box<[Slot]>>,
}

/// The values of a node's derived fields. Two threads may compute one at once; the first one stays.
type Slot = OnceLock<Box<[Value]>>;

/// What is being computed on this thread, outermost first: group and node.
#[derive(Clone, Default)]
pub(super) struct Progress(Vec<(u32, u32)>);

thread_local! {
    static PROGRESS: RefCell<Progress> = RefCell::default();
}

impl Group {
    pub fn new(kind: Text, fields: Arc<[Text]>, function: Text) -> Self {
        Self { kind, fields, function, results: OnceLock::new() }
    }

    /// The same group, without results: for another snapshot.
    pub fn renewed(&self) -> Self {
        Self::new(self.kind.clone(), Arc::clone(&self.fields), self.function.clone())
    }

    pub fn kind(&self) -> &Text {
        &self.kind
    }

    pub fn fields(&self) -> &[Text] {
        &self.fields
    }
}

impl Progress {
    /// Runs `act` as if what is in progress here were in progress there too; then restores what was.
    fn within<T>(self, act: impl FnOnce() -> T) -> T {
        struct Restore(Progress);
        impl Drop for Restore {
            fn drop(&mut self) {
                PROGRESS.with(|progress| progress.borrow_mut().0 = std::mem::take(&mut self.0.0));
            }
        }
        let _restore = Restore(PROGRESS.with(|progress| std::mem::replace(&mut *progress.borrow_mut(), self)));
        act()
    }

    fn current() -> Self {
        PROGRESS.with(|progress| progress.borrow().clone())
    }
}

impl Graph {
    /// The values of a node's derived fields.
    pub(super) fn derive(self: &Arc<Self>, group: u32, node: u32) -> Result<&[Value]> {
        let slot = self.slot(group, node);
        if let Some(values) = slot.get() {
            return Ok(values);
        }
        let mut progress = Progress::current();
        if let Some(at) = progress.0.iter().position(|entry| *entry == (group, node)) {
            return Err(self.cycle(&progress.0[at..]));
        }
        if progress.0.len() >= DEEPEST {
            let message = format!("derived fields lie {DEEPEST} deep within each other");
            return Err(Diagnostic::new(Code::LIMIT, message).help("let `walk` collect what a chain of nodes says"));
        }
        progress.0.push((group, node));
        let values = progress.within(|| self.compute(group, node))?;
        Ok(slot.get_or_init(|| values))
    }

    /// Computes the derived fields of all these nodes. The fault of the first one is told.
    pub(super) fn derive_all(self: &Arc<Self>, group: u32, nodes: impl Iterator<Item = u32>) -> Result<()> {
        let missing: Vec<u32> = nodes.filter(|node| self.slot(group, *node).get().is_none()).collect();
        let progress = Progress::current();
        if let Some(at) = progress.0.iter().position(|(of, node)| *of == group && missing.contains(node)) {
            return Err(self.cycle(&progress.0[at..]));
        }
        if missing.len() <= FEW {
            return missing.iter().try_for_each(|node| self.derive(group, *node).map(|_| ()));
        }
        let chunks: Vec<&[u32]> = missing.chunks(PER_JOB).collect();
        let faults: Vec<OnceLock<Box<Diagnostic>>> = chunks.iter().map(|_| OnceLock::new()).collect();
        let failed = AtomicBool::new(false);
        self.functions.parallel(chunks.len(), &|job| {
            let outcome = progress.clone().within(|| {
                chunks[job].iter().try_for_each(|node| {
                    if failed.load(Ordering::Relaxed) {
                        return Ok(());
                    }
                    guard::check()?;
                    self.derive(group, *node).map(|_| ())
                })
            });
            if let Err(fault) = outcome {
                failed.store(true, Ordering::Relaxed);
                let _ = faults[job].set(fault);
            }
        });
        faults.into_iter().find_map(OnceLock::into_inner).map_or(Ok(()), Err)
    }

    fn slot(&self, group: u32, node: u32) -> &Slot {
        let group = &self.groups[group as usize];
        let slots = group.results.get_or_init(|| {
            let kind = self.parts.kind_at.get(&group.kind).map(|kind| &self.parts.kinds[usize::from(*kind)]);
            (0..kind.map_or(0, |kind| kind.nodes.len())).map(|_| Slot::new()).collect()
        });
        &slots[self.parts.rank[node as usize] as usize]
    }

    fn compute(self: &Arc<Self>, group: u32, node: u32) -> Result<Box<[Value]>> {
        let group = &self.groups[group as usize];
        let graph = Value::Handle(Arc::clone(self) as Handle);
        let node = Value::handle(Node::new(Arc::clone(self), node));
        let map = match self.functions.call(&group.function, vec![graph, node])? {
            Value::Map(map) => map,
            Value::Null => Default::default(),
            other => {
                let message = format!("`{}` gives a map of fields, got {}", group.function, other.kind().name());
                return Err(Diagnostic::new(Code::SCRIPT, message));
            }
        };
        let mut values = vec![Value::Null; group.fields.len()];
        for (name, value) in map {
            let Some(place) = group.fields.iter().position(|field| *field == name) else {
                let message = format!("`{}` gives `{name}`, which `derive` does not name", group.function);
                let fault = Diagnostic::new(Code::SCRIPT, message);
                let help = did_you_mean(&name, group.fields.iter().map(|field| &**field));
                return Err(help.map_or(fault.clone(), |help| fault.help(help)));
            };
            values[place] = plain(value)?;
        }
        Ok(values.into())
    }

    fn cycle(&self, chain: &[(u32, u32)]) -> Box<Diagnostic> {
        let name = |(group, node): &(u32, u32)| {
            let group = &self.groups[*group as usize];
            let key = &self.parts.head(*node).id;
            format!("`{}` of {} `{key}`", group.function, group.kind)
        };
        let names: Vec<String> = chain.iter().chain(chain.first()).map(name).collect();
        Diagnostic::new(Code::CYCLE, format!("derived fields need each other: {}", names.join(" → ")))
            .help("a derived field must not be read, filtered or sorted by while it is computed")
    }
}
