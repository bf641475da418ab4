//! Tests of blocks.

use super::*;
use crate::value::Value;
use proptest::prelude::*;
use serde_json::json;

fn read(text: &str, rules: &serde_json::Value) -> Result<serde_json::Value> {
    let rules = BlockRules::read(&Value::from_json(rules))?;
    let found = parse_blocks(&Document::new("a.md", text), &rules)?;
    Ok(Value::list(found.into_iter().map(ParsedBlock::into_value)).to_json())
}

fn recipe() -> serde_json::Value {
    json!({
        "start": r"^#*\s*(?<id>R-\d+): (?<title>.+?)\s*$",
        "end": r"^\*End\*(?: (?<hash>\S+))?",
        "end_takes": true,
        "tail": "^---$",
        "fields": { "level": r"\*\*Level\*\*: (?<value>\w+)", "needs": r"Needs: ([^|]*)" },
        "items": { "after": "^## Steps$", "item": r"^(?<label>[A-Z])\. (?<text>.+)$", "stop": "^## ", "continues": r"^\s+\S" },
        "sections": "^## (?<title>.+)$",
        "lists": { "needs": { "none": ["-"], "item": r"^(?<id>R-\d+)(?<label>[A-Z])?$" } },
        "fences": "plain",
    })
}

const TEXT: &str = "intro\n# R-1: Tea \n\n**Level**: easy | Needs: R-2A, R-3, -, tea | x\nHot.\n\n## Steps\n\nA. Boil\n   water.\n\n   lost\nB. Pour.\n\
    ## Notes\n\nMilk?\n\n*End* abc\n---\nbetween\nR-2: Pot\n```\nR-3: Lid\n```\n";

#[test]
fn a_block_has_all_its_parts() {
    let blocks = read(TEXT, &recipe()).expect("the rules are good");
    assert_eq!(
        blocks[0],
        json!({
            "line": 2, "end_line": 19,
            "groups": { "id": "R-1", "title": "Tea", "hash": "abc" },
            "fields": { "level": "easy", "needs": "R-2A, R-3, -, tea " },
            "items": [{ "label": "A", "text": "Boil water.", "line": 9 }, { "label": "B", "text": "Pour.", "line": 13 }],
            "sections": [
                { "title": "Steps", "line": 7, "end_line": 13, "text": "A. Boil\n   water.\n\n   lost\nB. Pour." },
                { "title": "Notes", "line": 14, "end_line": 17, "text": "Milk?" },
            ],
            "lists": { "needs": [
                { "id": "R-2", "label": "A", "text": "R-2A" },
                { "id": "R-3", "label": null, "text": "R-3" },
                { "id": null, "label": null, "text": "tea" },
            ] },
            "text": "**Level**: easy | Needs: R-2A, R-3, -, tea | x\nHot.\n\n## Steps\n\nA. Boil\n   water.\n\n   lost\nB. Pour.\n## Notes\n\nMilk?",
            "preamble": "Hot.",
        })
    );
    assert_eq!(
        (&blocks[1]["line"], &blocks[1]["end_line"], &blocks[1]["fields"]["level"]),
        (&json!(21), &json!(22), &json!(null))
    );
    assert_eq!(blocks[2]["groups"]["title"], "Lid");
}

#[test]
fn fences_are_opaque_and_line_ends_do_not_matter() {
    let rules = json!({ "start": "^!(?<id>\\w+)$", "end": "^# " });
    let text = "!a\r\n~~~~\r\n!b\r\n~~~\r\n# x\r\n~~~~\r\nmore\r\n# end\r\n!c\r\n";
    let blocks = read(text, &rules).expect("the rules are good");
    assert_eq!((blocks[0]["end_line"].as_u64(), blocks[1]["groups"]["id"].as_str()), (Some(7), Some("c")));
    assert_eq!(blocks[0]["text"], "~~~~\n!b\n~~~\n# x\n~~~~\nmore");
    assert_eq!(blocks.as_array().map(Vec::len), Some(2));
}

#[test]
fn rules_are_checked() {
    let error = |rules: serde_json::Value| read("", &rules).err().map_or_else(String::new, |error| error.to_string());
    assert_eq!(error(json!({ "strat": "a" })), "`rules` has no key `strat` (did you mean `start`?)");
    assert!(error(json!({})).starts_with("`rules` lacks `start`"));
    assert!(error(json!({ "start": "(" })).starts_with("rule `rules.start`: invalid regular expression"));
    assert!(error(json!({ "start": "a", "items": { "items": "x" } })).contains("did you mean `item`?"));
    assert!(
        error(json!({ "start": "a", "fields": { "need": "b" }, "lists": { "needs": {} } }))
            .contains("did you mean `need`?")
    );
    assert!(error(json!({ "start": "a", "end_takes": 1 })).contains("must be a boolean, got integer"));
    assert!(error(json!({ "start": "a", "fences": "x" })).contains("`opaque` or `plain`"));
}

/// 20,000 blocks, 15 MB. Run it with `--ignored --release`.
#[test]
#[ignore = "a measurement"]
fn twenty_thousand_blocks() {
    let mut text = String::new();
    for number in 0..20_000 {
        text.push_str(&format!(
            "# R-{number}: Title of it\n\n**Level**: easy | Needs: R-1, R-2A\n\n{}\n\n## Steps\n\n",
            "Some prose about it. ".repeat(10)
        ));
        for label in ["A", "B", "C", "D"] {
            text.push_str(&format!("{label}. {}\n", "The system SHALL do it well. ".repeat(3)));
        }
        text.push_str(&format!("\n## Notes\n\n{}\n\n*End* abc\n---\n\n", "A note. ".repeat(14)));
    }
    let rules = BlockRules::read(&Value::from_json(&recipe())).expect("the rules are good");
    let document = Document::new("a.md", text);
    let begun = std::time::Instant::now();
    let count = parse_blocks(&document, &rules).map(|blocks| blocks.len());
    panic!("{count:?} blocks of {} bytes in {:?}", document.text().len(), begun.elapsed());
}

proptest! {
    #[test]
    fn lines_lie_within_the_text(lines in prop::collection::vec(
        prop::sample::select(vec!["R-1: a", "*End* x", "---", "## Steps", "## ", "A. b", "  c", "", "```", "~~~", "**Level**: d", "Needs: R-1,,-", "é\r"]), 0..16),
        opaque in any::<bool>(), takes in any::<bool>(),
    ) {
        let mut rules = recipe();
        rules["fences"] = json!(if opaque { "opaque" } else { "plain" });
        rules["end_takes"] = json!(takes);
        let text = lines.join("\n");
        let count = text.lines().count() as u64;
        let mut last = 0;
        for block in read(&text, &rules).expect("the rules are good").as_array().expect("a list") {
            let (from, to) = (block["line"].as_u64().unwrap_or(0), block["end_line"].as_u64().unwrap_or(0));
            prop_assert!(last < from && from <= to && to <= count, "{block}");
            for part in ["items", "sections"].iter().flat_map(|part| block[*part].as_array().expect("a list")) {
                let line = part["line"].as_u64().unwrap_or(0);
                prop_assert!(from < line && line <= to && part["end_line"].as_u64().unwrap_or(line) <= to);
            }
            last = to;
        }
    }
}
