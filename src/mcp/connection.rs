//! The server that all connections share, and one connection to it: what it knows of its client, how it gets a request
//! answered, and how it forwards events.
#![allow(deprecated, reason = "logging is deprecated in the newest revision and alive in the others")]

use super::elicitation::{ElicitationChannel, ElicitationMode, PendingElicitation, StateSealer, to_input_request};
use super::event_hub::{Event, EventHub, read_resource};
use super::lists::{ListCache, Lists};
use super::notices::{NOTICE_CAPACITY, NoticeChannel, QueuedNotice, from_logging_level, to_logging_level};
use super::render::{mcp_error, unexpected_answer_error};
use super::revision::Revision;
use super::sender::RequestSender;
use super::settings::ServerSettings;
use super::tasks::TaskStore;
use crate::call::{self, Answer, AskMode, Caller, PendingQuestions, Request, RequestHandler};
use crate::guard::CancelFlag;
use crate::primitive_api::{LogLevel, Notice};
use crate::registry::{MAX_URI_BYTES, SkillIndex};
use crate::value::Json;
use arc_swap::ArcSwapOption;
use rmcp::RoleServer;
use rmcp::model::{
    CacheScope, ErrorData, InputRequests, InputRequiredResult, InputResponses, LoggingMessageNotificationParam,
    MetaObject, ProgressNotificationParam, ProgressToken, ResourceUpdatedNotificationParam,
};
use rmcp::service::{Peer, SubscriptionContext};
use serde_json::json;
use std::collections::HashSet;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::oneshot::error::TryRecvError;
use tokio::sync::{Notify, broadcast, mpsc, oneshot};
use tokio_util::sync::CancellationToken;

/// How long a task polls for the answer to the only running request before it sleeps: most calls end sooner than an
/// idle machine wakes a thread.
const SPIN_TIMEOUT: Duration = Duration::from_micros(50);

/// How many `subscriptions/listen` requests a connection may have open: each counts as a running request.
const MAX_SUBSCRIPTIONS: usize = 64;

/// How often a session checks whether its client has closed it: over HTTP nothing else reports that. A closed session
/// holds about 20 kB until then, so the interval suits clients that open and close hundreds of sessions a second.
const CLOSED_CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// What all connections share.
pub(crate) struct McpServer {
    pub(crate) service: Arc<dyn RequestHandler>,
    pub(crate) settings: ServerSettings,
    pub(crate) event_hub: Arc<EventHub>,
    pub(crate) list_cache: ListCache,
    /// What the first page of a list was made of: its other pages continue in it.
    pub(crate) listed_skills: ArcSwapOption<SkillIndex>,
    pub(crate) listed_resources: ArcSwapOption<Vec<Json>>,
    pub(crate) state_sealer: StateSealer,
    pub(crate) tasks: Arc<TaskStore>,
    /// The number of active requests. It is limited where requests come in: by the reader of standard input, and by the
    /// number of HTTP connections. Active requests wait for a script thread, and clients take turns there.
    active: AtomicUsize,
    /// Notified when the last active request ends.
    idle: Notify,
    /// The bytes of all notices, of all calls, that clients have not taken yet.
    pub(crate) queued_notice_bytes: Arc<AtomicUsize>,
}

impl McpServer {
    pub(crate) fn new(service: Arc<dyn RequestHandler>, settings: ServerSettings) -> Self {
        let event_hub = EventHub::start(&service);
        let state_sealer = StateSealer::new(settings.state_key.as_ref());
        Self {
            service,
            settings,
            event_hub,
            list_cache: ListCache::default(),
            listed_skills: ArcSwapOption::empty(),
            listed_resources: ArcSwapOption::empty(),
            state_sealer,
            tasks: Arc::default(),
            active: AtomicUsize::new(0),
            idle: Notify::new(),
            queued_notice_bytes: Arc::default(),
        }
    }

