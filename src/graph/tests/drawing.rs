//! Diagrams.

use super::*;
use crate::graph::DiagramOptions;

fn drawing() -> DiagramOptions<'static> {
    DiagramOptions { direction: "LR", label: "title", class: Some("state"), kinds: None }
}

#[test]
fn labels_cannot_leave_their_quotes() {
    let graph = graph(
        &[
            ("n", "a", "", r#"{ "title": "say \"]; click a\\ <b>\nend", "state": "in progress" }"#),
            ("n", "b", "", r#"{ "title": null, "state": null }"#),
        ],
        &[("a", "b", "leads \"to\"")],
    );
    let all = graph.nodes(&[]);
    assert_eq!(
        all.to_mermaid(&drawing()).unwrap(),
        "flowchart LR\n    n0[\"say #34;#93;#59; click a#92; #60;b#62; end\"]:::in_progress\n    n1[\"\"]\n    n0 -->|\"leads #34;to#34;\"| n1\n"
    );
    assert_eq!(
        all.to_dot(&drawing()).unwrap(),
        "digraph {\n    rankdir=LR;\n    n0 [label=\"say \\\"]; click a\\\\ <b>\\nend\", class=\"in_progress\"];\n    n1 [label=\"\"];\n    n0 -> n1 [label=\"leads \\\"to\\\"\"];\n}\n"
    );
    assert!(all.to_dot(&DiagramOptions { direction: "UP", ..drawing() }).is_err());
    assert!(all.slice(1, None).to_dot(&drawing()).unwrap().contains("n0 [label=\"\"]"));
}
