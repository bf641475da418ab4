//! Texts with NUL are sent as base64, whatever returns them.

use crate::support::home::Home;
use crate::support::server::Server;
use serde_json::json;

const PACK: &str = r#"
[pack]
title = "Tea"

[[resource]]
name = "made"
title = "Made"
description = "Made by a script."
uri = "tea:///made"
mime_type = "text/csv"

[[resource]]
name = "packed"
title = "Packed"
description = "A file of the pack."
uri = "tea:///packed"
file = "templates/tea/packed.txt"

[[resource]]
name = "embedded"
title = "Embedded"
description = "Content that a script embeds."
uri = "tea:///embedded"

[[resource]]
name = "plain"
title = "Plain"
description = "A text without it."
uri = "tea:///plain"

[[tool]]
name = "embed"
description = "Embeds a resource in its result."
effect = "pure"
"#;

const SCRIPT: &str = r#"
fn made(args) { "te\x00a" }
fn embedded(args) { embed(args) }
fn embed(args) { embedded_resource(#{ uri: "tea:///embedded", text: "te\x00a" }) }
fn plain(args) { "tea" }
"#;

/// `te␀a`.
const BASE64: &str = "dGUAYQ==";

#[test]
fn a_text_with_nul_is_sent_as_a_blob() {
    let home = Home::with(&[
        ("layer/tools.d/tea.toml", PACK),
        ("layer/tools.d/tea.rhai", SCRIPT),
        ("layer/templates/tea/packed.txt", "te\0a"),
    ]);
    let mut server = Server::start(&home, &["--dir", "layer"]);
    for name in ["made", "packed", "embedded"] {
        let read = server.ask("resources/read", &json!({ "uri": format!("tea:///{name}") }));
        let part = &read["result"]["contents"][0];
        assert_eq!((&part["blob"], part.get("text")), (&json!(BASE64), None), "{name}: {read}");
    }
    let read = server.ask("resources/read", &json!({ "uri": "tea:///made" }));
    assert_eq!(read["result"]["contents"][0]["mimeType"], "text/csv");
    let read = server.ask("resources/read", &json!({ "uri": "tea:///plain" }));
    assert_eq!(read["result"]["contents"][0]["text"], "tea");
    let called = server.ask("tools/call", &json!({ "name": "embed", "arguments": {} }));
    assert_eq!(called["result"]["content"][0]["resource"]["blob"], BASE64, "{called}");
    server.end();
}
