//! The queue of a running call's notices to its client: progress is throttled, log lines are filtered by level, and the
//! bytes that wait are bounded.
#![allow(deprecated, reason = "logging is deprecated in the newest revision and alive in all of them")]

use crate::diagnostic::json_bytes;
use crate::primitive_api::{LogLevel, Notice};
use crate::value::Json;
use rmcp::model::LoggingLevel;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;
use tokio::sync::mpsc;

/// How many notices of one call may wait for the client; further ones are dropped.
pub(crate) const NOTICE_CAPACITY: usize = 1024;
/// How many bytes the waiting notices of one call may have.
const MAX_CALL_BYTES: usize = 256 << 10;
/// How many bytes the waiting notices of all calls may have.
const MAX_TOTAL_BYTES: usize = 64 << 20;
/// How many bytes one notice may have; a longer text is truncated.
const MAX_NOTICE_BYTES: usize = 16 << 10;
/// How many progress notices are sent at once, and how many per second after that. The last value is always sent.
const PROGRESS_BURST: f64 = 20.0;

/// A waiting notice, and its size in bytes.
pub(crate) type QueuedNotice = (Notice, usize);

/// The script's end of the queue of notices of one call.
pub(crate) struct NoticeChannel {
    /// `None` if the client wants no notices.
    queue: Option<mpsc::Sender<QueuedNotice>>,
    /// Bytes of the waiting notices of this call.
    queued_bytes: AtomicUsize,
    /// Bytes of the waiting notices of all calls.
    total_queued_bytes: Arc<AtomicUsize>,
    /// The number of dropped notices.
    dropped: AtomicUsize,
    /// Whether the client wants progress.
    wants_progress: bool,
    /// The lowest level of log lines that the client wants; `None` if it wants no log lines.
    level: Option<LogLevel>,
    throttle: Mutex<ProgressThrottle>,
}

/// A token bucket for progress notices.
struct ProgressThrottle {
    /// The highest value so far.
    last: f64,
    budget: f64,
    /// When the budget was last computed.
    at: Instant,
    /// The newest notice that was held back.
    held: Option<Notice>,
}

impl NoticeChannel {
    pub(crate) fn new(
        queue: Option<mpsc::Sender<QueuedNotice>>,
        total_queued_bytes: Arc<AtomicUsize>,
        wants_progress: bool,
        level: Option<LogLevel>,
    ) -> Self {
        let throttle =
            ProgressThrottle { last: f64::NEG_INFINITY, budget: PROGRESS_BURST, at: Instant::now(), held: None };
        Self {
            queue,
            queued_bytes: AtomicUsize::new(0),
            total_queued_bytes,
            dropped: AtomicUsize::new(0),
            wants_progress,
            level,
            throttle: Mutex::new(throttle),
        }
    }

    /// Queues a notification if the client wants it, otherwise drops it. Called on the script's thread, so it never
    /// waits for the client.
    pub(crate) fn send(&self, notice: Notice) {
        let notice = truncate_notice(notice);
        let is_wanted = match &notice {
            Notice::Log { level, .. } => self.level.is_some_and(|wanted| *level >= wanted),
            Notice::Progress { done, .. } => self.wants_progress && self.passes_throttle(*done, &notice),
            // The event hub sends changes and updates to all clients. A status belongs to a task.
            Notice::Changed(_) | Notice::Updated { .. } | Notice::Status(_) => false,
        };
        if is_wanted && let Some(queue) = &self.queue {
            let size = notice_bytes(&notice);
            let has_room = self.reserve(size);
            if !has_room || queue.try_send((notice, size)).is_err() {
                self.dropped.fetch_add(1, Ordering::Relaxed);
                if has_room {
                    self.release(size);
                }
            }
        }
    }

