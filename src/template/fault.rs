//! What handlebars says while it fills a template, in our words and at its place.

use super::Origin;
use crate::diagnostic::{Code, Diagnostic, did_you_mean};
use crate::value::Json;
use handlebars::{RenderError, RenderErrorReason};

/// The fault of filling a template with `context`.
pub fn of(error: &RenderError, origin: Option<&Origin>, context: &Json) -> Box<Diagnostic> {
    let fault = match error.reason() {
        RenderErrorReason::MissingVariable(path) => missing(path.as_deref(), context),
        RenderErrorReason::NestedError(inner) => match inner.downcast_ref::<Diagnostic>() {
            Some(fault) => Box::new(fault.clone()),
            None => Diagnostic::new(Code::TEMPLATE, inner.to_string()),
        },
        RenderErrorReason::ParamNotFoundForIndex(helper, index) => {
            Diagnostic::new(Code::TEMPLATE, format!("`{helper}` lacks its argument {}", index + 1))
        }
        RenderErrorReason::InvalidJsonIndex(index) => {
            Diagnostic::new(Code::TEMPLATE, format!("a list has no `{index}`"))
                .help("its items are `list.[0]`, or `{{#each list}}`")
        }
        RenderErrorReason::PartialNotFound(name) => {
            Diagnostic::new(Code::TEMPLATE, format!("there is no partial `{name}`"))
        }
        other => {
            let message = other.to_string();
            let message = message.lines().next().unwrap_or_default().trim_end_matches('.').to_lowercase();
            Diagnostic::new(Code::TEMPLATE, message)
        }
    };
    match (origin, error.line_no, error.column_no) {
        (Some(origin), Some(line), Some(column)) => fault.at(origin.at(line, column)),
        (Some(origin), ..) => fault.at(origin.place(0, 0)),
        _ => fault,
    }
}

fn missing(path: Option<&str>, context: &Json) -> Box<Diagnostic> {
    let Some(path) = path else { return Diagnostic::new(Code::TEMPLATE, "nothing fills a variable") };
    let fault = Diagnostic::new(Code::TEMPLATE, format!("nothing fills `{path}`"));
    let name = path.rsplit(['.', '/']).next().unwrap_or(path);
    let known: Vec<&str> = context.as_object().into_iter().flatten().map(|(key, _)| key.as_str()).collect();
    match did_you_mean(name, known.iter().copied()) {
        Some(help) => fault.help(help),
        None => fault.help("give it in the context; `()` stands for nothing"),
    }
}
