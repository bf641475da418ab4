//! Rules over a pack as a whole: what can be known to be wrong before anything runs. One rule a file.

mod argument_description;
mod ask_place;
mod broken_pattern;
mod case_target;
mod copied_function;
mod data_race;
mod effect;
mod example_arguments;
mod mend;
mod missing_file;
mod missing_function;
mod missing_grant;
mod name_clash;
mod reserved_argument;
mod resource_hidden;
mod schema_portable;
mod schema_reference;
mod shadowed_primitive;
mod shell_grant;
mod short_description;
mod sound;
mod subject;
mod template_variable;
mod tool_example;
mod tool_name;
mod unknown_argument;
mod unknown_data;
mod unknown_function;
mod unknown_git;
mod unknown_option;
mod unknown_question;
mod unknown_setting;
mod unused_file;
mod wrong_arity;

pub use mend::{Mend, lines_of};
pub use sound::without_broken;
pub use subject::{Subject, read_packs};

use crate::definition::{Body, Located, MessagePart, Operation, Resource, Schema, Tool};
use crate::diagnostic::{Code, Diagnostic};
use crate::primitive::Effect;
use crate::registry::PackParts;
use crate::source::Place;
use crate::value::Json;
use std::collections::HashSet;

/// A rule. From this one declaration come the check, its documentation and its test.
pub struct Rule {
    /// Its stable name.
    pub code: Code,
    /// What it finds, in one sentence with a full stop.
    pub summary: &'static str,
    /// Why that is wrong, in one sentence with a full stop.
    pub why: &'static str,
    /// Everything it finds.
    pub run: fn(&Subject<'_>) -> Vec<Diagnostic>,
    /// The files of a pack in which it finds something: path and text.
    pub fires: &'static [(&'static str, &'static str)],
    /// What mends it: then it finds nothing.
    pub mended: &'static [Mend],
}

/// All rules, sorted by code.
pub const ALL: &[&Rule] = &[
    &argument_description::RULE,
    &ask_place::RULE,
    &broken_pattern::RULE,
    &case_target::RULE,
    &copied_function::RULE,
    &data_race::RULE,
    &effect::RULE,
    &example_arguments::RULE,
    &missing_file::RULE,
    &missing_function::RULE,
    &missing_grant::RULE,
    &name_clash::RULE,
    &reserved_argument::RULE,
    &resource_hidden::RULE,
    &schema_portable::RULE,
    &schema_reference::RULE,
    &shadowed_primitive::RULE,
    &shell_grant::RULE,
    &short_description::RULE,
    &template_variable::RULE,
    &tool_example::RULE,
    &tool_name::RULE,
    &unknown_argument::RULE,
    &unknown_data::RULE,
    &unknown_function::RULE,
    &unknown_git::RULE,
    &unknown_option::RULE,
    &unknown_question::RULE,
    &unknown_setting::RULE,
    &unused_file::RULE,
    &wrong_arity::RULE,
];

/// Everything that the rules find in a pack and that is not told yet, in the order of files and places.
pub fn check(parts: &PackParts) -> Vec<Diagnostic> {
    check_among(parts, &[])
}

/// The same where there are other packs.
pub fn check_among(parts: &PackParts, others: &[&PackParts]) -> Vec<Diagnostic> {
    let subject = Subject::of(parts, others);
    let mut found: Vec<Diagnostic> = Vec::new();
    //= docs/spec.md#diagnostics
    //# All faults of a pack MUST be told by one run of `check`.
    for rule in ALL {
        //= docs/spec.md#diagnostics
        //# Every rule of `check` MUST fire on at least two seeded faults at the place expected.
        for fault in (rule.run)(&subject) {
            let same = |known: &&Diagnostic| {
                known.code == fault.code && known.at == fault.at && known.message == fault.message
            };
            if parts.faults.iter().chain(&found).find(same).is_none() {
                found.push(fault);
            }
        }
    }
    in_order(&mut found);
    found
}

/// Sorts faults by file, place and code; those without a place come first.
pub fn in_order(faults: &mut [Diagnostic]) {
    let key = |fault: &Diagnostic| {
        let place = fault.at.as_ref().map(|at| (at.source.path.clone(), at.span.start));
        (place, fault.code)
    };
    faults.sort_by_cached_key(key);
}

/// A fault of a rule.
fn found(code: Code, at: &Place, message: String, help: impl Into<String>) -> Diagnostic {
    *Diagnostic::new(code, message).at(at.clone()).help(help)
}

/// A warning of a rule.
fn advice(code: Code, at: &Place, message: String, help: impl Into<String>) -> Diagnostic {
    *Diagnostic::new(code, message).warning().at(at.clone()).help(help)
}

/// Every schema of a pack, with a word for what it is of.
fn schemas<'a>(subject: &'a Subject<'_>) -> Vec<(String, &'a Schema)> {
    let definitions = subject.definitions;
    let mut all: Vec<(String, &Schema)> = Vec::new();
    all.extend(definitions.defs.iter().map(|(name, schema)| (format!("`[defs.{}]`", name.value), schema)));
    all.extend(
        definitions.pack.iter().filter_map(|pack| Some(("the configuration".to_owned(), pack.config.as_ref()?))),
    );
    for tool in &definitions.tools {
        all.push((format!("the arguments of `{}`", tool.name.value), &tool.input));
        all.extend(tool.output.iter().map(|schema| (format!("the result of `{}`", tool.name.value), schema)));
    }
    for prompt in &definitions.prompts {
        let of = |name: &Located<String>| format!("the argument `{}` of `{}`", name.value, prompt.name.value);
        all.extend(prompt.arguments.iter().filter_map(|one| Some((of(&one.name), one.schema.as_ref()?))));
    }
    all
}

