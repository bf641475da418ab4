//! Calls of tools: answered at once, or started as a task that outlives the request and whose result is fetched later.

use super::connection::{CancelOnDrop, Connection, McpServer};
use super::elicitation::{
    ANSWER_TIMEOUT, ElicitationChannel, ElicitationMode, PendingElicitation, to_input_request, unanswered_error,
};
use super::host_tools::HostCall;
use super::lists::{Lists, ToolTraits};
use super::render::{mcp_error, tool_result, unexpected_answer_error, unknown_name_error};
use super::result_form::ResultForm;
use super::revision::Revision;
use super::sender::{LARGE_MESSAGE_BYTES, RequestSender, run_blocking};
use super::tasks::{StartedTask, TaskOwner, TaskStore};
use crate::call::{Answer, AskMode, CallRecord, Caller, Peer, Request, ToolOutcome};
use crate::definition::{ItemKind, TaskSupport};
use crate::diagnostic::{Code, Diagnostic, did_you_mean};
use crate::guard::CancelFlag;
use crate::primitive_api::{Notice, has_capability, missing_capability};
use crate::value::Json;
use hyper::header::AUTHORIZATION;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CreateTaskResult, DetailedTask, ErrorData,
    InputResponses, JsonObject, TASKS_EXTENSION_ID, TaskPayload,
};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

/// How long a result can be fetched after a task ended shortly before its expiry, unless the task's lifetime is
/// shorter.
const RESULT_LIFETIME: Duration = Duration::from_secs(60);

/// A call of a tool, as a request asks for it.
struct ToolCall {
    tool: String,
    arguments: Json,
    /// What is requested, if it is not the call of a tool of a pack.
    request: Option<Request>,
    traits: ToolTraits,
    answers: Option<InputResponses>,
    state: Option<String>,
}

impl ToolCall {
    fn request(&self) -> Request {
        let call = || Request::Call { tool: self.tool.clone(), arguments: self.arguments.clone() };
        self.request.clone().unwrap_or_else(call)
    }

    /// Answers the call. `record` holds what was answered before, if anything was.
    async fn answer(
        self,
        connection: &Connection,
        record: Option<Box<CallRecord>>,
        sender: RequestSender<'_>,
        revision: Revision,
    ) -> Result<CallToolResponse, ErrorData> {
        let form = self.traits.form;
        let request = self.request();
        let mode = match record {
            Some(record) => ElicitationMode::Suspends { record, answers: InputResponses::new() },
            None => connection.elicitation_mode(&request, self.answers, self.state.as_deref(), revision)?,
        };
        let kept = revision.is_stateless().then(|| request.clone());
        match connection.answer(request, mode, sender, revision).await? {
            Answer::Asks(asks) => Ok(connection.input_required(&asks, kept.as_ref(), revision)?.into()),
            Answer::Tool(outcome) => {
                let bytes = outcome.bytes();
                let render = || tool_result(outcome, form, revision);
                let mut result = if bytes > LARGE_MESSAGE_BYTES { run_blocking(render) } else { render() };
                connection.stamp_server_info(&mut result.meta, revision);
                Ok(result.into())
            }
            Answer::Error(error) => error_response(*error, revision),
            _ => Err(unexpected_answer_error()),
        }
    }

    /// Starts the call as a task, once all questions that precede it are answered.
    async fn answer_as_task(
        self,
        connection: &Connection,
        sender: RequestSender<'_>,
        revision: Revision,
    ) -> Result<CallToolResponse, ErrorData> {
        let request = Request::Prepare { tool: self.tool.clone(), arguments: self.arguments.clone() };
        let mode = connection.elicitation_mode(&request, self.answers.clone(), self.state.as_deref(), revision)?;
        let record = match connection.answer(request.clone(), mode, sender, revision).await? {
            Answer::Ready(record) => record,
            //= docs/spec.md#tasks
            //# Questions that precede a task MUST be answered before the task is created.
            Answer::Asks(asks) => return Ok(connection.input_required(&asks, Some(&request), revision)?.into()),
            Answer::Tool(outcome) => {
                let mut result = tool_result(outcome, self.traits.form, revision);
                connection.stamp_server_info(&mut result.meta, revision);
                return Ok(result.into());
            }
            Answer::Error(error) => return error_response(*error, revision),
            _ => return Err(unexpected_answer_error()),
        };
        let owner = task_owner(sender);
        match (connection.server.tasks.start(owner, self.traits.task_policy), self.traits.task_policy.task) {
            (Some(started), _) => {
                let mut result = CreateTaskResult::new(started.task.clone());
                connection.stamp_server_info(&mut result.meta, revision);
                let run = TaskRun {
                    server: Arc::clone(&connection.server),
                    started,
                    request: self.request(),
                    record,
                    traits: self.traits,
                    capabilities: connection.usable_capabilities(sender, revision),
                    peer: connection.calling_peer(sender, revision),
                };
                // The task runs until it expires or the server ends, even if the connection closes.
                tokio::spawn(run.run(connection.shutdown.now.clone()));
                Ok(CallToolResponse::Task(result))
            }
            // A client that supports tasks can also wait.
            (None, TaskSupport::Optional) => self.answer(connection, Some(record), sender, revision).await,
            (None, _) => {
                Err(ErrorData::internal_error("too many tasks are kept: fetch or cancel some of them, or wait", None))
            }
        }
    }
}

