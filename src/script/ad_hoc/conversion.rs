//! A script of a caller as a function of a pack: the same text in the spelling of packs, with `call_tool` for its tools.

use super::super::compiled::AD_HOC_PATH;
use super::super::engine::{empty_engine_for_callers, known_arities};
use super::super::errors::describe_parse_error;
use super::check_text;
use super::places::{Edit, edited, offset_of};
use super::property_reads::{is_handled, text_of};
use super::spelling::parts::{Part, parts};
use super::spelling::{SpellingReader, normalize};
use super::tool_functions::{ToolNamespace, called};
use super::variables::{copies_for_chains, declared_names};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::source::Source;
use rhai::{AST, ASTNode, Engine, Expr, FnCallExpr, Scope, Token};
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// What names mean in a script.
pub struct ToolNames<'a> {
    /// Whether a tool has this name.
    pub is_tool: &'a dyn Fn(&str) -> bool,
    /// The names of the packs, whose constants have the tools as methods.
    pub packs: Vec<String>,
}

/// A script as the text of a file of a pack.
pub struct ConvertedScript {
    /// The file: the functions of the script, then the function that has its statements.
    pub text: String,
    /// The comment at the top of the script, without its marks.
    pub description: Option<String>,
    /// Whether the script reads `input`.
    pub reads_input: bool,
    /// The tools that it calls by name.
    pub tools: BTreeSet<String>,
    /// Whether it makes calls at the same time, which a pack makes one after another.
    pub is_parallel: bool,
}

/// Whether a script handles that its `input` lacks a property.
pub fn handles_absence(script: &str, property: &str) -> bool {
    is_handled(script, property)
}

/// Converts a script. Its function is called `name`, and gets `input` as its argument, or as the argument's property
/// `property`.
///
/// # Errors
/// It is not a script, or it calls what packs do not have: `tools` and `describe`.
pub fn convert(text: &str, name: &str, property: Option<&str>, names: &ToolNames<'_>) -> Result<ConvertedScript> {
    let source = Source::new(AD_HOC_PATH, &*normalize(check_text(text)?));
    let mut engine = empty_engine_for_callers();
    let tokens = record_tokens(&mut engine, &source);
    let ast = compile(&engine, &source, names)?;
    let tokens = std::mem::take(&mut *tokens.lock().unwrap_or_else(PoisonError::into_inner));
    let mut edits = tokens.edits;
    let calls = read_calls(&source, &ast, names)?;
    edits.extend(calls.edits);
    edits.extend(copies_for_chains(&source, &ast));
    edits.sort_by_key(|edit| edit.0.start);
    let comment = leading_comment(&source.text);
    let functions: Vec<Range<usize>> =
        tokens.functions.iter().map(|range| with_comments_before(&source.text, range.clone(), comment.end)).collect();
    let mut file = String::new();
    for range in &functions {
        file.push_str(&edited(&source.text, range.clone(), &edits));
        file.push_str("\n\n");
    }
    for line in source.text[comment.clone()].lines() {
        file.push_str(&format!("/// {}\n", comment_text(line)).replace("///  \n", "///\n"));
    }
    file.push_str(&format!("fn {name}(args) {{\n"));
    if tokens.reads_input {
        file.push_str(&format!(
            "    let input = args{};\n",
            property.map_or_else(String::new, |key| format!(".{key}"))
        ));
    }
    let mut body = String::new();
    let mut at = comment.end;
    for range in &functions {
        body.push_str(&edited(&source.text, at..range.start, &edits));
        at = range.end;
    }
    body.push_str(&edited(&source.text, at..source.text.len(), &edits));
    file.push_str(&indented(body.trim()));
    file.push_str("\n}\n");
    let description: Vec<&str> =
        source.text[comment].lines().map(comment_text).filter(|line| !line.is_empty()).collect();
    let description = (!description.is_empty()).then(|| description.join(" "));
    let (tools, is_parallel) = (calls.tools, calls.is_parallel);
    Ok(ConvertedScript { text: file, description, reads_input: tokens.reads_input, tools, is_parallel })
}

