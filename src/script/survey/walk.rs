//! Walks the syntax tree of one script.

use super::{Assignment, Call, Capture, Definition, Pointer, Read, Survey};
use crate::script::{Script, is_closure};
use crate::source::Place;
use rhai::{ASTNode, Expr, FnCallExpr, Position, Stmt};
use std::sync::Arc;

/// What rhai makes of closures, and what is no call by name.
const SILENT: &[&str] = &["curry", "Fn", "is_def_var", "is_shared"];

pub(super) fn survey(script: &Script) -> Survey {
    let mut walker = Walker { script, survey: definitions(script) };
    script.ast.walk(&mut |path: &[ASTNode<'_>]| {
        walker.visit(path);
        true
    });
    let mut survey = walker.survey;
    // rhai walks the functions in no order.
    survey.calls.sort_by_key(|call| call.at.span.start);
    survey.reads.sort_by_key(|read| read.at.span.start);
    survey.assignments.sort_by_key(|assignment| assignment.at.span.start);
    survey.captures.sort_by_key(|capture| capture.at.span.start);
    survey.pointers.sort_by_key(|pointer| pointer.at.span.start);
    survey
}

fn definitions(script: &Script) -> Survey {
    let lib = script.ast.shared_lib();
    let named = script.ast.iter_functions().filter(|function| !is_closure(function.name));
    let mut functions: Vec<Definition> = named
        .filter_map(|function| {
            let body = &lib.get_script_fn(function.name, function.params.len())?.body;
            let (start, end) = (offset(script, body.start_position()), offset(script, body.end_position()));
            let parameters = function.params.iter().map(ToString::to_string).collect();
            let body = script.source.place(start..end + 1);
            Some(Definition { name: function.name.to_owned(), parameters, body })
        })
        .collect();
    functions.sort_by_key(|function| function.body.span.start);
    Survey {
        source: Arc::clone(&script.source),
        functions,
        calls: Vec::new(),
        reads: Vec::new(),
        assignments: Vec::new(),
        captures: Vec::new(),
        pointers: Vec::new(),
    }
}

fn offset(script: &Script, position: Position) -> usize {
    script.source.offset(position.line().unwrap_or(1), position.position().unwrap_or(1))
}

struct Walker<'a> {
    script: &'a Script,
    survey: Survey,
}

