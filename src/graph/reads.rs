//! What a derived field reads, as it is declared, and the hash of all of it.

use super::{Fragment, Graph, Group, Head, How, Key, NONE, Premise, Reader, Related, Target, fingerprint};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::value::{Kind, Text, Value};
use rustc_hash::FxHashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Numbers what has no hash: it is new in each snapshot.
static NEW: AtomicU64 = AtomicU64::new(0);

/// `reads: ["section", "annotation by section"]`.
pub(super) struct Reads {
    /// The kinds of which all nodes are read.
    all: Vec<Text>,
    /// The kinds of which those nodes are read whose field equals the field of that name of the node itself, or its
    /// id if it has no such field; by `parent`, those that lie in it.
    some: Vec<(Text, Text)>,
}

/// What all derived values of a group in one snapshot have in common.
pub(super) struct Basis {
    fingerprint: [u8; 32],
    /// The kinds of which all nodes count, because they are read, or because what is read is derived from them.
    kinds: Vec<u16>,
    /// Their names, also of those that have no nodes.
    names: Vec<Text>,
    /// The kinds of which some nodes are read, and the field that says which.
    some: Vec<(u16, Text)>,
    /// What a node sees of them if there are none.
    unrelated: Arc<[Related]>,
}

impl Reads {
    /// Reads names of kinds: `"kind"`, or `"kind by field"`.
    pub fn read(names: &[String]) -> Result<Self> {
        let (mut all, mut some): (Vec<Text>, Vec<(Text, Text)>) = Default::default();
        for name in names {
            let (kind, field) =
                name.split_once(" by ").map_or((name.trim(), None), |(kind, by)| (kind.trim(), Some(by)));
            let twice = all.iter().chain(some.iter().map(|(kind, _)| kind)).any(|known| **known == *kind);
            if kind.is_empty() || kind.contains(' ') || twice {
                let fault = Diagnostic::new(Code::ARGUMENTS, format!("`reads` cannot take `{name}`"));
                return Err(fault.help("it takes each kind once: \"section\", or \"annotation by section\""));
            }
            match field {
                None => all.push(kind.into()),
                Some(field) => some.push((kind.into(), field.trim().into())),
            }
        }
        Ok(Self { all, some })
    }

    /// Whether it names this kind.
    pub fn names(&self, kind: &str) -> bool {
        self.kinds().any(|known| **known == *kind)
    }

    fn kinds(&self) -> impl Iterator<Item = &Text> {
        self.all.iter().chain(self.some.iter().map(|(kind, _)| kind))
    }
}

impl Basis {
    /// Whether all nodes of this kind count.
    pub fn counts(&self, kind: &Text) -> bool {
        self.names.binary_search(kind).is_ok()
    }
}