fn compile(engine: &Engine, source: &Source, names: &ToolNames<'_>) -> Result<AST> {
    let mut scope = Scope::new();
    for pack in names.packs.iter().map(String::as_str).chain(["tools"]) {
        scope.push_constant(pack.replace('-', "_"), ToolNamespace);
    }
    scope.push_constant("input", ());
    engine.compile_with_scope(&scope, &*source.text).map_err(|error| describe_parse_error(&error.0))
}

/// What the tokens of a script say.
#[derive(Default)]
struct Tokens {
    reader: SpellingReader,
    edits: Vec<Edit>,
    /// The definitions of functions.
    functions: Vec<Range<usize>>,
    /// Where the definition begins that is read now, and how many braces of it are open.
    open_function: Option<(usize, usize)>,
    reads_input: bool,
}

fn record_tokens(engine: &mut Engine, source: &Arc<Source>) -> Arc<Mutex<Tokens>> {
    let tokens = Arc::new(Mutex::new(Tokens::default()));
    let (recorded, source) = (Arc::clone(&tokens), Arc::clone(source));
    #[allow(deprecated, reason = "rhai marks its hooks as unstable, but does not remove them")]
    engine.on_parse_token(move |token, position, _| {
        recorded.lock().unwrap_or_else(PoisonError::into_inner).read(token, offset_of(&source, position), &source.text)
    });
    tokens
}

impl Tokens {
    fn read(&mut self, token: Token, at: usize, text: &str) -> Token {
        let is_property = self.reader.is_before_property();
        let before = token.clone();
        let token = self.reader.read(token);
        if before != token {
            self.edits.extend(respelled(&token, at, text, is_property));
        }
        match (&token, &mut self.open_function) {
            (Token::Fn, None) => self.open_function = Some((at, 0)),
            (Token::LeftBrace | Token::MapStart, Some((_, open))) => *open += 1,
            (Token::RightBrace, Some((start, 1))) => {
                self.functions.push(*start..at + 1);
                self.open_function = None;
            }
            (Token::RightBrace, Some((_, open))) => *open -= 1,
            (Token::Identifier(name), _) => self.reads_input |= !is_property && name.as_str() == "input",
            _ => {}
        }
        token
    }
}

/// The edit that spells a token as packs do.
fn respelled(token: &Token, at: usize, text: &str, is_property: bool) -> Option<Edit> {
    let rest = &text[at..];
    let word = at..at + rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(rest.len());
    Some(match token {
        Token::MapStart => (at..at + 1, "#{".to_owned()),
        Token::StringConstant(_) if rest.starts_with('\'') => {
            let end = parts(text).into_iter().find(|(_, range)| range.start == at)?.1.end;
            (at..end, double_quoted(&text[at + 1..end - 1]))
        }
        Token::StringConstant(_) => (word.clone(), format!("\"{}\"", &text[word])),
        Token::Identifier(_) if is_property && !text[word.end..].trim_start().starts_with('(') => {
            let dot = text[..at].trim_end().trim_end_matches('.').len();
            (dot..word.end, format!("[\"{}\"]", &text[word]))
        }
        Token::Unit => (word, "()".to_owned()),
        Token::True => (word, "true".to_owned()),
        Token::False => (word, "false".to_owned()),
        Token::Let => (word, "let".to_owned()),
        Token::EqualsTo => (at..at + 3, "==".to_owned()),
        Token::NotEqualsTo => (at..at + 3, "!=".to_owned()),
        _ => return None,
    })
}

/// A text of single quotes in double ones: only the escape of the quote is another one.
fn double_quoted(inner: &str) -> String {
    let mut quoted = String::from("\"");
    let mut letters = inner.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            // An escaped quote, and a doubled one.
            '\\' | '\'' if letters.peek() == Some(&'\'') => {
                letters.next();
                quoted.push('\'');
            }
            '\\' => {
                quoted.push(letter);
                quoted.extend(letters.next());
            }
            '"' => quoted.push_str("\\\""),
            _ => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}

/// What the calls of a script say.
#[derive(Default)]
struct Calls {
    /// `call_tool` in place of the tools, `map` in place of `parallel`.
    edits: Vec<Edit>,
    tools: BTreeSet<String>,
    is_parallel: bool,
}

