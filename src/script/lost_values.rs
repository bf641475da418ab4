//! Values that a script computes and loses: results of calls that are statements, and values of `catch` blocks.

use super::compiled::Script;
use crate::source::Source;
use rhai::{AST, ASTNode, Engine, Expr, OptimizationLevel, Position, Stmt, StmtBlock};
use std::sync::Arc;

/// What a script loses, by the offsets in its text.
#[derive(Default)]
pub(super) struct LostValues {
    /// The names of calls whose results nothing receives.
    pub(super) calls: Vec<usize>,
    /// The last statements of `catch` blocks that end a function with a value: rhai makes `()` of it. A block that ends
    /// with a semicolon says that there is no value.
    pub(super) catch_values: Vec<usize>,
}

/// What the functions of a script lose. Rhai does not give out the bodies of functions as lists of statements, so each
/// body is parsed again as a block of its own.
pub(super) fn lost_values(script: &Script) -> LostValues {
    let mut engine = Engine::new_raw();
    engine.set_optimization_level(OptimizationLevel::None);
    let mut lost = LostValues::default();
    for function in script.ast.iter_functions() {
        let definition = script.functions().get_script_fn(function.name, function.params.len());
        let Some(body) = definition.map(|definition| &definition.body) else { continue };
        // The body of a closure that is one expression has no end. Its value is its result.
        let (Some(start), Some(end)) =
            (offset(&script.source, body.start_position()), offset(&script.source, body.end_position()))
        else {
            continue;
        };
        let Some(text) = script.source.text.get(start..=end) else { continue };
        if let Ok(ast) = engine.compile(text) {
            BodyReader { source: Source::new("", text), start, lost: &mut lost }.read(&ast);
        }
    }
    lost
}

/// The names of the calls in statements whose results nothing receives. The last statement is the result of a script.
pub(super) fn dropped_calls(statements: &[Stmt]) -> Vec<Position> {
    let mut dropped = Vec::new();
    if let Some((_, others)) = statements.split_last() {
        drop_all(others, &mut dropped);
    }
    for statement in statements {
        statement.walk(&mut Vec::new(), &mut |path: &[ASTNode<'_>]| {
            path.last().into_iter().for_each(|node| drop_within(node, &mut dropped));
            true
        });
    }
    dropped
}

fn offset(source: &Source, position: Position) -> Option<usize> {
    Some(source.offset(position.line()?, position.position()?))
}

struct BodyReader<'a> {
    /// The body as a text of its own.
    source: Arc<Source>,
    /// Where it starts in the script.
    start: usize,
    lost: &'a mut LostValues,
}

impl BodyReader<'_> {
    fn read(self, ast: &AST) {
        find_catch_values(&self.source, ast.statements(), &mut |position| {
            self.lost.catch_values.extend(offset(&self.source, position).map(|at| at + self.start));
        });
        let dropped = dropped_calls(ast.statements()).into_iter().filter_map(|position| offset(&self.source, position));
        self.lost.calls.extend(dropped.map(|at| at + self.start));
    }
}

/// Collects the calls among the statements right below a node whose values nothing receives.
fn drop_within(node: &ASTNode<'_>, found: &mut Vec<Position>) {
    match node {
        ASTNode::Stmt(Stmt::If(parts, _) | Stmt::TryCatch(parts, _)) => {
            drop_all_but_last(&parts.body, found);
            drop_all_but_last(&parts.branch, found);
        }
        ASTNode::Stmt(Stmt::While(parts, _) | Stmt::Do(parts, ..)) => drop_all(parts.body.statements(), found),
        ASTNode::Stmt(Stmt::For(parts, _)) => drop_all(parts.2.body.statements(), found),
        ASTNode::Stmt(Stmt::Block(block)) | ASTNode::Expr(Expr::Stmt(block)) => drop_all_but_last(block, found),
        _ => {}
    }
}

/// The value of the last statement of a block is that of the block.
fn drop_all_but_last(block: &StmtBlock, found: &mut Vec<Position>) {
    if let Some((_, dropped)) = block.statements().split_last() {
        drop_all(dropped, found);
    }
}

/// Collects the calls among statements whose values nothing receives. All but the last statements of their blocks are
/// visited as nodes.
fn drop_all(statements: &[Stmt], found: &mut Vec<Position>) {
    for statement in statements {
        match statement {
            Stmt::FnCall(call, position) if !call.is_operator_call() => found.push(*position),
            Stmt::Expr(expression) => found.extend(last_call(expression)),
            Stmt::If(parts, _) => {
                drop_all(last_of(&parts.body), found);
                drop_all(last_of(&parts.branch), found);
            }
            Stmt::Block(block) => drop_all(last_of(block), found),
            _ => {}
        }
    }
}

fn last_of(block: &StmtBlock) -> &[Stmt] {
    let statements = block.statements();
    &statements[statements.len().saturating_sub(1)..]
}

/// The call that produces the value of an expression: the last one of a chain.
fn last_call(expression: &Expr) -> Option<Position> {
    match expression {
        Expr::FnCall(call, position) if !call.is_operator_call() => Some(*position),
        Expr::MethodCall(_, position) => Some(*position),
        Expr::Dot(pair, ..) => last_call(&pair.rhs),
        _ => None,
    }
}

fn find_catch_values(source: &Source, body: &[Stmt], found: &mut impl FnMut(Position)) {
    match body.last() {
        Some(Stmt::TryCatch(parts, _)) => {
            let end = offset(source, parts.branch.end_position()).unwrap_or(0);
            if source.text[..end].trim_end().ends_with(';') {
                return;
            }
            match parts.branch.statements().last() {
                Some(Stmt::Expr(value)) => found(value.start_position()),
                Some(Stmt::FnCall(_, position)) => found(*position),
                _ => {}
            }
        }
        Some(Stmt::Block(block)) => find_catch_values(source, block.statements(), found),
        Some(Stmt::If(parts, _)) => {
            find_catch_values(source, parts.body.statements(), found);
            find_catch_values(source, parts.branch.statements(), found);
        }
        _ => {}
    }
}
