//! The folders below which paths are opened, and which one a path belongs to.

use super::system::{current_folder, escape_error, home_folder, real_path, reason};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::world::effects::GRANT_ROOT;
use crate::world::path;
use cap_std::ambient_authority;
use cap_std::fs::{Dir, MetadataExt};
use std::borrow::Cow;
use std::io;
use std::sync::OnceLock;

/// `PATH_MAX` of Linux, without its final NUL.
const MAX_PATH_BYTES: usize = 4_095;

/// The root and the extra roots.
pub(super) struct Roots {
    /// The main one first.
    roots: Vec<Root>,
    home: Option<String>,
}

/// The open folder that a path is resolved from.
pub(super) struct StartFolder<'a> {
    /// The folder that is open.
    pub(super) dir: &'a Dir,
    /// Its absolute path.
    pub(super) base: String,
    /// The clean path from there.
    pub(super) within: String,
}

struct Root {
    /// Its absolute paths: as configured, and as the disk knows it.
    spellings: Vec<String>,
    /// The same, spelled from the home folder if they are in it: `~/…`.
    at_home: Vec<String>,
    /// Whether the user granted it: the grants of a pack apply to it, too.
    granted: bool,
    /// Its path without symlinks, also if it is created later.
    place: String,
    dir: OnceLock<OpenRoot>,
    /// The folder that contains it, open: needed if the root is a single file.
    above: OnceLock<OpenRoot>,
}

/// An open folder and its identity.
struct OpenRoot {
    dir: Dir,
    identity: (u64, u64),
}

impl OpenRoot {
    fn open(path: &str) -> io::Result<Self> {
        let dir = Dir::open_ambient_dir(path, ambient_authority())?;
        let known = dir.dir_metadata()?;
        Ok(Self { dir, identity: (known.dev(), known.ino()) })
    }

    /// Whether a path leads to it.
    fn is_at(&self, path: &str) -> bool {
        use std::os::unix::fs::MetadataExt as _;
        std::fs::metadata(path).is_ok_and(|known| self.identity == (known.dev(), known.ino()))
    }
}

impl Root {
    fn new(given: &str, granted: bool, home: Option<&str>) -> Result<Self> {
        let given = expand(given, home);
        let absolute = if path::is_absolute(&given) { given } else { path::join(&current_folder()?, &given) };
        let mut spellings = vec![path::clean(&absolute)];
        let real = std::fs::canonicalize(&absolute).ok().and_then(|real| real.into_os_string().into_string().ok());
        spellings.extend(real.filter(|real| *real != spellings[0]));
        let place = real_path(&absolute);
        let (dir, above) = (OnceLock::new(), OnceLock::new());
        let mut root = Self { spellings, at_home: Vec::new(), granted, place, dir, above };
        root.set_home(home);
        Ok(root)
    }

    /// Sets the home folder, and so the root's paths that begin with `~/`.
    fn set_home(&mut self, home: Option<&str>) {
        let home = home.map(path::clean);
        let below = |folder: &&String| home.as_ref().is_some_and(|home| path::is_below(folder, home));
        let from = home.as_ref().map_or(0, String::len);
        self.at_home = self.spellings.iter().filter(below).map(|folder| format!("~{}", &folder[from..])).collect();
    }

    /// Opens the folder, once it exists.
    fn open(&self) -> io::Result<&Dir> {
        if let Some(held) = self.dir.get() {
            return Ok(&held.dir);
        }
        let held = OpenRoot::open(&self.spellings[0])?;
        // A root that was created later is opened only where its name led at first, even if a link was put there since.
        if real_path(&self.spellings[0]) != self.place || !held.is_at(&self.place) {
            return Err(escape_error());
        }
        Ok(&self.dir.get_or_init(|| held).dir)
    }

    //= docs/spec.md#roots
    //# A root that was moved, removed or replaced MUST NOT be used, and MUST be listed in `toolsd://status`.
    /// Whether its name still leads to the folder that is open or, as long as it is not open, to the same path.
    fn is_in_place(&self) -> bool {
        match (self.dir.get(), self.above.get()) {
            (Some(held), _) => held.is_at(&self.spellings[0]),
            (None, Some(above)) => above.is_at(path::folder(&self.spellings[0])),
            (None, None) => real_path(&self.spellings[0]) == self.place,
        }
    }

    /// The spelling of this root that the absolute `path` begins with.
    fn holding(&self, path: &str) -> Option<&str> {
        self.spellings.iter().map(String::as_str).find(|folder| path::is_below(path, folder))
    }

    /// The same for a path that begins with `~/`.
    fn holding_at_home(&self, path: &str) -> Option<&str> {
        self.at_home.iter().map(String::as_str).find(|folder| path::is_below(path, folder))
    }

