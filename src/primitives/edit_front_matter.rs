//! `edit_front_matter`: keys of front matter set and removed, with everything else unchanged.

use crate::diagnostic::Result;
use crate::edit::{self, FrontMatterOptions, QuoteStyle};
use crate::parse::TEXT_KINDS;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, option, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "edit_front_matter",
    family: Family::Edit,
    summary: "Returns `text` with the keys of `changes` set in its front matter; a key whose value is `()` is removed. Only the lines of changed values are edited: comments, quotes, key order, line endings and unchanged items are kept. A text without front matter gets one. Fails with `parse.front_matter` unless the result reads back exactly as requested.",
    params: &[
        required("text", TEXT_KINDS, "The text, or a document, whose path appears in errors."),
        required("changes", &[Kind::Map], "The new value of each key; an array or a map is replaced as a whole."),
        option(
            "before",
            &[Kind::Text],
            "The key before which new keys are inserted (default: at the end, also if the key does not exist).",
        ),
        option(
            "quote",
            &[Kind::Text],
            "How strings are quoted: `plain` (quoted only where necessary), `single` or `double` (default: as the old value, `plain` for new ones).",
        ),
        option("order", &[Kind::List], "The keys that come first among new ones, in this order."),
    ],
    returns: Kind::Text,
    effect: Effect::Pure,
    examples: &[
        Example::gives(
            r#"edit_front_matter("---\nlane: \"planned\" # now\n# old\ntags: [a, 'b']\n---\nText\n", #{ lane: "doing", tags: ["b", "c"] })"#,
            r#""---\nlane: \"doing\" # now\n# old\ntags: ['b', c]\n---\nText\n""#,
        ),
        Example::gives(
            r#"edit_front_matter("---\nuses:\n  - ref: ../a.md # why\n    optional: false\n---\n", #{ uses: [#{ ref: "../a.md", optional: true }, "../b.md"] })"#,
            r#""---\nuses:\n  - ref: ../a.md # why\n    optional: true\n  - ../b.md\n---\n""#,
        ),
        Example::gives(
            r#"edit_front_matter("---\nid: 1\nhistory: []\n---\n", #{ agent: "ann", id: () }, #{ before: "history", quote: "double" })"#,
            r#""---\nagent: \"ann\"\nhistory: []\n---\n""#,
        ),
        Example::gives(r#"edit_front_matter("Text\n", #{ title: "Tea" })"#, r#""---\ntitle: Tea\n---\nText\n""#),
        Example::fails(
            r#"edit_front_matter("---\na: [1\n---\n", #{ a: 2 })"#,
            "the front matter cannot be read: line 2",
        ),
    ],
    run,
};

fn run(_: &Context<'_>, args: Args) -> Result<Value> {
    let how = FrontMatterOptions {
        before: args.text_or("before").map(str::to_owned),
        quote: args.text_or("quote").map(QuoteStyle::parse).transpose()?,
        order: args.texts("order")?,
    };
    edit::edit_front_matter(args.value("text"), &args.json("changes")?, &how).map(Value::from)
}
