//! The verbs of `git_read`: they change nothing.

use super::verb::OptionKind::{
    Date, Files, Flag, Format, FullRef, Host, Index, Names, Number, OneOf, Paths, Pattern, Ref, RefFormat, RefOf, Refs,
    Sort, Text,
};
use super::verb::{GitOption, GitVerb, HostOptionKind, PathspecMode, ToldNames, WorktreeReads, option, required};
use crate::world::run::ChildProcesses;

const PATHS: GitOption = option("paths", Paths, "Only what lies there.");
const REFS: GitOption = option("refs", Refs, "Commits, and ranges such as `a..b` and `a...b`.");
const Z: GitOption = option("z", Flag("-z"), "A NUL ends each entry, and no name is quoted.");
const DIFF_FILTER: &str = "Only these kinds of change, such as `U` for conflicts.";

/// Options of everything that walks along commits.
const WALKING: &[GitOption] = &[
    REFS,
    option("all", Flag("--all"), "All refs."),
    option("branches", Flag("--branches"), "All branches."),
    option("tags", Flag("--tags"), "All tags."),
    option("max_count", Number("--max-count="), "So many at most."),
    option("skip", Number("--skip="), "So many are passed by first."),
    option("since", Date("--since="), "None before this date."),
    option("until", Date("--until="), "None after this date."),
    option("author", Text("--author="), "A pattern that the author matches."),
    option("grep", Text("--grep="), "A pattern that the message matches."),
    option("merges", Flag("--merges"), "Merges only."),
    option("no_merges", Flag("--no-merges"), "No merges."),
    option("first_parent", Flag("--first-parent"), "Along first parents only."),
    option("left_right", Flag("--left-right"), "Says from which side of `a...b` a commit comes."),
    option("left_only", Flag("--left-only"), "The left side of `a...b`."),
    option("right_only", Flag("--right-only"), "The right side of `a...b`."),
    option("cherry_pick", Flag("--cherry-pick"), "None that the other side of `a...b` has, too."),
    option("ancestry_path", Flag("--ancestry-path"), "Only between both ends of a range."),
    option("boundary", Flag("--boundary"), "The ends of ranges, too."),
    option("reverse", Flag("--reverse"), "Oldest first."),
    option("topo_order", Flag("--topo-order"), "No parent before its children."),
    option("date_order", Flag("--date-order"), "By date, and no parent before its children."),
    option("parents", Flag("--parents"), "The parents, too."),
];

/// Options of everything that shows differences.
const DIFFERING: &[GitOption] = &[
    Z,
    option("patch", Flag("--patch"), "Shows what changed, line by line."),
    option("no_patch", Flag("--no-patch"), "Shows no changes."),
    option("name_only", Flag("--name-only"), "Shows names of files only."),
    option("name_status", Flag("--name-status"), "Shows names of files and kinds of change."),
    option("numstat", Flag("--numstat"), "Counts lines, for programs."),
    option("stat", Flag("--stat"), "Counts lines, for people."),
    option("shortstat", Flag("--shortstat"), "The sum of `stat`."),
    option("raw", Flag("--raw"), "Modes, hashes and kinds of change."),
    option("diff_filter", Text("--diff-filter="), DIFF_FILTER),
    option("unified", Number("--unified="), "So many lines around a change."),
    option("find_renames", Flag("--find-renames"), "Finds what was renamed."),
    option("no_renames", Flag("--no-renames"), "Takes a rename for a removal and a new file."),
    option("ignore_all_space", Flag("--ignore-all-space"), "Blanks do not count."),
    option("binary", Flag("--binary"), "Shows binary files so that `apply` takes them."),
    option("full_index", Flag("--full-index"), "Shows whole hashes."),
    option("abbrev", Number("--abbrev="), "So many letters of a hash."),
    option(
        "exit_code",
        Flag("--exit-code"),
        "Ends with 1 if something differs: give `check: false` with it, or that is a fault.",
    ),
];

