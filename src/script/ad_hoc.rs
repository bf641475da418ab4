//! Scripts that come with a call: compiled as they are, run from the top, with the served tools as functions. Their
//! engine is another one than that of packs: language verbs and pure primitives only.

pub mod conversion;
mod idioms;
mod parallel;
mod places;
mod property_reads;
mod spelling;
mod tool_functions;
mod variables;

use super::captured_variables::CapturedVariablesGuard;
use super::compile::{add_variable_hooks, open_comment, script_of};
use super::compiled::{AD_HOC_PATH, CompiledScripts, Script};
use super::convert::{from_value, to_value};
use super::engine::{MAX_CALL_LEVELS, empty_engine_for_callers};
use super::errors::diagnose;
use super::execution::{Execution, at_call_level, call_level, enter};
use super::functions::ScriptFunctions;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard::{self, Guard};
use crate::primitive_api::{Host, ToolAccess};
use crate::source::Source;
use crate::value::Value;
use places::{Edit, edited, offset_before, offset_of};
use property_reads::PropertyReads;
use rhai::{Caches, Engine, Scope, Shared, Stmt};
use spelling::parts::{Part, parts};
use std::sync::Arc;
use tool_functions::ToolNamespace;

/// The maximum size of a script in bytes.
const MAX_SCRIPT_BYTES: usize = 64 << 10;

/// A compiled script of a caller.
pub struct AdHocScript {
    program: Arc<CompiledScripts>,
    scope: Scope<'static>,
    reads: Arc<PropertyReads>,
    /// The script as it came.
    written: Arc<Source>,
    /// The variables in it that were replaced by copies.
    copies: Vec<Edit>,
}

/// What a script returned.
pub struct AdHocOutcome {
    /// The value of its last expression, or of `return`.
    pub value: Value,
    /// What its author should know: properties that no map had, a last line without a value.
    pub notes: Vec<String>,
}

impl AdHocScript {
    /// Compiles a script for a host. `input` is a constant of it.
    ///
    /// # Errors
    /// It is empty, too large, or not a script: all syntax errors, with what to write instead.
    pub fn compile(text: &str, input: Value, host: &dyn Host) -> Result<Self> {
        let text = spelling::normalize(check_text(text)?);
        let mut source = Source::new(AD_HOC_PATH, &*text);
        refuse_large_integers(&source)?;
        let mut engine = empty_engine_for_callers();
        spelling::accept_other_spellings(&mut engine);
        let calls = tool_functions::register(&mut engine);
        parallel::register(&mut engine);
        let mut scope = Scope::new();
        for pack in host.tools().map(|tools| tools.packs()).unwrap_or_default() {
            scope.push_constant(pack.replace('-', "_"), ToolNamespace);
        }
        // A pack of such a name hides neither.
        scope.push_constant_dynamic("input", from_value(input.clone()));
        scope.push_constant("tools", ToolNamespace);
        let compile = |engine: &Engine, source: &Arc<Source>| {
            let compiled = engine.compile_with_scope(&scope, &*source.text);
            compiled.map_err(|error| idioms::describe_syntax_error(source, &error, host))
        };
        let mut ast = compile(&engine, &source)?;
        let written = Arc::clone(&source);
        let copies = variables::copies_for_chains(&source, &ast);
        if !copies.is_empty() {
            source = Source::new(AD_HOC_PATH, &*edited(&written.text, 0..written.text.len(), &copies));
            spelling::accept_other_spellings(&mut engine);
            ast = compile(&engine, &source)?;
        }
        if let Some(error) = open_comment(&engine, &source) {
            return Err(Box::new(error));
        }
        let script = script_of(&source, ast);
        add_variable_hooks(&mut engine, std::slice::from_ref(&script));
        if let Some(tools) = host.tools() {
            refuse_function_variables(&script, tools)?;
            tool_functions::register_named(&mut engine, &script, tools, &calls);
        }
        let reads = Arc::new(PropertyReads::of(&script));
        reads.observe(&input);
        calls.watch(&reads);
        let program = Arc::new(CompiledScripts::new(engine, vec![script], &[source]));
        Ok(Self { program, scope, reads, written, copies })
    }

    /// Runs the script for a host under a guard.
    ///
    /// # Errors
    /// The error that the guard raised, otherwise that of the script.
    pub fn run(&self, host: &Arc<dyn Host>, guard: &Arc<Guard>) -> Result<AdHocOutcome> {
        let _guarded = guard.enter();
        let depth = guard.limits().depth.min(MAX_CALL_LEVELS);
        let captured = CapturedVariablesGuard(Arc::default());
        let program = Arc::clone(&self.program);
        let functions = Arc::new(ScriptFunctions { program: Arc::clone(&program), script: AD_HOC_PATH.to_owned() });
        let execution = Execution { program, host: Arc::clone(host), functions, captured: Arc::clone(&captured.0) };
        let _entered = enter(Arc::new(execution));
        let result = at_call_level(MAX_CALL_LEVELS - depth, || self.evaluate(host.as_ref()));
        let result = match (guard.verdict(), result) {
            (Some(stop), _) => Err(stop),
            (None, result) => result,
        };
        guard::reserve_memory(0)?;
        let value = result.map_err(|error| self.as_written(self.with_misspelt(error)))?;
        let notes = self.notes(&value);
        Ok(AdHocOutcome { value, notes })
    }