/// Answers a call of a tool, or starts it as a task.
///
/// # Errors
/// There is no such tool, the arguments or answers do not fit, the tool raised an error of the protocol, or there are
/// too many tasks.
pub(crate) async fn answer_tool_call(
    connection: &Connection,
    params: CallToolRequestParams,
    sender: RequestSender<'_>,
    revision: Revision,
) -> Result<CallToolResponse, ErrorData> {
    let lists = connection.lists(revision);
    let Some(traits) = lists.tool_traits(&params.name) else {
        let known = lists.registry.tools.iter().map(|tool| tool.name.as_str());
        return Err(unknown_name_error(&lists.registry, ItemKind::Tool, &params.name, known));
    };
    let (mut tool, mut arguments) = (params.name.into_owned(), params.arguments.unwrap_or_default());
    let (mut traits, mut request) = (traits, None);
    match lists.host_tools.resolve(&tool, &arguments) {
        None => {}
        Some(Ok(HostCall::Request(own))) => request = Some(own),
        Some(Ok(HostCall::Tool { name, arguments: own })) => {
            let Some(called) = lists.tool_traits(&name).filter(|_| lists.host_tools.names().all(|own| own != name))
            else {
                return Ok(host_failure(&unknown_tool(&lists, &name), traits, revision));
            };
            (tool, arguments, traits) = (name, own, called);
        }
        Some(Err(error)) => return Ok(host_failure(&error, traits, revision)),
    }
    let call = ToolCall {
        tool,
        arguments: Json::Object(arguments),
        request,
        traits,
        answers: params.input_responses,
        state: params.request_state,
    };
    //= docs/spec.md#tasks
    //# A call MUST become a task only if its request declares the extension, and a tool that requires it MUST
    //# name it to other clients.
    let knows_tasks =
        revision.is_stateless() && has_capability(&connection.client_capabilities(sender), TASKS_EXTENSION_ID);
    match call.traits.task_policy.task {
        TaskSupport::Never => call.answer(connection, None, sender, revision).await,
        TaskSupport::Optional | TaskSupport::Required if knows_tasks => {
            call.answer_as_task(connection, sender, revision).await
        }
        TaskSupport::Optional => call.answer(connection, None, sender, revision).await,
        TaskSupport::Required => {
            let error = missing_capability(&format!("`{}`", call.tool), &[TASKS_EXTENSION_ID]);
            error_response(*error.help("use a client that supports the extension"), revision)
        }
    }
}

/// The result of a call of a tool of the host whose arguments do not fit, for a model to correct.
fn host_failure(error: &Diagnostic, traits: ToolTraits, revision: Revision) -> CallToolResponse {
    tool_result(ToolOutcome::from_refusal(error), traits.form, revision).into()
}

fn unknown_tool(lists: &Lists, name: &str) -> Diagnostic {
    if lists.host_tools.names().any(|own| own == name) {
        let message = format!("`{name}` is not called through `call_tool`");
        return *Diagnostic::new(Code::ARGUMENTS, message).help("call it by its own name");
    }
    let names = lists.registry.tools.iter().map(|tool| tool.name.as_str());
    let help = did_you_mean(name, names).unwrap_or_else(|| "`find_tools` finds tools by words".to_owned());
    *Diagnostic::new(Code::ARGUMENTS, format!("there is no tool `{name}`")).help(help)
}

/// The response for an error: a protocol error. If a client of an older revision lacks a capability, a result instead,
/// which its model can read.
fn error_response(error: Diagnostic, revision: Revision) -> Result<CallToolResponse, ErrorData> {
    if error.code == Code::CAPABILITY && !revision.is_stateless() {
        let message = mcp_error(error, None, revision).message;
        return Ok(CallToolResult::error(vec![ContentBlock::text(message)]).into());
    }
    Err(mcp_error(error, None, revision))
}

/// A call that runs as a task.
struct TaskRun {
    server: Arc<McpServer>,
    started: StartedTask,
    request: Request,
    record: Box<CallRecord>,
    traits: ToolTraits,
    /// The capabilities of the client that started the task.
    capabilities: Json,
    /// The client that started the task.
    peer: Peer,
}

