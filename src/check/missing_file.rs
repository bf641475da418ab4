//! Finds files that a definition or a script names and the pack does not have.

use super::rule::{CheckRule, error_at};
use super::subject::Subject;
use crate::diagnostic::{Code, Diagnostic, did_you_mean};
use crate::registry::WORKSPACE_FOLDER;
use crate::world::path::name;

/// The code of a file that is named and does not exist.
pub const CODE: Code = Code("missing-file");

pub const RULE: CheckRule = CheckRule {
    code: CODE,
    summary: "A definition or a script names a script, a template or another file that does not exist.",
    why: "The file could not be run, rendered or read.",
    run,
    fires: &[
        (
            "tools.d/a.toml",
            r##"[[tool]]
name = "brew"
description = "Brews a pot of tea, and says how long it took."
template = "templates/a/bew.hbs"
"##,
        ),
        ("templates/a/brew.hbs", r##"ok"##),
    ],
    mended: &[("tools.d/a.toml", r##"template = "templates/a/bew.hbs""##, r##"template = "templates/a/brew.hbs""##)],
};

/// The files that belong to a pack: the named file may exist, but belong to another pack.
const OWN: &str = "a pack `a` has `tools.d/a.rhai` and the files of the folders `tools.d/a` and `templates/a`, which are in `.toolsd` in a workspace";

fn run(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    for (what, path, at) in subject.named_files().into_iter().chain(subject.asked_files()) {
        if path.is_empty() || subject.has(path) {
            continue;
        }
        let file = name(path);
        // Templates are only in their folder, so a path elsewhere cannot be what is meant.
        let is_moved =
            |known: &&&str| path.starts_with("templates/") && !known.starts_with("templates/") && name(known) == file;
        if let Some(known) = subject.paths.iter().find(is_moved) {
            let help =
                format!("it is at `{known}`: move it to `templates/{}/{file}`, and write that path", subject.pack);
            diagnostics.push(error_at(CODE, at, format!("there is no {what} `{path}`"), help));
            continue;
        }
        let is_same = |known: &&&str| name(known) == file;
        let help = subject.paths.iter().find(is_same).map(|same| format!("did you mean `{same}`?")).or_else(|| {
            did_you_mean(path, subject.paths.iter().copied().filter(|known| ending(known) == ending(path)))
        });
        let help = help.map_or_else(
            || {
                let pack = subject.pack;
                format!(
                    "in a workspace, `templates/{pack}/{file}` is the file \
                     `{WORKSPACE_FOLDER}/templates/{pack}/{file}`; {OWN}"
                )
            },
            |nearest| format!("{nearest} ({OWN})"),
        );
        diagnostics.push(error_at(CODE, at, format!("there is no {what} `{path}`"), help));
    }
    diagnostics
}

fn ending(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or_default()
}
