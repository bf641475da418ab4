//! Runs every example of every primitive, and checks the rules of the table.

use super::super::{Pool, Program};
use super::host::TestHost;
use crate::diagnostic::Result;
use crate::guard::{CancelFlag, Guard, Limits};
use crate::primitive_api::{Example, Gives, Need, Primitive};
use crate::primitives::ALL;
use crate::value::{Json, Value};
use std::sync::Arc;

/// The example is the body of a function, or it contains functions, in which case `main` is run.
fn run(example: &Example) -> Result<Json> {
    let body = format!("fn main() {{ {} }}", example.script);
    let text = if example.script.contains("fn main(") { example.script } else { body.as_str() };
    let (program, errors) = Program::compile(&[("example.rhai", text)]);
    if let Some(error) = errors.into_iter().next() {
        return Err(Box::new(error));
    }
    let guard = Guard::new(Limits::default(), CancelFlag::default());
    let host = Arc::new(TestHost::new(example.files));
    program.run("example.rhai", "main", Vec::new(), host, guard).map(|value: Value| value.to_json())
}

fn wrong(primitive: &Primitive, example: &Example) -> Option<String> {
    let reported = |what: String| Some(format!("`{}`: {}\n    {what}", primitive.name, example.script));
    match (&example.gives, run(example)) {
        (Gives::Json(json), Ok(value)) => match serde_json::from_str::<Json>(json) {
            Ok(expected) if expected == value => None,
            Ok(expected) => reported(format!("returns {value}, not {expected}")),
            Err(error) => reported(format!("`{json}` is not JSON: {error}")),
        },
        (Gives::Error(part), Err(error)) if error.message.contains(part) => None,
        (Gives::Error(part), Err(error)) => reported(format!("fails with `{error}`, which has no `{part}`")),
        (Gives::Json(_), Err(error)) => reported(format!("fails: {error}")),
        (Gives::Error(part), Ok(value)) => reported(format!("returns {value}, and no error with `{part}`")),
    }
}

//= docs/spec.md#primitives
//= type=test
//# Every primitive MUST have an example, and every example MUST pass as a test.
#[test]
fn examples_of_primitives() {
    let wrong = Pool::new().run(|| {
        let examples = ALL.iter().flat_map(|primitive| primitive.examples.iter().map(move |it| (primitive, it)));
        examples.filter_map(|(primitive, example)| wrong(primitive, example)).collect::<Vec<_>>()
    });
    let wrong = wrong.expect("no panic");
    assert!(wrong.is_empty(), "{} examples are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn required_parameters_come_first_and_options_last() {
    for primitive in ALL {
        let needs: Vec<u8> = primitive.params.iter().map(|param| param.need as u8).collect();
        let order = [Need::Required, Need::Optional, Need::Option].map(|need| need as u8);
        assert!(order.is_sorted() && needs.is_sorted(), "the parameters of `{}` are out of order", primitive.name);
    }
}

#[test]
fn each_primitive_can_be_called_with_each_of_its_arities() {
    for primitive in ALL {
        let known = super::super::known_arities(primitive.name);
        assert!(primitive.arities().all(|arity| known.contains(&arity)), "{}: {known:?}", primitive.name);
    }
}
