//! The description of a verb of git: its options by name and kind, what it reads and which files it changes.

use crate::world::run::{ChildProcesses, RequiredGrant};

/// A verb of `git_read` or `git`.
pub struct GitVerb {
    /// Its name: git's own, with underscores.
    pub name: &'static str,
    /// What it does, in one sentence with a full stop.
    pub summary: &'static str,
    /// Git's command, with the options that it always gets.
    pub words: &'static [&'static str],
    /// What it takes besides `folder` and `check`. Those without an option of git come in this order.
    own: &'static [GitOption],
    /// Options that it has in common with others.
    shared: &'static [&'static [GitOption]],
    /// Whether `--end-of-options` may stand before names of commits, as of git 2.37.
    pub ends_options: bool,
    /// Whether `--` may stand before paths.
    pub ends_names: bool,
    /// The grant that it needs.
    pub needs: RequiredGrant,
    /// Whether git has to start git.
    pub processes: ChildProcesses,
    /// Which files of the working tree it changes.
    pub changes: WorktreeChanges,
    /// Which contents of the working tree it shows or keeps.
    pub reads: WorktreeReads,
    /// Whether it prints what commits and refs hold: of the working tree it reads attributes alone. All others get of it what
    /// the grants to read cover, and no more.
    pub is_of_commits: bool,
    /// Which names of the working tree it tells.
    pub tells: ToldNames,
    /// Whether its paths are taken as they are.
    pub literal: PathspecMode,
    /// What it adds of the working tree, where git would look into submodules.
    pub adds: IndexAdditions,
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
    /// Any text.
    Text(&'static str),
    /// A pattern, after a word of its own.
    Pattern(&'static str),
    /// A date, as `git log --since` takes it.
    Date(&'static str),
    /// A format of `git log`, of placeholders that start nothing.
    Format(&'static str),
    /// A format of `git for-each-ref`, of fields that start nothing.
    RefFormat(&'static str),
    /// A field of a ref, with `-` before it for the other way round.
    Sort(&'static str),
    /// One of these words.
    OneOf(&'static str, &'static [&'static str]),
    /// The name of a branch that is made, for an option of git; a word of its own unless that ends with `=`.
    NewBranch(&'static str),
    /// The name of a commit or object, for an option of git.
    RefOf(&'static str),
    /// The names of commits or objects, for an option of git that is given once for each.
    RefsOf(&'static str),
    /// The name of a commit or object.
    Ref,
    /// The names of commits or objects.
    Refs,
    /// `HEAD`, or a name that begins with `refs/`.
    FullRef,
    /// The names of branches, or prefixes of refs.
    Names,
    /// A path, in its place among the names.
    Path,
    /// Paths, taken literally, after `--`.
    Paths,
    /// A message, by git's standard input.
    Message,
    /// What git reads on its standard input, and the option of git that says so.
    Input(Option<&'static str>),
    /// Lines that git reads on its standard input.
    Lines,
    /// Paths of files, by git's standard input: a NUL behind each.
    Files,
    /// Paths of files whose contents git reads; by its standard input: a line for each, and the option of git that says so.
    Contents(&'static str),
    /// Who a commit is of: `NAME <EMAIL>`, for git's environment.
    Signature,
    /// When a commit was made, for git's environment.
    Moment,
    /// The name of an index of its own beside that of the user.
    Index,
    /// A number, in its place, as git writes entries of the stash.
    Entry,
    /// What the host looks at itself.
    Host(HostOptionKind),
}

/// What the host takes for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostOptionKind {
    /// `true` or `false`.
    Flag,
    /// A text.
    Text,
    /// A number, whole or not.
    Float,
}

impl OptionKind {
    /// The word for it in documentation and messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Flag(_) | Self::Host(HostOptionKind::Flag) => "flag",
            Self::Number(_) | Self::Entry | Self::Host(HostOptionKind::Float) => "number",
            Self::Text(_) | Self::Pattern(_) | Self::Sort(_) | Self::Host(HostOptionKind::Text) | Self::Input(_) => {
                "text"
            }
            Self::Signature => "text",
            Self::Date(_) | Self::Moment => "date",
            Self::Format(_) | Self::RefFormat(_) => "format",
            Self::OneOf(..) => "one of",
            Self::RefOf(_) | Self::Ref | Self::FullRef => "ref",
            Self::RefsOf(_) | Self::Refs => "ref or list of refs",
            Self::Names => "name or list of names",
            Self::Path => "path",
            Self::Paths | Self::Files | Self::Contents(_) => "path or list of paths",
            Self::Message => "message",
            Self::Lines => "list of lines",
            Self::Index | Self::NewBranch(_) => "name",
        }
    }
}

impl OptionKind {
    /// The same with the words that it takes.
    pub fn describe(self) -> String {
        match self {
            Self::OneOf(_, known) => {
                format!("one of {}", known.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(" "))
            }
            Self::Paths | Self::Files => format!("{}, without wildcards", self.name()),
            other => other.name().to_owned(),
        }
    }
}

/// Which files of the working tree a verb changes: how the host finds them out before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorktreeChanges {
    /// None: it looks, or changes the repository only.
    Nothing,
    /// What differs between `HEAD` and `ref`.
    Switched,
    /// What differs between `source`, or the index, and the files, below `paths`; nothing with `staged` alone.
    Restored,
    /// With a mode that changes files, what differs between `ref` and the files.
    Reset,
    /// What joining `ref` or `refs` into `HEAD` can change.
    Merged,
    /// What the commits `refs` change.
    Picked,
    /// The same, the other way round.
    Reverted,
    /// What moving the commits of `HEAD` onto `onto` can change.
    Rebased,
    /// What was changed since a command began that is given up.
    Aborted,
    /// What a patch names.
    Patched,
    /// What is moved, and where to.
    Moved,
    /// What is removed; nothing with `cached`.
    Removed,
    /// What git does not know below `paths`.
    Cleaned,
    /// What was changed and is put aside.
    StashPushed,
    /// What comes back from an entry of the stash.
    StashPopped,
    /// All of a new working tree.
    WorktreeAdded,
    /// All of a working tree.
    WorktreeRemoved,
    /// What is hidden, and what is shown again.
    Sparse,
    /// A folder `.git`.
    Made,
}

/// Which contents of files in the working tree a verb shows or keeps. What commits hold is no matter of this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorktreeReads {
    /// None.
    Nothing,
    /// Those that its paths name; all, without any.
    All,
    /// The same, unless with `cached`, or between two commits.
    Compared,
    /// Those that its paths name; those in its folder, without any. None with `cached`, or where commits are named.
    Searched,
    /// With `all` those that git knows, else those that its paths name.
    Committed,
    /// Those that are named to it, and no other.
    Named,
}

/// Which names of files in the working tree, unknown to git, a verb tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToldNames {
    /// None.
    Nothing,
    /// Those of `status`.
    Status,
    /// Those of `ls-files`.
    Files,
    /// None; but with `verbose` the rules of ignore files.
    Rules,
}

/// Whether paths are names, or patterns of git.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathspecMode {
    /// Names.
    Always,
    /// Names, though git must not be told: it refuses to take them as such, or hands patterns of its own on.
    Untold,
    /// Names; and where none are given, git must not be told that they are.
    IfAny,
}

/// What a verb adds to the index of the files that git knows or finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexAdditions {
    /// Nothing.
    Nothing,
    /// Files.
    Files,
    /// Files that git knows, for a commit.
    ForCommit,
}

/// An option that may be left out.
pub const fn option(name: &'static str, kind: OptionKind, doc: &'static str) -> GitOption {
    GitOption { name, kind, is_required: false, doc }
}

/// An option that must be there.
pub const fn required(name: &'static str, kind: OptionKind, doc: &'static str) -> GitOption {
    GitOption { name, kind, is_required: true, doc }
}

impl GitVerb {
    /// A verb that changes nothing.
    pub const fn read(
        name: &'static str,
        words: &'static [&'static str],
        own: &'static [GitOption],
        summary: &'static str,
    ) -> Self {
        let mut verb = Self::write(name, words, own, WorktreeChanges::Nothing, summary);
        verb.needs = RequiredGrant::ReadGit;
        verb
    }

    /// A verb that changes the repository, and these files.
    pub const fn write(
        name: &'static str,
        words: &'static [&'static str],
        own: &'static [GitOption],
        changes: WorktreeChanges,
        summary: &'static str,
    ) -> Self {
        Self {
            name,
            summary,
            words,
            own,
            shared: &[],
            ends_options: true,
            ends_names: true,
            needs: RequiredGrant::WriteGit,
            processes: ChildProcesses::None,
            changes,
            reads: WorktreeReads::Nothing,
            is_of_commits: false,
            tells: ToldNames::Nothing,
            literal: PathspecMode::Always,
            adds: IndexAdditions::Nothing,
        }
    }

    /// All of its options.
    pub fn options(&self) -> impl Iterator<Item = &'static GitOption> + Clone + use<> {
        self.own.iter().chain(self.shared.iter().copied().flatten())
    }

    /// Where the branch begins that it makes, if it makes one.
    pub fn begins_at<'a>(&self, words: &[String], names: &'a [String]) -> Option<&'a str> {
        let makes = |option: &GitOption| match option.kind {
            OptionKind::NewBranch(word) => words.iter().skip(self.words.len()).any(|given| given.starts_with(word)),
            _ => false,
        };
        if self.words.contains(&"--no-track") {
            return names.get(1).map(String::as_str);
        }
        self.options().any(makes).then(|| names.last())?.map(String::as_str)
    }

    /// The same, with options that others have, too.
    #[must_use]
    pub const fn sharing(mut self, shared: &'static [&'static [GitOption]]) -> Self {
        self.shared = shared;
        self
    }

    /// The same, without `--end-of-options`: names that begin with `-` are refused all the same.
    #[must_use]
    pub const fn without_end(mut self) -> Self {
        self.ends_options = false;
        self
    }

    /// The same, without `--` before its paths: they follow a name that must be there.
    #[must_use]
    pub const fn without_dashes(mut self) -> Self {
        self.ends_names = false;
        self
    }

    /// The same, and git starts git.
    #[must_use]
    pub const fn starts(mut self, processes: ChildProcesses) -> Self {
        self.processes = processes;
        self
    }

    /// The same, with another grant.
    #[must_use]
    pub const fn needing(mut self, needs: RequiredGrant) -> Self {
        self.needs = needs;
        self
    }

    /// The same, and it shows or keeps contents of the working tree.
    #[must_use]
    pub const fn reading(mut self, reads: WorktreeReads) -> Self {
        self.reads = reads;
        self
    }

    /// The same, of what commits and refs hold.
    #[must_use]
    pub const fn of_commits(mut self) -> Self {
        self.is_of_commits = true;
        self
    }

    /// The same, and it tells names of the working tree.
    #[must_use]
    pub const fn telling(mut self, tells: ToldNames) -> Self {
        self.tells = tells;
        self
    }

    /// The same, with paths that git takes otherwise.
    #[must_use]
    pub const fn taking(mut self, literal: PathspecMode) -> Self {
        self.literal = literal;
        self
    }

    /// The same, and it adds what it finds.
    #[must_use]
    pub const fn adding(mut self, adds: IndexAdditions) -> Self {
        self.adds = adds;
        self
    }
}
