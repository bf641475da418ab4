//! Edits of front matter: case by case, and as a property.

use super::*;
use proptest::prelude::*;
use serde_json::json;

fn edit(block: &str, changes: &Json) -> String {
    edit_with(block, changes, &FrontMatterOptions::default())
}

fn edit_with(block: &str, changes: &Json, how: &FrontMatterOptions) -> String {
    let text = format!("---\n{block}---\nbody\n");
    let edited =
        edit_front_matter(&text.as_str().into(), changes, how).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let inner = edited.strip_prefix("---\n").and_then(|rest| rest.strip_suffix("---\nbody\n"));
    inner.unwrap_or_else(|| panic!("the frame was touched: {edited}")).to_owned()
}

/// A tag or an anchor in a flow collection belongs to the item after it and is kept with it.
#[test]
fn tags_of_what_stays_in_a_flowing_list_stay() {
    let list = |items: &str| format!("---\na: {items}\n---\n");
    for (before, wanted, after) in [
        ("[1, !x 2]", json!([0, 2]), "[0, !x 2]"),
        ("[!x 1, 2]", json!([2]), "[2]"),
        ("[!x 1, !<tag:a,b:c> 2, 3]", json!([1, 2, 4]), "[!x 1, !<tag:a,b:c> 2, 4]"),
        ("{b: !x 1, c: 2}", json!({ "b": 1, "c": 3 }), "{b: !x 1, c: 3}"),
    ] {
        let text = list(before);
        let edited = edit_front_matter(&text.as_str().into(), &json!({ "a": wanted }), &FrontMatterOptions::default());
        assert_eq!(edited.map_err(|error| error.to_string()), Ok(list(after)), "{before}");
    }
}

#[test]
fn a_scalar_changes_within_its_line() {
    for (block, changes, wanted) in [
        ("a: b # c\n", json!({ "a": "d" }), "a: d # c\n"),
        ("a:   'b'\n", json!({ "a": "it's" }), "a: 'it''s'\n"),
        ("a: \"b\"  # c\n", json!({ "a": "é\t\"" }), "a: \"é\\t\\\"\"  # c\n"),
        ("a: \"1\"\nb: 1\n", json!({ "a": 1, "b": "1" }), "a: 1\nb: \"1\"\n"),
        ("a: 1.1.0\nb: x\n", json!({ "a": "1.2.0", "b": "1.2.0" }), "a: 1.2.0\nb: \"1.2.0\"\n"),
        ("a: 1.1.0\n", json!({ "a": "1.2" }), "a: \"1.2\"\n"),
        ("a:\nb: ~\n", json!({ "a": "x", "b": true }), "a: x\nb: true\n"),
        ("a: # c\nb: 1\n", json!({ "a": "x" }), "a: x # c\nb: 1\n"),
        ("a: |\n  one\n  two\n\n# c\nb: 1\n", json!({ "a": "x" }), "a: x\n\n# c\nb: 1\n"),
        ("a: x # c\n", json!({ "a": "one\ntwo\n" }), "a: | # c\n  one\n  two\n"),
        ("a: \"x\n  y\" # c\nb: 1\n", json!({ "a": "z" }), "a: \"z\" # c\nb: 1\n"),
        ("a: [x] # c\n", json!({ "a": "z" }), "a: z # c\n"),
        ("a:\n  - x\n", json!({ "a": "z" }), "a: z\n"),
    ] {
        assert_eq!(edit(block, &changes), wanted, "{block:?} with {changes}");
    }
}

