//! `toolsd cost`: what packs take of a model's context, pack by pack or tool by tool.

use super::context::CommandContext;
use super::cost_report::{CostReport, markdown_table};
use super::options::{CommandResult, Exit, OutputFormat};
use super::test::{case_folders, run_cases};
use crate::call::Service;
use crate::case::ResultSize;
use crate::definition::Validation;
use crate::diagnostic::Result;
use crate::mcp::{list_entry, listed_tools};
use crate::registry::{PackChoice, PackFiles, Registry, ServedTool, merge_definitions, unknown_pack};
use crate::surface::{ToolSize, approximate_tokens};
use crate::value::Json;
use clap::Args;
use serde_json::json;
use std::sync::Arc;

/// Show what packs take of a model's context.
#[derive(Args)]
pub struct CostCommand {
    /// Only these packs [default: those that serve here].
    #[arg(value_name = "PACK")]
    only: Vec<String>,
    /// One row for each tool, the largest first.
    #[arg(long)]
    tools: bool,
    /// Only the first rows.
    #[arg(long, value_name = "COUNT")]
    top: Option<usize>,
    /// Also run the examples and cases, and measure the results of their calls.
    #[arg(long)]
    results: bool,
}

/// The sizes of a pack, of a tool, or of all, in bytes.
#[derive(Clone, Default)]
struct Cost {
    tools: usize,
    size: ToolSize,
    /// The whole entries where `lists = "lean"`.
    lean: usize,
    instructions: usize,
    /// The results of calls, if they are measured.
    results: Vec<usize>,
}

/// The columns of text, so that a line fits into 100 columns.
const PACK_COLUMNS: &[&str] = &["tools", "list", "description", "input", "output", "model", "instructions", "lean"];
const TOOL_COLUMNS: &[&str] = &["list", "description", "input", "output", "model", "lean"];
const PACK_COLUMNS_WITH_RESULTS: &[&str] = &["tools", "list", "model", "instructions", "lean", "results"];
const TOOL_COLUMNS_WITH_RESULTS: &[&str] = &["list", "model", "lean", "results"];
const ALL_COLUMNS: &[&str] =
    &["tools", "list", "description", "input", "output", "annotations", "model", "instructions", "lean", "results"];

impl CostCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let named: Vec<String> = self.only.iter().chain(&context.options.packs).cloned().collect();
        check_names(context, &named)?;
        let choice = if named.is_empty() { PackChoice::ByMarkers } else { PackChoice::Named(named.clone()) };
        let service = Service::open(Arc::new(context.pack_source(choice)?));
        context.audit(&service);
        service.describe();
        let registry = service.registry();
        let results = if self.results { measure_results(context, &registry)? } else { Vec::new() };
        let mut report = self.report(&registry, &results);
        if let Some(count) = self.top {
            report.rows.truncate(count);
        }
        match context.options.format {
            OutputFormat::Json => context.terminal.json(&json!({ "rows": report.rows, "total": report.total })),
            OutputFormat::Markdown => {
                let columns = ALL_COLUMNS.iter().filter(|column| self.results || **column != "results");
                let (head, rows) = report.table(&columns.copied().collect::<Vec<_>>());
                context.terminal.text(&markdown_table(&head, &rows));
            }
            OutputFormat::Text | OutputFormat::Sarif => {
                context.print_diagnostics_of_use(&registry);
                let columns = match (self.tools, self.results) {
                    (false, false) => PACK_COLUMNS,
                    (true, false) => TOOL_COLUMNS,
                    (false, true) => PACK_COLUMNS_WITH_RESULTS,
                    (true, true) => TOOL_COLUMNS_WITH_RESULTS,
                };
                let (head, rows) = report.table(columns);
                context.terminal.table(&head.iter().map(String::as_str).collect::<Vec<_>>(), rows);
                if let Some(line) = describe_own_list(&registry) {
                    context.terminal.note(&line);
                }
                context.terminal.note("≈ tokens: bytes ÷ 4; `model` is name, description and input schema; `[server] lists = \"lean\"` sends `lean`");
            }
        }
        Ok(Exit::Success)
    }

    fn report(&self, registry: &Registry, results: &[(String, ResultSize)]) -> CostReport {
        let mut total = Cost::default();
        let packs = registry.packs.iter().map(|pack| {
            let mut cost = Cost::default();
            let tools = registry.tools.iter().filter(|tool| tool.pack.name == pack.name);
            tools.for_each(|tool| cost.add(&Cost::of(tool)));
            let computed = registry.instructions.get(&pack.name).map(String::as_str);
            cost.instructions = computed.or(pack.instructions.as_deref()).map_or(0, |text| text.trim().len());
            let own = results.iter().filter(|(name, _)| *name == pack.name);
            cost.results = own.map(|(_, result)| result.bytes).collect();
            (pack.name.as_str(), pack.name.as_str(), cost)
        });
        let packs: Vec<_> = packs.collect();
        packs.iter().for_each(|(_, _, cost)| total.add(cost));
        let mut rows = packs;
        if self.tools {
            let tools = registry.tools.iter().map(|tool| {
                let mut cost = Cost::of(tool);
                let own = results.iter().filter(|(pack, result)| *pack == tool.pack.name && result.tool == tool.name);
                cost.results = own.map(|(_, result)| result.bytes).collect();
                (tool.pack.name.as_str(), tool.name.as_str(), cost)
            });
            rows = tools.collect();
            rows.sort_by(|a, b| b.2.size.list.cmp(&a.2.size.list).then_with(|| a.1.cmp(b.1)));
        }
        let first = if self.tools { "tool" } else { "pack" };
        let row = |(pack, name, cost): (&str, &str, Cost)| {
            let mut row = cost.into_json(first, name);
            row["pack"] = json!(pack);
            row
        };
        CostReport { first, rows: rows.into_iter().map(row).collect(), total: total.into_json(first, "total") }
    }
}