fn read_calls(source: &Arc<Source>, ast: &AST, names: &ToolNames<'_>) -> Result<Calls> {
    let mut calls = Calls::default();
    let mut refused = None;
    let declared = declared_names(ast);
    let mut namespaces: Vec<String> = names.packs.iter().map(|pack| pack.replace('-', "_")).collect();
    namespaces.push("tools".to_owned());
    namespaces.retain(|name| !declared.contains(name));
    let is_own = |name: &str, arguments: usize| {
        ast.iter_functions().any(|function| function.name == name && function.params.len() == arguments)
    };
    ast.walk(&mut |path: &[ASTNode<'_>]| {
        let Some((call, position, is_method)) = path.last().and_then(called) else { return true };
        let name = call.name.as_str();
        let start = offset_of(source, position);
        let namespace = is_method.then(|| namespace_before(source, path, &namespaces)).flatten();
        let is_tool = (names.is_tool)(name)
            && (namespace.is_some()
                || !is_method && !known_arities(name).contains(&call.args.len()) && !is_own(name, call.args.len()));
        if is_tool {
            calls.edits.extend(tool_call(source, call, namespace.unwrap_or(start)..start));
            calls.tools.insert(name.to_owned());
        } else if name == "call_tool" {
            calls.tools.extend(call.args.first().and_then(text_of).map(str::to_owned));
        } else if name == "parallel" {
            calls.edits.push((start..start + name.len(), "map".to_owned()));
            calls.is_parallel = true;
        } else if matches!(name, "tools" | "describe") {
            let message = format!("a tool of a pack has no `{name}`, which finds tools for a model");
            let error = Diagnostic::new(Code("usage"), message).help("name the tool that the script calls");
            refused = Some(error.at(source.place(start..start + name.len())));
        }
        refused.is_none()
    });
    refused.map_or(Ok(calls), Err)
}

/// Where the constant begins whose method is called, if it is `tools` or that of a pack.
fn namespace_before(source: &Source, path: &[ASTNode<'_>], namespaces: &[String]) -> Option<usize> {
    let method = path.last()?.position();
    let of = |node: &ASTNode<'_>| match node {
        ASTNode::Expr(Expr::Dot(pair, ..)) => {
            let first = match &pair.rhs {
                Expr::Dot(rest, ..) | Expr::Index(rest, ..) => &rest.lhs,
                alone => alone,
            };
            match &pair.lhs {
                Expr::Variable(name, _, position) if first.position() == method => {
                    namespaces.iter().any(|known| known == name.1.as_str()).then_some(*position)
                }
                _ => None,
            }
        }
        _ => None,
    };
    path.iter().rev().skip(1).take(2).find_map(of).map(|position| offset_of(source, position))
}

/// `name(…)` as `call_tool("name", …)`. `before` is from the constant to the name.
fn tool_call(source: &Source, call: &FnCallExpr, before: Range<usize>) -> Option<Edit> {
    let after = before.end + call.name.len();
    let rest = &source.text[after..];
    let inner = &rest[rest.find('(')? + 1..];
    let open = source.text.len() - inner.trim_start().len();
    let comma = if call.args.is_empty() { "" } else { ", " };
    Some((before.start..open, format!("call_tool(\"{}\"{comma}", call.name)))
}

/// The comment lines at the top of a script.
fn leading_comment(text: &str) -> Range<usize> {
    let start = text.len() - text.trim_start().len();
    let lines = text[start..].split_inclusive('\n').take_while(|line| line.trim_start().starts_with("//"));
    start..start + lines.map(str::len).sum::<usize>()
}

fn comment_text(line: &str) -> &str {
    line.trim().trim_start_matches('/').trim()
}

/// A definition with the comment lines directly before it.
fn with_comments_before(text: &str, range: Range<usize>, from: usize) -> Range<usize> {
    let mut start = range.start;
    // `private` may stand before `fn`.
    start = text[..start].trim_end().strip_suffix("private").map_or(start, str::len);
    while let Some(line_start) = text[from..start]
        .trim_end_matches([' ', '\t'])
        .strip_suffix('\n')
        .map(|before| from + before.rfind('\n').map_or(0, |at| at + 1))
    {
        if !text[line_start..start].trim_start().starts_with("//") {
            break;
        }
        start = line_start;
    }
    start..range.end
}

