//! Fields computed from other nodes when they are first read, and kept for the snapshot, or for longer.

use super::{Basis, Doing, Graph, Kept, Limited, Node, Premise, Progress, Reader, Reads, Related, plain};
use crate::diagnostic::{Code, Diagnostic, Result, did_you_mean};
use crate::guard;
use crate::value::{Handle, Text, Value};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// Nodes fewer than this are computed on the thread that asks. Tests have few nodes, and go both ways.
const FEW: usize = if cfg!(test) { 2 } else { 64 };
/// Nodes that one job computes.
const PER_JOB: usize = 16;
/// Nodes for which one job looks up what was kept: fewer are not worth another thread.
const PER_RECALL: usize = if cfg!(test) { 3 } else { 1024 };
/// Derived fields within derived fields, at most: each is a call of a script within a call of a script.
const DEEPEST: usize = 100;

/// `derive(kind, [fields], "function")`: fields of one kind that one function computes together.
pub(super) struct Group {
    kind: Text,
    fields: Arc<[Text]>,
    function: Text,
    reads: Option<Arc<Reads>>,
    results: OnceLock<Box<[Slot]>>,
    /// What all of its values are made of in this snapshot.
    pub basis: OnceLock<Basis>,
    /// The kinds of which all nodes count for those who read its fields of some node.
    pub needs: OnceLock<Vec<Text>>,
}

/// The values of a node's derived fields. Two threads may compute one at once; the first one stays.
type Slot = OnceLock<Arc<[Value]>>;

impl Group {
    pub fn new(kind: Text, fields: Arc<[Text]>, function: Text, reads: Option<Arc<Reads>>) -> Self {
        Self { kind, fields, function, reads, results: OnceLock::new(), basis: OnceLock::new(), needs: OnceLock::new() }
    }

    /// The same group, without results: for another snapshot.
    pub fn renewed(&self) -> Self {
        Self::new(self.kind.clone(), Arc::clone(&self.fields), self.function.clone(), self.reads.clone())
    }

    pub fn kind(&self) -> &Text {
        &self.kind
    }

    pub fn fields(&self) -> &[Text] {
        &self.fields
    }

    pub fn function(&self) -> &Text {
        &self.function
    }

    /// What it may read besides its own node; all of the graph if nothing was said.
    pub fn reads(&self) -> Option<&Reads> {
        self.reads.as_deref()
    }
}

impl Graph {
    /// The values of a node's derived fields.
    pub(super) fn derive(self: &Arc<Self>, group: u32, node: u32) -> Result<&[Value]> {
        self.permit_group(group)?;
        let slot = self.slot(group, node);
        if let Some(values) = slot.get() {
            return Ok(values);
        }
        let progress = Progress::current();
        if let Some(chain) = progress.since(self, group, |other| other == node) {
            return Err(self.cycle(&chain));
        }
        if progress.depth() >= DEEPEST {
            let message = format!("derived fields lie {DEEPEST} deep within each other");
            return Err(Diagnostic::new(Code::LIMIT, message).help("let `walk` collect what a chain of nodes says"));
        }
        let mut doing = Doing::new(self, group, node);
        let mut premise = None;
        if self.groups[group as usize].reads.is_some() {
            let look = || self.made_of(group, node, &self.own_readers(group)?);
            let (related, made_of) = progress.clone().and(doing.clone()).within(look)?;
            if let Some(values) = self.keeping.as_ref().and_then(|keeping| keeping.kept.get(made_of)) {
                return Ok(slot.get_or_init(|| values));
            }
            doing.related = Some(related);
            premise = Some(made_of);
        }
        let values = progress.and(doing).within(|| self.compute(group, node))?;
        let values = slot.get_or_init(|| values.into());
        if let (Some(keeping), Some(premise)) = (&self.keeping, premise) {
            keeping.kept.put(premise, values);
        }
        Ok(values)
    }

    /// What a node's derived fields are made of: the nodes that they see some of, and the hash of it all.
    fn made_of(self: &Arc<Self>, group: u32, node: u32, own: &[Reader<'_>]) -> Result<(Arc<[Related]>, Premise)> {
        let related = self.related(group, node, own)?;
        let premise = self.premise(group, node, &related)?;
        Ok((related, premise))
    }

    /// Computes the derived fields of all these nodes. The fault of the first one is told.
    pub(super) fn derive_all(self: &Arc<Self>, group: u32, nodes: impl Iterator<Item = u32>) -> Result<()> {
        self.permit_group(group)?;
        let mut missing: Vec<u32> = nodes.filter(|node| self.slot(group, *node).get().is_none()).collect();
        let progress = Progress::current();
        if let Some(chain) = progress.since(self, group, |node| missing.contains(&node)) {
            return Err(self.cycle(&chain));
        }
        if missing.len() > FEW {
            self.recall(group, &mut missing, &progress)?;
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

    /// Leaves only those of the missing nodes whose values were not kept: after an edit they are few, and asking
    /// costs less than another thread.
    fn recall(self: &Arc<Self>, group: u32, missing: &mut Vec<u32>, progress: &Progress) -> Result<()> {
        let (Some(keeping), Some(_)) = (&self.keeping, &self.groups[group as usize].reads) else { return Ok(()) };
        let look = |nodes: &[u32]| {
            let Some(first) = nodes.first().copied() else { return Ok(Vec::new()) };
            let doing = Doing::new(self, group, first);
            progress.clone().and(doing).within(|| self.recall_part(group, nodes, &keeping.kept))
        };
        // What all of them have in common, such as an index, is made for the first one, not on several threads at once.
        let (first, rest) = missing.split_at(missing.len().min(1));
        let mut left = look(first)?;
        let parts: Vec<&[u32]> = rest.chunks(PER_RECALL).collect();
        let found: Vec<OnceLock<Result<Vec<u32>>>> = parts.iter().map(|_| OnceLock::new()).collect();
        self.functions.parallel(parts.len(), &|job| _ = found[job].set(look(parts[job])));
        for found in found.into_iter().filter_map(OnceLock::into_inner) {
            left.extend(found?);
        }
        *missing = left;
        Ok(())
    }

    fn recall_part(self: &Arc<Self>, group: u32, nodes: &[u32], kept: &Kept) -> Result<Vec<u32>> {
        let own = self.own_readers(group)?;
        let mut left = Vec::new();
        for nodes in nodes.chunks(256) {
            guard::check()?;
            for node in nodes {
                match kept.get(self.made_of(group, *node, &own)?.1) {
                    Some(values) => _ = self.slot(group, *node).set(values),
                    None => left.push(*node),
                }
            }
        }
        Ok(left)
    }

    fn slot(&self, group: u32, node: u32) -> &Slot {
        let group = &self.groups[group as usize];
        let slots = group.results.get_or_init(|| {
            let kind = self.parts.kind_at.get(&group.kind).map(|kind| &self.parts.kinds[usize::from(*kind)]);
            (0..kind.map_or(0, |kind| kind.nodes.len())).map(|_| Slot::new()).collect()
        });
        &slots[self.parts.rank[node as usize] as usize]
    }

    fn compute(self: &Arc<Self>, group: u32, node: u32) -> Result<Vec<Value>> {
        let group = &self.groups[group as usize];
        let _limited = group.reads.as_ref().map(|_| Limited::begin());
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
        //= docs/spec.md#scripts
        //# What a stopped call computed MUST NOT be kept.
        guard::check()?;
        Ok(values)
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
