//! Finds what can be mutated in a file of Rust: one `Mutation` for each change that a test should notice.

use std::ops::Range;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{BinOp, Expr, ReturnType, Stmt, Type, UnOp};

/// A piece of the text that takes the place of a mutated one.
#[derive(Clone)]
pub enum Piece {
    /// Written as it is; `@` stands for the question whether the mutation is switched on.
    Text(String),
    /// A part of the original file, in which other mutations may lie.
    Original(Range<usize>),
}

/// One change of one place, guarded by a switch, so that many stand in one binary.
#[derive(Clone)]
pub struct Mutation {
    /// What the pieces replace, in bytes of the original file; empty if they are only inserted.
    pub place: Range<usize>,
    /// The guarded text: it does what the original does while the switch is off.
    pub pieces: Vec<Piece>,
    /// The change as a person reads it.
    pub reported: String,
    /// The name of the function around it.
    pub function: String,
}

/// All mutations of a file; its tests, constants, patterns and macros are left alone.
pub fn mutations(source: &str) -> syn::Result<Vec<Mutation>> {
    let file = syn::parse_file(source)?;
    let mut sites = Sites { source, functions: Vec::new(), found: Vec::new() };
    sites.visit_file(&file);
    Ok(sites.found)
}

struct Sites<'a> {
    source: &'a str,
    functions: Vec<String>,
    found: Vec<Mutation>,
}

impl Sites<'_> {
    fn text(&self, place: Range<usize>) -> &str {
        self.source.get(place).unwrap_or_default()
    }

    fn push(&mut self, place: Range<usize>, pieces: Vec<Piece>, reported: String) {
        let Some(function) = self.functions.last().cloned() else { return };
        self.found.push(Mutation { place, pieces, reported, function });
    }

    /// The expression, or while the switch is on another text in its place.
    fn either(&mut self, whole: Range<usize>, mut changed: Vec<Piece>, reported: String) {
        let mut pieces = vec![text("(if @ { ")];
        pieces.append(&mut changed);
        pieces.extend([text(" } else { "), Piece::Original(whole.clone()), text(" })")]);
        self.push(whole, pieces, reported);
    }

    fn binary(&mut self, node: &syn::ExprBinary) {
        if holds_let(&node.left) || holds_let(&node.right) {
            return;
        }
        let (left, right) = (node.left.span().byte_range(), node.right.span().byte_range());
        for other in others(&node.op, is_text(&node.left) || is_text(&node.right)) {
            let reported = format!("`{}` → `{other}`", self.text(node.op.span().byte_range()));
            let changed = if other.ends_with('=') && !matches!(*other, "==" | "!=" | "<=" | ">=") {
                vec![Piece::Original(left.clone()), text(&format!(" {other} ")), Piece::Original(right.clone())]
            } else {
                vec![
                    text("("),
                    Piece::Original(left.clone()),
                    text(&format!(") {other} (")),
                    Piece::Original(right.clone()),
                    text(")"),
                ]
            };
            self.either(node.span().byte_range(), changed, reported);
        }
    }

    fn condition(&mut self, condition: &Expr, reported: &str) {
        if holds_let(condition) {
            return;
        }
        let place = condition.span().byte_range();
        self.push(place.clone(), vec![text("(("), Piece::Original(place), text(") ^ @)")], reported.to_owned());
    }

    fn function(&mut self, signature: &syn::Signature, block: &syn::Block, attributes: &[syn::Attribute]) {
        if signature.constness.is_some() || left_alone(attributes) {
            return;
        }
        self.functions.push(signature.ident.to_string());
        let start = block.brace_token.span.open().byte_range().end;
        if !block.stmts.is_empty() {
            for value in returned(&signature.output) {
                let reported =
                    format!("`{}` returns `{value}` at once", signature.ident).replace(" returns `` at", " returns at");
                self.push(start..start, vec![text(&format!(" if @ {{ return {value}; }}"))], reported);
            }
        }
        self.visit_block(block);
        self.functions.pop();
    }
}

