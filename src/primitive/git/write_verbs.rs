//! The verbs of `git`: they change the repository, and the files that the table says.

use super::verb::OptionKind::{
    Contents, Date, Entry, Flag, FullRef, Host, Index, Input, Lines, Message, Moment, Names, NewBranch, Number, OneOf,
    Path, Paths, Ref, RefOf, Refs, RefsOf, Signature, Text,
};
use super::verb::{
    GitOption, GitVerb, HostOptionKind, IndexAdditions, PathspecMode, WorktreeChanges, WorktreeReads, option, required,
};
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
pub const FILES: &[GitVerb] = &[
    GitVerb::write(
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
        WorktreeChanges::Nothing,
        "Puts files into the index.",
    )
    .reading(WorktreeReads::All)
    .adding(IndexAdditions::Files),
    GitVerb::write(
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
        WorktreeChanges::Removed,
        "Removes files, and from the index.",
    ),
    GitVerb::write(
        "mv",
        &["mv"],
        &[required("paths", Paths, "Files, and last where they go: a name, or a folder."), FORCE],
        WorktreeChanges::Moved,
        "Moves files that git knows, one by one.",
    ),
    GitVerb::write(
        "restore",
        &["restore", "--no-progress"],
        &[
            required("paths", Paths, "What is restored."),
            option("source", RefOf("--source="), "From this commit; from the index if left out."),
            option("staged", Flag("--staged"), "In the index."),
            option("worktree", Flag("--worktree"), "The files: so it is if `staged` is left out."),
            QUIET,
        ],
        WorktreeChanges::Restored,
        "Brings files back as they were.",
    ),
    GitVerb::write(
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
        WorktreeChanges::Reset,
        "Moves the branch to a commit, or takes files out of the index.",
    )
    .without_end(),
    GitVerb::write(
        "clean",
        &["clean", "--force"],
        &[
            required("paths", Paths, "Where."),
            QUIET,
            option("folders", Flag("-d"), "Folders, too."),
            option("ignored", Flag("-x"), "Ignored files, too."),
        ],
        WorktreeChanges::Cleaned,
        "Removes files that git does not know.",
    ),
    GitVerb::write(
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
        WorktreeChanges::Patched,
        "Applies a patch.",
    ),
    GitVerb::write(
        "switch",
        &["switch", "--no-progress", "--no-guess"],
        &[
            option("create", NewBranch("--create="), "Makes a branch of this name."),
            required("ref", Ref, "The branch, or where the new one begins."),
            QUIET,
            option("detach", Flag("--detach"), "Checks out a commit without a branch."),
        ],
        WorktreeChanges::Switched,
        "Checks out a branch. What was changed is kept or is in the way: nothing is lost.",
    )
    .without_end(),
    GitVerb::write(
        "sparse_checkout",
        &["sparse-checkout", "set", "--no-cone", "--stdin"],
        &[required("patterns", Lines, "What is shown, as in `.gitignore`.")],
        WorktreeChanges::Sparse,
        "Hides files of a working tree.",
    ),
    GitVerb::write(
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
        WorktreeChanges::WorktreeAdded,
        "Makes a working tree. Files that no grant covers, such as those in `.toolsd`, are hidden in it.",
    )
    .starts(ChildProcesses::SameProgram),
    GitVerb::write(
        "worktree_remove",
        &["worktree", "remove", "--force"],
        &[required("path", Path, "Where it is.")],
        WorktreeChanges::WorktreeRemoved,
        "Removes a working tree, changed files and all.",
    ),
    GitVerb::write(
        "worktree_prune",
        &["worktree", "prune"],
        &[],
        WorktreeChanges::Nothing,
        "Forgets working trees that are gone.",
    ),
    GitVerb::write(
        "init",
        &["init", "--template="],
        &[
            option("path", Path, "Where; the folder of the call if left out."),
            option("branch", NewBranch("--initial-branch="), "The name of the first branch."),
            QUIET,
        ],
        WorktreeChanges::Made,
        "Makes a repository.",
    ),
];

