//! The content of a script as plain data: definitions, calls, reads of arguments. Rules need no knowledge of rhai.

#![allow(missing_docs, reason = "plain fields whose names say it")]

use super::compiled::{Script, is_closure};
use super::lost_values::lost_values;
use crate::source::{Place, Source};
use rhai::{ASTNode, Expr, FnCallExpr, FnPtr, Position, Stmt};
use std::collections::HashSet;
use std::sync::Arc;

/// One script, surveyed by itself before anything is merged, so that every location is in this file.
#[derive(Clone, Debug, PartialEq)]
pub struct ScriptSurvey {
    /// The script.
    pub source: Arc<Source>,
    /// Its named functions, in source order.
    pub functions: Vec<FunctionDefinition>,
    /// Every call in it, except operators.
    pub calls: Vec<CallSite>,
    /// Every property read of a parameter: `args.x`, `args["x"]`, `args?.x`.
    pub reads: Vec<ParameterRead>,
    /// Every assignment to a parameter or to a part of one, which the caller does not see.
    pub assignments: Vec<ParameterAssignment>,
    /// Every closure that uses the variable whose method it is passed to, which rhai refuses at run time.
    pub captures: Vec<ReceiverCapture>,
    /// Every `Fn(…)`.
    pub pointers: Vec<FunctionPointer>,
    /// Every text that is likely to be in the wrong quotes.
    pub misquoted: Vec<MisquotedText>,
    /// Every value at the end of a `catch` block at the end of a function, which rhai drops.
    pub lost_catch_values: Vec<Place>,
}

/// A named function.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionDefinition {
    pub name: String,
    /// The names of its parameters.
    pub parameters: Vec<String>,
    /// Its body, including the braces.
    pub body: Place,
}

/// A call.
#[derive(Clone, Debug, PartialEq)]
pub struct CallSite {
    /// The name that is called.
    pub name: String,
    /// The number of arguments; the receiver of a method counts.
    pub arguments: usize,
    /// Whether it is written as a method call.
    pub method: bool,
    /// Whether it is a statement whose value nothing receives.
    pub is_dropped: bool,
    /// The variable at the start of a method's receiver: `a` in `a.b.push(1)`.
    pub receiver: Option<String>,
    /// The arguments that are literal texts: the index of the argument (the receiver is 0) and the text.
    pub texts: Vec<(usize, String)>,
    /// The literal texts in arguments that are literal lists: the index of the argument, and one of its texts.
    pub listed: Vec<(usize, String)>,
    /// The keys of the arguments that are literal maps: the index of the argument, and one of its keys.
    pub keys: Vec<(usize, String)>,
    /// The arguments that are closures: the index of the argument, and how many parameters the closure has.
    pub closures: Vec<(usize, usize)>,
    /// The place of the name.
    pub at: Place,
    /// The enclosing named function, as an index of [`ScriptSurvey::functions`]. A call in a closure belongs to the
    /// function around the closure.
    pub function: Option<usize>,
}

impl CallSite {
    /// The argument of this index, if it is a literal text; the receiver of a method is 0.
    pub fn text(&self, index: usize) -> Option<&str> {
        self.texts.iter().find(|(at, _)| *at == index).map(|(_, text)| text.as_str())
    }
}

/// A property read of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct ParameterRead {
    /// The parameter.
    pub variable: String,
    pub property: String,
    /// The place of the property.
    pub at: Place,
    /// The enclosing function.
    pub function: usize,
}

/// An assignment to a parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct ParameterAssignment {
    pub parameter: String,
    /// Whether the whole parameter is assigned rather than a part of it, which is harmless.
    pub whole: bool,
    /// The place of the assignment.
    pub at: Place,
    /// The enclosing function.
    pub function: usize,
}

/// A closure that uses the variable whose method it is passed to.
#[derive(Clone, Debug, PartialEq)]
pub struct ReceiverCapture {
    pub variable: String,
    pub method: String,
    /// The place of the method.
    pub at: Place,
}

