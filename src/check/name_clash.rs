//! Finds names that one pack defines twice.

use super::rule::{CheckRule, error_at};
use super::subject::Subject;
use crate::definition::{ItemKind, Located};
use crate::diagnostic::{Code, Diagnostic};

const CODE: Code = Code("name-clash");

pub const RULE: CheckRule = CheckRule {
    code: CODE,
    summary: "A tool, a resource, a prompt, a table, a schema or a fixture has the name of another one.",
    why: "Only one of them could be reached.",
    run,
    fires: &[(
        "tools.d/a.toml",
        r##"[[tool]]
name = "brew"
description = "Brews a pot of tea, and says how long it took."
text = "ok"
[[tool]]
name = "brew"
description = "Brews a pot of tea, and says how long it took."
text = "ok"
"##,
    )],
    mended: &[(
        "tools.d/a.toml",
        r##"text = "ok"
[[tool]]
name = "brew"
description = "Brews a pot of tea, and says how long it took."
text = "ok""##,
        r##"text = "ok""##,
    )],
};

fn run(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let definitions = subject.definitions;
    let mut diagnostics = Vec::new();
    for kind in ItemKind::ALL {
        let items = subject.items.iter().filter(|item| item.kind == kind);
        clashes(kind.name(), items.filter_map(|item| item.name), &mut diagnostics);
    }
    clashes("table of `[data]`", definitions.data.iter().map(|(name, _)| name), &mut diagnostics);
    clashes("schema of `[defs]`", definitions.defs.iter().map(|(name, _)| name), &mut diagnostics);
    clashes("fixture", definitions.fixtures.iter().map(|fixture| &fixture.name), &mut diagnostics);
    diagnostics
}

fn clashes<'a>(what: &str, names: impl Iterator<Item = &'a Located<String>>, diagnostics: &mut Vec<Diagnostic>) {
    let mut seen: Vec<&Located<String>> = Vec::new();
    for name in names.filter(|name| !name.value.is_empty()) {
        match seen.iter().find(|known| known.value == name.value) {
            Some(first) => {
                let message = format!("the {what} `{}` is defined twice", name.value);
                diagnostics.push(error_at(CODE, &name.at, message, format!("the first one is at {}", first.at)));
            }
            None => seen.push(name),
        }
    }
}
