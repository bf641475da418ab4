//! Worst cases by kind: long, deep, many, equal, wide.

use super::{Bench, native};
use crate::diagnostic::{Code, Diagnostic};
use crate::document::{Document, Passage, Spans};
use crate::order::Set;
use crate::primitive_api::Param;
use crate::value::{Bytes, CaughtError, Frozen, Kind, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The length of a long text in bytes.
const TEXT_BYTES: usize = 256 << 10;

/// The number of items of a long list.
const LIST_ITEMS: i64 = 40_000;

/// The number of keys of a wide map.
const MAP_KEYS: i64 = 10_000;

/// The nesting levels of a deep value. No call can pass in a deeper one.
const NESTING_DEPTH: usize = 120;

/// The files of the workspace.
pub(super) const FILES: &[(&str, &str)] = &[("a.txt", "a\n")];

/// The patterns that long texts repeat.
const TEXTS: &[&str] = &[
    "\n",
    "a",
    "a b ",
    "e\u{301}\u{316}",
    "\u{301}",
    "\u{fdfa}",
    "[",
    "> ",
    "(a[b](c",
    "\"",
    "{\"a\":",
    "# t\n",
    "x = \n",
    "a: b\n- c\n",
    "`a|b` | ",
    "- [ ] *a* <b> https://c.d &amp;\n",
    "\u{1F468}\u{200d}",
    "ab,cd;\"e\"\r\n",
];

/// Values that a parameter with this name accepts: words, paths, field names.
const NAMED: &[(&str, &[&str])] = &[
    ("direction", &["out", "in", "both"]),
    ("layout", &["braces", "indent"]),
    ("form", &["NFC", "NFKD"]),
    ("style", &["ascii", "github", "unicode", "indented", "flush"]),
    ("slug", &["github"]),
    ("quote", &["double"]),
    ("level", &["info"]),
    ("regex", &["a", "\\w", "(.)\\s*"]),
    ("mime_type", &["text/plain"]),
    ("capability", &["roots"]),
    ("program", &["none"]),
];

/// Kinds whose worst values are made of the same content.
const ALIKE: &[&[Kind]] = &[
    &[Kind::Text, Kind::Document, Kind::Lines, Kind::Passage, Kind::Bytes],
    &[Kind::List, Kind::Set, Kind::Frozen],
    &[Kind::Graph, Kind::Builder, Kind::Nodes, Kind::Node],
];

/// Values by primitive and parameter.
const CHOSEN: &[(&str, &str, &[&str])] = &[
    ("walk", "order", &["bfs", "dfs"]),
    ("notify_list_changed", "list", &["tools"]),
    ("render", "template", &["a.hbs"]),
];

/// The worst values of each kind, created once.
pub(super) struct Inputs {
    kinds: BTreeMap<Kind, Vec<(String, Value)>>,
}

impl Inputs {
    pub(super) fn new(bench: &Bench) -> Self {
        let mut kinds: BTreeMap<Kind, Vec<(String, Value)>> = BTreeMap::new();
        let texts: Vec<(String, String)> = texts();
        for (label, text) in &texts {
            let document = Document::new("a.md", text.as_str());
            let mut add = |kind: Kind, value: Value| kinds.entry(kind).or_default().push((label.clone(), value));
            add(Kind::Text, text.as_str().into());
            add(Kind::Lines, Value::handle(document.lines(1, i64::MAX)));
            add(Kind::Passage, Value::handle(Passage::from_lines(&document.lines(1, i64::MAX))));
            add(Kind::Document, Value::handle(document));
            add(Kind::Bytes, Bytes::value(text.as_bytes()));
        }
        let mut add = |kind: Kind, label: &str, value: Value| {
            kinds.entry(kind).or_default().push((label.to_owned(), value));
        };
        for (label, list) in lists() {
            add(Kind::List, label, list.clone());
            add(Kind::Frozen, label, Frozen::value(Arc::new(list.to_json())));
            if let Value::List(items) = list {
                add(Kind::Set, label, Value::handle(set_of(items)));
            }
        }
        for (label, map) in maps() {
            add(Kind::Map, label, map.clone());
            add(Kind::Frozen, label, Frozen::value(Arc::new(map.to_json())));
        }
        for number in [0, 1, -1, 300_000, i64::MAX, i64::MIN] {
            add(Kind::Integer, "number", number.into());
        }
        add(Kind::Float, "number", 1e300.into());
        let every_third = Spans::new((0..4_000).map(|at| at * 60..at * 60 + 40));
        add(Kind::Spans, "many", Value::handle(every_third));
        add(Kind::Function, "identity", native(|arguments| Ok(arguments.into_iter().next().unwrap_or(Value::Null))));
        add(Kind::Function, "true", native(|_| Ok(Value::Bool(true))));
        add(Kind::Error, "fault", CaughtError::value(Diagnostic::new(Code::FAIL, "x")));
        let element = format!("<r {}>{}</r>", "a='1' b='2'", "<e x='y'>t</e>".repeat(TEXT_BYTES / 24));
        for text in [element, format!("{}{}", "<a>".repeat(100), "</a>".repeat(100))] {
            if let Ok(xml) = bench.named("parse_xml", vec![text.into()]) {
                add(Kind::Xml, "xml", xml);
            }
        }
        graphs(bench, &mut add);
        Self { kinds }
    }

    pub(super) fn worst(&self, primitive: &str, param: &Param) -> Vec<(String, Value)> {
        if let Some(words) = words(primitive, param.name) {
            return words.iter().map(|word| (format!("{word:?}"), (*word).into())).collect();
        }
        if primitive == "sleep_ms" || param.name == "timeout_ms" {
            return vec![("0".to_owned(), 0_i64.into())];
        }
        let kinds: Vec<Kind> = if param.kinds.contains(&Kind::Any) {
            vec![Kind::Text, Kind::List, Kind::Map, Kind::Frozen, Kind::Lines]
        } else {
            param.kinds.to_vec()
        };
        // For another kind made of the same texts or items, a few of them are enough to cover its own code paths.
        let mut seen = Vec::new();
        let mut worst = Vec::new();
        for kind in kinds {
            let alike = ALIKE.iter().position(|alike| alike.contains(&kind));
            let most = if alike.is_some() && seen.contains(&alike) { 3 } else { usize::MAX };
            seen.push(alike);
            worst.extend(self.kinds.get(&kind).into_iter().flatten().take(most).cloned());
        }
        worst
    }

    /// A harmless value for a parameter; `None` for one that can be omitted.
    pub(super) fn harmless(&self, primitive: &str, param: &Param) -> Option<Value> {
        if param.need != crate::primitive_api::Need::Required {
            return None;
        }
        if let Some(words) = words(primitive, param.name) {
            return words.first().map(|word| (*word).into());
        }
        if matches!(param.name, "path" | "globs") {
            return Some(FILES[0].0.into());
        }
        let kind = param.kinds[0];
        Some(match kind {
            Kind::Any | Kind::Text => "text".into(),
            Kind::Integer | Kind::Float => 7_i64.into(),
            Kind::Bool => true.into(),
            Kind::List => Value::list(["text".into()]),
            Kind::Map => Value::map([("text", Value::from("text"))]),
            Kind::Bytes => Bytes::value(*b"text"),
            Kind::Lines => Value::handle(Document::new("a", "one\ntwo\n").lines(1, 2)),
            Kind::Passage => Value::handle(Passage::from_text("one two")),
            Kind::Document => Value::handle(Document::new("a", "one\ntwo\n")),
            other => self.kinds.get(&other).and_then(|all| all.first()).map_or(Value::Null, |(_, value)| value.clone()),
        })
    }
}

fn words(primitive: &str, param: &str) -> Option<&'static [&'static str]> {
    let chosen = CHOSEN.iter().find(|(name, of, _)| *name == primitive && *of == param).map(|(_, _, words)| *words);
    chosen.or_else(|| NAMED.iter().find(|(name, _)| *name == param).map(|(_, words)| *words))
}