    /// The folder that a path in this root is resolved from; `None` if the root does not exist yet. A root that is a file
    /// is opened from its folder.
    fn start(&self, within: &str) -> Option<StartFolder<'_>> {
        if let Ok(dir) = self.open() {
            return Some(StartFolder { dir, base: self.spelling().to_owned(), within: within.to_owned() });
        }
        let file = &self.spellings[0];
        if within != "." || self.above.get().is_none() && !std::fs::metadata(file).is_ok_and(|found| found.is_file()) {
            return None;
        }
        if self.above.get().is_none()
            && let Ok(above) = OpenRoot::open(path::folder(file))
        {
            // Another thread may have been first.
            let _ = self.above.set(above);
        }
        let (base, within) = (path::folder(file).to_owned(), path::name(file).to_owned());
        Some(StartFolder { dir: &self.above.get()?.dir, base, within })
    }

    /// The absolute `path` relative to this root.
    fn within(&self, path: &str) -> Option<String> {
        Some(match path[self.holding(path)?.len()..].trim_start_matches('/') {
            "" => ".".to_owned(),
            rest => rest.to_owned(),
        })
    }

    /// Its canonical spelling: as the disk knows it.
    fn spelling(&self) -> &str {
        self.spellings.last().map_or("/", String::as_str)
    }
}

impl Roots {
    pub(super) fn new<'a>(
        root: &str,
        granted: impl IntoIterator<Item = &'a str>,
        outer: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self> {
        let home = home_folder();
        let main = Root::new(root, false, home.as_deref())?;
        main.open().map_err(|error| {
            Diagnostic::new(Code::WORLD, format!("the folder `{root}` cannot be opened: {}", reason(&error)))
        })?;
        let mut roots = vec![main];
        for root in granted {
            roots.push(Root::new(root, true, home.as_deref())?);
        }
        for root in outer {
            roots.push(Root::new(root, false, home.as_deref())?);
        }
        Ok(Self { roots, home })
    }

    /// Makes another folder the home folder, and one of the roots.
    pub(super) fn set_home(&mut self, home: &str) -> Result<()> {
        self.roots.push(Root::new(home, false, None)?);
        self.home = Some(home.to_owned());
        self.roots.iter_mut().for_each(|root| root.set_home(Some(home)));
        Ok(())
    }

    /// The absolute path of the main root.
    pub(super) fn main(&self) -> &str {
        self.roots[0].spelling()
    }

    /// The further roots that the user granted.
    pub(super) fn granted(&self) -> impl Iterator<Item = &str> {
        self.roots.iter().filter(|root| root.granted).map(Root::spelling)
    }

    /// The root that contains a clean path, spelled as in the path.
    pub(super) fn root_of<'a>(&'a self, path: &'a str) -> &'a str {
        if path::is_below(path, ".") {
            return ".";
        }
        let holding = self.roots.iter().filter_map(|root| root.holding(path));
        holding.max_by_key(|root| root.len()).unwrap_or(path)
    }

    /// Whether the name of the root still leads to this open folder.
    pub(super) fn is_in_place(&self, dir: &Dir) -> bool {
        let is_it = |root: &&Root| root.dir.get().is_some_and(|held| std::ptr::eq(&raw const held.dir, dir));
        self.roots.iter().find(is_it).is_none_or(Root::is_in_place)
    }

