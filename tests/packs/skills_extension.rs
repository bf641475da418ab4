//! The Skills extension over the wire: every file of every skill is served, to the byte, with the hash that was
//! promised.

use crate::support::Server;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::path::Path;

fn serve() -> Server {
    Server::start(Path::new(env!("CARGO_MANIFEST_DIR")), "conformance")
}

fn read(server: &mut Server, uri: &str) -> Value {
    server.request("resources/read", json!({ "uri": uri }))["result"]["contents"][0].clone()
}

//= docs/spec.md#skills
//= type=test
//# A skill MUST also be listed as a resource, with the name and the description of its front matter, and each of its
//# files MUST be readable byte for byte, with the size and the SHA-256 of its manifest.
#[test]
fn the_manifest_holds_for_every_file() {
    let mut server = serve();
    let listed = server.request("skills/list", json!({}))["result"]["skills"].clone();
    let skills = listed.as_array().unwrap();
    assert!(!skills.is_empty(), "{listed}");
    for skill in skills {
        let one = server.request("skills/get", json!({ "uri": skill["uri"] }));
        assert_eq!(&one["result"]["skill"], skill);
        let files = skill["resources"].as_array().unwrap();
        assert!(files.iter().any(|file| file["uri"] == skill["uri"]), "{skill}");
        for file in files {
            let read = read(&mut server, file["uri"].as_str().unwrap());
            let text = read["text"].as_str().unwrap();
            let hash: String = Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(file["size"], text.len());
            assert_eq!(file["digest"], format!("sha256:{hash}"));
        }
    }
}

#[test]
fn a_skill_is_a_resource_and_its_folders_can_be_walked() {
    let mut server = serve();
    let skill = server.request("skills/list", json!({}))["result"]["skills"][0].clone();
    let resources = server.request("resources/list", json!({}))["result"]["resources"].clone();
    let listed = resources.as_array().unwrap().iter().find(|one| one["uri"] == skill["uri"]).unwrap();
    assert_eq!(
        [&listed["name"], &listed["description"], &listed["mimeType"]],
        [&skill["frontmatter"]["name"], &skill["frontmatter"]["description"], &json!("text/markdown")]
    );
    let mut open = vec![skill["uri"].as_str().unwrap().trim_end_matches("/SKILL.md").to_owned()];
    let mut found = Vec::new();
    while let Some(folder) = open.pop() {
        let children = server.request("resources/directory/read", json!({ "uri": folder }));
        for child in children["result"]["resources"].as_array().unwrap() {
            match child["mimeType"] == "inode/directory" {
                true => open.push(child["uri"].as_str().unwrap().to_owned()),
                false => found.push(child["uri"].clone()),
            }
        }
    }
    assert_eq!(found.len(), skill["resources"].as_array().unwrap().len(), "{found:?}");
}

#[test]
fn what_is_not_there_is_refused() {
    let mut server = serve();
    for (method, uri) in [
        ("skills/get", "skill://gone/SKILL.md"),
        ("skills/get", "skill://gone"),
        ("resources/directory/read", "skill://gone"),
        ("resources/directory/read", "skill://reading-a-trace/SKILL.md"),
    ] {
        assert_eq!(server.request(method, json!({ "uri": uri }))["error"]["code"], -32602, "{method} {uri}");
    }
}