fn set_of(items: Vec<Value>) -> Set {
    Set::new(items).expect("nothing stops it")
}

fn texts() -> Vec<(String, String)> {
    let repeated = TEXTS.iter().map(|part| (format!("{part:?}, repeated"), part.repeat(TEXT_BYTES / part.len())));
    let lines = |line: fn(usize) -> String| (0..TEXT_BYTES / 12).map(line).collect::<String>();
    let deep = format!("{}{}", "[".repeat(100), "]".repeat(100));
    let more = [
        ("keys of TOML", lines(|at| format!("k{at} = {at}\n"))),
        ("keys of YAML", lines(|at| format!("k{at}: {at}\n"))),
        ("front matter", format!("---\n{}---\n", lines(|at| format!("k{at}: {at}\n")))),
        ("JSON", format!("[{}1]", lines(|at| format!("{{\"a\":{at}}},")))),
        ("deep JSON", format!("[{}1]", format!("{deep},").repeat(TEXT_BYTES / 201))),
        ("XML", format!("<a>{}</a>", "<b c='d'>e</b>".repeat(TEXT_BYTES / 14))),
        ("fences", "```\na\n```\n~~~\n".repeat(TEXT_BYTES / 14)),
        ("code", "fn a() { if b { c(\"d\"); } }\nclass e:\n    def f():\n".repeat(TEXT_BYTES / 54)),
        ("different lines", lines(|at| format!("line {}\n", at * 7919 % 65_537))),
        ("status", " M a.txt\0".repeat(TEXT_BYTES / 9)),
        ("base64", "QUJD".repeat(TEXT_BYTES / 4)),
        ("path", "a/../b/./".repeat(TEXT_BYTES / 9)),
    ];
    repeated.chain(more.map(|(label, text)| (label.to_owned(), text))).collect()
}

