//! The table of verbs: what is not here, git is not asked to do.
//!
//! Absent: `push`, and verbs that start git again (`stash`, `rebase`, `notes`, `submodule`), because git of a pack starts no
//! process. Of the others, what nobody has asked for yet: each is a row.

use super::verb::FileUse::{Compares, Fills, Looks, Searches, TakesIn};
use super::verb::OptionKind::{Flag, FullRef, Host, Input, Number, OneOf, Path, Paths, Ref, Refs, Text, Variable};
use super::verb::{GitOption, GitVerb, HostOptionKind, InputKind, VariableKind, option, required};
use crate::world::run::GitChanges::{Files, Repository};

const PATHS: GitOption = option("paths", Paths, "Only what lies there.");
const Z: GitOption = option("z", Flag("-z"), "A NUL ends each entry, and names are not quoted.");
const QUIET: GitOption = option("quiet", Flag("--quiet"), "Says nothing where all went well.");
const FORMAT: GitOption = option("format", Text("--format="), "How a commit is shown, such as `%H %s`.");
const DATES: GitOption = option("date", Text("--date="), "How dates are shown, such as `iso-strict`.");
const ONELINE: GitOption = option("oneline", Flag("--oneline"), "A line for each commit.");
const REF_FORMAT: GitOption = option("format", Text("--format="), "How each is shown, such as `%(refname:short)`.");
const SORT: GitOption = option("sort", Text("--sort="), "By which field, such as `-committerdate`.");
const CONTAINS: GitOption = option("contains", Ref("--contains="), "Those that hold this commit.");
const MERGED: GitOption = option("merged", Ref("--merged="), "Those that this commit holds.");
const INDEX: GitOption = option(
    "index",
    Variable(VariableKind::Index),
    "The name of an index of its own, so that the user's stays as it is.",
);
const MESSAGE: GitOption = option("message", Input(InputKind::Text, &["-F", "-"]), "What it says.");

/// Options of everything that walks along commits.
const WALKING: &[GitOption] = &[
    option("refs", Refs(""), "Commits, and ranges such as `a..b` and `a...b`."),
    option("all", Flag("--all"), "All refs."),
    option("branches", Flag("--branches"), "All branches."),
    option("max_count", Number("--max-count="), "So many at most."),
    option("skip", Number("--skip="), "So many are passed by first."),
    option("since", Text("--since="), "None before this date."),
    option("until", Text("--until="), "None after this date."),
    option("author", Text("--author="), "A pattern that the author matches."),
    option("grep", Text("--grep="), "A pattern that the message matches."),
    option("no_merges", Flag("--no-merges"), "No merges."),
    option("first_parent", Flag("--first-parent"), "Along first parents only."),
    option("left_right", Flag("--left-right"), "Says from which side of `a...b` a commit comes."),
    option("reverse", Flag("--reverse"), "Oldest first."),
];

/// Options of everything that shows differences.
const DIFFERING: &[GitOption] = &[
    PATHS,
    Z,
    option("patch", Flag("--patch"), "Shows what changed, line by line."),
    option("no_patch", Flag("--no-patch"), "Shows no changes."),
    option("name_only", Flag("--name-only"), "Shows names of files only."),
    option("name_status", Flag("--name-status"), "Shows names of files and kinds of change."),
    option("numstat", Flag("--numstat"), "Counts lines, for programs."),
    option("stat", Flag("--stat"), "Counts lines, for people."),
    option("diff_filter", Text("--diff-filter="), "Only these kinds of change, such as `U` for conflicts."),
    option("unified", Number("--unified="), "So many lines around a change."),
    option("no_renames", Flag("--no-renames"), "Takes a rename for a removal and a new file."),
];

const PLAIN_DIFF: [&str; 3] = ["--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty"];