/// Indents the lines that do not begin within a text.
fn indented(body: &str) -> String {
    let parts = parts(body);
    let mut indented = String::new();
    let mut at = 0;
    for line in body.split_inclusive('\n') {
        let is_text =
            parts.iter().any(|(part, range)| matches!(part, Part::Text(_)) && range.start < at && at < range.end);
        if !is_text && !line.trim().is_empty() {
            indented.push_str("    ");
        }
        indented.push_str(line);
        at += line.len();
    }
    indented
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::super::engine::empty_engine;
    use super::*;

    /// Scripts as models write them: each that gives a value must be one that packs can compile.
    #[test]
    fn what_callers_write_becomes_what_packs_compile() {
        let data: toml::Table = include_str!("../../../tests/code_mode/idioms.toml").parse().unwrap();
        let names =
            ToolNames { is_tool: &|name| ["echo", "rows", "nap", "search"].contains(&name), packs: vec!["tea".into()] };
        let mut converted = 0;
        for entry in data["script"].as_array().unwrap() {
            let script = entry["script"].as_str().unwrap();
            if entry.get("gives").is_none() || script.contains("tools(") || script.contains("describe(") {
                continue;
            }
            let file = convert(script, "kept", None, &names).unwrap_or_else(|error| panic!("{script}\n{error}")).text;
            if let Err(error) = empty_engine().compile(&file) {
                panic!("{script}\nbecomes\n{file}\n{error}");
            }
            for tool in ["echo(", "rows(", "nap("] {
                assert!(!file.contains(&format!(" {tool}")), "{file}");
            }
            converted += 1;
        }
        assert!(converted > 50, "{converted}");
    }

    #[test]
    fn functions_and_comments_keep_their_places() {
        let script = "\
// What it is for.

let a = #{ 'it\"s': null, default: 1 }; // here
// About f.
private fn f(x) { if x { return 1 } 2 }
let text = `one
  two ${tea.echo(#{ text: '' }).text}
three`;
/* the end */ [a.default, f(true), nap ( #{ n: 1 } ), input, input.input]";
        let names = ToolNames { is_tool: &|name| ["echo", "nap"].contains(&name), packs: vec!["tea".into()] };
        let converted = convert(script, "kept", Some("input"), &names).unwrap();
        assert_eq!(converted.description.as_deref(), Some("What it is for."));
        let expected = "\
// About f.
private fn f(x) { if x { return 1 } 2 }

/// What it is for.
fn kept(args) {
    let input = args.input;
    let a = #{ \"it\\\"s\": (), \"default\": 1 }; // here

    let text = `one
  two ${call_tool(\"echo\", #{ text: \"\" }).text}
three`;
    /* the end */ [a[\"default\"], f(true), call_tool(\"nap\", #{ n: 1 } ), input, input.input]
}
";
        assert_eq!(converted.text, expected);
    }

    #[test]
    fn names_mean_what_they_mean_in_the_script() {
        let names = ToolNames {
            is_tool: &|name| ["echo", "filter", "len", "get-it"].contains(&name),
            packs: vec!["tea".into()],
        };
        for (script, expected) in [
            ("let rows = [1]; rows.filter(|r| r > 1).len()", "let rows = [1]; rows.filter(|r| r > 1).len()"),
            ("tea.filter(#{}).filter(|r| true)", "call_tool(\"filter\", #{}).filter(|r| true)"),
            ("tools.echo(#{}).len", "call_tool(\"echo\", #{}).len"),
            ("let tools = #{ echo: |x| 1 }; tools.echo(#{})", "let tools = #{ echo: |x| 1 }; tools.echo(#{})"),
            ("'it''s'", "\"it's\""),
            ("let g = #{}; g.keys().map(|k| g[k])", "let g = #{}; [g][0].keys().map(|k| g[k])"),
        ] {
            let converted = convert(script, "kept", None, &names).unwrap().text;
            assert_eq!(converted, format!("fn kept(args) {{\n    {expected}\n}}\n"), "{script}");
        }
        let own = convert("fn echo(m) { 1 } echo(#{})", "kept", None, &names).unwrap().text;
        assert!(own.contains("    echo(#{})\n"), "{own}");
    }
}
