//! Finding files and folders by globs, with as little walking as they allow.

use super::glob::Globs;
use super::{Walk, World};
use crate::diagnostic::Result;

/// What to look for.
#[derive(Clone, Debug)]
pub struct Find {
    /// What the paths must match; they begin at `root`.
    pub globs: Vec<String>,
    /// What is left out, even where `globs` match; these begin at `root`, too.
    pub skip: Vec<String>,
    /// The folder that the globs begin at.
    pub root: String,
    /// Whether wildcards match names that begin with a dot; a dot that a glob writes out is always matched.
    pub hidden: bool,
    /// Whether to leave out `.git` and what ignore files leave out.
    pub ignore: bool,
    /// Whether to follow symlinks that stay beneath the root.
    pub follow: bool,
    /// How many folders deep below the literal beginning of a glob, at most.
    pub depth: Option<usize>,
}

impl Find {
    /// The files: paths from the root of the world, sorted bytewise, each once.
    pub fn files(&self, world: &dyn World) -> Result<Vec<String>> {
        self.run(world, false)
    }

    /// The folders, in the same way.
    pub fn folders(&self, world: &dyn World) -> Result<Vec<String>> {
        self.run(world, true)
    }

    fn run(&self, world: &dyn World, folders: bool) -> Result<Vec<String>> {
        let globs = Globs::new(&self.globs, &self.root)?;
        let skip = Globs::new(&self.skip, &self.root)?;
        let fits = |path: &str| {
            (if self.hidden { globs.matches(path) } else { globs.matches_visible(path) })
                && path != "."
                && (self.skip.is_empty() || !skip.matches(path))
        };
        let mut found = Vec::new();
        let starts = globs.starts();
        // What one walk finds is sorted.
        let several = starts.len() > 1;
        for (from, depth) in starts {
            let depth = match (depth, self.depth) {
                (Some(needed), Some(most)) => Some(needed.min(most)),
                (needed, most) => needed.or(most),
            };
            // A folder is found by looking into it, one step further than the files beside it.
            let depth = depth.map(|depth| depth + usize::from(folders));
            let hidden = self.hidden || globs.names_hidden();
            let walked = world.walk(&Walk { from, hidden, ignore: self.ignore, follow: self.follow, depth })?;
            let paths = if folders { walked.folders } else { walked.files };
            found.extend(paths.into_iter().filter(|path| fits(path)));
        }
        if several {
            found.sort_unstable();
            found.dedup();
        }
        Ok(found)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::world::memory::Memory;

    fn find(globs: &[&str]) -> Find {
        let globs = globs.iter().map(|glob| (*glob).to_owned()).collect();
        let skip = Vec::new();
        Find { globs, skip, root: ".".into(), hidden: false, ignore: true, follow: false, depth: None }
    }

    fn memory() -> Memory {
        let paths = ["a.md", "b/a.md", "b/.c/a.md", ".github/ci/x.yml", "out/x.md", "b/d/e/f.md"];
        Memory::with(paths.map(|path| (path, "")).into_iter().chain([(".gitignore", "out\n")])).unwrap()
    }

    #[test]
    fn files_are_found_once_and_sorted() {
        let world = memory();
        let files = |find: &Find| find.files(&world).unwrap().join(" ");
        assert_eq!(files(&find(&["b/*.md", "**/*.md", "*.md"])), "a.md b/a.md b/d/e/f.md");
        assert_eq!(files(&Find { ignore: false, ..find(&["*/*.md"]) }), "b/a.md out/x.md");
        assert_eq!(files(&Find { hidden: true, ..find(&["b/**/a.md"]) }), "b/.c/a.md b/a.md");
        assert_eq!(files(&find(&["**/.github/**/*.yml"])), ".github/ci/x.yml");
        assert_eq!(files(&Find { root: "b".into(), ..find(&["**/*.md", "../*.md"]) }), "a.md b/a.md b/d/e/f.md");
        assert_eq!(files(&Find { skip: vec!["**/d/**".into()], ..find(&["**/*.md"]) }), "a.md b/a.md");
        assert_eq!(files(&Find { depth: Some(1), ..find(&["b/**"]) }), "b/a.md");
        assert_eq!(files(&find(&["absent/**"])), "");
        assert_eq!(files(&find(&[])), "");
    }

    #[test]
    fn folders_are_found() {
        let world = memory();
        assert_eq!(find(&["*"]).folders(&world).unwrap(), ["b"]);
        assert_eq!(find(&["b/**"]).folders(&world).unwrap(), ["b/d", "b/d/e"]);
        assert_eq!(
            Find { hidden: true, ..find(&["*", "b/*"]) }.folders(&world).unwrap(),
            [".github", "b", "b/.c", "b/d"]
        );
    }
}
