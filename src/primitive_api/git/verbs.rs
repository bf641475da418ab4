//! The table of verbs. Packs can use no other command of git.
//!
//! Absent: `push`, and verbs that start git again (`stash`, `rebase`, `notes`, `submodule`), because git of a pack
//! starts no process. Others are absent only because no pack has needed them yet: each is a row.

use super::verb::FileUse::{Compares, Fills, Looks, Searches, TakesIn};
use super::verb::OptionKind::{
    Date, Flag, FullRef, Host, Index, Lines, Message, Number, OneOf, Path, Paths, Person, Ref, Refs, Text,
};
use super::verb::{GitOption, GitVerb, OptionKind, option, required};
use crate::value::Kind;
use crate::world::run::GitChanges::{Files, Repository};

const PATHS: GitOption = option("paths", Paths, "Only these files, and files in these folders.");
const Z: GitOption = option("z", Flag("-z"), "Ends each entry with a NUL, and does not quote names.");
const QUIET: GitOption = option("quiet", Flag("--quiet"), "Prints nothing on success.");
const FORMAT: GitOption = option("format", Text("--format="), "Format of a commit, such as `%H %s`.");
const DATES: GitOption = option("date", Text("--date="), "Format of dates, such as `iso-strict`.");
const ONELINE: GitOption = option("oneline", Flag("--oneline"), "One line for each commit.");
const REF_FORMAT: GitOption = option("format", Text("--format="), "Format of each ref, such as `%(refname:short)`.");
const SORT: GitOption = option("sort", Text("--sort="), "Sort key, such as `-committerdate`.");
const CONTAINS: GitOption = option("contains", Ref("--contains="), "Only refs that contain this commit.");
const MERGED: GitOption = option("merged", Ref("--merged="), "Only refs that this commit contains.");
const INDEX: GitOption = option("index", Index, "Name of a separate index, so that the user's does not change.");
const MESSAGE: GitOption = option("message", Message, "The commit message.");

/// Options of everything that walks along commits.
const WALKING: &[GitOption] = &[
    option("refs", Refs(""), "Commits, and ranges such as `a..b` and `a...b`."),
    option("all", Flag("--all"), "All refs."),
    option("branches", Flag("--branches"), "All branches."),
    option("max_count", Number("--max-count="), "Maximum number of commits."),
    option("skip", Number("--skip="), "Number of commits to skip first."),
    option("since", Text("--since="), "Only commits since this date."),
    option("until", Text("--until="), "Only commits until this date."),
    option("author", Text("--author="), "Only commits whose author matches this pattern."),
    option("grep", Text("--grep="), "Only commits whose message matches this pattern."),
    option("no_merges", Flag("--no-merges"), "Skips merges."),
    option("first_parent", Flag("--first-parent"), "Follows first parents only."),
    option("left_right", Flag("--left-right"), "Marks the side of `a...b` that a commit comes from."),
    option("reverse", Flag("--reverse"), "Oldest first."),
];

/// Options of everything that shows differences.
const DIFFERING: &[GitOption] = &[
    PATHS,
    Z,
    option("patch", Flag("--patch"), "Shows changes line by line."),
    option("no_patch", Flag("--no-patch"), "Does not show changes."),
    option("name_only", Flag("--name-only"), "Shows file names only."),
    option("name_status", Flag("--name-status"), "Shows file names and kinds of change."),
    option("numstat", Flag("--numstat"), "Counts lines, for programs."),
    option("stat", Flag("--stat"), "Counts lines, for people."),
    option("diff_filter", Text("--diff-filter="), "Only these kinds of change, such as `U` for conflicts."),
    option("unified", Number("--unified="), "Number of context lines around a change."),
    option("no_renames", Flag("--no-renames"), "Shows a rename as a removal and a new file."),
];

const PLAIN_DIFF: [&str; 3] = ["--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty"];

