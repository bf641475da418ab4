//! Hostile clients: noise, floods, huge texts, and those that vanish.

use crate::house::{House, PACKS, is_well, peak_memory};
use crate::support::dice::Dice;
use crate::support::{SERVER_TIMEOUT, Server};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// The most memory that a development build may have used, in MB; a release build stays below 200.
const MAX_MEMORY_MB: usize = if cfg!(debug_assertions) { 400 } else { 200 };

/// A line of noise: random bytes, a cut message, or a message of the wrong shape.
fn noise(dice: &mut Dice) -> Vec<u8> {
    let whole = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "echo", "arguments": { "text": "é" } } });
    let whole = whole.to_string().into_bytes();
    let shapes: [Value; 8] = [
        json!({ "jsonrpc": "2.0", "id": null, "method": "ping" }),
        json!({ "jsonrpc": "1.0", "id": 1, "method": "ping" }),
        json!({ "jsonrpc": "2.0", "id": 1.5, "method": "ping" }),
        json!({ "jsonrpc": "2.0", "id": "x", "method": "no/such/method", "params": [] }),
        json!({ "jsonrpc": "2.0", "id": "x", "method": "tools/call", "params": [1, 2] }),
        json!({ "jsonrpc": "2.0", "id": "x", "method": "tools/call", "params": { "name": 7 } }),
        json!({ "jsonrpc": "2.0", "id": "x", "result": {} }),
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": {} } }),
    ];
    match dice.below(5) {
        0 => (0..dice.below(200)).map(|_| dice.below(256) as u8).filter(|byte| *byte != b'\n').collect(),
        1 => whole[..dice.below(whole.len())].to_vec(),
        2 => {
            let mut bytes = whole;
            for _ in 0..4 {
                let at = dice.below(bytes.len());
                bytes[at] = dice.below(256) as u8;
            }
            bytes.into_iter().filter(|byte| *byte != b'\n').collect()
        }
        3 => "[{\"a\":".repeat(dice.below(2_000)).into_bytes(),
        _ => shapes[dice.below(shapes.len())].to_string().into_bytes(),
    }
}

//= docs/spec.md#protocol
//= type=test
//# A line that is not valid JSON MUST be answered with a parse error, and MUST NOT make the server panic or
//# hang.
#[test]
fn ten_thousand_lines_of_noise_do_no_harm() {
    let house = House::new();
    let mut client = house.serve(&["calm"]);
    let mut dice = Dice(7);
    for _ in 0..10_000 {
        let mut line = noise(&mut dice);
        line.push(b'\n');
        client.send_bytes(&line);
    }
    client.send(&json!({ "jsonrpc": "2.0", "id": "end of noise", "method": "ping" }));
    let mut errors = 0;
    loop {
        let message = client.hear().expect("the server lives");
        assert_eq!(message["jsonrpc"], "2.0", "{message}");
        errors += usize::from(message["error"]["code"].is_i64());
        if message["id"] == "end of noise" {
            break;
        }
    }
    assert!(errors > 5_000, "{errors} errors");
    is_well(&mut client);
    assert!(peak_memory(client.pid()).is_none_or(|peak| peak < MAX_MEMORY_MB), "{:?} MB", peak_memory(client.pid()));
}

//= docs/spec.md#protocol
//= type=test
//# Every request MUST be answered with 20,000 in flight, and a `ping` also while endless scripts run.
#[test]
fn twenty_thousand_calls_in_flight_are_all_answered() {
    let house = House::new();
    let mut client = house.serve(&["calm"]);
    let mut open: HashSet<u64> = HashSet::new();
    for _ in 0..20_000 {
        open.insert(client.tell("tools/call", json!({ "name": "echo", "arguments": { "text": "tea" } })));
    }
    while !open.is_empty() {
        let answer = client.hear().expect("the server lives");
        assert_eq!(answer["result"]["structuredContent"]["tail"], "tea", "{answer}");
        assert!(open.remove(&answer["id"].as_u64().unwrap()), "answered twice: {answer}");
    }
    assert!(peak_memory(client.pid()).is_none_or(|peak| peak < MAX_MEMORY_MB), "{:?} MB", peak_memory(client.pid()));
    is_well(&mut client);
}

