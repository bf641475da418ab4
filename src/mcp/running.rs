//! One request on its way through the host: progress and log lines go to the client while it runs.
#![allow(deprecated, reason = "logging is deprecated in the newest revision and alive in all of them")]

use super::{Connection, Line, Manner, Put, Revision, Sender};
use crate::call::{Answer, AskMode, Caller, Request};
use crate::diagnostic::json_bytes;
use crate::guard::CancelFlag;
use crate::primitive::{LogLevel, Notice};
use crate::value::Json;
use rmcp::model::{ErrorData, LoggingLevel, LoggingMessageNotificationParam, ProgressNotificationParam, ProgressToken};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::oneshot::error::{RecvError, TryRecvError};
use tokio::sync::{mpsc, oneshot};

/// So many notices wait for the client; those of a script that says more are dropped.
const WAITING: usize = 1024;
/// Bytes of the notices of a call that wait, at most.
const WAITING_BYTES: usize = 256 << 10;
/// Bytes of the notices of all calls that wait, at most.
const ALL_BYTES: usize = 64 << 20;
/// Bytes of what one notice says, at most: the rest of a text is cut.
const NOTICE: usize = 16 << 10;
/// So much progress is told at once, and so much in a second after that; the last value is always told.
const BURST: f64 = 20.0;
/// For so long the answer to the only request is looked for before its task sleeps: most calls end sooner than an idle
/// machine wakes a thread.
const GLIMPSE: Duration = Duration::from_micros(50);

/// What a script says while it runs, on its way to the handler.
struct Voice {
    /// Nothing where the client wants to hear of nothing.
    sender: Option<mpsc::Sender<(Notice, usize)>>,
    /// Bytes of notices that wait: of this call, and of all.
    waiting: AtomicUsize,
    all_waiting: Arc<AtomicUsize>,
    /// How many notices were dropped.
    dropped: AtomicUsize,
    /// Whether the client wants progress.
    progress: bool,
    /// Which log lines it wants.
    level: Option<LogLevel>,
    pace: Mutex<Pace>,
}

