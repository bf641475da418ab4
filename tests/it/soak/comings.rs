//! Connections that come and go over HTTP, ten thousand of each kind: what one held is free again when it is gone.

use super::client::{Client, Web};
use super::{GROWTH, Held, PARTS, Place, WARM};
use serde_json::json;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// A head and a body as bytes.
fn request(method: &str, address: SocketAddr, fields: &str, body: &str) -> String {
    let usual = "Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\nConnection: close";
    let length = body.len();
    format!("{method} /mcp HTTP/1.1\r\nHost: {address}\r\n{usual}\r\n{fields}Content-Length: {length}\r\n\r\n{body}")
}

/// Sends something on a connection of its own and reads until an end is seen in what comes, or to the end.
fn said(address: SocketAddr, text: &str, until: Option<&str>) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    stream.write_all(text.as_bytes()).unwrap();
    let (mut heard, mut piece) = (Vec::new(), [0; 4_096]);
    loop {
        let length = stream.read(&mut piece).unwrap_or_else(|error| panic!("no answer to {text}: {error}"));
        heard.extend_from_slice(&piece[..length]);
        let told = String::from_utf8_lossy(&heard);
        if length == 0 || until.is_some_and(|until| told.contains(until)) {
            return told.into_owned();
        }
    }
}

/// Opens a session; gives its id.
fn session(address: SocketAddr) -> String {
    let client = json!({ "name": "soak", "version": "0" });
    let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello }).to_string();
    let told = said(address, &request("POST", address, "", &hello), None);
    let id = told.lines().find_map(|line| line.strip_prefix("mcp-session-id: ")).unwrap_or_else(|| panic!("{told}"));
    let begun = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string();
    said(address, &request("POST", address, &format!("Mcp-Session-Id: {id}\r\n"), &begun), None);
    id.to_owned()
}

fn end_session(address: SocketAddr, id: &str) {
    let told = said(address, &request("DELETE", address, &format!("Mcp-Session-Id: {id}\r\n"), ""), None);
    assert!(told.starts_with("HTTP/1.1 2"), "{told}");
}

fn nothing_said(address: SocketAddr) {
    TcpStream::connect(address).unwrap().shutdown(Shutdown::Both).unwrap();
}

fn half_a_head(address: SocketAddr) {
    TcpStream::connect(address).unwrap().write_all(b"POST /mcp HTTP/1.1\r\nX: ").unwrap();
}

fn half_a_body(address: SocketAddr) {
    let text = request("POST", address, "", &" ".repeat(1_000));
    TcpStream::connect(address).unwrap().write_all(&text.as_bytes()[..text.len() - 500]).unwrap();
}

fn a_fault(address: SocketAddr) {
    let told = said(address, "POST /mcp HTTP/1.1\nHost: a\n\n", None);
    assert!(told.starts_with("HTTP/1.1 400"), "{told}");
}

fn a_session(address: SocketAddr) {
    end_session(address, &session(address));
}

fn a_stream_of_a_session(address: SocketAddr) {
    let id = session(address);
    let told = said(address, &request("GET", address, &format!("Mcp-Session-Id: {id}\r\n"), ""), Some("\r\n\r\n"));
    assert!(told.starts_with("HTTP/1.1 200"), "{told}");
    end_session(address, &id);
}

fn a_subscription(address: SocketAddr) {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({ "notifications": { "toolsListChanged": true }, "_meta": meta });
    let listen = json!({ "jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": params }).to_string();
    let fields = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: subscriptions/listen\r\n";
    let told = said(address, &request("POST", address, fields, &listen), Some("acknowledged"));
    assert!(told.contains("acknowledged"), "{told}");
}

/// What a process holds once it holds no more descriptors than it should, or a while later.
fn settled(pid: u32, descriptors: usize) -> Held {
    let end = Instant::now() + Duration::from_secs(20);
    loop {
        let held = Held::by(pid);
        if held.descriptors <= descriptors || Instant::now() > end {
            return held;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// A client that comes and goes.
type Coming = fn(SocketAddr);

#[test]
#[ignore = "takes minutes: .ci/long soak"]
fn connections_that_come_and_go_leave_nothing_behind() {
    let count: u64 = std::env::var("SOAK_CONNECTIONS").map_or(10_000, |count| count.parse().unwrap());
    let place = Place::new();
    let mut web = Web::start(place.command(&["--http", "127.0.0.1:0"]));
    let (address, pid) = (web.address(), web.pid());
    web.well("echo", &json!({ "text": "first" }));
    let kinds: [(&str, Coming); 7] = [
        ("nothing said", nothing_said),
        ("half a head", half_a_head),
        ("half a body", half_a_body),
        ("a fault", a_fault),
        ("a session", a_session),
        ("a stream of a session", a_stream_of_a_session),
        ("a subscription", a_subscription),
    ];
    // The folders are watched from a thread of their own, which may begin after the first answer.
    std::thread::sleep(Duration::from_secs(2));
    let usual = Held::by(pid).descriptors;
    for (kind, come_and_go) in kinds {
        let mut warm = None;
        for part in 1..=PARTS {
            for _ in (part - 1) * count / PARTS..part * count / PARTS {
                come_and_go(address);
            }
            if part == WARM {
                warm = Some(settled(pid, usual));
            }
        }
        let (warm, end) = (warm.unwrap(), settled(pid, usual));
        eprintln!("{count} × {kind}: {warm:?} to {end:?}");
        let growth = end.resident_kb as f64 / warm.resident_kb as f64;
        assert!(growth <= GROWTH, "{kind}: memory grew: {warm:?} to {end:?}");
        assert!(end.descriptors <= usual, "{kind}: descriptors are left: {warm:?} to {end:?}");
        assert!(end.threads <= warm.threads, "{kind}: threads are left: {warm:?} to {end:?}");
        web.well("echo", &json!({ "text": kind }));
    }
}
