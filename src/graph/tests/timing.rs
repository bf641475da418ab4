//! Measures what the graph promises. Ignored: run it alone, with optimisation.

use super::*;
use crate::graph::{Ordering as By, Recording, assemble};
use std::time::{Duration, Instant};

fn best(rounds: usize, mut act: impl FnMut()) -> Duration {
    let once = |()| {
        let start = Instant::now();
        act();
        start.elapsed()
    };
    std::iter::repeat_n((), rounds).map(once).min().unwrap()
}

/// 100 files of 400 requirements, each with three children and a few references.
fn fragments() -> Vec<Arc<crate::graph::Fragment>> {
    let file = |file: usize| {
        let mut recording = Recording::new(format!("spec/{file}.md").into());
        for at in 0..400 {
            let number = file * 400 + at;
            let fields = Value::map([
                ("title", format!("title {number}").into()),
                ("level", ["MUST", "SHOULD", "MAY"][number % 3].into()),
                ("line", (at * 20).into()),
                ("weight", (number * 7919 % 1000).into()),
            ]);
            let parent =
                recording.add("requirement", &format!("REQ-{number:06}").into(), &fields, &Value::Null).unwrap();
            let records: Vec<Value> = ["A", "B", "C"]
                .iter()
                .map(|label| Value::map([("label", (*label).into()), ("text", "x".into())]))
                .collect();
            recording.add_all("assertion", &parent, &records, "label").unwrap();
            if at % 2 == 0 {
                for step in 1..4 {
                    let to = format!("REQ-{:06}", (number * 31 + step * 977) % 40_100);
                    recording.refer(&parent, &to.into(), "implements", &[], &[]).unwrap();
                }
            }
        }
        Arc::new(recording.finish())
    };
    (0..100).map(file).collect()
}

#[test]
#[ignore = "a measurement"]
#[allow(clippy::print_stdout)]
fn how_fast() {
    let fragments = fragments();
    let functions = Fake::default().shared();
    let make = || assemble(&fragments, Vec::new(), Map::new(), Arc::clone(&functions), None).unwrap();
    println!("assembly {:?}", best(20, || drop(make())));
    let graph = make();
    println!("{} nodes, {} references, {} broken", graph.len(), graph.edges().len(), graph.broken().len());
    let kind = names(&["requirement"]);
    println!("first index {:?}", best(1, || drop(graph.nodes(&kind).where_(&map(r#"{ "level": "MUST" }"#)))));
    let must = map(r#"{ "level": "MUST" }"#);
    println!("where by index {:?}", best(1000, || drop(graph.nodes(&kind).where_(&must))));
    let thousand = graph.nodes(&kind).slice(0, Some(1000));
    let by = By::read(&"-weight".into()).unwrap();
    let above = map(r#"{ "weight": { "above": 10 } }"#);
    let sum = || {
        let column = thousand.where_(&above).unwrap().sort(&by).unwrap().column("weight").unwrap();
        column.iter().filter_map(Value::as_integer).sum::<i64>()
    };
    println!("where, sort, sum over 1000: {:?}", best(200, || assert!(sum() > 0)));
    println!("  where {:?}", best(200, || drop(thousand.where_(&above))));
    println!("  sort {:?}", best(200, || drop(thousand.sort(&by))));
    println!("  column {:?}", best(200, || drop(thousand.column("weight"))));
    let lookup = || assert!(graph.get("assertion", "REQ-033333-B").is_some());
    println!("lookup by id {:?}", best(1000, lookup));
    let by_title = By::read(&"title".into()).unwrap();
    println!("sort 40000 by text {:?}", best(3, || drop(graph.nodes(&kind).sort(&by_title))));
    println!("scan 160000 by kind {:?}", best(3, || drop(graph.nodes(&[]).where_(&map(r#"{ "kind": "assertion" }"#)))));
}