/// The verbs about commits and what differs.
pub const COMMITS: &[GitVerb] = &[
    GitVerb::read(
        "status",
        &["status", "--ignore-submodules=dirty"],
        &[
            PATHS,
            Z,
            option("porcelain", OneOf("--porcelain=", &["v1", "v2"]), "The form for programs."),
            option("short", Flag("--short"), "The short form for people."),
            option("branch", Flag("--branch"), "The branch, too."),
            option("untracked", OneOf("--untracked-files=", &["no", "normal", "all"]), "Files that git does not know."),
            option("ignored", Flag("--ignored"), "Ignored files, too."),
            option("no_renames", Flag("--no-renames"), "Takes a rename for a removal and a new file."),
        ],
        "What differs between the last commit, the index and the files. Of submodules: whether one moved.",
    )
    .telling(ToldNames::Status),
    GitVerb::read(
        "log",
        &["log", "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty"],
        &[
            PATHS,
            option("format", Format("--format="), "How a commit is shown."),
            option("oneline", Flag("--oneline"), "A line for each commit."),
            option("date", Text("--date="), "How dates are shown, such as `iso-strict`."),
            option("follow", Flag("--follow"), "Goes on before a rename of the one path."),
        ],
        "Commits, newest first.",
    )
    .of_commits()
    .sharing(&[WALKING, DIFFERING]),
    GitVerb::read(
        "diff",
        &["diff", "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty"],
        &[
            PATHS,
            option("refs", Refs, "Two commits, a range, or one commit against the files."),
            option("cached", Flag("--cached"), "The index in place of the files."),
            option("merge_base", Flag("--merge-base"), "Against the common ancestor."),
            option("check_whitespace", Flag("--check"), "Only tells of leftover markers and blanks."),
        ],
        "What differs between commits, the index and the files. Of submodules: whether one moved.",
    )
    .of_commits()
    .reading(WorktreeReads::Compared)
    .sharing(&[DIFFERING]),
    GitVerb::read(
        "diff_tree",
        &["diff-tree", "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty"],
        &[
            PATHS,
            required("refs", Refs, "One commit or two trees."),
            option("recursive", Flag("-r"), "Looks into folders."),
            option("root", Flag("--root"), "The first commit, too."),
            option("no_commit_id", Flag("--no-commit-id"), "Does not show the commit."),
        ],
        "What differs between two trees.",
    )
    .of_commits()
    .sharing(&[DIFFERING]),
    GitVerb::read(
        "show",
        &["show", "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty"],
        &[
            PATHS,
            required("refs", Refs, "Commits, tags, or files such as `HEAD:./a.md` and, of a conflict, `:2:a.md`."),
            option("format", Format("--format="), "How a commit is shown."),
            option("oneline", Flag("--oneline"), "A line for each commit."),
            option("date", Text("--date="), "How dates are shown, such as `iso-strict`."),
        ],
        "Commits with what they change, tags, trees and files.",
    )
    .of_commits()
    .sharing(&[DIFFERING]),
    GitVerb::read(
        "rev_list",
        &["rev-list"],
        &[
            PATHS,
            option("count", Flag("--count"), "Only how many."),
            option("objects", Flag("--objects"), "Their trees and files, too."),
            option("no_object_names", Flag("--no-object-names"), "No paths behind objects."),
        ],
        "The hashes of commits, newest first.",
    )
    .of_commits()
    .sharing(&[WALKING]),
    GitVerb::read(
        "rev_parse",
        &["rev-parse", "--verify"],
        &[
            required("ref", Ref, "What is named."),
            option("quiet", Flag("--quiet"), "Says nothing if there is none, and ends with 1."),
            option("short", Flag("--short"), "The short hash."),
            option("abbrev_ref", Flag("--abbrev-ref"), "The short name of the branch."),
            option("symbolic_full_name", Flag("--symbolic-full-name"), "The whole name of the ref."),
        ],
        "The hash that a name stands for.",
    )
    .of_commits(),
    GitVerb::read(
        "merge_base",
        &["merge-base"],
        &[
            required("refs", Refs, "Two commits or more."),
            option("all", Flag("--all"), "All common ancestors."),
            option("octopus", Flag("--octopus"), "Of all together."),
            option("independent", Flag("--independent"), "Those that none of the others has."),
            option(
                "is_ancestor",
                Flag("--is-ancestor"),
                "Ends with 0 if the first is an ancestor of the second, else with 1.",
            ),
            option("fork_point", Flag("--fork-point"), "By the log of the ref."),
        ],
        "The common ancestor of commits.",
    )
    .of_commits(),
    GitVerb::read(
        "describe",
        &["describe"],
        &[
            option("refs", Refs, "The commits; `HEAD` if left out."),
            option("all", Flag("--all"), "By any ref."),
            option("tags", Flag("--tags"), "By any tag."),
            option("always", Flag("--always"), "By its hash if need be."),
            option("contains", Flag("--contains"), "By a tag behind it."),
            option("exact_match", Flag("--exact-match"), "Only by a tag of its own."),
            option("long", Flag("--long"), "The long form always."),
            option("match", Text("--match="), "A glob that the tag matches."),
            option("abbrev", Number("--abbrev="), "So many letters of a hash."),
        ],
        "A commit by the nearest tag.",
    )
    .of_commits(),
    GitVerb::read(
        "blame",
        &["blame", "--no-textconv"],
        &[
            option("ref", Ref, "As of this commit."),
            required("paths", Paths, "The file."),
            option("porcelain", Flag("--porcelain"), "The form for programs."),
            option("line_porcelain", Flag("--line-porcelain"), "The same, with all of it at each line."),
            option("lines", Text("-L"), "A range such as `10,20`."),
        ],
        "Who changed each line of a file last.",
    )
    .reading(WorktreeReads::All)
    .without_end(),
];

