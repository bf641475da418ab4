//! Compiles the scripts of a pack: syntax trees, top levels, and hooks for variables that must be watched at run time.

use super::captured_variables::should_hold;
use super::compiled::{CompiledScripts, Constants, Script};
use super::convert::HandleBox;
use super::engine::empty_engine;
use super::errors::{describe_parse_error, diagnose, error_from_caught_map};
use super::execution::current;
use super::idioms::describe_idiom;
use super::reserved_words::{RESERVED_WORDS, default_function};
use super::unbalanced::describe_unbalanced;
use crate::diagnostic::{Code, Diagnostic, Result, find_merge_conflict, translate_at, translate_keyword};
use crate::guard::{CancelFlag, Guard, Limits};
use crate::source::{Place, Source};
use crate::value::{CaughtError, Value};
use rhai::{
    AST, ASTFlags, ASTNode, Caches, Dynamic, Engine, EvalContext, Expr, ImmutableString, LexError, Map, ParseErrorType,
    Scope, Shared, Stmt,
};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// The maximum number of syntax errors reported for one script.
const MAX_SYNTAX_DIAGNOSTICS: usize = 20;

/// Compiles scripts. Returns everything that could be compiled, and all errors. A script with a syntax error is
/// omitted.
pub(super) fn compile(sources: &[Arc<Source>]) -> (Arc<CompiledScripts>, Vec<Diagnostic>) {
    let mut engine = empty_engine();
    let mut errors = Vec::new();
    let mut scripts: Vec<Script> = sources
        .iter()
        .filter_map(|source| parse_script(&engine, source).map_err(|found| errors.extend(found)).ok())
        .collect();
    scripts.sort_by(|a, b| a.source.path.cmp(&b.source.path));
    add_variable_hooks(&mut engine, &scripts);
    errors.extend(find_shared_names(&scripts));
    // What every script sees comes first, so that the top level of the other scripts can use it.
    let mut seen_by_all = Constants::default();
    for script in scripts.iter_mut().filter(|script| script.shared) {
        engine.register_global_module(Shared::clone(script.functions()));
        match evaluate_top_level(&engine, script, &seen_by_all) {
            Ok(constants) => seen_by_all = constants,
            Err(error) => errors.push(*error),
        }
    }
    for script in &mut scripts {
        script.constants = Shared::clone(&seen_by_all);
        if !script.shared {
            match evaluate_top_level(&engine, script, &seen_by_all) {
                Ok(constants) => script.constants = constants,
                Err(error) => errors.push(*error),
            }
        }
    }
    (Arc::new(CompiledScripts::new(engine, scripts, sources)), errors)
}

