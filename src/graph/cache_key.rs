//! The inputs of the values of a derived field: the nodes that it sees, and the hash of all inputs, which is the cache
//! key.

use super::derived_fields::{CacheKey, DeclaredReads, DerivedBasis, DerivedFields, VisibleNodes};
use super::fragment::{Fragment, NodeHead, NodeRef, OnDuplicate};
use super::nodes::FieldReader;
use super::snapshot::{Graph, NONE, ScalarKey};
use super::stored_value::hash_value;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::value::{Kind, Text, Value};
use rustc_hash::FxHashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counts the values that cannot be hashed, so that they differ in each snapshot.
static NEW: AtomicU64 = AtomicU64::new(0);

impl Graph {
    /// The readers of those fields of a group's own nodes by which related nodes are found.
    pub(super) fn own_readers(self: &Arc<Self>, group: u32) -> Result<Vec<FieldReader<'_>>> {
        Ok(self.basis(group)?.some.iter().map(|(_, field)| FieldReader::new(self, field)).collect())
    }

    /// The visible nodes of those kinds that a derived field reads in part.
    pub(super) fn visible_nodes(
        self: &Arc<Self>,
        group: u32,
        node: u32,
        own: &[FieldReader<'_>],
    ) -> Result<Arc<[VisibleNodes]>> {
        let basis = self.basis(group)?;
        if basis.some.is_empty() {
            return Ok(Arc::clone(&basis.unrelated));
        }
        let mut related = Vec::with_capacity(basis.some.len());
        for ((kind, field), own) in basis.some.iter().zip(own) {
            if &**field == "parent" {
                let held = self.data.children.items_of(node).iter().copied();
                let nodes = held.filter(|held| self.data.kind_of[*held as usize] == *kind).collect();
                related.push(VisibleNodes { kind: *kind, nodes });
                continue;
            }
            let own = if own.is_known_to(&[node]) {
                own.read(node)?.into_owned()
            } else {
                Value::Text(self.data.head(node).id.clone())
            };
            let key = ScalarKey::from_value(&own).filter(|_| !own.is_null());
            let nodes = match key {
                Some(key) => self.find_indexed(*kind, field, &key)?,
                None => Some(Arc::default()),
            };
            let Some(nodes) = nodes else {
                let name = &self.data.kinds[usize::from(*kind)].name;
                // A kind without nodes has no fields.
                if self.data.kinds[usize::from(*kind)].nodes.is_empty() {
                    related.push(VisibleNodes { kind: *kind, nodes: Arc::default() });
                    continue;
                }
                return Err(Diagnostic::new(Code::SCRIPT, format!("the kind `{name}` has no field `{field}`"))
                    .help(format!("`reads: [\"{name}\"]` reads all nodes of that kind")));
            };
            related.push(VisibleNodes { kind: *kind, nodes });
        }
        Ok(related.into())
    }

    /// The hash of the inputs of a node's derived fields.
    pub(super) fn cache_key(self: &Arc<Self>, group: u32, node: u32, related: &[VisibleNodes]) -> Result<CacheKey> {
        let basis = self.basis(group)?;
        let mut mix = KeyMixer::from_fingerprint(&basis.fingerprint);
        // A function that sorts depends on the order of insertion, so all visible nodes are hashed in that order.
        let mut seen: Vec<(u32, u8)> = vec![(node, 0)];
        for (some, tag) in related.iter().zip(1..) {
            seen.extend(some.nodes.iter().map(|node| (*node, tag)));
        }
        seen.sort_unstable();
        for (node, tag) in seen {
            mix.add(self.identity(node));
            mix.add(u128::from(tag));
            for kind in &basis.kinds {
                mix.add(u128::from(self.count_before(*kind, node)));
            }
        }
        Ok(mix.0)
    }

    /// The number of nodes of a kind before this node.
    fn count_before(&self, kind: u16, node: u32) -> u32 {
        let kind = &self.data.kinds[usize::from(kind)];
        let all = kind.before.get_or_init(|| {
            let mut nodes = kind.nodes.iter().peekable();
            let mut count = 0;
            let before = |node: usize| {
                let before = count;
                count += u32::from(nodes.next_if(|next| **next as usize == node).is_some());
                before
            };
            (0..self.data.slots.len()).map(before).collect()
        });
        all[node as usize]
    }

    fn basis(&self, group: u32) -> Result<&DerivedBasis> {
        let group = &self.groups[group as usize];
        if let Some(basis) = group.basis.get() {
            return Ok(basis);
        }
        let basis = self.compute_basis(group)?;
        Ok(group.basis.get_or_init(|| basis))
    }

    fn compute_basis(&self, group: &DerivedFields) -> Result<DerivedBasis> {
        let Some(reads) = group.reads() else {
            return Err(Diagnostic::new(Code::INTERNAL, "a derived field without `reads` is not cached"));
        };
        let names = self.all_dependencies(group.kind(), reads);
        let known = |name: &Text| self.data.kind_at.get(name).copied();
        let kinds: Vec<u16> = names.iter().filter_map(known).collect();
        let some: Vec<(u16, Text)> =
            reads.some.iter().filter_map(|(kind, field)| Some((known(kind)?, field.clone()))).collect();
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.cache_scope.as_ref().map_or([0; 32], |cache_scope| cache_scope.inputs));
        let texts = |texts: &[Text]| Value::list(texts.iter().cloned().map(Value::Text));
        let pairs = reads.some.iter().map(|(kind, field)| texts(&[kind.clone(), field.clone()]));
        let mut declared = vec![Value::Text(group.function().clone()), texts(group.fields()), texts(&reads.all)];
        declared.extend([Value::list(pairs), texts(&names)]);
        // A field that only other nodes of the kind have reads as `()`; a field that no node has is an error.
        for kind in known(group.kind()).iter().chain(some.iter().map(|(kind, _)| kind)) {
            let kind = &self.data.kinds[usize::from(*kind)];
            declared.extend([Value::Text(kind.name.clone()), texts(&kind.fields)]);
        }
        hash_value(&Value::List(declared), &mut hasher)?;
        self.hash_content(&kinds, &mut hasher);
        if let (Some(lineage), false) = (&self.lineage, kinds.is_empty()) {
            // After a change, the identities of the fragments no longer determine the nodes.
            hasher.update(&lineage.stamp.to_le_bytes());
        }
        Ok(DerivedBasis { fingerprint: *hasher.finalize().as_bytes(), kinds, names, some, unrelated: Arc::default() })
    }

    /// The kinds whose nodes are all inputs of a field, sorted by name: those that it reads in full, and those that the
    /// derived fields it may read there depend on.
    fn all_dependencies(&self, own: &Text, reads: &DeclaredReads) -> Vec<Text> {
        let mut kinds: FxHashSet<Text> = reads.all.iter().cloned().collect();
        self.add_transitive_kinds(own, reads, &mut kinds);
        sorted(kinds)
    }

    /// The kinds whose nodes are all inputs for a reader of this group's fields, whichever node it reads; `None` if the
    /// whole graph is an input.
    pub(super) fn needed_kinds<'a>(&self, group: &'a DerivedFields) -> Option<&'a [Text]> {
        let reads = group.reads()?;
        let made = || {
            let mut kinds: FxHashSet<Text> = reads.kinds().cloned().collect();
            self.add_transitive_kinds(group.kind(), reads, &mut kinds);
            sorted(kinds)
        };
        Some(group.needs.get_or_init(made))
    }

    /// Adds the kinds on which the derived fields of the read nodes depend.
    ///
    /// Fields that themselves depend on the kind `own` are excluded. A function that derives fields of that kind reads
    /// stored fields there, or names the kinds that these fields need; [`Graph::permit_group`] checks that. Otherwise
    /// two kinds that read each other, such as citations and the requirements they cover, would each need all nodes of
    /// the other.
    fn add_transitive_kinds(&self, own: &Text, reads: &DeclaredReads, kinds: &mut FxHashSet<Text>) {
        let mut open: Vec<&Text> = reads.kinds().collect();
        let mut done: FxHashSet<&Text> = FxHashSet::default();
        while let Some(kind) = open.pop() {
            if !done.insert(kind) {
                continue;
            }
            let groups = self.groups.iter().filter(|group| group.kind() == kind).filter_map(DerivedFields::reads);
            for read in groups.filter(|read| !read.names(own)) {
                kinds.extend(read.kinds().cloned());
                open.extend(read.kinds());
            }
        }
    }

    /// Hashes all nodes of these kinds, in order, by the hashes of their fragments.
    fn hash_content(&self, kinds: &[u16], hasher: &mut blake3::Hasher) {
        let mut wanted = vec![false; self.data.kinds.len()];
        kinds.iter().for_each(|kind| wanted[usize::from(*kind)] = true);
        for (fragment, first) in self.data.fragments.iter().zip(&self.data.first_shape) {
            let shapes = &self.data.shapes[*first as usize..*first as usize + fragment.tables.len()];
            if !shapes.iter().any(|shape| wanted[usize::from(shape.kind)]) {
                continue;
            }
            match &fragment.identity {
                Some(identity) => {
                    hasher.update(identity);
                }
                None => {
                    let of_kind = |head: &&NodeHead| wanted[usize::from(shapes[usize::from(head.table)].kind)];
                    for head in fragment.heads.iter().filter(of_kind) {
                        hash_head(fragment, head, hasher);
                    }
                }
            }
        }
        for kind in kinds {
            for node in &*self.data.kinds[usize::from(*kind)].nodes {
                if !self.is_parent_fixed(*node) {
                    hasher.update(&self.data.rank[*node as usize].to_le_bytes());
                    self.hash_parent(*node, hasher);
                }
            }
        }
    }

    /// The hash of a node: of its fragment and its position there, or of its fields; and of its parent.
    fn identity(&self, node: u32) -> CacheKey {
        let number = self.data.kind_of[node as usize];
        let kind = &self.data.kinds[usize::from(number)];
        let all = kind.identities.get_or_init(|| {
            let merged: FxHashSet<u32> = self.data.merged.keys().map(|(node, _)| *node).collect();
            let make = |node: u32| self.make_identity(node, merged.contains(&node), kind.fields.len());
            self.inherited_identities(number, make)
                .unwrap_or_else(|| kind.nodes.iter().map(|node| make(*node)).collect())
        });
        all[self.data.rank[node as usize] as usize]
    }

    fn make_identity(&self, node: u32, merged: bool, fields: usize) -> CacheKey {
        let slot = self.data.slots[node as usize];
        let fragment = &self.data.fragments[slot.fragment as usize];
        if let (Some(identity), false, true) = (&fragment.identity, merged, self.is_parent_fixed(node)) {
            let mut short = [0; 16];
            short.copy_from_slice(&identity[..16]);
            return u128::from_le_bytes(short).wrapping_add(u128::from(slot.head));
        }
        let mut hasher = blake3::Hasher::new();
        match &fragment.identity {
            Some(identity) => {
                hasher.update(identity).update(&slot.head.to_le_bytes());
            }
            None => hash_head(fragment, &fragment.heads[slot.head as usize], &mut hasher),
        }
        for field in (0..fields).filter_map(|field| u16::try_from(field).ok()).filter(|_| merged) {
            if let Some(value) = self.data.merged.get(&(node, field)) {
                hasher.update(&field.to_le_bytes());
                hash_stored(value, &mut hasher);
            }
        }
        self.hash_parent(node, &mut hasher);
        short(&hasher)
    }

    /// Whether the fragment alone determines the parent of the node.
    fn is_parent_fixed(&self, node: u32) -> bool {
        match &self.data.head(node).parent {
            Some(NodeRef::Local(_)) => true,
            Some(NodeRef::Id { .. }) => false,
            None => self.data.parents[node as usize] == NONE,
        }
    }

    fn hash_parent(&self, node: u32, hasher: &mut blake3::Hasher) {
        let mut put = |text: &str| {
            hasher.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
        };
        match self.data.parents[node as usize] {
            NONE => put(""),
            parent => {
                put(&self.data.kinds[usize::from(self.data.kind_of[parent as usize])].name);
                put(&self.data.head(parent).id);
            }
        }
    }
}