    //= docs/spec.md#protocol
    //# Notifications that a client does not read MUST be bounded in bytes, and dropped ones MUST be reported.
    /// Reserves room for a notice; `false` if there is none.
    fn reserve(&self, size: usize) -> bool {
        let own = self.queued_bytes.fetch_add(size, Ordering::Relaxed) + size;
        let all = self.total_queued_bytes.fetch_add(size, Ordering::Relaxed) + size;
        let fits = own <= MAX_CALL_BYTES && all <= MAX_TOTAL_BYTES;
        if !fits {
            self.release(size);
        }
        fits
    }

    /// Releases the room of a notice that was taken.
    pub(crate) fn release(&self, size: usize) {
        self.queued_bytes.fetch_sub(size, Ordering::Relaxed);
        self.total_queued_bytes.fetch_sub(size, Ordering::Relaxed);
    }

    /// The notices to send after all queued ones: how many were dropped, and the newest progress that was held back.
    pub(crate) fn final_notices(&self) -> Vec<Notice> {
        let dropped = self.dropped.load(Ordering::Relaxed);
        let wants = self.level.is_some_and(|wanted| LogLevel::Warning >= wanted);
        let reported = (dropped > 0 && wants).then(|| Notice::Log {
            level: LogLevel::Warning,
            data: Json::from(format!(
                "{dropped} log lines and progress notices of this call were dropped: they came faster than the client took them"
            )),
        });
        if dropped > 0 {
            tracing::debug!("dropped {dropped} notices of a call: the client does not keep up");
        }
        reported.into_iter().chain(self.take_held_progress()).collect()
    }

    fn passes_throttle(&self, done: f64, notice: &Notice) -> bool {
        let mut throttle = self.throttle.lock().unwrap_or_else(PoisonError::into_inner);
        if done.is_nan() || done <= throttle.last {
            return false;
        }
        let now = Instant::now();
        throttle.last = done;
        throttle.budget =
            (throttle.budget + now.duration_since(throttle.at).as_secs_f64() * PROGRESS_BURST).min(PROGRESS_BURST);
        throttle.at = now;
        if throttle.budget < 1.0 {
            throttle.held = Some(notice.clone());
            return false;
        }
        throttle.budget -= 1.0;
        throttle.held = None;
        true
    }

    fn take_held_progress(&self) -> Option<Notice> {
        self.throttle.lock().unwrap_or_else(PoisonError::into_inner).held.take()
    }
}

impl Drop for NoticeChannel {
    /// Releases the room of notices that will never be taken.
    fn drop(&mut self) {
        self.total_queued_bytes.fetch_sub(self.queued_bytes.load(Ordering::Relaxed), Ordering::Relaxed);
    }
}

/// Shortens a notice to at most [`MAX_NOTICE_BYTES`] bytes of text.
fn truncate_notice(notice: Notice) -> Notice {
    let shortened = |text: &str| {
        let end = text.floor_char_boundary(MAX_NOTICE_BYTES);
        format!("{}… (truncated from {} to {MAX_NOTICE_BYTES} bytes)", &text[..end], text.len())
    };
    match notice {
        Notice::Log { level, data: Json::String(text) } if text.len() > MAX_NOTICE_BYTES => {
            Notice::Log { level, data: Json::from(shortened(&text)) }
        }
        Notice::Log { level, data: data @ (Json::Array(_) | Json::Object(_)) } => {
            let bytes = json_bytes(&data);
            let why =
                || format!("a log line of {bytes} bytes was omitted: at most {MAX_NOTICE_BYTES} bytes are allowed");
            Notice::Log { level, data: if bytes > MAX_NOTICE_BYTES { Json::from(why()) } else { data } }
        }
        Notice::Progress { done, total, message: Some(text) } if text.len() > MAX_NOTICE_BYTES => {
            Notice::Progress { done, total, message: Some(shortened(&text)) }
        }
        short => short,
    }
}

/// The approximate size of a notice in bytes.
fn notice_bytes(notice: &Notice) -> usize {
    const OVERHEAD_BYTES: usize = 128;
    OVERHEAD_BYTES
        + match notice {
            Notice::Log { data: Json::String(text), .. } => text.len(),
            Notice::Log { data, .. } => json_bytes(data),
            Notice::Progress { message: Some(text), .. } => text.len(),
            _ => 0,
        }
}