/// A server with calls that do not end.
fn busy(house: &House) -> Server {
    let mut client = house.serve(&["hostile", "calm"]);
    for _ in 0..6 {
        client.tell("tools/call", json!({ "name": "spin_for_long", "arguments": { "what": "plain_loop" } }));
    }
    client.request("ping", json!({}));
    client
}

#[test]
fn it_ends_well_while_scripts_run_without_end() {
    let house = House::new();
    for way in ["TERM", "INT", "end of input"] {
        let mut client = busy(&house);
        match way {
            "end of input" => drop(client.input.take()),
            signal => {
                let mut kill = Command::new("kill");
                assert!(kill.args(["-s", signal, &client.pid().to_string()]).status().unwrap().success());
            }
        }
        assert_eq!(client.ended(), Some(0), "{way}");
    }
}

//= docs/spec.md#protocol
//= type=test
//# The server MUST exit when its client disappears.
#[test]
fn a_client_that_vanishes_in_a_call_ends_it() {
    let house = House::new();
    // Both ends closed at once, as when the client is killed; then only the one it reads from.
    for closes_input in [true, false] {
        let mut command = house.command(&["serve", "--dir", PACKS, "--pack", "hostile", "--pack", "calm"]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "x", "version": "0" } });
        writeln!(input, "{}", json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello })).unwrap();
        output.read_line(&mut String::new()).unwrap();
        let spin = json!({ "name": "spin_for_long", "arguments": { "what": "in_a_closure" } });
        writeln!(input, "{}", json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": spin })).unwrap();
        writeln!(input, "{}", json!({ "jsonrpc": "2.0", "id": 2, "method": "ping" })).unwrap();
        output.read_line(&mut String::new()).unwrap();
        drop(output);
        if closes_input {
            drop(input);
        } else {
            // It learns of it when it writes.
            while writeln!(input, "{}", json!({ "jsonrpc": "2.0", "id": 3, "method": "ping" })).is_ok() {
                std::thread::sleep(Duration::from_millis(5));
            }
        }
        let before = Instant::now();
        while child.try_wait().unwrap().is_none() {
            assert!(before.elapsed() < Duration::from_secs(20), "the server does not end");
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(child.wait().unwrap().code().is_some(), "a signal or an abort ended it");
    }
}

/// A server whose client has written this to it without reading anything, after it has had time for it, or after the
/// server takes no more. Later output is discarded.
fn send_without_reading(house: &House, line: &[u8], bytes: usize) -> (Child, usize) {
    let mut command = house.command(&["serve", "--dir", PACKS, "--pack", "calm"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let hello =
        json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "x", "version": "0" } });
    writeln!(input, "{}", json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello })).unwrap();
    let text = line.repeat((64 << 10) / line.len() + 1);
    let taken = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&taken);
    std::thread::spawn(move || {
        while counted.load(Relaxed) < bytes && input.write_all(&text).is_ok() {
            counted.fetch_add(text.len(), Relaxed);
        }
        // Open until the test ends it.
        std::thread::sleep(SERVER_TIMEOUT);
        drop(input);
    });
    // Until all is taken, or nothing is any more.
    let end = Instant::now() + SERVER_TIMEOUT;
    let mut last = (0, Instant::now());
    while Instant::now() < end && taken.load(Relaxed) < bytes && last.1.elapsed() < Duration::from_secs(3) {
        if taken.load(Relaxed) != last.0 {
            last = (taken.load(Relaxed), Instant::now());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    (child, taken.load(Relaxed))
}

//= docs/spec.md#protocol
//= type=test
//# Reading MUST pause while too many requests or too many bytes of responses are pending.
#[test]
fn a_client_that_never_reads_costs_no_memory() {
    let house = House::new();
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }).to_string() + "\n";
    let (mut child, taken) = send_without_reading(&house, ping.as_bytes(), 256 << 20);
    let peak = peak_memory(child.id());
    assert!(child.try_wait().unwrap().is_none(), "it ended");
    assert!(peak.is_none_or(|peak| peak < MAX_MEMORY_MB), "{peak:?} MB after {} MB", taken >> 20);
    // It is read at last: the server continues where it paused.
    let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
    for _ in 0..1_000 {
        let line = output.next().unwrap().unwrap();
        assert!(serde_json::from_str::<Value>(&line).is_ok(), "{line}");
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

//= docs/spec.md#protocol
//= type=test
//# A message with duplicate keys, numbers out of range, more than 127 levels or more than 500,000 values MUST
//# be refused.
#[test]
fn a_message_of_many_values_costs_no_memory() {
    let house = House::new();
    let mut client = house.serve(&["calm"]);
    // Two bytes each, and many times that once they are read.
    let values = vec!["0"; 7_000_000].join(",");
    let call = format!(
        r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"echo","arguments":{{"text":[{values}]}}}}}}"#
    );
    client.send_bytes(format!("{call}\n").as_bytes());
    let refused = client.hear().expect("the server lives");
    assert!(refused["error"]["message"].as_str().unwrap().contains("at most 500000 values"), "{refused}");
    is_well(&mut client);
    assert!(peak_memory(client.pid()).is_none_or(|peak| peak < MAX_MEMORY_MB), "{:?} MB", peak_memory(client.pid()));
}