    /// Counts a request as active until the returned guard is dropped.
    pub(crate) fn begin_request(&self) -> ActiveRequestGuard<'_> {
        self.active.fetch_add(1, Ordering::AcqRel);
        ActiveRequestGuard(self)
    }

    /// The number of active requests.
    pub(crate) fn active_requests(&self) -> usize {
        self.active.load(Ordering::Acquire)
    }

    /// Whether exactly one request is active.
    pub(crate) fn has_one_request(&self) -> bool {
        self.active_requests() == 1
    }

    /// Waits until no request is active.
    pub(crate) async fn wait_until_idle(&self) {
        loop {
            let idle = self.idle.notified();
            tokio::pin!(idle);
            // Registered before the check, so that no notification is missed.
            idle.as_mut().enable();
            if self.active.load(Ordering::Acquire) == 0 {
                return;
            }
            idle.await;
        }
    }
}

pub(crate) struct ActiveRequestGuard<'a>(&'a McpServer);

impl Drop for ActiveRequestGuard<'_> {
    fn drop(&mut self) {
        if self.0.active.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.0.idle.notify_waiters();
        }
    }
}

/// How many resources one client may subscribe to, …
const MAX_SUBSCRIBED_RESOURCES: usize = 1_000;
/// … and how many bytes their URIs may have together: they are kept as long as the subscriptions.
const MAX_SUBSCRIBED_URI_BYTES: usize = 128 << 10;

//= docs/spec.md#http
//# The client information and the subscriptions that a session keeps MUST be bounded in bytes.
/// Counts what a client subscribes to.
#[derive(Default)]
pub(crate) struct Followed {
    count: usize,
    bytes: usize,
}

impl Followed {
    /// Counts one more subscription; `false` if there is no room for it.
    pub(crate) fn take(&mut self, uri: &str) -> bool {
        let (count, bytes) = (self.count + 1, self.bytes.saturating_add(uri.len()));
        let has_room = count <= MAX_SUBSCRIBED_RESOURCES && bytes <= MAX_SUBSCRIBED_URI_BYTES;
        if has_room {
            (self.count, self.bytes) = (count, bytes);
        }
        has_room
    }
}

/// The two stages in which a connection ends.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shutdown {
    /// No more requests will arrive: subscriptions end.
    pub(crate) draining: CancellationToken,
    /// The connection closes: running calls are cancelled.
    pub(crate) now: CancellationToken,
}

/// Cancels a call when its request is dropped.
pub(crate) struct CancelOnDrop(pub(crate) CancelFlag);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// What a running call sends to its request: notices, and questions that wait for answers.
struct CallOutput<'a> {
    channel: &'a NoticeChannel,
    notices: Option<&'a mut mpsc::Receiver<QueuedNotice>>,
    questions: Option<&'a mut mpsc::UnboundedReceiver<PendingElicitation>>,
}

pub(crate) struct Connection {
    pub(crate) server: Arc<McpServer>,
    pub(crate) shutdown: Shutdown,
    /// The level that the client asked for, as an index into [`LogLevel::ALL`].
    log_level: AtomicU8,
    /// The URIs that the client subscribed to, in the revisions that have `resources/subscribe`.
    subscriptions: Mutex<HashSet<String>>,
    /// The capabilities that the client declared in its handshake.
    declared_capabilities: OnceLock<Json>,
    /// The number of open `subscriptions/listen` requests, in the revision that has them.
    open_subscriptions: AtomicUsize,
    /// Whether events are forwarded to the client.
    forwards_events: AtomicBool,
}

impl Connection {
    pub(crate) fn new(server: Arc<McpServer>, shutdown: Shutdown) -> Self {
        Self {
            server,
            shutdown,
            log_level: AtomicU8::new(LogLevel::Info as u8),
            subscriptions: Mutex::default(),
            declared_capabilities: OnceLock::new(),
            open_subscriptions: AtomicUsize::new(0),
            forwards_events: AtomicBool::new(false),
        }
    }

