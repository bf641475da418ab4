//! Rough clients: noise, floods, silence, and calls without an end.

use super::client::Client;
use serde_json::json;
use std::collections::HashSet;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use toolsd::mcp::{Bounds, ServerSettings};

fn short() -> ServerSettings {
    let bounds = Bounds { grace: Duration::from_millis(100), line: 1 << 20, ..Bounds::default() };
    ServerSettings { bounds, ..ServerSettings::default() }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_empty_input_and_a_probe_end_well() {
    assert!(Client::start(short()).end().await.is_empty());
    let mut client = Client::start(short());
    client.request(1, "server/discover", json!({ "_meta": super::client::meta() })).await;
    assert_eq!(client.end().await.len(), 1);
}

//= docs/spec.md#calls
//= type=test
//# A running call MUST NOT delay the start of another call while threads are available.
//= docs/spec.md#protocol
//= type=test
//# The server MUST exit with code 0 at the end of its input and at SIGINT, SIGTERM and SIGHUP, without
//# waiting for endless scripts.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_end_of_input_lets_quick_calls_answer_and_stops_the_others() {
    let mut client = Client::start(short());
    client.initialize("2025-11-25").await;
    for id in 1..5 {
        client.request(id, "tools/call", json!({ "name": "spin" })).await;
    }
    client.request(9, "tools/call", json!({ "name": "echo", "arguments": { "text": "x" } })).await;
    let before = Instant::now();
    let rest = client.end().await;
    assert!(before.elapsed() < Duration::from_secs(20), "{:?}", before.elapsed());
    assert!(rest.iter().any(|message| message["id"] == 9 && message.get("result").is_some()), "{rest:?}");
}

//= docs/spec.md#protocol
//= type=test
//# Every request MUST be answered with 20,000 in flight, and a `ping` also while endless scripts run.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_ping_does_not_wait_for_calls_without_an_end() {
    let mut client = Client::start(short());
    client.initialize("2025-11-25").await;
    for id in 1..=700 {
        client.request(id, "tools/call", json!({ "name": if id < 520 { "spin" } else { "echo" } })).await;
    }
    client.request(900, "ping", json!({})).await;
    assert_eq!(client.hear().await.unwrap()["id"], 900);
    for id in 1..520 {
        let cancelled = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } });
        client.send(&cancelled.to_string()).await;
    }
    let mut answered = HashSet::new();
    while answered.len() < 181 {
        answered.insert(client.hear().await.expect("an answer")["id"].as_i64().unwrap());
    }
    assert!(answered.iter().all(|id| *id >= 520));
    assert!(client.end().await.is_empty());
}

//= docs/spec.md#protocol
//= type=test
//# Reading MUST pause while too many requests or too many bytes of responses are pending.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_more_calls_are_begun_than_their_answers_may_weigh() {
    let mut client = Client::start(short());
    client.initialize("2025-11-25").await;
    for id in 1..=300 {
        client.request(id, "tools/call", json!({ "name": "spin" })).await;
    }
    // A result has 2 MB at most, and 256 MB of them may be worked on.
    for _ in 0..1_200 {
        if client.host.spins.load(Ordering::Acquire) >= 128 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    client.request(900, "ping", json!({})).await;
    assert_eq!(client.hear().await.unwrap()["id"], 900);
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(client.host.spins.load(Ordering::Acquire), 128);
    // Each that is taken back lets another one begin.
    let cancelled =
        |id: i64| json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } });
    client.send(&cancelled(1).to_string()).await;
    for _ in 0..1_200 {
        if client.host.spins.load(Ordering::Acquire) > 128 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(client.host.spins.load(Ordering::Acquire), 129);
    for id in 2..=300 {
        client.send(&cancelled(id).to_string()).await;
    }
    assert!(client.end().await.is_empty());
}
