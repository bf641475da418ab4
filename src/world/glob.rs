//! Globs over paths: `*`, `?`, `[…]`, `**`, `{a,b}`; and finding files and folders by them, with as little walking as
//! they allow.

use super::effects::World;
use super::path;
use super::walk::WalkOptions;
use crate::diagnostic::{Code, Diagnostic, Result};
use globset::{GlobBuilder, GlobMatcher, GlobSet, GlobSetBuilder};

/// The maximum number of alternatives that braces are expanded to; the matcher handles more.
const MAX_ALTERNATIVES: usize = 256;

/// The maximum length of a glob in bytes: every path of a walk is matched against it, without asking the guard.
const MAX_GLOB_BYTES: usize = 1_024;

/// The characters that make a part of a glob more than a plain name.
const SPECIAL: [char; 5] = ['*', '?', '[', '{', '\\'];

/// Several globs at once. `*` and `?` do not match `/`; `**` as a whole part matches any number of folders.
#[derive(Clone, Debug)]
pub struct Globs {
    set: GlobSet,
    /// One for each glob of the set, in its order.
    parts: Vec<GlobParts>,
    /// Whether one of them is `**`, which matches all that is relative.
    all: bool,
    /// The folders below which one of them matches everything: found without the matchers.
    whole: Vec<String>,
}

/// What is known of one glob.
#[derive(Clone, Debug)]
struct GlobParts {
    /// The folder that contains all matches.
    prefix: String,
    /// The number of parts after the prefix, unless one is `**`.
    depth: Option<usize>,
    /// Whether all that follows the prefix is `**`.
    is_whole: bool,
    /// The parts that begin with a dot, and so match hidden names.
    dotted: Vec<GlobMatcher>,
}

impl Globs {
    /// Compiles globs that begin at the folder `base`, whose name is taken literally.
    pub fn new<T: AsRef<str>>(globs: &[T], base: &str) -> Result<Self> {
        let mut set = GlobSetBuilder::new();
        let mut parts = Vec::new();
        let (mut all, mut folders) = (false, Vec::new());
        for glob in globs {
            if glob.as_ref().len() > MAX_GLOB_BYTES {
                let message = format!("a glob has {} bytes; at most {MAX_GLOB_BYTES}", glob.as_ref().len());
                return Err(Diagnostic::new(Code::ARGUMENTS, message).help("split it into several globs"));
            }
            for one in alternatives(glob.as_ref()) {
                let (text, known) = compile(&one, base).map_err(|error| invalid(glob.as_ref(), &error))?;
                all |= text == "**";
                folders.extend((known.is_whole && known.prefix != ".").then(|| known.prefix.clone()));
                set.add(whole(&text).map_err(|error| invalid(glob.as_ref(), &error))?);
                parts.push(known);
            }
        }
        let set = set.build().map_err(|error| invalid("", &error))?;
        Ok(Self { set, parts, all, whole: folders })
    }

    /// Whether one of them matches the clean path, whatever in it begins with a dot.
    /// A glob that begins at the root never matches a path outside of it.
    pub fn matches(&self, path: &str) -> bool {
        if self.whole.iter().any(|folder| path.len() > folder.len() && path::is_below(path, folder)) {
            return true;
        }
        match path::is_below(path, ".") {
            true => self.all || self.set.is_match(path),
            false => self.matching(path).next().is_some(),
        }
    }

    fn matching(&self, path: &str) -> impl Iterator<Item = &GlobParts> {
        let found = self.set.matches(path).into_iter().map(|at| &self.parts[at]);
        found.filter(move |known| path::is_below(path, &known.prefix))
    }

    /// Whether one of them matches the clean path and writes out the dot of each hidden name in it.
    pub fn matches_visible(&self, path: &str) -> bool {
        self.matching(path).any(|known| {
            let below = match known.prefix.as_str() {
                "." => path,
                prefix => path.strip_prefix(prefix).unwrap_or(path),
            };
            let mut hidden = below.split('/').filter(|name| name.starts_with('.'));
            hidden.all(|name| known.dotted.iter().any(|dotted| dotted.is_match(name)))
        })
    }