#[cfg(test)]
thread_local! {
    /// The number of scripts that were compiled on this thread.
    pub(super) static COMPILED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

fn parse_script(engine: &Engine, source: &Arc<Source>) -> std::result::Result<Script, Vec<Diagnostic>> {
    #[cfg(test)]
    COMPILED.with(|compiled| compiled.set(compiled.get() + 1));
    Ok(script_of(source, parse_all_functions(engine, source)?))
}

/// The script of a syntax tree.
pub(super) fn script_of(source: &Arc<Source>, mut ast: AST) -> Script {
    ast.set_source(source.path.as_str());
    Script::new(Arc::clone(source), ast)
}

/// The error of a script that ends within a comment: rhai accepts it, without the functions that follow.
pub(super) fn open_comment(engine: &Engine, source: &Arc<Source>) -> Option<Diagnostic> {
    let text = &*source.text;
    let start = text.rfind("/*").filter(|_| text.matches("/*").count() > text.matches("*/").count())?;
    // What follows is wrong in a script, and right in a comment.
    engine.compile(format!("{text}\n)")).is_ok().then(|| {
        let error = Diagnostic::new(Code("script-syntax"), "the comment does not end");
        *error.help("end it with `*/`").at(source.place(start..start + 2))
    })
}

/// Parses a script. If it has errors, reports the first error of each function. Rhai stops at the first error, so
/// parsing resumes at the next `fn` at the start of a line, with empty lines in front so that positions stay correct.
fn parse_all_functions(engine: &Engine, source: &Arc<Source>) -> std::result::Result<AST, Vec<Diagnostic>> {
    let mut errors: Vec<Diagnostic> = Vec::new();
    let mut text = source.text.to_string();
    loop {
        let error = match engine.compile(&text) {
            Ok(ast) if errors.is_empty() => match open_comment(engine, source) {
                None => return Ok(ast),
                Some(error) => return Err(vec![error]),
            },
            Ok(_) => return Err(errors),
            Err(error) => error,
        };
        if let Some(conflict) = find_merge_conflict(source, Code("script-syntax")) {
            return Err(vec![conflict]);
        }
        let line = error.1.line().unwrap_or(usize::MAX);
        let start = source.offset(line, error.1.position().unwrap_or(1));
        let mut diagnostic = *describe_parse_error(&error.0).at(source.place(start..start + 1));
        if let Some(word) = reserved_function(&source.text, start) {
            let function = default_function(word, "tool");
            diagnostic.message = format!("a function cannot have the name `{word}`: it is a reserved word");
            diagnostic.help = Some(format!("name it `{function}`, the default function of a tool `{word}`"));
        } else if let Some(help) = explain_syntax(&source.text, start, &error.0, diagnostic.help.as_deref()) {
            diagnostic.help = Some(help);
        }
        errors.push(diagnostic);
        // An unterminated text swallows the rest of the script, so no further errors can be found.
        let open = matches!(*error.0, ParseErrorType::BadInput(LexError::UnterminatedString));
        match (open || errors.len() == MAX_SYNTAX_DIAGNOSTICS, from_next_function(&source.text, line)) {
            (false, Some(rest)) => text = rest,
            _ => return Err(errors),
        }
    }
}

/// The reserved word at an offset, if a function is declared with it as its name.
fn reserved_function(text: &str, at: usize) -> Option<&str> {
    let (before, rest) = text.split_at_checked(at)?;
    let declared = before.trim_end().strip_suffix("fn").filter(|_| before.ends_with(char::is_whitespace))?;
    let end = rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(rest.len());
    let is_word = declared.is_empty() || declared.ends_with(char::is_whitespace);
    Some(&rest[..end]).filter(|word| is_word && RESERVED_WORDS.contains(word))
}

/// The help for a syntax error where the text around it shows what was meant; `help` is that of its kind.
fn explain_syntax(text: &str, start: usize, kind: &ParseErrorType, help: Option<&str>) -> Option<String> {
    let arrow = translate_keyword("=>").filter(|_| is_arrow_function(text, start));
    let translated = || text.get(start..).and_then(translate_at).filter(|_| help.is_none());
    let is_general =
        help.is_none_or(|help| ["declare it", "write a map key"].iter().any(|start| help.starts_with(start)));
    let idiom = || describe_idiom(text, start, kind).filter(|_| is_general);
    arrow.or_else(translated).or_else(idiom).or_else(|| describe_unbalanced(text, start, kind))
}

/// Whether a text has `x => …` or `(x, y) => …` in brackets around an offset: a closure as JavaScript writes it.
fn is_arrow_function(text: &str, at: usize) -> bool {
    let Some((before, rest)) = text.split_at_checked(at) else { return false };
    let is_parameter = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | ',' | ' ');
    let rest = rest.trim_start_matches(is_parameter);
    let is_open = before.trim_end_matches(is_parameter).ends_with('(');
    is_open && rest.strip_prefix(')').unwrap_or(rest).trim_start().starts_with("=>")
}

/// The text starting at the first function that begins after a line.
fn from_next_function(text: &str, line: usize) -> Option<String> {
    let lines: Vec<&str> = text.split('\n').collect();
    let starts = |line: &&str| line.starts_with("fn ") || line.starts_with("private fn ");
    let at = lines.iter().skip(line).position(starts)? + line;
    Some(format!("{}{}", "\n".repeat(at), lines[at..].join("\n")))
}

//= docs/spec.md#scripts
//# A name that two scripts of a pack define, one of which all scripts see, MUST be refused.
/// The errors of names that a script has in common with one that every script sees. Rhai keeps what it found for a name
/// until the call ends, whichever script asked, so that the name would at times lead to the wrong one.
fn find_shared_names(scripts: &[Script]) -> Vec<Diagnostic> {
    let mut seen_by_all: HashMap<(String, Option<usize>), Place> = HashMap::new();
    let mut errors = Vec::new();
    for shared in [true, false] {
        for script in scripts.iter().filter(|script| script.shared == shared) {
            for (name, at) in names_of(script) {
                if let Some(other) = seen_by_all.get(&name) {
                    let message = format!("`{}` is defined here and at {other}, which all scripts see", name.0);
                    errors.push(*Diagnostic::new(Code::SCRIPT, message).help("rename one of the two").at(at));
                } else if shared {
                    seen_by_all.insert(name, at);
                }
            }
        }
    }
    errors
}

/// The functions of a script, each with the number of its parameters, and its constants.
fn names_of(script: &Script) -> impl Iterator<Item = ((String, Option<usize>), Place)> {
    let functions = script.definitions().map(|(name, arity, at)| ((name.to_owned(), Some(arity)), at));
    let constants = script.ast.statements().iter().filter_map(|statement| match statement {
        Stmt::Var(parts, flags, _) if flags.contains(ASTFlags::CONSTANT) => {
            let at = parts.0.pos;
            let start = script.source.offset(at.line().unwrap_or(1), at.position().unwrap_or(1));
            Some(((parts.0.name.to_string(), None), script.source.place(start..start + parts.0.name.len())))
        }
        _ => None,
    });
    functions.chain(constants)
}

