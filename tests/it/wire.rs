//! The protocol on the wire: transcripts of both eras, the schemas of every revision, and rough clients.
//!
//! A transcript is a text: `>` a line sent, `>m` the same with the `_meta` of the stateless era, `<` the next message
//! heard, `<~` a part of it, `!` a change announced by toolsd, `.` silence. What is left at the end of the input is an
//! error.

mod client;
mod fixture;
mod rough;
mod schemas;
mod streams;

use client::Client;
use serde_json::Value as Json;
use std::time::Duration;
use toolsd::mcp::{Bounds, ServerSettings};

/// Whether `message` has the part `wanted`: objects may have more keys, lists are as long, a text may end in a line
/// break.
pub fn has_part(message: &Json, wanted: &Json) -> bool {
    match (message, wanted) {
        (Json::Object(message), Json::Object(wanted)) => {
            wanted.iter().all(|(key, wanted)| message.get(key).is_some_and(|found| has_part(found, wanted)))
        }
        (Json::Array(message), Json::Array(wanted)) => {
            message.len() == wanted.len() && message.iter().zip(wanted).all(|(found, wanted)| has_part(found, wanted))
        }
        // A number is its value: `50` and `50.0` are one.
        (Json::Number(message), Json::Number(wanted)) => message.as_f64() == wanted.as_f64(),
        (Json::String(message), Json::String(wanted)) => message.trim_end() == wanted.trim_end(),
        _ => message == wanted,
    }
}

fn with_meta(line: &str) -> String {
    let mut message: Json = serde_json::from_str(line).unwrap();
    let mut meta = client::meta();
    for (key, value) in message["params"]["_meta"].as_object().into_iter().flatten() {
        meta[key] = value.clone();
    }
    message["params"]["_meta"] = meta;
    message.to_string()
}

async fn play(name: &str, text: &str) -> Vec<Json> {
    let bounds = Bounds { grace: Duration::from_millis(100), ..Bounds::default() };
    let page_size = name.contains("pages").then_some(3);
    let mut client =
        Client::start(ServerSettings { bounds, page_size, version: "1".to_owned(), ..ServerSettings::default() });
    for (number, line) in text.lines().enumerate() {
        let place = format!("{name}:{}", number + 1);
        match line.split_once(' ').unwrap_or((line, "")) {
            ("#" | "", _) => {}
            (">", sent) => client.send(sent).await,
            (">m", sent) => client.send(&with_meta(sent)).await,
            ("!", change) => client.host.announce(&serde_json::from_str(change).unwrap()),
            (".", _) => assert!(client.is_silent().await, "{place}: a message was sent"),
            (mark @ ("<" | "<~"), wanted) => {
                let wanted: Json = serde_json::from_str(wanted).unwrap_or_else(|error| panic!("{place}: {error}"));
                let heard = client.hear().await.unwrap_or_else(|| panic!("{place}: no message was sent"));
                let fits = if mark == "<" { heard == wanted } else { has_part(&heard, &wanted) };
                assert!(fits, "{place}:\nwanted {wanted}\nheard  {heard}");
            }
            _ => panic!("{place}: no line of a transcript: {line}"),
        }
    }
    let heard = client.heard.clone();
    let rest = client.end().await;
    assert!(rest.is_empty(), "{name}: said without being asked: {rest:?}");
    heard
}

fn transcripts() -> Vec<(String, String)> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/wire");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let texts = files.iter().filter(|path| path.extension().is_some_and(|extension| extension == "txt"));
    let read = |path: &std::path::PathBuf| {
        (path.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read_to_string(path).unwrap())
    };
    texts.map(read).collect()
}

//= docs/spec.md#protocol
//= type=test
//# The revisions 2024-11-05 to 2025-11-25 and 2026-07-28 MUST be served by one process, and at one HTTP
//# address.
//= docs/spec.md#protocol
//= type=test
//# Every message of the server MUST be valid against the schema of the revision in use.
//= docs/spec.md#protocol
//= type=test
//# A cancelled request MUST NOT be answered.
//= docs/spec.md#protocol
//= type=test
//# Missing resources, unknown methods and invalid parameters MUST be answered with the error code of the
//# revision in use.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn transcripts_are_spoken_as_written() {
    let all = transcripts();
    assert!(all.len() >= 5, "the transcripts exist");
    for (name, text) in all {
        play(&name, &text).await;
    }
}