//= docs/spec.md#protocol
//= type=test
//# A message that is refused MUST be answered with its id if that comes before the error.
#[test]
fn a_line_without_an_end_is_refused_once_and_costs_no_memory() {
    let house = House::new();
    let mut client = house.serve(&["calm"]);
    client.send_bytes(br#"{"jsonrpc":"2.0","id":"long","method":"ping","params":{"of":""#);
    let piece = vec![b'x'; 1 << 20];
    for _ in 0..256 {
        client.send_bytes(&piece);
    }
    let refused = client.hear().expect("the server lives");
    assert_eq!((&refused["error"]["code"], &refused["id"]), (&json!(-32600), &json!("long")), "{refused}");
    assert!(refused["error"]["message"].as_str().unwrap().contains("a line may have at most"), "{refused}");
    // Its end comes at last: what was behind the limit is not a line of its own.
    client.send_bytes(b"\n");
    let pong = client.request("ping", json!({}));
    assert!(pong.get("result").is_some(), "{pong}");
    assert!(peak_memory(client.pid()).is_none_or(|peak| peak < MAX_MEMORY_MB), "{:?} MB", peak_memory(client.pid()));
    is_well(&mut client);
}

//= docs/spec.md#http
//= type=test
//# The client information and the subscriptions that a session keeps MUST be bounded in bytes.
#[test]
fn subscriptions_are_bounded() {
    let house = House::new();
    let pack = "[pack]\ntitle = \"Kept\"\nversion = \"1.0.0\"\n[[resource]]\nname = \"any\"\ndescription = \"Anything.\"\nuri_template = \"any://{+name}\"\nsubscribe = true\ntext = \"x\"\n";
    house.write("layer/tools.d/kept.toml", pack);
    let mut client = Server::serving(house.command(&["serve", "--dir", "../layer", "--pack", "kept"]));
    let mut ask = |method: &str, uri: String| client.request(method, json!({ "uri": uri }));
    let long = ask("resources/subscribe", format!("any://{}", "a".repeat(2 << 20))).to_string();
    assert!(long.contains("at most 8192") && long.len() < 1_000, "{long:.300}");
    let taken = |answer: &Value| answer.get("result").is_some();
    for (length, most) in [(20, 1_000), (8_000, 16)] {
        let uri = |at: usize| format!("any://{at:0length$}");
        let first = (0..2_000).find(|at| !taken(&ask("resources/subscribe", uri(*at))));
        assert!(first.is_some_and(|first| first == most || length > 20 && first <= most), "{length}: {first:?}");
        let refused = ask("resources/subscribe", uri(3_000)).to_string();
        assert!(refused.contains("unsubscribe from some"), "{refused:.300}");
        // A repeated subscription does not count as a new one, and an ended one makes room.
        assert!(taken(&ask("resources/subscribe", uri(0))));
        for at in 0..most {
            assert!(taken(&ask("resources/unsubscribe", uri(at))));
        }
        assert!(taken(&ask("resources/subscribe", uri(3_000))));
        assert!(taken(&ask("resources/unsubscribe", uri(3_000))));
    }
}
