//! The description of a verb of git: its options by name and kind, what it looks at and what it changes.

#![allow(missing_docs, reason = "plain fields whose names say it")]

use crate::value::Kind;
use crate::world::run::{GitChanges, RequiredGrant};

/// A verb of `git_read` or `git`.
pub struct GitVerb {
    /// Its name: git's own, with underscores.
    pub name: &'static str,
    /// What it does, in one sentence with a full stop.
    pub summary: &'static str,
    /// Git's command, with the options that it always gets. If empty, toolsd answers itself.
    pub words: &'static [&'static str],
    /// Its options, in addition to `cwd` and `check`. Those without an option of git come in this order.
    options: &'static [&'static [GitOption]],
    pub changes: GitChanges,
    /// What it does with the contents of the working tree.
    pub files: FileUse,
    /// Whether git takes `--end-of-options` before names of commits.
    pub ends_options: bool,
    /// Whether git takes `--` before paths.
    pub ends_names: bool,
}

/// What a verb does with the contents of files in the working tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileUse {
    /// Nothing: it asks about commits.
    None,
    /// It looks at them.
    Looks,
    /// It looks at them unless it compares commits, or the index.
    Compares,
    /// It looks at them unless it is asked about commits, or the index.
    Searches,
    /// It puts those that are named into the repository.
    TakesIn,
    /// It fills them from commits.
    Fills,
}

/// An option of a verb.
pub struct GitOption {
    /// Its name in scripts.
    pub name: &'static str,
    /// Its kind, and the option of git that it becomes.
    pub kind: OptionKind,
    /// Whether it must be given.
    pub is_required: bool,
    /// What it means, in one sentence with a full stop.
    pub doc: &'static str,
}

/// The kind of an option. The text is what git gets: a whole word, or all of it up to and with the `=`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionKind {
    /// `true` adds the word.
    Flag(&'static str),
    /// A whole number that is not negative.
    Number(&'static str),
    /// Any text, in one word with the option; after it, if that does not end with `=`.
    Text(&'static str),
    /// One of these words.
    OneOf(&'static str, &'static [&'static str]),
    /// The name of a commit, object or branch; positional if there is no option.
    Ref(&'static str),
    /// The same, or a list: the option once for each.
    Refs(&'static str),
    /// `HEAD`, or a name that begins with `refs/`.
    FullRef,
    /// Paths, taken literally, after `--`.
    Paths,
    /// A path, positional among the names.
    Path,
    /// A message, which git reads on its standard input (`-F -`).
    Message,
    /// Lines, which git reads there.
    Lines,
    /// Paths of files, which git reads there (`--stdin-paths`), a line for each: it reads their contents.
    Files,
    /// The author and committer, as variables of git's environment: `NAME <EMAIL>`.
    Person,
    /// When a commit was made, as variables.
    Date,
    /// The name of an index in addition to that of the user, as a variable.
    Index,
    /// An option that toolsd evaluates itself: a flag, a text or a whole number.
    Host(Kind),
}

impl OptionKind {
    /// The word for it in documentation and messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Flag(_) | Self::Host(Kind::Bool) => "flag",
            Self::Number(_) | Self::Host(Kind::Integer) => "number",
            Self::OneOf(..) => "one of",
            Self::Ref(_) | Self::FullRef => "name",
            Self::Refs(_) => "name or list of names",
            Self::Path => "path",
            Self::Paths | Self::Files => "path or list of paths",
            Self::Lines => "list of lines",
            Self::Text(_) | Self::Message | Self::Person | Self::Date | Self::Index | Self::Host(_) => "text",
        }
    }

    /// The same with the words that it takes.
    pub fn describe(self) -> String {
        match self {
            Self::OneOf(_, known) => {
                format!("one of {}", known.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(" "))
            }
            Self::Paths => format!("{}, without wildcards", self.name()),
            other => other.name().to_owned(),
        }
    }
}

pub const fn option(name: &'static str, kind: OptionKind, doc: &'static str) -> GitOption {
    GitOption { name, kind, is_required: false, doc }
}

pub const fn required(name: &'static str, kind: OptionKind, doc: &'static str) -> GitOption {
    GitOption { name, kind, is_required: true, doc }
}

impl GitVerb {
    /// A verb that asks about commits.
    pub const fn new(
        name: &'static str,
        words: &'static [&'static str],
        options: &'static [&'static [GitOption]],
        summary: &'static str,
    ) -> Self {
        let (changes, files) = (GitChanges::Nothing, FileUse::None);
        Self { name, summary, words, options, changes, files, ends_options: true, ends_names: true }
    }

    pub fn options(&self) -> impl Iterator<Item = &'static GitOption> + Clone + use<> {
        self.options.iter().copied().flatten()
    }

    pub fn needs(&self) -> RequiredGrant {
        match (self.name, self.changes) {
            ("fetch", _) => RequiredGrant::FetchGit,
            (_, GitChanges::Nothing) => RequiredGrant::ReadGit,
            _ => RequiredGrant::WriteGit,
        }
    }

    /// The same, and it changes this.
    #[must_use]
    pub const fn changing(mut self, changes: GitChanges) -> Self {
        self.changes = changes;
        self
    }

    /// The same, with this use of the working tree.
    #[must_use]
    pub const fn using(mut self, files: FileUse) -> Self {
        self.files = files;
        self
    }

    /// The same, without `--end-of-options`: names that begin with `-` are still refused.
    #[must_use]
    pub const fn without_end(mut self) -> Self {
        self.ends_options = false;
        self
    }

    /// The same, without `--` before its paths: they follow a required name.
    #[must_use]
    pub const fn without_dashes(mut self) -> Self {
        self.ends_names = false;
        self
    }
}
