//! `add_blocks`: the blocks of a text as nodes.

use crate::diagnostic::Result;
use crate::graph::{BlockMapping, record_into};
use crate::parse::blocks::{BlockRules, parse_blocks};
use crate::parse::{ParserInput, TEXT_KINDS};
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "add_blocks",
    family: Family::Graph,
    summary: "Adds a node for each block of a text, with child nodes for its items and sections and edges for its references, and returns the number of blocks. If several blocks have one id, the last one replaces the others at the position of the first.",
    params: &[
        required("f", &[Kind::Fragment, Kind::Builder], "The fragment of a file, or the builder."),
        required("text", TEXT_KINDS, "The text, or a document."),
        required("rules", &[Kind::Map], "How to recognize blocks: the rules of `parse_blocks`."),
        required(
            "nodes",
            &[Kind::Map],
            "How blocks become nodes. `kind`. `id`: the group or field that identifies a block (a block without it is skipped). `fields`: names of groups and fields, `text`, `line`, `end_line`, as `\"field\"` or `\"field as name\"`. `plus`: fields that all nodes get. `items`: `kind`, `key` (the id is `block-key`; the last of duplicates wins), `fields`, `plus`. `sections`: `kind`, `mark` (the id is block, mark and number; the preamble is first), `without` (titles to skip, in any case), `fields`, `plus`. `references`: per kind of edge the name of one of the `lists` of the rules. Each record becomes an edge to its group `id` (or its text), or one edge per label in its group `labels`.",
        ),
    ],
    returns: Kind::Integer,
    effect: Effect::Pure,
    examples: &[
        Example::gives(
            r##"let g = new_graph();
            g.add_blocks("# T-1: Tea\nneeds: T-2-A-B\nA. boil\n# T-2: Pot\nA. fill", #{
                start: "^# (?<id>T-\\d+): (?<title>.*)$", fields: #{ needs: "^needs: (.*)$" }, items: #{ item: "^(?<label>[A-Z])\\. (?<text>.+)$" },
                lists: #{ needs: #{ item: "^(?<id>T-\\d+)(?<labels>(?:-[A-Z])*)$" } }
            }, #{ kind: "rule", id: "id", fields: ["title"], items: #{ kind: "step", key: "label", fields: ["text"] }, references: #{ needs: "needs" } });
            [g.nodes("rule").column("title"), g.nodes("step").column("id"), g.get("rule", "T-1").edges_out().column("labels"), g.broken_edges().column("labels")]"##,
            r##"[["Tea", "Pot"], ["T-1-A", "T-2-A"], [["A"]], [["B"]]]"##,
        ),
        Example::gives(
            r##"let g = new_graph();
            g.add_blocks("a: one\nb: two\na: three", #{ start: "^(?<id>.): (?<said>.*)$" }, #{ kind: "word", id: "id", fields: ["said", "line"] });
            g.nodes("word").select(["id", "said", "line"])"##,
            r##"[{"id": "a", "said": "three", "line": 3}, {"id": "b", "said": "two", "line": 2}]"##,
        ),
        Example::fails(
            r##"new_graph().add_blocks("", #{ start: "a" }, #{ kind: "word", key: "id" })"##,
            "`nodes` has no key `key`",
        ),
    ],
    run,
};

fn run(_context: &Context<'_>, args: Args) -> Result<Value> {
    let (rules, how) = (BlockRules::read(args.value("rules"))?, BlockMapping::parse(&args.map("nodes")?)?);
    let found = parse_blocks(&ParserInput::from_value(args.value("text")).document(), &rules)?;
    let count = record_into(args.value("f"), |recording| recording.add_blocks(&found, &rules, &how))?;
    Ok(Value::Integer(i64::try_from(count).unwrap_or(i64::MAX)))
}
