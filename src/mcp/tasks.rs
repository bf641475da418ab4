//! Tasks (SEP-2663): keeps the state of each call that outlives its request, for the client that started it, until it
//! expires.

use crate::definition::TaskPolicy;
use crate::value::Json;
use rmcp::model::{DetailedTask, InputRequest, InputRequests, InputResponses, Task, TaskPayload, TaskStatus};
use rmcp::task_manager::current_timestamp;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// How many tasks run at a time: even a task that sleeps or waits for an answer holds a thread.
const MAX_RUNNING: usize = 128;

/// How many tasks are kept, including ended ones.
const MAX_KEPT: usize = 512;

/// How many bytes of results may wait to be fetched before further tasks are refused.
const MAX_RESULT_BYTES: usize = 64 << 20;

/// How many characters a status message may have.
const MAX_STATUS_CHARS: usize = 1_000;

/// Who started a task. For anybody else the task does not exist.
pub(crate) type TaskOwner = [u8; 32];

/// All tasks.
#[derive(Default)]
pub(crate) struct TaskStore(Mutex<TaskTable>);

#[derive(Default)]
struct TaskTable {
    kept: HashMap<String, TaskEntry>,
    /// The number of tasks that have not ended yet.
    running: usize,
    /// The bytes of all results.
    bytes: usize,
}

struct TaskEntry {
    owner: TaskOwner,
    task: Task,
    /// The result or the error, once the task has ended.
    end: Option<TaskPayload>,
    bytes: usize,
    /// The questions without an answer.
    asked: InputRequests,
    /// How often each key was used.
    times: HashMap<String, usize>,
    cancelled: CancellationToken,
    answers: mpsc::UnboundedSender<(String, Json)>,
}

/// A task that was just started, for the code that runs it.
pub(crate) struct StartedTask {
    /// The task as its client sees it.
    pub(crate) task: Task,
    /// Cancelled when its client cancels the task.
    pub(crate) cancelled: CancellationToken,
    /// The answers to its questions, with the keys that the client was given.
    pub(crate) answers: mpsc::UnboundedReceiver<(String, Json)>,
}

impl TaskStore {
    fn state(&self) -> MutexGuard<'_, TaskTable> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a task. `None` if there are too many tasks, or too many bytes of results.
    pub(crate) fn start(&self, owner: TaskOwner, tasking: TaskPolicy) -> Option<StartedTask> {
        let mut state = self.state();
        if !state.has_room() {
            return None;
        }
        //= docs/spec.md#tasks
        //# A task MUST have an unguessable id, and MUST be visible only to the bearer and the session that
        //# created it.
        let id = uuid::Uuid::new_v4().to_string();
        let now = current_timestamp();
        let mut task = Task::new(id.clone(), TaskStatus::Working, now.clone(), now);
        task.ttl_ms = Some(tasking.ttl_ms);
        task.poll_interval_ms = Some(tasking.poll_ms);
        let (sender, answers) = mpsc::unbounded_channel();
        let cancelled = CancellationToken::new();
        let entry = TaskEntry {
            owner,
            task: task.clone(),
            end: None,
            bytes: 0,
            asked: InputRequests::new(),
            times: HashMap::new(),
            cancelled: cancelled.clone(),
            answers: sender,
        };
        state.kept.insert(id, entry);
        state.running += 1;
        Some(StartedTask { task, cancelled, answers })
    }

    /// The number of tasks that have not ended yet.
    pub(crate) fn running(&self) -> usize {
        self.state().running
    }

    /// The state of a task; `None` if its owner has no such task.
    pub(crate) fn get(&self, id: &str, owner: &TaskOwner) -> Option<DetailedTask> {
        let mut state = self.state();
        let entry = state.owned(id, owner)?;
        let payload = match &entry.end {
            Some(end) => end.clone(),
            None if entry.asked.is_empty() => TaskPayload::Working,
            None => TaskPayload::InputRequired { input_requests: entry.asked.clone() },
        };
        Some(DetailedTask::new(entry.task.clone(), payload))
    }

    /// Takes answers. Answers without an open question are ignored. `false` if the owner has no such task.
    pub(crate) fn answer(&self, id: &str, owner: &TaskOwner, answers: InputResponses) -> bool {
        let mut state = self.state();
        let Some(entry) = state.owned(id, owner) else { return false };
        for (key, answer) in answers {
            if entry.asked.remove(&key).is_some() {
                // The task may just have ended: then the answer is dropped.
                let _ = entry.answers.send((key, answer));
                entry.touch();
            }
        }
        true
    }

