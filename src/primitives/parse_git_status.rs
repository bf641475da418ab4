//! `parse_git_status`: the branch and the changed files in what git's status prints.

use crate::diagnostic::Result;
use crate::parse::{ParserInput, TEXT_KINDS, parse_git_status};
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "parse_git_status",
    family: Family::Parse,
    summary: "Returns the output of `git status --porcelain=v2 -z --branch` as `#{ branch: #{ head, upstream, ahead, behind, oid }, entries: [#{ state, path, from?, staged, unstaged }] }`. `state` is `modified`, `type_changed`, `added`, `deleted`, `renamed`, `copied`, `unmerged`, `untracked` or `ignored`, `from` is the old path of a renamed or copied file, and what git does not report is `()`. Fails with `parse.git_status` for any other text.",
    params: &[required("text", TEXT_KINDS, "The output of git.")],
    returns: Kind::Map,
    effect: Effect::Pure,
    examples: &[
        Example::gives(
            r##"parse_git_status("# branch.head main\x00# branch.ab +1 -0\x00? a b.txt\x00")"##,
            r#"{"branch": {"head": "main", "upstream": null, "ahead": 1, "behind": 0, "oid": null}, "entries": [{"state": "untracked", "path": "a b.txt", "staged": false, "unstaged": true}]}"#,
        ),
        Example::fails(r#"parse_git_status("On branch main\n")"#, "not a record of git's status"),
    ],
    run,
};

fn run(_: &Context<'_>, args: Args) -> Result<Value> {
    parse_git_status(&ParserInput::from_value(args.value("text")))
}
