//! `[pack.budget]`: how much of a model's context a pack may take.

use super::fields::Fields;
use super::grammar::{Grammar, ValueShape, optional};
use super::located::Located;
use crate::diagnostic::Diagnostic;

/// What a pack may take of a model's context, in tokens of four bytes; what is absent is not judged.
#[derive(Clone, Debug, Default)]
pub struct PackBudget {
    /// Its list of tools.
    pub list: Option<Located<u64>>,
    /// Each entry of the list.
    pub tool: Option<Located<u64>>,
    /// Each description of a tool.
    pub description: Option<Located<u64>>,
    /// Its instructions.
    pub instructions: Option<Located<u64>>,
    /// Each result of an example.
    pub result: Option<Located<u64>>,
}

/// `[pack.budget]`.
pub static BUDGET: Grammar = Grammar {
    name: "[pack.budget]",
    doc: "How much of a model's context a pack may take, in tokens of four bytes, as `toolsd cost` counts them. Where a budget is set, exceeding it is an error of `toolsd check`, or of `toolsd test`; the pack serves all the same.",
    keys: &[
        optional("list", ValueShape::Integer(1), "Tokens of its list of tools."),
        optional("tool", ValueShape::Integer(1), "Tokens of each entry of the list."),
        optional("description", ValueShape::Integer(1), "Tokens of each description of a tool."),
        optional("instructions", ValueShape::Integer(1), "Tokens of its instructions."),
        optional("result", ValueShape::Integer(1), "Tokens of the result of each example; judged by `toolsd test`."),
    ],
};

/// Reads `[pack.budget]`.
pub(super) fn read_budget(pack: &Fields<'_>, diagnostics: &mut Vec<Diagnostic>) -> PackBudget {
    let Some(budget) = pack.table("budget", diagnostics) else { return PackBudget::default() };
    PackBudget {
        list: budget.located_integer("list"),
        tool: budget.located_integer("tool"),
        description: budget.located_integer("description"),
        instructions: budget.located_integer("instructions"),
        result: budget.located_integer("result"),
    }
}