/// What makes and joins commits.
pub const COMMITS: &[GitVerb] = &[
    GitVerb::write(
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
        WorktreeChanges::Nothing,
        "Makes a commit. It is not signed, and no hook runs.",
    )
    .reading(WorktreeReads::Committed)
    .adding(IndexAdditions::ForCommit),
    GitVerb::write(
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
        WorktreeChanges::Merged,
        "Merges a branch. A conflict ends with 1, and the working tree shows it.",
    )
    .starts(ChildProcesses::SameProgram),
    GitVerb::write("merge_abort", &["merge", "--abort"], &[], WorktreeChanges::Aborted, "Gives up a merge."),
    GitVerb::write(
        "cherry_pick",
        &["cherry-pick", "--strategy=ort"],
        &[
            required("refs", Refs, "The commits."),
            option("no_commit", Flag("--no-commit"), "Without commits."),
            option("record_origin", Flag("-x"), "Says where they come from."),
            MAINLINE,
            option("allow_empty", Flag("--allow-empty"), "Also if nothing changed."),
        ],
        WorktreeChanges::Picked,
        "Makes commits again here.",
    )
    .without_end()
    .starts(ChildProcesses::SameProgram),
    GitVerb::write("cherry_pick_abort", &["cherry-pick", "--abort"], &[], WorktreeChanges::Aborted, "Gives up a cherry-pick.").starts(ChildProcesses::SameProgram),
    GitVerb::write(
        "revert",
        &["revert", "--no-edit", "--strategy=ort"],
        &[
            required("refs", Refs, "The commits."),
            option("no_commit", Flag("--no-commit"), "Without commits."),
            MAINLINE,
        ],
        WorktreeChanges::Reverted,
        "Makes commits that undo others.",
    )
    .without_end()
    .starts(ChildProcesses::SameProgram),
    GitVerb::write("revert_abort", &["revert", "--abort"], &[], WorktreeChanges::Aborted, "Gives up a revert.").starts(ChildProcesses::SameProgram),
    GitVerb::write(
        "rebase",
        &["rebase", "--no-verify", "--no-autostash", "--no-autosquash", "--no-rebase-merges", "--no-update-refs", "--no-fork-point"],
        &[
            required("upstream", Ref, "What the branch begins at from now on."),
            option("onto", RefOf("--onto="), "Another place than `upstream`."),
            QUIET,
        ],
        WorktreeChanges::Rebased,
        "Moves the commits of the branch. One that stops is given up by `rebase_abort`, or ended by a person.",
    )
    .without_end()
    .starts(ChildProcesses::SameProgram),
    GitVerb::write("rebase_abort", &["rebase", "--abort"], &[], WorktreeChanges::Aborted, "Gives up a rebase.").starts(ChildProcesses::SameProgram),
    GitVerb::write(
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
        WorktreeChanges::StashPushed,
        "Puts aside what was changed.",
    )
    .reading(WorktreeReads::All)
    .taking(PathspecMode::IfAny)
    .starts(ChildProcesses::SameProgram),
    GitVerb::write(
        "stash_pop",
        &["stash", "pop"],
        &[option("entry", Entry, "Which; the last one if left out."), QUIET],
        WorktreeChanges::StashPopped,
        "Brings back what was put aside.",
    )
    .starts(ChildProcesses::SameProgram),
    GitVerb::write(
        "stash_apply",
        &["stash", "apply"],
        &[option("entry", Entry, "Which; the last one if left out."), QUIET],
        WorktreeChanges::StashPopped,
        "Brings back what was put aside, and keeps it there.",
    )
    .starts(ChildProcesses::SameProgram),
    GitVerb::write("stash_drop", &["stash", "drop"], &[option("entry", Entry, "Which; the last one if left out."), QUIET], WorktreeChanges::Nothing, "Forgets what was put aside."),
    GitVerb::write(
        "fetch",
        &["fetch", "--no-recurse-submodules", "--no-auto-maintenance", "--no-write-fetch-head", "--upload-pack=git-upload-pack"],
        &[
            required("remote", Names, "Its name: the repository says where it is."),
            option("refs", Refs, "Which branches; what the repository says if left out."),
            QUIET,
            option("prune", Flag("--prune"), "Forgets branches that are gone."),
            option("timeout_s", Host(HostOptionKind::Float), "After so many seconds it is ended."),
        ],
        WorktreeChanges::Nothing,
        "Asks a remote for its branches, by http, https, ssh or git, or in a folder below the roots; with the proxies, keys and passwords of the user's own configuration, and without what the repository's names.",
    ).of_commits()
    .starts(ChildProcesses::Any)
    .needing(RequiredGrant::FetchGit),
];

