//! A call of a tool: answered at once, or begun as a task whose result is fetched later.

use super::{Calls, Connection, Job, LARGE, Manner, Revision, Sender, beside, faults, render};
use crate::call::{Answer, CallRecord, Request};
use crate::definition::TaskSupport;
use crate::diagnostic::{Code, Diagnostic};
use crate::primitive::{has_capability, missing_capability};
use crate::registry::PackPart;
use crate::value::Json;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CreateTaskResult, ErrorData, InputResponses,
    TASKS_EXTENSION_ID,
};
use std::sync::Arc;

/// A call that is asked for.
struct Call {
    tool: String,
    arguments: Json,
    calls: Calls,
    answers: Option<InputResponses>,
    state: Option<String>,
}

impl Call {
    fn request(&self) -> Request {
        Request::Call { tool: self.tool.clone(), arguments: self.arguments.clone() }
    }
}

impl Connection {
    /// Answers a call of a tool, or makes it a task.
    pub(crate) async fn call(
        &self,
        params: CallToolRequestParams,
        sender: Sender<'_>,
        revision: Revision,
    ) -> Result<CallToolResponse, ErrorData> {
        let lists = self.lists(revision);
        let Some(calls) = lists.calls(&params.name) else {
            let known = lists.registry.tools.iter().map(|tool| tool.name.as_str());
            return Err(faults::unknown(&lists.registry, PackPart::Tool, &params.name, known));
        };
        let call = Call {
            tool: params.name.into_owned(),
            arguments: Json::Object(params.arguments.unwrap_or_default()),
            calls,
            answers: params.input_responses,
            state: params.request_state,
        };
        //= docs/spec.md#tasks
        //# A call MUST become a task only if its own request declares the extension.
        let knows_tasks = revision.is_stateless() && has_capability(&self.capabilities(sender), TASKS_EXTENSION_ID);
        match call.calls.task_policy.task {
            TaskSupport::Never => self.call_at_once(call, None, sender, revision).await,
            TaskSupport::Optional | TaskSupport::Required if knows_tasks => {
                self.call_as_task(call, sender, revision).await
            }
            TaskSupport::Optional => self.call_at_once(call, None, sender, revision).await,
            //= docs/spec.md#tasks
            //# A tool that runs only as a task MUST refuse other clients, and name the extension.
            TaskSupport::Required => {
                let fault = missing_capability(&format!("`{}`", call.tool), &[TASKS_EXTENSION_ID]);
                refused(*fault.help("use a client that knows the extension"), revision)
            }
        }
    }

    /// Answers a call. `record` is what was answered already, if something was.
    async fn call_at_once(
        &self,
        call: Call,
        record: Option<Box<CallRecord>>,
        sender: Sender<'_>,
        revision: Revision,
    ) -> Result<CallToolResponse, ErrorData> {
        let wrapped = call.calls.wrapped;
        let request = call.request();
        let manner = match record {
            Some(record) => Manner::Suspends { record, answers: InputResponses::new() },
            None => self.manner(&request, call.answers, call.state.as_deref(), revision)?,
        };
        let kept = revision.is_stateless().then(|| request.clone());
        match self.answer(request, manner, sender, revision).await? {
            Answer::Asks(asks) => Ok(self.input_required(&asks, kept.as_ref(), revision)?.into()),
            Answer::Tool(outcome) => {
                let bytes = outcome.bytes();
                sender.make_room(bytes)?;
                let render = || render::outcome(outcome, wrapped, revision);
                let mut result = if bytes > LARGE { beside(render) } else { render() };
                self.stamp(&mut result.meta, revision);
                Ok(result.into())
            }
            Answer::Fault(fault) => refused(*fault, revision),
            _ => Err(faults::surprise()),
        }
    }

    /// Makes a call a task, once all that comes before it is done.
    async fn call_as_task(
        &self,
        call: Call,
        sender: Sender<'_>,
        revision: Revision,
    ) -> Result<CallToolResponse, ErrorData> {
        let request = Request::Prepare { tool: call.tool.clone(), arguments: call.arguments.clone() };
        let manner = self.manner(&request, call.answers.clone(), call.state.as_deref(), revision)?;
        let record = match self.answer(request.clone(), manner, sender, revision).await? {
            Answer::Ready(record) => record,
            //= docs/spec.md#tasks
            //# What is asked before a task begins MUST be answered before there is one.
            Answer::Asks(asks) => return Ok(self.input_required(&asks, Some(&request), revision)?.into()),
            Answer::Tool(outcome) => {
                let mut result = render::outcome(outcome, call.calls.wrapped, revision);
                self.stamp(&mut result.meta, revision);
                return Ok(result.into());
            }
            Answer::Fault(fault) => return refused(*fault, revision),
            _ => return Err(faults::surprise()),
        };
        let owner = super::owner(sender);
        match (self.host.tasks.begin(owner, sender.party(), call.calls.task_policy), call.calls.task_policy.task) {
            (Some(begun), _) => {
                let mut result = CreateTaskResult::new(begun.task.clone());
                self.stamp(&mut result.meta, revision);
                self.run_task(Job {
                    host: Arc::clone(&self.host),
                    begun,
                    request: call.request(),
                    record,
                    calls: call.calls,
                    capabilities: self.usable(sender, revision),
                    peer: self.peer(sender, revision),
                });
                Ok(CallToolResponse::Task(result))
            }
            // Whoever knows tasks can wait as well.
            (None, TaskSupport::Optional) => self.call_at_once(call, Some(record), sender, revision).await,
            (None, _) => Err(ErrorData::internal_error("too many tasks are kept: fetch or cancel some, or wait", None)),
        }
    }
}

/// A fault as an error of the protocol; a client of an older revision that lacks something gets it as a result, which
/// its model can read.
fn refused(fault: Diagnostic, revision: Revision) -> Result<CallToolResponse, ErrorData> {
    if fault.code == Code::CAPABILITY && !revision.is_stateless() {
        let message = faults::error(fault, None, revision).message;
        return Ok(CallToolResult::error(vec![ContentBlock::text(message)]).into());
    }
    Err(faults::error(fault, None, revision))
}