/// The verbs about files, refs and settings.
pub const LOOKUPS: &[GitVerb] = &[
    GitVerb::read(
        "files",
        &["ls-files"],
        &[
            PATHS,
            Z,
            option("index", Index, "Another index than that of the user."),
            option(
                "cached",
                Flag("--cached"),
                "Files that git knows; this is what is shown if nothing else is asked for.",
            ),
            option("deleted", Flag("--deleted"), "Those that are gone."),
            option("modified", Flag("--modified"), "Those that were changed."),
            option("others", Flag("--others"), "Files that git does not know."),
            option("ignored", Flag("--ignored"), "Ignored ones only."),
            option("exclude_standard", Flag("--exclude-standard"), "Ignored ones are left out of `others`."),
            option("stage", Flag("--stage"), "Modes, hashes and stages, too."),
            option("unmerged", Flag("--unmerged"), "Conflicts only."),
            option("directory", Flag("--directory"), "A folder that git does not know, as one."),
            option("full_name", Flag("--full-name"), "Paths from the top of the working tree."),
            option("error_unmatch", Flag("--error-unmatch"), "A path that is not there is a fault."),
        ],
        "The files in the index, and beside it.",
    )
    .telling(ToldNames::Files),
    GitVerb::read(
        "tree",
        &["ls-tree"],
        &[
            required("ref", Ref, "A commit or tree."),
            PATHS,
            Z,
            option("recursive", Flag("-r"), "Looks into folders."),
            option("trees", Flag("-t"), "Folders, too, where it looks into them."),
            option("only_trees", Flag("-d"), "Folders only."),
            option("name_only", Flag("--name-only"), "Names only."),
            option("long", Flag("--long"), "Sizes, too."),
            option("full_tree", Flag("--full-tree"), "From the top, wherever the call is."),
            option("full_name", Flag("--full-name"), "Paths from the top of the working tree."),
        ],
        "The files of a commit.",
    )
    .of_commits()
    // It takes `--` for a path.
    .without_dashes(),
    GitVerb::read(
        "object",
        &["cat-file"],
        &[
            required(
                "show",
                OneOf("-", &["p", "t", "s", "e"]),
                "`p` its content, `t` its type, `s` its size, `e` only whether it is there.",
            ),
            required("ref", Ref, "A commit, tree, tag, or a file such as `HEAD:./a.md`."),
        ],
        "One object as it is.",
    )
    .of_commits(),
    GitVerb::read(
        "refs",
        &["for-each-ref"],
        &[
            option("names", Names, "Prefixes such as `refs/heads`."),
            option("format", RefFormat("--format="), "How a ref is shown, such as `%(refname:short)`."),
            option("sort", Sort("--sort="), "By which field, such as `-committerdate`."),
            option("count", Number("--count="), "So many at most."),
            option("contains", RefOf("--contains="), "Those that hold this commit."),
            option("merged", RefOf("--merged="), "Those that this commit holds."),
            option("no_merged", RefOf("--no-merged="), "Those that this commit does not hold."),
            option("points_at", RefOf("--points-at="), "Those of this object."),
        ],
        "Branches, tags and other refs.",
    )
    .of_commits(),
    GitVerb::read(
        "branches",
        &["branch", "--list"],
        &[
            option("all", Flag("--all"), "Those of remotes, too."),
            option("remotes", Flag("--remotes"), "Those of remotes only."),
            option("contains", RefOf("--contains="), "Those that hold this commit."),
            option("merged", RefOf("--merged="), "Those that this commit holds."),
            option("no_merged", RefOf("--no-merged="), "Those that this commit does not hold."),
            option("format", RefFormat("--format="), "How a branch is shown, such as `%(refname:short)`."),
            option("sort", Sort("--sort="), "By which field, such as `-committerdate`."),
        ],
        "The branches.",
    )
    .of_commits(),
    GitVerb::read(
        "current_branch",
        &["branch", "--show-current"],
        &[],
        "The branch that is checked out; nothing if there is none.",
    )
    .of_commits(),
    GitVerb::read(
        "tags",
        &["tag", "--list"],
        &[
            option("names", Names, "Globs that the name matches."),
            option("contains", RefOf("--contains="), "Those that hold this commit."),
            option("format", RefFormat("--format="), "How a tag is shown."),
            option("sort", Sort("--sort="), "By which field, such as `-creatordate`."),
        ],
        "The tags.",
    )
    .of_commits(),
    GitVerb::read(
        "notes",
        &["notes", "show"],
        &[option("ref", Ref, "The commit; `HEAD` if left out.")],
        "The note of a commit.",
    )
    .of_commits()
    // It becomes `git show`.
    .starts(ChildProcesses::SameProgram),
    GitVerb::read(
        "symbolic_ref",
        &["symbolic-ref"],
        &[
            required("ref", FullRef, "Such as `HEAD`."),
            option("short", Flag("--short"), "The short name."),
            option("quiet", Flag("--quiet"), "Says nothing if it names a commit, and ends with 1."),
        ],
        "The ref that another one names.",
    )
    .of_commits(),
    GitVerb::read(
        "grep",
        &["grep", "--no-textconv", "--no-color"],
        &[
            required("pattern", Pattern("-e"), "What a line matches."),
            option("refs", Refs, "Commits; the files if left out."),
            PATHS,
            Z,
            option("cached", Flag("--cached"), "The index in place of the files."),
            option("fixed", Flag("--fixed-strings"), "The pattern is a text."),
            option("extended", Flag("--extended-regexp"), "The pattern is an extended regular expression."),
            option("ignore_case", Flag("--ignore-case"), "Small and capital letters are the same."),
            option("words", Flag("--word-regexp"), "Whole words only."),
            option("line_number", Flag("--line-number"), "Numbers of lines, too."),
            option("name_only", Flag("--name-only"), "Names of files only."),
            option("count", Flag("--count"), "How many lines of each file."),
            option("context", Number("--context="), "So many lines around."),
            option("max_depth", Number("--max-depth="), "So many folders deep."),
        ],
        "Lines of files that git knows, by a pattern. Ends with 1 if there is none.",
    )
    // Git before 2.43 takes `--end-of-options` for a commit here.
    .without_end()
    .of_commits()
    .reading(WorktreeReads::Searched),
    GitVerb::read(
        "check_ignore",
        &["check-ignore", "--stdin", "-z"],
        &[
            required("paths", Files, "The paths in question."),
            option("verbose", Flag("--verbose"), "The rule and where it stands, too."),
            option("non_matching", Flag("--non-matching"), "Those that no rule covers, too; with `verbose`."),
        ],
        "Which paths are ignored, each with a NUL at its end. Ends with 1 if none is.",
    )
    .telling(ToldNames::Rules)
    // It refuses to take paths as they are, though it does; what is a pattern to it begins with `:`.
    .taking(PathspecMode::Untold),
    GitVerb::read("worktrees", &["worktree", "list", "--porcelain"], &[Z], "The working trees.").of_commits(),
    GitVerb::read("stash_list", &["stash", "list"], &[], "The entries of the stash.")
        .of_commits()
        .starts(ChildProcesses::SameProgram),
    GitVerb::read("remotes", &["remote", "--verbose"], &[], "The remotes and where they are.").of_commits(),
    GitVerb::read(
        "config",
        &[],
        &[
            option("name", Host(HostOptionKind::Text), "A key, such as `remote.origin.url`."),
            option(
                "pattern",
                Host(HostOptionKind::Text),
                "A regular expression that keys match, in lower case but for the middle.",
            ),
            option(
                "show_scope",
                Host(HostOptionKind::Flag),
                "`local`, `worktree`, `global`, `system` or `command` (the host's environment) and a tab before each line.",
            ),
        ],
        "What the repository's configuration says, and of the user's `user.*`, `init.defaultBranch` and the like. Ends with 1 if there is no such key. No git is started, and what the repository includes is not read.",
    ),
    GitVerb::read(
        "repository",
        &[],
        &[required(
            "show",
            Host(HostOptionKind::Text),
            "`top`, `prefix` (the folder of the call below the top), `git_dir` or `common_dir`.",
        )],
        "Where the repository of a folder lies. No git is started.",
    ),
];
