//! Rough clients: noise, floods, silence, and calls without an end.

use super::client::Client;
use serde_json::json;
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tokio::io::{AsyncWriteExt, duplex, split};
use toolsd::mcp::{Bounds, ServerSettings, serve};

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

//= docs/spec.md#protocol
//= type=test
//# Calls MUST run concurrently.
//= docs/spec.md#protocol
//= type=test
//# The end of the process MUST NOT wait for scripts without an end.
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
    assert!(before.elapsed() < Duration::from_millis(1500), "{:?}", before.elapsed());
    assert!(rest.iter().any(|message| message["id"] == 9 && message.get("result").is_some()), "{rest:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn twenty_thousand_calls_are_all_answered() {
    let mut client = Client::start(ServerSettings::default());
    client.initialize("2025-11-25").await;
    let count = 20_000;
    let mut answered = HashSet::new();
    for chunk in 0..20 {
        for id in 1..=count / 20 {
            let id = chunk * (count / 20) + id;
            client.request(id, "tools/call", json!({ "name": "echo", "arguments": { "text": "x" } })).await;
        }
        for _ in 0..count / 40 {
            answered.insert(client.hear().await.unwrap()["id"].as_i64().unwrap());
        }
    }
    let before = Instant::now();
    client.request(0, "ping", json!({})).await;
    while answered.len() < usize::try_from(count).unwrap() + 1 {
        let id = client.hear().await.expect("an answer")["id"].as_i64().unwrap();
        if id == 0 {
            assert!(before.elapsed() < Duration::from_secs(2), "{:?}", before.elapsed());
        }
        answered.insert(id);
    }
    assert!(client.end().await.is_empty());
}

//= docs/spec.md#robustness
//= type=test
//# A `ping` MUST be answered while scripts without an end run.
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
//# The answers to the requests that are worked on MUST be bounded in bytes before they are made.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_more_calls_are_begun_than_their_answers_may_weigh() {
    let mut client = Client::start(short());
    client.initialize("2025-11-25").await;
    for id in 1..=300 {
        client.request(id, "tools/call", json!({ "name": "spin" })).await;
    }
    // A result has 2 MB at most, and 256 MB of them may be worked on.
    for _ in 0..200 {
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
    for _ in 0..200 {
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

//= docs/spec.md#protocol
//= type=test
//# A line that is no JSON MUST be answered with a parse error.
//= docs/spec.md#robustness
//= type=test
//# No line on standard input MUST make the server panic or hang.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn noise_is_answered_and_does_no_harm() {
    let mut client = Client::start(short());
    client.initialize("2025-11-25").await;
    let mut state = 7_u64;
    for _ in 0..10_000 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let noise = ["{", "[]", "null", "{\"jsonrpc\":\"2.0\",\"id\":", "\"method\":1}", "}", "\u{1}", "é"];
        let line: String =
            (0..state % 7).map(|shift| noise[(state >> (8 + 4 * shift)) as usize % noise.len()]).collect();
        client.send(&line).await;
        while !line.trim().is_empty() {
            if client.hear().await.is_some_and(|message| message.get("error").is_some()) {
                break;
            }
        }
    }
    client.send(&"x".repeat(3 << 20)).await;
    assert_eq!(client.hear().await.unwrap()["error"]["code"], -32600);
    client.request(1, "ping", json!({})).await;
    assert_eq!(client.hear().await.unwrap()["id"], 1);
    assert!(client.end().await.is_empty());
}

//= docs/spec.md#robustness
//= type=test
//# A client that vanishes MUST end its server.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_vanishes_ends_the_server() {
    let (ours, theirs) = duplex(1 << 10);
    let (reader, writer) = split(theirs);
    let server = tokio::spawn(serve(super::fixture::Fixture::new(), short(), reader, writer));
    let (output, mut input) = split(ours);
    let hello =
        json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "x", "version": "1" } });
    let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello });
    let spin = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "spin" } });
    input.write_all(format!("{hello}\n{spin}\n").as_bytes()).await.unwrap();
    tokio::time::sleep(Duration::from_millis(50)).await;
    drop((output, input));
    tokio::time::timeout(Duration::from_secs(2), server).await.expect("the server ends").unwrap();
}

//= docs/spec.md#protocol
//= type=test
//# Reading MUST pause while too many requests wait.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_does_not_read_is_not_served_without_end() {
    let mut client = Client::start(short());
    client.initialize("2025-11-25").await;
    let text = "x".repeat(500_000);
    for id in 1..=40 {
        client.request(id, "tools/call", json!({ "name": "echo", "arguments": { "text": text } })).await;
    }
    tokio::time::sleep(Duration::from_millis(50)).await;
    let mut answered = HashSet::new();
    while answered.len() < 40 {
        answered.insert(client.hear().await.expect("an answer")["id"].as_i64().unwrap());
    }
    assert!(client.end().await.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_leaves_nothing_with_its_host() {
    let host = super::fixture::Fixture::new();
    for at in 0..100 {
        let (ours, theirs) = duplex(1 << 16);
        let (reader, writer) = split(theirs);
        let server = tokio::spawn(serve(host.clone(), short(), reader, writer));
        let (output, mut input) = split(ours);
        if at % 2 == 0 {
            let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "x", "version": "1" } });
            let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello });
            let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "echo", "arguments": { "text": "x" } } });
            input.write_all(format!("{hello}\n{call}\n").as_bytes()).await.unwrap();
        }
        input.shutdown().await.unwrap();
        drop((output, input));
        tokio::time::timeout(Duration::from_secs(10), server).await.expect("the server ends").unwrap();
    }
    // Tasks that wait for a connection which is gone would hold the host for ever.
    let end = Instant::now() + Duration::from_secs(10);
    while Arc::strong_count(&host) > 1 {
        assert!(Instant::now() < end, "{} still hold the host", Arc::strong_count(&host) - 1);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
