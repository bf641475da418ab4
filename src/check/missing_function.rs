//! Finds functions that a definition, or a script by a text, names and the script does not have.

use super::rule::{CheckRule, error_at};
use super::subject::Subject;
use crate::definition::NamedFunction;
use crate::diagnostic::{Code, Diagnostic, did_you_mean};
use crate::script::is_shared;

const CODE: Code = Code("missing-function");

pub const RULE: CheckRule = CheckRule {
    code: CODE,
    summary: "A definition, or a call such as `scan_files`, names a function that its script does not have, or that takes other parameters.",
    why: "The call would fail at once.",
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
        ("tools.d/a.rhai", r##"fn brw(args) { 1 }"##),
    ],
    mended: &[("tools.d/a.rhai", "fn brw(args) { 1 }", "fn brew(args) { 1 }")],
};

fn run(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    if !subject.libraries_are_whole() {
        return diagnostics;
    }
    for named in subject.named_functions().into_iter().chain(functions_in_texts(subject)) {
        if !subject.program.scripts().any(|path| path == named.script) {
            continue;
        }
        let shared = subject.program.scripts().filter(|path| is_shared(path));
        let scripts = std::iter::once(named.script).chain(shared);
        let functions: Vec<_> = scripts.flat_map(|path| subject.program.functions(path)).collect();
        let known: Vec<_> = functions.iter().filter(|function| function.name == named.function).collect();
        if known.iter().any(|function| named.parameters.contains(&function.arity)) {
            continue;
        }
        let (message, help) = match known.first() {
            Some(function) => (
                format!("`{}` takes {} parameters", named.function, function.arity),
                format!("it is called as `{}`; it is defined at {}", named.form, function.at),
            ),
            None => {
                let head = named.form.replacen("fn", &format!("fn {}", named.function), 1);
                let near = did_you_mean(named.function, functions.iter().map(|function| function.name.as_str()));
                let near = near.map_or_else(String::new, |near| format!("; {near}"));
                let message = format!("the script has no function `{}`", named.function);
                (message, format!("write `{head} {{ … }}`{near}"))
            }
        };
        diagnostics.push(error_at(CODE, named.at, message, help));
    }
    diagnostics
}

/// The primitives that call a function by its name: which argument names it, how many parameters it has, and its form.
const CALLERS: [(&str, usize, usize, &str); 3] = [
    ("derive_fields", 3, 2, "fn(g, node)"),
    ("derive_values", 2, 1, "fn(g)"),
    ("scan_files", 2, 3, "fn(f, doc, args)"),
];

/// The functions that a script names as literal texts.
fn functions_in_texts<'a>(subject: &Subject<'a>) -> impl Iterator<Item = NamedFunction<'a>> {
    let calls = subject.program.surveys().iter().flat_map(|survey| survey.calls.iter().map(move |call| (survey, call)));
    calls.filter_map(|(survey, call)| {
        let (_, index, arity, form) = CALLERS.iter().find(|(name, ..)| *name == call.name)?;
        let function = call.text(*index)?;
        let script = survey.source.path.as_str();
        Some(NamedFunction { script, function, at: &call.at, parameters: *arity..=*arity, form })
    })
}

#[cfg(test)]
mod tests {
    use super::CALLERS;
    use crate::value::Kind;

    #[test]
    fn every_primitive_that_takes_a_name_of_a_function_is_known() {
        let mut found = Vec::new();
        for primitive in crate::primitives::ALL {
            let named =
                primitive.params.iter().position(|param| param.name == "function" && param.kinds == [Kind::Text]);
            found.extend(named.map(|index| (primitive.name, index)));
        }
        assert_eq!(found, CALLERS.map(|(name, index, ..)| (name, index)));
    }
}
