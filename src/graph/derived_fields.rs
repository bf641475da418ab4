//! Derived fields and values: their declarations, their results in a snapshot, and the cache of results that outlive
//! the snapshot.

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::value::{Text, Value};
use rustc_hash::FxHashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// `derive_fields(kind, [fields], "function")`: fields of one kind that one function computes together.
pub(super) struct DerivedFields {
    pub(super) kind: Text,
    pub(super) fields: Arc<[Text]>,
    pub(super) function: Text,
    pub(super) reads: Option<Arc<DeclaredReads>>,
    pub(super) results: OnceLock<Box<[ResultSlot]>>,
    /// The inputs that all of its values share in this snapshot.
    pub basis: OnceLock<DerivedBasis>,
    /// The kinds whose nodes are all inputs for a reader of any of its fields.
    pub needs: OnceLock<Vec<Text>>,
}

/// The values of a node's derived fields. Two threads may compute them at once; the first result is kept.
pub(super) type ResultSlot = OnceLock<Arc<[Value]>>;

impl DerivedFields {
    pub fn new(kind: Text, fields: Arc<[Text]>, function: Text, reads: Option<Arc<DeclaredReads>>) -> Self {
        Self { kind, fields, function, reads, results: OnceLock::new(), basis: OnceLock::new(), needs: OnceLock::new() }
    }

    /// A copy without results, for another snapshot.
    pub fn without_results(&self) -> Self {
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

    /// What it may read besides its own node; `None` if it may read the whole graph.
    pub fn reads(&self) -> Option<&DeclaredReads> {
        self.reads.as_deref()
    }
}

/// What a derived field declares with `reads: ["section", "annotation by section"]`.
pub(super) struct DeclaredReads {
    /// The kinds that are read in full.
    pub(super) all: Vec<Text>,
    /// The kinds that are read in part, each with the field that selects the nodes: those whose field equals the field
    /// of that name of the node itself, or its id if it has no such field. `parent` selects the children of the node.
    pub(super) some: Vec<(Text, Text)>,
}

impl DeclaredReads {
    /// Parses names of kinds: `"kind"`, or `"kind by field"`.
    ///
    /// # Errors
    /// A name is malformed or appears twice.
    pub fn parse(names: &[String]) -> Result<Self> {
        let (mut all, mut some): (Vec<Text>, Vec<(Text, Text)>) = Default::default();
        for name in names {
            let (kind, field) =
                name.split_once(" by ").map_or((name.trim(), None), |(kind, by)| (kind.trim(), Some(by)));
            let twice = all.iter().chain(some.iter().map(|(kind, _)| kind)).any(|known| **known == *kind);
            if kind.is_empty() || kind.contains(' ') || twice {
                let error = Diagnostic::new(Code::ARGUMENTS, format!("`reads` cannot take `{name}`"));
                return Err(error.help("name each kind once: \"section\", or \"annotation by section\""));
            }
            match field {
                None => all.push(kind.into()),
                Some(field) => some.push((kind.into(), field.trim().into())),
            }
        }
        Ok(Self { all, some })
    }

    /// Whether this kind is declared.
    pub fn names(&self, kind: &str) -> bool {
        self.kinds().any(|known| **known == *kind)
    }

    pub(super) fn kinds(&self) -> impl Iterator<Item = &Text> {
        self.all.iter().chain(self.some.iter().map(|(kind, _)| kind))
    }
}

/// The inputs that all derived values of a group share in one snapshot.
pub(super) struct DerivedBasis {
    pub(super) fingerprint: [u8; 32],
    /// The kinds whose nodes are all inputs: they are read in full, or a value that is read depends on them.
    pub(super) kinds: Vec<u16>,
    /// The names of these kinds, sorted, including those without nodes.
    pub(super) names: Vec<Text>,
    /// The kinds that are read in part, and the field that selects their nodes.
    pub(super) some: Vec<(u16, Text)>,
    /// What a node sees if no kind is read in part.
    pub(super) unrelated: Arc<[VisibleNodes]>,
}

impl DerivedBasis {
    /// Whether all nodes of this kind are inputs.
    pub fn includes(&self, kind: &Text) -> bool {
        self.names.binary_search(kind).is_ok()
    }
}

/// The nodes of one kind that are visible to a derived field.
pub(super) struct VisibleNodes {
    pub kind: u16,
    /// Its nodes, in the order of insertion.
    pub nodes: Arc<[u32]>,
}

/// `derive_values([names], "function")`: values that one function computes together.
pub(super) struct DerivedValues {
    pub(super) names: Arc<[Text]>,
    pub(super) function: Text,
    pub(super) made: OnceLock<Box<[StoredResult]>>,
}

/// A computed value of the graph. Nodes and edges are stored as numbers, so that the snapshot does not hold a reference
/// to itself.
pub(super) enum StoredResult {
    Plain(Value),
    Nodes(Arc<[u32]>),
    Edges(Arc<[u32]>),
}

impl DerivedValues {
    pub fn new(names: Arc<[Text]>, function: Text) -> Self {
        Self { names, function, made: OnceLock::new() }
    }

    /// A copy without results, for another snapshot.
    pub fn without_results(&self) -> Self {
        Self::new(Arc::clone(&self.names), self.function.clone())
    }

    pub fn names(&self) -> &[Text] {
        &self.names
    }
}

/// The hash of the inputs of a derived value.
pub(super) type CacheKey = u128;

/// The cache of a store's derived values. These are texts, numbers, spans and documents, but never nodes.
#[derive(Default)]
pub(super) struct DerivedCache(Mutex<CacheState>);

#[derive(Default)]
struct CacheState {
    /// The number of builds so far.
    generation: u64,
    values: FxHashMap<CacheKey, CacheEntry>,
}

struct CacheEntry {
    values: Arc<[Value]>,
    /// The generation in which the entry was last used.
    used: u64,
}

/// The cache of a store, and the hash of the inputs that all its values share: scripts, entry and configuration.
#[derive(Clone)]
pub(super) struct CacheScope {
    pub cache: Arc<DerivedCache>,
    pub inputs: [u8; 32],
}

impl DerivedCache {
    /// The cached values with this key.
    pub fn get(&self, cache_key: CacheKey) -> Option<Arc<[Value]>> {
        let mut state = self.lock();
        let generation = state.generation;
        let entry = state.values.get_mut(&cache_key)?;
        entry.used = generation;
        Some(Arc::clone(&entry.values))
    }

    pub fn put(&self, cache_key: CacheKey, values: &Arc<[Value]>) {
        let mut state = self.lock();
        let entry = CacheEntry { values: Arc::clone(values), used: state.generation };
        state.values.insert(cache_key, entry);
    }

    /// Ends a generation after a build whose graph has `live` values. If the cache holds more than twice as many, it
    /// drops the values that were not used since the previous build.
    pub fn age(&self, live: usize) {
        let mut state = self.lock();
        if state.values.len() > 2 * live {
            let generation = state.generation;
            state.values.retain(|_, entry| entry.used >= generation);
        }
        state.generation += 1;
    }

    /// Drops all values.
    pub fn clear(&self) {
        self.lock().values.clear();
    }

    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.lock().values.len()
    }

    fn lock(&self) -> MutexGuard<'_, CacheState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
