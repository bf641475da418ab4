//! The tools of the host itself: those that run scripts, and those that find and call tools which the list lacks.

use super::list_items::list_entry;
use crate::call::{CodeMode, Request, ScriptRequest, matches_name};
use crate::definition::{CALL_TOOL, DiscoverDefinition, FIND_TOOLS, RUN_SCRIPT, RUN_WRITING_SCRIPT};
use crate::diagnostic::{Code, Diagnostic, Result, did_you_mean};
use crate::primitive_api::Effect;
use crate::registry::{Registry, ServedTool};
use crate::value::Json;
use rmcp::model::{Tool, ToolAnnotations};
use serde_json::{Map, json};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::Arc;

/// Up to this number of tools, the description of `find_tools` has all names.
const MAX_NAMES: usize = 300;

/// The maximum number of tools that are described at once.
const MAX_DESCRIBED: usize = 50;

/// How many tools a search returns.
const FOUND: usize = 5;

/// The tools of the host in one generation of the registry.
#[derive(Default)]
pub(crate) struct HostTools {
    /// What `run_script` may do.
    reading: Option<CodeMode>,
    /// What `run_writing_script` may do.
    writing: Option<CodeMode>,
    discover: Option<DiscoverDefinition>,
}

/// The names of the tools that clients get in their list, each with its size in bytes: those of packs as far as they
/// are listed, and those of the host.
pub fn listed_tools(registry: &Registry) -> Vec<(String, usize)> {
    let host = HostTools::new(registry);
    let is_lean = registry.settings.workspace.server.has_lean_lists();
    let of_packs = registry.tools.iter().filter(|tool| host.lists(tool));
    let of_packs = of_packs.map(|tool| (tool.name.clone(), list_entry(tool, is_lean).to_string().len()));
    let own = host.items(registry).into_iter().map(|tool| {
        let bytes = serde_json::to_string(&tool).map_or(0, |text| text.len());
        (tool.name.to_string(), bytes)
    });
    of_packs.chain(own).collect()
}

/// What a call of a tool of the host stands for.
pub(crate) enum HostCall {
    /// Another request.
    Request(Request),
    /// The call of another tool.
    Tool { name: String, arguments: Map<String, Json> },
}

impl HostTools {
    pub(crate) fn new(registry: &Registry) -> Self {
        let workspace = &registry.settings.workspace;
        let mut tools = Self { discover: workspace.discover.clone(), ..Self::default() };
        if let Some(definition) = &workspace.code_mode {
            let allow = definition.allow.unwrap_or(Effect::Reads);
            let remedy = match definition.may_write() {
                true => "use `run_writing_script`",
                false => "start the server with `--code-mode=EFFECT`",
            };
            tools.reading = Some(CodeMode::new(Some(definition), Some(allow.min(Effect::Reads)), remedy));
            let remedy = "start the server with `--code-mode=EFFECT`";
            tools.writing = definition.may_write().then(|| CodeMode::new(Some(definition), Some(allow), remedy));
        }
        tools
    }

    /// Whether a tool of a pack is listed.
    pub(crate) fn lists(&self, tool: &ServedTool) -> bool {
        let pinned = |discover: &DiscoverDefinition| {
            tool.definition.discovery.pinned || discover.pin.iter().any(|pattern| matches_name(pattern, &tool.name))
        };
        !tool.definition.is_hidden && self.discover.as_ref().is_none_or(pinned)
    }

    /// The names of the tools of the host.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        let scripts = self.reading.iter().map(|_| RUN_SCRIPT).chain(self.writing.iter().map(|_| RUN_WRITING_SCRIPT));
        let found: &[&str] = if self.discover.is_some() { &[FIND_TOOLS, CALL_TOOL] } else { &[] };
        scripts.chain(found.iter().copied()).collect::<Vec<_>>().into_iter()
    }

    /// The maximum size of a result, in bytes.
    pub(crate) fn max_result_bytes(&self) -> usize {
        self.reading.iter().chain(&self.writing).map(|rules| rules.limits.output).max().unwrap_or(0)
    }

    /// The tools of the host as a list has them.
    //= docs/spec.md#code-mode
    //# The list of tools MUST NOT vary by connection or by earlier requests.
    pub(crate) fn items(&self, registry: &Registry) -> Vec<Tool> {
        let mut items = Vec::new();
        if let Some(rules) = &self.reading {
            let about = describe_script(registry, rules);
            items.push(item(RUN_SCRIPT, about, script_schema(), (true, false)));
        }
        if let Some(rules) = &self.writing {
            let about = format!(
                "Runs a script as `{RUN_SCRIPT}` does, whose calls may also change something (up to the effect `{}`). Each call takes effect by itself; an error lists what was changed before it. `dry_run` shows what would change.",
                rules.allow.name()
            );
            items.push(item(RUN_WRITING_SCRIPT, about, writing_schema(), (false, true)));
        }
        if self.discover.is_some() {
            let schema = json!({ "type": "object", "properties": {
                "query": { "type": "string" },
                "names": { "type": "array", "items": { "type": "string" } },
                "pack": { "type": "string" },
            } });
            items.push(item(FIND_TOOLS, describe_search(registry), schema, (true, false)));
            let schema = json!({ "type": "object", "properties": {
                "name": { "type": "string" }, "arguments": { "type": "object" },
            }, "required": ["name"] });
            let about = "Calls a tool that `find_tools` shows.".to_owned();
            items.push(item(CALL_TOOL, about, schema, (false, true)));
        }
        items
    }

    /// What a call stands for; `None` if the name is not that of a tool of the host.
    ///
    /// # Errors
    /// Arguments that do not fit: all problems at once.
    pub(crate) fn resolve(&self, name: &str, arguments: &Map<String, Json>) -> Option<Result<HostCall>> {
        let rules = match name {
            RUN_SCRIPT => self.reading.as_ref(),
            RUN_WRITING_SCRIPT => self.writing.as_ref(),
            FIND_TOOLS => return self.discover.as_ref().map(|discover| find_request(discover, arguments)),
            CALL_TOOL => return self.discover.as_ref().map(|_| call_request(arguments)),
            _ => None,
        };
        rules.map(|rules| script_request(name, rules, arguments))
    }
}

