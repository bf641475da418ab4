//! Finds questions in functions that run without a client to answer them.

use super::rule::{CheckRule, error_at};
use super::subject::Subject;
use crate::diagnostic::{Code, Diagnostic};

const CODE: Code = Code("ask-place");

/// The primitives that ask.
const ASKING: &[&str] = &["ask", "ask_all"];

pub const RULE: CheckRule = CheckRule {
    code: CODE,
    summary: "A graph build, a list, a completion or a description asks the client.",
    why: "They run without a client to answer, so the call would fail at run time.",
    run,
    fires: &[
        (
            "tools.d/a.toml",
            r##"[[tool]]
name = "brew"
describe = "words"
effect = "pure"
"##,
        ),
        (
            "tools.d/a.rhai",
            r##"fn words() { said() }
fn said() { ask("tea", client_roots()).len().to_string() }
fn brew(args) { 1 }"##,
        ),
    ],
    mended: &[(
        "tools.d/a.rhai",
        r##"fn words() { said() }
fn said() { ask("tea", client_roots()).len().to_string() }
fn brew(args) { 1 }"##,
        r##"fn words() { "Brews tea" }
fn brew(args) { ask("tea", client_roots()).len() }"##,
    )],
};

fn run(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    for named in subject.background_functions() {
        let Some(calls) = subject.program.find_calls_to(named.script, named.function, ASKING) else { continue };
        let steps: Vec<String> = calls.iter().map(|(name, at)| format!("`{name}` at {at}")).collect();
        let message = format!("`{}` asks the client, but runs without one", named.function);
        let help = format!("ask in a tool, a prompt or a read; here it is {}", steps.join(", then "));
        diagnostics.push(error_at(CODE, named.at, message, help));
    }
    diagnostics
}