impl Graph {
    /// Readers of the own fields of a group's nodes, by which the nodes are found of which it reads some.
    pub(super) fn own_readers(self: &Arc<Self>, group: u32) -> Result<Vec<Reader<'_>>> {
        Ok(self.basis(group)?.some.iter().map(|(_, field)| Reader::new(self, field)).collect())
    }

    /// The nodes that a derived field sees of the kinds of which it reads some.
    pub(super) fn related(self: &Arc<Self>, group: u32, node: u32, own: &[Reader<'_>]) -> Result<Arc<[Related]>> {
        let basis = self.basis(group)?;
        if basis.some.is_empty() {
            return Ok(Arc::clone(&basis.unrelated));
        }
        let mut related = Vec::with_capacity(basis.some.len());
        for ((kind, field), own) in basis.some.iter().zip(own) {
            if &**field == "parent" {
                let held = self.parts.children.of(node).iter().copied();
                let nodes = held.filter(|held| self.parts.kind_of[*held as usize] == *kind).collect();
                related.push(Related { kind: *kind, nodes });
                continue;
            }
            let own = if own.known_to(&[node]) {
                own.read(node)?.into_owned()
            } else {
                Value::Text(self.parts.head(node).id.clone())
            };
            let key = Key::of(&own).filter(|_| !own.is_null());
            let nodes = match key {
                Some(key) => self.indexed(*kind, field, &key)?,
                None => Some(Arc::default()),
            };
            let Some(nodes) = nodes else {
                let name = &self.parts.kinds[usize::from(*kind)].name;
                // Nodes that nobody added have no fields.
                if self.parts.kinds[usize::from(*kind)].nodes.is_empty() {
                    related.push(Related { kind: *kind, nodes: Arc::default() });
                    continue;
                }
                return Err(Diagnostic::new(Code::SCRIPT, format!("the kind `{name}` has no field `{field}`"))
                    .help(format!("`reads: [\"{name}\"]` names all of that kind")));
            };
            related.push(Related { kind: *kind, nodes });
        }
        Ok(related.into())
    }

    /// What the values of a node's derived fields are made of.
    pub(super) fn premise(self: &Arc<Self>, group: u32, node: u32, related: &[Related]) -> Result<Premise> {
        let basis = self.basis(group)?;
        let mut mix = Mix::of(&basis.fingerprint);
        // Whoever sorts sees which stands first, so all that is seen is hashed in the order of insertion.
        let mut seen: Vec<(u32, u8)> = vec![(node, 0)];
        for (some, tag) in related.iter().zip(1..) {
            seen.extend(some.nodes.iter().map(|node| (*node, tag)));
        }
        seen.sort_unstable();
        for (node, tag) in seen {
            mix.add(self.identity(node));
            mix.add(u128::from(tag));
            for kind in &basis.kinds {
                mix.add(u128::from(self.before(*kind, node)));
            }
        }
        Ok(mix.0)
    }

    /// How many nodes of a kind come before this node.
    fn before(&self, kind: u16, node: u32) -> u32 {
        let kind = &self.parts.kinds[usize::from(kind)];
        let all = kind.before.get_or_init(|| {
            let mut nodes = kind.nodes.iter().peekable();
            let mut count = 0;
            let before = |node: usize| {
                let before = count;
                count += u32::from(nodes.next_if(|next| **next as usize == node).is_some());
                before
            };
            (0..self.parts.slots.len()).map(before).collect()
        });
        all[node as usize]
    }

    fn basis(&self, group: u32) -> Result<&Basis> {
        let group = &self.groups[group as usize];
        if let Some(basis) = group.basis.get() {
            return Ok(basis);
        }
        let basis = self.make_basis(group)?;
        Ok(group.basis.get_or_init(|| basis))
    }

    fn make_basis(&self, group: &Group) -> Result<Basis> {
        let Some(reads) = group.reads() else {
            return Err(Diagnostic::new(Code::INTERNAL, "a derived field without `reads` is not kept"));
        };
        let names = self.depends_on(group.kind(), reads);
        let known = |name: &Text| self.parts.kind_at.get(name).copied();
        let kinds: Vec<u16> = names.iter().filter_map(known).collect();
        let some: Vec<(u16, Text)> =
            reads.some.iter().filter_map(|(kind, field)| Some((known(kind)?, field.clone()))).collect();
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.keeping.as_ref().map_or([0; 32], |keeping| keeping.inputs));
        let texts = |texts: &[Text]| Value::list(texts.iter().cloned().map(Value::Text));
        let pairs = reads.some.iter().map(|(kind, field)| texts(&[kind.clone(), field.clone()]));
        let mut declared = vec![Value::Text(group.function().clone()), texts(group.fields()), texts(&reads.all)];
        declared.extend([Value::list(pairs), texts(&names)]);
        // A field that some other node of the kind has is `()` here, and a fault otherwise.
        for kind in known(group.kind()).iter().chain(some.iter().map(|(kind, _)| kind)) {
            let kind = &self.parts.kinds[usize::from(*kind)];
            declared.extend([Value::Text(kind.name.clone()), texts(&kind.fields)]);
        }
        fingerprint(&Value::List(declared), &mut hasher)?;
        self.hash_content(&kinds, &mut hasher);
        if let (Some(lineage), false) = (&self.lineage, kinds.is_empty()) {
            // What a fragment made no longer tells what is there.
            hasher.update(&lineage.stamp.to_le_bytes());
        }
        Ok(Basis { fingerprint: *hasher.finalize().as_bytes(), kinds, names, some, unrelated: Arc::default() })
    }

    /// The kinds all nodes of which count for a field: those of which it reads all, and those from which the derived
    /// fields are made that it may read there. Sorted by name.
    fn depends_on(&self, own: &Text, reads: &Reads) -> Vec<Text> {
        let mut kinds: FxHashSet<Text> = reads.all.iter().cloned().collect();
        self.follow(own, reads, &mut kinds);
        sorted(kinds)
    }

    /// The kinds all nodes of which count for one who reads a field of this group of whatever node; `None` if all
    /// the graph does.
    pub(super) fn needs<'a>(&self, group: &'a Group) -> Option<&'a [Text]> {
        let reads = group.reads()?;
        let made = || {
            let mut kinds: FxHashSet<Text> = reads.kinds().cloned().collect();
            self.follow(group.kind(), reads, &mut kinds);
            sorted(kinds)
        };
        Some(group.needs.get_or_init(made))
    }

    /// Adds what the derived fields of the nodes that are read are made from.
    ///
    /// Fields that are themselves made from the kind `own` lead back: who derives fields of that kind reads what was
    /// stored there, or names the kinds that these fields need ([`Graph::permit_group`] sees to it). Otherwise two
    /// kinds that read each other, as citations and the requirements they cover, would each need all of the other.
    fn follow(&self, own: &Text, reads: &Reads, kinds: &mut FxHashSet<Text>) {
        let mut open: Vec<&Text> = reads.kinds().collect();
        let mut done: FxHashSet<&Text> = FxHashSet::default();
        while let Some(kind) = open.pop() {
            if !done.insert(kind) {
                continue;
            }
            let groups = self.groups.iter().filter(|group| group.kind() == kind).filter_map(Group::reads);
            for read in groups.filter(|read| !read.names(own)) {
                kinds.extend(read.kinds().cloned());
                open.extend(read.kinds());
            }
        }
    }

    /// Hashes all nodes of these kinds, in their order: by the fragments they are in, which know their hash.
    fn hash_content(&self, kinds: &[u16], hasher: &mut blake3::Hasher) {
        let mut wanted = vec![false; self.parts.kinds.len()];
        kinds.iter().for_each(|kind| wanted[usize::from(*kind)] = true);
        for (fragment, first) in self.parts.fragments.iter().zip(&self.parts.first_shape) {
            let shapes = &self.parts.shapes[*first as usize..*first as usize + fragment.tables.len()];
            if !shapes.iter().any(|shape| wanted[usize::from(shape.kind)]) {
                continue;
            }
            match &fragment.identity {
                Some(identity) => {
                    hasher.update(identity);
                }
                None => {
                    let of_kind = |head: &&Head| wanted[usize::from(shapes[usize::from(head.table)].kind)];
                    for head in fragment.heads.iter().filter(of_kind) {
                        hash_head(fragment, head, hasher);
                    }
                }
            }
        }
        for kind in kinds {
            for node in &*self.parts.kinds[usize::from(*kind)].nodes {
                if !self.is_parent_fixed(*node) {
                    hasher.update(&self.parts.rank[*node as usize].to_le_bytes());
                    self.hash_parent(*node, hasher);
                }
            }
        }
    }

    /// What a node is: the hash of its fragment and its place there, or of its fields; and what it lies in.
    fn identity(&self, node: u32) -> Premise {
        let number = self.parts.kind_of[node as usize];
        let kind = &self.parts.kinds[usize::from(number)];
        let all = kind.identities.get_or_init(|| {
            let merged: FxHashSet<u32> = self.parts.merged.keys().map(|(node, _)| *node).collect();
            let make = |node: u32| self.make_identity(node, merged.contains(&node), kind.fields.len());
            self.known_identities(number, make).unwrap_or_else(|| kind.nodes.iter().map(|node| make(*node)).collect())
        });
        all[self.parts.rank[node as usize] as usize]
    }

    fn make_identity(&self, node: u32, merged: bool, fields: usize) -> Premise {
        let slot = self.parts.slots[node as usize];
        let fragment = &self.parts.fragments[slot.fragment as usize];
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
            if let Some(value) = self.parts.merged.get(&(node, field)) {
                hasher.update(&field.to_le_bytes());
                hash_value(value, &mut hasher);
            }
        }
        self.hash_parent(node, &mut hasher);
        short(&hasher)
    }

    /// Whether the fragment alone says what the node lies in.
    fn is_parent_fixed(&self, node: u32) -> bool {
        match &self.parts.head(node).parent {
            Some(Target::Here(_)) => true,
            Some(Target::Id { .. }) => false,
            None => self.parts.parents[node as usize] == NONE,
        }
    }

    fn hash_parent(&self, node: u32, hasher: &mut blake3::Hasher) {
        let mut put = |text: &str| {
            hasher.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
        };
        match self.parts.parents[node as usize] {
            NONE => put(""),
            parent => {
                put(&self.parts.kinds[usize::from(self.parts.kind_of[parent as usize])].name);
                put(&self.parts.head(parent).id);
            }
        }
    }
}