/// What answers a call of a tool: its body, or the function of one of its operations.
struct Answering<'a> {
    /// The name of the tool, or of the operation.
    name: &'a str,
    /// What it does at most.
    effect: &'a Located<Effect>,
    /// What it does.
    body: &'a Located<Body>,
    /// The schema of its arguments.
    input: &'a Schema,
    /// Constants merged into them.
    with: Vec<&'a Json>,
}

/// All that may answer a call of a tool.
fn answering(tool: &Tool) -> Vec<Answering<'_>> {
    let Some(dispatch) = &tool.dispatch else {
        let Tool { name, effect, body, input, with, .. } = tool;
        return vec![Answering { name: &name.value, effect, body, input, with: vec![with] }];
    };
    let operations = dispatch.operations.iter().map(|operation| {
        let Operation { name, effect, body, input, with, .. } = operation;
        Answering { name: &name.value, effect, body, input, with: vec![&tool.with, with] }
    });
    operations.collect()
}

/// Every function that a definition names.
struct NamedFunction<'a> {
    /// The path of its script.
    script: &'a str,
    /// Its name.
    function: &'a str,
    /// Where it is named.
    at: &'a Place,
    /// How many parameters it may have.
    parameters: std::ops::RangeInclusive<usize>,
    /// What they are, for the help line.
    form: &'static str,
}

/// Every function that a definition names, but the handlers of faults.
fn named_functions<'a>(subject: &'a Subject<'_>) -> Vec<NamedFunction<'a>> {
    let definitions = subject.definitions;
    let mut all = Vec::new();
    for tool in &definitions.tools {
        answering(tool).iter().for_each(|one| of_body(one.body, "fn(args)", &mut all));
        if let (Some(describe), Body::Script { script, .. } | Body::Operations { script }) =
            (&tool.describe, &tool.body.value)
        {
            let (function, at) = (describe.value.as_str(), &describe.at);
            all.push(NamedFunction { script, function, at, parameters: 0..=0, form: "fn()" });
        }
    }
    for resource in &definitions.resources {
        of_body(&resource.body, "fn(variables)", &mut all);
        of_resource(resource, &mut all);
    }
    for prompt in &definitions.prompts {
        let script = prompt.script.as_str();
        if let Some(list) = &prompt.list {
            let (function, at) = (list.value.as_str(), &list.at);
            all.push(NamedFunction { script, function, at, parameters: 0..=0, form: "fn()" });
        }
        let at = &prompt.name.at;
        if let Some((function, script)) = &prompt.context {
            all.push(NamedFunction { script, function, at, parameters: 0..=1, form: "fn(args)" });
        }
        for message in &prompt.messages {
            if let MessagePart::Function(function) = &message.part.value {
                let at = &message.part.at;
                all.push(NamedFunction { script, function, at, parameters: 0..=1, form: "fn(args)" });
            }
        }
        let completions = prompt.arguments.iter().filter_map(|argument| argument.complete.as_ref());
        all.extend(completions.filter_map(|completion| of_completion(script, completion)));
    }
    if let Some((context, script)) = definitions.pack.as_ref().and_then(|pack| pack.context.as_ref()) {
        let (function, at) = (context.value.as_str(), &context.at);
        all.push(NamedFunction { script, function, at, parameters: 0..=0, form: "fn()" });
    }
    for skills in &definitions.skills {
        if let Some(list) = &skills.list {
            let (script, function, at) = (skills.script.as_str(), list.value.as_str(), &list.at);
            all.push(NamedFunction { script, function, at, parameters: 0..=0, form: "fn()" });
        }
    }
    if let Some(graph) = &definitions.graph {
        let (script, at) = (graph.script.value.as_str(), &graph.script.at);
        all.push(NamedFunction { script, function: "build", at, parameters: 1..=2, form: "fn build(g, config)" });
    }
    all
}

fn of_body<'a>(body: &'a Located<Body>, form: &'static str, all: &mut Vec<NamedFunction<'a>>) {
    let at = &body.at;
    match &body.value {
        Body::Script { script, function } => {
            all.push(NamedFunction { script, function, at, parameters: 1..=1, form });
        }
        Body::Template { context: Some((function, script)), .. }
        | Body::Inline { context: Some((function, script)), .. } => {
            all.push(NamedFunction { script, function, at, parameters: 0..=1, form });
        }
        _ => {}
    }
}

