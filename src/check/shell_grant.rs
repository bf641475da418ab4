//! Finds grants to run programs that run whatever they are told.

use super::{Rule, Subject, advice};
use crate::diagnostic::{Code, Diagnostic};
use crate::world::path;

const CODE: Code = Code("shell-grant");

/// Shells and interpreters: what they do is said by their arguments, not by their name.
const INTERPRETERS: &[&str] = &[
    "awk",
    "bash",
    "bun",
    "busybox",
    "csh",
    "dash",
    "deno",
    "env",
    "fish",
    "gawk",
    "ksh",
    "lua",
    "mawk",
    "node",
    "nodejs",
    "nu",
    "osascript",
    "perl",
    "php",
    "pwsh",
    "python",
    "python2",
    "python3",
    "ruby",
    "sh",
    "sudo",
    "tclsh",
    "tcsh",
    "xargs",
    "zsh",
];

/// The rule.
pub const RULE: Rule = Rule {
    code: CODE,
    summary: "A pack may run a shell or an interpreter.",
    why: "Whoever trusts the pack cannot tell from that grant what it runs; only the sandbox holds it.",
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

fn run(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let Some(pack) = &subject.definitions.pack else { return Vec::new() };
    let named = pack.grants.run.iter().map(|grant| grant.program.as_str());
    let shells = named.filter(|program| INTERPRETERS.contains(&path::name(program)));
    let told = shells.map(|shell| {
        let message = format!("the pack may run `{shell}`, which runs whatever it is told");
        advice(CODE, &pack.title.at, message, "grant the program itself that the scripts need")
    });
    told.collect()
}
