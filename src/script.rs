//! Stand-in until the room is built.
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::graph::Functions;
use crate::primitive::Host;
use crate::source::Source;
use crate::value::Value;
use std::sync::Arc;
/// Stand-in.
#[derive(Clone, Default)]
pub struct Program {}
impl Program {
    /// Stand-in.
    pub fn compile(_scripts: &[Arc<Source>]) -> (Self, Vec<Diagnostic>) {
        (Self {}, Vec::new())
    }
    /// Stand-in.
    pub fn call(&self, _script: &str, _function: &str, _arguments: Vec<Value>, _host: &Arc<dyn Host>) -> Result<Value> {
        Err(Diagnostic::new(Code::INTERNAL, "no scripts yet"))
    }
    /// Stand-in.
    pub fn functions(&self, _script: &str, _host: &Arc<dyn Host>) -> Arc<dyn Functions> {
        unimplemented!()
    }
}