    /// Cancels a task, which ends soon afterwards. `false` if the owner has no such task.
    pub(crate) fn cancel(&self, id: &str, owner: &TaskOwner) -> bool {
        let mut state = self.state();
        let Some(entry) = state.owned(id, owner) else { return false };
        if entry.end.is_none() {
            entry.cancelled.cancel();
            entry.asked.clear();
            entry.touch();
        }
        true
    }

    /// Adds questions for the client, and returns the keys that it is given. A key that was used before gets a number:
    /// SEP-2663 requires keys that are unique during the lifetime of the task.
    pub(crate) fn ask(&self, id: &str, questions: Vec<(String, InputRequest)>) -> Vec<String> {
        let mut state = self.state();
        let Some(entry) = state.kept.get_mut(id) else { return Vec::new() };
        entry.touch();
        //= docs/spec.md#tasks
        //# The status of a task MUST contain its progress and its open questions, which MUST be answerable
        //# one by one.
        let mut given = Vec::new();
        for (key, question) in questions {
            let times = entry.times.entry(key.clone()).or_default();
            *times += 1;
            let key = if *times == 1 { key } else { format!("{key}#{times}") };
            entry.asked.insert(key.clone(), question);
            given.push(key);
        }
        given
    }

    /// Withdraws all open questions.
    pub(crate) fn withdraw_questions(&self, id: &str) {
        if let Some(entry) = self.state().kept.get_mut(id) {
            entry.asked.clear();
            entry.touch();
        }
    }

    /// Sets the status message of a running task.
    pub(crate) fn set_status(&self, id: &str, message: &str) {
        if let Some(entry) = self.state().kept.get_mut(id).filter(|entry| entry.end.is_none()) {
            entry.task.status_message = Some(message.chars().take(MAX_STATUS_CHARS).collect());
            entry.touch();
        }
    }

    /// Records how a task ended.
    pub(crate) fn finish(&self, id: &str, end: TaskPayload) {
        let mut state = self.state();
        let Some(entry) = state.kept.get_mut(id).filter(|entry| entry.end.is_none()) else { return };
        entry.bytes = match &end {
            TaskPayload::Completed { result: kept } | TaskPayload::Failed { error: kept } => {
                serde_json::to_vec(kept).map_or(0, |bytes| bytes.len())
            }
            _ => 0,
        };
        entry.asked.clear();
        entry.end = Some(end);
        entry.touch();
        let bytes = entry.bytes;
        state.running -= 1;
        state.bytes += bytes;
    }

    /// Removes a task.
    pub(crate) fn remove(&self, id: &str) {
        let mut state = self.state();
        let Some(entry) = state.kept.remove(id) else { return };
        state.bytes -= entry.bytes;
        if entry.end.is_none() {
            state.running -= 1;
        }
    }
}

impl TaskTable {
    //= docs/spec.md#tasks
    //# A task and its result MUST be kept until the task expires and no longer, within bounds of their number and
    //# bytes.
    /// Whether another task may be started.
    fn has_room(&self) -> bool {
        self.running < MAX_RUNNING && self.kept.len() < MAX_KEPT && self.bytes < MAX_RESULT_BYTES
    }

    fn owned(&mut self, id: &str, owner: &TaskOwner) -> Option<&mut TaskEntry> {
        self.kept.get_mut(id).filter(|entry| entry.owner == *owner)
    }
}