fn lists() -> Vec<(&'static str, Value)> {
    let numbers = || (0..LIST_ITEMS).map(Value::from);
    let map = |at: i64| Value::map([("text", format!("t {at}").into()), ("key", Value::from(at % 100))]);
    let deep = (0..NESTING_DEPTH).fold(Value::list([]), |inner, _| Value::list([inner]));
    let wide = Value::list((0_i64..100).map(|at| Value::map([(format!("k{at}"), Value::from(at))])));
    vec![
        ("many numbers", Value::list(numbers())),
        ("many numbers backwards", Value::list(numbers().rev())),
        ("equal texts", Value::list(numbers().map(|_| "text".into()))),
        ("different texts", Value::list((0..LIST_ITEMS).map(|at| format!("text {at}").into()))),
        ("many maps", Value::list((0..LIST_ITEMS / 4).map(map))),
        ("many lists", Value::list((0..LIST_ITEMS / 4).map(|at| Value::list([at.into(), "a".into()])))),
        ("nothing, many times", Value::list((0..LIST_ITEMS).map(|_| Value::Null))),
        ("deep lists", Value::list((0..200).map(|_| deep.clone()))),
        ("wide maps", Value::list((0..50).map(|_| wide.clone()))),
        ("long texts", Value::list((0..8).map(|_| "a b ".repeat(TEXT_BYTES / 32).into()))),
        ("equal long lists", Value::list((0..8).map(|_| Value::list((0..LIST_ITEMS / 4).map(Value::from))))),
    ]
}

fn maps() -> Vec<(&'static str, Value)> {
    let deep = (0..NESTING_DEPTH).fold(Value::from(1_i64), |inner, _| Value::map([("text", inner)]));
    let wide = || (0..MAP_KEYS).map(|at| (format!("k{at}"), Value::from(at)));
    vec![
        ("many keys", Value::map(wide())),
        ("many texts", Value::map(wide().map(|(key, _)| (key, Value::from("text"))))),
        ("deep maps", deep),
        ("a long list", Value::map([("text", Value::list((0..LIST_ITEMS).map(Value::from)))])),
        ("a long text", Value::map([("text", Value::from("a".repeat(TEXT_BYTES)))])),
        ("many maps", Value::map((0..MAP_KEYS / 4).map(|at| (format!("k{at}"), Value::map([("a", Value::from(at))]))))),
    ]
}

/// Adds `count` nodes that contain each other, and edges that form a ring and lead to one of them.
pub(super) fn fill(bench: &Bench, graph: &Value, count: i64) {
    let name = |at: i64| Value::from(format!("n{at}"));
    for at in 0..count {
        let fields = Value::map([("text", Value::from(format!("word {at} other"))), ("size", (at % 10).into())]);
        let parent = if at == 0 { Value::Null } else { name(if at % 2 == 0 { at - 1 } else { at / 2 }) };
        let added = bench.named("add_node", vec![graph.clone(), "text".into(), name(at), fields, parent]);
        assert!(added.is_ok(), "{added:?}");
    }
    for at in 0..count {
        for to in [(at + 1) % count, 0, at / 2] {
            let made = bench.named("add_edge", vec![graph.clone(), name(at), name(to), "text".into()]);
            assert!(made.is_ok(), "{made:?}");
        }
    }
}

fn graphs(bench: &Bench, add: &mut dyn FnMut(Kind, &str, Value)) {
    let graph = bench.named("new_graph", Vec::new()).expect("there is a graph");
    fill(bench, &graph, 6_000);
    let call = |name: &str, arguments: Vec<Value>| bench.named(name, arguments).expect(name);
    let finished = call("snapshot", vec![graph.clone()]);
    let nodes = call("nodes", vec![finished.clone()]);
    add(Kind::Graph, "graph", finished.clone());
    add(Kind::Builder, "graph", graph);
    add(Kind::Rows, "rows", call("select", vec![nodes.clone(), Value::list(["text".into(), "id".into()])]));
    let edges = call("edges_out", vec![nodes.clone()]);
    let Value::Handle(many) = &edges else { panic!("edges are a handle") };
    add(Kind::Edge, "edge", many.item(0).expect("there is an edge"));
    add(Kind::Edges, "edges", edges.clone());
    add(Kind::Node, "node", call("get", vec![finished, "text".into(), "n5999".into()]));
    add(Kind::Nodes, "nodes", nodes);
}
