//! Handles each request of the protocol.
#![allow(deprecated, reason = "logging and subscribe are deprecated in the newest revision and alive in the others")]

use super::connection::{Connection, Followed};
use super::elicitation::ElicitationMode;
use super::list_items::{resource_item, skill_folder_items, skill_item, to_protocol_type, to_skill_item};
use super::lists::{STATUS, paginate, status_item};
use super::message::{is_removed_method, malformed_params_error, unknown_method_error};
use super::notices::from_logging_level;
use super::render::{mcp_error, prompt_result, resource_result, unexpected_answer_error, unknown_name_error};
use super::revision::Revision;
use super::sender::{LARGE_MESSAGE_BYTES, run_blocking};
use super::tool_call::{answer_task, answer_tool_call, cancel_task, get_task};
use crate::call::{Answer, CompletionTarget, Request};
use crate::definition::ItemKind;
use crate::diagnostic::Diagnostic;
use crate::registry::{MAX_URI_BYTES, Skill};
use crate::value::Json;
use rmcp::model::*;
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{RoleServer, ServerHandler};
use serde_json::{Map, json};
use std::sync::Arc;

/// How many resources or skills a page lists by default: there is one for each file or node.
const DEFAULT_RESOURCE_PAGE_SIZE: usize = 100;

fn revision_of(context: &RequestContext<RoleServer>) -> Revision {
    Revision::from_version(context.protocol_version().as_ref())
}

fn cursor_of(request: Option<&PaginatedRequestParams>) -> Option<&str> {
    request.and_then(|request| request.cursor.as_deref())
}

fn uri_of(listed: &Json) -> &str {
    listed["uri"].as_str().unwrap_or_default()
}

macro_rules! finish_list {
    ($self:ident, $result:ident, $revision:ident, $next:ident) => {{
        $result.next_cursor = $next;
        ($result.ttl_ms, $result.cache_scope) = $self.cache_hints($revision);
        $self.stamp_server_info(&mut $result.meta, $revision);
        Ok($result)
    }};
}

impl ServerHandler for Connection {
    fn get_info(&self) -> ServerConfig {
        self.lists(Revision::Stateless).server_config.clone()
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        context.peer.set_peer_info(request.clone());
        let negotiated = self.negotiate_initialize(&request)?;
        let revision = Revision::from_version(Some(&negotiated.protocol_version));
        let mut result = self.lists(revision).server_config.clone();
        result.protocol_version = negotiated.protocol_version;
        Ok(result)
    }

    async fn discover(&self, _context: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let versions = self.supported_protocol_versions().into_owned();
        let mut result = DiscoverResult::from_server_info(versions, self.get_info());
        result.ttl_ms = self.server.settings.lists_ttl_ms;
        Ok(result)
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let revision = revision_of(&context);
        let lists = self.lists(revision);
        let size = self.server.settings.page_size;
        let (items, next) = paginate("tools", &lists.tools, |tool| &tool.name, cursor_of(request.as_ref()), size)?;
        let mut result = ListToolsResult::with_all_items(items);
        finish_list!(self, result, revision, next)
    }

