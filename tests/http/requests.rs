//! Both eras, headers, and what is not a request.

use crate::{pots, serve};
use serde_json::{Value, json};

fn call(name: &str) -> Value {
    json!({ "name": name, "arguments": {} })
}

//= docs/spec.md#protocol
//= type=test
//# The revisions 2024-11-05 to 2025-11-25 and 2026-07-28 MUST be served by one process, and at one HTTP
//# address.
//= docs/spec.md#http
//= type=test
//# When too many sessions are open, the longest idle one without a running call MUST be closed, and its
//# requests answered with status 404.
#[test]
fn sessions_and_standalone_requests_work() {
    let home = pots();
    let server = serve(&home, &[], &[]);
    let session = server.session();
    assert!(session.bytes().all(|byte| byte.is_ascii_graphic()));
    let old = server.ask_in(&session, "tools/call", call("list_pots"));
    assert_eq!(old.answer()["result"]["structuredContent"], json!({ "result": ["blue", "red"] }));
    let listed = server.ask_in(&session, "tools/list", json!({})).answer();
    assert_eq!(listed["result"]["tools"][0]["outputSchema"]["type"], "object");

    let discovered = server.ask("server/discover", json!({})).answer();
    assert!(discovered["result"]["supportedVersions"].as_array().unwrap().contains(&json!("2026-07-28")));
    let new = server.ask("tools/call", call("list_pots"));
    assert_eq!(new.header("mcp-session-id"), None);
    assert_eq!(new.answer()["result"]["structuredContent"], json!(["blue", "red"]));
    let listed = server.ask("tools/list", json!({})).answer();
    assert_eq!(listed["result"]["tools"][0]["outputSchema"]["type"], "array");

    assert!((200..300).contains(&server.send("DELETE", &[("Mcp-Session-Id", &session)], "").status));
    assert_eq!(server.ask_in(&session, "tools/list", json!({})).status, 404);
    assert_eq!(server.ask_in("made-up", "tools/list", json!({})).status, 404);
}

#[test]
fn progress_arrives_before_the_answer() {
    let home = pots();
    let server = serve(&home, &[], &[]);
    let mut params = call("fill_pot");
    params["_meta"] = json!({ "progressToken": "p" });
    let reply = server.ask("tools/call", params);
    assert_eq!(reply.header("content-type"), Some("text/event-stream"));
    assert!(reply.body.find("notifications/progress") < reply.body.find("full"), "{}", reply.body);
    assert_eq!(reply.answer()["result"]["content"][0]["text"], "full");
}

//= docs/spec.md#http
//= type=test
//# A request whose headers contradict its body, or lack one that the tool requires, MUST be refused with code
//# -32020.
#[test]
fn headers_agree_with_the_body() {
    let home = pots();
    let server = serve(&home, &[], &[]);
    let refused = |method: &str, params: Value, headers: &[(&str, &str)]| {
        let reply = server.ask_with(method, params, headers);
        assert_eq!((reply.status, reply.code()), (400, -32020), "{headers:?}");
    };
    refused("tools/list", json!({}), &[("Mcp-Method", "tools/call")]);
    refused("tools/list", json!({}), &[("MCP-Protocol-Version", "2025-11-25")]);
    refused("tools/call", call("list_pots"), &[("Mcp-Name", "fill_pot")]);

    let named = |arguments: Value| json!({ "name": "name_pot", "arguments": arguments });
    refused("tools/call", named(json!({ "region": "north" })), &[]);
    refused("tools/call", named(json!({ "region": "north" })), &[("Mcp-Param-Region", "south")]);
    refused("tools/call", named(json!({ "region": "north", "count": 7 })), &[("Mcp-Param-Region", "north")]);
    for (region, header) in [("north", "north"), ("nörd", "=?base64?bsO2cmQ=?=")] {
        let params = named(json!({ "region": region, "count": 7 }));
        let reply = server.ask_with("tools/call", params, &[("Mcp-Param-Region", header), ("Mcp-Param-Count", "7")]);
        assert_eq!(reply.answer()["result"]["content"][0]["text"], "named", "{reply:?}");
    }
}

