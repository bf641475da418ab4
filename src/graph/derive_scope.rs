//! The derived fields that are being computed on this thread, and the nodes that they may see.

use super::derived_fields::VisibleNodes;
use super::snapshot::Graph;
use crate::diagnostic::{Code, Diagnostic, Result};
use std::cell::{Cell, RefCell};
use std::sync::Arc;

/// A derived field of a node whose function is running.
#[derive(Clone)]
pub(super) struct ActiveDerivation {
    /// The address of the snapshot, because a function may build a graph of its own.
    graph: usize,
    pub group: u32,
    pub node: u32,
    /// The visible nodes of the kinds that it reads in part; `None` while they are being looked up.
    pub related: Option<Arc<[VisibleNodes]>>,
}

/// The derived fields that are being computed on a thread, outermost first.
#[derive(Clone, Default)]
pub(super) struct DerivationStack(Vec<ActiveDerivation>);

thread_local! {
    static PROGRESS: RefCell<DerivationStack> = RefCell::default();
}

impl ActiveDerivation {
    pub fn new(graph: &Graph, group: u32, node: u32) -> Self {
        Self { graph: address(graph), group, node, related: None }
    }
}

impl DerivationStack {
    pub fn current() -> Self {
        PROGRESS.with(|progress| progress.borrow().clone())
    }

    /// Runs `act` with this stack as the thread's stack, and then restores the previous one.
    pub fn run_within<T>(self, act: impl FnOnce() -> T) -> T {
        struct RestoreStack(DerivationStack);
        impl Drop for RestoreStack {
            fn drop(&mut self) {
                PROGRESS.with(|progress| progress.borrow_mut().0 = std::mem::take(&mut self.0.0));
            }
        }
        let _restore = RestoreStack(PROGRESS.with(|progress| std::mem::replace(&mut *progress.borrow_mut(), self)));
        act()
    }

    /// Pushes `doing` as the innermost derivation.
    #[must_use]
    pub fn with(mut self, doing: ActiveDerivation) -> Self {
        self.0.push(doing);
        self
    }

    /// The depth of nesting.
    pub fn depth(&self) -> usize {
        self.0.len()
    }

    /// The groups and nodes from the first entry that has this group and one of these nodes to the innermost one;
    /// `None` if there is no such entry.
    pub fn chain_from(&self, graph: &Graph, group: u32, is_one: impl Fn(u32) -> bool) -> Option<Vec<(u32, u32)>> {
        let graph = address(graph);
        let at = self.0.iter().position(|doing| doing.graph == graph && doing.group == group && is_one(doing.node))?;
        Some(self.0[at..].iter().filter(|doing| doing.graph == graph).map(|doing| (doing.group, doing.node)).collect())
    }
}

fn address(graph: &Graph) -> usize {
    std::ptr::from_ref(graph) as usize
}

/// Whether a derived function with `reads` is running on this thread. Anything else that it read would be a hidden
/// input.
pub fn has_limited_reads() -> bool {
    LIMITED.get() > 0
}

thread_local! {
    static LIMITED: Cell<usize> = const { Cell::new(0) };
}

/// Marks, until it is dropped, that a function with `reads` is running on this thread.
pub(super) struct LimitedReads(());

impl LimitedReads {
    pub fn begin() -> Self {
        LIMITED.set(LIMITED.get() + 1);
        Self(())
    }
}

impl Drop for LimitedReads {
    fn drop(&mut self) {
        LIMITED.set(LIMITED.get() - 1);
    }
}

impl Graph {
    /// Calls `look` with the innermost derived field of this snapshot and its visible nodes, if that field has `reads`.
    fn with_visibility<T>(&self, look: impl FnOnce(&ActiveDerivation, &[VisibleNodes]) -> T) -> Option<T> {
        PROGRESS.with(|progress| {
            let progress = progress.borrow();
            let here = address(self);
            let doing = progress.0.iter().rev().find(|doing| doing.graph == here)?;
            Some(look(doing, doing.related.as_deref()?))
        })
    }

