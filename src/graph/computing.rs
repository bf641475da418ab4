//! What is being computed on this thread, and which nodes it may therefore see.

use super::{Graph, Nodes};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::value::Value;
use std::cell::RefCell;
use std::sync::Arc;

/// A derived field of a node while its function runs.
#[derive(Clone)]
pub(super) struct Doing {
    /// The address of the snapshot: a function may make a graph of its own.
    graph: usize,
    /// The group.
    pub group: u32,
    /// The node.
    pub node: u32,
    /// What it sees of the kinds of which it reads some nodes only; none as long as these are looked for.
    pub related: Option<Arc<[Related]>>,
}

/// The nodes of one kind that a derived field reads.
pub(super) struct Related {
    /// The kind.
    pub kind: u16,
    /// Its nodes, in the order of insertion.
    pub nodes: Arc<[u32]>,
}

/// What is being computed on a thread, outermost first.
#[derive(Clone, Default)]
pub(super) struct Progress(Vec<Doing>);

thread_local! {
    static PROGRESS: RefCell<Progress> = RefCell::default();
}

impl Doing {
    pub fn new(graph: &Graph, group: u32, node: u32) -> Self {
        Self { graph: address(graph), group, node, related: None }
    }
}

impl Progress {
    pub fn current() -> Self {
        PROGRESS.with(|progress| progress.borrow().clone())
    }

    /// Runs `act` as if what is in progress here were in progress there too; then restores what was.
    pub fn within<T>(self, act: impl FnOnce() -> T) -> T {
        struct Restore(Progress);
        impl Drop for Restore {
            fn drop(&mut self) {
                PROGRESS.with(|progress| progress.borrow_mut().0 = std::mem::take(&mut self.0.0));
            }
        }
        let _restore = Restore(PROGRESS.with(|progress| std::mem::replace(&mut *progress.borrow_mut(), self)));
        act()
    }

    /// The same, and `doing` inside of it all.
    #[must_use]
    pub fn and(mut self, doing: Doing) -> Self {
        self.0.push(doing);
        self
    }

    /// How deep it is.
    pub fn depth(&self) -> usize {
        self.0.len()
    }

    /// From the first entry on that is this group and one of these nodes: group and node.
    pub fn since(&self, graph: &Graph, group: u32, is_one: impl Fn(u32) -> bool) -> Option<Vec<(u32, u32)>> {
        let graph = address(graph);
        let at = self.0.iter().position(|doing| doing.graph == graph && doing.group == group && is_one(doing.node))?;
        Some(self.0[at..].iter().filter(|doing| doing.graph == graph).map(|doing| (doing.group, doing.node)).collect())
    }
}

fn address(graph: &Graph) -> usize {
    std::ptr::from_ref(graph) as usize
}

/// Whether a derived function with `reads` runs on this thread: whatever it sees besides is a hidden input.
pub fn is_limited() -> bool {
    LIMITED.get() > 0
}