/// An argument of a tool of the host: its name, which values it takes, and these in words.
type HostArgument = (&'static str, fn(&Json) -> bool, &'static str);

/// Refuses arguments that a tool of the host does not have, and values of other kinds.
fn check_arguments(tool: &str, arguments: &Map<String, Json>, known: &[HostArgument]) -> Result<()> {
    let mut problems = Vec::new();
    for (name, value) in arguments.iter().filter(|(_, value)| !value.is_null()) {
        match known.iter().find(|(known, _, _)| known == name) {
            Some((_, fits, kind)) if !fits(value) => problems.push(format!("`{name}` is not {kind}")),
            Some(_) => {}
            None => {
                let nearest = did_you_mean(name, known.iter().map(|(known, _, _)| *known));
                let nearest = nearest.map_or_else(String::new, |nearest| format!("; {nearest}"));
                problems.push(format!("there is no `{name}`{nearest}"));
            }
        }
    }
    if problems.is_empty() {
        return Ok(());
    }
    let names: Vec<String> = known.iter().map(|(name, _, kind)| format!("`{name}` ({kind})")).collect();
    let message = format!("the arguments of `{tool}` do not fit: {}", problems.join("; "));
    Err(Diagnostic::new(Code::ARGUMENTS, message).help(format!("it takes {}", names.join(", "))))
}

fn missing(tool: &str, name: &str, help: &str) -> Box<Diagnostic> {
    Diagnostic::new(Code::ARGUMENTS, format!("the arguments of `{tool}` do not fit: `{name}` is missing")).help(help)
}

fn script_request(tool: &str, rules: &CodeMode, arguments: &Map<String, Json>) -> Result<HostCall> {
    check_arguments(
        tool,
        arguments,
        &[
            ("script", Json::is_string, "a string"),
            ("input", |_| true, "any value"),
            ("dry_run", Json::is_boolean, "true or false"),
        ],
    )?;
    let Some(text) = arguments.get("script").and_then(Json::as_str) else {
        return Err(missing(tool, "script", "pass the script as a string"));
    };
    let is_dry = arguments.get("dry_run").and_then(Json::as_bool).unwrap_or(false);
    let input = arguments.get("input").cloned().unwrap_or_default();
    let request = ScriptRequest { text: text.to_owned(), input, is_dry, rules: rules.clone() };
    Ok(HostCall::Request(Request::Script(Box::new(request))))
}

fn find_request(discover: &DiscoverDefinition, arguments: &Map<String, Json>) -> Result<HostCall> {
    let is_names = |value: &Json| value.as_array().is_some_and(|items| items.iter().all(Json::is_string));
    check_arguments(
        FIND_TOOLS,
        arguments,
        &[
            ("query", Json::is_string, "a string"),
            ("names", is_names, "an array of strings"),
            ("pack", Json::is_string, "a string"),
        ],
    )?;
    let text = |key: &str| arguments.get(key).and_then(Json::as_str).map(str::to_owned);
    let names = arguments.get("names").and_then(Json::as_array).into_iter().flatten();
    let mut known = BTreeSet::new();
    let names = names.filter_map(Json::as_str).filter(|name| known.insert(*name));
    let names: Vec<String> = names.map(str::to_owned).collect();
    if names.len() > MAX_DESCRIBED {
        let message =
            format!("`names` has {} names, and at most {MAX_DESCRIBED} tools are described at once", names.len());
        return Err(Diagnostic::new(Code::ARGUMENTS, message).help("ask for those that you will call"));
    }
    let query = text("query").filter(|query| !query.trim().is_empty());
    if query.is_none() && names.is_empty() {
        return Err(missing(FIND_TOOLS, "query", "pass words as `query`, or `names`"));
    }
    let limit = discover.limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(FOUND);
    Ok(HostCall::Request(Request::FindTools { query, names, pack: text("pack"), limit }))
}