/// What is heard of a call while it runs: notices, questions, and who says them.
type Ears<'a> =
    (Option<&'a mut mpsc::Receiver<(Notice, usize)>>, Option<&'a mut mpsc::UnboundedReceiver<Put>>, &'a Voice);

struct Pace {
    last: f64,
    budget: f64,
    at: Instant,
    /// The newest value that was not told.
    held: Option<Notice>,
}

impl Voice {
    fn new(
        sender: Option<mpsc::Sender<(Notice, usize)>>,
        all_waiting: Arc<AtomicUsize>,
        progress: bool,
        level: Option<LogLevel>,
    ) -> Self {
        let pace = Pace { last: f64::NEG_INFINITY, budget: BURST, at: Instant::now(), held: None };
        let (waiting, dropped) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Self { sender, waiting, all_waiting, dropped, progress, level, pace: Mutex::new(pace) }
    }

    /// Called by the script's thread: it never waits for the client.
    fn say(&self, notice: Notice) {
        let notice = cut(notice);
        let told = match &notice {
            Notice::Log { level, .. } => self.level.is_some_and(|wanted| *level >= wanted),
            Notice::Progress { done, .. } => self.progress && self.keep_pace(*done, &notice),
            // The bus tells everybody; a status is that of a task.
            Notice::Changed(_) | Notice::Updated { .. } | Notice::Status(_) => false,
        };
        if told && let Some(sender) = &self.sender {
            let size = size_of(&notice);
            let has_room = self.takes(size);
            if !has_room || sender.try_send((notice, size)).is_err() {
                self.dropped.fetch_add(1, Ordering::Relaxed);
                if has_room {
                    self.gives_back(size);
                }
            }
        }
    }

    //= docs/spec.md#protocol
    //# What a call says before its answer and its client does not take MUST be bounded in bytes, of one call and of all; what is dropped MUST be told.
    /// Takes room for a notice, if there is some.
    fn takes(&self, size: usize) -> bool {
        let own = self.waiting.fetch_add(size, Ordering::Relaxed) + size;
        let all = self.all_waiting.fetch_add(size, Ordering::Relaxed) + size;
        let fits = own <= WAITING_BYTES && all <= ALL_BYTES;
        if !fits {
            self.gives_back(size);
        }
        fits
    }

    /// A notice waits no longer.
    fn gives_back(&self, size: usize) {
        self.waiting.fetch_sub(size, Ordering::Relaxed);
        self.all_waiting.fetch_sub(size, Ordering::Relaxed);
    }

    /// What is said at last, behind all that was told: the newest progress, and how much was dropped.
    fn last_words(&self) -> Vec<Notice> {
        let dropped = self.dropped.load(Ordering::Relaxed);
        let wants = self.level.is_some_and(|wanted| LogLevel::Warning >= wanted);
        let told = (dropped > 0 && wants).then(|| Notice::Log {
            level: LogLevel::Warning,
            data: Json::from(format!(
                "{dropped} log lines and notices of progress of this call were dropped: they came faster than they were taken"
            )),
        });
        if dropped > 0 {
            tracing::debug!("dropped {dropped} notices of a call: the client does not keep up");
        }
        told.into_iter().chain(self.held()).collect()
    }

    fn keep_pace(&self, done: f64, notice: &Notice) -> bool {
        let mut pace = self.pace.lock().unwrap_or_else(PoisonError::into_inner);
        if done.is_nan() || done <= pace.last {
            return false;
        }
        let now = Instant::now();
        pace.last = done;
        pace.budget = (pace.budget + now.duration_since(pace.at).as_secs_f64() * BURST).min(BURST);
        pace.at = now;
        if pace.budget < 1.0 {
            pace.held = Some(notice.clone());
            return false;
        }
        pace.budget -= 1.0;
        pace.held = None;
        true
    }

    fn held(&self) -> Option<Notice> {
        self.pace.lock().unwrap_or_else(PoisonError::into_inner).held.take()
    }
}

impl Drop for Voice {
    /// What nobody hears any more does not wait.
    fn drop(&mut self) {
        self.all_waiting.fetch_sub(self.waiting.load(Ordering::Relaxed), Ordering::Relaxed);
    }
}

/// A notice that is not longer than one may be.
fn cut(notice: Notice) -> Notice {
    let shortened = |text: &str| {
        let end = text.floor_char_boundary(NOTICE);
        format!("{}… ({} bytes, of which a client hears {NOTICE})", &text[..end], text.len())
    };
    match notice {
        Notice::Log { level, data: Json::String(text) } if text.len() > NOTICE => {
            Notice::Log { level, data: Json::from(shortened(&text)) }
        }
        Notice::Log { level, data: data @ (Json::Array(_) | Json::Object(_)) } => {
            let bytes = json_bytes(&data);
            let why = || format!("a log line of {bytes} bytes is not told: {NOTICE} is the most");
            Notice::Log { level, data: if bytes > NOTICE { Json::from(why()) } else { data } }
        }
        Notice::Progress { done, total, message: Some(text) } if text.len() > NOTICE => {
            Notice::Progress { done, total, message: Some(shortened(&text)) }
        }
        short => short,
    }
}

/// Bytes of a notice, about.
fn size_of(notice: &Notice) -> usize {
    const AROUND: usize = 128;
    AROUND
        + match notice {
            Notice::Log { data: Json::String(text), .. } => text.len(),
            Notice::Log { data, .. } => json_bytes(data),
            Notice::Progress { message: Some(text), .. } => text.len(),
            _ => 0,
        }
}

/// Ends the call when the request is forgotten.
pub(crate) struct EndOnDrop(pub(crate) CancelFlag);

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

impl Connection {
    /// Has the host answer a request.
    ///
    /// # Errors
    /// The request was taken back, or the connection ends: nobody reads that answer.
    pub(crate) fn answer<'a>(
        &'a self,
        request: Request,
        manner: Manner,
        sender: Sender<'a>,
        revision: Revision,
    ) -> Pin<Box<impl Future<Output = Result<Answer, ErrorData>> + Send + 'a>> {
        // On the heap: what handles a request is moved several times before it first runs.
        Box::pin(self.ask_host(request, manner, sender, revision))
    }

    async fn ask_host(
        &self,
        request: Request,
        manner: Manner,
        sender: Sender<'_>,
        revision: Revision,
    ) -> Result<Answer, ErrorData> {
        let token = sender.meta.get_progress_token();
        let level = if revision.is_stateless() { sender.meta.log_level().map(level_of) } else { Some(self.level()) };
        // What nobody will hear or answer needs no line: most calls of the stateless era have none.
        let is_heard = token.is_some() || level.is_some();
        let (notices, mut heard) = is_heard.then(|| mpsc::channel(WAITING)).unzip();
        let voice = Arc::new(Voice::new(notices, Arc::clone(&self.host.said), token.is_some(), level));
        let cancel = CancelFlag::default();
        let (done, answered) = oneshot::channel();
        let speaker = Arc::clone(&voice);
        let (line, mut questions) = matches!(manner, Manner::Waits).then(mpsc::unbounded_channel).unzip();
        // Kept to the end: a line that closes wakes this task, which has nothing to do before the answer comes.
        let line = line.map(|line| Arc::new(Line(line)));
        let caller = Caller {
            cancel: cancel.clone(),
            notices: Box::new(move |notice| speaker.say(notice)),
            capabilities: self.usable(sender, revision),
            asking: match (manner, &line) {
                (Manner::Suspends { record, answers }, _) => AskMode::Suspends { record, answers },
                (_, Some(line)) => AskMode::Waits { asker: Arc::<Line>::clone(line), record: Box::default() },
                (_, None) => AskMode::Nobody,
            },
            peer: self.peer(sender, revision),
        };
        let ended = EndOnDrop(cancel);
        if sender.gone.is_cancelled() || self.ends.all.is_cancelled() {
            return Err(gone());
        }
        let turn = self.host.turn();
        Arc::clone(&self.host.service).submit(request, caller, Box::new(move |answer| drop(done.send(answer))));
        let mut answered = answered;
        let answer = match self.host.is_alone().then(|| glimpse(&mut answered)).flatten() {
            Some(answer) => Ok(answer),
            None => {
                let ears = (heard.as_mut(), questions.as_mut(), voice.as_ref());
                self.attend(&mut answered, ears, token.as_ref(), sender, revision).await?
            }
        };
        // What was said before the end is told before the answer.
        while let Some(Ok((notice, size))) = heard.as_mut().map(mpsc::Receiver::try_recv) {
            self.tell(notice, token.as_ref(), sender, revision).await;
            voice.gives_back(size);
        }
        for notice in voice.last_words() {
            self.tell(notice, token.as_ref(), sender, revision).await;
        }
        drop((line, ended, turn));
        answer.map_err(|_| ErrorData::internal_error("the call ended without an answer", None))
    }

    /// Waits for the answer; tells meanwhile what the script says, and asks what it wants to know.
    async fn attend(
        &self,
        answered: &mut oneshot::Receiver<Answer>,
        (mut heard, mut questions, voice): Ears<'_>,
        token: Option<&ProgressToken>,
        sender: Sender<'_>,
        revision: Revision,
    ) -> Result<Result<Answer, RecvError>, ErrorData> {
        loop {
            tokio::select! {
                biased;
                () = sender.gone.cancelled() => return Err(gone()),
                () = self.ends.all.cancelled() => return Err(gone()),
                // What was said before a question is told before it.
                Some((notice, size)) = hear(heard.as_deref_mut()) => {
                    self.tell(notice, token, sender, revision).await;
                    voice.gives_back(size);
                }
                Some(put) = be_asked(questions.as_deref_mut()) => self.put(put, sender, revision).await,
                answer = &mut *answered => return Ok(answer),
            }
        }
    }

    /// The capabilities of the client that the revision knows.
    pub(crate) fn usable(&self, sender: Sender<'_>, revision: Revision) -> Json {
        let mut capabilities = self.capabilities(sender);
        if !revision.has_structured()
            && let Some(map) = capabilities.as_object_mut()
        {
            map.shift_remove("elicitation");
        }
        capabilities
    }

    async fn tell(&self, notice: Notice, token: Option<&ProgressToken>, sender: Sender<'_>, revision: Revision) {
        let Some(peer) = sender.peer else { return };
        let told = async {
            match notice {
                Notice::Progress { done, total, message } => {
                    let Some(token) = token else { return Ok(()) };
                    let mut progress = ProgressNotificationParam::new(token.clone(), done);
                    progress.total = total;
                    progress.message = message.filter(|_| revision.has_hints());
                    peer.notify_progress(progress).await
                }
                Notice::Log { level, data } => {
                    let line = LoggingMessageNotificationParam::new(logging_level(level), data);
                    peer.notify_logging_message(line).await
                }
                Notice::Changed(_) | Notice::Updated { .. } | Notice::Status(_) => Ok(()),
            }
        };
        tokio::select! {
            () = sender.gone.cancelled() => {}
            () = self.ends.all.cancelled() => {}
            told = told => if let Err(error) = told {
                tracing::debug!(%error, "a notice did not reach the client");
            },
        }
    }
}

