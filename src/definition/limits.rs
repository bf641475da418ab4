//! `limits` of a pack, a tool, a graph or a workspace.

use super::fields::Fields;
use super::grammar::{Grammar, ValueShape, optional};
use crate::diagnostic::Diagnostic;

/// Limits that override those of the enclosing definition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LimitsOverride {
    /// Wall time in milliseconds.
    pub time_ms: Option<u64>,
    /// Steps of the scripts.
    pub steps: Option<u64>,
    /// Memory in MB.
    pub memory_mb: Option<u64>,
    /// Size of the result in kB.
    pub output_kb: Option<u64>,
    /// Depth of nested function calls.
    pub depth: Option<u64>,
}

/// `limits` of a pack, a tool, a graph or a workspace.
pub static LIMITS: Grammar = Grammar {
    name: "limits",
    doc: "Limits of a call or a graph build. Omitted limits are inherited.",
    keys: &[
        optional("time_ms", ValueShape::Integer(1), "Wall time in milliseconds."),
        optional("steps", ValueShape::Integer(1), "Number of script steps."),
        optional("memory_mb", ValueShape::Integer(1), "Memory in MB."),
        optional("output_kb", ValueShape::Integer(1), "Size of the result in kB."),
        optional("call_depth", ValueShape::Integer(1), "Depth of nested function calls."),
    ],
};

/// `limits` of any table.
pub fn read_limits(fields: &Fields<'_>, diagnostics: &mut Vec<Diagnostic>) -> LimitsOverride {
    let table = fields.table("limits", diagnostics);
    table.map_or_else(LimitsOverride::default, |limits| LimitsOverride {
        time_ms: limits.integer("time_ms"),
        steps: limits.integer("steps"),
        memory_mb: limits.integer("memory_mb"),
        output_kb: limits.integer("output_kb"),
        depth: limits.integer("call_depth"),
    })
}
