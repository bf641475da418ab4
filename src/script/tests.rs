//! Tests of scripts as a whole.

mod edges;
mod examples;
mod errors;
mod host;
mod numbers;
mod speed;
mod stoppable;
mod stops;
mod surveys;
mod threads;

use super::{Pool, Program};
use crate::diagnostic::Result;
use crate::guard::{CancelFlag, Guard, Limits};
use crate::value::{Json, Value};
use host::TestHost;
use std::sync::Arc;

/// Runs `main` of one script on a script thread.
fn run(text: &str) -> Result<Json> {
    run_files(&[("a.rhai", text)], Limits::default())
}

/// Runs `main` of the first file on a script thread.
fn run_files(files: &[(&str, &str)], limits: Limits) -> Result<Json> {
    let (program, errors) = Program::compile(files);
    assert!(errors.is_empty(), "{errors:#?}");
    let script = files[0].0.to_owned();
    Pool::new().run(move || {
        let guard = Guard::new(limits, CancelFlag::default());
        let result = program.run(&script, "main", Vec::new(), Arc::new(TestHost::new(&[])), guard);
        result.map(|value| value.to_json())
    })?
}

/// The message of the error with which `main` ends.
fn error(text: &str) -> String {
    match run(text) {
        Ok(value) => panic!("no error, but {value}: {text}"),
        Err(error) => error.to_string(),
    }
}

fn value(expression: &str) -> Json {
    run(&format!("fn main() {{ {expression} }}")).unwrap_or_else(|error| panic!("{expression}: {error}"))
}

#[test]
fn a_function_runs() {
    let (program, _) = Program::compile(&[("a.rhai", "fn add(a, b) { a + b }")]);
    let guard = Guard::new(Limits::default(), CancelFlag::default());
    let host = Arc::new(TestHost::new(&[]));
    let result = program.run("a.rhai", "add", vec![1_i64.into(), 2_i64.into()], host, guard);
    assert_eq!(result, Ok(Value::Integer(3)));
}

#[test]
fn scripts_are_compiled_at_load_only() {
    let compiled = || super::compile::COMPILED.with(std::cell::Cell::get);
    let before = compiled();
    let files = [("a.rhai", "fn main() { [1, 2].map(|x| twice(x)) }"), ("lib.rhai", "fn twice(x) { x * 2 }")];
    let (program, errors) = Program::compile(&files);
    assert!(errors.is_empty(), "{errors:#?}");
    assert_eq!(compiled() - before, 2);
    for _ in 0..20 {
        let guard = Guard::new(Limits::default(), CancelFlag::default());
        let result = program.run("a.rhai", "main", Vec::new(), Arc::new(TestHost::new(&[])), guard);
        assert_eq!(result.map(|value| value.to_json()), Ok(serde_json::json!([2, 4])));
    }
    assert_eq!(compiled() - before, 2, "a call compiles nothing");
}
