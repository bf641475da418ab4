//! When the user's configuration includes another file: the conditions of `includeIf`, as git judges them (see
//! `git-config(1)`, "Conditional includes", and `include_condition_is_true()` in its `config.c`).
//!
//! Absent, as no configuration was seen with them: `~name/` for another user's home folder, classes of letters such as
//! `[[:alpha:]]`, and the branch of a repository whose refs are a table.

use super::super::place;
use super::{place_of, text};
use crate::world::path;
use globset::GlobBuilder;

/// What conditions ask about: a repository.
pub(super) struct Conditions<'a> {
    /// Its folder, free of symlinks; empty outside of one.
    pub git_dir: &'a str,
    /// The addresses of its remotes.
    pub remotes: Vec<String>,
}

impl Conditions<'_> {
    //= docs/spec.md#git
    //# A file that the user's configuration includes on a condition MUST count where git would include it.
    /// Whether a condition holds that stands in `file`; one that git does not know does not.
    pub(super) fn hold(&self, condition: &str, file: &str) -> bool {
        let Some((kind, asked)) = condition.split_once(':') else { return false };
        match kind {
            "gitdir" => self.lies_in(asked, file, false),
            "gitdir/i" => self.lies_in(asked, file, true),
            "onbranch" => self.branch().is_some_and(|branch| matches(&with_all_below(asked), &branch, false)),
            "hasconfig" => asked
                .strip_prefix("remote.*.url:")
                .is_some_and(|pattern| self.remotes.iter().any(|remote| matches(pattern, remote, false))),
            _ => false,
        }
    }

    fn lies_in(&self, asked: &str, file: &str, folds: bool) -> bool {
        // Git takes a home folder as a part of the pattern, and the folder of the file literally.
        let whole = match (asked.strip_prefix("~/"), asked.strip_prefix("./")) {
            (Some(rest), _) => place::home_folder().and_then(|home| Some(format!("{}/{rest}", place_of(&home)?))),
            (_, Some(rest)) => {
                place_of(path::folder(file)).map(|folder| format!("{}/{rest}", globset::escape(&folder)))
            }
            _ if asked.starts_with('/') => Some(asked.to_owned()),
            _ => Some(format!("**/{asked}")),
        };
        !self.git_dir.is_empty() && whole.is_some_and(|whole| matches(&with_all_below(&whole), self.git_dir, folds))
    }

    /// The branch that is checked out, without `refs/heads/`.
    fn branch(&self) -> Option<String> {
        if self.git_dir.is_empty() {
            return None;
        }
        let head = text(&path::join(self.git_dir, "HEAD"))?;
        let name = head.strip_prefix("ref:")?.trim().strip_prefix("refs/heads/")?;
        Some(name.to_owned())
    }
}

/// A pattern that ends as a folder stands for all below it.
fn with_all_below(pattern: &str) -> String {
    let all = if pattern.ends_with('/') { "**" } else { "" };
    format!("{pattern}{all}")
}

/// Whether a text fits a pattern of git's, letter by letter: nothing of a pattern is made clean, so `..` or `//` in one fits no
/// folder. Braces mean nothing there.
fn matches(pattern: &str, text: &str, folds: bool) -> bool {
    let mut escaped = String::with_capacity(pattern.len());
    let mut letters = pattern.chars();
    while let Some(letter) = letters.next() {
        if matches!(letter, '{' | '}') {
            escaped.push('\\');
        }
        escaped.push(letter);
        if letter == '\\' {
            escaped.extend(letters.next());
        }
    }
    let glob =
        GlobBuilder::new(&escaped).literal_separator(true).backslash_escape(true).case_insensitive(folds).build();
    // What is no pattern fits nothing, for git too.
    glob.is_ok_and(|glob| glob.compile_matcher().is_match(text))
}
