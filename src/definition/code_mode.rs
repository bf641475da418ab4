//! `[code_mode]` of `toolsd.toml`: what a script of a client may do.

use super::fields::Fields;
use super::grammar::{Grammar, ValueShape, optional};
use super::limits::{LIMITS, LimitsOverride, read_limits};
use crate::diagnostic::Diagnostic;
use crate::primitive_api::Effect;

/// `[code_mode]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CodeModeDefinition {
    /// The strongest effect of a call.
    pub allow: Option<Effect>,
    /// The public names of the tools, with `*` for any text; all of them if absent.
    pub tools: Option<Vec<String>>,
    /// The public names of tools that are excepted.
    pub without: Vec<String>,
    /// The maximum number of calls of a script.
    pub calls: Option<u64>,
    /// The maximum number of calls at the same time.
    pub parallel: Option<u64>,
    /// The limits of a script.
    pub limits: LimitsOverride,
}

/// `[code_mode]`.
pub(super) static CODE_MODE: Grammar = Grammar {
    name: "[code_mode]",
    doc: "Lists the tool `run_script`, with which a client runs a script that calls tools; only its last value comes back.",
    keys: &[
        optional(
            "allow",
            ValueShape::OneOf(&["pure", "reads", "edits_graph", "writes", "runs"]),
            "The strongest effect of a call (default: `reads`). Above `reads`, `run_writing_script` is listed, too: only that one may change something.",
        ),
        optional(
            "tools",
            ValueShape::Texts,
            "The public names of the tools that a script may call, with `*` for any text (default: all).",
        ),
        optional("without", ValueShape::Texts, "Tools that a script may not call, with `*` for any text."),
        optional("calls", ValueShape::IntegerWithin(1, 1_000), "Maximum number of calls of a script (default: 50)."),
        optional(
            "parallel",
            ValueShape::IntegerWithin(1, 64),
            "Maximum number of calls at the same time, in `parallel` (default: 16).",
        ),
        optional(
            "limits",
            ValueShape::Table(&LIMITS),
            "Limits of a script, its calls included (default: 60 s, 50 million steps, 256 MB, 64 kB of result, 64 levels).",
        ),
    ],
};

/// `[code_mode]`, if it is there.
pub(super) fn read_code_mode(file: &Fields<'_>, diagnostics: &mut Vec<Diagnostic>) -> Option<CodeModeDefinition> {
    let table = file.table("code_mode", diagnostics)?;
    Some(CodeModeDefinition {
        allow: table.text("allow").and_then(|name| Effect::ALL.into_iter().find(|effect| effect.name() == name)),
        tools: table.has("tools").then(|| table.texts("tools")),
        without: table.texts("without"),
        calls: table.integer("calls"),
        parallel: table.integer("parallel"),
        limits: read_limits(&table, diagnostics),
    })
}

/// The tool that runs a script which only reads.
pub const RUN_SCRIPT: &str = "run_script";
/// The tool that runs a script which may change something.
pub const RUN_WRITING_SCRIPT: &str = "run_writing_script";

impl CodeModeDefinition {
    /// Whether a script may do more than read.
    pub fn may_write(&self) -> bool {
        self.allow.is_some_and(|allow| allow > Effect::Reads)
    }

    /// The names of the tools that it lists.
    pub(super) fn tool_names(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(RUN_SCRIPT).chain(self.may_write().then_some(RUN_WRITING_SCRIPT))
    }
}
