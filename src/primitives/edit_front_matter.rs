//! `edit_front_matter`: keys of a front matter set and removed, and nothing else touched.

use crate::diagnostic::Result;
use crate::edit::{self, FrontMatterOptions, QuoteStyle};
use crate::parse::TEXT_KINDS;
use crate::primitive::{Args, Context, Effect, Example, Family, Primitive, option, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "edit_front_matter",
    family: Family::Edit,
    summary: "`text` with the keys of `changes` set in its front matter, those whose value is `()` removed. Only the lines of what changes are touched: comments, quotes, the order of keys, line ends and items that stay are kept; a text without front matter gets one. What is read from the result is exactly what was asked for, or it is a fault `parse.front_matter`.",
    params: &[
        required("text", TEXT_KINDS, "The text, or a document: then faults name its path."),
        required("changes", &[Kind::Map], "The new value of each key; a list or a map is given as a whole."),
        option("before", &[Kind::Text], "New keys stand before this one; without it, or if it is not there, last."),
        option(
            "quote",
            &[Kind::Text],
            "How texts that are set are quoted: `plain` (only where they must be), `single` or `double`; without it as the text before, plain where there was none.",
        ),
        option("order", &[Kind::List], "The keys that come first in what is new, in this order."),
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
