//! What the server publishes: its name and instructions, and its lists, prepared for each revision and paged.

use super::host_tools::HostTools;
use super::list_items::{log_left_out, prompt_item, template_item, to_protocol_type, tool_item};
use super::result_form::ResultForm;
use super::revision::Revision;
use super::settings::ServerSettings;
use crate::call::RequestHandler;
use crate::definition::{TaskPolicy, TaskSupport};
use crate::diagnostic::Diagnostic;
use crate::guard::Limits;
use crate::registry::{NAME_CLASH, NO_PACK, PackPart, Registry, ServedTool, is_withheld, is_wrapped, takes_notices};
use crate::value::Json;
use arc_swap::ArcSwapOption;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rayon::prelude::*;
use rmcp::model::{
    ClientRequest, ErrorData, Prompt, ResourceTemplate, SKILLS_EXTENSION_ID, ServerConfig, TASKS_EXTENSION_ID, Tool,
};
use serde_json::{Map, json};
use std::collections::HashMap;
use std::sync::Arc;

/// What one generation of the registry publishes in one revision.
pub(crate) struct Lists {
    /// The packs of the generation.
    pub(crate) registry: Arc<Registry>,
    /// The tools of the host itself.
    pub(crate) host_tools: HostTools,
    pub(crate) tools: Vec<Tool>,
    pub(crate) templates: Vec<ResourceTemplate>,
    pub(crate) prompts: Vec<Prompt>,
    /// The result of a handshake: capabilities, name and instructions.
    pub(crate) server_config: ServerConfig,
    /// The name and version of the server, as results carry them.
    pub(crate) server_info: Json,
    tools_by_name: HashMap<String, ToolTraits>,
    /// The largest size limit of any resource, in bytes.
    max_resource_bytes: usize,
}

/// The properties of a tool that matter for a call.
#[derive(Clone, Copy)]
pub(crate) struct ToolTraits {
    pub(crate) form: ResultForm,
    /// Whether, and for how long, its calls run as tasks.
    pub(crate) task_policy: TaskPolicy,
    /// Whether its schema asks for arguments in HTTP headers.
    pub(crate) asks_headers: bool,
    /// The size limit of a result, in bytes.
    pub(crate) max_result_bytes: usize,
}

impl Lists {
    fn new(settings: &ServerSettings, registry: Arc<Registry>, revision: Revision) -> Self {
        let tool = |served: &Arc<ServedTool>| {
            tool_item(served, revision, settings.lean_lists)
                .map_err(|error| log_left_out(&json!(served.name), &error))
                .ok()
        };
        let host_tools = HostTools::new(&registry);
        let mut tools: Vec<Tool> =
            registry.tools.par_iter().filter(|served| host_tools.lists(served)).filter_map(tool).collect();
        tools.extend(host_tools.items(&registry));
        let templates = registry.resources.iter().filter(|served| served.definition.is_template);
        let templates = templates.filter_map(|served| to_protocol_type(template_item(served, revision))).collect();
        let prompts =
            registry.prompts.iter().filter_map(|prompt| to_protocol_type(prompt_item(prompt, revision))).collect();
        let tools_by_name = registry.tools.iter().flat_map(|tool| {
            let output = tool.contract.output.as_ref();
            let wrapped = output.is_some_and(is_wrapped);
            let asks_headers = asks_headers(&tool.contract.schema);
            let traits = ToolTraits {
                form: ResultForm {
                    wrapped,
                    short_text: settings.short_text,
                    takes_notices: (wrapped && !revision.is_stateless()) || takes_notices(output),
                    is_described: output.is_some(),
                },
                task_policy: tool.definition.task_policy,
                asks_headers,
                max_result_bytes: max_output_bytes(tool),
            };
            // A name goes before a former name that is the same.
            let is_free = |alias: &String| registry.tools.iter().all(|other| other.name != *alias);
            let aliases = tool.aliases().filter(is_free).collect::<Vec<_>>();
            std::iter::once(tool.name.clone()).chain(aliases).map(move |name| (name, traits))
        });
        let own = ToolTraits {
            form: ResultForm { short_text: settings.short_text, takes_notices: true, ..ResultForm::default() },
            task_policy: TaskPolicy::default(),
            asks_headers: false,
            max_result_bytes: host_tools.max_result_bytes().max(Limits::default().output),
        };
        let tools_by_name = tools_by_name.chain(host_tools.names().map(|name| (name.to_owned(), own))).collect();
        let max_resource_bytes =
            registry.resources.iter().map(|served| served.contract.limits.output).max().unwrap_or(0);
        let server_config = server_config(settings, &registry, revision);
        let server_info = server_info(settings, &registry, revision);
        Self {
            registry,
            host_tools,
            tools,
            templates,
            prompts,
            server_config,
            server_info,
            tools_by_name,
            max_resource_bytes,
        }
    }

