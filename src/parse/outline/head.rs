//! What the words before an opening brace declare.

use super::Token;

/// A declaration.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Declared<'a> {
    pub(super) is_class: bool,
    pub(super) name: Token<'a>,
    /// The class that the head itself names: `func (r Ring) turn`, `Ring::turn`.
    pub(super) owner: Option<&'a str>,
}

const CLASSES: &[&str] = &["class", "struct", "enum", "interface", "trait", "union", "record", "object", "protocol"];

/// Words before a bracket and a brace that declare nothing.
const STATEMENTS: &[&str] = &[
    "if",
    "for",
    "foreach",
    "while",
    "switch",
    "catch",
    "synchronized",
    "return",
    "match",
    "loop",
    "with",
    "using",
    "lock",
    "when",
    "select",
    "do",
    "else",
    "new",
    "await",
    "sizeof",
    "typeof",
    "super",
    "this",
    "fixed",
    "guard",
];

/// What a head declares. `bare` tells whether a function may be declared there without a word for it, as in C and in
/// classes: what stands between brackets in the head was left out, the brackets are there.
pub(super) fn declared<'a>(head: &[Token<'a>], receiver: Option<&'a str>, bare: bool) -> Option<Declared<'a>> {
    // Parameters of types may have `=` too, and stand between a name and its bracket.
    let outer = without_angles(head);
    let assigned = outer.iter().position(|token| token.text == "=");
    function(head, receiver).or_else(|| match assigned {
        Some(at) => assigned_function(&outer, at),
        None => class(head).or_else(|| if bare { bare_function(&outer) } else { None }),
    })
}

fn is_name(token: &Token<'_>) -> bool {
    token.text.starts_with(|sign: char| sign.is_alphabetic() || matches!(sign, '_' | '$'))
}

/// `fn name`, `function name`, `function* name`, `fun name`, `func name`, `func (r Ring) name`.
fn function<'a>(head: &[Token<'a>], receiver: Option<&'a str>) -> Option<Declared<'a>> {
    let at = head.iter().position(|token| matches!(token.text, "fn" | "function" | "func" | "fun"))?;
    let mut rest = head[at + 1..].iter().skip_while(|token| token.text == "*");
    let first = rest.next()?;
    let plain = |name: Token<'a>| Declared { is_class: false, name, owner: None };
    if is_name(first) {
        return Some(plain(*first));
    }
    let name = rest.nth(usize::from(first.text == "(")).filter(|name| is_name(name));
    let name = name.filter(|_| head[at].text == "func" && first.text == "(")?;
    Some(Declared { owner: receiver, ..plain(*name) })
}

/// `class Name`, `enum class Name`, `impl Trait for Name`, `type Name struct`.
fn class<'a>(head: &[Token<'a>]) -> Option<Declared<'a>> {
    let class = |name: &Token<'a>| Declared { is_class: true, name: *name, owner: None };
    if let Some(at) = head.iter().position(|token| token.text == "impl") {
        let outer = without_angles(&head[at + 1..]);
        let outer = outer.split(|token| token.text == "where").next().unwrap_or_default();
        let of = outer.rsplit(|token| token.text == "for").next().unwrap_or_default();
        // Of a path the last name counts.
        return of.iter().rfind(|token| is_name(token)).map(class);
    }
    let at = head.iter().position(|token| CLASSES.contains(&token.text))?;
    let follows = head[at + 1..].iter().find(|token| !CLASSES.contains(&token.text)).filter(|token| is_name(token));
    match (at.checked_sub(2).map(|at| head[at].text), follows) {
        (Some("type"), _) => Some(class(&head[at - 1])),
        // `struct ring *turn(…) {` is a function of C, `class A(…) : B() {` a class of Kotlin.
        (_, Some(name)) if head[at].text != "struct" || !head.iter().any(|token| token.text == "(") => {
            Some(class(name))
        }
        _ => None,
    }
}

/// The words outside of `<…>`.
fn without_angles<'a>(words: &[Token<'a>]) -> Vec<Token<'a>> {
    let mut depth = 0_usize;
    let mut outer = Vec::with_capacity(words.len());
    for word in words {
        match word.text {
            "<" => depth += 1,
            ">" => depth = depth.saturating_sub(1),
            _ if depth == 0 => outer.push(*word),
            _ => {}
        }
    }
    outer
}

/// `name = (…) => {`, `name = function (…) {`, `const name: Type = async x => {`.
fn assigned_function<'a>(head: &[Token<'a>], at: usize) -> Option<Declared<'a>> {
    let is_function = head.last()?.text == "=>" || head[at + 1..].iter().any(|token| token.text == "function");
    let before = head[..at].split(|token| token.text == ":").next()?;
    let name = before.last().filter(|name| is_function && is_name(name))?;
    Some(Declared { is_class: false, name: *name, owner: None })
}

/// `int name(…) {`, `name(…): Type {`, `Ring::turn(…) const {`: the name before the first bracket, annotations apart.
fn bare_function<'a>(head: &[Token<'a>]) -> Option<Declared<'a>> {
    let mut from = 0;
    loop {
        let bracket = from + head[from..].iter().position(|token| token.text == "(")?;
        let name = head[..bracket].last().filter(|name| is_name(name) && !STATEMENTS.contains(&name.text))?;
        if is_annotation(&head[from..bracket]) {
            from = bracket + 1;
            continue;
        }
        let owner = match &head[..bracket - 1] {
            [.., owner, colons] if colons.text == "::" && is_name(owner) => Some(owner.text),
            _ => None,
        };
        return Some(Declared { is_class: false, name: *name, owner });
    }
}

/// Whether the words end with `@Name`, or `@a.b.Name`.
fn is_annotation(words: &[Token<'_>]) -> bool {
    let path = words.iter().rev().skip_while(|token| is_name(token) || token.text == ".");
    let length = words.iter().rev().take_while(|token| is_name(token) || token.text == ".").count();
    // `@Test void run(` ends with two names that no dot joins: that is no annotation.
    let joined = words[words.len() - length..].windows(2).all(|pair| is_name(&pair[0]) != is_name(&pair[1]));
    joined && path.take(1).any(|token| token.text == "@")
}
