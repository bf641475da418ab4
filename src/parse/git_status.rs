//! The output of `git status --porcelain=v2 -z` (git-status(1), "Porcelain Format Version 2").

use super::input::ParserInput;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard;
use crate::value::{Map, Value};

/// The code of errors in the output.
const CODE: Code = Code("parse.git_status");

/// `#{ branch: #{ head, upstream, ahead, behind, oid }, entries: [#{ state, path, from?, staged, unstaged }] }`.
///
/// `branch` is present with `--branch`; its fields are `()` where git reports nothing: no commit yet, no branch, no
/// upstream. `state` is `modified`, `type_changed`, `added`, `deleted`, `renamed`, `copied`, `unmerged`, `untracked` or
/// `ignored`. It is the state of the index if that differs from the commit, otherwise that of the work tree; `staged`
/// and `unstaged` say which of the two differ. `from` is the old path of a renamed or copied file.
pub fn parse_git_status(input: &ParserInput<'_>) -> Result<Value> {
    let names = ["head", "upstream", "ahead", "behind", "oid"];
    let mut branch: Map = names.into_iter().map(|name| (name.into(), Value::Null)).collect();
    let mut entries = Vec::new();
    let mut at = 0;
    let mut records = input.text().split('\0');
    while let Some(record) = records.next() {
        guard::check()?;
        let start = at;
        at += record.len() + 1;
        if record.is_empty() {
            continue;
        }
        if let Some(header) = record.strip_prefix("# ") {
            read_header(header, &mut branch);
            continue;
        }
        let mut entry = read_entry(record).ok_or_else(|| unknown(input, start))?;
        if record.starts_with("2 ") {
            let from = records.next().filter(|from| !from.is_empty()).ok_or_else(|| unknown(input, start))?;
            at += from.len() + 1;
            entry.insert("from".into(), from.into());
        }
        entries.push(Value::Map(entry));
    }
    Ok(Value::map([("branch", Value::Map(branch)), ("entries", Value::List(entries))]))
}

fn unknown(input: &ParserInput<'_>, at: usize) -> Box<Diagnostic> {
    input
        .error(CODE, at, "this is not a record of git's status")
        .help("ask git for `status --porcelain=v2 -z --branch`")
}

/// Ignores headers that git may add later.
fn read_header(header: &str, branch: &mut Map) {
    let Some((name, text)) = header.strip_prefix("branch.").and_then(|header| header.split_once(' ')) else { return };
    match (name, text) {
        ("oid", "(initial)") | ("head", "(detached)") => {}
        ("oid" | "head" | "upstream", text) => {
            branch.insert(name.into(), text.into());
        }
        ("ab", text) => {
            for (name, count) in ["ahead", "behind"].into_iter().zip(text.split(' ')) {
                let count = count.trim_start_matches(['+', '-']).parse::<i64>().ok();
                branch.insert(name.into(), count.into());
            }
        }
        _ => {}
    }
}

fn read_entry(record: &str) -> Option<Map> {
    let (kind, rest) = record.split_once(' ')?;
    // The fields before the path, which may contain spaces: `XY sub mH mI mW hH hI`, then the score or more hashes.
    let fields = match kind {
        "?" => return Some(entry("untracked", rest, false, true)),
        "!" => return Some(entry("ignored", rest, false, false)),
        "1" => 7,
        "2" => 8,
        "u" => 9,
        _ => return None,
    };
    let path = rest.splitn(fields + 1, ' ').nth(fields).filter(|path| !path.is_empty())?;
    let (index, tree) = match rest.as_bytes() {
        [index, tree, b' ', ..] => (*index, *tree),
        _ => return None,
    };
    let (staged, unstaged) = (index != b'.', tree != b'.');
    let state = if kind == "u" { "unmerged" } else { state(if staged { index } else { tree })? };
    Some(entry(state, path, staged, unstaged))
}

fn state(letter: u8) -> Option<&'static str> {
    Some(match letter {
        b'M' => "modified",
        b'T' => "type_changed",
        b'A' => "added",
        b'D' => "deleted",
        b'R' => "renamed",
        b'C' => "copied",
        b'U' => "unmerged",
        _ => return None,
    })
}

fn entry(state: &str, path: &str, staged: bool, unstaged: bool) -> Map {
    let fields =
        [("state", state.into()), ("path", path.into()), ("staged", staged.into()), ("unstaged", unstaged.into())];
    fields.into_iter().map(|(name, value)| (name.into(), value)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    const STATUS: &str = "# branch.oid 1f2e\0# branch.head main\0# branch.upstream origin/main\0# branch.ab +1 -2\0\
        1 .M N... 100644 100644 100644 aa bb a file.rs\x002 R. N... 100644 100644 100644 aa bb R100 new.rs\0old.rs\0\
        u UU N... 100644 100644 100644 100644 aa bb cc both.rs\0? no 1.txt\0! target/\0";

    #[test]
    fn records_become_entries() {
        let status = parse_git_status(&ParserInput::from_value(&STATUS.into())).expect("it is git's").to_json();
        let branch = json!({ "head": "main", "upstream": "origin/main", "ahead": 1, "behind": 2, "oid": "1f2e" });
        assert_eq!(status["branch"], branch);
        assert_eq!(
            status["entries"],
            json!([
                { "state": "modified", "path": "a file.rs", "staged": false, "unstaged": true },
                { "state": "renamed", "path": "new.rs", "from": "old.rs", "staged": true, "unstaged": false },
                { "state": "unmerged", "path": "both.rs", "staged": true, "unstaged": true },
                { "state": "untracked", "path": "no 1.txt", "staged": false, "unstaged": true },
                { "state": "ignored", "path": "target/", "staged": false, "unstaged": false },
            ])
        );
    }

    #[test]
    fn a_new_repository_has_no_commit_and_other_texts_are_refused() {
        let status = parse_git_status(&ParserInput::from_value(&"# branch.oid (initial)\0# branch.head main\0".into()))
            .expect("fine");
        assert_eq!(status.to_json()["branch"]["oid"], json!(null));
        let error = parse_git_status(&ParserInput::from_value(&"? a\0 M src/a.rs\n".into())).err();
        assert_eq!(error.map(|error| error.code), Some(CODE));
    }

    proptest! {
        //= docs/spec.md#robustness
        //= type=test
        //# A parser MUST NOT panic, whatever text it is given.
        #[test]
        fn it_never_panics(text in "([12u?!#] |[MAR.]{2} |[a-c] ?|\0){0,20}") {
            let _ = parse_git_status(&ParserInput::from_value(&text.as_str().into()));
        }
    }
}