//= docs/spec.md#protocol
//= type=test
//# Missing resources, unknown methods and invalid parameters MUST be answered with the error code of the
//# revision in use.
#[test]
fn removed_methods_are_unknown() {
    let home = pots();
    let server = serve(&home, &[], &[]);
    for (method, params) in [
        ("ping", json!({})),
        ("logging/setLevel", json!({ "level": "debug" })),
        ("logging/setLevel", json!({})),
        ("resources/subscribe", json!({ "uri": "toolsd://status" })),
        ("resources/unsubscribe", json!({})),
        ("initialize", json!({})),
        ("pots/fill", json!({})),
    ] {
        let reply = server.ask(method, params);
        assert_eq!((reply.status, reply.code()), (404, -32601), "{method}");
    }
}

#[test]
fn malformed_parameters_are_reported() {
    let home = pots();
    let server = serve(&home, &[], &[]);
    let session = server.session();
    for (method, params) in [
        ("tools/call", json!({ "name": "list_pots", "arguments": [1] })),
        ("resources/read", json!({ "uri": 5 })),
        ("tools/list", json!({ "cursor": 5 })),
    ] {
        assert_eq!(server.ask(method, params.clone()).code(), -32602, "{method}");
        assert_eq!(server.ask_in(&session, method, params).code(), -32602, "{method}");
    }
    assert_eq!(server.ask_in(&session, "logging/setLevel", json!({})).code(), -32602);
    for list in ["tools/list", "prompts/list", "resources/list", "resources/templates/list"] {
        for params in [json!(5), json!([1]), json!({ "cursor": {} })] {
            assert_eq!(server.ask_in(&session, list, params.clone()).code(), -32602, "{list} {params}");
        }
    }
}

//= docs/spec.md#http
//= type=test
//# A client that accepts ranges of media types, or does not say what it accepts, MUST be served.
#[test]
fn a_session_opens_for_a_client_that_accepts_anything() {
    let home = pots();
    let server = serve(&home, &[], &[]);
    let params =
        json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "t", "version": "0" } });
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params }).to_string();
    for accepted in ["*/*", "application/*, text/*"] {
        let reply = server.send("POST", &[("Accept", accepted)], &hello);
        assert_eq!(reply.status, 200, "{reply:?}");
        let session = ("Mcp-Session-Id", reply.header("mcp-session-id").unwrap());
        assert_eq!(server.open("GET", &[session, ("Accept", accepted)], "").0.status, 200, "{accepted}");
    }
}

//= docs/spec.md#protocol
//= type=test
//# Where the protocol has an object, an empty array MUST count as an empty object.
#[test]
fn an_empty_array_counts_as_an_empty_object() {
    let home = pots();
    let server = serve(&home, &[], &[]);
    let session = server.session();
    let call = json!({ "name": "list_pots", "arguments": [] });
    assert_eq!(server.ask("tools/call", call.clone()).answer()["result"]["structuredContent"][0], "blue");
    let old = server.ask_in(&session, "tools/call", call).answer();
    assert_eq!(old["result"]["structuredContent"]["result"][0], "blue");
    assert!(server.ask_in(&session, "tools/list", json!([])).answer()["result"]["tools"].is_array());
}

//= docs/spec.md#http
//= type=test
//# The client information and the subscriptions that a session keeps MUST be bounded in bytes.
#[test]
fn a_client_that_says_too_much_of_itself_opens_no_session() {
    let server = serve(&pots(), &[], &[]);
    let hello = |count: usize| {
        let capabilities = json!({ "experimental": { "much": { "of": vec![0; count] } } });
        let info = json!({ "name": "test", "version": "0" });
        let params = json!({ "protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": info });
        server.send(
            "POST",
            &[],
            &json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params }).to_string(),
        )
    };
    assert_eq!(hello(30_000).status, 200);
    let refused = hello(40_000);
    assert_eq!((refused.status, refused.code()), (400, -32602), "{}", refused.body);
    assert!(refused.body.contains("at most 64 kB") && refused.header("mcp-session-id").is_none(), "{}", refused.body);
}