fn of_resource<'a>(resource: &'a Resource, all: &mut Vec<NamedFunction<'a>>) {
    let script = resource.script.as_str();
    if let Some(list) = &resource.list {
        let (function, at) = (list.value.as_str(), &list.at);
        all.push(NamedFunction { script, function, at, parameters: 0..=1, form: "fn(with)" });
    }
    all.extend(resource.complete.iter().filter_map(|(_, completion)| of_completion(script, completion)));
}

fn of_completion<'a>(script: &'a str, completion: &'a crate::definition::Completion) -> Option<NamedFunction<'a>> {
    let crate::definition::Completion::Function(function) = completion else { return None };
    let (function, at) = (function.value.as_str(), &function.at);
    Some(NamedFunction { script, function, at, parameters: 0..=2, form: "fn(prefix, args)" })
}

/// The functions of scripts that a script sees: its own, and those of the library.
fn functions_seen<'a>(subject: &'a Subject<'_>, script: &str) -> Vec<&'a crate::script::survey::FunctionDefinition> {
    let seen = subject.program.surveys().iter().filter(|survey| {
        let path = survey.source.path.as_str();
        path == script || path.ends_with("/lib.rhai") || path.ends_with("/graph.rhai")
    });
    seen.flat_map(|survey| &survey.functions).collect()
}

/// Every name that a script can call.
fn callable<'a>(subject: &'a Subject<'_>, script: &str) -> HashSet<&'a str> {
    let mut names: HashSet<&'a str> = HashSet::from(["call", "curry"]);
    names.extend(functions_seen(subject, script).into_iter().map(|function| function.name.as_str()));
    names.extend(crate::primitives::ALL.iter().map(|primitive| -> &'a str { primitive.name }));
    names.extend(crate::script::known_names().map(|name| -> &'a str { name }));
    names
}

/// Every file that a definition names: what it is, its path, where it is named.
fn files_named<'a>(subject: &'a Subject<'_>) -> Vec<(&'static str, &'a str, &'a Place)> {
    let definitions = subject.definitions;
    let mut files: Vec<(&'static str, &str, &Place)> =
        named_functions(subject).into_iter().map(|named| ("script", named.script, named.at)).collect();
    let bodies = definitions.tools.iter().map(|tool| &tool.body);
    for body in bodies.chain(definitions.resources.iter().map(|resource| &resource.body)) {
        match &body.value {
            Body::Template { template, .. } => files.push(("template", template, &body.at)),
            Body::File(path) => files.push(("file", path, &body.at)),
            _ => {}
        }
    }
    for message in definitions.prompts.iter().flat_map(|prompt| &prompt.messages) {
        match &message.part.value {
            MessagePart::Template(path) => files.push(("template", path, &message.part.at)),
            MessagePart::Image { file, .. } => files.push(("picture", file, &message.part.at)),
            _ => {}
        }
    }
    let instructions = definitions.pack.as_ref().and_then(|pack| pack.instructions.as_ref());
    files.extend(instructions.map(|path| ("template", path.value.as_str(), &path.at)));
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(files: &[(&str, &str)]) -> Vec<Diagnostic> {
        let (parts, other) = read_packs(files);
        check_among(&parts, &other.iter().collect::<Vec<_>>())
    }

    #[test]
    fn each_rule_fires_until_it_is_mended() {
        let mut wrong = Vec::new();
        for rule in ALL {
            if !codes(rule.fires).iter().any(|fault| fault.code == rule.code) {
                wrong.push(format!("`{}` does not fire", rule.code));
            }
            for (path, find, _) in rule.mended {
                let times: usize =
                    rule.fires.iter().filter(|file| file.0 == *path).map(|file| file.1.matches(find).count()).sum();
                if times != usize::from(!find.is_empty()) {
                    wrong.push(format!("`{find}` stands {times} times in `{path}` of `{}`", rule.code));
                }
            }
            let mended = rule.mended_files();
            let mended: Vec<(&str, &str)> = mended.iter().map(|(path, text)| (*path, text.as_str())).collect();
            for fault in codes(&mended).iter().filter(|fault| fault.code == rule.code) {
                wrong.push(format!("`{}` is not mended: {fault}", rule.code));
            }
            for files in [rule.fires, &mended] {
                for fault in read_packs(files).0.faults {
                    if fault.code != crate::definition::code::MISSING_KEY {
                        wrong.push(format!("an example of `{}` is broken: {fault}", rule.code));
                    }
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn the_table_is_sorted_and_every_rule_is_explained() {
        let codes: Vec<&str> = ALL.iter().map(|rule| rule.code.0).collect();
        assert!(codes.is_sorted_by(|a, b| a < b), "{codes:?}");
        for rule in ALL {
            assert!(rule.summary.ends_with('.') && rule.why.ends_with('.'), "{}", rule.code);
        }
    }

    #[test]
    fn every_fault_has_a_place_and_a_help() {
        for fault in ALL.iter().flat_map(|rule| codes(rule.fires)) {
            assert!(fault.at.is_some() && fault.help.is_some(), "{fault}");
        }
    }
}
