//! Odd requests: each is refused, whichever way its answer would go.

use crate::raw::{Raw, request};
use crate::support::http::{STATELESS, Server, stateless};
use crate::{pots, serve};
use serde_json::{Value, json};

/// The requests, and what each gets.
const REQUESTS: &str = include_str!("oddities.toml");

/// What sends a call past the straight way: a field that may be one of an argument.
const ROUND: &str = "Mcp-Param-Other: x\r\n";

fn era(tool: &str) -> String {
    let named = format!("Mcp-Method: tools/call\r\nMcp-Name: {tool}\r\n");
    format!("Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: {STATELESS}\r\n{named}")
}

fn body() -> String {
    stateless("tools/call", json!({ "name": "list_pots", "arguments": {} })).to_string()
}

/// The status, the response, and whether the connection stays open.
fn send(server: &Server, text: &str) -> (u16, String, bool) {
    let mut raw = Raw::saying(server, text);
    // What ends the reading of an endless answer: the server closes behind a request that asks for it.
    let plain = request(
        server,
        &format!(
            "{}Connection: close\r\n",
            era("list_pots").replace("Accept: application/json, text/event-stream\r\n", "")
        ),
        &body(),
    );
    raw.say(&plain);
    let reported = raw.rest();
    let status = reported.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    let head = reported.split("\r\n\r\n").next().unwrap_or_default().to_ascii_lowercase();
    let answers: Vec<&str> = reported.split("HTTP/1.1 ").skip(1).collect();
    let goes_on = !head.contains("connection: close") && answers.len() > 1;
    if goes_on {
        assert!(answers[1].starts_with("200"), "something was left over: {reported}");
    }
    assert!(answers.len() <= 2, "more answers than requests: {reported}");
    (status, reported, goes_on)
}