/// Runs the top level, which may declare constants. Returns them together with those that were there before.
fn evaluate_top_level(engine: &Engine, script: &Script, before: &Constants) -> Result<Constants> {
    if script.ast.statements().is_empty() {
        return Ok(Shared::clone(before));
    }
    if captures_at_top_level(script) {
        return Err(Diagnostic::new(Code::SCRIPT, "a closure at the top level of the script captures a variable")
            .help("the top level may contain only constants and functions: move it into a function")
            .at(script.source.place(0..1)));
    }
    let limits = Limits { time: Duration::from_secs(1), memory: 64 << 20, ..Limits::default() };
    let guard = Guard::new(limits, CancelFlag::default());
    let _entered = guard.enter();
    let constants = rhai::locked_read(before).map(|constants| constants.clone()).unwrap_or_default();
    let constants: Constants = Shared::new(constants.into());
    let mut state = engine.new_global_runtime_state();
    state.source = Some(script.source.path.as_str().into());
    state.lib.push(Shared::clone(script.functions()));
    state.constants = Some(Shared::clone(&constants));
    #[allow(deprecated, reason = "the other ways to run a top level forget its constants")]
    let evaluated =
        engine.eval_statements_raw(&mut state, &mut Caches::new(), &mut Scope::new(), script.ast.statements());
    let Err(mut error) = evaluated else { return Ok(constants) };
    let position = error.position();
    let start = script.source.offset(position.line().unwrap_or(1), position.position().unwrap_or(1));
    error.clear_position();
    let message = guard.verdict().map_or_else(|| error.to_string(), |stop| stop.message);
    Err(Diagnostic::new(Code::SCRIPT, format!("the top level of the script fails: {message}"))
        .help("the top level may contain only constants and functions")
        .at(script.source.place(start..start + 1)))
}

/// The features of a pack's scripts that need a hook at run time.
#[derive(Default)]
struct VariableHooks {
    /// Whether a closure captures a variable.
    captures: bool,
    /// The names of the variables in which errors are caught.
    caught: Vec<ImmutableString>,
}

/// Adds the hooks that the scripts need to the engine. Packs that neither capture nor catch have no overhead.
pub(super) fn add_variable_hooks(engine: &mut Engine, scripts: &[Script]) {
    let mut hooks = VariableHooks::default();
    for script in scripts {
        script.ast.walk(&mut |path: &[ASTNode<'_>]| {
            match path.last() {
                Some(ASTNode::Stmt(Stmt::Share(_))) => hooks.captures = true,
                Some(ASTNode::Stmt(Stmt::TryCatch(parts, _))) => match &parts.expr {
                    Expr::Variable(name, ..) if !hooks.caught.contains(&name.1) => {
                        hooks.caught.push(name.1.clone());
                    }
                    _ => {}
                },
                _ => {}
            }
            true
        });
    }
    let VariableHooks { captures, caught } = hooks;
    if !captures && caught.is_empty() {
        return;
    }
    #[allow(deprecated, reason = "rhai marks its hooks as unstable, but does not remove them")]
    engine.on_var(move |name, _, mut context| {
        if caught.iter().any(|known| known == name) {
            replace_caught_error(name, &mut context);
        }
        if captures && should_hold() {
            hold_variable(name, &context);
        }
        Ok(None)
    });
}

/// Whether a statement of the top level creates a closure that captures a variable.
fn captures_at_top_level(script: &Script) -> bool {
    let mut captures = false;
    for statement in script.ast.statements() {
        statement.walk(&mut Vec::new(), &mut |path: &[ASTNode<'_>]| {
            captures |= matches!(path.last(), Some(ASTNode::Stmt(Stmt::Share(_))));
            !captures
        });
    }
    captures
}

#[cold]
fn hold_variable(name: &str, context: &EvalContext<'_, '_, '_, '_, '_, '_>) {
    if let (Some(value), Ok(execution)) = (context.scope().get(name), current())
        && value.is_shared()
    {
        execution.captured.hold(value);
    }
}

//= docs/spec.md#scripts
//# A caught error MUST have a kind, a code and a message, whatever raised it.
/// When a script catches one of rhai's own errors, rhai passes it to `catch` as a map with rhai's wording. This
/// replaces the map before the script sees it.
fn replace_caught_error(name: &str, context: &mut EvalContext<'_, '_, '_, '_, '_, '_>) {
    let Some(value) = context.scope_mut().get_mut(name) else { return };
    if value.is_shared() {
        return;
    }
    let (Some(map), Ok(execution)) = (value.read_lock::<Map>(), current()) else { return };
    let Some(error) = error_from_caught_map(&map) else { return };
    let source = map.get("source").and_then(|source| source.clone().into_immutable_string().ok());
    drop(map);
    let error = diagnose(&execution.program, error, source.as_deref());
    if let Value::Handle(handle) = CaughtError::value(error) {
        *value = Dynamic::from(HandleBox(handle));
    }
}