    /// The lowest level of log lines that the client wants.
    fn log_level(&self) -> LogLevel {
        LogLevel::ALL.get(usize::from(self.log_level.load(Ordering::Relaxed))).copied().unwrap_or(LogLevel::Info)
    }

    pub(crate) fn set_log_level(&self, level: LogLevel) {
        self.log_level.store(level as u8, Ordering::Relaxed);
    }

    //= docs/spec.md#protocol
    //# A subscription to a resource that does not allow it MUST be refused.
    /// Checks that clients may subscribe to the resource at this URI. A URI that no pack defines is one of the server's
    /// own.
    ///
    /// # Errors
    /// Why not.
    pub(crate) fn may_subscribe(&self, uri: &str) -> Result<(), String> {
        match self.server.service.registry().route(uri) {
            Some(Ok((served, _))) if !served.definition.subscribe => {
                Err(format!("clients cannot subscribe to `{uri}`"))
            }
            Some(Err(error)) => Err(error.message.clone()),
            _ if uri.len() > MAX_URI_BYTES => {
                Err(format!("the URI has {} bytes, and may have at most {MAX_URI_BYTES}", uri.len()))
            }
            _ => Ok(()),
        }
    }

    fn subscriptions(&self) -> MutexGuard<'_, HashSet<String>> {
        self.subscriptions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Subscribes the client to a resource. `contents` are its present contents, if they are known.
    pub(crate) fn subscribe_to(&self, uri: &str, contents: Option<&call::ResourceAnswer>) -> Result<(), String> {
        let is_new = {
            let mut subscribed = self.subscriptions();
            let mut room = Followed::default();
            let _all_were_taken = subscribed.iter().all(|known| room.take(known));
            if !subscribed.contains(uri) && !room.take(uri) {
                return Err(format!(
                    "the client subscribes to {} resources, and may subscribe to {MAX_SUBSCRIBED_RESOURCES} whose \
                     URIs have {MAX_SUBSCRIBED_URI_BYTES} bytes in all: unsubscribe from some",
                    subscribed.len()
                ));
            }
            subscribed.insert(uri.to_owned())
        };
        if is_new {
            self.server.event_hub.follow(uri, contents);
        }
        Ok(())
    }

    /// Ends the subscription to a resource, if there is one.
    pub(crate) fn unsubscribe_from(&self, uri: &str) {
        if self.subscriptions().remove(uri) {
            self.server.event_hub.unfollow(uri);
        }
    }

    /// The capabilities of the client: those that this request declares, otherwise those of the handshake.
    pub(crate) fn client_capabilities(&self, sender: RequestSender<'_>) -> Json {
        if let Some(declared) = sender.meta.get("io.modelcontextprotocol/clientCapabilities") {
            return declared.clone();
        }
        let peer = sender.peer.and_then(|peer| peer.peer_info());
        match peer {
            Some(peer) => self.declared_capabilities.get_or_init(|| json!(peer.capabilities)).clone(),
            None => json!({}),
        }
    }

    /// The capabilities of the client, without those that the revision does not have.
    pub(crate) fn usable_capabilities(&self, sender: RequestSender<'_>, revision: Revision) -> Json {
        let mut capabilities = self.client_capabilities(sender);
        if !revision.has_structured()
            && let Some(map) = capabilities.as_object_mut()
        {
            map.shift_remove("elicitation");
        }
        capabilities
    }

    /// The calling client, as this request describes it, otherwise as the handshake did.
    pub(crate) fn calling_peer(&self, sender: RequestSender<'_>, revision: Revision) -> call::Peer {
        let client = match sender.meta.get("io.modelcontextprotocol/clientInfo") {
            Some(info) => Some(info.clone()),
            None => sender.peer.and_then(|peer| peer.peer_info()).map(|peer| json!(peer.client_info)),
        };
        let client = client.map(|info| json!({ "name": info["name"], "version": info["version"] }));
        call::Peer { revision: Some(revision.name().to_owned()), client, caller_id: sender.caller_id }
    }

