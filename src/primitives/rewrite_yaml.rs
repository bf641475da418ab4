//! `rewrite_yaml`: a YAML map with ordered keys, and with unchanged values in their form.

use crate::bounded::reserve_for;
use crate::diagnostic::Result;
use crate::edit;
use crate::parse::{ParserInput, TEXT_KINDS};
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, option, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "rewrite_yaml",
    family: Family::Edit,
    summary: "Returns the YAML map `text` rewritten in the style of Python's YAML dumpers, with the keys of `changes` set; a key whose value is `()` is removed. Unchanged values keep their form (`[…]`, `{…}`, block scalars, numbers, inner order). Strings lose unnecessary quotes, and comments are kept only inside arrays and maps. An entry with an anchor, an alias or a tag stays as written; an alias that loses its anchor is expanded. Fails with `parse.yaml` if a tag would be lost. To edit only the changed lines, use `edit_front_matter`.",
    params: &[
        required("text", TEXT_KINDS, "The text, or a document, whose path appears in errors."),
        required("changes", &[Kind::Map], "The new value of each key; an array or a map is replaced as a whole."),
        option(
            "order",
            &[Kind::List],
            "The top-level keys that come first, in this order; the others follow, sorted by name.",
        ),
    ],
    returns: Kind::Text,
    effect: Effect::Pure,
    examples: &[
        Example::gives(
            r##"rewrite_yaml("tags: [a, 'b']  # of old\nid: \"WP01\"\nsteps:\n  - 'no'\n  - x  # last\n", #{ lane: "planned" }, #{ order: ["id", "lane"] })"##,
            r#""id: WP01\nlane: planned\nsteps:\n- no\n- x    # last\ntags: [a, b]    # of old\n""#,
        ),
        Example::gives(
            r#"rewrite_yaml("a: ~\nb: |\n    one\n    two\nc: 1.50\n", #{ c: () })"#,
            r#""a:\nb: |\n  one\n  two\n""#,
        ),
        Example::gives(
            r##"rewrite_yaml("base: &b {x: 1}\nown: {<<: *b}\n", #{ lane: "planned" })"##,
            r#""base: &b {x: 1}\nlane: planned\nown: {<<: *b}\n""#,
        ),
        Example::fails(r#"rewrite_yaml("- a\n", #{})"#, "the text is not a YAML map"),
        Example::fails(r#"rewrite_yaml("b: &n !x [1]\na: *n\n", #{})"#, "its tag would be lost"),
    ],
    run,
};

fn run(_: &Context<'_>, args: Args) -> Result<Value> {
    reserve_for(args.value("text"), 3)?;
    let input = ParserInput::from_value(args.value("text"));
    edit::rewrite_yaml(&input, &args.json("changes")?, &args.texts("order")?).map(Value::from)
}