/// `Fn("name")`.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionPointer {
    /// The name, if it is a literal text.
    pub name: Option<String>,
    /// The place of the pointer.
    pub at: Place,
    /// The enclosing function.
    pub function: Option<usize>,
}

/// A text with `\n` in backticks, or with `${x}` of a variable in double quotes.
#[derive(Clone, Debug, PartialEq)]
pub struct MisquotedText {
    /// What stays as it is written: `\n` or `${x`.
    pub part: String,
    pub text: String,
    /// The function whose argument it is.
    pub argument_of: Option<String>,
    /// The place of the opening quote.
    pub at: Place,
}

impl ScriptSurvey {
    /// The calls in `function`.
    pub fn calls_in(&self, function: usize) -> impl Iterator<Item = &CallSite> {
        self.calls.iter().filter(move |call| call.function == Some(function))
    }

    /// The function with this name.
    pub fn function(&self, name: &str) -> Option<(usize, &FunctionDefinition)> {
        self.functions.iter().enumerate().find(|(_, definition)| definition.name == name)
    }

    /// The names in a function that may refer to functions: called, pointed to, or passed as a text.
    pub(super) fn named_in(&self, function: usize) -> impl Iterator<Item = (&str, &Place, bool)> {
        let calls = self.calls_in(function).flat_map(|call| {
            let texts = call.texts.iter().map(|(_, text)| (text.as_str(), &call.at, false));
            std::iter::once((call.name.as_str(), &call.at, true)).chain(texts)
        });
        let pointers = self.pointers.iter().filter(move |pointer| pointer.function == Some(function));
        calls.chain(pointers.filter_map(|pointer| Some((pointer.name.as_deref()?, &pointer.at, true))))
    }
}

/// Names that rhai generates for closures, and names that are not calls by name.
const NOT_CALLS: &[&str] = &["curry", "Fn", "is_def_var", "is_shared"];

pub(super) fn survey_script(script: &Script) -> ScriptSurvey {
    let lost = lost_values(script);
    let dropped = lost.calls.into_iter().collect();
    let parameters = script.ast.iter_functions().flat_map(|function| function.params);
    let declared = parameters.map(str::to_owned).collect();
    let mut walker = SurveyWalker { script, dropped, declared, survey: list_definitions(script) };
    walker.survey.lost_catch_values = lost.catch_values.into_iter().map(|start| walker.word(start)).collect();
    script.ast.walk(&mut |path: &[ASTNode<'_>]| {
        walker.visit(path);
        true
    });
    let mut survey = walker.survey;
    let declared = walker.declared;
    survey.misquoted.retain(|text| text.part.strip_prefix("${").is_none_or(|name| declared.contains(name)));
    // Rhai visits the functions in no particular order.
    survey.calls.sort_by_key(|call| call.at.span.start);
    survey.reads.sort_by_key(|read| read.at.span.start);
    survey.assignments.sort_by_key(|assignment| assignment.at.span.start);
    survey.captures.sort_by_key(|capture| capture.at.span.start);
    survey.pointers.sort_by_key(|pointer| pointer.at.span.start);
    survey.misquoted.sort_by_key(|text| text.at.span.start);
    survey.lost_catch_values.sort_by_key(|at| at.span.start);
    survey
}

fn list_definitions(script: &Script) -> ScriptSurvey {
    let lib = script.ast.shared_lib();
    let named = script.ast.iter_functions().filter(|function| !is_closure(function.name));
    let mut functions: Vec<FunctionDefinition> = named
        .filter_map(|function| {
            let body = &lib.get_script_fn(function.name, function.params.len())?.body;
            let (start, end) = (offset(script, body.start_position()), offset(script, body.end_position()));
            let parameters = function.params.iter().map(ToString::to_string).collect();
            let body = script.source.place(start..end + 1);
            Some(FunctionDefinition { name: function.name.to_owned(), parameters, body })
        })
        .collect();
    functions.sort_by_key(|function| function.body.span.start);
    ScriptSurvey {
        source: Arc::clone(&script.source),
        functions,
        calls: Vec::new(),
        reads: Vec::new(),
        assignments: Vec::new(),
        captures: Vec::new(),
        pointers: Vec::new(),
        misquoted: Vec::new(),
        lost_catch_values: Vec::new(),
    }
}

