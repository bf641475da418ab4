//! Runs every example of every primitive, and checks the rules of the table.

use super::super::{Pool, Program};
use super::host::TestHost;
use crate::diagnostic::Result;
use crate::guard::{CancelFlag, Guard, Limits};
use crate::primitive::{Example, Gives, Need, Primitive};
use crate::primitives::ALL;
use crate::value::{Json, Value};
use std::sync::Arc;

/// The example is the body of a function, or it contains functions, in which case `main` is run.
fn run(example: &Example) -> Result<Json> {
    let body = format!("fn main() {{ {} }}", example.script);
    let text = if example.script.contains("fn main(") { example.script } else { body.as_str() };
    let (program, faults) = Program::compile(&[("example.rhai", text)]);
    if let Some(fault) = faults.into_iter().next() {
        return Err(Box::new(fault));
    }
    let guard = Guard::new(Limits::default(), CancelFlag::default());
    let host = Arc::new(TestHost::new(example.files));
    program.run("example.rhai", "main", Vec::new(), host, guard).map(|value: Value| value.to_json())
}

fn wrong(primitive: &Primitive, example: &Example) -> Option<String> {
    let told = |what: String| Some(format!("`{}`: {}\n    {what}", primitive.name, example.script));
    match (&example.gives, run(example)) {
        (Gives::Json(json), Ok(value)) => match serde_json::from_str::<Json>(json) {
            Ok(expected) if expected == value => None,
            Ok(expected) => told(format!("returns {value}, not {expected}")),
            Err(fault) => told(format!("`{json}` is not JSON: {fault}")),
        },
        (Gives::Fault(part), Err(fault)) if fault.message.contains(part) => None,
        (Gives::Fault(part), Err(fault)) => told(format!("fails with `{fault}`, which has no `{part}`")),
        (Gives::Json(_), Err(fault)) => told(format!("fails: {fault}")),
        (Gives::Fault(part), Ok(value)) => told(format!("returns {value}, and no error with `{part}`")),
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