    /// How many bytes the answer to a request may have, as far as the limits of its pack say.
    pub(crate) fn answer_bytes(&self, request: &ClientRequest) -> usize {
        let usual = Limits::default().output;
        match request {
            ClientRequest::CallToolRequest(call) => {
                self.tools_by_name.get(&*call.params.name).map_or(0, |traits| traits.max_result_bytes)
            }
            ClientRequest::ReadResourceRequest(_) => self.max_resource_bytes.max(usual),
            _ => usual,
        }
    }

    /// The properties of a tool that matter for a call; `None` if there is no such tool.
    pub(crate) fn tool_traits(&self, tool: &str) -> Option<ToolTraits> {
        self.tools_by_name.get(tool).copied()
    }
}

/// The lists of the current generation, for each revision, made when they are first needed.
#[derive(Default)]
pub(crate) struct ListCache([ArcSwapOption<Lists>; Revision::ALL.len()]);

impl ListCache {
    /// The lists of the current generation.
    pub(crate) fn lists(
        &self,
        settings: &ServerSettings,
        service: &dyn RequestHandler,
        revision: Revision,
    ) -> Arc<Lists> {
        let registry = service.registry();
        let slot = &self.0[revision.index()];
        if let Some(lists) = slot.load_full()
            && Arc::ptr_eq(&lists.registry, &registry)
        {
            return lists;
        }
        let lists = Arc::new(Lists::new(settings, registry, revision));
        slot.store(Some(Arc::clone(&lists)));
        lists
    }
}

/// The largest size limit of all operations of a tool, in bytes.
fn max_output_bytes(tool: &ServedTool) -> usize {
    let operations = tool.contract.operations.iter().map(|checks| checks.limits.output);
    operations.chain([tool.contract.limits.output]).max().unwrap_or(0)
}

/// Whether a schema asks for arguments in HTTP headers.
fn asks_headers(schema: &Map<String, Json>) -> bool {
    schema.contains_key("x-mcp-header") || schema.values().any(value_asks_headers)
}

fn value_asks_headers(value: &Json) -> bool {
    match value {
        Json::Object(map) => asks_headers(map),
        Json::Array(items) => items.iter().any(value_asks_headers),
        _ => false,
    }
}

/// One page of a list, and the cursor of the next one.
///
/// A cursor holds the kind of the list, and the index and the name of the last item. After a reload the list continues
/// after that item, wherever it is then.
///
/// # Errors
/// The cursor was not made by this server for this list.
pub(crate) fn paginate<T: Clone>(
    kind: &str,
    items: &[T],
    name: impl Fn(&T) -> &str,
    cursor: Option<&str>,
    size: Option<usize>,
) -> Result<(Vec<T>, Option<String>), ErrorData> {
    let start = match cursor {
        None | Some("") => 0,
        Some(cursor) => cursor_position(kind, items, &name, cursor)
            .ok_or_else(|| ErrorData::invalid_params("the cursor does not belong to this list", None))?,
    };
    let end = size.map_or(items.len(), |size| items.len().min(start + size.max(1)));
    let page = items.get(start..end).unwrap_or_default().to_vec();
    let next = (end < items.len())
        .then(|| page.last().map(|last| URL_SAFE_NO_PAD.encode(format!("{kind}:{end}:{}", name(last)))))
        .flatten();
    Ok((page, next))
}

fn cursor_position<T>(kind: &str, items: &[T], name: impl Fn(&T) -> &str, cursor: &str) -> Option<usize> {
    let text = String::from_utf8(URL_SAFE_NO_PAD.decode(cursor).ok()?).ok()?;
    let (found, rest) = text.split_once(':')?;
    let (index, last) = rest.split_once(':')?;
    let index: usize = index.parse().ok().filter(|index| found == kind && *index > 0)?;
    if items.get(index - 1).is_some_and(|item| name(item) == last) {
        return Some(index);
    }
    Some(items.iter().position(|item| name(item) == last).map_or(index.min(items.len()), |at| at + 1))
}

