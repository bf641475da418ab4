//! A task at work: its call runs on, its questions wait for whoever looks after it, and at last it is forgotten.

use super::{Begun, Calls, Connection, EndOnDrop, Host, Line, Owner, PATIENCE, Put, Revision, Sender};
use super::{asked, faults, render, unheard};
use crate::call::{Answer, AskMode, CallRecord, Caller, Peer, Request};
use crate::diagnostic::{Code, Diagnostic};
use crate::guard::CancelFlag;
use crate::primitive::Notice;
use crate::value::Json;
use hyper::header::AUTHORIZATION;
use rmcp::model::{DetailedTask, ErrorData, InputResponses, JsonObject, TaskPayload};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

/// So long a result that came late can be fetched, unless the task's own time is shorter.
const FETCHING: Duration = Duration::from_secs(60);

/// What a task runs.
pub(crate) struct Job {
    pub(crate) host: Arc<Host>,
    pub(crate) begun: Begun,
    pub(crate) request: Request,
    pub(crate) record: Box<CallRecord>,
    pub(crate) calls: Calls,
    /// The capabilities of the client that began it.
    pub(crate) capabilities: Json,
    /// That client.
    pub(crate) peer: Peer,
}

/// Questions that wait for their answers.
struct Open {
    put: Put,
    /// The keys that the client was given, in the order of the questions.
    keys: Vec<String>,
    answers: HashMap<String, Json>,
    deadline: Instant,
}