/// A log level as the protocol names it.
pub(crate) fn to_logging_level(level: LogLevel) -> LoggingLevel {
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

/// The log level for a level of the protocol.
pub(crate) fn from_logging_level(level: LoggingLevel) -> LogLevel {
    LogLevel::ALL.into_iter().find(|ours| to_logging_level(*ours) == level).unwrap_or(LogLevel::Info)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_rises_and_its_last_value_is_kept() {
        let (sender, mut heard) = mpsc::channel(NOTICE_CAPACITY);
        let channel = NoticeChannel::new(Some(sender), Arc::default(), true, None);
        let progress = |done: f64| Notice::Progress { done, total: None, message: None };
        channel.send(progress(2.0));
        channel.send(progress(1.0));
        channel.send(progress(2.0));
        assert_eq!(heard.try_recv().ok().map(|(notice, _)| notice), Some(progress(2.0)));
        assert!(heard.try_recv().is_err());
        for step in 3..1000 {
            channel.send(progress(f64::from(step)));
        }
        let mut reported = 0;
        while heard.try_recv().is_ok() {
            reported += 1;
        }
        assert!(reported < 40, "{reported}");
        assert_eq!(channel.final_notices(), [progress(999.0)]);
    }

    //= docs/spec.md#protocol
    //= type=test
    //# Notifications that a client does not read MUST be bounded in bytes, and dropped ones MUST be reported.
    #[test]
    fn unread_notifications_are_bounded_and_reported() {
        let all = Arc::new(AtomicUsize::new(0));
        let channel = || {
            let (sender, heard) = mpsc::channel(NOTICE_CAPACITY);
            (NoticeChannel::new(Some(sender), Arc::clone(&all), true, Some(LogLevel::Debug)), heard)
        };
        let (first, mut heard) = channel();
        let log = |data: Json| Notice::Log { level: LogLevel::Debug, data };
        let (long, deep) = ("ä".repeat(MAX_NOTICE_BYTES), serde_json::json!([["x".repeat(MAX_NOTICE_BYTES)]]));
        for data in [Json::from(long.as_str()), deep, Json::from("short")] {
            first.send(log(data));
        }
        first.send(Notice::Progress { done: 1.0, total: None, message: Some(long.clone()) });
        let mut sizes = Vec::new();
        while let Ok((notice, size)) = heard.try_recv() {
            assert!(size <= MAX_NOTICE_BYTES + 256 && notice_bytes(&notice) == size, "{size}");
            first.release(size);
            sizes.push(size);
        }
        assert!(sizes.len() == 4 && sizes[1] < 256 && all.load(Ordering::Relaxed) == 0, "{sizes:?}");
        // First one call sends many notices, then many calls do.
        let mut crowd = vec![(first, heard)];
        crowd.extend((0..MAX_TOTAL_BYTES / MAX_CALL_BYTES + 10).map(|_| channel()));
        for (channel, _) in &crowd {
            (0..100).for_each(|_| channel.send(log(Json::from(long.as_str()))));
            assert!(channel.queued_bytes.load(Ordering::Relaxed) <= MAX_CALL_BYTES);
        }
        let waiting = all.load(Ordering::Relaxed);
        assert!(waiting <= MAX_TOTAL_BYTES && waiting > MAX_TOTAL_BYTES / 2, "{waiting}");
        let [Notice::Log { level: LogLevel::Warning, data: Json::String(reported) }] = &crowd[0].0.final_notices()[..]
        else {
            panic!("the number of dropped notices is missing");
        };
        assert!(reported.ends_with("they came faster than the client took them"), "{reported}");
        crowd.clear();
        assert_eq!(all.load(Ordering::Relaxed), 0, "calls that ended hold no bytes");
    }

    #[test]
    fn levels_are_the_same_eight() {
        for level in LogLevel::ALL {
            assert_eq!(from_logging_level(to_logging_level(level)), level);
        }
    }
}
