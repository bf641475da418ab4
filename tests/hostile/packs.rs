//! Packs that do not end where toolsd calls them other than for tools.

use crate::house::{House, is_well};
use serde_json::json;

#[test]
fn lists_and_completions_are_stopped_too() {
    let house = House::new();
    let mut client = house.serve(&["endless", "calm"]);
    let tools = client.request("tools/list", json!({}));
    assert!(tools.to_string().contains("What is printed if the function does not end."), "{tools}");
    let reference = json!({ "type": "ref/resource", "uri": "endless:///items/{name}" });
    let named = json!({ "type": "ref/prompt", "name": "talk" });
    let slow = "longer than 300 ms";
    let asks = [
        // A list of one pack that fails does not take the others' along.
        ("resources/list", json!({}), "toolsd://status"),
        // Nor those of its own pack.
        ("resources/list", json!({}), "endless:///beside"),
        ("resources/read", json!({ "uri": "endless:///items/x" }), slow),
        ("prompts/get", json!({ "name": "talk", "arguments": {} }), slow),
        ("completion/complete", json!({ "ref": reference, "argument": { "name": "name", "value": "" } }), slow),
        ("completion/complete", json!({ "ref": named, "argument": { "name": "name", "value": "" } }), slow),
    ];
    for (method, params, part) in asks {
        let answer = client.request(method, params);
        assert!(answer.to_string().contains(part), "{method}: {answer}");
        is_well(&mut client);
    }
}