/// The answer, if it comes in a moment.
fn glimpse(answered: &mut oneshot::Receiver<Answer>) -> Option<Answer> {
    let began = Instant::now();
    while began.elapsed() < GLIMPSE {
        match answered.try_recv() {
            Ok(answer) => return Some(answer),
            Err(TryRecvError::Empty) => std::thread::yield_now(),
            Err(TryRecvError::Closed) => return None,
        }
    }
    None
}

/// What was said next; never anything where nobody hears.
async fn hear(heard: Option<&mut mpsc::Receiver<(Notice, usize)>>) -> Option<(Notice, usize)> {
    match heard {
        Some(heard) => heard.recv().await,
        None => std::future::pending().await,
    }
}

/// What is asked next; never anything where nobody is asked.
async fn be_asked(questions: Option<&mut mpsc::UnboundedReceiver<Put>>) -> Option<Put> {
    match questions {
        Some(questions) => questions.recv().await,
        None => std::future::pending().await,
    }
}

fn gone() -> ErrorData {
    ErrorData::internal_error("the server ends, or the request was taken back", None)
}

/// The protocol's word for a level.
pub(crate) fn logging_level(level: LogLevel) -> LoggingLevel {
    match level {
        LogLevel::Debug => LoggingLevel::Debug,
        LogLevel::Info => LoggingLevel::Info,
        LogLevel::Notice => LoggingLevel::Notice,
        LogLevel::Warning => LoggingLevel::Warning,
        LogLevel::Error => LoggingLevel::Error,
        LogLevel::Critical => LoggingLevel::Critical,
        LogLevel::Alert => LoggingLevel::Alert,
        LogLevel::Emergency => LoggingLevel::Emergency,
    }
}