fn sorted(kinds: FxHashSet<Text>) -> Vec<Text> {
    let mut kinds: Vec<Text> = kinds.into_iter().collect();
    kinds.sort_unstable();
    kinds
}

/// A fast hash of hashes. Its input is already evenly distributed, so a few steps are enough.
struct KeyMixer(u128);

impl KeyMixer {
    fn from_fingerprint(fingerprint: &[u8; 32]) -> Self {
        let mut mix = Self(0);
        for half in fingerprint.as_chunks::<16>().0 {
            mix.add(u128::from_le_bytes(*half));
        }
        mix
    }

    /// Adds a part. Multiplying by an odd number and folding the upper bits into the lower ones are both bijective, so
    /// different inputs stay different.
    fn add(&mut self, part: u128) {
        const ODD: u128 = 0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835;
        let mixed = (self.0.rotate_left(29) ^ part).wrapping_mul(ODD);
        self.0 = mixed ^ (mixed >> 67);
    }
}

fn short(hasher: &blake3::Hasher) -> CacheKey {
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
    CacheKey::from_le_bytes(bytes)
}

/// Hashes a node that `build` added itself.
fn hash_head(fragment: &Fragment, head: &NodeHead, hasher: &mut blake3::Hasher) {
    let table = &fragment.tables[usize::from(head.table)];
    hash_stored(&Value::Text(table.kind.clone()), hasher);
    hash_stored(&Value::Text(head.id.clone()), hasher);
    match head.how {
        OnDuplicate::Reject => hasher.update(&[0]),
        OnDuplicate::KeepFirst => hasher.update(&[1]),
        OnDuplicate::Replace => hasher.update(&[4]),
        OnDuplicate::Merge(maxima) => {
            hasher.update(&[2]);
            for (field, order) in &*fragment.maxima[maxima as usize] {
                hash_stored(&Value::Text(field.clone()), hasher);
                hash_stored(&Value::List(order.clone()), hasher);
            }
            hasher.update(&[3])
        }
    };
    for (name, column) in table.fields.iter().zip(&table.columns) {
        let value = &column[head.row as usize];
        if !value.is_null() {
            hash_stored(&Value::Text(name.clone()), hasher);
            hash_stored(value, hasher);
        }
    }
}

/// Hashes a value. A value that JSON does not represent completely gets a new hash each time.
fn hash_stored(value: &Value, hasher: &mut blake3::Hasher) {
    if !is_shown_by_json(value) || hash_value(value, hasher).is_err() {
        hasher.update(&[255]).update(&NEW.fetch_add(1, Ordering::Relaxed).to_le_bytes());
    }
}

fn is_shown_by_json(value: &Value) -> bool {
    match value {
        Value::List(items) => items.iter().all(is_shown_by_json),
        Value::Map(map) => map.values().all(is_shown_by_json),
        Value::Handle(handle) => matches!(handle.kind(), Kind::Span | Kind::Spans | Kind::Set | Kind::Bytes),
        Value::Function(_) => false,
        _ => true,
    }
}