//= docs/spec.md#http
//= type=test
//# A request with ambiguous headers, or with a body that is not a message, MUST be refused with status 400.
//= docs/spec.md#http
//= type=test
//# A body that is not `application/json` in UTF-8, or that is encoded, MUST be refused with status 415.
#[test]
fn odd_requests_get_their_status() {
    let home = pots();
    let server = serve(&home, &[], &[]);
    let table: toml::Table = toml::from_str(REQUESTS).unwrap();
    let mut wrong = Vec::new();
    for case in table["request"].as_array().unwrap() {
        let text = |key: &str| case.get(key).and_then(|value| value.as_str());
        let (name, body) = (text("name").unwrap(), text("body").map_or_else(body, str::to_owned));
        for round in ["", ROUND] {
            let era = format!("{}{round}", era("list_pots"));
            let head = text("head").unwrap().replace("{usual}", &format!("{era}Content-Type: application/json\r\n"));
            let head = head.replace("{era}", &era).replace("{host}", &server.address.to_string());
            let chunks = format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len());
            let body = if head.contains("{chunked}") { chunks } else { body.clone() };
            let head = head.replace("{chunked}", "Transfer-Encoding: chunked\r\n");
            let head = head.replace("{port}", &server.address.port().to_string());
            let head = head.replace("{length}", &format!("Content-Length: {}\r\n", body.len()));
            let head = if case.get("bare").is_some() { head.replace("\r\n", "\n") } else { head };
            let (status, reported, _) = send(&server, &format!("{head}{body}"));
            let expected = case["status"].as_integer().unwrap();
            if i64::from(status) != expected || !reported.contains(text("says").unwrap_or_default()) {
                wrong.push(format!("{name} ({round:?}): {expected} expected: {reported:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(server.ask("tools/list", json!({})).status, 200);
}

/// Bodies that are not a message, or not only one.
fn odd_bodies() -> Vec<Vec<u8>> {
    let plain = body();
    let mut bodies: Vec<Vec<u8>> = Vec::new();
    // A key twice: at each level, the same or another value, before or after, plain or escaped.
    let places = [
        ("{", "method", "\"tools/list\""),
        ("{", "id", "2"),
        ("\"params\":{", "name", "\"fill_pot\""),
        ("\"_meta\":{", "io.modelcontextprotocol/protocolVersion", "\"2025-11-25\""),
        ("\"arguments\":{", "b", "[{\"deep\":{\"c\":1,\"c\":1}}]"),
    ];
    for (place, key, value) in places {
        assert!(plain.contains(place), "{place}");
        let first = key.chars().next().unwrap();
        let escaped = format!("\\u{:04x}{}", u32::from(first), &key[first.len_utf8()..]);
        let comma = if place == "\"arguments\":{" { "" } else { "," };
        for key in [key.to_owned(), escaped] {
            bodies.push(plain.replacen(place, &format!("{place}\"{key}\":{value}{comma}"), 1).into_bytes());
        }
    }
    let deep = |depth: usize| format!("\"arguments\":{{\"a\":{}{}", "[".repeat(depth), "]".repeat(depth));
    for depth in [129, 1_000, 100_000] {
        bodies.push(plain.replacen("\"arguments\":{", &deep(depth), 1).into_bytes());
    }
    let many = format!("\"arguments\":{{\"a\":[{}0]", "0,".repeat(600_000));
    bodies.push(plain.replacen("\"arguments\":{", &many, 1).into_bytes());
    bodies.push([b"\xef\xbb\xbf".as_slice(), plain.as_bytes()].concat());
    bodies.push(plain.encode_utf16().flat_map(u16::to_le_bytes).collect());
    bodies.push(format!("[{plain}]").into_bytes());
    for behind in ["x", "{}", ",", "\0", "]"] {
        bodies.push(format!("{plain}{behind}").into_bytes());
    }
    bodies.push([plain.as_bytes(), b"\xff"].concat());
    for text in ["", " ", "null", "true", "\"x\"", "{", "{}", "1e999"] {
        bodies.push(text.as_bytes().to_vec());
    }
    bodies
}

fn post(server: &Server, fields: &str, body: &[u8]) -> (u16, String, Vec<u8>) {
    let fields = format!("{}{fields}Content-Type: application/json\r\nConnection: close\r\n", era("list_pots"));
    let head =
        format!("POST /mcp HTTP/1.1\r\nHost: {}\r\n{fields}Content-Length: {}\r\n\r\n", server.address, body.len());
    let mut raw = Raw::saying(server, &head);
    std::io::Write::write_all(&mut raw.stream, body).unwrap();
    let reported = raw.rest();
    let (head, body) = reported.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{reported:?}"));
    let kind = head.lines().find(|line| line.to_ascii_lowercase().starts_with("content-type")).unwrap_or_default();
    (head.split(' ').nth(1).unwrap().parse().unwrap(), kind.to_owned(), body.as_bytes().to_vec())
}

//= docs/spec.md#protocol
//= type=test
//# A message with duplicate keys, numbers out of range, more than 127 levels or more than 500,000 values MUST
//# be refused.
#[test]
fn bodies_that_are_no_message_are_refused_on_both_ways() {
    let home = pots();
    let server = serve(&home, &[], &[]);
    for body in odd_bodies() {
        let shown = String::from_utf8_lossy(&body[..body.len().min(400)]).into_owned();
        let (status, kind, reported) = post(&server, "", &body);
        let told_text = String::from_utf8_lossy(&reported).into_owned();
        assert_eq!(status, 400, "{shown}: {told_text}");
        assert!(serde_json::from_slice::<Value>(&reported).unwrap()["error"]["code"].is_i64(), "{shown}");
        assert_eq!((status, kind, reported), post(&server, ROUND, &body), "{shown}");
    }
    let (_, _, reported) = post(&server, "", odd_bodies()[0].as_slice());
    assert!(String::from_utf8_lossy(&reported).contains(r#"the key \"method\" occurs twice"#));
}

#[test]
fn both_ways_answer_the_same_bytes() {
    let home = pots();
    let server = serve(&home, &[], &[]);
    let plain = body();
    let mut bodies = vec![plain.clone(), plain.replace("\"id\":1", "\"id\":\"a b\""), format!(" \r\n\t{plain}\n ")];
    for (from, to) in [
        ("\"arguments\":{}", "\"arguments\":{\"colour\":\"red\"}"),
        ("\"arguments\":{}", "\"arguments\":[]"),
        ("\"arguments\":{}", "\"arguments\":{\"a\":[1e15,-0.0,1.5e300,9223372036854775807,\"\\u00e9\"]}"),
        (",\"arguments\":{}", ""),
        ("\"list_pots\"", "\"fill_pots\""),
        ("\"list_pots\"", "5"),
        ("\"id\":1", "\"id\":null"),
        ("\"id\":1,", ""),
        ("\"tools/call\"", "\"tools/list\""),
        ("\"2.0\"", "\"1.0\""),
        ("2026-07-28", "2025-11-25"),
        ("\"_meta\":{", "\"_meta\":{\"io.modelcontextprotocol/logLevel\":\"debug\","),
        ("\"method\"", "\"result\":{},\"method\""),
    ] {
        assert!(plain.contains(from), "{from}");
        bodies.push(plain.replacen(from, to, 1));
    }
    for body in bodies {
        let straight = post(&server, "", body.as_bytes());
        let round = post(&server, ROUND, body.as_bytes());
        let shown = |answer: &(u16, String, Vec<u8>)| String::from_utf8_lossy(&answer.2).into_owned();
        assert_eq!(straight, round, "{body}\n{}\n{}", shown(&straight), shown(&round));
    }
}
