//! Which other users than this one and root can change or replace a file.

use super::system::{WRITABLE_BY_OTHERS, path_error};
use crate::diagnostic::{Code, Diagnostic, Result};
use std::collections::BTreeSet;
use std::fmt::{self, Display, Formatter};
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// In a folder with this bit, only a file's owner can replace it.
const STICKY: u32 = 0o1000;

/// A user or group, other than this user and root, that can change a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OtherWriter {
    /// Everybody who has an account.
    Everybody,
    /// The members of a group.
    Group(u32),
    /// One other user.
    User(u32),
}

impl Display for OtherWriter {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let named = |kind: &str, file: &str, id: &u32| match account_name(file, *id) {
            Some(name) => format!("{kind} {name}"),
            None => format!("{kind} {id}"),
        };
        formatter.write_str(&match self {
            Self::Everybody => "everybody on this machine".to_owned(),
            Self::Group(id) => named("group", "/etc/group", id),
            Self::User(id) => named("user", "/etc/passwd", id),
        })
    }
}

/// The name of a user or a group in one of the system's lists.
fn account_name(file: &str, id: u32) -> Option<String> {
    let known = fs::read_to_string(file).ok()?;
    let fields = known.lines().map(|line| line.split(':').collect::<Vec<_>>());
    let own = fields.into_iter().find(|fields| fields.get(2).and_then(|known| known.parse().ok()) == Some(id))?;
    own.first().map(|name| (*name).to_owned())
}

/// Which others can change the file or folder at an absolute path: those who can write it, or a folder on the way to
/// it, by its name and where links lead.
pub fn other_writers(path: &str) -> Vec<OtherWriter> {
    let real = fs::canonicalize(path).ok();
    let places = [Path::new(path)].into_iter().chain(real.as_deref()).flat_map(Path::ancestors);
    let found: BTreeSet<OtherWriter> =
        places.filter_map(|place| fs::metadata(place).ok()).flat_map(|known| writers_of(&known)).collect();
    match found.contains(&OtherWriter::Everybody) {
        true => vec![OtherWriter::Everybody],
        false => found.into_iter().collect(),
    }
}

/// Which others can change a file, or the entries of a folder; its owner comes first, then everybody. The mode of a
/// link does not count.
pub(super) fn writers_of(known: &Metadata) -> impl Iterator<Item = OtherWriter> + use<> {
    let (mode, owner, group) = (known.mode(), known.uid(), known.gid());
    let user = rustix::process::geteuid().as_raw();
    let counts = !(known.is_symlink() || known.is_dir() && mode & STICKY != 0);
    let owner = (owner != user && owner != 0).then_some(OtherWriter::User(owner));
    let group = (counts && mode & 0o020 != 0 && group != 0).then_some(OtherWriter::Group(group));
    let everybody = (counts && mode & 0o002 != 0).then_some(OtherWriter::Everybody);
    owner.into_iter().chain(everybody).chain(group)
}

/// Refuses a file or folder of the user's own state if it is a link, or if another user owns it or can write it.
pub fn check_private(path: &str) -> Result<()> {
    let known = fs::symlink_metadata(path).map_err(|error| path_error(path, "looked at", &error))?;
    let user = rustix::process::geteuid().as_raw();
    let refused = |why: String| Err(Diagnostic::new(Code::WORLD, format!("`{path}` {why}")));
    if known.is_symlink() {
        return refused("is a symlink".to_owned());
    }
    if known.uid() != user && known.uid() != 0 {
        return refused(format!("belongs to {}", OtherWriter::User(known.uid())));
    }
    if known.mode() & WRITABLE_BY_OTHERS != 0 {
        return refused(format!("can be changed by others (mode {:03o})", known.mode() & 0o7777));
    }
    Ok(())
}

/// Whether only this user and root own a file or can write it.
pub(super) fn is_private(known: &Metadata) -> bool {
    (known.uid() == rustix::process::geteuid().as_raw() || known.uid() == 0) && known.mode() & WRITABLE_BY_OTHERS == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn users_that_can_change_a_file_are_reported() {
        let folder = tempfile::tempdir().unwrap();
        let group = fs::metadata(folder.path()).unwrap().gid();
        let group = if group == 0 { Vec::new() } else { vec![OtherWriter::Group(group)] };
        let everybody = vec![OtherWriter::Everybody];
        let within = folder.path().join("within");
        let file = within.join("file");
        fs::create_dir(&within).unwrap();
        fs::write(&file, "").unwrap();
        std::os::unix::fs::symlink(&file, folder.path().join("link")).unwrap();
        let reported = |path: &Path| other_writers(path.to_str().unwrap());
        for (place, mode, expected) in [
            (&within, 0o755, Vec::new()),
            (&file, 0o644, Vec::new()),
            (&file, 0o664, group.clone()),
            (&file, 0o666, everybody.clone()),
            (&file, 0o600, Vec::new()),
            (&within, 0o2775, group),
            (&within, 0o777, everybody),
            (&within, 0o1777, Vec::new()),
        ] {
            fs::set_permissions(place, fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(reported(&file), expected, "{place:?} {mode:o}");
            assert_eq!(reported(&folder.path().join("link")), expected, "{place:?} {mode:o} through a link");
        }
        assert_eq!(OtherWriter::User(0).to_string(), "user root");
        assert_eq!(OtherWriter::Group(4_000_000_000).to_string(), "group 4000000000");
        // Only root gives files away.
        if std::os::unix::fs::chown(&file, Some(65_534), None).is_ok() {
            assert_eq!(reported(&file), [OtherWriter::User(65_534)]);
        }
    }
}
