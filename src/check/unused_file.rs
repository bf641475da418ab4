//! Finds files of a pack that nothing uses.

use super::rule::{CheckRule, warning_at};
use super::subject::Subject;
use super::template_ending::name_of_template;
use crate::diagnostic::{Code, Diagnostic};
use crate::script::is_shared;

const CODE: Code = Code("unused-file");

pub const RULE: CheckRule = CheckRule {
    code: CODE,
    summary: "No definition, script or template names the file.",
    why: "The file is unused, or a reference to it is misspelled.",
    run,
    fires: &[
        (
            "tools.d/a.toml",
            r##"[[tool]]
name = "brew"
description = "Brews a pot of tea, and says how long it took."
text = "ok"
"##,
        ),
        ("templates/a/old.hbs", r##"old"##),
    ],
    mended: &[
        ("templates/a/new.hbs", "", "{{> templates/a/row}}"),
        ("templates/a/old.hbs", "old", ""),
        ("templates/a/row.hbs", "", "r"),
        ("tools.d/a.toml", r##"text = "ok""##, r##"template = "templates/a/new.hbs""##),
    ],
};

fn run(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let named: Vec<&str> = subject.named_files().into_iter().map(|(_, path, _)| path).collect();
    let mut diagnostics = Vec::new();
    if !subject.definitions_are_whole() {
        return diagnostics;
    }
    for source in &subject.texts {
        let path = source.path.as_str();
        let is_library = is_shared(path) && (!path.ends_with("/graph.rhai") || subject.definitions.graph.is_some());
        let shared =
            path.starts_with("templates/shared/") || path.ends_with(".toml") || path.contains("/.") || is_library;
        let below = |dir: &str| path.starts_with(&format!("{}/", dir.trim_end_matches('/')));
        let of_skills = subject.definitions.skills.iter().flat_map(|skills| &skills.dirs).any(|dir| below(&dir.value));
        let setups = subject.definitions.cases.iter().map(|case| &case.setup);
        let setups = setups.chain(subject.definitions.fixtures.iter().map(|fixture| &fixture.setup));
        let of_cases = setups.flat_map(|setup| &setup.files_from).any(|dir| below(dir));
        if shared || of_skills || of_cases || named.contains(&path) || mentioned(subject, path) {
            continue;
        }
        let message = format!("nothing uses `{path}`");
        let mut help = "name it by its path from the root, or check whether the pack needs it".to_owned();
        if let Some(renamed) = name_of_template(path) {
            help = format!("to make a template of it, rename it to `{renamed}`; otherwise {help}");
        }
        diagnostics.push(warning_at(CODE, &source.place(0..0), message, help));
    }
    diagnostics
}

/// Whether another text of the pack writes the path, in full or as the name of a partial.
fn mentioned(subject: &Subject<'_>, path: &str) -> bool {
    let partial = path.rsplit_once('.').map_or(path, |(name, _)| name);
    let needle = if path.ends_with(".rhai") { path } else { partial };
    subject.texts.iter().any(|other| other.path != path && other.text.contains(needle))
}
