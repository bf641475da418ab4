//! Numbers on their way through every format: what comes out is what went in, or an error says which number is wrong.

use super::run;
use crate::diagnostic::Code;
use crate::value::Json;

/// Numbers of scripts that formats can represent.
const SAYABLE: &[&str] = &[
    "0",
    "-1",
    "9223372036854775807",
    "-9223372036854775807 - 1",
    "9007199254740993",
    "1.0",
    "-0.0",
    "0.1",
    "1e15",
    "1e16",
    "1e17",
    "1e22",
    "1e300",
    "-1e300",
    "5e-324",
    "1.7976931348623157e308",
    "9223372036854775808.0",
    "123456789.125",
];

/// Numbers that no format can represent.
const UNSAYABLE: &[(&str, &str)] = &[("0.0 / 0.0", "NaN"), ("1.0 / 0.0", "inf"), ("-1.0 / 0.0", "-inf")];

/// Round trips of a value `v` through a format.
const WAYS: &[&str] = &[
    r#"parse_json(to_json(#{ v: v })).v"#,
    r#"parse_json(to_json([[v]], #{ indent: 2 }))[0][0]"#,
    r#"parse_yaml(to_yaml(#{ v: v })).v"#,
    r#"parse_yaml(to_yaml(#{ v: [v] }, #{ style: "flush" })).v[0]"#,
    r#"parse_front_matter(edit_front_matter("---\nv: 1\nw: 2\n---\n", #{ v: v })).data.v"#,
    r#"parse_front_matter(edit_front_matter("---\n{v: 1, w: 2}\n---\n", #{ v: v })).data.v"#,
    r#"parse_front_matter(edit_front_matter("Text\n", #{ a: #{ v: [v] } })).data.a.v[0]"#,
    r#"parse_yaml(rewrite_yaml("v: 1\nw: 2\n", #{ v: v })).v"#,
    r#"parse_yaml(rewrite_yaml(to_yaml(#{ v: v }), #{ w: 1 })).v"#,
    r#"parse_yaml(rewrite_yaml("v: [1]\n", #{ v: [v] })).v[0]"#,
    r#"once("v", || v)"#,
];

/// Outputs that are not read again.
const DOORS: &[&str] = &[
    r#"fail("x", #{ v: v })"#,
    r#"not_found("x", [v])"#,
    r#"protocol_error(7, "x", v)"#,
    r#"render("templates/a.hbs", #{ v: v })"#,
    r#"text_content("x", #{ meta: #{ v: v } })"#,
    r#"text_content("x", #{ annotations: #{ priority: v } })"#,
    r#"log("info", #{ v: v })"#,
];

#[test]
fn what_a_format_can_say_comes_back_as_it_was() {
    for (number, way) in SAYABLE.iter().flat_map(|number| WAYS.iter().map(move |way| (number, way))) {
        let script = format!(
            "fn main() {{ let v = {number}; let back = {way}; [v == back && type_of(v) == type_of(back), back] }}"
        );
        let reported = run(&script).unwrap_or_else(|error| panic!("{number} by {way}: {error}"));
        assert_eq!(reported[0], true, "{number} by {way}: {reported}");
    }
}

//= docs/spec.md#primitives
//= type=test
//# A number that JSON, YAML and TOML cannot represent MUST be an error that names the number.
#[test]
fn unrepresentable_numbers_fail_and_are_named() {
    for (number, shown) in UNSAYABLE {
        for way in WAYS.iter().chain(DOORS) {
            match run(&format!("fn main() {{ let v = {number}; {way} }}")) {
                Ok(value) => panic!("{number} by {way} became {value}"),
                Err(error) => {
                    assert_eq!(error.code, Code::ARGUMENTS, "{number} by {way}: {error}");
                    assert!(error.message.contains(&format!(" is {shown}, a number that")), "{way}: {error}");
                }
            }
        }
        // Both next steps that the help suggests: the test, and texts, which can represent the number.
        let script = format!(
            r#"fn main() {{ let v = {number}; [v.is_finite(), fill_placeholders("{{{{v}}}}", #{{ v: v }}), [v].join(" "), "" + v] }}"#
        );
        assert_eq!(run(&script).expect("texts say it"), serde_json::json!([false, shown, shown, shown]));
    }
}

/// Numbers as they appear in files.
const WRITTEN: &[&str] = &[
    "0",
    "-0",
    "7",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "-9223372036854775809",
    "18446744073709551615",
    "18446744073709551616",
    "340282366920938463463374607431768211456",
    "12345678901234567890123",
    "1.0",
    "0.1",
    "-0.0",
    "1e5",
    "1E5",
    "1e400",
    "-1e400",
    "1.7976931348623157e308",
    "5e-324",
    "0.30000000000000004",
];

const READERS: &[&str] = &[
    r#"parse_json("[NUMBER]")[0]"#,
    r#"parse_json("{\"a\": {\"b\": NUMBER}}").a.b"#,
    r#"parse_yaml("a: NUMBER\n").a"#,
    r#"parse_yaml("a: &x [NUMBER]\nb: *x\n").b[0]"#,
    r#"parse_yaml("base: &x {a: NUMBER}\nb: {<<: *x}\n").b.a"#,
    r#"parse_front_matter("---\na: NUMBER\n---\n").data.a"#,
    r#"parse_toml("a = NUMBER").a"#,
    r#"parse_yaml(rewrite_yaml("a: NUMBER\nb: 1\n", #{ b: 2 })).a"#,
    r#"parse_yaml(rewrite_yaml("a: [NUMBER]\nb: 1\n", #{ b: 2 })).a[0]"#,
    r#"parse_front_matter(edit_front_matter("---\na: NUMBER\nb: 1\n---\n", #{ b: 2 })).data.a"#,
    r#"parse_yaml(to_yaml(parse_yaml("a: NUMBER\n"))).a"#,
    r#"parse_csv("a\nNUMBER\n", #{ header: true })[0].a"#,
];