    fn evaluate(&self, host: &dyn Host) -> Result<Value> {
        let [script] = self.program.scripts.as_slice() else { return Ok(Value::Null) };
        let engine = &self.program.engine;
        let mut state = engine.new_global_runtime_state();
        state.source = Some(AD_HOC_PATH.into());
        state.lib.push(Shared::clone(script.functions()));
        state.level = call_level();
        let mut scope = self.scope.clone();
        #[allow(deprecated, reason = "the other ways to run statements take a whole AST")]
        let value = engine
            .eval_statements_raw(&mut state, &mut Caches::new(), &mut scope, script.ast.statements())
            .map_err(|error| {
                let error = diagnose(&self.program, *error, Some(AD_HOC_PATH));
                idioms::explain_error(error, script, host, &self.reads)
            })?;
        // A function is not data.
        to_value(&value, None)
    }

    /// The error, at its place in the script as it came.
    fn as_written(&self, mut error: Box<Diagnostic>) -> Box<Diagnostic> {
        if let Some(at) = error.at.as_mut().filter(|at| at.source.path == AD_HOC_PATH && !self.copies.is_empty()) {
            let [start, end] = [at.span.start, at.span.end].map(|offset| offset_before(&self.copies, offset));
            *at = self.written.place(start..end);
        }
        error
    }

    /// The error, with the property that is misspelt on its line: what is read of it is nothing.
    fn with_misspelt(&self, error: Box<Diagnostic>) -> Box<Diagnostic> {
        let is_of_nothing = error.message.contains("()") || error.message.starts_with("`for` takes");
        if error.code != Code::SCRIPT || !is_of_nothing {
            return error;
        }
        let line = error.at.as_ref().map(|at| format!("line {} ", at.line_column().0));
        let note = line.and_then(|line| self.reads.notes().into_iter().find(|note| note.starts_with(&line)));
        match note {
            Some(note) => error.help(note),
            None => error,
        }
    }

    fn notes(&self, value: &Value) -> Vec<String> {
        let [script] = self.program.scripts.as_slice() else { return Vec::new() };
        let mut notes = self.reads.notes();
        notes.extend(idioms::unused::unused(script));
        notes.extend(variables::changed_copies(script).into_iter().map(|(line, name)| {
            format!("line {line} changes `{name}`, a copy of the item, and loses it: write `rows = rows.map(|{name}| {{ …; {name} }})`")
        }));
        match script.ast.statements().last() {
            Some(Stmt::TryCatch(..)) => {
                notes.push("`try` is a statement without a value: assign to a variable inside it".to_owned());
            }
            Some(Stmt::Var(..) | Stmt::For(..) | Stmt::While(..) | Stmt::Assignment(..)) if value.is_null() => {
                notes.push("the last line is a statement without a value: end the script with the result".to_owned());
            }
            _ => {}
        }
        notes
    }
}

/// Refuses to call a tool where a variable of its name has a function: which of them is meant?
fn refuse_function_variables(script: &Script, tools: &dyn ToolAccess) -> Result<()> {
    let text = &script.source.text;
    for (name, position, is_method) in tool_functions::calls_of(script) {
        if !is_method && tools.has(&name) && variables::is_function_variable(text, &name) {
            let at = offset_of(&script.source, position);
            let message = format!("`{name}` is a variable here, and a tool");
            let error = Diagnostic::new(Code("script-syntax"), message).at(script.source.place(at..at + name.len()));
            return Err(error.help(format!("call the function as `{name}.call(…)`, and give it another name")));
        }
    }
    Ok(())
}

/// Refuses an integer that rhai would read as a number with a fraction, and so as another one.
fn refuse_large_integers(source: &Arc<Source>) -> Result<()> {
    let is_of_word = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '.');
    for (_, range) in parts(&source.text).into_iter().filter(|(part, _)| *part == Part::Code) {
        let mut at = range.start;
        for word in source.text[range].split_inclusive(|letter: char| !is_of_word(letter)) {
            let digits = word.trim_end_matches(|letter: char| !is_of_word(letter));
            let is_integer = digits.starts_with(|first: char| first.is_ascii_digit())
                && digits.chars().all(|digit| digit.is_ascii_digit() || digit == '_');
            if is_integer && digits.replace('_', "").parse::<i64>().is_err() {
                let error =
                    Diagnostic::new(Code("script-syntax"), format!("the integer {digits} has more than 64 bits"));
                return Err(error.help("write it as a text").at(source.place(at..at + digits.len())));
            }
            at += word.len();
        }
    }
    Ok(())
}

/// Removes a fence around the whole script, and refuses what is not a script at all.
fn check_text(text: &str) -> Result<&str> {
    let refused = |message: String, help: &str| Err(Diagnostic::new(Code::ARGUMENTS, message).help(help));
    if text.len() > MAX_SCRIPT_BYTES {
        let message = format!("the script has {} kB, the limit is {} kB", text.len() >> 10, MAX_SCRIPT_BYTES >> 10);
        return refused(message, "pass data as `input`, and make it shorter");
    }
    if text.contains('\0') {
        return refused("the script contains a NUL character".to_owned(), "remove it");
    }
    let trimmed = text.trim();
    let inner = trimmed.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    // The first line of a fence may name the language.
    let script = inner.and_then(|inner| inner.split_once('\n')).map_or(text, |(_, script)| script);
    if script.trim().is_empty() {
        return refused("the script is empty".to_owned(), "its last expression is the result");
    }
    Ok(script)
}