    /// Whether something below the clean folder `folder` could match.
    pub fn may_match_below(&self, folder: &str) -> bool {
        self.parts.iter().any(|known| match path::is_below(folder, &known.prefix) {
            true => known.depth.is_none_or(|depth| length(folder) - length(&known.prefix) < depth),
            false => path::is_below(&known.prefix, folder),
        })
    }

    /// Whether a glob writes out a hidden name below its prefix.
    pub fn names_hidden(&self) -> bool {
        self.parts.iter().any(|known| !known.dotted.is_empty())
    }

    /// The folders to walk, none of them below another, and how deep each walk must go at most.
    pub fn starts(&self) -> Vec<(String, Option<usize>)> {
        let mut starts: Vec<(&str, Option<usize>)> =
            self.parts.iter().map(|known| (known.prefix.as_str(), known.depth)).collect();
        // The outermost first: a start below a kept one only makes that one deeper.
        starts.sort_by_key(|(prefix, _)| (length(prefix), *prefix));
        let mut kept: Vec<(&str, Option<usize>)> = Vec::new();
        for (prefix, depth) in starts {
            match kept.iter_mut().find(|(outer, _)| path::is_below(prefix, outer)) {
                Some((outer, deepest)) => {
                    let further = length(prefix) - length(outer);
                    *deepest = deepest.zip(depth).map(|(deepest, depth)| deepest.max(depth + further));
                }
                None => kept.push((prefix, depth)),
            }
        }
        kept.into_iter().map(|(prefix, depth)| (prefix.to_owned(), depth)).collect()
    }
}

/// How many names a clean path has.
fn length(path: &str) -> usize {
    path.split('/').filter(|name| !name.is_empty() && *name != ".").count()
}

fn invalid(glob: &str, error: &globset::Error) -> Box<Diagnostic> {
    let glob = error.glob().unwrap_or(glob);
    Diagnostic::new(Code::ARGUMENTS, format!("`{glob}` is not a glob: {}", error.kind()))
        .help("globs know `*`, `?`, `[a-z]`, `**` and `{a,b}`; `\\` takes the meaning from the next character")
}

fn whole(text: &str) -> std::result::Result<globset::Glob, globset::Error> {
    GlobBuilder::new(text).literal_separator(true).backslash_escape(true).build()
}

/// The glob from the root of the world, and what is known of it.
fn compile(glob: &str, base: &str) -> std::result::Result<(String, GlobParts), globset::Error> {
    // Each part with its plain name, if it has nothing special.
    let mut parts: Vec<(String, Option<String>)> = Vec::new();
    let from_elsewhere = path::is_absolute(glob) || glob.starts_with("~/");
    let base = if from_elsewhere { String::new() } else { path::clean(base) };
    let literal = |name: &str| (globset::escape(name), Some(name.to_owned()));
    parts.extend(base.split('/').filter(|name| !name.is_empty() && *name != ".").map(literal));
    for part in glob.split('/').filter(|part| !part.is_empty() && *part != ".") {
        match (part, parts.last()) {
            ("..", Some((_, Some(name)))) if name != ".." => drop(parts.pop()),
            (part, _) if part.contains(SPECIAL) => parts.push((part.to_owned(), None)),
            (part, _) => parts.push(literal(part)),
        }
    }
    let root = if path::is_absolute(glob) || path::is_absolute(&base) { "/" } else { "" };
    let last = parts.len().saturating_sub(1);
    let plain = parts.iter().take(last).take_while(|(_, name)| name.is_some()).count();
    let names: Vec<&str> = parts[..plain].iter().filter_map(|(_, name)| name.as_deref()).collect();
    let prefix = path::clean(&format!("{root}{}", names.join("/")));
    let rest = &parts[plain..];
    let depth = (!rest.iter().any(|(part, _)| part.contains("**"))).then_some(rest.len());
    let is_whole = matches!(rest, [(part, _)] if part == "**");
    let dots = rest.iter().filter(|(part, _)| part.starts_with('.') || part.starts_with("\\."));
    let dotted = dots.map(|(part, _)| Ok(whole(part)?.compile_matcher())).collect::<std::result::Result<_, _>>()?;
    let text: Vec<&str> = parts.iter().map(|(part, _)| part.as_str()).collect();
    Ok((format!("{root}{}", text.join("/")), GlobParts { prefix, depth, is_whole, dotted }))
}

