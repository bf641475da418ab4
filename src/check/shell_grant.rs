//! Finds grants to run programs that execute their arguments.

use super::rule::{CheckRule, warning_at};
use super::subject::Subject;
use crate::diagnostic::{Code, Diagnostic};
use crate::world::path;

const CODE: Code = Code("shell-grant");

/// Programs that run what their arguments say: code (`sh -c`, `python3 -c`, `awk`) or another program (`env`, `xargs`).
/// Those that also read code from files, as `make` does, are not among them: their grants to read and write hold what
/// that is.
const INTERPRETERS: &[&str] = &[
    "ash",
    "awk",
    "bash",
    "bun",
    "busybox",
    "csh",
    "dash",
    "deno",
    "doas",
    "env",
    "eval",
    "fish",
    "gawk",
    "julia",
    "ksh",
    "lua",
    "luajit",
    "mawk",
    "mksh",
    "nawk",
    "nice",
    "node",
    "nodejs",
    "nohup",
    "nu",
    "osascript",
    "perl",
    "php",
    "pwsh",
    "pypy",
    "python",
    "r",
    "rscript",
    "ruby",
    "setsid",
    "sh",
    "ssh",
    "stdbuf",
    "sudo",
    "tclsh",
    "tcsh",
    "timeout",
    "ts-node",
    "tsx",
    "xargs",
    "xonsh",
    "zsh",
];

pub const RULE: CheckRule = CheckRule {
    code: CODE,
    summary: "A pack may run a shell or an interpreter, which takes code from its arguments.",
    why: "Users cannot tell from such a grant what the pack runs, and only the sandbox limits it. Grant the actual program instead.",
    run,
    fires: &[(
        "tools.d/a.toml",
        r##"[pack]
title = "Tea"
grants = { run = ["bash"] }

[[tool]]
name = "brew"
description = "Brews a pot of tea, and says how long it took."
effect = "pure"
text = "Tea."
"##,
    )],
    mended: &[("tools.d/a.toml", r##"run = ["bash"]"##, r##"run = ["make"]"##)],
};

/// The name without the version that systems add: `python3.12`, `lua5.4`, `perl5.36.0`.
fn stem(program: &str) -> String {
    let name = path::name(program).to_lowercase();
    let stem = name.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    stem.trim_end_matches('-').to_owned()
}

fn run(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let Some(pack) = &subject.definitions.pack else { return Vec::new() };
    let named =
        pack.grants.run.iter().zip(&pack.run_at).filter(|(grant, _)| INTERPRETERS.contains(&&*stem(&grant.program)));
    let reported = named.map(|(grant, at)| {
        let program = &grant.program;
        let message = format!("the pack may run `{program}`, which runs any code in its arguments");
        let help = "grant the program itself that the scripts need; a script of your own runs by its absolute path, if the pack may not write it";
        warning_at(CODE, at, message, help)
    });
    reported.collect()
}