impl TaskEntry {
    fn touch(&mut self) {
        self.task.last_updated_at = current_timestamp();
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use serde_json::json;

    const ME: TaskOwner = [1; 32];

    fn begin(tasks: &TaskStore) -> Option<StartedTask> {
        tasks.start(ME, TaskPolicy::default())
    }

    /// Starts as many tasks as there may be; returns their number.
    fn begin_all(tasks: &TaskStore) -> usize {
        (0..).take_while(|_| begin(tasks).is_some()).count()
    }

    fn done(text: &str) -> TaskPayload {
        TaskPayload::Completed { result: json!({ "content": [text] }).as_object().unwrap().clone() }
    }

    //= docs/spec.md#tasks
    //= type=test
    //# A task and its result MUST be kept until the task expires and no longer, within bounds of their number and
    //# bytes.
    #[test]
    fn what_is_kept_is_bounded_and_what_is_forgotten_makes_room() {
        let tasks = TaskStore::default();
        assert_eq!(begin_all(&tasks), MAX_RUNNING);
        let ids = |tasks: &TaskStore| tasks.state().kept.keys().cloned().collect::<Vec<_>>();
        for _ in 0..MAX_KEPT / MAX_RUNNING {
            ids(&tasks).iter().for_each(|id| tasks.finish(id, done("short")));
            begin_all(&tasks);
        }
        assert_eq!(ids(&tasks).len(), MAX_KEPT, "so many are kept");
        ids(&tasks).iter().for_each(|id| tasks.remove(id));
        let large = [begin(&tasks).unwrap(), begin(&tasks).unwrap()].map(|begun| begun.task.task_id);
        tasks.finish(&large[0], done(&"x".repeat(MAX_RESULT_BYTES / 2)));
        assert!(begin(&tasks).is_some(), "{MAX_RESULT_BYTES} bytes may be kept");
        tasks.finish(&large[1], done(&"x".repeat(MAX_RESULT_BYTES / 2)));
        assert!(begin(&tasks).is_none(), "{MAX_RESULT_BYTES} bytes are kept");
        ids(&tasks).iter().chain(&large).for_each(|id| tasks.remove(id));
        let state = tasks.state();
        assert_eq!((state.running, state.bytes, state.kept.len()), (0, 0, 0));
    }

    //= docs/spec.md#tasks
    //= type=test
    //# A task MUST have an unguessable id, and MUST be visible only to the bearer and the session that
    //# created it.
    #[test]
    fn a_task_is_its_owners_alone() {
        let tasks = TaskStore::default();
        let begun = begin(&tasks).unwrap();
        let id = &begun.task.task_id;
        let other = [2; 32];
        assert!(tasks.get(id, &ME).is_some());
        assert!(tasks.get(id, &other).is_none());
        assert!(!tasks.answer(id, &other, InputResponses::new()));
        assert!(!tasks.cancel(id, &other) && !begun.cancelled.is_cancelled());
        assert!(tasks.cancel(id, &ME) && begun.cancelled.is_cancelled());
        assert!(tasks.get("no such id", &ME).is_none());
    }

    #[test]
    fn ids_are_random() {
        let tasks = TaskStore::default();
        let ids: Vec<String> = (0..MAX_RUNNING).map(|_| begin(&tasks).unwrap().task.task_id).collect();
        for id in &ids {
            let random = uuid::Uuid::parse_str(id).unwrap();
            assert_eq!(random.get_version_num(), 4, "122 random bits");
        }
        assert_eq!(ids.iter().collect::<std::collections::HashSet<_>>().len(), ids.len());
    }

    #[test]
    fn a_question_is_asked_under_a_key_of_its_own_and_answered_once() {
        let tasks = TaskStore::default();
        let mut begun = begin(&tasks).unwrap();
        let id = begun.task.task_id.clone();
        let question = |key: &str| {
            let form = json!({ "method": "elicitation/create", "params": {
                "mode": "form", "message": "?", "requestedSchema": { "type": "object", "properties": {} } } });
            (key.to_owned(), serde_json::from_value(form).unwrap())
        };
        assert_eq!(tasks.ask(&id, vec![question("name"), question("size")]), ["name", "size"]);
        let answer = |key: &str| InputResponses::from([(key.to_owned(), json!(key))]);
        assert!(tasks.answer(&id, &ME, answer("name")));
        assert!(tasks.answer(&id, &ME, answer("name")), "answered already: ignored");
        assert!(tasks.answer(&id, &ME, answer("colour")), "never asked: ignored");
        let TaskPayload::InputRequired { input_requests } = tasks.get(&id, &ME).unwrap().payload else { panic!() };
        assert_eq!(input_requests.into_keys().collect::<Vec<_>>(), ["size"]);
        assert_eq!(begun.answers.try_recv().unwrap(), ("name".to_owned(), json!("name")));
        assert!(begun.answers.try_recv().is_err());
        assert_eq!(tasks.ask(&id, vec![question("name")]), ["name#2"]);
        tasks.set_status(&id, &"x".repeat(MAX_STATUS_CHARS + 1));
        tasks.finish(&id, done("ok"));
        tasks.set_status(&id, "late");
        tasks.finish(&id, TaskPayload::Cancelled);
        let ended = tasks.get(&id, &ME).unwrap();
        assert_eq!(ended.status(), TaskStatus::Completed);
        assert_eq!(ended.task.status_message.unwrap().len(), MAX_STATUS_CHARS);
    }
}