/// What changes refs and objects, and no file.
pub const RECORDS: &[GitVerb] = &[
    GitVerb::write(
        "branch",
        &["branch", "--no-track"],
        &[required("name", Names, "Its name."), option("ref", Ref, "Where it begins; `HEAD` if left out."), FORCE],
        WorktreeChanges::Nothing,
        "Makes a branch.",
    ),
    GitVerb::write(
        "branch_delete",
        &["branch", "--delete"],
        &[
            required("names", Names, "Their names."),
            QUIET,
            option("force", Flag("--force"), "Also if it is not merged."),
        ],
        WorktreeChanges::Nothing,
        "Removes branches.",
    ),
    GitVerb::write(
        "branch_rename",
        &["branch", "--move"],
        &[required("from", Names, "Its name."), required("to", Names, "Its new name."), FORCE],
        WorktreeChanges::Nothing,
        "Renames a branch.",
    ),
    GitVerb::write(
        "tag",
        &["tag", "--no-sign"],
        &[
            required("name", Names, "Its name."),
            option("ref", Ref, "What it names; `HEAD` if left out."),
            option("message", Message, "What it says; without it the tag is a name only."),
            FORCE,
        ],
        WorktreeChanges::Nothing,
        "Makes a tag. It is not signed.",
    ),
    GitVerb::write(
        "tag_delete",
        &["tag", "--delete"],
        &[required("names", Names, "Their names.")],
        WorktreeChanges::Nothing,
        "Removes tags.",
    ),
    GitVerb::write(
        "notes_add",
        &["notes", "add"],
        &[required("message", Message, "The note."), option("ref", Ref, "The commit; `HEAD` if left out."), FORCE],
        WorktreeChanges::Nothing,
        "Adds a note to a commit.",
    ),
    GitVerb::write(
        "notes_remove",
        &["notes", "remove"],
        &[option("ref", Ref, "The commit; `HEAD` if left out.")],
        WorktreeChanges::Nothing,
        "Removes the note of a commit.",
    ),
    GitVerb::write(
        "update_ref",
        &["update-ref"],
        &[
            required("name", FullRef, "The ref."),
            required("to", Ref, "The commit that it is to name."),
            option("from", Ref, "What it names now; zeros if there is no such ref."),
        ],
        WorktreeChanges::Nothing,
        "Makes or moves a ref.",
    ),
    GitVerb::write(
        "delete_ref",
        &["update-ref", "-d"],
        &[required("name", FullRef, "The ref."), option("from", Ref, "What it names now.")],
        WorktreeChanges::Nothing,
        "Removes a ref.",
    ),
    GitVerb::write(
        "set_symbolic_ref",
        &["symbolic-ref"],
        &[required("name", FullRef, "Such as `HEAD`."), required("to", FullRef, "The ref that it is to name.")],
        WorktreeChanges::Nothing,
        "Makes a ref name another one. Files stay as they are.",
    ),
    GitVerb::write(
        "read_tree",
        &["read-tree"],
        &[option("ref", Ref, "A commit or tree."), option("empty", Flag("--empty"), "Nothing at all."), INDEX],
        WorktreeChanges::Nothing,
        "Fills an index. Files stay as they are.",
    ),
    GitVerb::write("write_tree", &["write-tree"], &[INDEX], WorktreeChanges::Nothing, "Makes a tree of an index."),
    GitVerb::write(
        "update_index",
        &["update-index", "--add", "--index-info"],
        &[required("entries", Lines, "`MODE HASH` or `0 ZEROS`, a tab, and the path from the top."), INDEX],
        WorktreeChanges::Nothing,
        "Changes entries of an index.",
    ),
    GitVerb::write(
        "commit_tree",
        &["commit-tree"],
        &[
            required("tree", Ref, "The tree."),
            option("parents", RefsOf("-p"), "The commits before it."),
            required("message", Message, "What it says."),
            option("author", Signature, "Who wrote and made it: `NAME <EMAIL>`."),
            option("date", Moment, "When: `SECONDS +ZONE` or ISO 8601."),
        ],
        WorktreeChanges::Nothing,
        "Makes a commit of a tree. No branch moves.",
    ),
    GitVerb::write(
        "mktree",
        &["mktree"],
        &[required("entries", Lines, "`MODE TYPE HASH`, a tab, and the name.")],
        WorktreeChanges::Nothing,
        "Makes a tree.",
    ),
    GitVerb::write(
        "hash_object",
        &["hash-object", "-w", "--no-filters"],
        &[
            option("content", Input(Some("--stdin")), "The bytes."),
            option("paths", Contents("--stdin-paths"), "Files, in place of `content`."),
        ],
        WorktreeChanges::Nothing,
        "Keeps contents as they are, and gives a hash for each.",
    )
    .reading(WorktreeReads::Named),
];
