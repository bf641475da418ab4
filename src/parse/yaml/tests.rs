//! Tests of reading and writing YAML.

use super::*;
use crate::document::Document;
use crate::value::Json;
use proptest::prelude::*;
use serde_json::json;

fn read(text: &str) -> Json {
    parse_yaml(&ParserInput::from_value(&text.into())).unwrap_or_else(|error| panic!("{text:?}: {error}")).to_json()
}

fn error(text: &str) -> String {
    match parse_yaml(&ParserInput::from_value(&text.into())) {
        Ok(value) => panic!("{text:?} is {value:?}"),
        Err(error) => {
            assert_eq!(error.code, CODE);
            error.to_string()
        }
    }
}

#[test]
fn words_stay_texts_and_numbers_are_numbers() {
    assert_eq!(
        read("a: no\nb: [yes, on, off, y]\nc: true\n"),
        json!({ "a": "no", "b": ["yes", "on", "off", "y"], "c": true })
    );
    assert_eq!(read("on: 1\n1: x\n2024-01-02: ~\n"), json!({ "on": 1, "1": "x", "2024-01-02": null }));
    assert_eq!(
        read("a: 2024-01-02\nb: 1.10\nc: 0x10\nd: 1.2.3\n"),
        json!({ "a": "2024-01-02", "b": 1.1, "c": 16, "d": "1.2.3" })
    );
    assert_eq!(read(""), json!(null));
    assert_eq!(read("\u{feff}a: 1\r\nb: 2\r\n"), json!({ "a": 1, "b": 2 }));
    assert_eq!(read("x: &x { a: 1 }\ny: { <<: *x, b: 2 }\n"), json!({ "x": { "a": 1 }, "y": { "a": 1, "b": 2 } }));
}

/// One row per spelling. The core schema of YAML 1.2 decides, and what JSON cannot represent stays text.
#[test]
fn plain_scalars_are_what_the_core_schema_says() {
    let table = [
        ("", json!(null)),
        ("~", json!(null)),
        ("null", json!(null)),
        ("NULL", json!(null)),
        ("nULL", json!("nULL")),
        ("true", json!(true)),
        ("False", json!(false)),
        ("tRUE", json!("tRUE")),
        ("yes", json!("yes")),
        ("0", json!(0)),
        ("0123", json!(123)),
        ("-007", json!(-7)),
        ("+12", json!(12)),
        ("089", json!(89)),
        ("0o17", json!(15)),
        ("0x1F", json!(31)),
        ("0X1F", json!("0X1F")),
        ("-0x1F", json!("-0x1F")),
        ("0b11", json!("0b11")),
        ("1_000", json!("1_000")),
        ("1:30", json!("1:30")),
        ("2024-01-02", json!("2024-01-02")),
        ("1.", json!(1.0)),
        (".5", json!(0.5)),
        ("1e3", json!(1000.0)),
        ("012.5", json!(12.5)),
        ("18446744073709551615", json!("18446744073709551615")),
        ("-9223372036854775809", json!("-9223372036854775809")),
        ("0xFFFFFFFFFFFFFFFFF", json!("0xFFFFFFFFFFFFFFFFF")),
        ("18446744073709551615.0", json!(18_446_744_073_709_551_615.0)),
        (".inf", json!(".inf")),
        ("-.INF", json!("-.INF")),
        (".nan", json!(".nan")),
        ("1e999", json!("1e999")),
        ("inf", json!("inf")),
        ("\"0123\"", json!("0123")),
        ("'1_000'", json!("1_000")),
        ("!!str 12", json!("12")),
        ("!!float 1", json!(1.0)),
    ];
    for (written, value) in table {
        let text = format!("\u{feff}# é\na: {written} # why\nb: [{written}, &x {written}]\nc: *x\n");
        let wanted = json!({ "a": value, "b": [value, value], "c": value });
        match written {
            // Two empty anchors, and an empty value in a flow collection, are written differently.
            "" => assert_eq!(read("a:\n"), json!({ "a": null })),
            _ => assert_eq!(read(&text), wanted, "{written}"),
        }
    }
}