fn sorted(kinds: FxHashSet<Text>) -> Vec<Text> {
    let mut kinds: Vec<Text> = kinds.into_iter().collect();
    kinds.sort_unstable();
    kinds
}

/// A hash of hashes: what goes in is spread evenly already, so that few steps keep it so.
struct Mix(u128);

impl Mix {
    fn of(fingerprint: &[u8; 32]) -> Self {
        let mut mix = Self(0);
        for half in fingerprint.as_chunks::<16>().0 {
            mix.add(u128::from_le_bytes(*half));
        }
        mix
    }

    /// Multiplying by an odd number, and adding the upper bits to the lower ones, both lose nothing: what differs
    /// once goes on differing.
    fn add(&mut self, part: u128) {
        const ODD: u128 = 0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835;
        let mixed = (self.0.rotate_left(29) ^ part).wrapping_mul(ODD);
        self.0 = mixed ^ (mixed >> 67);
    }
}

fn short(hasher: &blake3::Hasher) -> Premise {
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
    Premise::from_le_bytes(bytes)
}

/// A node that `build` added itself.
fn hash_head(fragment: &Fragment, head: &Head, hasher: &mut blake3::Hasher) {
    let table = &fragment.tables[usize::from(head.table)];
    hash_value(&Value::Text(table.kind.clone()), hasher);
    hash_value(&Value::Text(head.id.clone()), hasher);
    match head.how {
        How::New => hasher.update(&[0]),
        How::Once => hasher.update(&[1]),
        How::Last => hasher.update(&[4]),
        How::Merge(maxima) => {
            hasher.update(&[2]);
            for (field, order) in &*fragment.maxima[maxima as usize] {
                hash_value(&Value::Text(field.clone()), hasher);
                hash_value(&Value::List(order.clone()), hasher);
            }
            hasher.update(&[3])
        }
    };
    for (name, column) in table.fields.iter().zip(&table.columns) {
        let value = &column[head.row as usize];
        if !value.is_null() {
            hash_value(&Value::Text(name.clone()), hasher);
            hash_value(value, hasher);
        }
    }
}

/// Hashes a value. What does not show all of itself is another one each time.
fn hash_value(value: &Value, hasher: &mut blake3::Hasher) {
    if !is_told_by_json(value) || fingerprint(value, hasher).is_err() {
        hasher.update(&[255]).update(&NEW.fetch_add(1, Ordering::Relaxed).to_le_bytes());
    }
}

fn is_told_by_json(value: &Value) -> bool {
    match value {
        Value::List(items) => items.iter().all(is_told_by_json),
        Value::Map(map) => map.values().all(is_told_by_json),
        Value::Handle(handle) => matches!(handle.kind(), Kind::Span | Kind::Spans | Kind::Set | Kind::Bytes),
        Value::Function(_) => false,
        _ => true,
    }
}