/// Questions of a task that wait for answers.
struct OpenQuestions {
    elicitation: PendingElicitation,
    /// The keys that the client was given, in the order of the questions.
    keys: Vec<String>,
    answers: HashMap<String, Json>,
    deadline: Instant,
}

/// The client of a request, as far as it is known: its bearer token and its session. On standard streams there is one
/// client.
fn task_owner(sender: RequestSender<'_>) -> TaskOwner {
    let mut hash = blake3::Hasher::new();
    if let Some(headers) = sender.headers {
        for name in [AUTHORIZATION.as_str(), "mcp-session-id"] {
            let value = headers.get(name).map_or(&[][..], |value| value.as_bytes());
            hash.update(&(value.len() as u64).to_le_bytes());
            hash.update(value);
        }
    }
    hash.finalize().into()
}

//= docs/spec.md#tasks
//# A task MUST have an unguessable id, and MUST be visible only to the bearer and the session that created
//# it.
fn unknown_task_error(id: &str) -> ErrorData {
    let id: String = id.chars().take(64).collect();
    ErrorData::invalid_params(format!("there is no task `{id}`: it never existed, or it has expired"), None)
}

/// The state of a task.
///
/// # Errors
/// The client has no such task.
pub(crate) fn get_task(tasks: &TaskStore, id: &str, sender: RequestSender<'_>) -> Result<DetailedTask, ErrorData> {
    tasks.get(id, &task_owner(sender)).ok_or_else(|| unknown_task_error(id))
}

/// Takes answers to the questions of a task.
///
/// # Errors
/// The client has no such task.
pub(crate) fn answer_task(
    tasks: &TaskStore,
    id: &str,
    answers: InputResponses,
    sender: RequestSender<'_>,
) -> Result<(), ErrorData> {
    let known = tasks.answer(id, &task_owner(sender), answers);
    if known { Ok(()) } else { Err(unknown_task_error(id)) }
}

/// Cancels a task.
///
/// # Errors
/// The client has no such task.
pub(crate) fn cancel_task(tasks: &TaskStore, id: &str, sender: RequestSender<'_>) -> Result<(), ErrorData> {
    let known = tasks.cancel(id, &task_owner(sender));
    if known { Ok(()) } else { Err(unknown_task_error(id)) }
}

impl TaskRun {
    /// Runs the task until it has ended and expired, or until the server ends.
    async fn run(self, server_ends: CancellationToken) {
        let (server, id) = (Arc::clone(&self.server), self.started.task.task_id.clone());
        let lifetime = Duration::from_millis(self.traits.task_policy.ttl_ms);
        let expires = Instant::now() + lifetime;
        let end = tokio::select! {
            biased;
            () = server_ends.cancelled() => return server.tasks.remove(&id),
            end = self.run_call() => end,
            //= docs/spec.md#tasks
            //# A task that is cancelled or exceeds its lifetime MUST be stopped together with its script.
            () = sleep_until(expires) => {
                failed_payload(&ErrorData::internal_error("the task expired before it ended", None))
            }
        };
        server.tasks.finish(&id, end);
        //= docs/spec.md#tasks
        //# A task and its result MUST be kept until the task expires and no longer, within bounds of their number and
        //# bytes.
        tokio::select! {
            () = server_ends.cancelled() => {}
            () = sleep_until(expires.max(Instant::now() + RESULT_LIFETIME.min(lifetime))) => {}
        }
        server.tasks.remove(&id);
    }