/// The globs that one with braces stands for; itself if the braces do not close.
fn alternatives(glob: &str) -> Vec<String> {
    let mut open = vec![glob.to_owned()];
    let mut closed = Vec::new();
    while let Some(one) = open.pop() {
        match braces(&one) {
            _ if open.len() + closed.len() > MAX_ALTERNATIVES => return vec![glob.to_owned()],
            Some((start, commas, end)) => {
                let mut from = start + 1;
                for comma in commas.into_iter().chain([end]) {
                    open.push(format!("{}{}{}", &one[..start], &one[from..comma], &one[end + 1..]));
                    from = comma + 1;
                }
            }
            None => closed.push(one),
        }
    }
    closed
}

/// The first pair of braces and the commas right inside it.
fn braces(glob: &str) -> Option<(usize, Vec<usize>, usize)> {
    let (mut start, mut depth, mut commas, mut class, mut escaped) = (None, 0_usize, Vec::new(), false, false);
    for (at, byte) in glob.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b']' => class = false,
            b'[' => class = true,
            b'{' if !class => {
                start.get_or_insert(at);
                depth += 1;
            }
            b',' if depth == 1 && !class => commas.push(at),
            b'}' if depth == 1 && !class => return start.map(|start| (start, commas, at)),
            b'}' if !class => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}

/// What to look for.
#[derive(Clone, Debug)]
pub struct FileSearch {
    /// What the paths must match; they begin at `root`.
    pub globs: Vec<String>,
    /// What to skip, even where `globs` match; these begin at `root`, too.
    pub skip: Vec<String>,
    /// The folder that the globs begin at.
    pub root: String,
    /// Whether wildcards match names that begin with a dot; a dot that a glob writes out is always matched.
    pub hidden: bool,
    /// Whether to leave out `.git` and what ignore files leave out.
    pub ignore: bool,
    /// Whether to follow symlinks that stay below the root.
    pub follow: bool,
    /// How many folders deep below the literal beginning of a glob, at most.
    pub depth: Option<usize>,
}

/// What a search found.
#[derive(Debug, Default)]
pub struct FoundPaths {
    /// The paths.
    pub paths: Vec<String>,
    /// The folders that could not be looked into.
    pub unreadable: Vec<String>,
    /// What looks like a file and was skipped.
    pub skipped: Vec<String>,
}

impl FileSearch {
    /// The files: paths from the root of the world, sorted bytewise, each once.
    pub fn files(&self, world: &dyn World) -> Result<FoundPaths> {
        self.run(world, false)
    }

    /// The folders, in the same way.
    pub fn folders(&self, world: &dyn World) -> Result<FoundPaths> {
        self.run(world, true)
    }

