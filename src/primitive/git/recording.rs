//! The verbs of `git` that change refs and objects, and no file.

use super::verb::OptionKind::{
    Contents, Flag, FullRef, Index, Input, Lines, Message, Moment, Names, Ref, RefsOf, Signature,
};
use super::verb::{Changes, GitOption, Reads, Verb, option, required};

const QUIET: GitOption = option("quiet", Flag("--quiet"), "Says nothing where all went well.");
const FORCE: GitOption = option("force", Flag("--force"), "Also where git would rather not.");
const INDEX: GitOption = option("index", Index, "The name of an index of its own, so that the user's stays as it is.");

/// The verbs.
pub const VERBS: &[Verb] = &[
    Verb::write(
        "branch",
        &["branch", "--no-track"],
        &[required("name", Names, "Its name."), option("ref", Ref, "Where it begins; `HEAD` if left out."), FORCE],
        Changes::Nothing,
        "Makes a branch.",
    ),
    Verb::write(
        "branch_delete",
        &["branch", "--delete"],
        &[
            required("names", Names, "Their names."),
            QUIET,
            option("force", Flag("--force"), "Also if it is not merged."),
        ],
        Changes::Nothing,
        "Removes branches.",
    ),
    Verb::write(
        "branch_rename",
        &["branch", "--move"],
        &[required("from", Names, "Its name."), required("to", Names, "Its new name."), FORCE],
        Changes::Nothing,
        "Renames a branch.",
    ),
    Verb::write(
        "tag",
        &["tag", "--no-sign"],
        &[
            required("name", Names, "Its name."),
            option("ref", Ref, "What it names; `HEAD` if left out."),
            option("message", Message, "What it says; without it the tag is a name only."),
            FORCE,
        ],
        Changes::Nothing,
        "Makes a tag. It is not signed.",
    ),
    Verb::write(
        "tag_delete",
        &["tag", "--delete"],
        &[required("names", Names, "Their names.")],
        Changes::Nothing,
        "Removes tags.",
    ),
    Verb::write(
        "notes_add",
        &["notes", "add"],
        &[required("message", Message, "The note."), option("ref", Ref, "The commit; `HEAD` if left out."), FORCE],
        Changes::Nothing,
        "Adds a note to a commit.",
    ),
    Verb::write(
        "notes_remove",
        &["notes", "remove"],
        &[option("ref", Ref, "The commit; `HEAD` if left out.")],
        Changes::Nothing,
        "Removes the note of a commit.",
    ),
    Verb::write(
        "update_ref",
        &["update-ref"],
        &[
            required("name", FullRef, "The ref."),
            required("to", Ref, "The commit that it is to name."),
            option("from", Ref, "What it names now; zeros if there is no such ref."),
        ],
        Changes::Nothing,
        "Makes or moves a ref.",
    ),
    Verb::write(
        "delete_ref",
        &["update-ref", "-d"],
        &[required("name", FullRef, "The ref."), option("from", Ref, "What it names now.")],
        Changes::Nothing,
        "Removes a ref.",
    ),
    Verb::write(
        "set_symbolic_ref",
        &["symbolic-ref"],
        &[required("name", FullRef, "Such as `HEAD`."), required("to", FullRef, "The ref that it is to name.")],
        Changes::Nothing,
        "Makes a ref name another one. Files stay as they are.",
    ),
    Verb::write(
        "read_tree",
        &["read-tree"],
        &[option("ref", Ref, "A commit or tree."), option("empty", Flag("--empty"), "Nothing at all."), INDEX],
        Changes::Nothing,
        "Fills an index. Files stay as they are.",
    ),
    Verb::write("write_tree", &["write-tree"], &[INDEX], Changes::Nothing, "Makes a tree of an index."),
    Verb::write(
        "update_index",
        &["update-index", "--add", "--index-info"],
        &[required("entries", Lines, "`MODE HASH` or `0 ZEROS`, a tab, and the path from the top."), INDEX],
        Changes::Nothing,
        "Changes entries of an index.",
    ),
    Verb::write(
        "commit_tree",
        &["commit-tree"],
        &[
            required("tree", Ref, "The tree."),
            option("parents", RefsOf("-p"), "The commits before it."),
            required("message", Message, "What it says."),
            option("author", Signature, "Who wrote and made it: `NAME <EMAIL>`."),
            option("date", Moment, "When: `SECONDS +ZONE` or ISO 8601."),
        ],
        Changes::Nothing,
        "Makes a commit of a tree. No branch moves.",
    ),
    Verb::write(
        "mktree",
        &["mktree"],
        &[required("entries", Lines, "`MODE TYPE HASH`, a tab, and the name.")],
        Changes::Nothing,
        "Makes a tree.",
    ),
    Verb::write(
        "hash_object",
        &["hash-object", "-w", "--no-filters"],
        &[
            option("content", Input(Some("--stdin")), "The bytes."),
            option("paths", Contents("--stdin-paths"), "Files, in place of `content`."),
        ],
        Changes::Nothing,
        "Keeps contents as they are, and gives a hash for each.",
    )
    .reading(Reads::Named),
];
