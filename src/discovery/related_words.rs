//! Words that people use for the same thing: what a description calls `delete`, a question calls `remove`.

use super::words::singular;
use std::collections::HashMap;
use std::sync::LazyLock;

/// Groups of related words. A word may be in several groups.
const GROUPS: &[&str] = &[
    // What is done.
    "show get read display view fetch print open see inspect",
    "list enumerate all every which",
    "find search locate look lookup discover query",
    "create add new make insert write start begin",
    "delete remove drop erase discard clear",
    "rename relabel renumber retitle",
    "change update modify edit set replace adjust mark",
    "move relocate transfer reparent",
    "check validate verify lint correct valid",
    "fix repair correct resolve heal",
    "undo revert rollback restore recover back",
    "save persist store write commit",
    "describe explain summarize summary overview detail",
    "count number total many statistic",
    "refresh reload rescan rebuild reindex",
    "run execute perform invoke",
    "compare diff difference",
    // What it is done to, and how that is.
    "link connect reference edge relation pointer",
    "parent child ancestor descendant hierarchy tree children",
    "without no not missing lack absent none gap uncovered orphan",
    "broken invalid wrong dangling bad fail",
    "stale outdated old changed",
    "status state progress health",
    "history log journal past",
    "test tested testing coverage covered",
    "keyword term vocabulary word tag",
    "spec specification standard rfc",
    "cite citation quote annotation comment",
    "implement implementation code source",
    "file document path",
    "project workspace repository repo",
    "template boilerplate skeleton",
    "title name heading",
    "similar related relevant",
    "id identifier number",
    "prompt instruction guide",
    "recent latest last new current",
    "previous former old past",
    "why reason rationale because",
    "impact affect effect influence depend",
    "text body content wording",
    "section chapter part passage",
    "where location place path position",
    "unsaved pending uncommitted dirty",
    "hash checksum digest fingerprint",
    "error problem issue warning mistake trouble",
    "export generate produce emit output report",
    "draft note scratch",
    "done complete finished closed implemented",
    "type kind category sort",
    "owner author person",
    "order priority rank important urgent first next",
    "map graph network diagram",
    "group bundle collection batch",
    "copy duplicate clone",
    "above parent up",
    "below under child down",
    "merge join combine integrate",
    "setting config configuration option",
    "help usage guide manual",
    "version release branch",
    "begin open start session",
    "end close finish stop",
    "proof verify evidence trace traceability",
    "all complete whole entire full",
    "use used using usage",
];

/// The words related to a word, which is in the form of the index.
pub(super) fn related(word: &str) -> &'static [String] {
    static RELATED: LazyLock<HashMap<String, Vec<String>>> = LazyLock::new(|| {
        let mut related: HashMap<String, Vec<String>> = HashMap::new();
        for group in GROUPS {
            let group: Vec<String> = group.split(' ').map(|word| singular(word.to_owned())).collect();
            for word in &group {
                let others = related.entry(word.clone()).or_default();
                for other in group.iter().filter(|other| *other != word) {
                    if !others.contains(other) {
                        others.push(other.clone());
                    }
                }
            }
        }
        related
    });
    RELATED.get(word).map_or(&[], Vec::as_slice)
}
