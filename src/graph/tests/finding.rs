//! Finding texts through lookups, values of the whole graph, and definitions that take the place of others.

use super::*;
use proptest::prelude::*;
use serde_json::json;

fn of_texts(texts: &[String]) -> Arc<Graph> {
    let builder = Builder::new(Fake::default().shared());
    for (at, text) in texts.iter().enumerate() {
        let fields =
            Value::from_json(&json!({ "text": text, "note": if at % 3 == 0 { Json::Null } else { json!("Tea") } }));
        builder
            .record(|recording| recording.add_node("n", &format!("N-{at}").as_str().into(), &fields, &Value::Null))
            .unwrap();
    }
    builder.finish().unwrap()
}

proptest! {
    #[test]
    fn what_is_looked_up_is_what_is_found_by_looking(
        texts in prop::collection::vec("[aÄbΣ \\-_1.]{0,9}", 0..90),
        part in "[aäbσΣ \\-1]{1,4}",
        words in prop::collection::vec("[aäb1-]{1,3}", 0..3),
    ) {
        let graph = of_texts(&texts);
        let all = graph.nodes(&names(&["n"]));
        let each = all.with_ids(all.ids().to_vec());
        let tests = [
            json!({ "text": { "contains": part, "ignore_case": true } }),
            json!({ "text": { "contains": part } }),
            json!({ "text": { "all_tokens": words } }),
            json!({ "text": { "any_token": words }, "note": "Tea" }),
            json!({ "id": { "contains": "n-1", "ignore_case": true } }),
        ];
        for test in tests {
            let Value::Map(test) = Value::from_json(&test) else { unreachable!() };
            prop_assert_eq!(keys(&all.where_(&test).unwrap()), keys(&each.where_(&test).unwrap()));
        }
        let test = Value::from_json(&json!({ "contains": part, "ignore_case": true }));
        for limit in [None, Some(0), Some(2)] {
            let fields = names(&["id", "text", "note"]);
            let found = all.where_any(&fields, &test, limit).unwrap();
            let looked = each.where_any(&fields, &test, limit).unwrap();
            prop_assert_eq!(keys(&found), keys(&looked));
        }
        prop_assert_eq!(all.tokens("text").unwrap(), each.tokens("text").unwrap());
        let some = all.slice(1, Some(3));
        prop_assert_eq!(keys(&all.intersection(&some).unwrap()), keys(&some));
    }
}

#[test]
fn values_of_the_graph_are_computed_once_and_nodes_among_them_stay_nodes() {
    let long = |arguments: Vec<Value>| {
        let graph = Graph::from_handle(&arguments[0]).unwrap();
        let nodes = graph.nodes(&names(&["n"])).slice(1, None);
        let count = Value::Integer(i64::try_from(nodes.len()).unwrap());
        Ok(Value::map([("rest", Value::handle(nodes)), ("count", count)]))
    };
    let fake = Arc::new(
        Fake::default()
            .with("rest_of", long)
            .with("round", |arguments| Graph::from_handle(&arguments[0]).unwrap().field("round"))
            .with("wrong", |_| Ok(Value::map([("cuont", Value::Integer(1))]))),
    );
    let builder = Builder::new(Arc::clone(&fake) as _);
    for id in ["a", "b", "c"] {
        builder.record(|recording| recording.add_node("n", &id.into(), &Value::Null, &Value::Null)).unwrap();
    }
    builder.derive_values(&names(&["rest", "count"]), "rest_of").unwrap();
    builder.derive_values(&names(&["round"]), "round").unwrap();
    builder.derive_values(&names(&["number"]), "wrong").unwrap();
    assert!(builder.derive_values(&names(&["rest"]), "again").is_err());
    let graph = builder.finish().unwrap();
    assert_eq!(fake.calls.load(Ordering::Relaxed), 0);
    assert_eq!(graph.field("count").unwrap(), Value::Integer(2));
    assert_eq!(keys(graph.field("rest").unwrap().as_object::<Nodes>().unwrap()), ["b", "c"]);
    assert_eq!(fake.calls.load(Ordering::Relaxed), 1);
    assert_eq!(graph.field("round").unwrap_err().code, Code::CYCLE);
    assert!(graph.field("number").unwrap_err().message.contains("`cuont`"));
    assert!(graph.field("nothing").unwrap_err().message.contains("no value"));
}

#[test]
fn the_last_definition_counts_where_the_first_one_stood_and_nothing_of_the_first_is_left() {
    let rules = json!({ "start": r"^# (?<id>\w+): (?<title>.*)$", "fields": { "needs": "^needs: (.*)$" }, "lists": { "needs": {} },
        "items": { "item": r"^(?<label>[A-Z])\. (?<text>.+)$" } });
    let rules = BlockRules::read(&Value::from_json(&rules)).unwrap();
    let how = json!({ "kind": "r", "id": "id", "fields": ["title"], "items": { "kind": "i", "key": "label", "fields": ["text"] },
        "references": { "needs": "needs" } });
    let Value::Map(how) = Value::from_json(&how) else { unreachable!() };
    let how = BlockMapping::parse(&how).unwrap();
    let builder = Builder::new(Fake::default().shared());
    let add = |text: &str| {
        let found = parse_blocks(&Document::new("a", text), &rules).unwrap();
        builder.record(|recording| recording.add_blocks(&found, &rules, &how)).unwrap();
    };
    add("# x: one\nneeds: y\nA. one\nB. two\n# y: two\nneeds: x-B\nA. three");
    assert_eq!(keys(&builder.read(&[]).unwrap().nodes(&[])), ["x", "x-A", "x-B", "y", "y-A"]);
    add("# z: three\nneeds: x-A\n# x: four\nneeds: z\nA. again");
    let graph = builder.finish().unwrap();
    assert_eq!(keys(&graph.nodes(&[])), ["x", "x-A", "y", "y-A", "z"]);
    let x = graph.get("r", "x").unwrap();
    assert_eq!(x.field("title").unwrap(), "four".into());
    assert_eq!(keys(&x.alone().children(None).unwrap()), ["x-A"]);
    assert_eq!(graph.get("i", "x-A").unwrap().field("text").unwrap(), "again".into());
    assert_eq!(x.alone().edges_out(None).unwrap().column("to_key").unwrap(), ["y".into(), "z".into()], "both are kept");
    assert_eq!(graph.broken_edges().unwrap().column("to_key").unwrap(), ["x-B".into()]);
    assert_eq!(graph.errors().to_json()[0]["message"], "the r `x` is defined twice");
    let Value::Map(test) = Value::from_json(&json!({ "text": { "all_tokens": ["one"] } })) else { unreachable!() };
    assert!(graph.nodes(&names(&["i"])).where_(&test).unwrap().is_empty());
}