    /// What the server publishes in a revision.
    pub(crate) fn lists(&self, revision: Revision) -> Arc<Lists> {
        self.server.list_cache.lists(&self.server.settings, self.server.service.as_ref(), revision)
    }

    /// The current resources.
    pub(crate) async fn resources(
        &self,
        sender: RequestSender<'_>,
        revision: Revision,
    ) -> Result<Arc<Vec<Json>>, ErrorData> {
        match self.answer(Request::ListResources, ElicitationMode::Never, sender, revision).await? {
            Answer::Resources(all) => {
                self.server.listed_resources.store(Some(Arc::clone(&all)));
                Ok(all)
            }
            Answer::Error(error) => Err(mcp_error(*error, None, revision)),
            _ => Err(unexpected_answer_error()),
        }
    }

    /// The current skills. If a function of a pack finds them, a script thread calls it.
    pub(crate) async fn skills(
        &self,
        sender: RequestSender<'_>,
        revision: Revision,
    ) -> Result<Arc<SkillIndex>, ErrorData> {
        let registry = self.server.service.registry();
        if !registry.finds_skills() {
            return Ok(Arc::clone(&registry.skills));
        }
        match self.answer(Request::ListSkills, ElicitationMode::Never, sender, revision).await? {
            Answer::Skills(skills) => Ok(skills),
            _ => Err(ErrorData::internal_error("the skills cannot be listed", None)),
        }
    }

    /// Adds the name and version of the server, which every result of the stateless revision carries.
    pub(crate) fn stamp_server_info(&self, meta: &mut Option<MetaObject>, revision: Revision) {
        if revision.is_stateless() {
            let server_info = self.lists(revision).server_info.clone();
            meta.get_or_insert_default().insert("io.modelcontextprotocol/serverInfo".to_owned(), server_info);
        }
    }

    /// How long a client may cache a list, in milliseconds, and for whom.
    pub(crate) fn cache_hints(&self, revision: Revision) -> (Option<u64>, Option<CacheScope>) {
        let hinted = revision.is_stateless();
        (hinted.then_some(self.server.settings.lists_ttl_ms), hinted.then_some(CacheScope::Private))
    }

    /// How this request may ask its client questions. `answers` and `state` came with the request.
    ///
    /// # Errors
    /// The state was not sealed for this request.
    pub(crate) fn elicitation_mode(
        &self,
        request: &Request,
        answers: Option<InputResponses>,
        state: Option<&str>,
        revision: Revision,
    ) -> Result<ElicitationMode, ErrorData> {
        if !revision.is_stateless() {
            return Ok(ElicitationMode::Waits);
        }
        let record = state.map(|state| self.server.state_sealer.open(state, request)).transpose()?.unwrap_or_default();
        Ok(ElicitationMode::Suspends { record: Box::new(record), answers: answers.unwrap_or_default() })
    }

    /// The result that asks the client questions before the call can continue.
    ///
    /// # Errors
    /// There is no request whose state could be sealed: calls of that revision are not suspended.
    pub(crate) fn input_required(
        &self,
        asks: &PendingQuestions,
        request: Option<&Request>,
        revision: Revision,
    ) -> Result<InputRequiredResult, ErrorData> {
        let Some(request) = request else {
            return Err(ErrorData::internal_error("a call of this revision cannot be suspended", None));
        };
        let mut requests = InputRequests::new();
        for (key, wish) in &asks.questions {
            let asked = to_input_request(key, wish).map_err(|error| ErrorData::internal_error(error.message, None))?;
            requests.insert(key.clone(), asked);
        }
        let state = self.server.state_sealer.seal(&asks.record, request)?;
        let mut result = InputRequiredResult::new(Some(requests), Some(state));
        self.stamp_server_info(&mut result.meta, revision);
        Ok(result)
    }

