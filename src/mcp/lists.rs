//! The lists of a generation, ready for each revision, and the pages that clients ask for.

use super::{Revision, Settings, about, published};
use crate::call::RequestHandler;
use crate::definition::TaskPolicy;
use crate::guard::Limits;
use crate::registry::{Registry, ServedTool};
use crate::value::Json;
use arc_swap::ArcSwapOption;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rayon::prelude::*;
use rmcp::model::{ClientRequest, ErrorData, Prompt, ResourceTemplate, ServerConfig, Tool};
use serde::de::DeserializeOwned;
use serde_json::{Map, json};
use std::collections::HashMap;
use std::sync::Arc;

/// What a generation publishes in one revision.
pub(crate) struct Lists {
    /// The generation.
    pub(crate) registry: Arc<Registry>,
    pub(crate) tools: Vec<Tool>,
    pub(crate) templates: Vec<ResourceTemplate>,
    pub(crate) prompts: Vec<Prompt>,
    /// What the server says of itself.
    pub(crate) about: ServerConfig,
    /// Who it says that it is.
    pub(crate) itself: Json,
    calls: HashMap<String, Calls>,
    /// Bytes of a resource, at most.
    resource: usize,
}

/// How a tool is called.
#[derive(Clone, Copy)]
pub(crate) struct Calls {
    /// Whether its results are wrapped where objects are wanted.
    pub(crate) wrapped: bool,
    /// Whether its calls run as tasks.
    pub(crate) task_policy: TaskPolicy,
    /// Whether its schema asks for headers.
    pub(crate) asks_headers: bool,
    /// Bytes of a result, at most.
    pub(crate) output: usize,
}

impl Lists {
    fn new(settings: &Settings, registry: Arc<Registry>, revision: Revision) -> Self {
        let tool = |served: &Arc<ServedTool>| {
            published::tool(served, revision).map_err(|error| left_out(&json!(served.name), &error)).ok()
        };
        let tools = registry.tools.par_iter().filter_map(tool).collect();
        let templates = registry.resources.iter().filter(|served| served.resource.is_template);
        let templates = templates.filter_map(|served| typed(published::template(served, revision))).collect();
        let prompts = registry.prompts.iter().filter_map(|prompt| typed(published::prompt(prompt, revision))).collect();
        let calls = registry.tools.iter().map(|tool| {
            let wrapped = tool.output.as_ref().is_some_and(published::is_wrapped);
            let asks_headers = asks_headers(&tool.input);
            (
                tool.name.clone(),
                Calls { wrapped, task_policy: tool.tool.task_policy, asks_headers, output: output_of(tool) },
            )
        });
        let calls = calls.collect();
        let resource = registry.resources.iter().map(|served| served.contract.limits.output).max().unwrap_or(0);
        let about = about::config(settings, &registry, revision);
        let itself = about::implementation(settings, &registry, revision);
        Self { registry, tools, templates, prompts, about, itself, calls, resource }
    }

    /// Bytes that the answer to a request may have, as far as a limit tells.
    pub(crate) fn weight(&self, request: &ClientRequest) -> usize {
        let usual = Limits::default().output;
        match request {
            ClientRequest::CallToolRequest(call) => self.calls.get(&*call.params.name).map_or(0, |calls| calls.output),
            ClientRequest::ReadResourceRequest(_) => self.resource.max(usual),
            _ => usual,
        }
    }

    /// How a tool is called; nothing if there is no such tool.
    pub(crate) fn calls(&self, tool: &str) -> Option<Calls> {
        self.calls.get(tool).copied()
    }
}

/// The lists of the generation in use, made when they are first asked for.
#[derive(Default)]
pub(crate) struct Shelf([ArcSwapOption<Lists>; Revision::ALL.len()]);

impl Shelf {
    /// The lists of the generation in use.
    pub(crate) fn lists(&self, settings: &Settings, service: &dyn RequestHandler, revision: Revision) -> Arc<Lists> {
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

/// Bytes of a result of a tool, whichever operation it is of.
fn output_of(tool: &ServedTool) -> usize {
    let operations = tool.contract.operations.iter().map(|checks| checks.limits.output);
    operations.chain([tool.contract.limits.output]).max().unwrap_or(0)
}

/// Whether a part of a schema is to be told in a header.
fn asks_headers(schema: &Map<String, Json>) -> bool {
    schema.contains_key("x-mcp-header") || schema.values().any(within)
}

fn within(value: &Json) -> bool {
    match value {
        Json::Object(map) => asks_headers(map),
        Json::Array(items) => items.iter().any(within),
        _ => false,
    }
}

/// An item as rmcp's type. What does not fit is left out, and the log says so: `check` is where it is found.
pub(crate) fn typed<T: DeserializeOwned>(item: Json) -> Option<T> {
    let name = item.get("name").cloned().unwrap_or_default();
    serde_json::from_value(item).map_err(|error| left_out(&name, &error)).ok()
}

fn left_out(name: &Json, error: &serde_json::Error) {
    tracing::error!(%name, %error, "left out of a list: the protocol does not take it");
}

/// A page of a list, and the cursor of the next one.
///
/// The cursor holds the kind of the list, how far it went, and the name of the last item: after a reload
/// the list goes on behind that item, wherever it is now.
///
/// # Errors
/// A cursor that is not one of ours, or not of this list.
pub(crate) fn page<T: Clone>(
    kind: &str,
    items: &[T],
    name: impl Fn(&T) -> &str,
    cursor: Option<&str>,
    size: Option<usize>,
) -> Result<(Vec<T>, Option<String>), ErrorData> {
    let start = match cursor {
        None | Some("") => 0,
        Some(cursor) => position(kind, items, &name, cursor)
            .ok_or_else(|| ErrorData::invalid_params("the cursor is not one of this list", None))?,
    };
    let end = size.map_or(items.len(), |size| items.len().min(start + size.max(1)));
    let page = items.get(start..end).unwrap_or_default().to_vec();
    let next = (end < items.len())
        .then(|| page.last().map(|last| URL_SAFE_NO_PAD.encode(format!("{kind}:{end}:{}", name(last)))))
        .flatten();
    Ok((page, next))
}

fn position<T>(kind: &str, items: &[T], name: impl Fn(&T) -> &str, cursor: &str) -> Option<usize> {
    let text = String::from_utf8(URL_SAFE_NO_PAD.decode(cursor).ok()?).ok()?;
    let (found, rest) = text.split_once(':')?;
    let (index, last) = rest.split_once(':')?;
    let index: usize = index.parse().ok().filter(|index| found == kind && *index > 0)?;
    if items.get(index - 1).is_some_and(|item| name(item) == last) {
        return Some(index);
    }
    Some(items.iter().position(|item| name(item) == last).map_or(index.min(items.len()), |at| at + 1))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn read_all(mut items: Vec<&'static str>, reload: Option<Vec<&'static str>>) -> Vec<&'static str> {
        let (mut all, mut cursor) = (Vec::new(), None::<String>);
        let mut reload = reload;
        loop {
            let (page, next) = page("t", &items, |item| item, cursor.as_deref(), Some(2)).unwrap();
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
    fn a_foreign_cursor_is_refused() {
        for cursor in ["x", "!", "dDowOmE", &URL_SAFE_NO_PAD.encode("other:1:a")] {
            assert_eq!(page("t", &["a", "b"], |item| item, Some(cursor), None).unwrap_err().code.0, -32602, "{cursor}");
        }
    }
}
