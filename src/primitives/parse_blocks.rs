//! `parse_blocks`: blocks of a text by rules.

use crate::diagnostic::Result;
use crate::parse::blocks::{BlockRules, ParsedBlock, parse_blocks};
use crate::parse::{ParserInput, TEXT_KINDS};
use crate::primitive::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "parse_blocks",
    family: Family::Parse,
    summary: "The blocks that `rules` find in a text: `line`, `end_line`, the named `groups` of the start and the end line, `fields`, `items`, `sections`, `lists`, the `text` between start and end line, and with sections the `preamble` before the first of them without the lines of fields.",
    params: &[
        required("text", TEXT_KINDS, "The text, or a document."),
        required(
            "rules",
            &[Kind::Map],
            "Regular expressions for single lines. `start`; `end` (without it a block ends before the next one), `end_takes` (the end line belongs to the block), `tail` (so does the line after it); `fields`: by name, the first line counts, its group `value` or else its first group, or `#{ find, words, otherwise }` with how words are written by their lower case, and what stands where no line says it; `items`: `item`, whose named groups become fields, `after` and `stop` around them, `continues` for lines that go on, `rest: true` if the group `text` is only where the text begins, which goes on to the end of the line; `sections`: group `title`; `beside`: lines that are no part of the preamble, instead of those that gave a field; `lists`: by field, `separator` (a comma if left out), `none` (words for nothing), `item`, `prefix` (what a part gets that `item` does not know without it); `fences`: `opaque`, as if left out, or `plain`.",
        ),
    ],
    returns: Kind::List,
    effect: Effect::Pure,
    examples: &[
        Example::gives(
            r##"parse_blocks("# T-1: Tea\nneeds: T-2, T-3\n- boil\n  water\n# T-2: Pot", #{
                start: "^# (?<id>T-\\d+): (?<title>.*)$", fields: #{ needs: "^needs: (.*)$" },
                items: #{ item: "^- (?<text>.*)$", continues: "^ +\\S" }, lists: #{ needs: #{ item: "^(?<id>T-\\d+)$" } }
            }).map(|b| [b.groups.id, b.line, b.end_line, b.items, b.lists.needs.map(|n| n.id)])"##,
            r#"[["T-1", 1, 4, [{"text": "boil water", "line": 3}], ["T-2", "T-3"]], ["T-2", 5, 5, [], []]]"#,
        ),
        Example::fails(r#"parse_blocks("", #{ start: "a", ends: "b" })"#, "`rules` has no key `ends`"),
    ],
    run,
};

fn run(_: &Context<'_>, args: Args) -> Result<Value> {
    let rules = BlockRules::read(args.value("rules"))?;
    let found = parse_blocks(&ParserInput::from_value(args.value("text")).document(), &rules)?;
    Ok(Value::list(found.into_iter().map(ParsedBlock::into_value)))
}