    //= docs/spec.md#http
    //# A request whose headers contradict its body, or lack one that the tool requires, MUST be refused with
    //# code -32020.
    // rmcp compares headers with the body; the schemas that ask for headers with `x-mcp-header` come from here.
    fn get_tool(&self, name: &str) -> Option<Tool> {
        let lists = self.lists(Revision::Stateless);
        lists.tool_traits(name).filter(|calls| calls.asks_headers)?;
        lists.tools.iter().find(|tool| tool.name == name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        answer_tool_call(self, request, (&context).into(), revision_of(&context)).await
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        let mut result = GetTaskResult::new(get_task(&self.server.tasks, &request.task_id, (&context).into())?);
        self.stamp_server_info(&mut result.meta, revision_of(&context));
        Ok(result)
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        answer_task(&self.server.tasks, &request.task_id, request.input_responses, (&context).into())
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        cancel_task(&self.server.tasks, &request.task_id, (&context).into())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let revision = revision_of(&context);
        let known = cursor_of(request.as_ref()).and_then(|_| self.server.listed_resources.load_full());
        let all = match known {
            Some(known) => known,
            None => self.resources((&context).into(), revision).await?,
        };
        let status = status_item();
        let own = (!all.iter().any(|listed| listed["uri"] == STATUS)).then_some(&status);
        let all: Vec<&Json> = all.iter().chain(own).collect();
        let size = Some(self.server.settings.page_size.unwrap_or(DEFAULT_RESOURCE_PAGE_SIZE));
        let (items, next) = paginate("resources", &all, |listed| uri_of(listed), cursor_of(request.as_ref()), size)?;
        let items = items.iter().filter_map(|listed| to_protocol_type(resource_item(listed, revision))).collect();
        let mut result = ListResourcesResult::with_all_items(items);
        finish_list!(self, result, revision, next)
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let revision = revision_of(&context);
        let lists = self.lists(revision);
        let size = self.server.settings.page_size;
        let cursor = cursor_of(request.as_ref());
        let (items, next) = paginate("templates", &lists.templates, |item| &item.uri_template, cursor, size)?;
        let mut result = ListResourceTemplatesResult::with_all_items(items);
        finish_list!(self, result, revision, next)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let revision = revision_of(&context);
        let uri = request.uri;
        let (answers, state) = (request.input_responses, request.request_state);
        let request = Request::Read { uri: uri.clone() };
        let mode = self.elicitation_mode(&request, answers, state.as_deref(), revision)?;
        let kept = revision.is_stateless().then(|| request.clone());
        match self.answer(request, mode, (&context).into(), revision).await? {
            Answer::Asks(asks) => Ok(self.input_required(&asks, kept.as_ref(), revision)?.into()),
            Answer::Contents(contents) => {
                let bytes = contents.bytes();
                let render = || resource_result(&contents, revision);
                let mut result = if bytes > LARGE_MESSAGE_BYTES { run_blocking(render) } else { render() }?;
                self.stamp_server_info(&mut result.meta, revision);
                Ok(result.into())
            }
            Answer::Error(error) => Err(mcp_error(*error, Some(&uri), revision)),
            _ => Err(unexpected_answer_error()),
        }
    }

    async fn list_skills(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListSkillsResult, ErrorData> {
        let revision = revision_of(&context);
        let known = cursor_of(request.as_ref()).and_then(|_| self.server.listed_skills.load_full());
        let skills = match known {
            Some(known) => known,
            None => self.skills((&context).into(), revision).await?,
        };
        self.server.listed_skills.store(Some(Arc::clone(&skills)));
        let all: Vec<&Skill> = skills.iter().map(|(_, skill)| skill.as_ref()).collect();
        let size = Some(self.server.settings.page_size.unwrap_or(DEFAULT_RESOURCE_PAGE_SIZE));
        let (items, next) = paginate("skills", &all, |skill| &skill.uri, cursor_of(request.as_ref()), size)?;
        let mut result = ListSkillsResult::with_all_items(items.into_iter().filter_map(to_skill_item).collect());
        finish_list!(self, result, revision, next)
    }

    async fn get_skill(
        &self,
        request: GetSkillRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetSkillResult, ErrorData> {
        let revision = revision_of(&context);
        let mut result =
            GetSkillResult::new(skill_item(&*self.skills((&context).into(), revision).await?, &request.uri)?);
        self.stamp_server_info(&mut result.meta, revision);
        Ok(result)
    }

    async fn read_resource_directory(
        &self,
        request: ReadResourceDirectoryRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let revision = revision_of(&context);
        let all = skill_folder_items(&*self.skills((&context).into(), revision).await?, &request.uri)?;
        let size = self.server.settings.page_size;
        let (items, next) = paginate("folder", &all, |item| &item.uri, request.cursor.as_deref(), size)?;
        let mut result = ListResourcesResult::with_all_items(items);
        finish_list!(self, result, revision, next)
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let revision = revision_of(&context);
        let lists = self.lists(revision);
        let size = self.server.settings.page_size;
        let (items, next) = paginate("prompts", &lists.prompts, |item| &item.name, cursor_of(request.as_ref()), size)?;
        let mut result = ListPromptsResult::with_all_items(items);
        finish_list!(self, result, revision, next)
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let revision = revision_of(&context);
        let registry = self.server.service.registry();
        if registry.prompt(&request.name).is_none() {
            let known = registry.prompts.iter().map(|prompt| prompt.name.as_str());
            return Err(unknown_name_error(&registry, ItemKind::Prompt, &request.name, known));
        }
        let mut arguments = request.arguments.unwrap_or_default();
        arguments.retain(|_, value| !value.is_null());
        if let Some((name, _)) = arguments.iter().find(|(_, value)| !value.is_string()) {
            let message = format!("the argument `{name}` of a prompt must be a string");
            return Err(ErrorData::invalid_params(message, None));
        }
        let (answers, state) = (request.input_responses, request.request_state);
        let request = Request::Prompt { name: request.name, arguments: Json::Object(arguments) };
        let mode = self.elicitation_mode(&request, answers, state.as_deref(), revision)?;
        let kept = revision.is_stateless().then(|| request.clone());
        match self.answer(request, mode, (&context).into(), revision).await? {
            Answer::Asks(asks) => Ok(self.input_required(&asks, kept.as_ref(), revision)?.into()),
            Answer::Messages { description, messages } => {
                let mut result = prompt_result(description, messages, revision);
                self.stamp_server_info(&mut result.meta, revision);
                Ok(result.into())
            }
            Answer::Error(error) => Err(mcp_error(*error, None, revision)),
            _ => Err(unexpected_answer_error()),
        }
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let revision = revision_of(&context);
        let known = request.context.and_then(|context| context.arguments).unwrap_or_default();
        let known: Map<String, Json> = known.into_iter().map(|(name, value)| (name, json!(value))).collect();
        let of = match request.r#ref {
            Reference::Prompt(prompt) => CompletionTarget::Prompt(prompt.name),
            Reference::Resource(resource) => CompletionTarget::Resource(resource.uri),
            _ => return Err(ErrorData::invalid_params("`ref` is a prompt or a resource template", None)),
        };
        let ArgumentInfo { name, value, .. } = request.argument;
        let request = Request::Complete { of, argument: name, value, context: Json::Object(known) };
        match self.answer(request, ElicitationMode::Never, (&context).into(), revision).await? {
            Answer::Completion { mut values, total } => {
                values.truncate(CompletionInfo::MAX_VALUES);
                let has_more = total > values.len();
                let total = u32::try_from(total).ok();
                let completion = CompletionInfo::with_pagination(values, total, has_more)
                    .map_err(|error| ErrorData::internal_error(error, None))?;
                let mut result = CompleteResult::new(completion);
                self.stamp_server_info(&mut result.meta, revision);
                Ok(result)
            }
            Answer::Error(diagnostic) => Err(mcp_error(*diagnostic, None, revision)),
            _ => Err(unexpected_answer_error()),
        }
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if revision_of(&context).is_stateless() {
            return Err(unknown_method_error("logging/setLevel"));
        }
        self.set_log_level(from_logging_level(request.level));
        Ok(())
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let revision = revision_of(&context);
        let uri = request.uri;
        let refused = |why: String| {
            // A URI that is too long is not repeated.
            let data = (uri.len() <= MAX_URI_BYTES).then(|| json!({ "uri": uri }));
            ErrorData::invalid_params(why, data)
        };
        self.may_subscribe(&uri).map_err(refused)?;
        let contents = match self
            .answer(Request::Read { uri: uri.clone() }, ElicitationMode::Never, (&context).into(), revision)
            .await?
        {
            Answer::Contents(contents) => Some(contents),
            Answer::Error(error) if is_not_found(&error) => {
                return Err(mcp_error(*error, Some(&uri), revision));
            }
            _ => None,
        };
        self.subscribe_to(&uri, contents.as_ref()).map_err(refused)?;
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.unsubscribe_from(&request.uri);
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        let mut accepted = requested.supported_by(&self.get_info().capabilities);
        if let Some(uris) = &mut accepted.resource_subscriptions {
            let mut room = Followed::default();
            uris.retain(|uri| self.may_subscribe(uri).is_ok() && room.take(uri));
        }
        Some(accepted)
    }

    async fn listen(&self, subscription: SubscriptionContext) -> Result<(), ErrorData> {
        self.serve_subscription(&subscription).await;
        Ok(())
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.forward_events(&context.peer).await;
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        //= docs/spec.md#protocol
        //# Missing resources, unknown methods and invalid parameters MUST be answered with the error code of
        //# the revision in use.
        // Over HTTP, rmcp reads messages and passes on requests that it cannot read as one of its own types.
        if !(revision_of(&context).is_stateless() && is_removed_method(&request.method))
            && let Some(wrong) = malformed_params_error(&request.method, request.params)
        {
            return Err(wrong);
        }
        Err(unknown_method_error(&request.method))
    }
}

fn is_not_found(error: &Diagnostic) -> bool {
    error.code.kind() == "not-found"
}
