//! Tasks (SEP-2663): what is known of each call that outlives its request, for whoever began it, until it expires.

use crate::definition::TaskPolicy;
use crate::script::CallerId;
use crate::value::Json;
use rmcp::model::{DetailedTask, InputRequest, InputRequests, InputResponses, Task, TaskPayload, TaskStatus};
use rmcp::task_manager::current_timestamp;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// So many tasks run at a time: one that sleeps, or waits for an answer, holds a thread.
const RUNNING: usize = 128;
/// So many are kept, those that ended included.
const KEPT: usize = 512;
/// Above so many bytes of results that wait to be fetched, no further task begins.
const BYTES: usize = 64 << 20;
/// A status message has so many characters, at most.
const MESSAGE: usize = 1_000;

/// Who began a task: nobody else hears of it.
pub(crate) type Owner = [u8; 32];

/// All tasks.
#[derive(Default)]
pub(crate) struct Tasks(Mutex<State>);

#[derive(Default)]
struct State {
    kept: HashMap<String, Entry>,
    /// How many did not end yet.
    running: usize,
    /// Bytes of all results.
    bytes: usize,
}

struct Entry {
    owner: Owner,
    party: CallerId,
    task: Task,
    /// The result or the error, once there is one.
    end: Option<TaskPayload>,
    bytes: usize,
    /// What is asked and not answered.
    asked: InputRequests,
    /// How often each key was asked.
    times: HashMap<String, usize>,
    cancelled: CancellationToken,
    answers: mpsc::UnboundedSender<(String, Json)>,
}

/// A task that has just begun, for whoever runs it.
pub(crate) struct Begun {
    /// As its client is told of it.
    pub(crate) task: Task,
    /// Its client wants it no longer.
    pub(crate) cancelled: CancellationToken,
    /// Answers to what it asked, by the key that the client was given.
    pub(crate) answers: mpsc::UnboundedReceiver<(String, Json)>,
}