//= docs/spec.md#command-line
//# An unknown pack name MUST be answered with the nearest name, and the name of an untrusted pack with that
//# reason.
fn check_names(context: &CommandContext, named: &[String]) -> Result<()> {
    if named.is_empty() {
        return Ok(());
    }
    let (files, found) = PackFiles::collect(&context.layers()?);
    let known = files.packs();
    let unknown = named.iter().find(|name| !known.contains(name));
    unknown.map_or(Ok(()), |name| Err(unknown_pack(name, &known, &found)))
}

/// Runs the examples and cases of the packs that serve, as `toolsd test` does: each result, and its pack.
fn measure_results(context: &CommandContext, registry: &Registry) -> Result<Vec<(String, ResultSize)>> {
    let layers = context.layers()?;
    let (files, _) = PackFiles::collect(&layers);
    let folders = case_folders(context, &layers)?;
    let (mut results, mut failed) = (Vec::new(), 0);
    for name in registry.packs.iter().map(|pack| &pack.name) {
        let service = Service::open(Arc::new(context.pack_source(PackChoice::Named(vec![name.clone()]))?));
        let merged = merge_definitions(name, &files.for_pack(name), Validation::Full);
        let served = service.registry();
        let Some(pack) = served.packs.iter().find(|pack| pack.name == *name) else { continue };
        for report in run_cases(context, &service, pack, &merged, &folders, false) {
            failed += usize::from(!report.diagnostics.is_empty());
            results.extend(report.results.into_iter().map(|result| (name.clone(), result)));
        }
    }
    if failed > 0 {
        context.terminal.note(&format!("{failed} of the cases failed, so their results may be missing: `toolsd test`"));
    }
    Ok(results)
}

impl Cost {
    fn of(tool: &ServedTool) -> Self {
        let lean = list_entry(tool, true).to_string().len();
        Self { tools: 1, size: ToolSize::of_served(tool), lean, ..Self::default() }
    }

    fn add(&mut self, more: &Self) {
        self.tools += more.tools;
        self.size += more.size;
        self.lean += more.lean;
        self.instructions += more.instructions;
        self.results.extend(&more.results);
    }

    fn into_json(mut self, first: &str, name: &str) -> Json {
        let ToolSize { list, description, input, output, annotations, model } = self.size;
        let mut row = json!({
            first: name, "tools": self.tools, "list": list, "description": description, "input": input,
            "output": output, "annotations": annotations, "model": model, "instructions": self.instructions,
            "lean": self.lean, "tokens": approximate_tokens(list), "lean_tokens": approximate_tokens(self.lean),
        });
        self.results.sort_unstable();
        if let Some(max) = self.results.last() {
            let p50 = self.results[(self.results.len() - 1) / 2];
            row["results"] = json!({ "count": self.results.len(), "p50": p50, "max": max });
        }
        row
    }
}

/// What clients get in place of all tools, or with them, if toolsd lists tools of its own.
fn describe_own_list(registry: &Registry) -> Option<String> {
    if registry.settings.workspace.host_tools().is_empty() {
        return None;
    }
    let listed = listed_tools(registry);
    let tokens = approximate_tokens(listed.iter().map(|(_, bytes)| bytes).sum());
    let last: Vec<String> = listed.iter().rev().take(6).map(|(name, _)| format!("`{name}`")).collect();
    let more = if listed.len() > last.len() { " and others" } else { "" };
    Some(format!("clients get a list of ≈ {tokens} tokens: {}{more}", last.join(", ")))
}
