//! What a pack may see of a file that a symlink led to: what its grants cover by the real name.

use super::Rules;
use super::protected::PROTECTED;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::world::EntryKind;
use crate::world::judge::Judge;

/// How a pack is granted one path more.
pub(super) fn widened(verb: &str, granted: &[String], path: &str) -> String {
    let mut list: Vec<String> = granted.iter().map(|glob| format!("{glob:?}")).collect();
    list.push(format!("{path:?}"));
    format!("allow it in `[pack]` by `grants = {{ {verb} = [{}] }}`", list.join(", "))
}

impl Rules {
    fn judged(may: bool, asked: &str) -> Result<()> {
        if may {
            return Ok(());
        }
        // Its name, and whether it is there at all, is for those to know who may read it.
        let message = format!("`{asked}` leads to a place that the pack may not read");
        Err(Diagnostic::new(Code::WORLD, message).help("a grant to read must cover what a link leads to, too"))
    }
}

//= docs/spec.md#roots
//# What a symlink leads to MUST be covered by a grant itself.
impl Judge for Rules {
    fn may_read(&self, asked: &str, name: &str) -> Result<()> {
        Self::judged(self.read.matches(name), asked)
    }

    fn may_look(&self, asked: &str, name: &str, entry: EntryKind) -> Result<()> {
        let may = self.read.matches(name) || (entry == EntryKind::Folder && self.read.may_match_below(name));
        Self::judged(may, asked)
    }

    fn protected(&self) -> &[&str] {
        &PROTECTED
    }
}
