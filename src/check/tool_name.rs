//! Finds names of tools that clients refuse.

use super::rule::{CheckRule, error_at, warning_at};
use super::subject::Subject;
use crate::diagnostic::{Code, Diagnostic};

const CODE: Code = Code("tool-name");

pub const RULE: CheckRule = CheckRule {
    code: CODE,
    summary: "The name of a tool or prompt has other characters than `A-Za-z0-9_.-`, or is too long.",
    why: "MCP allows 1 to 128 of these; some clients stop at 64.",
    run,
    fires: &[(
        "tools.d/a.toml",
        r##"[[tool]]
name = "brew tea"
description = "Brews a pot of tea."
text = "ok"
"##,
    )],
    mended: &[(
        "tools.d/a.toml",
        r##"name = "brew tea"
description = "Brews a pot of tea.""##,
        r##"name = "brew"
description = "Brews a pot of tea, and says how long it took.""##,
    )],
};

fn run(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let definitions = subject.definitions;
    let tools = definitions.tools.iter().map(|tool| &tool.name);
    let names = tools.chain(definitions.prompts.iter().map(|prompt| &prompt.name));
    let legal = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '.' | '-');
    let mut diagnostics = Vec::new();
    for name in names {
        let length = name.value.chars().count();
        if let Some(letter) = name.value.chars().find(|letter| !legal(*letter)) {
            let message = format!("the name `{}` has a `{letter}`", name.value);
            diagnostics.push(error_at(CODE, &name.at, message, "names are made of `A-Za-z0-9_.-`, such as `find_pot`"));
        } else if length > 128 {
            diagnostics.push(error_at(
                CODE,
                &name.at,
                format!("the name has {length} characters"),
                "at most 128, better 64",
            ));
        } else if length > 64 {
            let message = format!("the name has {length} characters");
            diagnostics.push(warning_at(
                CODE,
                &name.at,
                message,
                "some clients stop at 64, the server's name included",
            ));
        }
    }
    diagnostics
}
