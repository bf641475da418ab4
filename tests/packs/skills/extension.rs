//! The Skills extension on the corpus: every entry, every file, every byte.

use super::corpus::Corpus;
use crate::support::server::Server;
use crate::support::systems;
use base64::Engine;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The bytes of all files in a folder and below, by their path from there.
fn files(folder: &Path, from: &Path, found: &mut BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            files(folder, &entry.path(), found);
        } else if entry.file_type().unwrap().is_file() {
            let path = entry.path().strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
            found.insert(path, fs::read(entry.path()).unwrap());
        }
    }
}

/// The folder of a skill, as the tool tells it.
fn folder_of(server: &mut Server, full: &str) -> String {
    let text = server.said("skill", &json!({ "name": full }));
    text.lines().nth(1).unwrap().strip_prefix("Base directory: ").unwrap().to_owned()
}

fn bytes_of(contents: &Value) -> Vec<u8> {
    match (contents["text"].as_str(), contents["blob"].as_str()) {
        (Some(text), _) => text.as_bytes().to_vec(),
        (None, blob) => base64::engine::general_purpose::STANDARD.decode(blob.unwrap()).unwrap(),
    }
}

//= docs/spec.md#skills
//= type=test
//# A skill MUST also be listed as a resource, with the name and the description of its front matter, and each of its
//# files MUST be readable byte for byte, with the size and the SHA-256 of its manifest.
#[test]
#[ignore = "real projects: `just corpora`"]
fn every_skill_of_the_corpus_is_right_to_the_byte() {
    let folder = systems("skills");
    let corpus = Corpus::laid_out(&folder, "");
    let mut server = corpus.serve();
    let listed = server.ask("skills/list", &json!({}))["result"]["skills"].clone();
    let skills = listed.as_array().unwrap();
    assert_eq!(skills.len(), 26);
    for skill in skills {
        let uri = skill["uri"].as_str().unwrap();
        let base = uri.strip_suffix("/SKILL.md").unwrap();
        let path = base.strip_prefix("skill://").unwrap();
        assert_eq!(path.rsplit('/').next(), skill["frontmatter"]["name"].as_str(), "{uri}");
        assert_eq!(&server.ask("skills/get", &json!({ "uri": uri }))["result"]["skill"], skill);
        let folder = folder_of(&mut server, &path.replace('/', ":"));
        let mut expected = BTreeMap::new();
        files(Path::new(&folder), Path::new(&folder), &mut expected);
        let manifest: Vec<Value> = expected
            .iter()
            .map(|(path, bytes)| {
                let hash: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
                json!({ "uri": format!("{base}/{path}"), "digest": format!("sha256:{hash}"), "size": bytes.len() })
            })
            .collect();
        assert_eq!(skill["resources"], json!(manifest), "{uri}");
        for (path, bytes) in &expected {
            let read = server.ask("resources/read", &json!({ "uri": format!("{base}/{path}") }));
            assert_eq!(bytes_of(&read["result"]["contents"][0]), *bytes, "{base}/{path}");
        }
        let children = server.ask("resources/directory/read", &json!({ "uri": base }));
        let names: Vec<&str> = expected.keys().map(|path| path.split('/').next().unwrap()).collect();
        let shown = children["result"]["resources"].as_array().unwrap();
        let shown: Vec<&str> = shown.iter().map(|one| one["uri"].as_str().unwrap()).collect();
        let mut wanted: Vec<String> = names.iter().map(|name| format!("{base}/{name}")).collect();
        wanted.dedup();
        assert_eq!(shown, wanted, "{base}");
    }
    server.end();
    let log = corpus.log();
    assert_eq!(log.matches("`Mixed-Case` is not a valid skill name").count(), 1, "{log}");
}

//= docs/spec.md#skills
//= type=test
//# A broken skill MUST NOT affect other skills.
//= docs/spec.md#skills
//= type=test
//# A skill with more than 512 files or 16 MiB SHOULD be reported.
#[test]
#[ignore = "real projects: `just corpora`"]
fn bad_and_large_skills_leave_the_list_whole() {
    let folder = systems("skills");
    let corpus = Corpus::laid_out(&folder, "quick");
    corpus.skill("wide", "Many files", "x");
    let wide = corpus.at("{HOME}/.claude/skills/wide");
    (0..512).for_each(|number| fs::write(wide.join(format!("{number}.txt")), "x").unwrap());
    corpus.skill("long", &"x".repeat(2_000), "x");
    let mut server = corpus.serve();
    let count =
        |server: &mut Server| server.ask("skills/list", &json!({}))["result"]["skills"].as_array().unwrap().len();
    assert_eq!(count(&mut server), 27);
    // A client that listed skills hears of another.
    corpus.skill("late", "New", "x");
    server.wait(|message| message["method"] == "notifications/resources/list_changed");
    assert_eq!(count(&mut server), 28);
    server.end();
    let log = corpus.log();
    assert!(log.contains("the skill `wide` has 513 files"), "{log}");
    assert!(log.contains("its `description` has 2000 characters"), "{log}");
}