#[test]
fn items_that_stay_keep_their_lines() {
    for (block, changes, wanted) in [
        ("l:\n- a # 1\n- 'b'\n# 2\n- c\nz: 1\n", json!({ "l": ["a", "c", "d"] }), "l:\n- a # 1\n# 2\n- c\n- d\nz: 1\n"),
        ("l:\n    - a\n", json!({ "l": ["x", "a"] }), "l:\n    - x\n    - a\n"),
        ("l: # c\n  - a\n  # last\nz: 1\n", json!({ "l": ["a", "b"] }), "l: # c\n  - a\n  - b\n  # last\nz: 1\n"),
        ("l:\n  - a\n", json!({ "l": [] }), "l: []\n"),
        ("l: []\nm:\n- a\n", json!({ "l": ["a"] }), "l:\n- a\nm:\n- a\n"),
        ("l: [] # c\n", json!({ "l": [{ "ref": "x", "optional": true }] }), "l: # c\n  - ref: x\n    optional: true\n"),
        ("l: [a, 'b']  # c\n", json!({ "l": ["a", "b", "c, d"] }), "l: [a, 'b', \"c, d\"]  # c\n"),
        ("l: [\n  a,\n  b,\n]\n", json!({ "l": ["b", "c"] }), "l: [\n  b,\n  c,\n]\n"),
        ("l: [a, b]\n", json!({ "l": ["b", ["x", { "w": 1 }]] }), "l: [b, [x, {w: 1}]]\n"),
        ("l: {a: 1, 'b': 2}\n", json!({ "l": { "a": 1, "b": 3, "c": "x:" } }), "l: {a: 1, b: 3, c: \"x:\"}\n"),
        ("l:\n  -\n  - ~\n", json!({ "l": [null, null, "x"] }), "l:\n  -\n  - ~\n  - x\n"),
        ("l:\n  - - a\n    - b\n", json!({ "l": [["a", "c"]] }), "l:\n  - - a\n    - c\n"),
        ("l:\n  - a\n  - |\n    one\n", json!({ "l": ["a", "one\n", "b"] }), "l:\n  - a\n  - |\n    one\n  - b\n"),
    ] {
        assert_eq!(edit(block, &changes), wanted, "{block:?} with {changes}");
    }
}

#[test]
fn maps_are_edited_key_by_key() {
    let list = "d:\n  - ref: ../a.md # why\n    optional: false\n  - ../b.md # plain\n";
    for (block, changes, wanted) in [
        (
            list,
            json!({ "d": [{ "ref": "../a.md", "optional": true }, "../b.md"] }),
            "d:\n  - ref: ../a.md # why\n    optional: true\n  - ../b.md # plain\n",
        ),
        (
            list,
            json!({ "d": [{ "x": 0 }, { "ref": "../b.md", "optional": true }] }),
            "d:\n  - x: 0\n  - ref: ../b.md # plain\n    optional: true\n",
        ),
        (
            list,
            json!({ "d": ["../a.md", "../b.md", { "ref": "../c.md" }] }),
            "d:\n  - ../a.md\n  - ../b.md # plain\n  - ref: ../c.md\n",
        ),
        (
            "w:\n  fix:\n    # c\n    heads:\n      - one\n",
            json!({ "w": { "fix": { "heads": ["one", "two"], "more": 1 } } }),
            "w:\n  fix:\n    # c\n    heads:\n      - one\n      - two\n    more: 1\n",
        ),
        ("w:\n  fix: 1\n", json!({ "w": { "feat": {} } }), "w:\n  feat: {}\n"),
        ("w: {}\n", json!({ "w": { "feat": [] } }), "w:\n  feat: []\n"),
    ] {
        assert_eq!(edit(block, &changes), wanted, "{block:?} with {changes}");
    }
}

#[test]
fn keys_come_and_go() {
    let before =
        FrontMatterOptions { before: Some("h".into()), quote: Some(QuoteStyle::Double), order: vec!["z".into()] };
    assert_eq!(
        edit_with("a: 1\n\n# about h\nh: []\n", &json!({ "b": "x", "z": 2 }), &before),
        "a: 1\n\nz: 2\nb: \"x\"\n# about h\nh: []\n"
    );
    assert_eq!(edit("a: 1\n  # deep\n# c\nb: 2\n", &json!({ "a": null, "q": null })), "# c\nb: 2\n");
    assert_eq!(edit("a: [x]\n# end\n", &json!({ "b": [1], "a": ["x", "w"] })), "a: [x, w]\nb:\n  - 1\n# end\n");
    assert_eq!(edit("a:\n  - x\n", &json!({ "0": 1, "a": ["x", "w"] })), "a:\n  - x\n  - w\n\"0\": 1\n");
    assert_eq!(edit("a: 1\n", &json!({ "a": null })), "");
    assert_eq!(edit("# only\n", &json!({ "a": 1 })), "# only\na: 1\n");
    assert_eq!(edit("{a: 1, b: 2}\n", &json!({ "a": null, "c": "x" })), "{b: 2, c: x}\n");
}

