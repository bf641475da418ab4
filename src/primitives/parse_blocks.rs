//! `parse_blocks`: blocks of a text by rules.

use crate::diagnostic::Result;
use crate::parse::blocks::{BlockRules, ParsedBlock, parse_blocks};
use crate::parse::{ParserInput, TEXT_KINDS};
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "parse_blocks",
    family: Family::Parse,
    summary: "Returns the blocks that `rules` find in a text, as `#{ line, end_line, groups, fields, items, sections, lists, text, preamble }`. `groups` has the named groups of the start and the end line. `text` is between the start and the end line. `preamble` is what precedes the first section, without the lines of fields, or `()` without sections.",
    params: &[
        required("text", TEXT_KINDS, "The text, or a document."),
        required(
            "rules",
            &[Kind::Map],
            "Regular expressions for single lines. `start`. `end`: without it a block ends before the next one. `end_takes`: the end line belongs to the block. `tail`: the line after it does, too. `fields`: by name, the first matching line counts, with its group `value` or otherwise its first group; or `#{ find, words, otherwise }`, where `words` maps the lowercase value to the result and `otherwise` is the value if no line matches. `items`: `item`, whose named groups become fields; `after` and `stop`, lines around the items; `continues`, for continuation lines; `rest: true` if the group `text` is only the beginning of a text that extends to the end of the line. `sections`: the group `title`. `beside`: lines to exclude from the preamble, instead of those that matched a field. `lists`: by field, `separator` (default: a comma), `none` (words for an empty value), `item`, `prefix` (added to a part that `item` does not match without it). `fences`: `opaque` (default) or `plain`.",
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