thread_local! {
    static LIMITED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// While it lives, a function with `reads` runs on this thread.
pub(super) struct Limited(());

impl Limited {
    pub fn begin() -> Self {
        LIMITED.set(LIMITED.get() + 1);
        Self(())
    }
}

impl Drop for Limited {
    fn drop(&mut self) {
        LIMITED.set(LIMITED.get() - 1);
    }
}

impl Graph {
    /// What is being computed here, and what it sees some of, if it is limited to what its `reads` names.
    fn sight<T>(&self, look: impl FnOnce(&Doing, &[Related]) -> T) -> Option<T> {
        PROGRESS.with(|progress| {
            let progress = progress.borrow();
            let here = address(self);
            let doing = progress.0.iter().rev().find(|doing| doing.graph == here)?;
            Some(look(doing, doing.related.as_deref()?))
        })
    }

    /// Whether what is computed here is limited to what its `reads` names.
    pub(super) fn is_seen_in_part(&self) -> bool {
        self.sight(|_, _| ()).is_some()
    }

    /// Faults if a kind may not be read here.
    pub(super) fn permit(&self, kind: &str) -> Result<()> {
        let refused = self.sight(|doing, _| {
            let group = &self.groups[doing.group as usize];
            (!group.reads().is_some_and(|reads| reads.names(kind))).then(|| group.function().clone())
        });
        match refused.flatten() {
            None => Ok(()),
            Some(function) => {
                let message = format!("`{function}` reads nodes of the kind `{kind}`, which its `reads` does not name");
                Err(Diagnostic::new(Code::SCRIPT, message)
                    .help(format!("add it where the field is derived: `reads: [.., \"{kind}\"]`")))
            }
        }
    }

    /// Faults if this node may not be read here.
    pub(super) fn permit_node(&self, node: u32) -> Result<()> {
        if self.sees(node) {
            return Ok(());
        }
        let kind = &self.parts.kinds[usize::from(self.parts.kind_of[node as usize])].name;
        self.permit(kind)?;
        let message = format!("the {kind} `{}` is none of those that `reads` names", self.parts.head(node).id);
        Err(Diagnostic::new(Code::SCRIPT, message).help(format!("`reads: [\"{kind}\"]` names them all")))
    }

    /// Whether a node can be seen here.
    pub(super) fn sees(&self, node: u32) -> bool {
        let kind = self.parts.kind_of[node as usize];
        let seen = self.sight(|doing, related| {
            let some = related.iter().find(|related| related.kind == kind);
            doing.node == node
                || match some {
                    Some(related) => related.nodes.binary_search(&node).is_ok(),
                    None => self.groups[doing.group as usize]
                        .reads()
                        .is_some_and(|reads| reads.names(&self.parts.kinds[usize::from(kind)].name)),
                }
        });
        seen.unwrap_or(true)
    }

    /// The nodes of a kind that can be seen here, if these are not all of them.
    pub(super) fn seen_of(&self, kind: u16) -> Option<Arc<[u32]>> {
        let seen = self.sight(|_, related| {
            let some = related.iter().find(|related| related.kind == kind);
            some.map(|related| Arc::clone(&related.nodes))
        });
        seen.flatten()
    }

    /// Faults if only some kinds may be read here: `what` is not told by them.
    pub(super) fn permit_whole(&self, what: &str, help: &str) -> Result<()> {
        match self.sight(|doing, _| self.groups[doing.group as usize].function().clone()) {
            None => Ok(()),
            Some(function) => {
                let message = format!("{what} is no part of what `reads` of `{function}` names");
                Err(Diagnostic::new(Code::SCRIPT, message).help(help))
            }
        }
    }

    /// Faults if a field of this group changes with more than what is computed here.
    pub(super) fn permit_group(&self, group: u32) -> Result<()> {
        let Some(outer) = self.sight(|doing, _| doing.group) else { return Ok(()) };
        let (outer, inner) = (&self.groups[outer as usize], &self.groups[group as usize]);
        let Some(needs) = self.needs(inner) else {
            let message = format!(
                "`{}` has `reads`, but the fields of {} that `{}` derives have none",
                outer.function(),
                inner.kind(),
                inner.function()
            );
            return Err(Diagnostic::new(Code::SCRIPT, message).help("give both of them `reads`, or neither"));
        };
        let known = outer.basis.get();
        match needs.iter().find(|kind| !known.is_some_and(|basis| basis.counts(kind))) {
            None => Ok(()),
            Some(kind) => {
                let message = format!(
                    "`{}` reads what `{}` derives from the kind `{kind}`, which its own `reads` does not name",
                    outer.function(),
                    inner.function()
                );
                Err(Diagnostic::new(Code::SCRIPT, message)
                    .help(format!("add it where the field is derived: `reads: [.., \"{kind}\"]`")))
            }
        }
    }
}

impl Nodes {
    /// The nodes given to a verb that follows edges, or leads further than the kinds that `reads` names.
    pub fn given_whole(value: &Value) -> Result<Self> {
        let nodes = Self::given(value)?;
        nodes.graph().permit_whole(
            "where edges lead",
            "it may use `parent`, `children`, `ancestors`, `nodes` and `get`; or leave `reads` out",
        )?;
        Ok(nodes)
    }
}
