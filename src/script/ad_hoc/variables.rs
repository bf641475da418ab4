//! The variables of a script: which it declares, which copies it changes and loses, and which a chain of methods would
//! still hold while a function in it reads them.

use super::super::compiled::{Script, is_closure};
use super::places::{Edit, offset_of};
use crate::source::Source;
use rhai::{AST, ASTNode, Expr, Position, Stmt};
use std::collections::BTreeSet;

/// The names of variables and parameters.
pub(super) fn declared_names(ast: &AST) -> BTreeSet<String> {
    // The parameters of a closure include what it captures.
    let functions = ast.iter_functions().filter(|function| !is_closure(function.name));
    let mut names: BTreeSet<String> =
        functions.flat_map(|function| function.params.into_iter().map(str::to_owned)).collect();
    ast.walk(&mut |path: &[ASTNode<'_>]| {
        match path.last() {
            Some(ASTNode::Stmt(Stmt::Var(parts, ..))) => drop(names.insert(parts.0.name.to_string())),
            Some(ASTNode::Stmt(Stmt::For(parts, _))) => {
                names.insert(parts.0.name.to_string());
                names.extend(parts.1.iter().map(|counter| counter.name.to_string()));
            }
            _ => {}
        }
        true
    });
    names
}

/// Whether a script declares a variable whose value is a function.
pub(super) fn is_function_variable(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let before = text[..at].trim_end();
        let is_declared = before.len() < at && ["let", "const", "var"].iter().any(|word| before.ends_with(word));
        let value = text[at + name.len()..].trim_start().strip_prefix('=').map(str::trim_start);
        is_declared && value.is_some_and(|value| value.starts_with('|') || value.starts_with("Fn("))
    })
}

/// The loops that change a copy of each item and do nothing with it: the line and the variable of each.
pub(super) fn changed_copies(script: &Script) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    script.ast.walk(&mut |path: &[ASTNode<'_>]| {
        if let Some(ASTNode::Stmt(Stmt::For(parts, _))) = path.last() {
            let name = parts.0.name.as_str();
            let uses: Vec<UsesOfCopy> = parts.2.body.iter().map(|statement| UsesOfCopy::of(statement, name)).collect();
            let first = uses.iter().position(|uses| uses.changed.is_some());
            let line = first.and_then(|first| uses[first].changed?.line());
            let is_read_later = first.is_some_and(|first| uses[first + 1..].iter().any(|uses| uses.is_read));
            if let (Some(line), false, false) = (line, is_read_later, uses.iter().any(|uses| uses.is_used)) {
                found.push((line, name.to_owned()));
            }
        }
        true
    });
    found
}

/// What a statement does with the variable of a loop.
#[derive(Default)]
struct UsesOfCopy {
    /// Where it changes a property of it.
    changed: Option<Position>,
    /// Whether it reads a property of it.
    is_read: bool,
    /// Whether it uses it as a whole, or reads what it has changed itself.
    is_used: bool,
}

impl UsesOfCopy {
    fn of(statement: &Stmt, name: &str) -> Self {
        let mut uses = Self::default();
        let is_plain = matches!(statement, Stmt::Assignment(..) | Stmt::Expr(..) | Stmt::FnCall(..));
        statement.walk(&mut Vec::new(), &mut |path: &[ASTNode<'_>]| {
            let root = path.last().and_then(changed_place).and_then(root_of).filter(|(root, _)| *root == name);
            uses.changed = uses.changed.or(root.map(|(_, position)| position));
            if let Some(ASTNode::Expr(Expr::Variable(variable, _, position))) = path.last()
                && variable.1.as_str() == name
                && uses.changed != Some(*position)
            {
                uses.is_read = true;
                uses.is_used |= uses_whole(path, name) || uses.changed.is_some() && !is_plain;
            }
            true
        });
        uses
    }
}

