//! What a call finds in a folder: what the disk has, without what it removed and with what it wrote.

use super::Staged;
use crate::diagnostic::Result;
use crate::world::walk::{Folders, Found};
use crate::world::{EntryKind, World, path};
use std::collections::BTreeMap;

impl Folders for Staged {
    fn entries(&self, folder: &str) -> Result<Option<Vec<Found>>> {
        let key = self.under.spelled(folder);
        let under = match self.under.stat(folder)? {
            Some(stat) if stat.entry == EntryKind::Folder => Some(self.under.list(folder)?),
            _ => None,
        };
        let held = self.lock_held();
        if (under.is_none() || held.is_gone(&key)) && !held.folders.contains_key(&key) {
            return Ok(None);
        }
        let mut found: BTreeMap<String, (EntryKind, bool)> =
            under.into_iter().flatten().map(|entry| (entry.name, (entry.entry, entry.link))).collect();
        let inside = |path: &String| path::folder(path) == key && *path != key;
        for path in held.gone.iter().filter(|path| inside(path)) {
            found.remove(path::name(path));
        }
        for path in held.folders.keys().filter(|path| inside(path)) {
            found.insert(path::name(path).to_owned(), (EntryKind::Folder, false));
        }
        for (path, file) in held.files.iter().filter(|(path, _)| inside(path)) {
            match file.bytes {
                Some(_) => found.insert(path::name(path).to_owned(), (EntryKind::File, false)),
                None => found.remove(path::name(path)),
            };
        }
        Ok(Some(found.into_iter().map(|(name, (entry, link))| Found { name, entry, link }).collect()))
    }

    fn top(&self, from: &str) -> String {
        self.under.root_of(from)
    }

    fn ignore_file(&self, path: &str) -> Option<String> {
        self.read(path).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    fn identity(&self, folder: &str) -> Option<(u64, u64)> {
        self.stat(folder).ok().flatten().map(|stat| (0, stat.inode))
    }
}
