//! Queries: tests of fields, order, columns.

use super::*;
use crate::graph::Node;
use crate::order::SortKey;
use proptest::prelude::*;
use std::sync::LazyLock;

static SHOP: LazyLock<Arc<Graph>> = LazyLock::new(|| {
    graph(
        &[
            ("tea", "oolong", "", r#"{ "price": 9, "from": "Fujian", "notes": ["floral", "milk"], "level": "MUST" }"#),
            ("tea", "sencha", "", r#"{ "price": 7, "from": "Shizuoka", "notes": [], "level": "MAY" }"#),
            ("tea", "assam", "", r#"{ "price": 7.5, "from": "Assam, north-east", "notes": ["malt"], "id": "IN 1" }"#),
            ("pot", "kyusu", "", r#"{ "price": 40, "level": "SHOULD" }"#),
            ("cup", "small", "kyusu", r#"{ "price": 9.0 }"#),
            ("cup", "large", "kyusu", "{}"),
        ],
        &[
            ("kyusu", "sencha", "brews"),
            ("kyusu", "assam", "brews"),
            ("small", "kyusu", "fits"),
            ("kyusu", "mate", "brews"),
        ],
    )
});

fn all() -> Nodes {
    SHOP.nodes(&[])
}

#[test]
fn where_asks_fields() {
    let cases = [
        (r#"{ "price": 9 }"#, "oolong small"),
        (r#"{ "level": null }"#, "assam small large"),
        (r#"{ "price": 7, "level": "MAY" }"#, "sencha"),
        (r#"{ "price": 7, "level": "MUST" }"#, ""),
        (r#"{ "price": { "greater_than": 7, "less_than": 9.5 } }"#, "oolong assam small"),
        (r#"{ "from": { "starts_with": "fu", "ignore_case": true } }"#, "oolong"),
        (r#"{ "from": { "starts_with": "fu" } }"#, ""),
        (r#"{ "from": { "ends_with": "oka" } }"#, "sencha"),
        (r#"{ "from": { "contains": "ssa" } }"#, "assam"),
        (r#"{ "from": { "contains": "ASSAM", "ignore_case": true } }"#, "assam"),
        (r#"{ "notes": { "contains": "malt" } }"#, "assam"),
        (r#"{ "from": { "words": "east assam", "ignore_case": true } }"#, "assam"),
        (r#"{ "from": { "words": ["north-east"] } }"#, "assam"),
        (r#"{ "from": { "words": "sam" } }"#, ""),
        (r#"{ "from": { "regex": "^F.*n$" } }"#, "oolong"),
        (r#"{ "from": { "regex": "^f(?=uji)", "ignore_case": true } }"#, "oolong"),
        (r#"{ "key": { "one_of": ["small", "sencha", 3] } }"#, "sencha small"),
        (r#"{ "price": { "one_of": [40.0, 7] } }"#, "sencha kyusu"),
        (r#"{ "notes": { "empty": true } }"#, "sencha kyusu small large"),
        (r#"{ "notes": { "empty": false } }"#, "oolong assam"),
        (r#"{ "notes": { "any_of": { "starts_with": "ma" } } }"#, "assam"),
        (r#"{ "notes": { "equals": ["malt"] } }"#, "assam"),
        (r#"{ "level": { "not": "MUST" }, "kind": "tea" }"#, "sencha assam"),
        (r#"{ "level": { "not": { "one_of": ["may", "must"] }, "ignore_case": true }, "kind": "tea" }"#, "assam"),
        (r#"{ "parent.key": "kyusu" }"#, "small large"),
        (r#"{ "id": "IN 1" }"#, "assam"),
        (r#"{ "id": "oolong" }"#, ""),
        ("{}", "oolong sencha assam kyusu small large"),
    ];
    for (test, wanted) in cases {
        assert_eq!(keys(&all().where_(&map(test)).unwrap()).join(" "), wanted, "{test}");
        // Over a whole kind an index answers, and says the same.
        for kind in ["tea", "pot", "cup"] {
            let of_kind = all().where_(&map(test)).unwrap();
            let of_kind = of_kind.where_(&[("kind".into(), kind.into())].into()).unwrap();
            if let Ok(found) = SHOP.nodes(&names(&[kind])).where_(&map(test)) {
                assert_eq!(keys(&found), keys(&of_kind), "{test} of {kind}");
            }
        }
    }
}

#[test]
fn errors_name_the_nearest_match() {
    let tea = SHOP.nodes(&names(&["tea"]));
    let error = |test: &str| tea.where_(&map(test)).err().unwrap().to_string();
    assert_eq!(error(r#"{ "prise": 3 }"#), "the kind `tea` has no field `prise` (did you mean `price`?)");
    assert_eq!(
        error(r#"{ "price": { "greater_thn": 3 } }"#),
        "there is no test `greater_thn` (did you mean `greater_than`?)"
    );
    assert!(error(r#"{ "from": { "regex": "(" } }"#).contains("regular expression"));
    assert_eq!(
        error(r#"{ "price": 1234, "levle": 1 }"#),
        "the kind `tea` has no field `levle` (did you mean `level`?)"
    );
    let node = SHOP.get("tea", "oolong").unwrap();
    assert_eq!(node.field("pric").unwrap_err().help.as_deref(), Some("did you mean `price`?"));
    assert_eq!(node.field("level"), Ok("MUST".into()));
    assert_eq!(SHOP.get("tea", "assam").unwrap().field("level"), Ok(Value::Null));
    assert!(SHOP.nodes(&names(&["coffee"])).where_(&map(r#"{ "any_of": 1 }"#)).unwrap().is_empty());
}

#[test]
fn nodes_know_kind_key_and_id() {
    let assam = SHOP.get("tea", "assam").unwrap();
    assert_eq!(assam.field("key"), Ok("assam".into()));
    assert_eq!(assam.field("id"), Ok("IN 1".into()));
    assert_eq!(assam.field("kind"), Ok("tea".into()));
    assert_eq!(SHOP.get("pot", "kyusu").unwrap().field("id"), Ok("kyusu".into()));
    assert!(SHOP.get("pot", "assam").is_none());
    assert_eq!(
        assam.pick(&names(&["id as name", "price", "level?", "colour?"])).unwrap().to_json().to_string(),
        r#"{"name":"IN 1","price":7.5}"#
    );
}

#[test]
fn sort_is_total() {
    let cases: [(&str, &str); 6] = [
        (r#""price""#, "large sencha assam oolong small kyusu"),
        (r#""-price""#, "kyusu oolong small assam sencha large"),
        (r#"["level", "-key"]"#, "small large assam sencha oolong kyusu"),
        (r#"{ "by": "level", "order": ["MUST", "SHOULD"] }"#, "oolong kyusu assam small large sencha"),
        (r#"{ "by": "level", "order": ["MUST"], "descending": true }"#, "kyusu sencha assam small large oolong"),
        ("[]", "oolong sencha assam kyusu small large"),
    ];
    for (by, wanted) in cases {
        let orderings = SortKey::parse(&json(by)).unwrap();
        assert_eq!(keys(&all().sort(&orderings).unwrap()).join(" "), wanted, "{by}");
        let backwards = all().sort(&SortKey::parse(&"-key".into()).unwrap()).unwrap();
        assert_eq!(keys(&backwards.sort(&orderings).unwrap()).join(" "), wanted, "{by}, whatever the order before");
    }
    let length = closure(|node| match node {
        Value::Handle(node) => node.field("key").unwrap().as_text().map_or(0, str::len).into(),
        _ => Value::Null,
    });
    let sorted = all().sort(&SortKey::parse(&Value::Function(length)).unwrap()).unwrap();
    assert_eq!(keys(&sorted).join(" "), "assam kyusu small large oolong sencha");
}

#[test]
fn rows_keep_the_order_of_their_columns() {
    let rows = SHOP
        .nodes(&names(&["pot", "cup"]))
        .select(&names(&["price", "key as name", "level?", "parent.level as of?"]))
        .unwrap();
    assert_eq!(
        rows.to_json().to_string(),
        r#"[{"price":40,"name":"kyusu","level":"SHOULD"},{"price":9.0,"name":"small","of":"SHOULD"},{"price":null,"name":"large","of":"SHOULD"}]"#
    );
    assert_eq!(rows.length(), Some(3));
    assert_eq!(rows.item(0), Some(json(r#"{ "level": "SHOULD", "name": "kyusu", "price": 40 }"#)));
    assert!(all().select(&names(&["a", "b as a"])).is_err());
    assert!(all().select(&names(&["colour"])).is_err());
    let edges = SHOP.nodes(&names(&["pot"])).edges_out(None).unwrap();
    let rows = edges.select(&names(&["kind", "to.key as tea", "from.price as cost", "to.colour as colour?"])).unwrap();
    assert_eq!(
        rows.to_json().to_string(),
        r#"[{"kind":"brews","tea":"sencha","cost":40},{"kind":"brews","tea":"assam","cost":40}]"#
    );
}

#[test]
fn sets_are_ordered_and_lazy() {
    let tea = SHOP.nodes(&names(&["tea"]));
    let cheap = all().where_(&map(r#"{ "price": { "less_than": 10 } }"#)).unwrap();
    assert_eq!(keys(&tea.slice(1, Some(1)).union(&cheap).unwrap()), ["sencha", "oolong", "assam", "small"]);
    assert_eq!(keys(&all().difference(&cheap).unwrap()), ["kyusu", "large"]);
    assert_eq!(keys(&tea.slice(2, Some(99))), ["assam"]);
    assert!(tea.slice(9, None).is_empty());
    assert_eq!(keys(&tea.slice(1, None).slice(1, None)), ["assam"]);
    assert_eq!(tea.slice(1, None).where_(&map(r#"{ "price": 9 }"#)).unwrap().len(), 0, "a slice is not the whole kind");
    assert_eq!(all().distinct("level").unwrap(), [Value::from("MAY"), "MUST".into(), "SHOULD".into()]);
    assert_eq!(Value::Map(all().count_by("price").unwrap()), json(r#"{ "()": 1, "7": 1, "7.5": 1, "9": 2, "40": 1 }"#));
    assert_eq!(tea.where_any(&names(&["key", "from"]), &json(r#"{ "contains": "a" }"#), None).unwrap().len(), 3);
    let odd =
        closure(|node| Value::Bool(matches!(node, Value::Handle(node) if node.field("key") == Ok("oolong".into()))));
    assert_eq!(keys(&all().filter(&odd).unwrap()), ["oolong"]);
    let wrong = all().filter(&closure(|_| Value::Null)).err().unwrap();
    assert_eq!(wrong.message, "the function of `filter` must return true or false, got ()");
    let other = graph(&[("tea", "mate", "", "{}")], &[]);
    assert!(all().union(&other.nodes(&[])).is_err());
}

#[test]
fn lists_are_asked_and_spread() {
    let graph = graph(
        &[
            ("r", "1", "", r#"{ "by": ["a", "b"], "n": 1 }"#),
            ("r", "2", "", r#"{ "by": [], "n": 2 }"#),
            ("r", "3", "", r#"{ "by": ["C"], "n": 3 }"#),
        ],
        &[],
    );
    let all = graph.nodes(&[]);
    let found = |test: &str| keys(&all.where_(&map(test)).unwrap());
    assert_eq!(found(r#"{ "by": { "one_of": ["b", "c"] } }"#), ["1"]);
    assert_eq!(found(r#"{ "by": { "one_of": ["b", "c"], "ignore_case": true } }"#), ["1", "3"]);
    assert_eq!(found(r#"{ "by": { "none_of": ["b"] } }"#), ["2", "3"]);
    assert_eq!(found(r#"{ "n": { "none_of": [1, 2.0] } }"#), ["3"]);
    let rows = |columns: &[&str]| all.select(&names(columns)).map(|rows| rows.to_json());
    let spread = serde_json::json!([
        { "key": "1", "who": "a" }, { "key": "1", "who": "b" }, { "key": "2" }, { "key": "3", "who": "C" }
    ]);
    assert_eq!(rows(&["key", "by[]? as who"]).unwrap(), spread);
    assert_eq!(all.select(&names(&["by[]", "key"])).unwrap().len(), 3);
    assert!(rows(&["by[]", "n[] as m"]).is_err());
    let ids = ["3", "x", "1", "3"].map(Value::from);
    assert_eq!(keys(&all.by_ids(&ids).unwrap()), ["3", "1"]);
}

/// Near each other or not.
const NUMBERS: [i64; 7] = [0, 1, 2, -1, i64::MIN, i64::MAX, 1 << 33];

fn sort_key() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        r#""a""#,
        r#""-a""#,
        r#""b""#,
        r#""-b""#,
        r#"{ "by": "b", "order": ["y", 1, null] }"#,
        r#"{ "by": "b", "order": ["x", "y", "z", 1, 1.5, null], "descending": true }"#,
        r#"{ "by": "a", "order": [2, 1.0] }"#,
    ])
}

proptest! {
    #[test]
    fn what_is_remembered_is_what_a_sort_finds(
        fields in prop::collection::vec((prop::sample::select(NUMBERS.to_vec()), prop::sample::select(vec![r#""x""#, r#""y""#, r#""z""#, "1", "1.5", "null"])), 1..12),
        sorts in prop::collection::vec(prop::collection::vec(sort_key(), 0..3), 1..25),
    ) {
        let nodes: Vec<(String, String)> = fields
            .iter()
            .enumerate()
            .map(|(at, (a, b))| (at.to_string(), format!(r#"{{ "a": {a}, "b": {b}, "even": {} }}"#, at % 2 == 0)))
            .collect();
        let nodes: Vec<_> = nodes.iter().map(|(id, fields)| ("n", id.as_str(), "", fields.as_str())).collect();
        let graph = graph(&nodes, &[]);
        let whole = graph.nodes(&names(&["n"]));
        let even = map(r#"{ "even": true }"#);
        let mut before = whole.clone();
        for by in sorts.iter().chain(&sorts) {
            let sort = SortKey::parse(&json(&format!("[{}]", by.join(",")))).unwrap();
            for set in [&whole, &before, &whole.where_(&even).unwrap(), &whole.slice(1, Some(3))] {
                let mut wanted: Vec<Node> = set.iter().collect();
                let key = |node: &Node, key: &SortKey| match &key.by {
                    crate::order::SortBy::Field(name) => node.field(name).unwrap(),
                    crate::order::SortBy::Function(_) => unreachable!(),
                };
                wanted.sort_by(|left, right| {
                    let of = |node: &Node| sort.iter().map(|by| key(node, by)).collect::<Vec<_>>();
                    SortKey::compare_all(&sort, &of(left), &of(right)).then(left.number().cmp(&right.number()))
                });
                let wanted: Vec<String> = wanted.iter().map(|node| node.key().to_string()).collect();
                prop_assert_eq!(keys(&set.sort(&sort).unwrap()), wanted, "{:?}", by);
            }
            before = whole.sort(&sort).unwrap();
        }
    }
}

#[test]
fn folded_texts_are_those_of_the_nodes_in_their_order() {
    #[allow(clippy::unnecessary_wraps, reason = "it may fail")]
    fn fold(value: &Value) -> crate::diagnostic::Result<Vec<String>> {
        Ok(value.as_text().map(str::to_uppercase).into_iter().collect())
    }
    let folded = |nodes: &Nodes, field: &str| {
        let texts = nodes.folded(field, fold).unwrap();
        texts.iter().map(|texts| texts.join("+")).collect::<Vec<_>>().join(" ")
    };
    for _ in 0..2 {
        assert_eq!(folded(&all(), "level"), "MUST MAY  SHOULD  ");
        let sorted = all().sort(&SortKey::parse(&"-key".into()).unwrap()).unwrap();
        assert_eq!(folded(&sorted, "level"), " MAY MUST  SHOULD ");
        assert_eq!(folded(&SHOP.nodes(&names(&["cup"])), "parent.level"), "SHOULD SHOULD");
    }
    assert!(all().folded("colour", fold).is_err());
}
