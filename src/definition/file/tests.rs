//! Reading whole files: the definitions of a valid file, and all errors of an invalid one with their locations.

use super::*;
use crate::definition::{Body, CaseAction, Expectation, MessagePart, apply_fixtures};
use crate::primitive_api::Effect;

fn said(text: &str) -> Vec<String> {
    let (_, diagnostics) = read_definitions(&Source::new("tools.d/a.toml", text), Validation::Full);
    diagnostics
        .iter()
        .map(|diagnostic| {
            let (line, column) = diagnostic.at.as_ref().unwrap().line_column();
            format!(
                "{line}:{column} {} {} | {}",
                diagnostic.code,
                diagnostic.message,
                diagnostic.help.as_deref().unwrap_or("")
            )
        })
        .collect()
}

const GOOD: &str = r##"
[pack]
title = "T"
activate_if_exists = ["x.toml"]
grants = { read = ["."], git = "read" }
[pack.config_schema]
type = "object"
properties.path = { type = "string", default = "x" }
[graph]
[data.levels]
must = 1
[defs.Id]
type = "string"
[[tool]]
name = "find_it"
description = "Finds."
effect = "reads"
[tool.input]
type = "object"
required = ["id"]
properties.id = { "$ref" = "#/$defs/Id" }
[tool.output]
type = "array"
[[tool.example]]
files = { "a.md" = "x" }
arguments = { id = "a" }
expect.result_json = '[null]'
[[tool]]
name = "hello"
description = "Hello."
text = "Hello {{name}}"
input = { type = "object", properties = { name = { type = "string" } } }
[[resource]]
name = "one"
uri_template = "a:///{id}{?limit}"
aliases = ["/{id}{?limit}"]
complete.id = "complete_id"
[[prompt]]
name = "p"
argument = [{ name = "id", required = true, complete = ["a", "b"] }]
[[prompt.message]]
role = "assistant"
text = "Hi {{id}}"
[[prompt.message]]
image = "templates/a.png"
[fixture.desk]
filesystem = "disk"
git = "init"
held_locks = "notes"
files = { "a.md" = "desk", "b.md" = "desk" }
env = { HOUSE = "red" }
config = { size = 1, color = "red" }
[fixture.noon]
filesystem = "memory"
now = "2026-01-31T12:00:00Z"
files = { "b.md" = "noon", "c.md" = "noon" }
config = { color = "green" }
[[case]]
title = "edit"
fixture = ["desk", "noon"]
files = { "c.md" = "own" }
held_locks = ["pots"]
config = { color = "blue" }
[[case.step]]
write_files = { "a.md" = "y" }
call = "find_it"
expect.result_matches = [1]
expect.files = { "b.md" = false }
"##;

//= docs/spec.md#definitions
//= type=test
//# A schema MUST be published as written, except for its shared definitions, `properties` and a closing
//# keyword at its root, and `items` of arrays.
#[test]
fn a_published_array_has_items() {
    let text = "[[tool]]\nname='a'\ndescription='b'\neffect='pure'\ntext='c'\n[tool.input]\ntype='object'\nproperties.tags = { type = 'array', default = [{ type = 'array' }] }\nproperties.pair = { type = 'array', prefixItems = [] }\n";
    let (definitions, _) = read_definitions(&Source::new("tools.d/a/b.toml", text), Validation::Full);
    let published = definitions.tools[0].input.publish(&[]).unwrap();
    let expected = serde_json::json!({
        "tags": { "type": "array", "default": [{ "type": "array" }], "items": {} },
        "pair": { "type": "array", "prefixItems": [] },
    });
    assert_eq!(published["properties"], expected);
}

#[test]
fn a_good_file_is_lowered_in_full() {
    let (definitions, diagnostics) = read_definitions(&Source::new("tools.d/a/b.toml", GOOD), Validation::Full);
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    assert_eq!(definitions.graph.unwrap().script.value, "tools.d/a/b.rhai");
    let tool = &definitions.tools[0];
    let script = Body::Script { script: "tools.d/a/b.rhai".into(), function: "find_it".into() };
    assert_eq!((&tool.body.value, tool.effect.value), (&script, Effect::Reads));
    assert!(matches!(definitions.tools[1].body.value, Body::Inline { .. }));
    let published = tool.input.publish(&definitions.defs).unwrap();
    let keys = serde_json::to_string(&published).unwrap();
    assert_eq!(
        keys,
        r##"{"type":"object","required":["id"],"properties":{"id":{"$ref":"#/$defs/Id"}},"$defs":{"Id":{"type":"string"}},"additionalProperties":false}"##
    );
    assert_eq!(tool.input.place("/properties/id").unwrap().line_column().0, 21);
    assert!(matches!(definitions.prompts[0].messages[1].part.value, MessagePart::Image { .. }));
    let steps = &definitions.cases[1].steps;
    assert!(
        matches!(steps[0].act.value, CaseAction::Write { .. }) && matches!(steps[1].act.value, CaseAction::Call { .. })
    );
    assert!(matches!(&steps[1].expect[1].value, Expectation::Files(files) if files["b.md"].is_null()));
    assert_eq!(definitions.cases[0].example_of.as_deref(), Some("find_it"));
    assert!(matches!(&definitions.cases[0].steps[0].expect[0].value, Expectation::Result(json) if json[0].is_null()));
}