impl Walker<'_> {
    fn visit(&mut self, path: &[ASTNode<'_>]) {
        let Some((node, above)) = path.split_last() else { return };
        match node {
            ASTNode::Expr(Expr::FnCall(call, position)) | ASTNode::Stmt(Stmt::FnCall(call, position)) => {
                self.call(call, *position, None);
            }
            ASTNode::Expr(Expr::MethodCall(call, position)) => {
                let head = head_of(above);
                self.call(call, *position, Some(head));
                self.capture(call, *position, head);
            }
            ASTNode::Expr(Expr::Dot(pair, ..) | Expr::Index(pair, ..)) => self.read(&pair.lhs, &pair.rhs),
            ASTNode::Stmt(Stmt::Assignment(assignment)) => self.assignment(&assignment.1.lhs),
            _ => {}
        }
    }

    fn place(&self, position: Position) -> Place {
        let start = offset(self.script, position);
        let rest = &self.script.source.text[start..];
        let word = rest.find(|letter: char| !(letter.is_alphanumeric() || letter == '_')).unwrap_or(rest.len());
        self.script.source.place(start..start + word.max(1))
    }

    fn function_at(&self, at: &Place) -> Option<usize> {
        self.survey.functions.iter().position(|function| function.body.span.contains(&at.span.start))
    }

    /// `receiver` is there for a method: the variable at its head, if there is one.
    fn call(&mut self, call: &FnCallExpr, position: Position, receiver: Option<Option<&str>>) {
        let at = self.place(position);
        let function = self.function_at(&at);
        if call.name == "Fn" {
            let name = call.args.first().and_then(literal).map(str::to_owned);
            self.survey.pointers.push(Pointer { name, at, function });
        } else if !call.is_operator_call() && !SILENT.contains(&call.name.as_str()) {
            let first = usize::from(receiver.is_some());
            let texts = call.args.iter().enumerate();
            let texts = texts.filter_map(|(index, arg)| Some((index + first, literal(arg)?.to_owned()))).collect();
            let keys = call.args.iter().enumerate();
            let keys = keys.flat_map(|(index, arg)| keys_of(arg).map(move |key| (index + first, key))).collect();
            self.survey.calls.push(Call {
                name: call.name.to_string(),
                arguments: call.args.len() + first,
                method: receiver.is_some(),
                receiver: receiver.flatten().map(str::to_owned),
                texts,
                keys,
                at,
                function,
            });
        }
    }

    fn capture(&mut self, call: &FnCallExpr, position: Position, head: Option<&str>) {
        let Some(head) = head else { return };
        if call.args.iter().any(|arg| captures(arg, head)) {
            let (variable, method) = (head.to_owned(), call.name.to_string());
            self.survey.captures.push(Capture { variable, method, at: self.place(position) });
        }
    }

    fn read(&mut self, on: &Expr, what: &Expr) {
        let (Some(variable), Some((property, position))) = (variable(on), property(what)) else { return };
        let at = self.place(position);
        let Some(function) = self.function_at(&at) else { return };
        if self.survey.functions[function].parameters.iter().any(|parameter| parameter == variable) {
            let (variable, property) = (variable.to_owned(), property.to_owned());
            self.survey.reads.push(Read { variable, property, at, function });
        }
    }

    fn assignment(&mut self, to: &Expr) {
        let (head, whole) = match to {
            Expr::Dot(pair, ..) | Expr::Index(pair, ..) => (&pair.lhs, false),
            other => (other, true),
        };
        let Some(name) = variable(head) else { return };
        let at = self.place(to.start_position());
        let Some(function) = self.function_at(&at) else { return };
        if self.survey.functions[function].parameters.iter().any(|parameter| parameter == name) {
            let parameter = name.to_owned();
            self.survey.assignments.push(Assignment { parameter, whole, at, function });
        }
    }
}

/// The variable at the head of the chain that a method stands in.
fn head_of<'a>(above: &[ASTNode<'a>]) -> Option<&'a str> {
    let chain = above.iter().rev().map_while(|node| match node {
        ASTNode::Expr(Expr::Dot(pair, ..) | Expr::Index(pair, ..)) => Some(pair),
        _ => None,
    });
    variable(&chain.last()?.lhs)
}

fn variable(expression: &Expr) -> Option<&str> {
    match expression {
        Expr::Variable(name, ..) if name.2.is_empty() => Some(&name.1),
        _ => None,
    }
}

/// The property at the head of the rest of a chain.
fn property(expression: &Expr) -> Option<(&str, Position)> {
    match expression {
        Expr::Property(property, position) => Some((&property.2, *position)),
        Expr::StringConstant(text, position) => Some((text, *position)),
        Expr::Dot(pair, ..) | Expr::Index(pair, ..) => property(&pair.lhs),
        _ => None,
    }
}

fn literal(expression: &Expr) -> Option<&str> {
    match expression {
        Expr::StringConstant(text, _) => Some(text),
        _ => None,
    }
}

/// The keys of a map that is written out.
fn keys_of(expression: &Expr) -> impl Iterator<Item = String> + '_ {
    let fields = match expression {
        Expr::Map(map, _) => map.0.as_slice(),
        _ => &[],
    };
    fields.iter().map(|(name, _)| name.name.to_string())
}

/// Whether an argument is a closure that captures a variable: rhai shares the variable first, in a block.
fn captures(argument: &Expr, variable: &str) -> bool {
    let Expr::Stmt(block) = argument else { return false };
    block.iter().any(|statement| match statement {
        Stmt::Share(shared) => shared.iter().any(|(name, _)| name.name == variable),
        _ => false,
    })
}
