//! The lists of tools of all packs take little of a model's context: `toolsd cost` shows each part of it.

use crate::support::toolsd;
use serde_json::Value;

/// The packs that are served together, whose lists add up.
const PACKS: [&str; 5] = ["duvet", "elspais", "skills", "spec-kitty", "specman"];
/// Bytes of `tools/list`, whole and lean.
const MAX_LIST_BYTES: [(&str, u64); 2] = [("list", 100_000), ("lean", 60_000)];

#[test]
fn the_lists_of_tools_of_all_packs_stay_small() {
    let home = tempfile::tempdir().unwrap();
    let mut command = toolsd(home.path());
    command.args(["cost", "--format", "json"]).current_dir(home.path());
    for pack in PACKS {
        command.args(["--pack", pack]);
    }
    let output = command.output().unwrap();
    let cost: Value = serde_json::from_slice(&output.stdout).unwrap();
    for (column, most) in MAX_LIST_BYTES {
        let bytes = cost["total"][column].as_u64().unwrap();
        assert!(bytes <= most, "{column}: {bytes} bytes, of {most} at most: {cost:#}");
    }
}
