//! How a server over HTTP comes to its end.

use crate::support::http::{STATELESS, Server, Stream, stateless};
use crate::{pots, serve};
use serde_json::json;

/// Calls a tool that reports progress, and waits until it does.
fn begin(server: &Server, tool: &str) -> Stream {
    let params = json!({ "name": tool, "arguments": {}, "_meta": { "progressToken": 1 } });
    let headers = [("MCP-Protocol-Version", STATELESS), ("Mcp-Method", "tools/call"), ("Mcp-Name", tool)];
    let (reply, mut stream) = server.open("POST", &headers, &stateless("tools/call", params).to_string());
    assert_eq!(reply.status, 200);
    assert_eq!(stream.next().unwrap()["method"], "notifications/progress");
    stream
}

//= docs/spec.md#http
//= type=test
//# At SIGINT and SIGTERM, running calls MUST get a grace period before the process exits with code 0.
#[test]
fn running_calls_get_a_grace_and_those_without_an_end_do_not_hold_up() {
    for signal in ["INT", "TERM"] {
        let home = pots();
        let mut server = serve(&home, &[], &[]);
        let session = server.session();
        let (_, mut changes) = server.open("GET", &[("Mcp-Session-Id", &session)], "");
        let mut endless = begin(&server, "watch_pot");
        let mut short = begin(&server, "fill_pot");
        server.signal(signal);
        assert_eq!(short.next().unwrap()["result"]["content"][0]["text"], "full");
        let given_up = endless.next();
        assert!(given_up.is_none_or(|answer| answer.get("error").is_some()));
        assert_eq!(changes.next(), None);
        assert_eq!(server.wait().code(), Some(0), "{signal}");
    }
}

#[test]
fn a_subscription_ends_with_its_result() {
    let home = pots();
    let mut server = serve(&home, &[], &[]);
    let params = json!({ "notifications": { "toolsListChanged": true } });
    let headers = [("MCP-Protocol-Version", STATELESS), ("Mcp-Method", "subscriptions/listen")];
    let (_, mut stream) = server.open("POST", &headers, &stateless("subscriptions/listen", params).to_string());
    assert_eq!(stream.next().unwrap()["method"], "notifications/subscriptions/acknowledged");
    home.write("packs/tools.d/pots.toml", &crate::PACK.replace("the oldest first", "the newest first"));
    assert_eq!(stream.next().unwrap()["method"], "notifications/tools/list_changed");
    server.signal("TERM");
    assert_eq!(stream.next().unwrap()["result"]["resultType"], "complete");
    assert_eq!(stream.next(), None);
    assert_eq!(server.wait().code(), Some(0));
}

#[test]
fn a_client_that_leaves_ends_its_call() {
    let home = pots();
    let server = serve(&home, &[], &[]);
    // More than scripts have threads: if a call outlived its client, those that follow would wait for ever.
    for _ in 0..24 {
        drop(begin(&server, "watch_pot"));
    }
    let reply = server.ask("tools/call", json!({ "name": "list_pots", "arguments": {} }));
    assert_eq!(reply.answer()["result"]["structuredContent"], json!(["blue", "red"]));
}
