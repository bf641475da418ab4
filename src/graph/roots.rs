//! Which nodes hang on nothing, and which of them hold nothing.

use super::walk::Steps;
use super::{Direction, Nodes};
use crate::diagnostic::Result;
use crate::guard::each;
use std::collections::HashSet;

/// What counts as hanging together, besides containment.
pub struct Attachment<'a> {
    /// These kinds of edges lead up from a node to what it belongs to; none of them unless named.
    pub kinds: &'a [String],
    /// Kinds of nodes that do not count as something held.
    pub satellites: &'a [String],
}

impl Nodes {
    /// The nodes that lie in nothing and from which no edge of these kinds leads up.
    ///
    /// # Errors
    /// The running call was stopped.
    pub fn roots(&self, attachment: &Attachment<'_>) -> Result<Self> {
        let kinds = with_parent(attachment.kinds);
        let up = Steps::new(self.graph(), Direction::Out, Some(&kinds));
        self.which(|node| up.from(node).is_empty())
    }

    /// The roots that hold nothing either, but for satellites.
    ///
    /// # Errors
    /// The running call was stopped.
    pub fn orphans(&self, attachment: &Attachment<'_>) -> Result<Self> {
        let kinds = with_parent(attachment.kinds);
        let down = Steps::new(self.graph(), Direction::In, Some(&kinds));
        let parts = &self.graph().parts;
        let satellites: HashSet<u16> =
            attachment.satellites.iter().filter_map(|kind| parts.kind_at.get(kind.as_str()).copied()).collect();
        let holds = |node: u32| down.from(node).iter().any(|held| !satellites.contains(&parts.kind_of[*held as usize]));
        self.roots(attachment)?.which(|node| !holds(node))
    }

    fn which(&self, keep: impl Fn(u32) -> bool) -> Result<Self> {
        let mut kept = Vec::new();
        for node in each(self.ids()) {
            let node = *node?;
            if keep(node) {
                kept.push(node);
            }
        }
        Ok(self.with(kept))
    }
}

fn with_parent(kinds: &[String]) -> Vec<String> {
    kinds.iter().cloned().chain(["parent".to_owned()]).collect()
}