#[test]
fn line_ends_and_the_mark_stay() {
    let text = "\u{feff}---\r\na: 1 # c\r\nl:\r\n- x\r\n---\r\nbody\n";
    let changes = json!({ "a": "one\ntwo", "l": ["x", "w"], "z": { "k": 1 } });
    assert_eq!(
        edit_front_matter(&text.into(), &changes, &FrontMatterOptions::default()),
        Ok("\u{feff}---\r\na: |- # c\r\n  one\r\n  two\r\nl:\r\n- x\r\n- w\r\nz:\r\n  k: 1\r\n---\r\nbody\n".into())
    );
    assert_eq!(
        edit_front_matter(&"\u{feff}# T\r\n".into(), &json!({ "a": 1 }), &FrontMatterOptions::default()),
        Ok("\u{feff}---\r\na: 1\r\n---\r\n# T\r\n".into())
    );
}

#[test]
fn long_lists_take_no_long_time() {
    let old: String = (0..3_000).map(|at| format!("  - a{at}\n")).collect();
    let new: Vec<String> = (0..3_000).map(|at| format!("b{at}")).collect();
    let wanted: String = new.iter().map(|item| format!("  - {item}\n")).collect();
    assert_eq!(edit(&format!("l:\n{old}"), &json!({ "l": new })), format!("l:\n{wanted}"));
}

#[test]
fn inexpressible_values_fail_instead_of_being_misquoted() {
    let error = |text: &str, changes: &Json| {
        let result = edit_front_matter(&text.into(), changes, &FrontMatterOptions::default());
        result.expect_err("it cannot be edited").to_string()
    };
    let reported = error("---\na: &x 1\nb: *x\n---\n", &json!({ "a": null }));
    assert!(
        reported.starts_with("text:2:1: the front matter cannot be edited to contain these changes: `a`"),
        "{reported}"
    );
    assert!(error("---\na: 1\n", &json!({ "a": 2 })).contains("no closing"));
    assert!(error("---\n? a\n: 1\n---\n", &json!({ "a": 2 })).contains("`?`"));
    assert_eq!(edit("a: &x 1\nb: *x\n", &json!({ "b": 2 })), "a: &x 1\nb: 2\n");
    assert_eq!(edit("a: &x q\nb: 1\n", &json!({ "a": "r" })), "a: r\nb: 1\n");
}

/// A value as people write it in front matter.
fn any_value() -> impl Strategy<Value = Json> {
    let text = prop_oneof!["[a-z]{1,4}", "[a-z :#'\"\\-\\[\\],{}]{0,8}", Just("one\ntwo\n".to_owned()), "\\PC{0,5}"];
    let scalar = prop_oneof![
        text.prop_map(Json::from),
        (0..9_i64).prop_map(Json::from),
        any::<bool>().prop_map(Json::from),
        Just(Json::Null)
    ];
    scalar.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Json::Array),
            prop::collection::vec(("[a-d]", inner), 0..3).prop_map(|pairs| Json::Object(pairs.into_iter().collect())),
        ]
    })
}