    fn run(&self, world: &dyn World, folders: bool) -> Result<FoundPaths> {
        let globs = Globs::new(&self.globs, &self.root)?;
        let skip = Globs::new(&self.skip, &self.root)?;
        let fits = |path: &str| {
            (if self.hidden { globs.matches(path) } else { globs.matches_visible(path) })
                && path != "."
                && (self.skip.is_empty() || !skip.matches(path))
        };
        let mut found = FoundPaths::default();
        let starts = globs.starts();
        // What one walk finds is sorted.
        let several = starts.len() > 1;
        for (from, depth) in starts {
            let depth = match (depth, self.depth) {
                (Some(needed), Some(most)) => Some(needed.min(most)),
                (needed, most) => needed.or(most),
            };
            // A folder is found by looking into it: that is one level deeper than for files.
            let depth = depth.map(|depth| depth + usize::from(folders));
            let hidden = self.hidden || globs.names_hidden();
            let walked = world.walk(&WalkOptions { from, hidden, ignore: self.ignore, follow: self.follow, depth })?;
            found.skipped.extend(walked.skipped.into_iter().filter(|path| fits(path)));
            let paths = if folders { walked.folders } else { walked.files };
            found.paths.extend(paths.into_iter().filter(|path| fits(path)));
            // A folder is not reported as unreadable if everything in it is skipped anyway.
            let is_wanted = |folder: &String| self.skip.is_empty() || !skip.matches(&path::join(folder, "file"));
            found.unreadable.extend(walked.unreadable.into_iter().filter(is_wanted));
        }
        world.note_skipped(&found.skipped);
        if several {
            found.paths.sort_unstable();
            found.paths.dedup();
        }
        Ok(found)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::world::memory::MemoryWorld;
    use proptest::prelude::*;

    #[test]
    fn globs_match_as_expected() {
        for (glob, yes, no) in [
            ("*.md", &["a.md", ".a.md"][..], &["d/a.md", "a.mdx"][..]),
            ("**/*.md", &["a.md", "d/e/a.md"], &["a.txt"]),
            ("./docs/**", &["docs/a", "docs/d/.e"], &["docs", "doc"]),
            ("{src,tests}/**/*.{rs,toml}", &["src/a.rs", "tests/d/b.toml"], &["src/a.md", "x/a.rs"]),
            ("a[0-9]?.md", &["a1x.md"], &["a/x.md", "ax1.md"]),
            ("a/../b/*", &["b/c"], &["a/b/c"]),
            ("{a,b{c,d}}.md", &["a.md", "bc.md", "bd.md"], &["b.md"]),
            ("/etc/*", &["/etc/x"], &["etc/x"]),
            ("x\\*", &["x*"], &["xy"]),
            ("**", &["x", "a/.b"], &["../x", "/x", "~/x"]),
        ] {
            let globs = Globs::new(&[glob], ".").unwrap();
            for path in yes {
                assert!(globs.matches(path), "{glob} {path}");
            }
            for path in no {
                assert!(!globs.matches(path), "{glob} {path}");
            }
        }
        assert!(Globs::new(&["a".repeat(1_025)], ".").unwrap_err().message.contains("1025 bytes; at most 1024"));
        assert!(Globs::new(&["a[b"], ".").unwrap_err().message.contains("`a[b` is not a glob"));
    }

    #[test]
    fn a_glob_with_nested_braces_stands_for_several() {
        let mut all = alternatives("{a,b{c,d}}/[{].md");
        all.sort();
        assert_eq!(all, ["a/[{].md", "bc/[{].md", "bd/[{].md"]);
    }

    #[test]
    fn hidden_names_are_matched_by_a_dot_only() {
        let visible = |glob: &str, path: &str| Globs::new(&[glob], ".").unwrap().matches_visible(path);
        assert!(visible("**/*.md", "a/b.md") && !visible("**/*.md", ".a/b.md") && !visible("**/*.md", "a/.b.md"));
        assert!(visible(".a/**/*.md", ".a/b.md") && !visible(".a/**/*.md", ".a/.c/b.md"));
        assert!(visible("**/.git*", "a/.gitignore") && !visible("**/.git*", ".x/.gitignore"));
        assert!(Globs::new(&["**/.x/*"], ".").unwrap().names_hidden());
        assert!(!Globs::new(&[".x/*"], ".").unwrap().names_hidden());
    }

    #[test]
    fn as_little_is_walked_as_possible() {
        let starts = |globs: &[&str], base: &str| Globs::new(globs, base).unwrap().starts();
        let start = |from: &str, depth| (from.to_owned(), depth);
        assert_eq!(starts(&["{src,tests}/**/*.rs"], "."), [start("src", None), start("tests", None)]);
        assert_eq!(starts(&["docs/a/*.md", "docs/*.md"], "."), [start("docs", Some(2))]);
        assert_eq!(starts(&["README.md"], "."), [start(".", Some(1))]);
        assert_eq!(starts(&["tasks/WP*.md"], "a[b]/"), [start("a[b]/tasks", Some(1))]);
        assert_eq!(starts(&["../*.md", "/x/y/*/z"], "a/b"), [start("a", Some(1)), start("/x/y", Some(2))]);
        assert_eq!(starts(&["~/notes/**"], "a"), [start("~/notes", None)]);
        assert!(Globs::new(&["*"], "a[b]").unwrap().matches("a[b]/c"));
    }

    fn find(globs: &[&str]) -> FileSearch {
        let globs = globs.iter().map(|glob| (*glob).to_owned()).collect();
        let skip = Vec::new();
        FileSearch { globs, skip, root: ".".into(), hidden: false, ignore: true, follow: false, depth: None }
    }

    fn memory() -> MemoryWorld {
        let paths = ["a.md", "b/a.md", "b/.c/a.md", ".github/ci/x.yml", "out/x.md", "b/d/e/f.md"];
        MemoryWorld::with(paths.map(|path| (path, "")).into_iter().chain([(".gitignore", "out\n")])).unwrap()
    }

    #[test]
    fn files_are_found_once_and_sorted() {
        let world = memory();
        let files = |find: &FileSearch| find.files(&world).unwrap().paths.join(" ");
        assert_eq!(files(&find(&["b/*.md", "**/*.md", "*.md"])), "a.md b/a.md b/d/e/f.md");
        assert_eq!(files(&FileSearch { ignore: false, ..find(&["*/*.md"]) }), "b/a.md out/x.md");
        assert_eq!(files(&FileSearch { hidden: true, ..find(&["b/**/a.md"]) }), "b/.c/a.md b/a.md");
        assert_eq!(files(&find(&["**/.github/**/*.yml"])), ".github/ci/x.yml");
        assert_eq!(files(&FileSearch { root: "b".into(), ..find(&["**/*.md", "../*.md"]) }), "a.md b/a.md b/d/e/f.md");
        assert_eq!(files(&FileSearch { skip: vec!["**/d/**".into()], ..find(&["**/*.md"]) }), "a.md b/a.md");
        assert_eq!(files(&FileSearch { depth: Some(1), ..find(&["b/**"]) }), "b/a.md");
        assert_eq!(files(&find(&["absent/**"])), "");
        assert_eq!(files(&find(&[])), "");
    }

    #[test]
    fn folders_are_found() {
        let world = memory();
        assert_eq!(find(&["*"]).folders(&world).unwrap().paths, ["b"]);
        assert_eq!(find(&["b/**"]).folders(&world).unwrap().paths, ["b/d", "b/d/e"]);
        assert_eq!(
            FileSearch { hidden: true, ..find(&["*", "b/*"]) }.folders(&world).unwrap().paths,
            [".github", "b", "b/.c", "b/d"]
        );
    }

    proptest! {
        #[test]
        fn no_glob_panics(glob in r"[a-c*?\[\]{},./\\~!-]{0,24}", path in "[a-c./]{0,12}") {
            if let Ok(globs) = Globs::new(&[glob], "a/b") {
                globs.matches_visible(&path);
                globs.starts();
            }
        }

        #[test]
        fn what_matches_lies_where_the_walks_look(glob in r"[ab*?{},./]{1,14}", path in "[ab](/?[ab]){0,5}") {
            let Ok(globs) = Globs::new(&[glob], ".") else { return Ok(()) };
            if globs.matches(&path) {
                let reached = globs.starts().into_iter().any(|(from, depth)| {
                    path::is_below(&path, &from) && depth.is_none_or(|depth| length(&path) - length(&from) <= depth)
                });
                prop_assert!(reached, "{path} is missed by {:?}", globs.starts());
            }
        }
    }
}
