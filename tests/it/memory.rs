//! What packs remember between calls, and what scripts may know of the server.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};

const PACKS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/memory");

fn toolsd(home: &Path, words: &[&str]) -> Command {
    let mut command = crate::support::toolsd(home);
    command.args(words).args(["--pack", "notes", "--pack", "spy", "--dir", PACKS, "--workspace"]).arg(home);
    command
}

#[test]
fn the_cases_hold() {
    let home = tempfile::tempdir().unwrap();
    let tested = toolsd(home.path(), &["test", "--format", "json"]).output().unwrap();
    assert!(tested.status.success(), "{}", String::from_utf8_lossy(&tested.stdout));
}

//= docs/spec.md#memory
//= type=test
//# What a pack remembers MUST NOT be seen by another pack, nor by the build of a graph.
#[test]
fn a_pack_remembers_between_calls_for_itself() {
    let home = tempfile::tempdir().unwrap();
    let mut served = toolsd(home.path(), &["serve"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = served.stdin.take().unwrap();
    let mut output = BufReader::new(served.stdout.take().unwrap());
    let mut ask = |id: u64, method: &str, params: Value| -> Value {
        writeln!(input, "{}", json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).unwrap();
        loop {
            let mut line = String::new();
            assert!(output.read_line(&mut line).unwrap() > 0, "the server ended");
            let answer: Value = serde_json::from_str(&line).unwrap();
            if answer["id"] == id {
                return answer["result"].clone();
            }
        }
    };
    let hello =
        json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
    ask(1, "initialize", hello);
    let text = |answer: Value| answer["content"][0]["text"].as_str().unwrap_or_default().to_owned();
    let mut call = |id: u64, tool: &str, arguments: Value| {
        text(ask(id, "tools/call", json!({ "name": tool, "arguments": arguments })))
    };
    assert_eq!(call(2, "keep_note", json!({ "key": "a", "value": [1, { "b": "c" }] })), "[1,{\"b\":\"c\"}]");
    assert_eq!(call(3, "list_notes", json!({})), "{\"a\":[1,{\"b\":\"c\"}]}");
    assert_eq!(call(4, "list_others", json!({})), "{}");
    assert!(call(5, "read_graph", json!({})).contains("nothing is remembered here"));
    call(6, "keep_note", json!({ "key": "a" }));
    assert_eq!(call(7, "list_notes", json!({})), "{}");
    let server: Value = serde_json::from_str(&call(8, "show_server", json!({}))).unwrap();
    assert_eq!((&server["server"]["transport"], &server["server"]["port"]), (&json!("stdio"), &Value::Null));
    drop(input);
    assert!(served.wait().unwrap().success());
}

//= docs/spec.md#memory
//= type=test
//# The token of the server MUST NOT be seen by scripts.
#[test]
fn scripts_know_that_there_is_a_token_and_not_which() {
    let home = tempfile::tempdir().unwrap();
    let mut served = toolsd(home.path(), &["serve", "--http", "127.0.0.1:0"])
        .env("TOOLSD_HTTP_TOKEN", "a-long-secret-token")
        .env("TOOLSD_STATE_KEY", "a-secret-key-of-thirty-two-bytes-or-more")
        .env("TOOLSD_OTHER", "seen")
        .env_remove("TOOLSD_BLESS")
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut told = BufReader::new(served.stderr.take().unwrap()).lines();
    let line =
        told.find_map(|line| line.unwrap().split_once("serving http://").map(|(_, rest)| rest.to_owned())).unwrap();
    let address = line.split('/').next().unwrap().to_owned();
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "show_server", "arguments": {}, "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
        } } })
    .to_string();
    let mut stream = TcpStream::connect(&address).unwrap();
    write!(
        stream,
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer a-long-secret-token\r\nAccept: application/json, text/event-stream\r\n\
         Content-Type: application/json\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: show_server\r\n\
         Connection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    // It is ours: no other process is ended.
    served.kill().unwrap();
    served.wait().unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(answer.contains(r#"\"TOOLSD_OTHER\":\"seen\""#), "{answer}");
    assert!(answer.contains(r#"\"has_token\":true"#) && answer.contains(r#"\"token\":\"***\""#), "{answer}");
    assert!(answer.contains(&format!(r#"\"address\":\"{address}\""#)), "{answer}");
    assert!(answer.contains(r#"\"transport\":\"http\""#), "{answer}");
    assert!(!answer.contains("a-secret"), "{answer}");
}