    /// Whether the running derived field sees only what its `reads` declares.
    pub(super) fn is_partly_visible(&self) -> bool {
        self.with_visibility(|_, _| ()).is_some()
    }

    /// Requires that nodes of a kind may be read here.
    pub(super) fn permit(&self, kind: &str) -> Result<()> {
        let refused = self.with_visibility(|doing, _| {
            let group = &self.groups[doing.group as usize];
            (!group.reads().is_some_and(|reads| reads.names(kind))).then(|| group.function().clone())
        });
        match refused.flatten() {
            None => Ok(()),
            Some(function) => {
                let message =
                    format!("`{function}` reads nodes of the kind `{kind}`, which its `reads` does not declare");
                Err(Diagnostic::new(Code::SCRIPT, message)
                    .help(format!("add it where the field is derived: `reads: [.., \"{kind}\"]`")))
            }
        }
    }

    /// Requires that a node may be read here.
    pub(super) fn permit_node(&self, node: u32) -> Result<()> {
        if self.is_visible(node) {
            return Ok(());
        }
        let kind = &self.data.kinds[usize::from(self.data.kind_of[node as usize])].name;
        self.permit(kind)?;
        let message = format!("the {kind} `{}` is not among the nodes that `reads` declares", self.data.head(node).id);
        Err(Diagnostic::new(Code::SCRIPT, message).help(format!("`reads: [\"{kind}\"]` declares all of them")))
    }

    /// Whether a node is visible here.
    pub(super) fn is_visible(&self, node: u32) -> bool {
        let kind = self.data.kind_of[node as usize];
        let seen = self.with_visibility(|doing, related| {
            let some = related.iter().find(|related| related.kind == kind);
            doing.node == node
                || match some {
                    Some(related) => related.nodes.binary_search(&node).is_ok(),
                    None => self.groups[doing.group as usize]
                        .reads()
                        .is_some_and(|reads| reads.names(&self.data.kinds[usize::from(kind)].name)),
                }
        });
        seen.unwrap_or(true)
    }

    /// The nodes of a kind that are visible here; `None` if all of them are.
    pub(super) fn visible_of_kind(&self, kind: u16) -> Option<Arc<[u32]>> {
        let seen = self.with_visibility(|_, related| {
            let some = related.iter().find(|related| related.kind == kind);
            some.map(|related| Arc::clone(&related.nodes))
        });
        seen.flatten()
    }

    /// Requires that the whole graph may be read here, because `what` depends on all kinds.
    pub(super) fn permit_whole(&self, what: &str, help: &str) -> Result<()> {
        match self.with_visibility(|doing, _| self.groups[doing.group as usize].function().clone()) {
            None => Ok(()),
            Some(function) => {
                let message = format!("{what} cannot be read in `{function}`, whose `reads` limits what it sees");
                Err(Diagnostic::new(Code::SCRIPT, message).help(help))
            }
        }
    }

    /// Requires that the fields of a group depend on no more than the running derived field declares.
    pub(super) fn permit_group(&self, group: u32) -> Result<()> {
        let Some(outer) = self.with_visibility(|doing, _| doing.group) else { return Ok(()) };
        let (outer, inner) = (&self.groups[outer as usize], &self.groups[group as usize]);
        let Some(needs) = self.needed_kinds(inner) else {
            let message = format!(
                "`{}` has `reads`, but reads fields of {} that `{}` derives without `reads`",
                outer.function(),
                inner.kind(),
                inner.function()
            );
            return Err(Diagnostic::new(Code::SCRIPT, message).help("declare `reads` for both, or for neither"));
        };
        let known = outer.basis.get();
        match needs.iter().find(|kind| !known.is_some_and(|basis| basis.includes(kind))) {
            None => Ok(()),
            Some(kind) => {
                let message = format!(
                    "`{}` reads what `{}` derives from the kind `{kind}`, which its own `reads` does not declare",
                    outer.function(),
                    inner.function()
                );
                Err(Diagnostic::new(Code::SCRIPT, message)
                    .help(format!("add it where the field is derived: `reads: [.., \"{kind}\"]`")))
            }
        }
    }
}