    /// The open folder of the root that contains a path, and the clean path from there. `None` if there is no such root,
    /// or it does not exist yet.
    pub(super) fn folder_of<'a>(&self, path: &'a str) -> Option<(&Dir, Cow<'a, str>)> {
        if path::is_clean_below(path) {
            return Some((self.roots[0].open().ok()?, Cow::Borrowed(path)));
        }
        let innermost = match path::is_clean_at_home(path) {
            true => {
                let found = self.roots.iter().filter_map(|root| Some((root, root.holding_at_home(path)?)));
                found.max_by_key(|(_, holding)| holding.len())
            }
            false => self.innermost(path).filter(|_| path::is_clean_absolute(path)),
        };
        if let Some((root, holding)) = innermost
            && path.len() > holding.len()
            && let Ok(dir) = root.open()
        {
            return Some((dir, Cow::Borrowed(path[holding.len()..].trim_start_matches('/'))));
        }
        self.start(path).ok()?.map(|start| (start.dir, Cow::Owned(start.within)))
    }

    /// The innermost root that contains a clean absolute path, and the spelling of it that the path begins with.
    fn innermost(&self, path: &str) -> Option<(&Root, &str)> {
        let found = self.roots.iter().filter_map(|root| Some((root, root.holding(path)?)));
        found.max_by_key(|(_, holding)| holding.len())
    }

    /// A cheap check whether a path outside of the main root already has its canonical spelling.
    pub(super) fn is_spelled(&self, path: &str) -> bool {
        path::is_clean_absolute(path)
            && self.roots[0].holding(path).is_none()
            && self.innermost(path).is_some_and(|(root, holding)| root.spelling() == holding)
    }

    /// Whether an absolute path that is free of links is below one of the roots.
    pub(super) fn holds(&self, path: &str) -> bool {
        self.around(path).is_some()
    }

    /// The outermost root around an absolute path that is free of links.
    pub(super) fn around(&self, path: &str) -> Option<&str> {
        self.roots.iter().filter_map(|root| root.holding(path)).min_by_key(|root| root.len())
    }

    /// Resolves an absolute symlink target outside of its root if it is currently inside another root. Returns `None`
    /// with a single root.
    ///
    //= docs/spec.md#roots
    //# A path MUST NOT lead out of its root, by `..`, by being absolute or through a symlink, except into
    //# another granted root.
    pub(super) fn resolve_outward(&self, outward: &str) -> Option<StartFolder<'_>> {
        if self.roots.len() == 1 {
            return None;
        }
        let real = std::fs::canonicalize(outward).ok()?.into_os_string().into_string().ok()?;
        let found = self.roots.iter().filter_map(|root| Some((root, root.within(&real)?)));
        let (root, within) = found.min_by_key(|(_, within)| within.len()).filter(|(root, _)| root.is_in_place())?;
        Some(StartFolder { dir: root.open().ok()?, base: root.spelling().to_owned(), within })
    }

    /// The canonical spelling of a path: relative to the main root if it is below it, otherwise absolute as the disk
    /// knows its root. Unchanged if it is below no root.
    pub(super) fn spelled(&self, path: &str) -> String {
        let clean = path::clean(&expand(path, self.home.as_deref()));
        if !path::is_absolute(&clean) {
            return clean;
        }
        if let Some(within) = self.roots[0].within(&clean) {
            return within;
        }
        match self.locate(&clean) {
            Some((root, within)) if std::ptr::eq(root, &raw const self.roots[0]) => within,
            Some((root, within)) => path::join(root.spelling(), &within),
            None => clean,
        }
    }

    /// The root that contains a clean absolute path, and the path from there.
    fn locate(&self, clean: &str) -> Option<(&Root, String)> {
        // The innermost root is nearest: its symlinks are those that stay inside.
        let found = self.roots.iter().filter_map(|root| Some((root, root.within(clean)?)));
        found.min_by_key(|(_, within)| within.len()).or_else(|| self.locate_by_link(clean))
    }

    //= docs/spec.md#roots
    //# A path that reaches a root through a symlink MUST count as a path of that root.
    /// The same for a path that begins with a link to a root, or to a folder above it.
    fn locate_by_link(&self, clean: &str) -> Option<(&Root, String)> {
        let ends = clean.match_indices('/').map(|(end, _)| end).skip(1).chain([clean.len()]);
        ends.filter(|_| path::is_absolute(clean)).find_map(|end| {
            let leads_to = |root: &&Root| root.dir.get().is_some_and(|held| held.is_at(&clean[..end]));
            Some((self.roots.iter().find(leads_to)?, path::clean(clean[end..].trim_start_matches('/'))))
        })
    }

    /// Where a path really is: in the root that contains it, by the root's own name; without one, wherever links lead.
    pub(super) fn real_place(&self, path: &str) -> String {
        match self.holding(path) {
            Ok((root, within)) => path::clean(&path::join(root.spelling(), &within)),
            Err(_) => real_path(path),
        }
    }

    /// The open folder that `path` is resolved from, if it exists. Fails if the path is below no root.
    pub(super) fn start(&self, path: &str) -> Result<Option<StartFolder<'_>>> {
        let (root, within) = self.holding(path)?;
        Ok(root.start(&within))
    }

    /// The root that holds a path, and the clean path from there.
    fn holding(&self, path: &str) -> Result<(&Root, String)> {
        if path.contains('\0') {
            return Err(Diagnostic::new(Code::WORLD, format!("`{}` is not a valid path", path.replace('\0', "\\0"))));
        }
        if path.len() > MAX_PATH_BYTES {
            let start = &path[..path.floor_char_boundary(40)];
            let message = format!("the path `{start}…` has {} bytes", path.len());
            return Err(Diagnostic::new(Code::WORLD, message).help(format!("at most {MAX_PATH_BYTES} are allowed")));
        }
        let clean = path::clean(&expand(path, self.home.as_deref()));
        let is_below = path::is_below(&clean, ".");
        let found = if is_below { Some((&self.roots[0], clean.clone())) } else { self.locate(&clean) };
        match found {
            Some((root, _)) if !root.is_in_place() => return Err(displaced(&root.spellings[0])),
            Some(found) => return Ok(found),
            None => {}
        }
        let message = format!("`{path}` leads outside of `{}`", self.main());
        Err(Diagnostic::new(Code::WORLD, message).help(GRANT_ROOT))
    }
}

/// The error for a root that is not where it was.
fn displaced(root: &str) -> Box<Diagnostic> {
    let message = format!("`{root}` is no longer the folder that was opened: it was moved, removed or replaced");
    Diagnostic::new(Code::WORLD, message).help("put it back, or restart the server to use the new one")
}

/// Replaces a leading `~` by the home folder.
fn expand(path: &str, home: Option<&str>) -> String {
    match (path.strip_prefix('~'), home) {
        (Some(""), Some(home)) => home.to_owned(),
        (Some(rest), Some(home)) if rest.starts_with('/') => format!("{home}{rest}"),
        _ => path.to_owned(),
    }
}
