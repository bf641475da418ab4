//! Finds invalid regular expressions and globs.

use super::rule::{CheckRule, error_at};
use super::subject::Subject;
use crate::diagnostic::{Code, Diagnostic};
use crate::pattern::Pattern;
use crate::primitives;
use crate::world::glob::Globs;

const CODE: Code = Code("broken-pattern");

pub const RULE: CheckRule = CheckRule {
    code: CODE,
    summary: "A script passes an invalid regular expression or glob to a primitive.",
    why: "The call would fail at run time.",
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
        ("tools.d/a.rhai", r##"fn brew(args) { "three minutes".matches("(three") }"##),
    ],
    mended: &[("tools.d/a.rhai", "(three", "(three)")],
};

fn run(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    for call in subject.calls() {
        let Some(primitive) = primitives::find(&call.name) else { continue };
        for (index, text) in &call.texts {
            // The kind of a parameter follows from its name; a test checks that no other names are used for these.
            let read = match primitive.positional().nth(*index).map(|param| param.name) {
                Some("regex") => Pattern::compile_cached(text).map(drop),
                Some("globs") => Globs::new(&[text], ".").map(drop),
                _ => continue,
            };
            diagnostics.extend(
                read.err().map(|diagnostic| {
                    error_at(CODE, &call.at, diagnostic.message, diagnostic.help.unwrap_or_default())
                }),
            );
        }
    }
    diagnostics
}

#[cfg(test)]
mod tests {
    use crate::primitives::ALL;

    #[test]
    fn a_parameter_that_takes_a_pattern_is_named_so() {
        for (primitive, param) in ALL.iter().flat_map(|one| one.positional().map(move |param| (one, param))) {
            let reported = param.doc.to_lowercase();
            let is_regex = reported.starts_with("the regular expression") && param.name != "regex";
            let is_glob = reported.starts_with("globs") && param.name != "globs";
            assert!(!is_regex && !is_glob, "`{}` of `{}`: {}", param.name, primitive.name, param.doc);
        }
        let takes = |name: &str| ALL.iter().filter(|one| one.positional().any(|param| param.name == name)).count();
        assert!(takes("regex") >= 4 && takes("globs") >= 2, "{} {}", takes("regex"), takes("globs"));
    }
}
