//! Who says what of a world may be handed out: asked by the real name of what was opened, not by the name that led there.

use super::EntryKind;
use crate::diagnostic::Result;

/// Decides what may leave a world whose names can lead elsewhere. Names are in their one spelling: relative to the main
/// root, or absolute.
///
/// A disk has one from its making and asks it whenever a symlink led from the name that was `asked` for to another one;
/// a name that leads nowhere else was checked before it came to the disk.
pub trait Judge: Send + Sync {
    /// Refuses to hand out the bytes of the file `name`.
    fn may_read(&self, asked: &str, name: &str) -> Result<()>;

    /// Refuses to tell that something is at `name`, and what it is. A folder that may be looked into is filtered entry by
    /// entry.
    fn may_look(&self, asked: &str, name: &str, entry: EntryKind) -> Result<()>;

    /// Names of entries that are written by no spelling of theirs, in any folder.
    fn protected(&self) -> &[&str];
}

/// The host itself: it may do what the user may.
pub struct Owner;

impl Judge for Owner {
    fn may_read(&self, _asked: &str, _name: &str) -> Result<()> {
        Ok(())
    }

    fn may_look(&self, _asked: &str, _name: &str, _entry: EntryKind) -> Result<()> {
        Ok(())
    }

    fn protected(&self) -> &[&str] {
        &[]
    }
}