#[test]
fn faults_say_where_and_what_to_do() {
    assert!(error("a: 1\nb: 2\na: 3\n").starts_with("text:3:1: "), "{}", error("a: 1\nb: 2\na: 3\n"));
    assert!(error("a: 1\n1: 2\n\"1\": 3\n").contains("once"), "{}", error("a: 1\n1: 2\n\"1\": 3\n"));
    assert!(error("a: b: c\n").starts_with("text:1:"), "{}", error("a: b: c\n"));
    assert!(error("a: 1\n---\nb: 1\n").contains("one document"), "{}", error("a: 1\n---\nb: 1\n"));
    assert!(error("a:\n\t- b\n").contains("spaces"), "{}", error("a:\n\t- b\n"));
    let document = Value::handle(Document::new("a.yaml", "x: [1\n"));
    let error = parse_yaml(&ParserInput::from_value(&document)).expect_err("the list is open");
    assert!(error.to_string().starts_with("a.yaml:"), "{error}");
}

#[test]
fn bombs_and_towers_are_refused() {
    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..12 {
        let below = vec![format!("*a{}", level - 1); 10].join(", ");
        bomb.push_str(&format!("a{level}: &a{level} [{below}]\n"));
    }
    assert!(error(&bomb).contains("aliases"), "{}", error(&bomb));
    error(&"[".repeat(100_000));
    error(&"{a: ".repeat(100_000));
    error(&"- ".repeat(50_000));
    let steps: String = (0..2_000).map(|level| format!("{}a:\n", " ".repeat(level))).collect();
    error(&steps);
}

#[test]
fn yaml_is_written_as_people_write_it() {
    let tree = json!({ "title": "Tea: how to", "tags": ["hot", "no", "1"], "text": "one\ntwo\n", "empty": [], "steps": [{ "do": "boil", "minutes": 3.5 }] });
    let text = yaml_text(&tree).expect("it can be written");
    assert_eq!(
        text,
        "title: \"Tea: how to\"\ntags:\n  - hot\n  - \"no\"\n  - \"1\"\ntext: |\n  one\n  two\nempty: []\nsteps:\n  - do: boil\n    minutes: 3.5\n"
    );
    let long = json!({ "a": "word ".repeat(60).trim_end() });
    assert_eq!(yaml_text(&long).map(|text| text.lines().count()), Ok(1));
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[ -~]{0,12}",
        "[a: #\\-\n\t\"'|>]{0,10}",
        "\\PC{0,6}",
        any::<String>(),
        "[0-9._+eExXob-]{1,7}",
        prop::sample::select(vec![
            "", "~", "null", "Null", "true", "no", "on", "y", "<<", "---", "...", "- a", "? a", ".inf", "=", "0o7",
            "\u{feff}", "\u{85}", "a\r\nb", "\n", " \n a", "\n\n", "a\n\n", "#"
        ])
        .prop_map(str::to_owned),
        "[a ]{80,130}",
    ]
}

fn any_tree() -> impl Strategy<Value = Json> {
    let scalar = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        (-1e30..1e30_f64).prop_map(Json::from),
        any::<f64>().prop_filter("JSON has no other", |float| float.is_finite()).prop_map(Json::from),
        any_text().prop_map(Json::from),
        any_text().prop_map(Json::from),
    ];
    scalar.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Json::Array),
            prop::collection::vec((any_text(), inner), 0..4)
                .prop_map(|pairs| Json::Object(pairs.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn what_is_written_is_read_again(tree in any_tree()) {
        let text = yaml_text(&tree).expect("it can be written");
        match parse_yaml(&ParserInput::from_value(&text.as_str().into())) {
            Ok(value) => prop_assert_eq!(value, Value::from_json(&tree), "{}", text),
            Err(error) => prop_assert!(false, "{error}\n{text}"),
        }
    }

    //= docs/spec.md#robustness
    //= type=test
    //# A parser MUST NOT panic, whatever text it is given.
    #[test]
    fn it_never_panics_and_errors_are_in_range(text in prop_oneof!["[-a: \n\\[{}&*|>\"'#?!,\t%]{0,40}", any::<String>()]) {
        if let Err(refused) = parse_text(&text).expect("no guard") {
            prop_assert!(refused.line <= text.lines().count().max(1));
        }
    }
}
