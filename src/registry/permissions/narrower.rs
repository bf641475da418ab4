//! Whether one grant lies within another: a grant that says less than what was shown asks for nothing new.

use crate::world::path;

/// What makes a part of a glob more than a name.
const SPECIAL: [char; 5] = ['*', '?', '[', '{', '\\'];

/// Whether all that the glob `after` covers is covered by `before`. Where that cannot be told from how the two are
/// written, it is not.
pub(super) fn covers_glob(before: &str, after: &str) -> bool {
    // A variable is taken as it is written, so its braces are none of a glob.
    let (before, after) = (plain(before), plain(after));
    if before == after {
        return true;
    }
    let (folder, only_below) = match before.as_str() {
        "**" => (".", false),
        before => before.strip_suffix("/**").map_or((before, false), |folder| (folder, true)),
    };
    // A `..` may lead anywhere, and so may a first part that is not known.
    if folder.contains(SPECIAL) || after.contains("..") || after.starts_with(['{', '[', '\\']) {
        return false;
    }
    let names: Vec<&str> = after.split('/').take_while(|name| !name.contains(SPECIAL)).collect();
    let is_glob = names.len() < after.split('/').count();
    let start = if names.is_empty() { ".".to_owned() } else { names.join("/") };
    let is_within = match folder {
        "." => !start.starts_with(['/', '~', '$']),
        folder => path::is_below(&start, folder),
    };
    // `a/**` is what lies below `a`, and not what `a` itself may be.
    is_within && (is_glob || !only_below || start != folder)
}

/// Whether all variables that `after` covers are covered by `before`: `*` at the end stands for any rest.
pub(super) fn covers_variable(before: &str, after: &str) -> bool {
    let after = after.strip_suffix('*').unwrap_or(after);
    before.strip_suffix('*').is_some_and(|start| after.starts_with(start))
}

fn plain(glob: &str) -> String {
    let clean = match glob.starts_with("./") || glob.ends_with('/') {
        true => path::clean(glob),
        false => glob.to_owned(),
    };
    let mut shown = String::new();
    let mut rest = clean.as_str();
    while let Some((before, after)) = rest.split_once("${") {
        let (name, next) = after.split_once('}').unwrap_or((after, ""));
        shown.push_str(&format!("{before}${name}"));
        rest = next;
    }
    shown + rest
}
