//! What is wrong with a script that cannot be read: the first fault of each of its functions.

use super::parse_fault;
use crate::diagnostic::Diagnostic;
use crate::source::Source;
use rhai::{AST, Engine, LexError, ParseErrorType};
use std::sync::Arc;

/// More faults than these help nobody.
const MOST: usize = 20;

/// Compiles a script. rhai stops at the first fault; what follows is read again from the next `fn` at the start of a
/// line, with empty lines for what stands before it, so that places stay true.
pub(super) fn compile(engine: &Engine, source: &Arc<Source>) -> Result<AST, Vec<Diagnostic>> {
    let mut faults: Vec<Diagnostic> = Vec::new();
    let mut text = source.text.to_string();
    loop {
        let fault = match engine.compile(&text) {
            Ok(ast) if faults.is_empty() => return Ok(ast),
            Ok(_) => return Err(faults),
            Err(fault) => fault,
        };
        let line = fault.1.line().unwrap_or(usize::MAX);
        let start = source.offset(line, fault.1.position().unwrap_or(1));
        faults.push(*parse_fault(&fault.0).at(source.place(start..start + 1)));
        // An open text reaches over what follows: nothing there can be told.
        let open = matches!(*fault.0, ParseErrorType::BadInput(LexError::UnterminatedString));
        match (open || faults.len() == MOST, rest(&source.text, line)) {
            (false, Some(rest)) => text = rest,
            _ => return Err(faults),
        }
    }
}

/// The text from the first function that begins after a line on.
fn rest(text: &str, line: usize) -> Option<String> {
    let lines: Vec<&str> = text.split('\n').collect();
    let starts = |line: &&str| line.starts_with("fn ") || line.starts_with("private fn ");
    let at = lines.iter().skip(line).position(starts)? + line;
    Some(format!("{}{}", "\n".repeat(at), lines[at..].join("\n")))
}
