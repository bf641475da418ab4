//! Front matter of real files is edited there and back: what was not named stays, byte for byte.

use crate::support::systems;
use serde_json::{Value as Json, json};
use std::fs;
use std::path::{Path, PathBuf};
use toolsd::edit::{FrontMatterOptions, edit_front_matter};
use toolsd::parse::{ParserInput, parse_front_matter};
use toolsd::value::Value;

fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && !["target", ".git", "node_modules"].contains(&name.as_str()) {
            collect(&path, found);
        } else if name.ends_with(".md") {
            found.push(path);
        }
    }
}

fn data_of(text: &str) -> Json {
    parse_front_matter(&ParserInput::from_value(&Value::from(text))).unwrap().to_json()["data"].clone()
}

fn edited(text: &str, changes: &Json) -> String {
    edit_front_matter(&text.into(), changes, &FrontMatterOptions::default())
        .unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Each list with something in it gets an item and loses it; a new key comes and goes; each scalar changes and back.
fn there_and_back(path: &Path, text: &str, data: &serde_json::Map<String, Json>) {
    let added = edited(text, &json!({ "zz_new": ["x", { "y": true }] }));
    assert_eq!(edited(&added, &json!({ "zz_new": null })), text, "{}", path.display());
    for (key, value) in data {
        let other = match value {
            Json::Array(items) if !items.is_empty() => {
                let mut more = items.clone();
                more.insert(items.len() / 2, json!("zz-new-item"));
                Json::Array(more)
            }
            Json::String(old) if !old.is_empty() && !old.contains('\n') => json!(format!("{old}1")),
            _ => continue,
        };
        let changed = edited(text, &json!({ key: other }));
        assert_eq!(data_of(&changed)[key], other, "{}: {key}", path.display());
        let back = edited(&changed, &json!({ key: value }));
        // A text that was folded over lines comes back on one.
        let was_folded = value.is_string() && back != text && text.lines().count() != changed.lines().count();
        assert!(back == text || was_folded, "{}: {key} did not come back:\n{changed}\n{back}", path.display());
        for (line, whole) in text.lines().map(|line| (line, &changed)) {
            let is_own = line.contains(key.as_str()) || value.as_str().is_some_and(|old| old.contains(line.trim()));
            assert!(is_own || was_folded || whole.contains(line), "{}: {key}: {line:?} is lost", path.display());
        }
    }
}

fn all_there_and_back(folder: &Path) {
    let mut paths = Vec::new();
    collect(folder, &mut paths);
    let mut count = 0;
    for path in &paths {
        let Ok(text) = fs::read_to_string(path) else { continue };
        if let Json::Object(data) = data_of(&text) {
            there_and_back(path, &text, &data);
            count += 1;
        }
    }
    assert!(count >= 1, "{} files, and none has front matter", paths.len());
}

#[test]
fn front_matter_of_this_repository_is_edited_there_and_back() {
    all_there_and_back(Path::new(env!("CARGO_MANIFEST_DIR")));
}

#[test]
#[ignore = "real projects: `just corpora`"]
fn front_matter_of_real_projects_is_edited_there_and_back() {
    all_there_and_back(systems("duvet").parent().unwrap());
}