impl<'ast> Visit<'ast> for Sites<'_> {
    fn visit_item_fn(&mut self, node: &'ast syn::ItemFn) {
        self.function(&node.sig, &node.block, &node.attrs);
    }

    fn visit_impl_item_fn(&mut self, node: &'ast syn::ImplItemFn) {
        self.function(&node.sig, &node.block, &node.attrs);
    }

    fn visit_trait_item_fn(&mut self, node: &'ast syn::TraitItemFn) {
        if let Some(block) = &node.default {
            self.function(&node.sig, block, &node.attrs);
        }
    }

    fn visit_item_impl(&mut self, node: &'ast syn::ItemImpl) {
        // What `{:?}` shows is for developers; no behaviour rests on it.
        let debug = node
            .trait_
            .as_ref()
            .is_some_and(|(_, path, _)| path.segments.last().is_some_and(|last| last.ident == "Debug"));
        if !left_alone(&node.attrs) && !debug {
            visit::visit_item_impl(self, node);
        }
    }

    fn visit_item_mod(&mut self, node: &'ast syn::ItemMod) {
        if !left_alone(&node.attrs) {
            visit::visit_item_mod(self, node);
        }
    }

    // None of these can ask a switch when it is evaluated.
    fn visit_item_const(&mut self, _: &'ast syn::ItemConst) {}
    fn visit_item_static(&mut self, _: &'ast syn::ItemStatic) {}
    fn visit_impl_item_const(&mut self, _: &'ast syn::ImplItemConst) {}
    fn visit_trait_item_const(&mut self, _: &'ast syn::TraitItemConst) {}
    fn visit_expr_const(&mut self, _: &'ast syn::ExprConst) {}
    fn visit_expr_repeat(&mut self, _: &'ast syn::ExprRepeat) {}
    fn visit_type(&mut self, _: &'ast Type) {}
    fn visit_pat(&mut self, _: &'ast syn::Pat) {}
    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}

    fn visit_expr_binary(&mut self, node: &'ast syn::ExprBinary) {
        self.binary(node);
        visit::visit_expr_binary(self, node);
    }

    fn visit_expr_unary(&mut self, node: &'ast syn::ExprUnary) {
        if matches!(node.op, UnOp::Not(_)) {
            let inner = node.expr.span().byte_range();
            self.either(node.span().byte_range(), vec![Piece::Original(inner)], "`!` taken away".to_owned());
        }
        visit::visit_expr_unary(self, node);
    }

    fn visit_expr_if(&mut self, node: &'ast syn::ExprIf) {
        self.condition(&node.cond, "the condition of `if` negated");
        visit::visit_expr_if(self, node);
    }

    fn visit_arm(&mut self, node: &'ast syn::Arm) {
        if let Some((_, guard)) = &node.guard {
            self.condition(guard, "the guard of a `match` arm negated");
        }
        visit::visit_arm(self, node);
    }

    fn visit_stmt(&mut self, node: &'ast Stmt) {
        if let Stmt::Expr(expression, Some(_)) = node
            && is_done_for_its_effect(expression)
        {
            let (whole, inner) = (node.span().byte_range(), expression.span().byte_range());
            let pieces = vec![text("if !@ { "), Piece::Original(inner), text("; }")];
            self.push(whole, pieces, "the statement taken away".to_owned());
        }
        visit::visit_stmt(self, node);
    }
}

fn text(words: &str) -> Piece {
    Piece::Text(words.to_owned())
}

/// What could stand in the place of an operator. Of the additions, those of texts have no counterpart.
fn others(operator: &BinOp, of_texts: bool) -> &'static [&'static str] {
    match operator {
        BinOp::Lt(_) => &["<=", ">="],
        BinOp::Le(_) => &["<", ">"],
        BinOp::Gt(_) => &[">=", "<="],
        BinOp::Ge(_) => &[">", "<"],
        BinOp::Eq(_) => &["!="],
        BinOp::Ne(_) => &["=="],
        BinOp::And(_) => &["||"],
        BinOp::Or(_) => &["&&"],
        BinOp::Add(_) if !of_texts => &["-"],
        BinOp::Sub(_) => &["+"],
        BinOp::Mul(_) => &["+"],
        BinOp::Div(_) => &["*"],
        BinOp::Rem(_) => &["/"],
        BinOp::AddAssign(_) if !of_texts => &["-="],
        BinOp::SubAssign(_) => &["+="],
        BinOp::MulAssign(_) => &["+="],
        BinOp::BitAnd(_) => &["|"],
        BinOp::BitOr(_) => &["&"],
        _ => &[],
    }
}

fn is_text(expression: &Expr) -> bool {
    match expression {
        Expr::Lit(literal) => matches!(literal.lit, syn::Lit::Str(_)),
        Expr::Reference(_) | Expr::Macro(_) => true,
        _ => false,
    }
}

/// A chain with `let` is no boolean expression: it can be neither negated nor put in parentheses.
fn holds_let(expression: &Expr) -> bool {
    match expression {
        Expr::Let(_) => true,
        Expr::Binary(node) => holds_let(&node.left) || holds_let(&node.right),
        _ => false,
    }
}

fn is_done_for_its_effect(expression: &Expr) -> bool {
    match expression {
        Expr::Call(_) | Expr::MethodCall(_) | Expr::Assign(_) => true,
        Expr::Try(node) => is_done_for_its_effect(&node.expr),
        Expr::Await(node) => is_done_for_its_effect(&node.base),
        _ => false,
    }
}

/// Code under `#[test]` or `#[cfg(…)]` is a test, or may not be compiled here at all.
fn left_alone(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| attribute.path().is_ident("test") || attribute.path().is_ident("cfg"))
}

/// Values that a function of this type can return without doing its work.
fn returned(output: &ReturnType) -> Vec<String> {
    match output {
        ReturnType::Default => vec![String::new()],
        ReturnType::Type(_, of) => values(of),
    }
}

fn values(of: &Type) -> Vec<String> {
    let strings = |all: &[&str]| all.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>();
    match of {
        Type::Tuple(tuple) if tuple.elems.is_empty() => strings(&["()"]),
        Type::Tuple(tuple) => {
            let parts: Option<Vec<String>> = tuple.elems.iter().map(|part| values(part).into_iter().next()).collect();
            parts.map(|parts| format!("({})", parts.join(", "))).into_iter().collect()
        }
        Type::Reference(reference) => match &*reference.elem {
            Type::Path(path) if path.path.is_ident("str") => strings(&["\"\""]),
            Type::Slice(_) if reference.mutability.is_none() => strings(&["&[]"]),
            _ => Vec::new(),
        },
        Type::Path(path) => {
            let Some(last) = path.path.segments.last() else { return Vec::new() };
            let inner = match &last.arguments {
                syn::PathArguments::AngleBracketed(all) => all.args.iter().find_map(|argument| match argument {
                    syn::GenericArgument::Type(inner) => Some(values(inner)),
                    _ => None,
                }),
                _ => None,
            };
            match last.ident.to_string().as_str() {
                "bool" => strings(&["true", "false"]),
                "u8" | "u16" | "u32" | "u64" | "usize" | "i32" | "i64" | "isize" | "u128" => strings(&["0", "1"]),
                "Option" => strings(&["None"]),
                "Result" => inner.unwrap_or_default().iter().map(|value| format!("Ok({value})")).collect(),
                "Arc" | "Box" | "Self" | "Ordering" => Vec::new(),
                _ => strings(&["Default::default()"]),
            }
        }
        _ => Vec::new(),
    }
}

/// The line of the original at which a place begins, from 1.
pub fn line_of(source: &str, place: usize) -> usize {
    source.get(..place).unwrap_or(source).matches('\n').count() + 1
}
