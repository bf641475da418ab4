//! Computes derived fields and values when they are first read. Results are kept with the snapshot, or longer in the
//! cache.

use super::derive_scope::{ActiveDerivation, DerivationStack, LimitedReads};
use super::derived_fields::{CacheKey, DerivedCache, DerivedValues, ResultSlot, StoredResult, VisibleNodes};
use super::edges::Edges;
use super::nodes::{FieldReader, Node, Nodes};
use super::snapshot::Graph;
use super::stored_value::to_stored;
use crate::diagnostic::{Code, Diagnostic, Result, did_you_mean};
use crate::guard;
use crate::value::{Handle, Text, Value};
use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// Up to this many nodes are computed on the calling thread. Tests have few nodes, so the limit is lower there and both
/// cases are covered.
const MAX_SERIAL_NODES: usize = if cfg!(test) { 2 } else { 64 };

/// The number of nodes that one job computes.
const NODES_PER_JOB: usize = 16;

/// The number of nodes that one job looks up in the cache. Fewer are not worth another thread.
const LOOKUPS_PER_JOB: usize = if cfg!(test) { 3 } else { 1024 };

/// The deepest nesting of derived fields. Each level is a script call within a script call.
const MAX_DERIVATION_DEPTH: usize = 100;

impl Graph {
    /// The values of a node's derived fields.
    pub(super) fn derive(self: &Arc<Self>, group: u32, node: u32) -> Result<&[Value]> {
        self.permit_group(group)?;
        let slot = self.result_slot(group, node);
        if let Some(values) = slot.get() {
            return Ok(values);
        }
        let progress = DerivationStack::current();
        if let Some(chain) = progress.chain_from(self, group, |other| other == node) {
            return Err(self.cycle_error(&chain));
        }
        if progress.depth() >= MAX_DERIVATION_DEPTH {
            let message = format!("derived fields are nested more than {MAX_DERIVATION_DEPTH} levels deep");
            return Err(
                Diagnostic::new(Code::LIMIT, message).help("collect the values of a chain of nodes with `walk`")
            );
        }
        let mut doing = ActiveDerivation::new(self, group, node);
        let mut cache_key = None;
        if self.groups[group as usize].reads.is_some() {
            let look = || self.inputs_of(group, node, &self.own_readers(group)?);
            let (related, key) = progress.clone().with(doing.clone()).run_within(look)?;
            if let Some(values) = self.cache_scope.as_ref().and_then(|cache_scope| cache_scope.cache.get(key)) {
                return Ok(slot.get_or_init(|| values));
            }
            doing.related = Some(related);
            cache_key = Some(key);
        }
        let values = progress.with(doing).run_within(|| self.compute(group, node))?;
        let values = slot.get_or_init(|| values.into());
        if let (Some(cache_scope), Some(cache_key)) = (&self.cache_scope, cache_key) {
            cache_scope.cache.put(cache_key, values);
        }
        Ok(values)
    }

