//! Lowers `[tool.ask.KEY]` and `requires_client`, with every flaw of a form at its place.

use super::Reading;
use crate::definition::{Care, Checker, Declared, Fields, Located, Schema, code, object};
use crate::diagnostic::{Diagnostic, did_you_mean};
use crate::primitive::{CAPABILITIES, Question, QuestionKind, form};
use crate::source::Place;
use std::sync::Arc;

/// The questions that a definition declares. `tasks` says whether its calls may run as tasks.
pub fn questions(fields: &Fields<'_>, reading: &mut Reading, tasks: bool) -> Arc<[Declared]> {
    let mut declared = Vec::new();
    for (key, question) in fields.named_tables("ask", &mut reading.faults) {
        let schema = question.schema("schema").unwrap_or_else(|| Schema::none(&question.header));
        let form = form::complete_schema(&schema.json);
        // An author may write the properties alone: then they stand where the schema says `properties`.
        let is_whole = form.get("properties") == schema.json.get("properties");
        let place = |pointer: &str| {
            let within = if is_whole { pointer } else { pointer.strip_prefix("/properties").unwrap_or(pointer) };
            schema.place(within).unwrap_or(&question.header).clone()
        };
        if reading.care == Care::Full {
            check(&form, &place, reading);
        }
        let wish = QuestionKind::Form { message: question.needed("message").value, schema: form };
        let optional = question.flag("optional").unwrap_or(false);
        let before_task = question.flag("before_task").unwrap_or(false);
        if let (true, false, Some(at)) = (before_task, tasks, question.key_at("before_task")) {
            let fault = Diagnostic::new(code::WRONG_VALUE, "there is no task that it could come before");
            reading.fault(fault.at(at.clone()).help("give the tool `task = \"optional\"` or `\"required\"`"));
        }
        declared.push(Declared { key, question: Question { kind: wish, optional }, before_task });
    }
    declared.into()
}

//= docs/spec.md#questions
//# A form that elicitation does not allow MUST be refused before the client sees it.
fn check(form: &crate::value::Json, place: &dyn Fn(&str) -> Place, reading: &mut Reading) {
    let mut flaws = form::find_violations(form);
    if flaws.is_empty() {
        let free = object(form.clone()).map(|mut free| {
            free.shift_remove("required");
            free
        });
        match free.and_then(Checker::new) {
            Ok(checker) => {
                for problem in checker.check(&form::defaults(form)) {
                    let name = problem.pointer.split('/').nth(1).unwrap_or_default();
                    let at = place(&format!("/properties/{name}/default"));
                    let fault = Diagnostic::new(code::FORM, format!("the default does not fit: {}", problem.message));
                    reading.fault(fault.at(at).help(problem.help.unwrap_or_else(|| "a value of the field".to_owned())));
                }
            }
            Err(fault) => reading.fault(fault.at(place(""))),
        }
    }
    for flaw in flaws.drain(..) {
        let fault = Diagnostic::new(code::FORM, flaw.message).at(place(&flaw.pointer));
        reading.fault(fault.help(flaw.help.unwrap_or_default()));
    }
}

/// The capabilities that a client must have.
pub fn requires_client(fields: &Fields<'_>, reading: &mut Reading) -> Vec<Located<String>> {
    let names = fields.located_texts("requires_client");
    for name in &names {
        if !CAPABILITIES.contains(&name.value.as_str()) && !name.value.contains('/') {
            let fault = Diagnostic::new(code::WRONG_VALUE, format!("there is no capability `{}`", name.value));
            let help = did_you_mean(&name.value, CAPABILITIES).unwrap_or_else(|| CAPABILITIES.join(", "));
            reading.fault(fault.at(name.at.clone()).help(help));
        }
    }
    names
}
