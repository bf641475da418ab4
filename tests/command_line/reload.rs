//! `serve`: an edit of a pack is served without a new start, and a broken one is not.

use crate::home::Home;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

const HEAD: &str = "[pack]\ntitle = \"A\"\nversion = \"1.0.0\"\n";

struct Server {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<Value>,
    next: u64,
}

impl Server {
    fn start(home: &Home, options: &[&str]) -> Self {
        let mut child = home
            .command()
            .arg("serve")
            .args(options)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let (send, lines) = channel();
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                if send.send(serde_json::from_str(&line).unwrap()).is_err() {
                    return;
                }
            }
        });
        let mut server = Self { input: child.stdin.take(), child, lines, next: 0 };
        let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "0" } });
        server.ask("initialize", &hello);
        server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        server
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.input.as_mut().unwrap(), "{message}").unwrap();
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.next += 1;
        let id = self.next;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        self.wait(|message| message["id"] == json!(id))
    }

    fn wait(&mut self, is_it: impl Fn(&Value) -> bool) -> Value {
        loop {
            let message = self.lines.recv_timeout(Duration::from_secs(20)).unwrap();
            if is_it(&message) {
                return message;
            }
        }
    }

    fn said(&mut self) -> String {
        let answer = self.ask("tools/call", &json!({ "name": "say", "arguments": {} }));
        answer["result"]["content"][0]["text"].as_str().unwrap_or_default().to_owned()
    }

    /// Calls until the answer is this one: a change takes its time to be seen.
    fn says_at_last(&mut self, text: &str) {
        for _ in 0..200 {
            if self.said() == text {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("it still says {:?}", self.said());
    }

    fn end(mut self) {
        drop(self.input.take());
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
    }
}

fn tool(name: &str) -> String {
    format!("[[tool]]\nname = \"{name}\"\ndescription = \"Says it.\"\neffect = \"reads\"\n")
}

//= docs/spec.md#reload
//= type=test
//# An edit of any file of a pack MUST be served without a new start.
//= docs/spec.md#reload
//= type=test
//# A pack MUST be replaced as a whole or not at all.
//= docs/spec.md#reload
//= type=test
//# A pack with a fault MUST leave the last good one serving.
//= docs/spec.md#reload
//= type=test
//# What is wrong with a pack, and where, MUST stand in `toolsd://status`
//= docs/spec.md#reload
//= type=test
//# A client MUST be told that a list changed when it changed
//= docs/spec.md#protocol
//= type=test
//# Nothing but protocol messages MUST ever be written to standard output while serving.
#[test]
fn every_part_of_a_pack_is_reloaded_and_a_broken_one_keeps_its_last_good_state() {
    let home = Home::with(&[]);
    home.run(&["trust", "--edits"]).ended(0);
    home.write(".toolsd/tools.d/a.toml", &format!("{HEAD}{}", tool("say")));
    home.write(".toolsd/tools.d/a.rhai", "fn say(args) { print(`a stray line`); \"one\" }");
    let mut server = Server::start(&home, &[]);
    // The watch begins beside the first answers.
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(server.said(), "one");
    home.write(".toolsd/tools.d/a.rhai", "fn say(args) { part() }");
    home.write(".toolsd/tools.d/a/lib.rhai", "fn part() { render(\"templates/a/t.hbs\", #{}) }");
    home.write(".toolsd/templates/a/t.hbs", "two");
    server.says_at_last("two");
    home.write(".toolsd/templates/a/t.hbs", "{{#if}");
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(server.said(), "two");
    let status = server.ask("resources/read", &json!({ "uri": "toolsd://status" }));
    let status: Value = serde_json::from_str(status["result"]["contents"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(status["packs"][0]["state"], json!("its last good state serves"));
    assert!(status["faults"][0]["at"].as_str().unwrap().starts_with("templates/a/t.hbs:1"), "{status}");
    home.write(".toolsd/templates/a/t.hbs", "three");
    server.says_at_last("three");
    home.write(".toolsd/tools.d/a.toml", &format!("{HEAD}{}{}text = \"x\"\n", tool("say"), tool("more")));
    server.wait(|message| message["method"] == json!("notifications/tools/list_changed"));
    let listed = server.ask("tools/list", &json!({}));
    assert_eq!(listed["result"]["tools"].as_array().unwrap().len(), 2);
    server.end();
}

#[test]
fn a_subscribed_resource_is_told_when_what_it_was_made_of_changes() {
    let home = Home::with(&[("a.plant", "rose north"), ("b.plant", "mint north")]);
    let mut server = Server::start(&home, &["--dir", crate::home::SAMPLE, "--pack", "sample"]);
    std::thread::sleep(Duration::from_millis(500));
    let uri = json!({ "uri": "sample:///plants/rose" });
    server.ask("resources/subscribe", &uri);
    home.write("a.plant", "rose south");
    let told = server.wait(|message| message["method"] == json!("notifications/resources/updated"));
    assert_eq!(told["params"]["uri"], uri["uri"]);
    let read = server.ask("resources/read", &uri);
    assert!(read["result"]["contents"][0]["text"].as_str().unwrap().contains("south"), "{read}");
    server.end();
}
