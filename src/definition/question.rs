//! `[tool.ask.KEY]` and `required_capabilities`: declared questions, and the capabilities that a client must have.

use super::code;
use super::fields::Fields;
use super::grammar::{Grammar, GrammarKey, ValueShape, optional, required};
use super::located::Located;
use super::reader::{DefinitionReader, Validation};
use super::schema::{Checker, Schema, schema_object};
use crate::diagnostic::Diagnostic;
use crate::primitive_api::{CAPABILITIES, Question, QuestionKind, form};
use crate::source::Place;
use std::sync::Arc;

/// A question that a definition declares: `[tool.ask.KEY]`.
#[derive(Clone, Debug)]
pub struct DeclaredQuestion {
    /// Its key.
    pub key: Located<String>,
    /// The question.
    pub question: Question,
    /// Whether it is asked before the call becomes a task.
    pub before_task: bool,
}

/// Questions of a tool, a resource or a prompt.
pub const ASK: GrammarKey = optional(
    "ask",
    ValueShape::NamedTables(&QUESTION),
    "Questions for the user, asked by `ask(\"KEY\")` in the script.",
);

/// `required_capabilities`.
pub const REQUIRES_CLIENT: GrammarKey = optional(
    "required_capabilities",
    ValueShape::Texts,
    "Capabilities that a client must have to use it: `elicitation`, `elicitation.url`, `sampling`, `sampling.tools`, `sampling.context`, `roots`, or an extension.",
);

/// `[tool.ask.KEY]`.
static QUESTION: Grammar = Grammar {
    name: "[tool.ask.KEY]",
    doc: "A question for the user: a form that the client shows. Resources and prompts can declare questions, too.",
    keys: &[
        required("message", ValueShape::Text, "What the user reads."),
        required(
            "schema",
            ValueShape::Object,
            "The schema of the form: an object of strings, numbers, booleans and choices, optionally with `default`; or only its `properties`.",
        ),
        optional(
            "optional",
            ValueShape::Flag,
            "If true, `ask` returns `()` when the client does not support forms; otherwise the call fails.",
        ),
        optional(
            "before_task",
            ValueShape::Flag,
            "Whether to ask before the call becomes a task instead of during it; only in a tool with `task`.",
        ),
    ],
};

/// Reads the questions that a definition declares. `tasks`: whether its calls may run as tasks.
pub fn read_questions(fields: &Fields<'_>, reader: &mut DefinitionReader, tasks: bool) -> Arc<[DeclaredQuestion]> {
    let mut declared = Vec::new();
    for (key, question) in fields.named_tables("ask", &mut reader.diagnostics) {
        let schema = question.schema("schema").unwrap_or_else(|| Schema::without_properties(&question.header));
        let form = form::complete_schema(&schema.json);
        // An author may write only the properties; locations then have no `/properties`.
        let is_whole = form.get("properties") == schema.json.get("properties");
        let place = |pointer: &str| {
            let within = if is_whole { pointer } else { pointer.strip_prefix("/properties").unwrap_or(pointer) };
            schema.place(within).unwrap_or(&question.header).clone()
        };
        if reader.validation == Validation::Full {
            check_form(&form, &place, reader);
        }
        let wish = QuestionKind::Form { message: question.required("message").value, schema: form };
        let optional = question.flag("optional").unwrap_or(false);
        let before_task = question.flag("before_task").unwrap_or(false);
        if let (true, false, Some(at)) = (before_task, tasks, question.key_place("before_task")) {
            let diagnostic =
                Diagnostic::new(code::WRONG_VALUE, "`before_task` has no effect: the tool never runs as a task");
            reader.diagnostic(diagnostic.at(at.clone()).help("set `task = \"optional\"` or `task = \"required\"`"));
        }
        declared.push(DeclaredQuestion { key, question: Question { kind: wish, optional }, before_task });
    }
    declared.into()
}

//= docs/spec.md#questions
//# A form MUST be sent to the client as written, and MUST be refused before that if elicitation does not
//# allow it.
fn check_form(form: &crate::value::Json, place: &dyn Fn(&str) -> Place, reader: &mut DefinitionReader) {
    let mut flaws = form::find_violations(form);
    if flaws.is_empty() {
        let free = schema_object(form.clone()).map(|mut free| {
            free.shift_remove("required");
            free
        });
        match free.and_then(Checker::new) {
            Ok(checker) => {
                for problem in checker.check(&form::defaults(form)) {
                    let name = problem.pointer.split('/').nth(1).unwrap_or_default();
                    let at = place(&format!("/properties/{name}/default"));
                    let diagnostic =
                        Diagnostic::new(code::FORM, format!("the default does not fit: {}", problem.message));
                    reader.diagnostic(
                        diagnostic.at(at).help(problem.help.unwrap_or_else(|| "a value of the field".to_owned())),
                    );
                }
            }
            Err(diagnostic) => reader.diagnostic(diagnostic.at(place(""))),
        }
    }
    for flaw in flaws.drain(..) {
        let diagnostic = Diagnostic::new(code::FORM, flaw.message).at(place(&flaw.pointer));
        reader.diagnostic(diagnostic.help(flaw.help.unwrap_or_default()));
    }
}

/// Reads the capabilities that a client must have.
pub fn read_requires_client(fields: &Fields<'_>, reader: &mut DefinitionReader) -> Vec<Located<String>> {
    let names = fields.located_texts("required_capabilities");
    for name in &names {
        if !CAPABILITIES.contains(&name.value.as_str()) && !name.value.contains('/') {
            let diagnostic = Diagnostic::new(code::WRONG_VALUE, format!("there is no capability `{}`", name.value));
            let diagnostic = diagnostic.at(name.at.clone());
            reader.diagnostic(diagnostic.help_for(&name.value, CAPABILITIES, &CAPABILITIES.join(", ")));
        }
    }
    names
}
