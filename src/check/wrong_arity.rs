//! Finds calls with a number of arguments that the function does not take, and closures with a number of parameters that
//! the primitive does not pass.

use super::rule::{CheckRule, error_at};
use super::subject::Subject;
use crate::diagnostic::{Code, Diagnostic, foreign_word};
use crate::primitive_api::Primitive;
use crate::primitives;
use crate::script::known_arities;
use crate::script::survey::CallSite;
use crate::value::Kind;
use std::ops::RangeInclusive;

const CODE: Code = Code("wrong-arity");

pub const RULE: CheckRule = CheckRule {
    code: CODE,
    summary: "A script calls a function with too many or too few arguments, or passes a primitive a closure with too many or too few parameters.",
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
            if !functions.iter().any(|function| function.name == call.name) {
                diagnostics.extend(check_closures(call));
            }
            if takes.is_empty() || takes.contains(&call.arguments) {
                continue;
            }
            takes.sort_unstable();
            takes.dedup();
            let known: Vec<String> = takes.iter().map(usize::to_string).collect();
            let message = format!("`{}` takes {} arguments, got {}", call.name, known.join(" or "), call.arguments);
            let own = functions.iter().find(|function| function.name == call.name);
            let help = match (primitive, own) {
                (Some(primitive), _) => {
                    // A method of another language may have the name of a primitive.
                    let says = foreign_word(&call.name).map_or_else(String::new, |says| format!("; {says}"));
                    format!("use it as `{}`{says}", primitive.signature())
                }
                (None, Some(function)) => format!("use it as `{}({})`", function.name, function.parameters.join(", ")),
                (None, None) => "the receiver of a method counts".to_owned(),
            };
            diagnostics.push(error_at(CODE, &call.at, message, help));
        }
    }
    diagnostics
}

/// A closure of a call that would be called with another number of arguments.
fn check_closures(call: &CallSite) -> Option<Diagnostic> {
    let passed = passed_arguments(&call.name)?;
    let (_, parameters) = call.closures.iter().find(|(_, parameters)| !passed.contains(parameters))?;
    let (least, most) = (passed.start(), passed.end());
    let number = if least == most { least.to_string() } else { format!("{least} or {most}") };
    let message = format!("`{}` passes its function {number} arguments, but this one takes {parameters}", call.name);
    let example = match least {
        0 => "|| …",
        1 => "|item| …",
        _ => "|sum, item| …",
    };
    Some(error_at(CODE, &call.at, message, format!("write it as `{example}`")))
}

/// How many arguments a function passes the closure that it is given, if it is known. Those of rhai add the index.
fn passed_arguments(name: &str) -> Option<RangeInclusive<usize>> {
    match name {
        "all" | "filter" | "find" | "map" | "some" => Some(1..=2),
        "once" => Some(0..=0),
        "reduce" => Some(2..=3),
        _ => primitives::find(name).filter(|primitive| takes_function(primitive)).map(|_| 1..=1),
    }
}

fn takes_function(primitive: &Primitive) -> bool {
    primitive.params.iter().any(|param| param.kinds.contains(&Kind::Function))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_known_how_many_arguments_a_function_is_passed() {
        let names: Vec<&str> = primitives::ALL.iter().filter(|one| takes_function(one)).map(|one| one.name).collect();
        assert_eq!(
            names.join(" "),
            "count_by filter group_by once replace_regex sort sum transaction with_changes with_lock"
        );
    }
}