    /// Gets a request answered by the service. Notices and questions of the call go to the client meanwhile.
    ///
    /// # Errors
    /// The request was cancelled or the connection ends: the response would not be read.
    pub(crate) fn answer<'a>(
        &'a self,
        request: Request,
        mode: ElicitationMode,
        sender: RequestSender<'a>,
        revision: Revision,
    ) -> Pin<Box<impl Future<Output = Result<Answer, ErrorData>> + Send + 'a>> {
        // On the heap: the future of a handler is moved several times before it first runs.
        Box::pin(self.run_request(request, mode, sender, revision))
    }

    async fn run_request(
        &self,
        request: Request,
        mode: ElicitationMode,
        sender: RequestSender<'_>,
        revision: Revision,
    ) -> Result<Answer, ErrorData> {
        let token = sender.meta.get_progress_token();
        let level = match revision.is_stateless() {
            true => sender.meta.log_level().map(from_logging_level),
            false => Some(self.log_level()),
        };
        // A call whose notifications are unwanted needs no queue. Most calls of the stateless revision are such calls.
        let is_heard = token.is_some() || level.is_some();
        let (queue, mut notices) = is_heard.then(|| mpsc::channel(NOTICE_CAPACITY)).unzip();
        let queued_bytes = Arc::clone(&self.server.queued_notice_bytes);
        let channel = Arc::new(NoticeChannel::new(queue, queued_bytes, token.is_some(), level));
        let cancel = CancelFlag::default();
        let (done, mut answered) = oneshot::channel();
        let script_side = Arc::clone(&channel);
        let (asker, mut questions) = matches!(mode, ElicitationMode::Waits).then(mpsc::unbounded_channel).unzip();
        // Kept until the end: closing the channel would wake this task before the answer comes.
        let asker = asker.map(|asker| Arc::new(ElicitationChannel(asker)));
        let caller = Caller {
            cancel: cancel.clone(),
            notices: Box::new(move |notice| script_side.send(notice)),
            capabilities: self.usable_capabilities(sender, revision),
            asking: match (mode, &asker) {
                (ElicitationMode::Suspends { record, answers }, _) => AskMode::Suspends { record, answers },
                (_, Some(asker)) => {
                    AskMode::Waits { asker: Arc::<ElicitationChannel>::clone(asker), record: Box::default() }
                }
                (_, None) => AskMode::Never,
            },
            peer: self.calling_peer(sender, revision),
        };
        let cancel_on_drop = CancelOnDrop(cancel);
        if sender.cancelled.is_cancelled() || self.shutdown.now.is_cancelled() {
            return Err(cancelled_error());
        }
        let active = self.server.begin_request();
        Arc::clone(&self.server.service).submit(request, caller, Box::new(move |answer| drop(done.send(answer))));
        let answer = match self.server.has_one_request().then(|| spin_for_answer(&mut answered)).flatten() {
            Some(answer) => Some(answer),
            None => {
                let output = CallOutput { channel: &channel, notices: notices.as_mut(), questions: questions.as_mut() };
                self.await_answer(&mut answered, output, token.as_ref(), sender, revision).await?
            }
        };
        // Notices of the call go out before its answer.
        while let Some(Ok((notice, size))) = notices.as_mut().map(mpsc::Receiver::try_recv) {
            self.send_notice(notice, token.as_ref(), sender, revision).await;
            channel.release(size);
        }
        for notice in channel.final_notices() {
            self.send_notice(notice, token.as_ref(), sender, revision).await;
        }
        drop((asker, cancel_on_drop, active));
        answer.ok_or_else(|| ErrorData::internal_error("the call ended without an answer", None))
    }

    /// Waits for the answer, and forwards the notices and questions of the call meanwhile. `None` if the call ended
    /// without an answer.
    async fn await_answer(
        &self,
        answered: &mut oneshot::Receiver<Answer>,
        mut output: CallOutput<'_>,
        token: Option<&ProgressToken>,
        sender: RequestSender<'_>,
        revision: Revision,
    ) -> Result<Option<Answer>, ErrorData> {
        loop {
            tokio::select! {
                biased;
                () = sender.cancelled.cancelled() => return Err(cancelled_error()),
                () = self.shutdown.now.cancelled() => return Err(cancelled_error()),
                // Notices that came before a question go out before it.
                Some((notice, size)) = next_notice(output.notices.as_deref_mut()) => {
                    self.send_notice(notice, token, sender, revision).await;
                    output.channel.release(size);
                }
                Some(elicitation) = next_elicitation(output.questions.as_deref_mut()) => {
                    elicitation.ask(sender, revision, &self.shutdown.now).await;
                }
                answer = &mut *answered => return Ok(answer.ok()),
            }
        }
    }

    async fn send_notice(
        &self,
        notice: Notice,
        token: Option<&ProgressToken>,
        sender: RequestSender<'_>,
        revision: Revision,
    ) {
        let Some(peer) = sender.peer else { return };
        let sending = async {
            match notice {
                Notice::Progress { done, total, message } => {
                    let Some(token) = token else { return Ok(()) };
                    let mut progress = ProgressNotificationParam::new(token.clone(), done);
                    progress.total = total;
                    progress.message = message.filter(|_| revision.has_hints());
                    peer.notify_progress(progress).await
                }
                Notice::Log { level, data } => {
                    let line = LoggingMessageNotificationParam::new(to_logging_level(level), data);
                    peer.notify_logging_message(line).await
                }
                Notice::Changed(_) | Notice::Updated { .. } | Notice::Status(_) => Ok(()),
            }
        };
        tokio::select! {
            () = sender.cancelled.cancelled() => {}
            () = self.shutdown.now.cancelled() => {}
            sent = sending => if let Err(error) = sent {
                tracing::debug!(%error, "a notice could not be sent to the client");
            },
        }
    }

    /// Forwards events to a client of a revision with handshakes, until the connection ends. Only the first call has an
    /// effect. A client that does not read holds up nothing else.
    pub(crate) async fn forward_events(&self, peer: &Peer<RoleServer>) {
        if self.forwards_events.swap(true, Ordering::Relaxed) {
            return;
        }
        let mut events = self.server.event_hub.events();
        loop {
            let event = tokio::select! {
                () = self.shutdown.now.cancelled() => return,
                () = self.shutdown.draining.cancelled() => return,
                () = tokio::time::sleep(CLOSED_CHECK_INTERVAL) => match peer.is_transport_closed() {
                    true => return,
                    false => continue,
                },
                event = events.recv() => event,
            };
            let events = match event {
                Ok(event) => vec![event],
                Err(broadcast::error::RecvError::Lagged(_)) => all_events(self.subscriptions().iter().cloned()),
                Err(broadcast::error::RecvError::Closed) => return,
            };
            for event in events {
                tokio::select! {
                    () = self.shutdown.now.cancelled() => return,
                    sent = self.send_event(peer, event) => if !sent { return },
                }
            }
        }
    }

    /// Sends an event to the client if it wants such events; `false` if the client is gone.
    async fn send_event(&self, peer: &Peer<RoleServer>, event: Event) -> bool {
        let sent = match event {
            Event::Tools => peer.notify_tool_list_changed().await,
            Event::Prompts => peer.notify_prompt_list_changed().await,
            Event::Resources => peer.notify_resource_list_changed().await,
            Event::Updated(uri) => {
                if !self.subscriptions().contains(&uri) {
                    return true;
                }
                peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await
            }
            Event::Log(level, data) => {
                if level < self.log_level() {
                    return true;
                }
                let line = LoggingMessageNotificationParam::new(to_logging_level(level), data).with_logger("toolsd");
                peer.notify_logging_message(line).await
            }
        };
        sent.is_ok()
    }

    /// Serves one `subscriptions/listen` request, until it is cancelled or the connection ends.
    pub(crate) async fn serve_subscription(&self, subscription: &SubscriptionContext) {
        let uris = subscription.accepted().resource_subscriptions.clone().unwrap_or_default();
        let mut events = self.server.event_hub.events();
        if self.open_subscriptions.fetch_add(1, Ordering::Relaxed) < MAX_SUBSCRIPTIONS {
            for uri in &uris {
                let contents = read_resource(&self.server.service, uri).await;
                self.server.event_hub.follow(uri, contents.as_ref());
            }
            loop {
                let event = tokio::select! {
                    () = subscription.cancelled() => break,
                    () = self.shutdown.now.cancelled() => break,
                    () = self.shutdown.draining.cancelled() => break,
                    event = events.recv() => event,
                };
                let events = match event {
                    Ok(event) => vec![event],
                    Err(broadcast::error::RecvError::Lagged(_)) => all_events(uris.iter().cloned()),
                    Err(broadcast::error::RecvError::Closed) => break,
                };
                for event in events {
                    tokio::select! {
                        () = self.shutdown.now.cancelled() => {}
                        () = send_to_subscription(subscription, event) => {}
                    }
                }
            }
            uris.iter().for_each(|uri| self.server.event_hub.unfollow(uri));
        }
        self.open_subscriptions.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let subscriptions: Vec<String> = self.subscriptions().drain().collect();
        for uri in subscriptions {
            self.server.event_hub.unfollow(&uri);
        }
    }
}