fn offset(script: &Script, position: Position) -> usize {
    script.source.offset(position.line().unwrap_or(1), position.position().unwrap_or(1))
}

struct SurveyWalker<'a> {
    script: &'a Script,
    /// Where the calls are whose values nothing receives.
    dropped: HashSet<usize>,
    /// The names of all variables and parameters.
    declared: HashSet<String>,
    survey: ScriptSurvey,
}

impl SurveyWalker<'_> {
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
            ASTNode::Expr(Expr::StringConstant(text, position)) => self.text(text, *position, above),
            ASTNode::Stmt(Stmt::Var(parts, ..)) => _ = self.declared.insert(parts.0.name.to_string()),
            ASTNode::Stmt(Stmt::For(parts, ..)) => _ = self.declared.insert(parts.0.name.to_string()),
            ASTNode::Stmt(Stmt::Assignment(assignment)) => self.assignment(&assignment.1.lhs),
            _ => {}
        }
    }

    fn place(&self, position: Position) -> Place {
        self.word(offset(self.script, position))
    }

    fn word(&self, start: usize) -> Place {
        let rest = &self.script.source.text[start..];
        let word = rest.find(|letter: char| !(letter.is_alphanumeric() || letter == '_')).unwrap_or(rest.len());
        self.script.source.place(start..start + word.max(1))
    }

    fn function_at(&self, at: &Place) -> Option<usize> {
        self.survey.functions.iter().position(|function| function.body.span.contains(&at.span.start))
    }

    /// Records a call. `receiver` is set for a method: the variable at the start of its receiver, if there is one.
    fn call(&mut self, call: &FnCallExpr, position: Position, receiver: Option<Option<&str>>) {
        let at = self.place(position);
        let function = self.function_at(&at);
        if call.name == "Fn" {
            let name = call.args.first().and_then(literal).map(str::to_owned);
            self.survey.pointers.push(FunctionPointer { name, at, function });
        } else if !call.is_operator_call() && !NOT_CALLS.contains(&call.name.as_str()) {
            let first = usize::from(receiver.is_some());
            let arguments = || call.args.iter().enumerate().map(|(index, arg)| (index + first, arg));
            let texts = arguments().filter_map(|(index, arg)| Some((index, literal(arg)?.to_owned()))).collect();
            let listed = arguments().flat_map(|(index, arg)| texts_of(arg).map(move |text| (index, text))).collect();
            let keys = arguments().flat_map(|(index, arg)| keys_of(arg).map(move |key| (index, key))).collect();
            let parameters = |(index, arg)| Some((index, parameters_of_closure(self.script, arg)?));
            let closures = arguments().filter_map(parameters).collect();
            self.survey.calls.push(CallSite {
                name: call.name.to_string(),
                arguments: call.args.len() + first,
                method: receiver.is_some(),
                is_dropped: self.dropped.contains(&at.span.start),
                receiver: receiver.flatten().map(str::to_owned),
                texts,
                listed,
                keys,
                closures,
                at,
                function,
            });
        }
    }

    /// Records a text that is likely to be in the wrong quotes.
    fn text(&mut self, text: &str, position: Position, above: &[ASTNode<'_>]) {
        let start = offset(self.script, position);
        let (is_part, above) = match above.split_last() {
            Some((ASTNode::Expr(Expr::InterpolatedString(..)), above)) => (true, above),
            _ => (false, above),
        };
        let quote = self.script.source.text[start..].chars().next();
        let found = match quote.filter(|_| !is_part) {
            Some('"') => variable_in_braces(text),
            Some('`') | None => text.contains("\\n").then_some("\\n"),
            _ => None,
        };
        let argument_of = match above.last() {
            Some(
                ASTNode::Expr(Expr::FnCall(call, _) | Expr::MethodCall(call, _)) | ASTNode::Stmt(Stmt::FnCall(call, _)),
            ) => Some(call.name.to_string()),
            _ => None,
        };
        if let Some(part) = found {
            let at = self.script.source.place(start..start + 1);
            self.survey.misquoted.push(MisquotedText { part: part.to_owned(), text: text.to_owned(), argument_of, at });
        }
    }

    fn capture(&mut self, call: &FnCallExpr, position: Position, head: Option<&str>) {
        let Some(head) = head else { return };
        if call.args.iter().any(|arg| captures(arg, head)) {
            let (variable, method) = (head.to_owned(), call.name.to_string());
            self.survey.captures.push(ReceiverCapture { variable, method, at: self.place(position) });
        }
    }

    fn read(&mut self, on: &Expr, what: &Expr) {
        let (Some(variable), Some((property, position))) = (variable(on), property(what)) else { return };
        let at = self.place(position);
        let Some(function) = self.function_at(&at) else { return };
        if self.survey.functions[function].parameters.iter().any(|parameter| parameter == variable) {
            let (variable, property) = (variable.to_owned(), property.to_owned());
            self.survey.reads.push(ParameterRead { variable, property, at, function });
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
            self.survey.assignments.push(ParameterAssignment { parameter, whole, at, function });
        }
    }
}