/// Whether a value is exactly the number that is written.
fn is_exactly(value: &Json, written: &str) -> bool {
    match value {
        Json::String(text) => text == written,
        Json::Number(number) => match (number.as_i64(), written.parse::<i64>()) {
            (Some(number), Ok(written)) => number == written,
            // A float must be the nearest one to the written float. Of written integers, only `-0` becomes a float.
            _ => {
                let float = number.as_f64();
                float == written.parse().ok() && (written.contains(['.', 'e', 'E']) || float == Some(0.0))
            }
        },
        _ => false,
    }
}

#[test]
fn numbers_round_trip_or_fail() {
    for (written, reader) in WRITTEN.iter().flat_map(|written| READERS.iter().map(move |reader| (written, reader))) {
        let expression = reader.replace("NUMBER", written);
        match run(&format!("fn main() {{ {expression} }}")) {
            Ok(value) => assert!(is_exactly(&value, written), "{expression} returns {value}"),
            Err(error) => assert_eq!(error.code.kind(), "parse", "{expression}: {error}"),
        }
    }
}

#[test]
fn what_is_not_changed_keeps_its_digits() {
    for written in WRITTEN {
        for edit in [
            r#"edit_front_matter("---\na: NUMBER # why\nb: 1\n---\n", #{ b: 2 })"#,
            r#"edit_front_matter("---\n{a: NUMBER, b: 1}\n---\n", #{ b: 2 })"#,
            r#"rewrite_yaml("a: NUMBER\nb: 1\n", #{ b: 2 })"#,
            r#"rewrite_yaml("a: [x, NUMBER]\nb: 1\n", #{ b: 2 })"#,
        ] {
            let expression = edit.replace("NUMBER", written);
            let text =
                run(&format!("fn main() {{ {expression} }}")).unwrap_or_else(|error| panic!("{expression}: {error}"));
            let text = text.as_str().unwrap_or_default();
            let words = text.split(|c: char| c.is_whitespace() || "[]{},".contains(c));
            assert!(words.clone().any(|word| word == *written), "{expression} returns {text}");
        }
    }
}

/// Values that are equal, and values that are not, by all exact comparisons.
#[test]
fn what_compares_numbers_does_so_by_one_rule() {
    let numbers = [
        "0",
        "0.0",
        "1e-17",
        "1",
        "1.0",
        "1.0000000000000002",
        "9007199254740992",
        "9007199254740992.0",
        "9007199254740993",
        "9007199254740994.0",
        "1e22",
        "1.0 / 0.0",
        "0.0 / 0.0",
    ];
    let same = [(0, 1), (3, 4), (6, 7)];
    for (at, a) in numbers.iter().enumerate() {
        for (other, b) in numbers.iter().enumerate() {
            let expected = at == other || same.contains(&(at, other)) || same.contains(&(other, at));
            let script = format!(
                "fn main() {{ let a = {a}; let b = {b}; [[a] == [b], #{{ v: a }} == #{{ v: b }}, [a].contains(b), [a].index_of(b) == 0, \
                 [a, b].unique().len() == 1, to_set([a]).contains(b), to_set([a, b]).len() == 1, [[a], [b]].unique().len() == 1, \
                 [a].difference([b]).is_empty()] }}"
            );
            let reported = run(&script).unwrap_or_else(|error| panic!("{a} and {b}: {error}"));
            let reported = reported.as_array().cloned().unwrap_or_default();
            for (way, reported) in reported.iter().enumerate() {
                assert_eq!(*reported, expected, "{a} and {b}, way {way}");
            }
        }
    }
}

/// Rhai's operators have a rule of their own, which the guide explains. If they lose it, the guide must lose it too.
#[test]
fn operators_between_floats_are_those_that_the_guide_tells_of() {
    for (expression, expected) in [
        ("1e-17 == 0.0", true),
        ("1e-17 > 0.0", false),
        ("1.0 == 1.0000000000000002", true),
        ("1.0 == 1.000000000000001", false),
        ("0.1 + 0.2 == 0.3", true),
        ("9007199254740993 == 9007199254740992", false),
    ] {
        assert_eq!(super::value(expression), expected, "{expression}");
    }
}

#[test]
fn what_is_no_number_is_no_whole_one() {
    for (number, expected) in
        [("2.9", 2), ("-2.9", -2), ("-9223372036854775808.0", i64::MIN), ("1e15", 1_000_000_000_000_000)]
    {
        assert_eq!(super::value(&format!("({number}).to_int()")), expected, "{number}");
    }
    for number in ["0.0 / 0.0", "1.0 / 0.0", "-1.0 / 0.0", "9223372036854775808.0", "-1e19"] {
        let error = super::error(&format!("fn main() {{ ({number}).to_int() }}"));
        assert!(error.contains("`to_int` cannot convert"), "{number}: {error}");
    }
}
