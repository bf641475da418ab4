//! The verbs of `git`: they change the repository, and the files that the table says.

use super::verb::OptionKind::{
    Date, Entry, Flag, Host, Index, Input, Lines, Message, Names, NewBranch, Number, OneOf, Path, Paths, Ref, RefOf,
    Refs, Text,
};
use super::verb::{Adds, Changes, GitOption, Literal, Reads, Shape, Verb, option, required};
use crate::world::run::{ChildProcesses, RequiredGrant};

const PATHS: GitOption = option("paths", Paths, "What is meant.");
const QUIET: GitOption = option("quiet", Flag("--quiet"), "Says nothing where all went well.");
const FORCE: GitOption = option("force", Flag("--force"), "Also where git would rather not.");
const INDEX: GitOption = option("index", Index, "The name of an index of its own, so that the user's stays as it is.");
const AUTHOR: GitOption = option("author", Text("--author="), "Who wrote it: `NAME <EMAIL>`.");
const MAINLINE: GitOption = option(
    "mainline",
    Number("--mainline="),
    "Needed for a merge, and for nothing else: the parent that counts as what was there before. `1` is the branch that it was merged into.",
);
const DATE: GitOption = option("date", Date("--date="), "When it was written.");

/// What moves files and branches.
pub const FILES: &[Verb] = &[
    Verb::write(
        "add",
        &["add"],
        &[
            PATHS,
            INDEX,
            option("all", Flag("--all"), "New, changed and removed files alike."),
            option("update", Flag("--update"), "Only files that git knows."),
            option("force", Flag("--force"), "Ignored files, too."),
            option("intent_to_add", Flag("--intent-to-add"), "Only that they will be added."),
        ],
        Changes::Nothing,
        "Puts files into the index.",
    )
    .reading(Reads::All)
    .adding(Adds::Files),
    Verb::write(
        "rm",
        &["rm"],
        &[
            required("paths", Paths, "What is removed."),
            INDEX,
            QUIET,
            FORCE,
            option("cached", Flag("--cached"), "From the index only."),
            option("recursive", Flag("-r"), "Folders, too."),
            option("ignore_unmatch", Flag("--ignore-unmatch"), "What is not there is no fault."),
        ],
        Changes::Removed,
        "Removes files, and from the index.",
    ),
    Verb::write(
        "mv",
        &["mv"],
        &[required("paths", Paths, "Files, and last where they go: a name, or a folder."), FORCE],
        Changes::Moved,
        "Moves files that git knows, one by one.",
    ),
    Verb::write(
        "restore",
        &["restore", "--no-progress"],
        &[
            required("paths", Paths, "What is restored."),
            option("source", RefOf("--source="), "From this commit; from the index if left out."),
            option("staged", Flag("--staged"), "In the index."),
            option("worktree", Flag("--worktree"), "The files: so it is if `staged` is left out."),
            QUIET,
        ],
        Changes::Restored,
        "Brings files back as they were.",
    ),
    Verb::write(
        "reset",
        &["reset"],
        &[
            option("ref", Ref, "The commit; `HEAD` if left out."),
            PATHS,
            QUIET,
            option(
                "mode",
                OneOf("--", &["soft", "mixed", "hard", "merge", "keep"]),
                "`hard`, `merge` and `keep` change files.",
            ),
        ],
        Changes::Reset,
        "Moves the branch to a commit, or takes files out of the index.",
    )
    .without_end(),
    Verb::write(
        "clean",
        &["clean", "--force"],
        &[
            required("paths", Paths, "Where."),
            QUIET,
            option("folders", Flag("-d"), "Folders, too."),
            option("ignored", Flag("-x"), "Ignored files, too."),
        ],
        Changes::Cleaned,
        "Removes files that git does not know.",
    ),
    Verb::write(
        "apply",
        &["apply", "--whitespace=nowarn"],
        &[
            required("patch", Input(None), "The patch, without renames."),
            option("cached", Flag("--cached"), "To the index only."),
            option("staged", Flag("--index"), "To the index, too."),
            option("reverse", Flag("--reverse"), "The other way round."),
            option("only_check", Flag("--check"), "Changes nothing."),
            option("recount", Flag("--recount"), "Does not believe the counts of lines."),
        ],
        Changes::Patched,
        "Applies a patch.",
    ),
    Verb::write(
        "switch",
        &["switch", "--no-progress", "--no-guess"],
        &[
            option("create", NewBranch("--create="), "Makes a branch of this name."),
            required("ref", Ref, "The branch, or where the new one begins."),
            QUIET,
            option("detach", Flag("--detach"), "Checks out a commit without a branch."),
        ],
        Changes::Switched,
        "Checks out a branch. What was changed is kept or is in the way: nothing is lost.",
    )
    .without_end(),
    Verb::write(
        "sparse_checkout",
        &["sparse-checkout", "set", "--no-cone", "--stdin"],
        &[required("patterns", Lines, "What is shown, as in `.gitignore`.")],
        Changes::Sparse,
        "Hides files of a working tree.",
    ),
    Verb::write(
        "worktree_add",
        &["worktree", "add", "--no-checkout"],
        &[
            required("path", Path, "Where."),
            required("ref", Ref, "The branch, or where the new one begins."),
            option("create", NewBranch("-b"), "Makes a branch of this name."),
            option("reset", NewBranch("-B"), "Makes a branch of this name, or moves it."),
            option("detach", Flag("--detach"), "Checks out a commit without a branch."),
            QUIET,
            FORCE,
        ],
        Changes::WorktreeAdded,
        "Makes a working tree. Files that no grant covers, such as those in `.toolsd`, are hidden in it.",
    )
    .starts(ChildProcesses::SameProgram),
    Verb::write(
        "worktree_remove",
        &["worktree", "remove", "--force"],
        &[required("path", Path, "Where it is.")],
        Changes::WorktreeRemoved,
        "Removes a working tree, changed files and all.",
    ),
    Verb::write(
        "worktree_prune",
        &["worktree", "prune"],
        &[],
        Changes::Nothing,
        "Forgets working trees that are gone.",
    ),
    Verb::write(
        "init",
        &["init", "--template="],
        &[
            option("path", Path, "Where; the folder of the call if left out."),
            option("branch", NewBranch("--initial-branch="), "The name of the first branch."),
            QUIET,
        ],
        Changes::Made,
        "Makes a repository.",
    ),
];

