//! Finds texts in the wrong quotes: escapes in backticks, and `${…}` in double quotes.

use super::rule::{CheckRule, warning_at};
use super::subject::Subject;
use crate::diagnostic::{Code, Diagnostic};
use crate::primitives;

const CODE: Code = Code("misquoted-text");

pub const RULE: CheckRule = CheckRule {
    code: CODE,
    summary: "A script has `\\n` in backticks, or `${x}` of one of its variables in double quotes.",
    why: "Backticks take a backslash as it is, and double quotes take `${x}` as it is.",
    run,
    fires: &[
        (
            "tools.d/a.toml",
            r##"[[tool]]
name = "brew"
description = "Brews a pot of tea, and says how long it took."
effect = "pure"
"##,
        ),
        ("tools.d/a.rhai", r##"fn brew(args) { "A pot of ${args.kind}.\n" + `Done.\n` }"##),
    ],
    mended: &[(
        "tools.d/a.rhai",
        r##""A pot of ${args.kind}.\n" + `Done.\n`"##,
        r##"`A pot of ${args.kind}.` + "\nDone.\n""##,
    )],
};

fn run(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let texts = subject.program.surveys().iter().flat_map(|survey| &survey.misquoted);
    // Patterns have escapes of their own, and so have their replacements: `${name}` stands for a group.
    let takes_pattern = |name: &str| {
        primitives::find(name).is_some_and(|primitive| primitive.positional().any(|param| param.name == "regex"))
    };
    let is_pattern = |text: &str| {
        ["\\d", "\\s", "\\w", "\\b", "\\r", "\\.", "[^", "(?", "]*", "]+"].iter().any(|part| text.contains(part))
    };
    let texts = texts.filter(|text| !text.argument_of.as_deref().is_some_and(takes_pattern) && !is_pattern(&text.text));
    let report = |part: &str, at| match part.strip_prefix("${") {
        Some(name) => {
            let help = format!("write the text in backticks: ` … ${{{name}}} … `");
            warning_at(CODE, at, format!("`${{{name}}}` stays as it is in double quotes"), help)
        }
        None => {
            let help =
                format!("write the text in double quotes, `${{\"{part}\"}}` in place of it, or the character itself");
            warning_at(CODE, at, format!("`{part}` in backticks is a backslash and an `n`"), help)
        }
    };
    texts.map(|text| report(&text.part, &text.at)).collect()
}
