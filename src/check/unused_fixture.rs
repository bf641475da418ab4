//! Finds fixtures that no example and no case names.

use super::rule::{CheckRule, warning_at};
use super::subject::Subject;
use crate::diagnostic::{Code, Diagnostic};

const CODE: Code = Code("unused-fixture");

pub const RULE: CheckRule = CheckRule {
    code: CODE,
    summary: "No example and no case names the fixture.",
    why: "The fixture is unused, or an example that should name it runs in the wrong setup.",
    run,
    fires: &[(
        "tools.d/a.toml",
        r##"[fixture.pots]
files = { "pots.md" = "blue, red" }
[[tool]]
name = "brew"
description = "Brews a pot of tea, and says how long it took."
text = "ok"
[[tool.example]]
expect.result = "ok"
"##,
    )],
    mended: &[(
        "tools.d/a.toml",
        "[[tool.example]]\nexpect.result",
        "[[tool.example]]\nfixture = \"pots\"\nexpect.result",
    )],
};

fn run(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let named: Vec<&str> = subject
        .definitions
        .cases
        .iter()
        .flat_map(|case| &case.fixtures)
        .map(|fixture| fixture.value.as_str())
        .collect();
    let unused = subject.definitions.fixtures.iter().filter(|fixture| !named.contains(&fixture.name.value.as_str()));
    unused
        .map(|fixture| {
            let message = format!("nothing uses the fixture `{}`", fixture.name.value);
            let help = format!("name it in an example or a case: `fixture = \"{}\"`, or remove it", fixture.name.value);
            warning_at(CODE, &fixture.name.at, message, help)
        })
        .collect()
}