impl Tasks {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a task; nothing if there are too many, of its client or of all, or their results take too much room.
    pub(crate) fn begin(&self, owner: Owner, party: CallerId, tasking: TaskPolicy) -> Option<Begun> {
        let mut state = self.state();
        if !state.has_room(party) {
            return None;
        }
        //= docs/spec.md#tasks
        //# The id of a task MUST be one that cannot be guessed.
        let id = uuid::Uuid::new_v4().to_string();
        let now = current_timestamp();
        let mut task = Task::new(id.clone(), TaskStatus::Working, now.clone(), now);
        task.ttl_ms = Some(tasking.ttl_ms);
        task.poll_interval_ms = Some(tasking.poll_ms);
        let (sender, answers) = mpsc::unbounded_channel();
        let cancelled = CancellationToken::new();
        let entry = Entry {
            owner,
            party,
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
        Some(Begun { task, cancelled, answers })
    }

    /// How many did not end yet.
    pub(crate) fn running(&self) -> usize {
        self.state().running
    }

    /// How a task stands; nothing if there is none, or somebody else's.
    pub(crate) fn get(&self, id: &str, owner: &Owner) -> Option<DetailedTask> {
        let mut state = self.state();
        let entry = state.of(id, owner)?;
        let payload = match &entry.end {
            Some(end) => end.clone(),
            None if entry.asked.is_empty() => TaskPayload::Working,
            None => TaskPayload::InputRequired { input_requests: entry.asked.clone() },
        };
        Some(DetailedTask::new(entry.task.clone(), payload))
    }

    /// Takes answers; those that nobody waits for are ignored. `false` if there is no such task.
    pub(crate) fn answer(&self, id: &str, owner: &Owner, answers: InputResponses) -> bool {
        let mut state = self.state();
        let Some(entry) = state.of(id, owner) else { return false };
        for (key, answer) in answers {
            if entry.asked.remove(&key).is_some() {
                // If the task has just ended, nobody takes it.
                let _ = entry.answers.send((key, answer));
                entry.touch();
            }
        }
        true
    }

    /// Says that its client wants it no longer: it ends soon. `false` if there is no such task.
    pub(crate) fn cancel(&self, id: &str, owner: &Owner) -> bool {
        let mut state = self.state();
        let Some(entry) = state.of(id, owner) else { return false };
        if entry.end.is_none() {
            entry.cancelled.cancel();
            entry.asked.clear();
            entry.touch();
        }
        true
    }

    /// Asks the client; the keys that it is given. One that was used before gets a number, for SEP-2663 has keys that
    /// are unique as long as the task lives.
    pub(crate) fn ask(&self, id: &str, questions: Vec<(String, InputRequest)>) -> Vec<String> {
        let mut state = self.state();
        let Some(entry) = state.kept.get_mut(id) else { return Vec::new() };
        entry.touch();
        //= docs/spec.md#tasks
        //# What a task asks MUST be told to whoever looks after it, and go on with the answers, which may come one by one.
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

    /// Takes back all that was asked.
    pub(crate) fn ask_no_more(&self, id: &str) {
        if let Some(entry) = self.state().kept.get_mut(id) {
            entry.asked.clear();
            entry.touch();
        }
    }

    /// Says what a task is doing.
    pub(crate) fn say(&self, id: &str, message: &str) {
        if let Some(entry) = self.state().kept.get_mut(id).filter(|entry| entry.end.is_none()) {
            entry.task.status_message = Some(message.chars().take(MESSAGE).collect());
            entry.touch();
        }
    }

    /// Keeps how a task ended.
    pub(crate) fn end(&self, id: &str, end: TaskPayload) {
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

    /// Forgets a task.
    pub(crate) fn forget(&self, id: &str) {
        let mut state = self.state();
        let Some(entry) = state.kept.remove(id) else { return };
        state.bytes -= entry.bytes;
        if entry.end.is_none() {
            state.running -= 1;
        }
    }
}

/// What some tasks take up: those that run, those that are kept, the bytes of their results.
#[derive(Clone, Copy, Default)]
struct Taken([usize; 3]);

impl Taken {
    fn add(&mut self, entry: &Entry) {
        let Self([running, kept, bytes]) = self;
        *running += usize::from(entry.end.is_none());
        *kept += 1;
        *bytes += entry.bytes;
    }

    /// Whether it is less than so many times what is left of each.
    fn leaves_room(self, left: [usize; 3], times: usize) -> bool {
        self.0.iter().zip(left).all(|(taken, left)| *taken < left.saturating_mul(times))
    }
}

impl State {
    /// Whether a party may begin another task.
    fn has_room(&self, party: CallerId) -> bool {
        let (mut of_client, mut of_place) = (Taken::default(), Taken::default());
        for entry in self.kept.values().filter(|entry| entry.party.address == party.address) {
            of_place.add(entry);
            if entry.party.client() == party.client() {
                of_client.add(entry);
            }
        }
        //= docs/spec.md#tasks
        //# The tasks that run, those that are kept and the bytes of their results MUST each be bounded.
        let left = [
            RUNNING.saturating_sub(self.running),
            KEPT.saturating_sub(self.kept.len()),
            BYTES.saturating_sub(self.bytes),
        ];
        //= docs/spec.md#tasks
        //# The tasks of one client, and those of one address, MUST leave room for those of others.
        // As much as is left, and three times that for all clients of an address: some is left for the next one.
        of_client.leaves_room(left, 1) && of_place.leaves_room(left, 3)
    }

    //= docs/spec.md#tasks
    //# A task MUST be there for nobody but the bearer and the session that began it.
    fn of(&mut self, id: &str, owner: &Owner) -> Option<&mut Entry> {
        self.kept.get_mut(id).filter(|entry| entry.owner == *owner)
    }
}

impl Entry {
    fn touch(&mut self) {
        self.task.last_updated_at = current_timestamp();
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use serde_json::json;

    const ME: Owner = [1; 32];

    fn begin(tasks: &Tasks) -> Option<Begun> {
        tasks.begin(ME, CallerId::default(), TaskPolicy::default())
    }

    /// Begins as many as a client may, and says how many that were.
    fn begin_all(tasks: &Tasks, place: u64, client: u64) -> usize {
        (0..)
            .take_while(|_| {
                tasks.begin(ME, CallerId { address: place, client, connection: 0 }, TaskPolicy::default()).is_some()
            })
            .count()
    }

    fn done(text: &str) -> TaskPayload {
        TaskPayload::Completed { result: json!({ "content": [text] }).as_object().unwrap().clone() }
    }

    //= docs/spec.md#tasks
    //= type=test
    //# The tasks that run, those that are kept and the bytes of their results MUST each be bounded.
    #[test]
    fn what_is_kept_is_bounded_and_what_is_forgotten_makes_room() {
        let tasks = Tasks::default();
        // As many clients as it takes, each at an address of its own.
        for (client, of_each) in [RUNNING / 2, RUNNING / 4, RUNNING / 8].into_iter().enumerate() {
            assert_eq!(begin_all(&tasks, client as u64, 0), of_each);
        }
        let rest: usize = (3..20).map(|place| begin_all(&tasks, place, 0)).sum();
        assert_eq!((rest, begin_all(&tasks, 99, 0)), (RUNNING / 8, 0));
        let ids = |tasks: &Tasks| tasks.state().kept.keys().cloned().collect::<Vec<_>>();
        for round in 0.. {
            ids(&tasks).iter().for_each(|id| tasks.end(id, done("short")));
            if (0..20).map(|place| begin_all(&tasks, place, 0)).sum::<usize>() == 0 {
                break;
            }
            assert!(round < 20 && ids(&tasks).len() <= KEPT);
        }
        assert_eq!(ids(&tasks).len(), KEPT, "so many are kept");
        ids(&tasks).iter().for_each(|id| tasks.forget(id));
        let large = begin(&tasks).unwrap().task.task_id;
        tasks.end(&large, done(&"x".repeat(BYTES / 2)));
        assert!(begin(&tasks).is_none(), "half of all bytes are one client's");
        let other = tasks
            .begin(ME, CallerId { address: 1, client: 1, connection: 0 }, TaskPolicy::default())
            .unwrap()
            .task
            .task_id;
        tasks.end(&other, done(&"x".repeat(BYTES / 2)));
        assert_eq!(begin_all(&tasks, 2, 2), 0, "{BYTES} bytes are kept");
        for id in [&large, &large, &other] {
            tasks.forget(id);
        }
        let state = tasks.state();
        assert_eq!((state.running, state.bytes, state.kept.len()), (0, 0, 0));
    }

    //= docs/spec.md#tasks
    //= type=test
    //# The tasks of one client, and those of one address, MUST leave room for those of others.
    #[test]
    fn neither_a_client_nor_an_address_takes_all_places() {
        let tasks = Tasks::default();
        assert_eq!(begin_all(&tasks, 0, 0), RUNNING / 2);
        let more: usize = (1..100).map(|client| begin_all(&tasks, 0, client)).sum();
        assert_eq!(more, RUNNING / 4, "all clients of an address");
        assert_eq!(begin_all(&tasks, 1, 0), RUNNING / 8, "there is room for another address");
    }

    //= docs/spec.md#tasks
    //= type=test
    //# A task MUST be there for nobody but the bearer and the session that began it.
    #[test]
    fn a_task_is_its_owners_alone() {
        let tasks = Tasks::default();
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

    //= docs/spec.md#tasks
    //= type=test
    //# The id of a task MUST be one that cannot be guessed.
    #[test]
    fn ids_are_random() {
        let tasks = Tasks::default();
        let ids: Vec<String> = (0..RUNNING / 2).map(|_| begin(&tasks).unwrap().task.task_id).collect();
        for id in &ids {
            let random = uuid::Uuid::parse_str(id).unwrap();
            assert_eq!(random.get_version_num(), 4, "122 random bits");
        }
        assert_eq!(ids.iter().collect::<std::collections::HashSet<_>>().len(), ids.len());
    }

    #[test]
    fn a_question_is_asked_under_a_key_of_its_own_and_answered_once() {
        let tasks = Tasks::default();
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
        tasks.say(&id, &"x".repeat(MESSAGE + 1));
        tasks.end(&id, done("ok"));
        tasks.say(&id, "late");
        tasks.end(&id, TaskPayload::Cancelled);
        let ended = tasks.get(&id, &ME).unwrap();
        assert_eq!(ended.status(), TaskStatus::Completed);
        assert_eq!(ended.task.status_message.unwrap().len(), MESSAGE);
    }
}
