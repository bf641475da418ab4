//! Stand-in until the room is built.
#![allow(missing_docs, reason = "stand-in")]
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::graph::Functions;
use crate::guard::Guard;
use crate::primitive::Host;
use crate::source::{Place, Source};
use crate::value::Value;
use std::sync::Arc;
#[derive(Clone, Default)]
pub struct Program {}
pub struct FunctionName { pub name: String, pub arity: usize, pub at: Place }
impl Program {
    pub fn compile_sources(_scripts: &[Arc<Source>]) -> (Self, Vec<Diagnostic>) { (Self {}, Vec::new()) }
    pub fn run(&self, _script: &str, _function: &str, _arguments: Vec<Value>, _host: Arc<dyn Host>, _guard: Arc<Guard>) -> Result<Value> {
        Err(Diagnostic::new(Code::INTERNAL, "no scripts yet"))
    }
    pub fn within<T>(&self, _script: &str, _host: Arc<dyn Host>, _guard: Arc<Guard>, job: impl FnOnce() -> Result<T>) -> Result<T> { job() }
    pub fn functions_of(&self, _script: &str) -> Arc<dyn Functions> { unreachable!() }
    pub fn functions(&self, _script: &str) -> Vec<FunctionName> { Vec::new() }
}
pub struct Pool {}
impl Pool {
    pub fn new() -> Self { Self {} }
    pub fn submit<T>(&self, job: impl FnOnce() -> T + Send + 'static, done: impl FnOnce(Result<T>) + Send + 'static) { done(Ok(job())) }
    pub fn run<T: Send + 'static>(&self, job: impl FnOnce() -> T + Send + 'static) -> Result<T> { Ok(job()) }
}
