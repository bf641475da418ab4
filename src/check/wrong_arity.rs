//! Finds calls with a number of arguments that the function does not take.

use super::rule::{CheckRule, error_at};
use super::subject::Subject;
use crate::diagnostic::{Code, Diagnostic};
use crate::primitives;
use crate::script::known_arities;

const CODE: Code = Code("wrong-arity");

/// The rule.
pub const RULE: CheckRule = CheckRule {
    code: CODE,
    summary: "A script calls a function with too many or too few arguments.",
    why: "rhai detects this only at run time, and then reports that there is no such function.",
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
        ("tools.d/a.rhai", r##"fn brew(args) { to_upper("x", 1, 2) }"##),
    ],
    mended: &[(
        "tools.d/a.rhai",
        r##"fn brew(args) { to_upper("x", 1, 2) }"##,
        r##"fn brew(args) { "x".to_upper() }"##,
    )],
};

fn run(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    for survey in subject.program.surveys() {
        let functions = subject.visible_functions(&survey.source.path);
        for call in survey.calls.iter().filter(|call| !matches!(call.name.as_str(), "call" | "curry")) {
            // Called as a method, a function of a script has its receiver in `this`, not among its parameters.
            let receiver = usize::from(call.method);
            let own = functions.iter().filter(|function| function.name == call.name);
            let own = own.map(|function| function.parameters.len() + receiver);
            let mut takes: Vec<usize> = own.chain(known_arities(&call.name)).collect();
            let primitive = primitives::find(&call.name);
            takes.extend(primitive.into_iter().flat_map(|primitive| primitive.arities()));
            if takes.is_empty() || takes.contains(&call.arguments) {
                continue;
            }
            takes.sort_unstable();
            takes.dedup();
            let known: Vec<String> = takes.iter().map(usize::to_string).collect();
            let message = format!("`{}` takes {} arguments, got {}", call.name, known.join(" or "), call.arguments);
            let own = functions.iter().find(|function| function.name == call.name);
            let help = match (primitive, own) {
                (Some(primitive), _) => format!("use it as `{}`", primitive.signature()),
                (None, Some(function)) => format!("use it as `{}({})`", function.name, function.parameters.join(", ")),
                (None, None) => "the receiver of a method counts".to_owned(),
            };
            diagnostics.push(error_at(CODE, &call.at, message, help));
        }
    }
    diagnostics
}
