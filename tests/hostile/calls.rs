//! The table of hostile calls, over the wire and on the command line.

use crate::house::{House, PACKS, SECRET, is_well};
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
struct Table {
    case: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    title: String,
    tool: String,
    #[serde(default)]
    what: Vec<String>,
    #[serde(default)]
    path: Vec<String>,
    #[serde(default)]
    fails: Vec<String>,
    gives: Option<Value>,
}

fn table() -> Vec<Case> {
    let table: Table = toml::from_str(include_str!("cases.toml")).unwrap();
    table.case
}

impl Case {
    /// Every combination of the arguments.
    fn arguments(&self, house: &House) -> Vec<Value> {
        let parent = house.parent().to_str().unwrap();
        let mut all = vec![json!({})];
        for (key, values) in [("what", &self.what), ("path", &self.path)] {
            if values.is_empty() {
                continue;
            }
            all = all
                .iter()
                .flat_map(|map| {
                    values.iter().map(move |value| {
                        let mut map = map.clone();
                        map[key] = json!(value.replace("${parent}", parent));
                        map
                    })
                })
                .collect();
        }
        all
    }

    /// The reason why an answer is wrong, if it is.
    fn judge(&self, arguments: &Value, text: &str, failed: bool) -> Option<String> {
        let as_reported = match failed {
            true => self.fails.iter().any(|part| text.contains(part.as_str())),
            false => {
                self.gives.as_ref().is_some_and(|data| serde_json::from_str(text).is_ok_and(|got: Value| got == *data))
            }
        };
        let reported = &text[..text.floor_char_boundary(300)];
        let kept = !text.contains(SECRET);
        (!as_reported || !kept).then(|| format!("{}: {} {arguments}: {reported}", self.title, self.tool))
    }
}

//= docs/spec.md#primitives
//= type=test
//# A primitive MUST check the memory limit before it allocates memory of a size that a script chose.
#[test]
fn each_hostile_call_is_contained_and_the_next_one_is_answered() {
    let house = House::new();
    let mut client = house.serve(&["hostile", "calm"]);
    let before = house.snapshot();
    let mut errors = Vec::new();
    for case in table() {
        for arguments in crate::support::sample(case.arguments(&house), 6) {
            let (text, failed) = client.said(&case.tool, arguments.clone());
            errors.extend(case.judge(&arguments, &text, failed));
        }
        is_well(&mut client);
    }
    assert!(errors.is_empty(), "{}", errors.join("\n"));
    assert!(house.snapshot() == before, "something was written");
    drop(client.input.take());
    assert_eq!(client.ended(), Some(0));
}

#[test]
fn words_that_look_like_options_are_not_taken_for_some() {
    let house = House::new();
    let base = ["--dir", PACKS, "--pack", "calm", "--pack", "hostile", "--format", "json"];
    let cases: &[(&[&str], i32, &str)] = &[
        (&["call", "echo", "--", "text=--help"], 0, "--help"),
        (&["call", "echo", "--", "text=-"], 0, "\"-\""),
        (&["call", "--", "echo", r#"{"text":"--pack duvet"}"#], 0, "--pack duvet"),
        (&["call", "--", "--help"], 2, "no tool `--help`"),
        (&["call", "--", "-x"], 2, "no tool `-x`"),
        (&["call", "echo", "--", "--text=x"], 1, "there is no `--text`"),
        (&["call", "echo", "--", "-x"], 2, "`-x` is not an argument"),
        (&["call", "echo", "--text=x"], 2, "--text"),
        (&["read", "--", "--help"], 1, "--help"),
        (&["prompt", "--", "--help"], 2, "--help"),
        (&["call", "reach", "--", "what=a_text", "path=--workspace=/etc"], 1, "--workspace=/etc"),
        (&["call", "reach", "--", "what=a_text", "path=/etc/passwd"], 1, "may not read"),
        (&["call", "echo", "text=\u{202e}\u{7}\u{1b}[2J"], 0, "tail"),
    ];
    for (words, code, part) in cases {
        let (got, out, err) = house.run(&[&base[..], words].concat());
        assert_eq!(got, Some(*code), "{words:?}: {out}{err}");
        assert!(format!("{out}{err}").contains(part), "{words:?}: {out}{err}");
    }
}
