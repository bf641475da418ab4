//! Over HTTP: host, port and key are the host's; they are reported, the key is not.

use crate::support::home::Home;
use crate::support::http::Server;
use serde_json::{Value, json};

/// Long enough for a key.
const KEY: &str = "0123456789abcdef0123456789abcdef";

/// What `server_config` says is where the server listens, that a key is needed, and not which.
#[test]
fn host_and_port_are_told_and_the_key_is_not() {
    let home = Home::with(&[(".kittify/config.yaml", "vcs:\n  type: git\n")]);
    let server = Server::start(&home, &["--pack", "spec-kitty"], &[("TOOLSD_HTTP_TOKEN", KEY)]);
    let asked = json!({ "name": "system_operations", "arguments": { "operation": "server_config" } });
    let bearer = format!("Bearer {KEY}");
    let reply = server.ask_with("tools/call", asked.clone(), &[("Authorization", &bearer)]);
    assert_eq!(reply.status, 200, "{reply:?}");
    assert!(!reply.body.contains(KEY), "{}", reply.body);
    let answer: Value = serde_json::from_str(&reply.body).unwrap();
    let data = &answer["result"]["structuredContent"]["data"];
    assert_eq!(data["host"], "127.0.0.1", "{answer}");
    assert_eq!(data["port"], server.address.port());
    assert_eq!(data["transport"], "http");
    assert_eq!((&data["auth_enabled"], &data["api_key"]), (&json!(true), &json!("***")));
    assert_eq!(server.ask("tools/call", asked).status, 401, "no key, no answer");
}

/// Where others reach it, it does not start without a key; nor where another process listens.
#[test]
fn it_does_not_listen_without_a_key_or_where_another_does() {
    let home = Home::with(&[(".kittify/config.yaml", "vcs:\n  type: git\n")]);
    let said = home.run(&["serve", "--pack", "spec-kitty", "--http", "0.0.0.0:0"]);
    assert!(said.code != 0 && said.err.contains("TOOLSD_HTTP_TOKEN"), "{}", said.err);
    let server = Server::start(&home, &["--pack", "spec-kitty"], &[]);
    let said = home.run(&["serve", "--pack", "spec-kitty", "--http", &server.address.to_string()]);
    assert!(said.code != 0 && said.err.contains("already in use"), "{}", said.err);
}