/// The events for a client that missed some: they say that everything may have changed.
fn all_events(uris: impl Iterator<Item = String>) -> Vec<Event> {
    let lists = [Event::Tools, Event::Prompts, Event::Resources];
    lists.into_iter().chain(uris.map(Event::Updated)).collect()
}

async fn send_to_subscription(subscription: &SubscriptionContext, event: Event) {
    let (sink, accepted) = (subscription.sink(), subscription.accepted());
    let sent = match event {
        Event::Tools if accepted.tools_list_changed == Some(true) => sink.notify_tool_list_changed().await,
        Event::Prompts if accepted.prompts_list_changed == Some(true) => sink.notify_prompt_list_changed().await,
        Event::Resources if accepted.resources_list_changed == Some(true) => sink.notify_resource_list_changed().await,
        Event::Updated(uri) if accepted.resource_subscriptions.as_ref().is_some_and(|uris| uris.contains(&uri)) => {
            sink.notify_resource_updated(uri).await
        }
        _ => return,
    };
    if let Err(error) = sent {
        tracing::debug!(%error, "a change could not be sent to a subscription");
    }
}

/// Polls for the answer for at most [`SPIN_TIMEOUT`].
fn spin_for_answer(answered: &mut oneshot::Receiver<Answer>) -> Option<Answer> {
    let began = Instant::now();
    while began.elapsed() < SPIN_TIMEOUT {
        match answered.try_recv() {
            Ok(answer) => return Some(answer),
            Err(TryRecvError::Empty) => std::thread::yield_now(),
            Err(TryRecvError::Closed) => return None,
        }
    }
    None
}

/// The next notice of a call; waits for ever if it has no queue.
async fn next_notice(notices: Option<&mut mpsc::Receiver<QueuedNotice>>) -> Option<QueuedNotice> {
    match notices {
        Some(notices) => notices.recv().await,
        None => std::future::pending().await,
    }
}

/// The next question of a call; waits for ever if it cannot ask.
async fn next_elicitation(
    questions: Option<&mut mpsc::UnboundedReceiver<PendingElicitation>>,
) -> Option<PendingElicitation> {
    match questions {
        Some(questions) => questions.recv().await,
        None => std::future::pending().await,
    }
}

fn cancelled_error() -> ErrorData {
    ErrorData::internal_error("the request was cancelled, or the server is shutting down", None)
}
