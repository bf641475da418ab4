//! The options that all finders of files share.

use super::Args;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::world::find::Find;

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
    Ok(Find {
        globs: args.texts("globs")?,
        skip: args.texts("skip")?,
        root: args.text_or("root").unwrap_or(".").to_owned(),
        hidden: args.flag("hidden"),
        ignore: args.given("ignore").is_none() || args.flag("ignore"),
        follow: args.flag("follow"),
        depth,
    })
}
