//! The verbs of `git_read` about files, refs and settings: they change nothing.

use super::verb::OptionKind::{
    Files, Flag, FullRef, Host, Index, Names, Number, OneOf, Paths, Pattern, Ref, RefFormat, RefOf, Refs, Sort,
};
use super::verb::{GitOption, Literal, Reads, Shape, Tells, Verb, option, required};
use crate::world::run::ChildProcesses;

const PATHS: GitOption = option("paths", Paths, "Only what lies there.");
const Z: GitOption = option("z", Flag("-z"), "A NUL ends each entry, and no name is quoted.");

/// The verbs.
pub const VERBS: &[Verb] = &[
    Verb::read(
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
    .telling(Tells::Files),
    Verb::read(
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
    Verb::read(
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
    Verb::read(
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
    Verb::read(
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
    Verb::read(
        "current_branch",
        &["branch", "--show-current"],
        &[],
        "The branch that is checked out; nothing if there is none.",
    )
    .of_commits(),
    Verb::read(
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
    Verb::read(
        "notes",
        &["notes", "show"],
        &[option("ref", Ref, "The commit; `HEAD` if left out.")],
        "The note of a commit.",
    )
    .of_commits()
    // It becomes `git show`.
    .starts(ChildProcesses::SameProgram),
    Verb::read(
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
    Verb::read(
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
    .reading(Reads::Searched),
    Verb::read(
        "check_ignore",
        &["check-ignore", "--stdin", "-z"],
        &[
            required("paths", Files, "The paths in question."),
            option("verbose", Flag("--verbose"), "The rule and where it stands, too."),
            option("non_matching", Flag("--non-matching"), "Those that no rule covers, too; with `verbose`."),
        ],
        "Which paths are ignored, each with a NUL at its end. Ends with 1 if none is.",
    )
    .telling(Tells::Rules)
    // It refuses to take paths as they are, though it does; what is a pattern to it begins with `:`.
    .taking(Literal::Untold),
    Verb::read("worktrees", &["worktree", "list", "--porcelain"], &[Z], "The working trees.").of_commits(),
    Verb::read("stash_list", &["stash", "list"], &[], "The entries of the stash.")
        .of_commits()
        .starts(ChildProcesses::SameProgram),
    Verb::read("remotes", &["remote", "--verbose"], &[], "The remotes and where they are.").of_commits(),
    Verb::read(
        "config",
        &[],
        &[
            option("name", Host(Shape::Text), "A key, such as `remote.origin.url`."),
            option(
                "pattern",
                Host(Shape::Text),
                "A regular expression that keys match, in lower case but for the middle.",
            ),
            option(
                "show_scope",
                Host(Shape::Flag),
                "`local`, `worktree`, `global`, `system` or `command` (the host's environment) and a tab before each line.",
            ),
        ],
        "What the repository's configuration says, and of the user's `user.*`, `init.defaultBranch` and the like. Ends with 1 if there is no such key. No git is started, and what the repository includes is not read.",
    ),
    Verb::read(
        "repository",
        &[],
        &[required(
            "show",
            Host(Shape::Text),
            "`top`, `prefix` (the folder of the call below the top), `git_dir` or `common_dir`.",
        )],
        "Where the repository of a folder lies. No git is started.",
    ),
];