/// Who a request is from, as far as that is known: its bearer and its session. On standard streams there is one client.
pub(crate) fn owner(sender: Sender<'_>) -> Owner {
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
//# An id that no task of the client has MUST be refused with code -32602.
fn unknown(id: &str) -> ErrorData {
    let id: String = id.chars().take(64).collect();
    ErrorData::invalid_params(format!("there is no task `{id}`: it never was, or it expired"), None)
}

impl Connection {
    /// How a task stands.
    pub(crate) fn task(&self, id: &str, sender: Sender<'_>) -> Result<DetailedTask, ErrorData> {
        self.host.tasks.get(id, &owner(sender)).ok_or_else(|| unknown(id))
    }

    /// Takes answers to what a task asks.
    pub(crate) fn answer_task(&self, id: &str, answers: InputResponses, sender: Sender<'_>) -> Result<(), ErrorData> {
        let known = self.host.tasks.answer(id, &owner(sender), answers);
        if known { Ok(()) } else { Err(unknown(id)) }
    }

    /// Has a task end.
    pub(crate) fn cancel(&self, id: &str, sender: Sender<'_>) -> Result<(), ErrorData> {
        let known = self.host.tasks.cancel(id, &owner(sender));
        if known { Ok(()) } else { Err(unknown(id)) }
    }

    /// Runs a task beside all requests, until it expires or the server ends.
    pub(crate) fn run_task(&self, job: Job) {
        tokio::spawn(job.run(self.ends.all.clone()));
    }
}

impl Job {
    async fn run(self, all: CancellationToken) {
        let (host, id) = (Arc::clone(&self.host), self.begun.task.task_id.clone());
        let lives = Duration::from_millis(self.calls.task_policy.ttl_ms);
        let expires = Instant::now() + lives;
        let end = tokio::select! {
            biased;
            () = all.cancelled() => return host.tasks.forget(&id),
            end = self.work() => end,
            //= docs/spec.md#tasks
            //# A task that does not end in its time MUST be ended, and its script with it.
            () = sleep_until(expires) => {
                failed(&ErrorData::internal_error("the task expired before it came to its end", None))
            }
        };
        host.tasks.end(&id, end);
        //= docs/spec.md#tasks
        //# What is kept of a task MUST be forgotten when it expires, and not before.
        tokio::select! {
            () = all.cancelled() => {}
            () = sleep_until(expires.max(Instant::now() + FETCHING.min(lives))) => {}
        }
        host.tasks.forget(&id);
    }

    /// Runs the call to its end.
    async fn work(self) -> TaskPayload {
        let Self { host, begun, request, record, calls, capabilities, peer } = self;
        let Begun { task, cancelled, mut answers } = begun;
        let id = task.task_id;
        let cancel = CancelFlag::default();
        let (line, mut questions) = mpsc::unbounded_channel();
        let (told, speaks_for) = (Arc::clone(&host), id.clone());
        let caller = Caller {
            cancel: cancel.clone(),
            notices: Box::new(move |notice| {
                //= docs/spec.md#tasks
                //# What a task says of itself MUST be its status message.
                if let Some(message) = said(&notice) {
                    told.tasks.say(&speaks_for, &message);
                }
            }),
            capabilities,
            peer,
            asking: AskMode::Waits { asker: Arc::new(Line(line)), record },
        };
        let (done, mut answered) = oneshot::channel();
        let ended = EndOnDrop(cancel.clone());
        Arc::clone(&host.service).submit(request, caller, Box::new(move |answer| drop(done.send(answer))));
        let mut open: Option<Open> = None;
        let answer = loop {
            let deadline = open.as_ref().map(|open| open.deadline);
            tokio::select! {
                biased;
                //= docs/spec.md#tasks
                //# A task that is cancelled MUST end its script.
                () = cancelled.cancelled(), if !cancel.is_cancelled() => {
                    cancel.cancel();
                    give_up(open.take(), &host, &id, taken_back());
                }
                answer = &mut answered => break answer,
                Some((key, answer)) = answers.recv() => open = take(open, key, answer),
                () = sleep_until(deadline.unwrap_or_else(Instant::now)), if deadline.is_some() => {
                    let key = open.as_ref().and_then(|open| open.put.questions.first());
                    let fault = unheard(key.map_or("a question", |(key, _)| key));
                    give_up(open.take(), &host, &id, fault);
                }
                Some(put) = questions.recv(), if open.is_none() => {
                    open = ask(put, &host, &id);
                    if cancel.is_cancelled() {
                        give_up(open.take(), &host, &id, taken_back());
                    }
                }
            }
        };
        drop(ended);
        payload(answer, calls.wrapped, cancelled.is_cancelled())
    }
}

/// Asks the client, and remembers what is to be answered; nothing if it cannot be asked.
fn ask(put: Put, host: &Host, id: &str) -> Option<Open> {
    let mut questions = Vec::new();
    for (key, wish) in &put.questions {
        match asked(key, wish) {
            Ok(question) => questions.push((key.clone(), question)),
            Err(fault) => {
                // The script may have ended meanwhile.
                let _ = put.reply.send(Err(fault));
                return None;
            }
        }
    }
    let keys = host.tasks.ask(id, questions);
    Some(Open { put, keys, answers: HashMap::new(), deadline: Instant::now() + PATIENCE })
}

/// Takes an answer; when all are there the script gets them.
fn take(open: Option<Open>, key: String, answer: Json) -> Option<Open> {
    let mut open = open?;
    open.answers.insert(key, answer);
    if open.keys.iter().any(|key| !open.answers.contains_key(key)) {
        return Some(open);
    }
    let answers = open.keys.iter().map(|key| open.answers.remove(key).unwrap_or_default()).collect();
    // The script may have ended meanwhile.
    let _ = open.put.reply.send(Ok(answers));
    None
}

fn taken_back() -> Box<Diagnostic> {
    Diagnostic::new(Code::CANCELLED, "the task was cancelled")
}

/// Waits for answers no longer.
fn give_up(open: Option<Open>, host: &Host, id: &str, fault: Box<Diagnostic>) {
    if let Some(open) = open {
        host.tasks.ask_no_more(id);
        let _ = open.put.reply.send(Err(fault));
    }
}

/// What a notice says of how far a task has come.
fn said(notice: &Notice) -> Option<String> {
    match notice {
        Notice::Status(message) => Some(message.clone()),
        Notice::Progress { message: Some(message), .. } => Some(message.clone()),
        Notice::Progress { done, total: Some(total), .. } => Some(format!("{done} of {total}")),
        Notice::Progress { done, .. } => Some(done.to_string()),
        Notice::Log { .. } | Notice::Changed(_) | Notice::Updated { .. } => None,
    }
}

/// How a task ended: a tool that fails has a result, what the protocol calls an error is one.
fn payload(answer: Result<Answer, oneshot::error::RecvError>, wrapped: bool, cancelled: bool) -> TaskPayload {
    let error = match answer {
        Ok(Answer::Tool(outcome)) => {
            let result = render::outcome(outcome, wrapped, Revision::Stateless);
            return TaskPayload::Completed { result: object(&result) };
        }
        Ok(Answer::Fault(fault)) if fault.code == Code::CANCELLED && cancelled => return TaskPayload::Cancelled,
        Ok(Answer::Fault(fault)) => faults::error(*fault, None, Revision::Stateless),
        Ok(_) => faults::surprise(),
        Err(_) => ErrorData::internal_error("the call ended without an answer", None),
    };
    failed(&error)
}

fn failed(error: &ErrorData) -> TaskPayload {
    TaskPayload::Failed { error: object(error) }
}

fn object(value: &impl serde::Serialize) -> JsonObject {
    match serde_json::to_value(value) {
        Ok(Json::Object(map)) => map,
        _ => JsonObject::new(),
    }
}
