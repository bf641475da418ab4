//! The real standard streams: pipes, sockets, files, signals. The server is this test program, run again.

use super::fixture::Fixture;
use serde_json::{Value as Json, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use toolsd::mcp::{ServerSettings, serve_stdio};

/// The server that the tests below start; it does nothing unless they do.
#[test]
#[ignore = "a part of other tests: it speaks the protocol on its standard streams"]
fn server() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let result = runtime.block_on(serve_stdio(Fixture::new(), ServerSettings::default()));
    runtime.shutdown_background();
    std::process::exit(i32::from(result.is_err()));
}

fn start(input: Stdio, output: Stdio) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "wire::streams::server", "--ignored", "--nocapture", "--test-threads=1"])
        .stdin(input)
        .stdout(output)
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn initialize() -> String {
    let client = json!({ "name": "streams", "version": "1" });
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    request(0, "initialize", &params)
}

fn request(id: i64, method: &str, params: &Json) -> String {
    format!("{}\n", json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
}

fn spin(id: i64) -> String {
    request(id, "tools/call", &json!({ "name": "spin" }))
}

/// The next message. Before the server takes its output, the test program prints there which test it runs, and does not
/// end that line.
fn hear(output: &mut impl BufRead) -> Json {
    loop {
        let mut line = String::new();
        assert!(output.read_line(&mut line).unwrap() > 0, "the output has ended");
        let message = line.find('{').map(|start| serde_json::from_str(&line[start..]));
        if let Some(Ok(message @ Json::Object(_))) = message {
            return message;
        }
    }
}

fn end(mut child: Child, within: Duration) -> ExitStatus {
    let before = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        if before.elapsed() > within {
            child.kill().unwrap();
            panic!("the server runs on after {within:?}");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Talks, leaves a call without an end running, and closes the input.
fn talk(child: Child, mut input: impl Write, output: impl Read) {
    let mut output = BufReader::new(output);
    input.write_all(initialize().as_bytes()).unwrap();
    assert_eq!(hear(&mut output)["id"], 0);
    for id in 1..200 {
        let call = request(id, "tools/call", &json!({ "name": "echo", "arguments": { "text": "x".repeat(5000) } }));
        input.write_all(call.as_bytes()).unwrap();
    }
    for _ in 1..200 {
        assert!(hear(&mut output)["result"].is_object());
    }
    input.write_all(spin(999).as_bytes()).unwrap();
    drop(input);
    assert!(end(child, Duration::from_secs(3)).success());
}

//= docs/spec.md#protocol
//= type=test
//# Pipes, files and sockets MUST be supported as standard input and output.
#[test]
fn pipes_are_served() {
    let mut child = start(Stdio::piped(), Stdio::piped());
    let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    talk(child, input, output);
}

#[test]
fn sockets_are_served() {
    let (input, their_input) = UnixStream::pair().unwrap();
    let (output, their_output) = UnixStream::pair().unwrap();
    let child = start(OwnedFd::from(their_input).into(), OwnedFd::from(their_output).into());
    talk(child, input, output);
}

#[test]
fn files_are_served() {
    let folder = tempfile::tempdir().unwrap();
    let (asked, answered) = (folder.path().join("asked"), folder.path().join("answered"));
    let echo = request(1, "tools/call", &json!({ "name": "echo", "arguments": { "text": "x" } }));
    std::fs::write(&asked, format!("{}{echo}{}", initialize(), spin(2))).unwrap();
    let input = std::fs::File::open(&asked).unwrap();
    let output = std::fs::File::create(&answered).unwrap();
    assert!(end(start(input.into(), output.into()), Duration::from_secs(3)).success());
    let answers = std::fs::read_to_string(&answered).unwrap();
    assert!(answers.contains(r#""structuredContent":{"text":"x"}"#), "{answers}");
}

//= docs/spec.md#protocol
//= type=test
//# The server MUST exit with code 0 at the end of its input and at SIGINT, SIGTERM and SIGHUP, without
//# waiting for endless scripts.
#[test]
fn signals_end_it_though_calls_run() {
    for signal in [libc::SIGTERM, libc::SIGINT, libc::SIGHUP] {
        let mut child = start(Stdio::piped(), Stdio::piped());
        let mut input = child.stdin.take().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        input.write_all(format!("{}{}", initialize(), spin(1)).as_bytes()).unwrap();
        assert_eq!(hear(&mut output)["id"], 0);
        kill(&child, signal);
        assert!(end(child, Duration::from_secs(2)).success(), "signal {signal}");
        drop(input);
    }
}

#[allow(unsafe_code, reason = "std sends no signal but SIGKILL")]
fn kill(child: &Child, signal: i32) {
    let id = i32::try_from(child.id()).unwrap();
    // SAFETY: the child was started by us and is not yet waited for, so the number is its own.
    assert_eq!(unsafe { libc::kill(id, signal) }, 0);
}