/// The result of a handshake.
pub(crate) fn server_config(settings: &ServerSettings, registry: &Registry, revision: Revision) -> ServerConfig {
    let mut config = json!({
        "protocolVersion": revision.name(),
        "capabilities": capabilities(registry, revision),
        "serverInfo": server_info(settings, registry, revision),
    });
    if let Some(instructions) = instructions(registry) {
        config["instructions"] = json!(instructions);
    }
    // The parts that come from definitions were checked when they were loaded. The rest is constant.
    serde_json::from_value(config).unwrap_or_else(|error| {
        tracing::error!(%error, "the description of the server does not fit the protocol");
        ServerConfig::default()
    })
}

fn capabilities(registry: &Registry, revision: Revision) -> Json {
    let mut capabilities = json!({
        "logging": {},
        "tools": { "listChanged": true },
        "resources": { "subscribe": true, "listChanged": true },
        "prompts": { "listChanged": true },
    });
    if revision.has_hints() {
        capabilities["completions"] = json!({});
    }
    let mut extensions = Map::new();
    if registry.has_skills() {
        extensions.insert(SKILLS_EXTENSION_ID.to_owned(), json!({ "directoryRead": true }));
    }
    let has_tasks = registry.tools.iter().any(|served| served.definition.task_policy.task != TaskSupport::Never);
    if has_tasks && revision.is_stateless() {
        extensions.insert(TASKS_EXTENSION_ID.to_owned(), json!({}));
    }
    if !extensions.is_empty() {
        capabilities["extensions"] = Json::Object(extensions);
    }
    capabilities
}

/// Name, version, title and icons of the server.
pub(crate) fn server_info(settings: &ServerSettings, registry: &Registry, revision: Revision) -> Json {
    let mut info = Map::new();
    info.insert("name".to_owned(), json!(settings.name));
    if revision.has_structured() {
        let only = match registry.packs.as_slice() {
            [pack] => Some(pack.definition.title.value.clone()),
            _ => None,
        };
        if let Some(title) = settings.title.clone().or(only) {
            info.insert("title".to_owned(), json!(title));
        }
    }
    info.insert("version".to_owned(), json!(settings.version));
    if revision.has_icons() {
        if !settings.icons.is_empty() {
            info.insert("icons".to_owned(), json!(settings.icons));
        }
        if let Some(url) = &settings.website_url {
            info.insert("websiteUrl".to_owned(), json!(url));
        }
    }
    Json::Object(info)
}

/// The instructions of each served pack, under its title. If no pack serves, the paths that each pack looked for.
fn instructions(registry: &Registry) -> Option<String> {
    let mut parts: Vec<String> = Vec::new();
    for pack in &registry.packs {
        let computed = registry.instructions.get(&pack.name).map(String::as_str);
        let text = computed.or(pack.instructions.as_deref()).map(str::trim);
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            parts.push(format!("# {}\n\n{text}", pack.definition.title.value));
        }
    }
    parts.extend(missing_packs(registry));
    if registry.packs.is_empty() && !registry.dormant.is_empty() {
        let mut text = String::from("No pack serves in this workspace. Each looked for one of these paths:\n");
        for (name, markers) in &registry.dormant {
            let markers: Vec<String> = markers.iter().map(|marker| format!("`{marker}`")).collect();
            let markers = if markers.is_empty() { "served only by name".to_owned() } else { markers.join(", ") };
            text.push_str(&format!("\n- {name}: {markers}"));
        }
        parts.push(text);
    }
    parts.extend(not_served(registry));
    (!parts.is_empty()).then(|| parts.join("\n\n"))
}

/// The packs that are not loaded, although the command line or a trusted file names them: they explain why nothing, or
/// not everything, serves. Names in other files are omitted, as anybody may have written them.
fn missing_packs(registry: &Registry) -> impl Iterator<Item = String> {
    let is_named = |error: &&Diagnostic| error.at.is_none() || registry.settings.trusted && error.is_error();
    let absent = registry.diagnostics.iter().filter(|error| error.code == NO_PACK).filter(is_named);
    absent.map(|error| format!("The server was started for a pack that is not loaded: {error}"))
}

/// How many refusals are listed one by one; `toolsd://status` lists all of them.
const MAX_REFUSALS: usize = 8;