/// Whether a node is a variable that is used as a whole, and not for one of its properties.
fn uses_whole(path: &[ASTNode<'_>], name: &str) -> bool {
    let Some(ASTNode::Expr(expression @ Expr::Variable(variable, ..))) = path.last() else { return false };
    let is_root = path.iter().rev().nth(1).is_some_and(|parent| match parent {
        ASTNode::Expr(Expr::Dot(pair, ..) | Expr::Index(pair, ..)) => std::ptr::eq(&pair.lhs, *expression),
        _ => false,
    });
    variable.1.as_str() == name && !is_root
}

/// Methods that change their receiver.
const CHANGING: &[&str] = &[
    "append", "clear", "drain", "extend", "fill", "insert", "mixin", "pop", "push", "remove", "retain", "set", "shift",
    "splice", "truncate",
];

/// What a node changes: the place that it assigns, or the receiver of a method that changes it.
pub(super) fn changed_place<'a>(node: &ASTNode<'a>) -> Option<&'a Expr> {
    match node {
        ASTNode::Stmt(Stmt::Assignment(assignment)) => Some(&assignment.1.lhs),
        ASTNode::Expr(Expr::Dot(pair, ..)) if changes(&pair.rhs) => Some(&pair.lhs),
        ASTNode::Stmt(Stmt::Expr(expression)) => match &**expression {
            Expr::Dot(pair, ..) if changes(&pair.rhs) => Some(&pair.lhs),
            _ => None,
        },
        _ => None,
    }
}

/// Whether a chain ends with a method that changes its receiver.
fn changes(chain: &Expr) -> bool {
    match chain {
        Expr::MethodCall(call, _) => CHANGING.contains(&call.name.as_str()),
        Expr::Dot(pair, ..) | Expr::Index(pair, ..) => changes(&pair.rhs),
        _ => false,
    }
}

/// The variable that a place begins with.
pub(super) fn root_of(place: &Expr) -> Option<(&str, Position)> {
    match place {
        Expr::Variable(name, _, position) => Some((name.1.as_str(), *position)),
        Expr::Dot(pair, ..) | Expr::Index(pair, ..) => root_of(&pair.lhs),
        _ => None,
    }
}

/// Copies in place of the variables at the beginning of chains of methods, one of which gets a function that reads the
/// same variable: rhai holds the variable until the chain ends, and the function fails. The first item of a list of it
/// is a copy that rhai does not hold. A chain that begins with a change of the variable keeps it.
pub(super) fn copies_for_chains(source: &Source, ast: &AST) -> Vec<Edit> {
    let mut copies = Vec::new();
    ast.walk(&mut |path: &[ASTNode<'_>]| {
        if let Some(ASTNode::Expr(Expr::Dot(pair, ..) | Expr::Index(pair, ..))) = path.last()
            && let Expr::Variable(name, _, position) = &pair.lhs
            && !first_method(&pair.rhs).is_some_and(|method| CHANGING.contains(&method))
            && captures(&pair.rhs, name.1.as_str())
            && !path.iter().any(|node| is_assigned(node, *position))
        {
            let start = offset_of(source, *position);
            copies.push((start..start + name.1.len(), format!("[{}][0]", name.1)));
        }
        true
    });
    copies.sort_by_key(|(place, _)| place.start);
    copies.dedup();
    copies
}

/// Whether a statement assigns a place that begins here.
fn is_assigned(node: &ASTNode<'_>, start: Position) -> bool {
    match node {
        ASTNode::Stmt(Stmt::Assignment(assignment)) => {
            root_of(&assignment.1.lhs).is_some_and(|(_, position)| position == start)
        }
        _ => false,
    }
}

fn first_method(chain: &Expr) -> Option<&str> {
    match chain {
        Expr::MethodCall(call, _) => Some(call.name.as_str()),
        Expr::Dot(pair, ..) | Expr::Index(pair, ..) => first_method(&pair.lhs),
        _ => None,
    }
}

/// Whether a function within an expression captures a variable.
fn captures(expression: &Expr, name: &str) -> bool {
    let mut found = false;
    expression.walk(&mut Vec::new(), &mut |path: &[ASTNode<'_>]| {
        if let Some(ASTNode::Stmt(Stmt::Share(shared))) = path.last() {
            found |= shared.iter().any(|(variable, _)| variable.name.as_str() == name);
        }
        !found
    });
    found
}
