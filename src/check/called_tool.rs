//! Finds tools that a script calls by name and that it cannot call.

use super::rule::{CheckRule, warning_at};
use super::subject::Subject;
use crate::diagnostic::{Code, Diagnostic, did_you_mean};
use crate::primitive_api::Effect;
use crate::script::survey::CallSite;

const CODE: Code = Code("called-tool");

pub const RULE: CheckRule = CheckRule {
    code: CODE,
    summary: "A script calls a tool that does more than read, or one that no pack has.",
    why: "The call would fail at run time: what another tool changed would stay if the caller failed.",
    run,
    fires: &[
        (
            "tools.d/a.toml",
            r##"[pack]
title = "Tea"
grants = { write = ["tea.txt"] }

[[tool]]
name = "brew"
description = "Brews a pot of tea, and says how long it took."
effect = "writes"

[[tool]]
name = "write_tea"
description = "Writes the name of a tea into the file of teas."
effect = "writes"
"##,
        ),
        (
            "tools.d/a.rhai",
            r##"fn brew(args) { call_tool("write_tea"); "done" }
fn write_tea(args) { write_text("tea.txt", "green"); "written" }"##,
        ),
    ],
    mended: &[("tools.d/a.rhai", "call_tool(\"write_tea\");", "write_tea(args);")],
};

fn run(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let calls = subject.calls().filter(|call| call.name == "call_tool" && !call.method);
    calls.filter_map(|call| judge(subject, call, call.text(0)?)).collect()
}

fn judge(subject: &Subject<'_>, call: &CallSite, name: &str) -> Option<Diagnostic> {
    let own = subject.definitions.tools.iter().find(|tool| tool.name.value == name);
    if let Some(tool) = own {
        let effect = tool.effect.value;
        return (effect > Effect::Reads).then(|| {
            let message =
                format!("`{name}` has the effect `{}`, and `call_tool` calls only tools that read", effect.name());
            warning_at(CODE, &call.at, message, "call the function of the tool itself")
        });
    }
    // A prefix may come before the name of another pack's tool. What is alone may be served with any pack.
    if subject.tools_of_others.is_empty() || subject.tools_of_others.iter().any(|known| name.ends_with(known)) {
        return None;
    }
    let own = subject.definitions.tools.iter().map(|tool| tool.name.value.as_str());
    let known = own.chain(subject.tools_of_others.iter().copied());
    let help = did_you_mean(name, known).unwrap_or_else(|| "`toolsd list tools` has the names".to_owned());
    Some(warning_at(CODE, &call.at, format!("no pack here has a tool `{name}`"), &help))
}