/// What is broken or withheld, why, and what the user can do. Untrusted names appear only if they are plain: the author
/// of the workspace chose them, and a model reads this text.
//= docs/spec.md#reload
//# Packs and parts that are not active MUST be named in the instructions, with the reason and the next step.
fn not_served(registry: &Registry) -> Option<String> {
    let mut lines: Vec<String> = Vec::new();
    let is_whole = |pack: &str| registry.refusal(PackPart::Pack, pack).is_some();
    let reported = registry.refused.iter().filter(|refused| refused.part == PackPart::Pack || !is_whole(&refused.pack));
    // Withheld parts are listed below.
    for refused in reported.filter(|refused| !is_withheld(&refused.why)) {
        let of =
            if refused.part == PackPart::Pack { String::new() } else { format!(" of the pack `{}`", refused.pack) };
        let (part, name, why) = (refused.part.name(), &refused.name, &refused.why.message);
        lines.push(format!("the {part} `{name}`{of} is broken: {why} (`toolsd check` shows where)"));
    }
    let clashes = registry.diagnostics.iter().filter(|error| error.code == NAME_CLASH);
    let clashes = clashes.filter(|error| registry.refused.iter().all(|refused| refused.why != **error));
    lines.extend(clashes.map(|error| format!("{}: the first one keeps the name", error.message)));
    let left = lines.len().saturating_sub(MAX_REFUSALS);
    lines.truncate(MAX_REFUSALS);
    if left > 0 {
        lines.push(format!("{left} more are not served"));
    }
    let untrusted: Vec<_> = registry.withheld().collect();
    if !untrusted.is_empty() {
        let mut names: Vec<&str> = untrusted.iter().filter_map(|error| named_pack(error)).collect();
        names.dedup();
        let of = if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) };
        lines.push(format!(
            "files of this workspace are not trusted{of}: the user can read them and run `toolsd trust` in a terminal"
        ));
    }
    if lines.is_empty() {
        return None;
    }
    let list: String = lines.iter().map(|line| format!("\n- {line}")).collect();
    Some(format!("# Not served\n\nSome parts of this workspace are not served; `{STATUS}` has the details.\n{list}"))
}

/// The pack of a withheld file, if its name is plain: short, of ASCII letters, digits, `-` and `_`.
fn named_pack(error: &Diagnostic) -> Option<&str> {
    let path = error.at.as_ref()?.source.path.as_str();
    let rest = path.strip_prefix(".toolsd/tools.d/")?;
    let name = rest.split(['/', '.']).next()?;
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
    (name.len() <= 40 && name.chars().all(is_plain)).then_some(name)
}

/// The status resource as a list item.
pub(crate) fn status_item() -> Json {
    json!({
        "uri": STATUS,
        "name": "status",
        "title": "Status of this server",
        "description": "The packs that serve, those that do not, and the current errors of their files.",
    })
}

/// The URI of the status resource, which lists the current errors.
pub(crate) const STATUS: &str = "toolsd://status";

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn read_all(mut items: Vec<&'static str>, reload: Option<Vec<&'static str>>) -> Vec<&'static str> {
        let (mut all, mut cursor) = (Vec::new(), None::<String>);
        let mut reload = reload;
        loop {
            let (page, next) = paginate("t", &items, |item| item, cursor.as_deref(), Some(2)).unwrap();
            all.extend(page);
            cursor = next;
            if cursor.is_none() {
                return all;
            }
            if let Some(reloaded) = reload.take() {
                items = reloaded;
            }
        }
    }

    #[test]
    fn pages_go_on_after_a_reload() {
        assert_eq!(read_all(vec!["a", "b", "c", "d", "e"], None), ["a", "b", "c", "d", "e"]);
        assert_eq!(read_all(vec!["a", "b", "c"], Some(vec!["0", "a", "b", "c"])), ["a", "b", "c"]);
        assert_eq!(read_all(vec!["a", "b", "c"], Some(vec!["a"])), ["a", "b"]);
    }

    #[test]
    fn a_server_without_tasks_does_not_offer_them() {
        for revision in Revision::ALL {
            assert_eq!(capabilities(&Registry::default(), revision).get("extensions"), None);
        }
    }

    #[test]
    fn a_foreign_cursor_is_refused() {
        for cursor in ["x", "!", "dDowOmE", &URL_SAFE_NO_PAD.encode("other:1:a")] {
            assert_eq!(
                paginate("t", &["a", "b"], |item| item, Some(cursor), None).unwrap_err().code.0,
                -32602,
                "{cursor}"
            );
        }
    }
}