fn call_request(arguments: &Map<String, Json>) -> Result<HostCall> {
    check_arguments(
        CALL_TOOL,
        arguments,
        &[("name", Json::is_string, "a string"), ("arguments", Json::is_object, "an object")],
    )?;
    let Some(name) = arguments.get("name").and_then(Json::as_str) else {
        return Err(missing(CALL_TOOL, "name", "pass the name of a tool; `find_tools` finds it"));
    };
    let own = arguments.get("arguments").and_then(Json::as_object).cloned().unwrap_or_default();
    Ok(HostCall::Tool { name: name.to_owned(), arguments: own })
}

fn item(name: &'static str, description: String, schema: Json, (reads, destroys): (bool, bool)) -> Tool {
    let schema = match schema {
        Json::Object(schema) => schema,
        _ => Map::new(),
    };
    let mut tool = Tool::new(name, description, Arc::new(schema));
    let hints = ToolAnnotations::new().read_only(reads);
    tool.annotations = Some(if destroys { hints.destructive(true) } else { hints });
    tool
}

fn script_schema() -> Json {
    json!({ "type": "object", "properties": {
        "script": { "type": "string" },
        "input": { "description": "Data for the script: its constant `input`." },
    }, "required": ["script"] })
}

/// A script that only reads needs no dry run.
fn writing_schema() -> Json {
    let mut schema = script_schema();
    schema["properties"]["dry_run"] =
        json!({ "type": "boolean", "description": "Changes nothing, and tells what would change." });
    schema
}

/// What a model reads of `run_script`: when to use it, how tools are found and called, what differs from other
/// languages, and an example with tools that are served.
fn describe_script(registry: &Registry, rules: &CodeMode) -> String {
    let mut text = String::from(
        "Runs a rhai script that calls this server's tools as functions; only its last value comes back. Use it to chain calls, to loop, or to filter large results; for one call use the tool itself.\n\n",
    );
    text.push_str(
        "`tools(\"words\")` → [#{ name, signature, about }]; `describe(\"name\")` → arguments and result in full.\n",
    );
    let _infallible = writeln!(
        text,
        "Call: `name(#{{ id: \"R-1\" }})` or `call_tool(\"name\", #{{ … }})`, at most {} calls. Results are data. A failed call throws: `try {{ x = f(#{{}}) }} catch (e) {{ e.message }}` (a statement, no value). At once: `parallel(ids, |id| f(#{{ id: id }}))`.\n",
        rules.calls
    );
    text.push_str(
        "Rhai: `let x = 1;` with semicolons; `for r in rows { }`; `if a { 1 } else { 2 }` has a value; maps `#{ key: v }`; closures `|x| x.id`; nothing is `()`, `a ?? b`; texts \"a\" or `${n} of ${m}`; 3 / 2 is 1.\nArrays: map filter find some all reduce sum unique take(5) skip(5) sort(\"-field\") group_by(\"field\") count_by(\"field\") flatten contains len. Maps: keys values in. Texts: split join trim replace starts_with to_lower. No await, arrow, ?:, spread, ++.",
    );
    if let Some(example) = example(registry, rules) {
        let _infallible = write!(text, "\n\n{example}");
    }
    text
}

/// Two lines that call a tool which reads and has a list in its result.
fn example(registry: &Registry, rules: &CodeMode) -> Option<String> {
    let callable = |tool: &&Arc<ServedTool>| {
        let required = tool.contract.schema.get("required").and_then(Json::as_array).map_or(0, Vec::len);
        tool.definition.effect.value <= Effect::Reads && rules.allows_name(&tool.name) && required == 0
    };
    registry.tools.iter().filter(callable).find_map(|tool| {
        let properties = tool.contract.output.as_ref()?.get("properties")?.as_object()?;
        let (list, items) = properties.iter().find_map(|(name, schema)| {
            let item = schema.get("items")?.get("properties")?.as_object()?.keys().next()?;
            Some((name, item.clone()))
        })?;
        Some(format!(
            "let rows = {}(#{{}}).{list};\nrows.filter(|r| r.{items} != ()).map(|r| r.{items}).take(5)",
            tool.name
        ))
    })
}

fn describe_search(registry: &Registry) -> String {
    let mut text = String::from(
        "Finds tools by words (`query`), or describes them in full (`names`). Call them with `call_tool`.",
    );
    if registry.tools.len() > MAX_NAMES {
        for pack in &registry.packs {
            let count = registry.tools.iter().filter(|tool| tool.pack.name == pack.name).count();
            let _infallible = write!(text, "\n{}: {count} tools", pack.name);
        }
        return text;
    }
    for pack in &registry.packs {
        let names = registry.tools.iter().filter(|tool| tool.pack.name == pack.name).map(|tool| tool.name.as_str());
        let names = names.collect::<Vec<_>>().join(" ");
        let _infallible = write!(text, "\n{}: {names}", pack.name);
    }
    text
}