/// Entries in some style, with comments, and their values.
fn any_block() -> impl Strategy<Value = (String, Vec<(String, Json)>)> {
    let entry = (any_value(), 0..3_usize, any::<bool>(), any::<bool>());
    prop::collection::vec(entry, 0..5).prop_map(|entries| {
        let mut block = String::new();
        let mut said = Vec::new();
        for (at, (value, indent, flow, remark)) in entries.into_iter().enumerate() {
            let style = YamlStyle {
                quote: [QuoteStyle::Plain, QuoteStyle::Single, QuoteStyle::Double][indent],
                bare: false,
                item_indent: indent,
            };
            let key = format!("k{at}");
            if remark {
                block.push_str(&format!("# about {at}\n"));
            }
            let written = if flow {
                style.flowing(&value).map(|text| format!("{key}: {text} # {at}\n"))
            } else {
                style.entry(&key, &value, 0)
            };
            block.push_str(&written.expect("it can be written"));
            said.push((key, value));
        }
        (block, said)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    //= docs/spec.md#edits
    //= type=test
    //# An edit of front matter MUST change only the lines whose values change, and MUST be refused if reading the
    //# result does not return the requested values.
    #[test]
    fn the_data_is_what_is_wanted_and_other_lines_stay(
        (block, said) in any_block(),
        new in any_value(),
        which in 0..6_usize,
        part in any::<prop::sample::Index>(),
        carriage in any::<bool>(),
    ) {
        let key = format!("k{which}");
        // Either an unrelated value, or a list or map that lost one part and gained another.
        let new = match said.get(which).map(|(_, old)| old.clone()) {
            Some(Json::Array(mut items)) if !items.is_empty() => {
                items.remove(part.index(items.len()));
                items.insert(part.index(items.len() + 1), new);
                Json::Array(items)
            }
            Some(Json::Object(mut map)) => {
                map.insert("a".into(), new);
                Json::Object(map)
            }
            _ => new,
        };
        let end = if carriage { "\r\n" } else { "\n" };
        let text = with_line_end(&format!("---\n{block}---\nbody\n"), end);
        let edited = edit_front_matter(&text.as_str().into(), &json!({ &key: new }), &FrontMatterOptions::default());
        let edited = match edited {
            Ok(edited) => edited,
            Err(error) => return Err(TestCaseError::fail(format!("{error}\n{text}"))),
        };
        let read = FoundFrontMatter::find(&ParserInput::from_value(&edited.as_str().into())).expect("it can be read");
        let mut wanted: Map = said.iter().map(|(key, value)| (key.as_str().into(), Value::from_json(value))).collect();
        if new.is_null() { wanted.remove(key.as_str()) } else { wanted.insert(key.as_str().into(), Value::from_json(&new)) };
        prop_assert_eq!(read.data, wanted, "{}", edited);
        prop_assert_eq!(edited.matches('\n').count(), edited.matches(end).count(), "{:?}", edited);
        for (at, (other, value)) in said.iter().enumerate().filter(|(at, _)| *at != which) {
            let before = entry_text(&text, other);
            prop_assert_eq!(&before, &entry_text(&edited, other), "{}: {} {}\n{}", at, value, text, edited);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    //= docs/spec.md#robustness
    //= type=test
    //# A parser MUST NOT panic, whatever text it is given.
    #[test]
    fn it_never_panics(
        block in "([-?a-c: #\\[\\]{},'\"|>+&*!é]|\n|\r\n|\n  |\n- |\na: |\nb:\n  - ){0,30}",
        new in any_value(),
        before in any::<bool>(),
    ) {
        let text = format!("---\n{block}\n---\n");
        let how = FrontMatterOptions { before: before.then(|| "b".to_owned()), ..FrontMatterOptions::default() };
        if let Ok(edited) = edit_front_matter(&text.as_str().into(), &json!({ "a": new, "b": [new] }), &how) {
            let read = FoundFrontMatter::find(&ParserInput::from_value(&edited.as_str().into())).expect("it can be read");
            prop_assert_eq!(read.data.get("b"), Some(&Value::list([Value::from_json(&new)])));
        }
    }
}

/// The lines of one key of the outermost map, up to the next key or comment of that map.
fn entry_text(text: &str, key: &str) -> String {
    let start = text.find(&format!("\n{key}:")).map_or(0, |at| at + 1);
    let lines = text[start..].split_inclusive('\n');
    let is_own = |(at, line): &(usize, &str)| {
        *at == 0 || line.starts_with([' ', '-']) && !line.starts_with("---") || line.trim().is_empty()
    };
    lines.enumerate().take_while(is_own).map(|(_, line)| line).collect()
}
