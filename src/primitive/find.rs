//! The options that all finders of files share.

use super::{Args, Param, option, required};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard;
use crate::value::Kind;
use crate::world::find::Find;

/// The parameter `globs` of every primitive that finds files.
pub const GLOBS: Param = required(
    "globs",
    &[Kind::Text, Kind::List],
    "A glob or several: `*`, `?`, `[a-z]`, `**` for any folders, `{a,b}`.",
);

/// The parameter `root` of every primitive that finds files.
pub const ROOT: Param =
    option("root", &[Kind::Text], "The folder that globs begin at; results still begin at the root of the workspace.");

/// The parameter `skip` of every primitive that finds files.
pub const SKIP: Param = option("skip", &[Kind::Text, Kind::List], "Globs of what is left out.");

/// The parameter `hidden` of every primitive that finds files.
pub const HIDDEN: Param = option(
    "hidden",
    &[Kind::Bool],
    "Whether wildcards match names that begin with a dot; a dot that the glob writes out is always matched.",
);

/// The parameter `ignore` of every primitive that finds files.
pub const IGNORE: Param = option(
    "ignore",
    &[Kind::Bool],
    "Whether `.git` and what `.gitignore` and `.ignore` files name is left out; true unless told.",
);

/// The parameter `follow` of every primitive that finds files.
pub const FOLLOW: Param =
    option("follow", &[Kind::Bool], "Whether symlinks are followed to what the pack may read; else they are left out.");

/// The parameter `depth` of every primitive that finds files.
pub const DEPTH: Param = option(
    "depth",
    &[Kind::Integer],
    "How many folders deep to look, at most; 1 = no further than where the wildcards begin.",
);

/// What a byte of a glob takes to be compiled at worst, in nanoseconds.
const COMPILING: u32 = 1_000;

/// What a finder is asked for: `globs`, and the options `root`, `skip`, `hidden`, `ignore`, `follow`, `depth`.
pub fn find_of(args: &Args) -> Result<Find> {
    let depth = match args.integer_or("depth") {
        Some(depth) => Some(usize::try_from(depth).ok().filter(|depth| *depth > 0).ok_or_else(|| {
            Diagnostic::new(
                Code::ARGUMENTS,
                format!("`depth` of `{}` is at least 1, got {depth}", args.primitive_name()),
            )
        })?),
        None => None,
    };
    let (globs, skip) = (args.texts("globs")?, args.texts("skip")?);
    // Each glob is compiled behind the root.
    let root = args.path_or("root")?.unwrap_or(".");
    let bytes = globs.iter().chain(&skip).map(|glob| glob.len().saturating_add(root.len()));
    guard::require_time("a set of globs", bytes.fold(0, usize::saturating_add), COMPILING)?;
    Ok(Find {
        globs,
        skip,
        root: root.to_owned(),
        hidden: args.flag("hidden"),
        ignore: args.given("ignore").is_none() || args.flag("ignore"),
        follow: args.flag("follow"),
        depth,
    })
}
