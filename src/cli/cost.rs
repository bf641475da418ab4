//! `toolsd cost`: what the lists of tools take of a model's context, pack by pack or tool by tool.

use super::context::CommandContext;
use super::options::{CommandResult, Exit, OutputFormat};
use crate::mcp::list_entry;
use crate::registry::{NO_PACK, Registry, ServedTool};
use crate::value::Json;
use clap::Args;
use serde_json::json;
use std::ops::AddAssign;

/// Approximate size of a token of English or JSON; models differ.
const BYTES_PER_TOKEN: usize = 4;

/// Show what the lists of tools take of a model's context.
#[derive(Args)]
pub struct CostCommand {
    /// One row for each tool, the largest first.
    #[arg(long)]
    tools: bool,
    /// Only the first rows.
    #[arg(long, value_name = "COUNT")]
    top: Option<usize>,
}

/// The size of tools in `tools/list`, in bytes.
#[derive(Clone, Copy, Default)]
struct Cost {
    tools: usize,
    /// The whole entries.
    list: usize,
    description: usize,
    input: usize,
    output: usize,
    /// Name, title, annotations, icons, `_meta`, and the marks between all of these.
    other: usize,
    /// The whole entries where `lists = "lean"`.
    lean: usize,
}

impl CostCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let service = context.service()?;
        service.describe();
        let registry = service.registry();
        let mut rows = if self.tools { of_tools(&registry) } else { of_packs(&registry) };
        let mut total = Cost::default();
        rows.iter().for_each(|(_, cost)| total += *cost);
        if let Some(count) = self.top {
            rows.truncate(count);
        }
        let first = if self.tools { "tool" } else { "pack" };
        if context.options.format == OutputFormat::Json {
            let row = |(name, cost): &(String, Cost)| cost.to_json(first, name);
            let rows: Vec<Json> = rows.iter().map(row).collect();
            context.terminal.json(&json!({ "rows": rows, "total": total.to_json(first, "total") }));
        } else {
            context.print_diagnostics_of_use(&registry);
            rows.push(("total".to_owned(), total));
            let head =
                [first, "tools", "list", "description", "input", "output", "other", "lean", "≈ tokens", "≈ lean"];
            context.terminal.table(&head, rows.iter().map(|(name, cost)| cost.cells(name)).collect());
            context.terminal.note("sizes of `tools/list` in bytes; `[server] lists = \"lean\"` sends the lean ones");
        }
        let unknown = registry.diagnostics.iter().any(|diagnostic| diagnostic.code == NO_PACK);
        Ok(if unknown { Exit::Usage } else { Exit::Success })
    }
}

fn of_packs(registry: &Registry) -> Vec<(String, Cost)> {
    let of_pack = |pack: &str| {
        let mut cost = Cost::default();
        let tools = registry.tools.iter().filter(|tool| tool.pack.name == pack);
        tools.for_each(|tool| cost += Cost::of(tool));
        cost
    };
    registry.packs.iter().map(|pack| (pack.name.clone(), of_pack(&pack.name))).collect()
}

fn of_tools(registry: &Registry) -> Vec<(String, Cost)> {
    let mut rows: Vec<(String, Cost)> = registry.tools.iter().map(|tool| (tool.name.clone(), Cost::of(tool))).collect();
    rows.sort_by(|a, b| b.1.list.cmp(&a.1.list).then_with(|| a.0.cmp(&b.0)));
    rows
}

impl Cost {
    fn of(tool: &ServedTool) -> Self {
        let entry = list_entry(tool, false);
        let part = |key: &str| entry.get(key).map_or(0, bytes);
        let (description, input, output) = (part("description"), part("inputSchema"), part("outputSchema"));
        let list = bytes(&entry);
        let other = list - description - input - output;
        Self { tools: 1, list, description, input, output, other, lean: bytes(&list_entry(tool, true)) }
    }

    fn cells(&self, name: &str) -> Vec<String> {
        let tokens = [self.list, self.lean].map(|bytes| bytes / BYTES_PER_TOKEN);
        let bytes = [self.tools, self.list, self.description, self.input, self.output, self.other, self.lean];
        let numbers = bytes.into_iter().chain(tokens).map(|number| number.to_string());
        std::iter::once(name.to_owned()).chain(numbers).collect()
    }

    fn to_json(self, first: &str, name: &str) -> Json {
        json!({
            first: name, "tools": self.tools, "list": self.list, "description": self.description, "input": self.input,
            "output": self.output, "other": self.other, "lean": self.lean,
            "tokens": self.list / BYTES_PER_TOKEN, "lean_tokens": self.lean / BYTES_PER_TOKEN,
        })
    }
}

impl AddAssign for Cost {
    fn add_assign(&mut self, more: Self) {
        self.tools += more.tools;
        self.list += more.list;
        self.description += more.description;
        self.input += more.input;
        self.output += more.output;
        self.other += more.other;
        self.lean += more.lean;
    }
}

fn bytes(value: &Json) -> usize {
    value.to_string().len()
}