/// What makes and joins commits.
pub const COMMITS: &[Verb] = &[
    Verb::write(
        "commit",
        &["commit", "--no-verify", "--no-status"],
        &[
            option("message", Message, "What it says."),
            PATHS,
            QUIET,
            AUTHOR,
            DATE,
            option("all", Flag("--all"), "Every file that git knows."),
            option("amend", Flag("--amend"), "In place of the last one."),
            option("allow_empty", Flag("--allow-empty"), "Also if nothing changed."),
            option("no_edit", Flag("--no-edit"), "With the message that is there: of a merge, or of what is amended."),
        ],
        Changes::Nothing,
        "Makes a commit. It is not signed, and no hook runs.",
    )
    .reading(Reads::Committed)
    .adding(Adds::ForCommit),
    Verb::write(
        "merge",
        &["merge", "--no-edit", "--no-verify", "--no-autostash", "--strategy=ort"],
        &[
            required("ref", Ref, "What is merged."),
            option("message", Text("--message="), "What the merge says."),
            QUIET,
            option("no_ff", Flag("--no-ff"), "A commit of its own always."),
            option("ff_only", Flag("--ff-only"), "Only if no commit is needed."),
            option("squash", Flag("--squash"), "Without a commit, and without a merge."),
            option("no_commit", Flag("--no-commit"), "Without a commit."),
            option("favor", OneOf("--strategy-option=", &["ours", "theirs"]), "Who wins a conflict."),
            option("allow_unrelated_histories", Flag("--allow-unrelated-histories"), "Also without a common ancestor."),
        ],
        Changes::Merged,
        "Merges a branch. A conflict ends with 1, and the working tree shows it.",
    )
    .starts(ChildProcesses::SameProgram),
    Verb::write("merge_abort", &["merge", "--abort"], &[], Changes::Aborted, "Gives up a merge."),
    Verb::write(
        "cherry_pick",
        &["cherry-pick", "--strategy=ort"],
        &[
            required("refs", Refs, "The commits."),
            option("no_commit", Flag("--no-commit"), "Without commits."),
            option("record_origin", Flag("-x"), "Says where they come from."),
            MAINLINE,
            option("allow_empty", Flag("--allow-empty"), "Also if nothing changed."),
        ],
        Changes::Picked,
        "Makes commits again here.",
    )
    .without_end()
    .starts(ChildProcesses::SameProgram),
    Verb::write("cherry_pick_abort", &["cherry-pick", "--abort"], &[], Changes::Aborted, "Gives up a cherry-pick.").starts(ChildProcesses::SameProgram),
    Verb::write(
        "revert",
        &["revert", "--no-edit", "--strategy=ort"],
        &[
            required("refs", Refs, "The commits."),
            option("no_commit", Flag("--no-commit"), "Without commits."),
            MAINLINE,
        ],
        Changes::Reverted,
        "Makes commits that undo others.",
    )
    .without_end()
    .starts(ChildProcesses::SameProgram),
    Verb::write("revert_abort", &["revert", "--abort"], &[], Changes::Aborted, "Gives up a revert.").starts(ChildProcesses::SameProgram),
    Verb::write(
        "rebase",
        &["rebase", "--no-verify", "--no-autostash", "--no-autosquash", "--no-rebase-merges", "--no-update-refs", "--no-fork-point"],
        &[
            required("upstream", Ref, "What the branch begins at from now on."),
            option("onto", RefOf("--onto="), "Another place than `upstream`."),
            QUIET,
        ],
        Changes::Rebased,
        "Moves the commits of the branch. One that stops is given up by `rebase_abort`, or ended by a person.",
    )
    .without_end()
    .starts(ChildProcesses::SameProgram),
    Verb::write("rebase_abort", &["rebase", "--abort"], &[], Changes::Aborted, "Gives up a rebase.").starts(ChildProcesses::SameProgram),
    Verb::write(
        "stash_push",
        &["stash", "push"],
        &[
            option("message", Text("--message="), "What it is."),
            PATHS,
            QUIET,
            option("staged", Flag("--staged"), "What is in the index only."),
            option("keep_index", Flag("--keep-index"), "What is in the index stays."),
            option("untracked", Flag("--include-untracked"), "Files that git does not know, too."),
        ],
        Changes::StashPushed,
        "Puts aside what was changed.",
    )
    .reading(Reads::All)
    .taking(Literal::IfAny)
    .starts(ChildProcesses::SameProgram),
    Verb::write(
        "stash_pop",
        &["stash", "pop"],
        &[option("entry", Entry, "Which; the last one if left out."), QUIET],
        Changes::StashPopped,
        "Brings back what was put aside.",
    )
    .starts(ChildProcesses::SameProgram),
    Verb::write(
        "stash_apply",
        &["stash", "apply"],
        &[option("entry", Entry, "Which; the last one if left out."), QUIET],
        Changes::StashPopped,
        "Brings back what was put aside, and keeps it there.",
    )
    .starts(ChildProcesses::SameProgram),
    Verb::write("stash_drop", &["stash", "drop"], &[option("entry", Entry, "Which; the last one if left out."), QUIET], Changes::Nothing, "Forgets what was put aside."),
    Verb::write(
        "fetch",
        &["fetch", "--no-recurse-submodules", "--no-auto-maintenance", "--no-write-fetch-head", "--upload-pack=git-upload-pack"],
        &[
            required("remote", Names, "Its name: the repository says where it is."),
            option("refs", Refs, "Which branches; what the repository says if left out."),
            QUIET,
            option("prune", Flag("--prune"), "Forgets branches that are gone."),
            option("timeout_s", Host(Shape::Float), "After so many seconds it is ended."),
        ],
        Changes::Nothing,
        "Asks a remote for its branches, by http, https, ssh or git, or in a folder below the roots; with the proxies, keys and passwords of the user's own configuration, and without what the repository's names.",
    ).of_commits()
    .starts(ChildProcesses::Any)
    .needing(RequiredGrant::FetchGit),
];