/// All verbs, those that only read first.
pub(super) const VERBS: &[GitVerb] = &[
    GitVerb::new(
        "status",
        &["status", PLAIN_DIFF[2]],
        &[&[
            PATHS,
            Z,
            option("porcelain", OneOf("--porcelain=", &["v1", "v2"]), "Output for programs."),
            option("short", Flag("--short"), "Short output for people."),
            option("branch", Flag("--branch"), "Shows the branch, too."),
            option("untracked", OneOf("--untracked-files=", &["no", "normal", "all"]), "Untracked files."),
            option("ignored", Flag("--ignored"), "Includes ignored files."),
            option("no_renames", Flag("--no-renames"), "Shows a rename as a removal and a new file."),
        ]],
        "Shows differences between the last commit, the index and the files. For submodules: whether one moved.",
    )
    .using(Looks),
    GitVerb::new(
        "log",
        &["log", PLAIN_DIFF[0], PLAIN_DIFF[1], PLAIN_DIFF[2]],
        &[&[FORMAT, ONELINE, DATES], WALKING, DIFFERING],
        "Lists commits, newest first.",
    ),
    GitVerb::new(
        "diff",
        &["diff", PLAIN_DIFF[0], PLAIN_DIFF[1], PLAIN_DIFF[2]],
        &[
            &[
                option("refs", Refs(""), "Two commits, a range, or one commit against the files."),
                option("cached", Flag("--cached"), "Uses the index instead of the files."),
                option("merge_base", Flag("--merge-base"), "Compares with the common ancestor."),
            ],
            DIFFERING,
        ],
        "Shows differences between commits, the index and the files. For submodules: whether one moved.",
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
                    "Commits, tags, or files such as `HEAD:./a.md` and, in a conflict, `:2:a.md`.",
                ),
                FORMAT,
                ONELINE,
                DATES,
            ],
            DIFFERING,
        ],
        "Shows commits with their changes, tags, trees and files.",
    ),
    GitVerb::new(
        "rev_list",
        &["rev-list"],
        &[&[PATHS, option("count", Flag("--count"), "Prints only their number.")], WALKING],
        "Lists the hashes of commits, newest first.",
    ),
    GitVerb::new(
        "rev_parse",
        &["rev-parse", "--verify"],
        &[&[
            required("ref", Ref(""), "The name."),
            option("quiet", Flag("--quiet"), "Prints nothing if there is no such name, and exits with 1."),
            option("short", Flag("--short"), "Prints the short hash."),
            option("abbrev_ref", Flag("--abbrev-ref"), "Prints the short name of the branch."),
            option("symbolic_full_name", Flag("--symbolic-full-name"), "Prints the full name of the ref."),
        ]],
        "Resolves a name to a hash.",
    ),
    GitVerb::new(
        "merge_base",
        &["merge-base"],
        &[&[
            required("refs", Refs(""), "Two commits or more."),
            option("all", Flag("--all"), "Prints all common ancestors."),
            option(
                "is_ancestor",
                Flag("--is-ancestor"),
                "Exits with 0 if the first is an ancestor of the second, otherwise with 1.",
            ),
        ]],
        "Finds the common ancestor of commits.",
    ),
    GitVerb::new(
        "describe",
        &["describe"],
        &[&[
            option("refs", Refs(""), "The commits (default: `HEAD`)."),
            option("tags", Flag("--tags"), "Uses any tag, not only annotated ones."),
            option("always", Flag("--always"), "Falls back to the hash."),
            option("exact_match", Flag("--exact-match"), "Only uses tags of the commit itself."),
            option("match", Text("--match="), "Only tags that match this glob."),
        ]],
        "Names a commit by the nearest tag.",
    ),
    GitVerb::new(
        "blame",
        &["blame", "--no-textconv"],
        &[&[
            option("ref", Ref(""), "The commit whose version of the file is used."),
            required("paths", Paths, "The file."),
            option("porcelain", Flag("--porcelain"), "Output for programs."),
            option("lines", Text("-L"), "A range such as `10,20`."),
        ]],
        "Shows the last change of each line of a file.",
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
            option("cached", Flag("--cached"), "Tracked files (default if no other kind is requested)."),
            option("deleted", Flag("--deleted"), "Deleted files."),
            option("modified", Flag("--modified"), "Modified files."),
            option("others", Flag("--others"), "Untracked files."),
            option("exclude_standard", Flag("--exclude-standard"), "Excludes ignored files from `others`."),
            option("stage", Flag("--stage"), "Prints modes, hashes and stages, too."),
            option("unmerged", Flag("--unmerged"), "Only files with conflicts."),
            option("full_name", Flag("--full-name"), "Prints paths from the top of the working tree."),
        ]],
        "Lists files in the index, and untracked files.",
    )
    .using(Looks),
    GitVerb::new(
        "tree",
        &["ls-tree"],
        &[&[
            required("ref", Ref(""), "A commit or tree."),
            PATHS,
            Z,
            option("recursive", Flag("-r"), "Includes subfolders."),
            option("name_only", Flag("--name-only"), "Prints names only."),
            option("long", Flag("--long"), "Prints sizes, too."),
            option("full_tree", Flag("--full-tree"), "Starts at the top of the working tree, not at `cwd`."),
        ]],
        "Lists the files of a commit.",
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
                "`p` its content, `t` its type, `s` its size, `e` only whether it exists.",
            ),
            required("ref", Ref(""), "A commit, tree, tag, or a file such as `HEAD:./a.md`."),
        ]],
        "Shows a single object unchanged.",
    ),
    GitVerb::new(
        "refs",
        &["for-each-ref"],
        &[&[
            option("names", Refs(""), "Prefixes such as `refs/heads`."),
            REF_FORMAT,
            SORT,
            option("count", Number("--count="), "Maximum number of refs."),
            CONTAINS,
            MERGED,
        ]],
        "Lists branches, tags and other refs.",
    ),
    GitVerb::new(
        "branches",
        &["branch", "--list"],
        &[&[
            option("all", Flag("--all"), "Includes branches of remotes."),
            option("remotes", Flag("--remotes"), "Only branches of remotes."),
            CONTAINS,
            MERGED,
            REF_FORMAT,
            SORT,
        ]],
        "Lists branches.",
    ),
    GitVerb::new(
        "current_branch",
        &["branch", "--show-current"],
        &[],
        "Prints the branch that is checked out; nothing without a branch.",
    ),
    GitVerb::new(
        "tags",
        &["tag", "--list"],
        &[&[option("names", Refs(""), "Globs that select tags by name."), CONTAINS, REF_FORMAT, SORT]],
        "Lists tags.",
    ),
    GitVerb::new(
        "grep",
        &["grep", "--no-textconv", "--no-color"],
        &[&[
            required("pattern", Text("-e"), "The pattern to search for."),
            option("refs", Refs(""), "Commits to search (default: the files)."),
            PATHS,
            Z,
            option("cached", Flag("--cached"), "Uses the index instead of the files."),
            option("fixed", Flag("--fixed-strings"), "The pattern is a literal string."),
            option("extended", Flag("--extended-regexp"), "The pattern is an extended regular expression."),
            option("ignore_case", Flag("--ignore-case"), "Ignores case."),
            option("words", Flag("--word-regexp"), "Matches whole words only."),
            option("line_number", Flag("--line-number"), "Prints line numbers, too."),
            option("name_only", Flag("--name-only"), "Prints file names only."),
        ]],
        "Searches the lines of tracked files for a pattern. Exits with 1 if there is no match.",
    )
    .using(Searches)
    // Git before 2.43 takes `--end-of-options` for a commit here.
    .without_end(),
    GitVerb::new("worktrees", &["worktree", "list", "--porcelain"], &[&[Z]], "Lists working trees."),
    GitVerb::new(
        "config",
        &[],
        &[&[
            option("name", Host(Kind::Text), "A key, such as `remote.origin.url`."),
            option(
                "pattern",
                Host(Kind::Text),
                "A regular expression for keys, which are in lower case except for their middle part.",
            ),
            option(
                "show_scope",
                Host(Kind::Bool),
                "Prefixes each line with `local`, `worktree`, `global`, `system` or `command` (toolsd's environment) and a \
                 tab.",
            ),
        ]],
        "Reads the configuration of the repository, and from the user's own the identity (`user.*`) and similar settings. \
         Exits with 1 if there is no such key.",
    ),
    GitVerb::new(
        "repository",
        &[],
        &[&[required(
            "show",
            OneOf("", &["top", "prefix", "git_dir", "common_dir"]),
            "The place; `prefix` is the folder of the call below the top.",
        )]],
        "Shows where the repository of a folder is.",
    ),
    GitVerb::new(
        "add",
        &["add"],
        &[&[
            PATHS,
            INDEX,
            option("all", Flag("--all"), "Includes new, changed and removed files."),
            option("update", Flag("--update"), "Only tracked files."),
            option("force", Flag("--force"), "Includes ignored files."),
        ]],
        "Adds files to the index. Fails if a filter such as git-lfs would convert one of them.",
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
            option("author", Text("--author="), "The author: `NAME <EMAIL>`."),
            option("date", Text("--date="), "The author date."),
            option("all", Flag("--all"), "Commits all tracked files."),
            option("amend", Flag("--amend"), "Replaces the last commit."),
            option("allow_empty", Flag("--allow-empty"), "Makes a commit even if nothing changed."),
            option("no_edit", Flag("--no-edit"), "Keeps the existing message of a merge or of the amended commit."),
        ]],
        "Creates a commit. It is not signed, and no hook runs.",
    )
    .changing(Repository)
    .using(TakesIn),
    GitVerb::new(
        "reset",
        &["reset"],
        &[&[option("ref", Ref(""), "The commit (default: `HEAD`)."), PATHS, QUIET]],
        "Removes files from the index, or moves the branch to a commit. Files do not change.",
    )
    .changing(Repository)
    .without_end(),
    GitVerb::new(
        "branch",
        &["branch", "--no-track"],
        &[&[
            required("name", Ref(""), "Name of the branch."),
            option("ref", Ref(""), "Start point (default: `HEAD`)."),
            option("force", Flag("--force"), "Moves an existing branch."),
        ]],
        "Creates a branch.",
    )
    .changing(Repository),
    GitVerb::new(
        "branch_delete",
        &["branch", "--delete"],
        &[&[
            required("names", Refs(""), "Names of the branches."),
            QUIET,
            option("force", Flag("--force"), "Removes a branch even if it is not merged."),
        ]],
        "Removes branches.",
    )
    .changing(Repository),
    GitVerb::new(
        "update_ref",
        &["update-ref"],
        &[&[
            required("name", FullRef, "The ref."),
            required("to", Ref(""), "The new commit."),
            option("from", Ref(""), "The commit that it must have now; zeros if it must not exist."),
        ]],
        "Creates or moves a ref.",
    )
    .changing(Repository),
    GitVerb::new(
        "delete_ref",
        &["update-ref", "-d"],
        &[&[required("name", FullRef, "The ref."), option("from", Ref(""), "The commit that it must have now.")]],
        "Removes a ref.",
    )
    .changing(Repository),
    GitVerb::new(
        "read_tree",
        &["read-tree"],
        &[&[
            option("ref", Ref(""), "A commit or tree."),
            option("empty", Flag("--empty"), "Empties the index."),
            INDEX,
        ]],
        "Reads a tree into an index. Files do not change.",
    )
    .changing(Repository),
    GitVerb::new("write_tree", &["write-tree"], &[&[INDEX]], "Creates a tree from an index.").changing(Repository),
    GitVerb::new(
        "update_index",
        &["update-index", "--add", "--index-info"],
        &[&[required("entries", Lines, "`MODE HASH` or `0 ZEROS`, a tab, and the path from the top."), INDEX]],
        "Changes entries of an index.",
    )
    .changing(Repository),
    GitVerb::new(
        "commit_tree",
        &["commit-tree"],
        &[&[
            required("tree", Ref(""), "The tree."),
            option("parents", Refs("-p"), "The parent commits."),
            required("message", MESSAGE.kind, "The commit message."),
            option("author", Person, "Author and committer: `NAME <EMAIL>`."),
            option("date", Date, "Date: `SECONDS +ZONE` or ISO 8601."),
        ]],
        "Creates a commit from a tree. No branch moves.",
    )
    .changing(Repository),
    GitVerb::new(
        "hash_object",
        &["hash-object", "-w", "--no-filters"],
        &[&[required("paths", OptionKind::Files, "The files.")]],
        "Stores the unconverted contents of files, and prints a hash for each.",
    )
    .changing(Repository)
    .using(TakesIn),
    GitVerb::new("worktree_prune", &["worktree", "prune"], &[], "Forgets working trees whose folders no longer exist.")
        .changing(Repository),
    GitVerb::new(
        "worktree_unlock",
        &["worktree", "unlock"],
        &[&[required("path", Path, "Its current or former folder.")]],
        "Unlocks a working tree, so that it can be removed or forgotten. Git locks one while it creates it.",
    )
    .changing(Repository),
    GitVerb::new(
        "switch",
        &["switch", "--no-progress", "--no-guess"],
        &[&[
            option("create", Ref("--create="), "Creates a branch of this name."),
            required("ref", Ref(""), "The branch, or the start point of the new one."),
            QUIET,
            option("detach", Flag("--detach"), "Checks out a commit without a branch."),
        ]],
        "Checks out a branch. Local changes are kept, or the verb fails: nothing is lost.",
    )
    .changing(Files)
    .using(Fills)
    .without_end(),
    GitVerb::new(
        "merge",
        &["merge", "--no-edit", "--no-verify", "--no-autostash"],
        &[&[
            required("ref", Ref(""), "The branch or commit to merge."),
            option("message", Text("--message="), "Message of the merge commit."),
            QUIET,
            option("no_ff", Flag("--no-ff"), "Always creates a merge commit."),
            option("ff_only", Flag("--ff-only"), "Fails unless no merge commit is needed."),
            option("squash", Flag("--squash"), "Applies the changes without a commit or a merge."),
        ]],
        "Merges a branch. In a conflict exits with 1; the working tree shows the conflict.",
    )
    .changing(Files)
    .using(Fills),
    GitVerb::new("merge_abort", &["merge", "--abort"], &[], "Aborts a merge.").changing(Files).using(Fills),
    GitVerb::new(
        "sparse_checkout",
        &["sparse-checkout", "set", "--no-cone", "--stdin"],
        &[&[required("patterns", Lines, "Patterns of the visible files, as in `.gitignore`.")]],
        "Hides files of a working tree.",
    )
    .changing(Files)
    .using(Fills),
    GitVerb::new(
        "worktree_add",
        &["worktree", "add"],
        &[&[
            required("path", Path, "Its folder."),
            required("ref", Ref(""), "The branch, or the start point of the new one."),
            option("create", Ref("-b"), "Creates a branch of this name."),
            option("reset", Ref("-B"), "Creates or moves a branch of this name."),
            option("detach", Flag("--detach"), "Checks out a commit without a branch."),
            QUIET,
        ]],
        "Creates a working tree in a folder that the pack may write entirely.",
    )
    .changing(Repository)
    .using(Fills),
    GitVerb::new(
        "worktree_remove",
        &["worktree", "remove"],
        &[&[
            required("path", Path, "Its folder."),
            option("force", Flag("--force"), "Removes it even with changed or untracked files, which are lost."),
        ]],
        "Removes a working tree.",
    )
    .changing(Repository),
    GitVerb::new(
        "fetch",
        &[
            "fetch",
            "--no-tags",
            "--no-recurse-submodules",
            "--no-auto-maintenance",
            "--no-write-fetch-head",
            "--upload-pack=git-upload-pack",
        ],
        &[&[
            required("remote", Ref(""), "Its name; the repository configures its address."),
            option("refs", Refs(""), "The branches (default: all)."),
            QUIET,
            option("prune", Flag("--prune"), "Removes refs of branches that no longer exist."),
            option("timeout_ms", Host(Kind::Integer), "Timeout in milliseconds."),
        ]],
        "Fetches branches of a remote as `refs/remotes/REMOTE/BRANCH`, by http, https, ssh or git, or from a folder \
         below the roots. Uses proxies, keys and passwords of the user's own configuration, not of the repository's.",
    )
    .changing(Repository),
];