    /// The inputs of a node's derived fields: the visible nodes of the kinds that they read in part, and the hash of
    /// all inputs.
    fn inputs_of(
        self: &Arc<Self>,
        group: u32,
        node: u32,
        own: &[FieldReader<'_>],
    ) -> Result<(Arc<[VisibleNodes]>, CacheKey)> {
        let related = self.visible_nodes(group, node, own)?;
        let cache_key = self.cache_key(group, node, &related)?;
        Ok((related, cache_key))
    }

    /// Computes the derived fields of all these nodes.
    ///
    /// # Errors
    /// The error of the first node that fails.
    pub(super) fn derive_all(self: &Arc<Self>, group: u32, nodes: impl Iterator<Item = u32>) -> Result<()> {
        self.permit_group(group)?;
        let mut missing: Vec<u32> = nodes.filter(|node| self.result_slot(group, *node).get().is_none()).collect();
        let progress = DerivationStack::current();
        if let Some(chain) = progress.chain_from(self, group, |node| missing.contains(&node)) {
            return Err(self.cycle_error(&chain));
        }
        if missing.len() > MAX_SERIAL_NODES {
            self.fill_from_cache(group, &mut missing, &progress)?;
        }
        if missing.len() <= MAX_SERIAL_NODES {
            return missing.iter().try_for_each(|node| self.derive(group, *node).map(|_| ()));
        }
        let chunks: Vec<&[u32]> = missing.chunks(NODES_PER_JOB).collect();
        let errors: Vec<OnceLock<Box<Diagnostic>>> = chunks.iter().map(|_| OnceLock::new()).collect();
        let failed = AtomicBool::new(false);
        self.functions.parallel(chunks.len(), &|job| {
            let outcome = progress.clone().run_within(|| {
                chunks[job].iter().try_for_each(|node| {
                    if failed.load(Ordering::Relaxed) {
                        return Ok(());
                    }
                    guard::check()?;
                    self.derive(group, *node).map(|_| ())
                })
            });
            if let Err(error) = outcome {
                failed.store(true, Ordering::Relaxed);
                let _ = errors[job].set(error);
            }
        });
        errors.into_iter().find_map(OnceLock::into_inner).map_or(Ok(()), Err)
    }

    /// Fills in the results of nodes whose values are cached, and removes these nodes from `missing`. After an edit
    /// only few nodes are missing, and a lookup costs less than starting another thread.
    fn fill_from_cache(self: &Arc<Self>, group: u32, missing: &mut Vec<u32>, progress: &DerivationStack) -> Result<()> {
        let (Some(cache_scope), Some(_)) = (&self.cache_scope, &self.groups[group as usize].reads) else {
            return Ok(());
        };
        let look = |nodes: &[u32]| {
            let Some(first) = nodes.first().copied() else { return Ok(Vec::new()) };
            let doing = ActiveDerivation::new(self, group, first);
            progress.clone().with(doing).run_within(|| self.fill_chunk_from_cache(group, nodes, &cache_scope.cache))
        };
        // The first node alone builds what all nodes share, such as an index, so that several threads do not build it
        // at once.
        let (first, rest) = missing.split_at(missing.len().min(1));
        let mut left = look(first)?;
        let parts: Vec<&[u32]> = rest.chunks(LOOKUPS_PER_JOB).collect();
        let found: Vec<OnceLock<Result<Vec<u32>>>> = parts.iter().map(|_| OnceLock::new()).collect();
        self.functions.parallel(parts.len(), &|job| _ = found[job].set(look(parts[job])));
        for found in found.into_iter().filter_map(OnceLock::into_inner) {
            left.extend(found?);
        }
        *missing = left;
        Ok(())
    }

    fn fill_chunk_from_cache(self: &Arc<Self>, group: u32, nodes: &[u32], kept: &DerivedCache) -> Result<Vec<u32>> {
        let own = self.own_readers(group)?;
        let mut left = Vec::new();
        for nodes in nodes.chunks(256) {
            guard::check()?;
            for node in nodes {
                match kept.get(self.inputs_of(group, *node, &own)?.1) {
                    Some(values) => _ = self.result_slot(group, *node).set(values),
                    None => left.push(*node),
                }
            }
        }
        Ok(left)
    }

    fn result_slot(&self, group: u32, node: u32) -> &ResultSlot {
        let group = &self.groups[group as usize];
        let slots = group.results.get_or_init(|| {
            let kind = self.data.kind_at.get(&group.kind).map(|kind| &self.data.kinds[usize::from(*kind)]);
            (0..kind.map_or(0, |kind| kind.nodes.len())).map(|_| ResultSlot::new()).collect()
        });
        &slots[self.data.rank[node as usize] as usize]
    }

    fn compute(self: &Arc<Self>, group: u32, node: u32) -> Result<Vec<Value>> {
        let group = &self.groups[group as usize];
        let _limited = group.reads.as_ref().map(|_| LimitedReads::begin());
        let graph = Value::Handle(Arc::clone(self) as Handle);
        let node = Value::handle(Node::new(Arc::clone(self), node));
        let map = match self.functions.call(&group.function, vec![graph, node])? {
            Value::Map(map) => map,
            Value::Null => Default::default(),
            other => {
                let message = format!("`{}` must return a map of fields, got {}", group.function, other.kind().name());
                return Err(Diagnostic::new(Code::SCRIPT, message));
            }
        };
        let mut values = vec![Value::Null; group.fields.len()];
        for (name, value) in map {
            let Some(place) = group.fields.iter().position(|field| *field == name) else {
                let message = format!("`{}` returned `{name}`, which `derive_fields` does not declare", group.function);
                let error = Diagnostic::new(Code::SCRIPT, message);
                let help = did_you_mean(&name, group.fields.iter().map(|field| &**field));
                return Err(help.map_or(error.clone(), |help| error.help(help)));
            };
            values[place] = to_stored(value)?;
        }
        //= docs/spec.md#calls
        //# A call that still runs after it was answered MUST NOT affect the disk, the graph, the memory of
        //# its pack or the client.
        guard::check()?;
        Ok(values)
    }

    fn cycle_error(&self, chain: &[(u32, u32)]) -> Box<Diagnostic> {
        let name = |(group, node): &(u32, u32)| {
            let group = &self.groups[*group as usize];
            let key = &self.data.head(*node).id;
            format!("`{}` of {} `{key}`", group.function, group.kind)
        };
        let names: Vec<String> = chain.iter().chain(chain.first()).map(name).collect();
        Diagnostic::new(Code::CYCLE, format!("derived fields depend on each other: {}", names.join(" → ")))
            .help("a derived field must not be read, filtered or sorted by while it is computed")
    }

    /// The derived value with this name; `None` if `derive_values` declared none.
    pub(super) fn derived_value(self: &Arc<Self>, name: &str) -> Option<Result<Value>> {
        let place = |values: &DerivedValues| values.names.iter().position(|known| **known == *name);
        let (values, place) = self.values.iter().find_map(|values| Some((values, place(values)?)))?;
        let made = match values.made.get() {
            Some(made) => made,
            None => match self.compute_values(values) {
                Ok(made) => values.made.get_or_init(|| made),
                Err(error) => return Some(Err(error)),
            },
        };
        Some(Ok(match &made[place] {
            StoredResult::Plain(value) => value.clone(),
            StoredResult::Nodes(ids) => Value::handle(Nodes::from_kept(Arc::clone(self), Arc::clone(ids))),
            StoredResult::Edges(ids) => Value::handle(Edges::from_kept(self, Arc::clone(ids))),
        }))
    }

    fn compute_values(self: &Arc<Self>, values: &DerivedValues) -> Result<Box<[StoredResult]>> {
        let own = (Arc::as_ptr(self) as usize, values.function.clone());
        if DOING.with_borrow(|doing| doing.contains(&own)) {
            let message = format!("the values that `{}` derives depend on each other", values.function);
            return Err(
                Diagnostic::new(Code::CYCLE, message).help("the function must not read the values that it computes")
            );
        }
        DOING.with_borrow_mut(|doing| doing.push(own));
        let doing = ComputingScope;
        let found = self.functions.call(&values.function, vec![Value::Handle(Arc::clone(self) as Handle)])?;
        drop(doing);
        let Value::Map(mut found) = found else {
            let message = format!("`{}` must return a map of values, got {}", values.function, found.kind().name());
            return Err(Diagnostic::new(Code::SCRIPT, message));
        };
        let mut take = |name: &Text| self.to_result(found.remove(name).unwrap_or(Value::Null));
        let made = values.names.iter().map(&mut take).collect::<Result<_>>()?;
        match found.keys().next() {
            None => Ok(made),
            Some(name) => {
                let message =
                    format!("`{}` returned `{name}`, which `derive_values` does not declare", values.function);
                let error = Diagnostic::new(Code::SCRIPT, message);
                let help = did_you_mean(name, values.names.iter().map(|name| &**name));
                Err(help.map_or(error.clone(), |help| error.help(help)))
            }
        }
    }

    fn to_result(self: &Arc<Self>, value: Value) -> Result<StoredResult> {
        if let Some(nodes) = value.as_object::<Nodes>().filter(|nodes| Arc::ptr_eq(nodes.graph(), self)) {
            return Ok(StoredResult::Nodes(nodes.ids().into()));
        }
        if let Some(edges) = value.as_object::<Edges>().filter(|edges| Arc::ptr_eq(edges.graph(), self)) {
            return Ok(StoredResult::Edges(edges.ids()));
        }
        to_stored(value).map(StoredResult::Plain)
    }
}

thread_local! {
    /// The snapshots and functions whose values are being computed on this thread.
    static DOING: RefCell<Vec<(usize, Text)>> = const { RefCell::new(Vec::new()) };
}

struct ComputingScope;

impl Drop for ComputingScope {
    fn drop(&mut self) {
        DOING.with_borrow_mut(|doing| _ = doing.pop());
    }
}
