//! Finds files that are used as templates but are not read as such, because of how their names end.

use super::rule::{CheckRule, error_at};
use super::subject::Subject;
use crate::diagnostic::{Code, Diagnostic};

const CODE: Code = Code("template-ending");

pub const RULE: CheckRule = CheckRule {
    code: CODE,
    summary: "A definition or script uses a file of `templates/` as a template whose name does not end in `.hbs`.",
    why: "Only files that end in `.hbs` are templates there, so a call would not find it.",
    run,
    fires: &[
        (
            "tools.d/a.toml",
            r##"[[tool]]
name = "brew"
description = "Brews a pot of tea, and says how long it took."
template = "templates/a/pot.md"
"##,
        ),
        ("templates/a/pot.md", r##"A pot."##),
    ],
    mended: &[
        ("tools.d/a.toml", "pot.md", "pot.hbs"),
        ("templates/a/pot.md", "A pot.", ""),
        ("templates/a/pot.hbs", "", "A pot."),
    ],
};

fn run(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let used = subject.named_files().into_iter().chain(subject.asked_files());
    let reported = used.filter(|(what, ..)| *what == "template").filter_map(|(_, path, at)| {
        let renamed = name_of_template(path).filter(|_| subject.has(path))?;
        let message = format!("`{path}` is not a template: its name does not end in `.hbs`");
        Some(error_at(CODE, at, message, format!("rename it to `{renamed}`, and write that name here")))
    });
    reported.collect()
}

/// The path that would make a template of a file below `templates/` that is not one.
pub(super) fn name_of_template(path: &str) -> Option<String> {
    if !path.starts_with("templates/") || path.ends_with(".hbs") {
        return None;
    }
    let name = path.rfind('/').map_or(0, |at| at + 1);
    let stem = path[name..].rfind('.').map_or(path, |at| &path[..name + at]);
    Some(format!("{stem}.hbs"))
}