/// Our word for a level.
pub(crate) fn level_of(level: LoggingLevel) -> LogLevel {
    LogLevel::ALL.into_iter().find(|ours| logging_level(*ours) == level).unwrap_or(LogLevel::Info)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_rises_and_its_last_value_is_kept() {
        let (sender, mut heard) = mpsc::channel(WAITING);
        let voice = Voice::new(Some(sender), Arc::default(), true, None);
        let progress = |done: f64| Notice::Progress { done, total: None, message: None };
        voice.say(progress(2.0));
        voice.say(progress(1.0));
        voice.say(progress(2.0));
        assert_eq!(heard.try_recv().ok().map(|(notice, _)| notice), Some(progress(2.0)));
        assert!(heard.try_recv().is_err());
        for step in 3..1000 {
            voice.say(progress(f64::from(step)));
        }
        let mut told = 0;
        while heard.try_recv().is_ok() {
            told += 1;
        }
        assert!(told < 40, "{told}");
        assert_eq!(voice.last_words(), [progress(999.0)]);
    }

    //= docs/spec.md#protocol
    //= type=test
    //# What a call says before its answer and its client does not take MUST be bounded in bytes, of one call and of all; what is dropped MUST be told.
    #[test]
    fn what_nobody_hears_is_bounded_and_told() {
        let all = Arc::new(AtomicUsize::new(0));
        let voice = || {
            let (sender, heard) = mpsc::channel(WAITING);
            (Voice::new(Some(sender), Arc::clone(&all), true, Some(LogLevel::Debug)), heard)
        };
        let (first, mut heard) = voice();
        let log = |data: Json| Notice::Log { level: LogLevel::Debug, data };
        let (long, deep) = ("ä".repeat(NOTICE), serde_json::json!([["x".repeat(NOTICE)]]));
        for data in [Json::from(long.as_str()), deep, Json::from("short")] {
            first.say(log(data));
        }
        first.say(Notice::Progress { done: 1.0, total: None, message: Some(long.clone()) });
        let mut sizes = Vec::new();
        while let Ok((notice, size)) = heard.try_recv() {
            assert!(size <= NOTICE + 256 && size_of(&notice) == size, "{size}");
            first.gives_back(size);
            sizes.push(size);
        }
        assert!(sizes.len() == 4 && sizes[1] < 256 && all.load(Ordering::Relaxed) == 0, "{sizes:?}");
        // One says much, and then many do.
        let mut crowd = vec![(first, heard)];
        crowd.extend((0..ALL_BYTES / WAITING_BYTES + 10).map(|_| voice()));
        for (voice, _) in &crowd {
            (0..100).for_each(|_| voice.say(log(Json::from(long.as_str()))));
            assert!(voice.waiting.load(Ordering::Relaxed) <= WAITING_BYTES);
        }
        let waiting = all.load(Ordering::Relaxed);
        assert!(waiting <= ALL_BYTES && waiting > ALL_BYTES / 2, "{waiting}");
        let [Notice::Log { level: LogLevel::Warning, data: Json::String(told) }] = &crowd[0].0.last_words()[..] else {
            panic!("what was dropped is not told");
        };
        assert!(told.ends_with("they came faster than they were taken"), "{told}");
        crowd.clear();
        assert_eq!(all.load(Ordering::Relaxed), 0, "calls that are over say nothing");
    }

    #[test]
    fn levels_are_the_same_eight() {
        for level in LogLevel::ALL {
            assert_eq!(level_of(logging_level(level)), level);
        }
    }
}