/// The variable at the start of the chain that contains a method.
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

/// The first property of the rest of a chain.
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

/// `${name` in a text, if a name is all that is in the braces, or the start of it: `${name.part}`.
fn variable_in_braces(text: &str) -> Option<&str> {
    let start = text.find("${")?;
    let name = &text[start + 2..];
    let end = name.find(|letter: char| !(letter.is_alphanumeric() || letter == '_'))?;
    name[end..].starts_with(['}', '.', '[', '(']).then(|| &text[start..start + 2 + end])
}

/// How many parameters an argument has that is a closure. One that captures variables is a block, in which rhai puts them
/// before the parameters.
fn parameters_of_closure(script: &Script, argument: &Expr) -> Option<usize> {
    match argument {
        Expr::DynamicConstant(value, _) => {
            let pointer = value.read_lock::<FnPtr>()?;
            let mut functions = script.ast.iter_functions();
            functions.find(|function| function.name == pointer.fn_name()).map(|function| function.params.len())
        }
        Expr::Stmt(block) => block.iter().find_map(|statement| match statement {
            Stmt::Expr(curried) => match &**curried {
                Expr::FnCall(call, _) if call.name == "curry" => {
                    let (closure, captured) = call.args.split_first()?;
                    parameters_of_closure(script, closure)?.checked_sub(captured.len())
                }
                _ => None,
            },
            _ => None,
        }),
        _ => None,
    }
}

/// The texts of a literal list.
fn texts_of(expression: &Expr) -> impl Iterator<Item = String> + '_ {
    let items = match expression {
        Expr::Array(items, _) => items.as_slice(),
        _ => &[],
    };
    items.iter().filter_map(literal).map(str::to_owned)
}

/// The keys of a literal map.
fn keys_of(expression: &Expr) -> impl Iterator<Item = String> + '_ {
    let fields = match expression {
        Expr::Map(map, _) => map.0.as_slice(),
        _ => &[],
    };
    fields.iter().map(|(name, _)| name.name.to_string())
}

/// Whether an argument is a closure that captures a variable. For such a closure rhai first shares the variable, in a
/// block.
fn captures(argument: &Expr, variable: &str) -> bool {
    let Expr::Stmt(block) = argument else { return false };
    block.iter().any(|statement| match statement {
        Stmt::Share(shared) => shared.iter().any(|(name, _)| name.name == variable),
        _ => false,
    })
}