/// All verbs, those that only look first.
pub(super) const VERBS: &[GitVerb] = &[
    GitVerb::new(
        "status",
        &["status", PLAIN_DIFF[2]],
        &[&[
            PATHS,
            Z,
            option("porcelain", OneOf("--porcelain=", &["v1", "v2"]), "The form for programs."),
            option("short", Flag("--short"), "The short form for people."),
            option("branch", Flag("--branch"), "The branch, too."),
            option("untracked", OneOf("--untracked-files=", &["no", "normal", "all"]), "Files that git does not know."),
            option("ignored", Flag("--ignored"), "Ignored files, too."),
            option("no_renames", Flag("--no-renames"), "Takes a rename for a removal and a new file."),
        ]],
        "What differs between the last commit, the index and the files. Of submodules: whether one moved.",
    )
    .using(Looks),
    GitVerb::new(
        "log",
        &["log", PLAIN_DIFF[0], PLAIN_DIFF[1], PLAIN_DIFF[2]],
        &[&[FORMAT, ONELINE, DATES], WALKING, DIFFERING],
        "Commits, newest first.",
    ),
    GitVerb::new(
        "diff",
        &["diff", PLAIN_DIFF[0], PLAIN_DIFF[1], PLAIN_DIFF[2]],
        &[
            &[
                option("refs", Refs(""), "Two commits, a range, or one commit against the files."),
                option("cached", Flag("--cached"), "The index in place of the files."),
                option("merge_base", Flag("--merge-base"), "Against the common ancestor."),
            ],
            DIFFERING,
        ],
        "What differs between commits, the index and the files. Of submodules: whether one moved.",
    )
    .using(Compares),
    GitVerb::new(
        "show",
        &["show", PLAIN_DIFF[0], PLAIN_DIFF[1], PLAIN_DIFF[2]],
        &[
            &[
                required(
                    "refs",
                    Refs(""),
                    "Commits, tags, or files such as `HEAD:./a.md` and, of a conflict, `:2:a.md`.",
                ),
                FORMAT,
                ONELINE,
                DATES,
            ],
            DIFFERING,
        ],
        "Commits with what they change, tags, trees and files.",
    ),
    GitVerb::new(
        "rev_list",
        &["rev-list"],
        &[&[PATHS, option("count", Flag("--count"), "Only how many.")], WALKING],
        "The hashes of commits, newest first.",
    ),
    GitVerb::new(
        "rev_parse",
        &["rev-parse", "--verify"],
        &[&[
            required("ref", Ref(""), "What is named."),
            option("quiet", Flag("--quiet"), "Says nothing if there is none, and ends with 1."),
            option("short", Flag("--short"), "The short hash."),
            option("abbrev_ref", Flag("--abbrev-ref"), "The short name of the branch."),
            option("symbolic_full_name", Flag("--symbolic-full-name"), "The whole name of the ref."),
        ]],
        "The hash that a name stands for.",
    ),
    GitVerb::new(
        "merge_base",
        &["merge-base"],
        &[&[
            required("refs", Refs(""), "Two commits or more."),
            option("all", Flag("--all"), "All common ancestors."),
            option(
                "is_ancestor",
                Flag("--is-ancestor"),
                "Ends with 0 if the first is an ancestor of the second, else with 1.",
            ),
        ]],
        "The common ancestor of commits.",
    ),
    GitVerb::new(
        "describe",
        &["describe"],
        &[&[
            option("refs", Refs(""), "The commits; `HEAD` if left out."),
            option("tags", Flag("--tags"), "By any tag."),
            option("always", Flag("--always"), "By its hash if need be."),
            option("exact_match", Flag("--exact-match"), "Only by a tag of its own."),
            option("match", Text("--match="), "A glob that the tag matches."),
        ]],
        "A commit by the nearest tag.",
    ),
    GitVerb::new(
        "blame",
        &["blame", "--no-textconv"],
        &[&[
            option("ref", Ref(""), "As of this commit."),
            required("paths", Paths, "The file."),
            option("porcelain", Flag("--porcelain"), "The form for programs."),
            option("lines", Text("-L"), "A range such as `10,20`."),
        ]],
        "Who changed each line of a file last.",
    )
    .using(Searches)
    .without_end(),
    GitVerb::new(
        "files",
        &["ls-files"],
        &[&[
            PATHS,
            Z,
            INDEX,
            option("cached", Flag("--cached"), "Files that git knows; so it is if nothing else is asked for."),
            option("deleted", Flag("--deleted"), "Those that are gone."),
            option("modified", Flag("--modified"), "Those that were changed."),
            option("others", Flag("--others"), "Files that git does not know."),
            option("exclude_standard", Flag("--exclude-standard"), "Ignored ones are left out of `others`."),
            option("stage", Flag("--stage"), "Modes, hashes and stages, too."),
            option("unmerged", Flag("--unmerged"), "Conflicts only."),
            option("full_name", Flag("--full-name"), "Paths from the top of the working tree."),
        ]],
        "The files in the index, and beside it.",
    )
    .using(Looks),
    GitVerb::new(
        "tree",
        &["ls-tree"],
        &[&[
            required("ref", Ref(""), "A commit or tree."),
            PATHS,
            Z,
            option("recursive", Flag("-r"), "Looks into folders."),
            option("name_only", Flag("--name-only"), "Names only."),
            option("long", Flag("--long"), "Sizes, too."),
            option("full_tree", Flag("--full-tree"), "From the top, wherever the call is."),
        ]],
        "The files of a commit.",
    )
    // It takes `--` for a path.
    .without_dashes(),
    GitVerb::new(
        "object",
        &["cat-file"],
        &[&[
            required(
                "show",
                OneOf("-", &["p", "t", "s", "e"]),
                "`p` its content, `t` its type, `s` its size, `e` only whether it is there.",
            ),
            required("ref", Ref(""), "A commit, tree, tag, or a file such as `HEAD:./a.md`."),
        ]],
        "One object as it is.",
    ),
    GitVerb::new(
        "refs",
        &["for-each-ref"],
        &[&[
            option("names", Refs(""), "Prefixes such as `refs/heads`."),
            REF_FORMAT,
            SORT,
            option("count", Number("--count="), "So many at most."),
            CONTAINS,
            MERGED,
        ]],
        "Branches, tags and other refs.",
    ),
    GitVerb::new(
        "branches",
        &["branch", "--list"],
        &[&[
            option("all", Flag("--all"), "Those of remotes, too."),
            option("remotes", Flag("--remotes"), "Those of remotes only."),
            CONTAINS,
            MERGED,
            REF_FORMAT,
            SORT,
        ]],
        "The branches.",
    ),
    GitVerb::new(
        "current_branch",
        &["branch", "--show-current"],
        &[],
        "The branch that is checked out; nothing if there is none.",
    ),
    GitVerb::new(
        "tags",
        &["tag", "--list"],
        &[&[option("names", Refs(""), "Globs that the name matches."), CONTAINS, REF_FORMAT, SORT]],
        "The tags.",
    ),
    GitVerb::new(
        "grep",
        &["grep", "--no-textconv", "--no-color"],
        &[&[
            required("pattern", Text("-e"), "What a line matches."),
            option("refs", Refs(""), "Commits; the files if left out."),
            PATHS,
            Z,
            option("cached", Flag("--cached"), "The index in place of the files."),
            option("fixed", Flag("--fixed-strings"), "The pattern is a text."),
            option("extended", Flag("--extended-regexp"), "The pattern is an extended regular expression."),
            option("ignore_case", Flag("--ignore-case"), "Small and capital letters are the same."),
            option("words", Flag("--word-regexp"), "Whole words only."),
            option("line_number", Flag("--line-number"), "Numbers of lines, too."),
            option("name_only", Flag("--name-only"), "Names of files only."),
        ]],
        "Lines of files that git knows, by a pattern. Ends with 1 if there is none.",
    )
    .using(Searches)
    // Git before 2.43 takes `--end-of-options` for a commit here.
    .without_end(),
    GitVerb::new("worktrees", &["worktree", "list", "--porcelain"], &[&[Z]], "The working trees."),
    GitVerb::new(
        "config",
        &[],
        &[&[
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
        ]],
        "What the repository's configuration says, and of the user's who they are (`user.*`) and the like. Ends with 1 if there is no such key.",
    ),
    GitVerb::new(
        "repository",
        &[],
        &[&[required(
            "show",
            Host(HostOptionKind::Text),
            "`top`, `prefix` (the folder of the call below the top), `git_dir` or `common_dir`.",
        )]],
        "Where the repository of a folder lies.",
    ),
    GitVerb::new(
        "add",
        &["add"],
        &[&[
            PATHS,
            INDEX,
            option("all", Flag("--all"), "New, changed and removed files alike."),
            option("update", Flag("--update"), "Only files that git knows."),
            option("force", Flag("--force"), "Ignored files, too."),
        ]],
        "Puts files into the index. It fails where a filter such as git-lfs would convert one of them.",
    )
    .changing(Repository)
    .using(TakesIn),
    GitVerb::new(
        "commit",
        &["commit", "--no-verify", "--no-status"],
        &[&[
            MESSAGE,
            PATHS,
            QUIET,
            option("author", Text("--author="), "Who wrote it: `NAME <EMAIL>`."),
            option("date", Text("--date="), "When it was written."),
            option("all", Flag("--all"), "Every file that git knows."),
            option("amend", Flag("--amend"), "In place of the last one."),
            option("allow_empty", Flag("--allow-empty"), "Also if nothing changed."),
            option("no_edit", Flag("--no-edit"), "With the message that is there: of a merge, or of what is amended."),
        ]],
        "Makes a commit. It is not signed, and no hook runs.",
    )
    .changing(Repository)
    .using(TakesIn),
    GitVerb::new(
        "reset",
        &["reset"],
        &[&[option("ref", Ref(""), "The commit; `HEAD` if left out."), PATHS, QUIET]],
        "Takes files out of the index, or moves the branch to a commit; files stay as they are.",
    )
    .changing(Repository)
    .without_end(),
    GitVerb::new(
        "branch",
        &["branch", "--no-track"],
        &[&[
            required("name", Ref(""), "Its name."),
            option("ref", Ref(""), "Where it begins; `HEAD` if left out."),
            option("force", Flag("--force"), "Moves one that is there."),
        ]],
        "Makes a branch.",
    )
    .changing(Repository),
    GitVerb::new(
        "branch_delete",
        &["branch", "--delete"],
        &[&[
            required("names", Refs(""), "Their names."),
            QUIET,
            option("force", Flag("--force"), "Also if it is not merged."),
        ]],
        "Removes branches.",
    )
    .changing(Repository),
    GitVerb::new(
        "update_ref",
        &["update-ref"],
        &[&[
            required("name", FullRef, "The ref."),
            required("to", Ref(""), "The commit that it is to name."),
            option("from", Ref(""), "What it names now; zeros if there is no such ref."),
        ]],
        "Makes or moves a ref.",
    )
    .changing(Repository),
    GitVerb::new(
        "delete_ref",
        &["update-ref", "-d"],
        &[&[required("name", FullRef, "The ref."), option("from", Ref(""), "What it names now.")]],
        "Removes a ref.",
    )
    .changing(Repository),
    GitVerb::new(
        "read_tree",
        &["read-tree"],
        &[&[
            option("ref", Ref(""), "A commit or tree."),
            option("empty", Flag("--empty"), "Nothing at all."),
            INDEX,
        ]],
        "Fills an index. Files stay as they are.",
    )
    .changing(Repository),
    GitVerb::new("write_tree", &["write-tree"], &[&[INDEX]], "Makes a tree of an index.").changing(Repository),
    GitVerb::new(
        "update_index",
        &["update-index", "--add", "--index-info"],
        &[&[
            required(
                "entries",
                Input(InputKind::Lines, &[]),
                "`MODE HASH` or `0 ZEROS`, a tab, and the path from the top.",
            ),
            INDEX,
        ]],
        "Changes entries of an index.",
    )
    .changing(Repository),
    GitVerb::new(
        "commit_tree",
        &["commit-tree"],
        &[&[
            required("tree", Ref(""), "The tree."),
            option("parents", Refs("-p"), "The commits before it."),
            required("message", MESSAGE.kind, "What it says."),
            option("author", Variable(VariableKind::Person), "Who wrote and made it: `NAME <EMAIL>`."),
            option("date", Variable(VariableKind::Date), "When: `SECONDS +ZONE` or ISO 8601."),
        ]],
        "Makes a commit of a tree. No branch moves.",
    )
    .changing(Repository),
    GitVerb::new(
        "hash_object",
        &["hash-object", "-w", "--no-filters"],
        &[&[required("paths", Input(InputKind::Files, &["--stdin-paths"]), "The files.")]],
        "Keeps the contents of files as they are, and gives a hash for each.",
    )
    .changing(Repository)
    .using(TakesIn),
    GitVerb::new("worktree_prune", &["worktree", "prune"], &[], "Forgets working trees that are gone.")
        .changing(Repository),
    GitVerb::new(
        "worktree_unlock",
        &["worktree", "unlock"],
        &[&[required("path", Path, "Where it is, or was.")]],
        "Lets a working tree be removed or forgotten that was locked, as git does while it makes one.",
    )
    .changing(Repository),
    GitVerb::new(
        "switch",
        &["switch", "--no-progress", "--no-guess"],
        &[&[
            option("create", Ref("--create="), "Makes a branch of this name."),
            required("ref", Ref(""), "The branch, or where the new one begins."),
            QUIET,
            option("detach", Flag("--detach"), "Checks out a commit without a branch."),
        ]],
        "Checks out a branch. What was changed is kept or is in the way: nothing is lost.",
    )
    .changing(Files)
    .using(Fills)
    .without_end(),
    GitVerb::new(
        "merge",
        &["merge", "--no-edit", "--no-verify", "--no-autostash"],
        &[&[
            required("ref", Ref(""), "What is merged."),
            option("message", Text("--message="), "What the merge says."),
            QUIET,
            option("no_ff", Flag("--no-ff"), "A commit of its own always."),
            option("ff_only", Flag("--ff-only"), "Only if no commit is needed."),
            option("squash", Flag("--squash"), "Without a commit, and without a merge."),
        ]],
        "Merges a branch. A conflict ends with 1, and the working tree shows it.",
    )
    .changing(Files)
    .using(Fills),
    GitVerb::new("merge_abort", &["merge", "--abort"], &[], "Gives up a merge.").changing(Files).using(Fills),
    GitVerb::new(
        "sparse_checkout",
        &["sparse-checkout", "set", "--no-cone", "--stdin"],
        &[&[required("patterns", Input(InputKind::Lines, &[]), "What is shown, as in `.gitignore`.")]],
        "Hides files of a working tree.",
    )
    .changing(Files)
    .using(Fills),
    GitVerb::new(
        "worktree_add",
        &["worktree", "add"],
        &[&[
            required("path", Path, "Where."),
            required("ref", Ref(""), "The branch, or where the new one begins."),
            option("create", Ref("-b"), "Makes a branch of this name."),
            option("reset", Ref("-B"), "Makes a branch of this name, or moves it."),
            option("detach", Flag("--detach"), "Checks out a commit without a branch."),
            QUIET,
        ]],
        "Makes a working tree, where the pack may write all of the folder.",
    )
    .changing(Repository)
    .using(Fills),
    GitVerb::new(
        "worktree_remove",
        &["worktree", "remove"],
        &[&[
            required("path", Path, "Where it is."),
            option("force", Flag("--force"), "Also if it has changed or unknown files, which are lost."),
        ]],
        "Removes a working tree.",
    )
    .changing(Repository),
    GitVerb::new(
        "fetch",
        &["fetch", "--no-tags", "--no-recurse-submodules", "--no-auto-maintenance", "--no-write-fetch-head", "--upload-pack=git-upload-pack"],
        &[&[
            required("remote", Ref(""), "Its name: the repository says where it is."),
            option("refs", Refs(""), "Which branches; all if left out."),
            QUIET,
            option("prune", Flag("--prune"), "Forgets branches that are gone."),
            option("timeout_ms", Host(HostOptionKind::Integer), "After so many milliseconds it is ended."),
        ]],
        "Asks a remote for its branches, which become `refs/remotes/REMOTE/BRANCH`: by http, https, ssh or git, or in a folder below the roots, with the proxies, keys and passwords of the user's own configuration, and without that of the repository.",
    )
    .changing(Repository),
];