//= docs/spec.md#definitions
//= type=test
//# Later fixtures of a case MUST override earlier ones, and the keys of the case MUST override all fixtures.
#[test]
fn a_later_fixture_counts_more_and_the_own_keys_count_most() {
    let (definitions, _) = read_definitions(&Source::new("tools.d/a/b.toml", GOOD), Validation::Full);
    let (mut diagnostics, case) = (Vec::new(), &definitions.cases[1]);
    let mut setup = case.setup.clone();
    apply_fixtures(&mut setup, &case.fixtures, &definitions.fixtures, &mut diagnostics);
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    let texts = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
        pairs.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
    };
    assert_eq!(setup.files, texts(&[("a.md", "desk"), ("b.md", "noon"), ("c.md", "own")]));
    assert_eq!(setup.config, serde_json::json!({ "size": 1, "color": "blue" }));
    assert_eq!((setup.env, setup.locked), (texts(&[("HOUSE", "red")]), vec!["pots".to_owned()]));
    assert_eq!((setup.world.as_deref(), setup.git), (Some("memory"), true));
    assert_eq!(setup.now.as_deref(), Some("2026-01-31T12:00:00Z"));
}

//= docs/spec.md#definitions
//= type=test
//# Every error in a definition file MUST be reported with its path, line and column.
//= docs/spec.md#definitions
//= type=test
//# An unknown key MUST be refused with the nearest known key.
#[test]
fn every_diagnostic_is_reported_at_its_location() {
    let text = "[[tool]]\nname = \"a\"\ndescripton = \"x\"\neffect = \"read\"\ntext = 'a'\nfile = 'b'\ntitle = 'o'\n[tool.input]\ntype = \"object\"\nproperties.a = { typ = \"strin\", type = \"strin\" }\n[[tool.example]]\narguments = []\n";
    assert_eq!(
        said(text),
        [
            "3:1 unknown-key [[tool]] has no key `descripton` | did you mean `description`?",
            "4:10 wrong-value `effect` cannot be \"read\" | did you mean `reads`?",
            "6:1 conflicting-keys `text` and `file` exclude each other | a tool takes one of `fn`, `template`, `primitive`, `text`, `file`",
            "10:24 schema-keyword JSON Schema has no keyword `typ` | did you mean `type`?",
            "10:40 schema-value there is no type `strin` | did you mean `string`?",
            "11:1 missing-key nothing is expected | one of `expect.result`, `expect.result_matches`, `expect.text_contains`, `expect.error`, `expect.files`, `expect.notifications`, `expect.questions`",
            "12:13 wrong-type `arguments` takes a table, got a list | the arguments",
        ]
    );
}

#[test]
fn keys_that_are_misspelled_or_wrong_are_not_missing_too() {
    for (text, codes) in [
        ("[[tool]]\nnam = 'a'\ndescrption = 'b'\neffct = 'reads'", vec!["unknown-key"; 3]),
        ("[[tool]]\nname = 1\ndescription = 2\neffect = 'raeds'", vec!["wrong-type", "wrong-type", "wrong-value"]),
        ("[[tool]]\nname = 'a'\ndescription = 'b'", vec!["missing-key"]),
        ("[[resource]]\nname = 'a'\ntext = 'b'\nurl = 'c:d'", vec!["unknown-key"]),
        ("[[prompt]]\nname = 'a'\ndescription = 'b'\ntxt = 'c'", vec!["unknown-key"]),
        ("[[case]]\ntitle = 'a'\ncal = 'b'\nexpect.result = 1", vec!["unknown-key"]),
        ("[[case]]\ntitle = 'a'\ncall = 'b'\nexpect.reslt = 1", vec!["unknown-key"]),
        ("[[case]]\ntitle = 'a'\ncall = 'b'\nexpct.result = 1", vec!["missing-key", "unknown-key"]),
    ] {
        let found: Vec<String> =
            said(text).iter().filter_map(|line| Some(line.split(' ').nth(1)?.to_owned())).collect();
        assert_eq!(found, codes, "{text}: {:?}", said(text));
    }
}

//= docs/spec.md#definitions
//= type=test
//# A schema that toolsd cannot use MUST be reported at the position of the keyword.
#[test]
fn unusable_schemas_are_reported() {
    let text = "[[tool]]\nname='a'\ndescription='b'\ntext='c'\n[tool.input]\nproperties.a = { '$ref' = 'https://x.y/z' }\nproperties.b = { pattern = '(?=a)' }\nproperties.c = { format = 'dat' }\nproperties.d = { minLength = -1, enum = [] }\nrequired = 'a'\n";
    let codes: Vec<String> =
        said(text).iter().map(|line| line.split(' ').take(2).collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(
        codes,
        [
            "5:1 schema-root",
            "6:27 schema-reference",
            "7:28 schema-pattern",
            "8:27 schema-format",
            "9:30 schema-value",
            "9:41 schema-value",
            "10:12 schema-value",
        ]
    );
}

#[test]
fn json_errors_are_located_inside_the_text() {
    let text = "[[tool]]\nname='a'\ndescription='b'\ntext='c'\ninput_json = '''\n{\n  \"type\": object\n}'''\n";
    assert_eq!(said(text), ["7:11 json-syntax not JSON: expected value | RFC 8259"]);
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(64))]
    //= docs/spec.md#robustness
    //= type=test
    //# A parser MUST NOT panic, whatever text it is given.
    #[test]
    fn nothing_makes_it_panic(text in "\\PC*", cut in 0..GOOD.len(), more in "[\\[\\]\\{\\}=\"'.,a-z0-9\\n ]{0,40}") {
        read_definitions(&Source::new("a.toml", text), Validation::Full);
        let cut = GOOD.floor_char_boundary(cut);
        read_definitions(&Source::new("a.toml", format!("{}{more}{}", &GOOD[..cut], &GOOD[cut..])), Validation::Full);
    }
}
