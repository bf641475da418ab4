//! The note in the file of a lock: who holds it, or who held it and went away without a word.

use crate::value::Json;
use serde_json::{Map, json};

/// The fields in which holders name their process: ours, and those of other systems.
const PIDS: [&str; 3] = ["pid", "owner_pid", "process_id"];

/// What the file of a lock says.
#[derive(Clone, Debug, PartialEq)]
pub enum Left {
    /// Nothing.
    Nothing,
    /// A note: an object with the process `pid`.
    Note(Map<String, Json>),
    /// Something else: it is no lock's file.
    Other,
}

/// Reads what stands in the file of a lock: our note, an object that names a process, or a bare number of one.
pub fn left(text: &str) -> Left {
    let text = text.trim();
    if text.is_empty() {
        return Left::Nothing;
    }
    if let Ok(Json::Object(mut note)) = serde_json::from_str(text) {
        let pid = PIDS.iter().find_map(|name| pid_of(note.get(*name)?));
        let Some(pid) = pid else { return Left::Other };
        note.insert("pid".to_owned(), json!(pid));
        return Left::Note(note);
    }
    // As daemons write it: the number, and perhaps the host on the next line.
    match text.lines().next().and_then(|line| line.trim().parse::<u32>().ok()) {
        Some(pid) if text.lines().count() <= 2 => Left::Note(Map::from_iter([("pid".to_owned(), json!(pid))])),
        _ => Left::Other,
    }
}

fn pid_of(value: &Json) -> Option<u32> {
    match value {
        Json::String(text) => text.parse().ok(),
        value => value.as_u64().and_then(|pid| u32::try_from(pid).ok()),
    }
}

/// The note of a holder: the process, which may have a further name, since when, and what it says of itself. Fields of a
/// map stand beside the others.
pub fn write(pid: u32, also: Option<&str>, since: &str, said: &Json) -> String {
    let mut note = Map::from_iter([("pid".to_owned(), json!(pid)), ("since".to_owned(), json!(since))]);
    note.extend(also.map(|name| (name.to_owned(), json!(pid))));
    match said {
        Json::Null => {}
        Json::Object(fields) => {
            for (name, value) in fields {
                note.entry(name.clone()).or_insert_with(|| value.clone());
            }
        }
        other => _ = note.insert("note".to_owned(), other.clone()),
    }
    Json::Object(note).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_of_several_systems_are_read_and_other_files_are_told_apart() {
        let pid = |text: &str| match left(text) {
            Left::Note(note) => note["pid"].clone(),
            other => json!(format!("{other:?}")),
        };
        assert_eq!(pid("{\"pid\": 7, \"since\": \"x\"}\n"), json!(7));
        assert_eq!(pid("{\"owner_pid\": \"8\"}"), json!(8));
        assert_eq!(pid("4242\nhost\n"), json!(4242));
        assert_eq!(pid("  \n"), json!("Nothing"));
        for text in ["{\"title\": \"x\"}", "[1]", "one\n", "7\n8\n9\n", "{\"pid\": -1}", "{\"pid\": 1"] {
            assert_eq!(pid(text), json!("Other"), "{text}");
        }
    }

    #[test]
    fn what_the_holder_says_stands_beside_its_process() {
        let note = write(7, None, "2026-01-01T00:00:00Z", &json!({ "resource_id": "WP01", "pid": 9 }));
        assert_eq!(note, r#"{"pid":7,"since":"2026-01-01T00:00:00Z","resource_id":"WP01"}"#);
        assert_eq!(write(7, None, "x", &json!("brewing")), r#"{"pid":7,"since":"x","note":"brewing"}"#);
    }
}