    /// Runs the call to its end.
    async fn run_call(self) -> TaskPayload {
        let Self { server, started, request, record, traits, capabilities, peer } = self;
        let StartedTask { task, cancelled, mut answers } = started;
        let id = task.task_id;
        let cancel = CancelFlag::default();
        let (asker, mut questions) = mpsc::unbounded_channel();
        let (tasks, own_id) = (Arc::clone(&server.tasks), id.clone());
        let caller = Caller {
            cancel: cancel.clone(),
            notices: Box::new(move |notice| {
                //= docs/spec.md#tasks
                //# The status of a task MUST contain its progress and its open questions, which MUST be
                //# answerable one by one.
                if let Some(message) = status_message(&notice) {
                    tasks.set_status(&own_id, &message);
                }
            }),
            capabilities,
            peer,
            asking: AskMode::Waits { asker: Arc::new(ElicitationChannel(asker)), record },
        };
        let (done, mut answered) = oneshot::channel();
        let cancel_on_drop = CancelOnDrop(cancel.clone());
        Arc::clone(&server.service).submit(request, caller, Box::new(move |answer| drop(done.send(answer))));
        let mut open: Option<OpenQuestions> = None;
        let answer = loop {
            let deadline = open.as_ref().map(|open| open.deadline);
            tokio::select! {
                biased;
                () = cancelled.cancelled(), if !cancel.is_cancelled() => {
                    cancel.cancel();
                    abandon(open.take(), &server.tasks, &id, cancelled_error());
                }
                answer = &mut answered => break answer,
                Some((key, answer)) = answers.recv() => open = take_answer(open, key, answer),
                () = sleep_until(deadline.unwrap_or_else(Instant::now)), if deadline.is_some() => {
                    let key = open.as_ref().and_then(|open| open.elicitation.questions.first());
                    let error = unanswered_error(key.map_or("a question", |(key, _)| key));
                    abandon(open.take(), &server.tasks, &id, error);
                }
                Some(elicitation) = questions.recv(), if open.is_none() => {
                    open = open_questions(elicitation, &server.tasks, &id);
                    if cancel.is_cancelled() {
                        abandon(open.take(), &server.tasks, &id, cancelled_error());
                    }
                }
            }
        };
        drop(cancel_on_drop);
        final_payload(answer, traits.form, cancelled.is_cancelled())
    }
}

/// Adds questions to a task, for its client; `None` if they cannot be asked.
fn open_questions(elicitation: PendingElicitation, tasks: &TaskStore, id: &str) -> Option<OpenQuestions> {
    let mut questions = Vec::new();
    for (key, wish) in &elicitation.questions {
        match to_input_request(key, wish) {
            Ok(question) => questions.push((key.clone(), question)),
            Err(error) => {
                // The script may have ended meanwhile.
                let _ = elicitation.reply.send(Err(error));
                return None;
            }
        }
    }
    let keys = tasks.ask(id, questions);
    Some(OpenQuestions { elicitation, keys, answers: HashMap::new(), deadline: Instant::now() + ANSWER_TIMEOUT })
}

/// Takes an answer. With the last one, the script gets all of them. Until then the questions stay open.
fn take_answer(open: Option<OpenQuestions>, key: String, answer: Json) -> Option<OpenQuestions> {
    let mut open = open?;
    open.answers.insert(key, answer);
    if open.keys.iter().any(|key| !open.answers.contains_key(key)) {
        return Some(open);
    }
    let answers = open.keys.iter().map(|key| open.answers.remove(key).unwrap_or_default()).collect();
    // The script may have ended meanwhile.
    let _ = open.elicitation.reply.send(Ok(answers));
    None
}

fn cancelled_error() -> Box<Diagnostic> {
    Diagnostic::new(Code::CANCELLED, "the task was cancelled")
}

/// Withdraws open questions, and passes the error to the script.
fn abandon(open: Option<OpenQuestions>, tasks: &TaskStore, id: &str, error: Box<Diagnostic>) {
    if let Some(open) = open {
        tasks.withdraw_questions(id);
        let _ = open.elicitation.reply.send(Err(error));
    }
}

/// The status message of a task after a notification; `None` if it does not change.
fn status_message(notice: &Notice) -> Option<String> {
    match notice {
        Notice::Status(message) => Some(message.clone()),
        Notice::Progress { message: Some(message), .. } => Some(message.clone()),
        Notice::Progress { done, total: Some(total), .. } => Some(format!("{done} of {total}")),
        Notice::Progress { done, .. } => Some(done.to_string()),
        Notice::Log { .. } | Notice::Changed(_) | Notice::Updated { .. } => None,
    }
}

/// How a task ended. A failure of the tool is a result; only what the protocol calls an error is an error.
fn final_payload(answer: Result<Answer, oneshot::error::RecvError>, form: ResultForm, cancelled: bool) -> TaskPayload {
    let error = match answer {
        Ok(Answer::Tool(outcome)) => {
            let result = tool_result(outcome, form, Revision::Stateless);
            return TaskPayload::Completed { result: to_object(&result) };
        }
        Ok(Answer::Error(diagnostic)) if diagnostic.code == Code::CANCELLED && cancelled => {
            return TaskPayload::Cancelled;
        }
        Ok(Answer::Error(diagnostic)) => mcp_error(*diagnostic, None, Revision::Stateless),
        Ok(_) => unexpected_answer_error(),
        Err(_) => ErrorData::internal_error("the call ended without an answer", None),
    };
    failed_payload(&error)
}

fn failed_payload(error: &ErrorData) -> TaskPayload {
    TaskPayload::Failed { error: to_object(error) }
}

fn to_object(value: &impl serde::Serialize) -> JsonObject {
    match serde_json::to_value(value) {
        Ok(Json::Object(map)) => map,
        _ => JsonObject::new(),
    }
}
