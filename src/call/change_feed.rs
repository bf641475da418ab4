//! What happens outside of calls and may matter to clients: changed lists, changed files, log lines.

#![allow(missing_docs, reason = "plain fields whose names say it")]

use crate::primitive_api::LogLevel;
use crate::value::Json;
use crate::world::{redacted, redacted_json};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// Something that happened.
#[derive(Clone, Debug, PartialEq)]
pub enum HostChange {
    /// Published lists differ from what they were.
    Lists {
        tools: bool,
        prompts: bool,
        /// The resources and their templates.
        resources: bool,
    },
    /// Files of the workspace were written or removed: paths as
    /// [`ResourceAnswer::touched`](super::ResourceAnswer::touched) names them.
    Files(Vec<String>),
    /// A resource has other contents than before.
    Resource { uri: String },
    /// Something for the log of every client.
    Log {
        /// How much it matters.
        level: LogLevel,
        /// What to say: a text, or any JSON.
        data: Json,
    },
}

type ChangeListener = dyn Fn(&HostChange) + Send + Sync;

/// A subscription to changes, for as long as this is kept.
#[must_use = "who drops it hears nothing"]
pub struct ChangeSubscription(#[expect(dead_code, reason = "keeps the listener alive")] Arc<ChangeListener>);

/// Tells subscribers of changes.
#[derive(Default)]
pub struct ChangeFeed {
    /// Each is kept by its subscription: one that is gone leaves nothing behind, whether or not anything happens.
    listeners: Mutex<Vec<Weak<ChangeListener>>>,
}

impl ChangeFeed {
    fn listeners(&self) -> MutexGuard<'_, Vec<Weak<ChangeListener>>> {
        self.listeners.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has `listener` called for each change, on the thread that announces it: it must not block.
    pub fn subscribe(&self, listener: impl Fn(&HostChange) + Send + Sync + 'static) -> ChangeSubscription {
        let listener: Arc<ChangeListener> = Arc::new(listener);
        let mut listeners = self.listeners();
        listeners.retain(|one| one.strong_count() > 0);
        listeners.push(Arc::downgrade(&listener));
        ChangeSubscription(listener)
    }

    /// Tells all listeners.
    pub fn announce(&self, change: &HostChange) {
        let change = match change {
            HostChange::Log { level, data } => &HostChange::Log { level: *level, data: redacted_json(data.clone()) },
            HostChange::Resource { uri } => &HostChange::Resource { uri: redacted(uri).into_owned() },
            change => change,
        };
        let listeners: Vec<_> = self.listeners().iter().filter_map(Weak::upgrade).collect();
        for listener in listeners {
            listener(change);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listener_hears_every_change() {
        let changes = ChangeFeed::default();
        let heard = Arc::new(Mutex::new(Vec::new()));
        let listen = || {
            let heard = Arc::clone(&heard);
            changes.subscribe(move |change| {
                if let Ok(mut heard) = heard.lock() {
                    heard.push(change.clone());
                }
            })
        };
        let (_first, second) = (listen(), listen());
        changes.announce(&HostChange::Files(vec!["a".to_owned()]));
        assert_eq!(heard.lock().map(|heard| heard.len()).ok(), Some(2));
        drop(second);
        changes.announce(&HostChange::Files(vec!["b".to_owned()]));
        assert_eq!(heard.lock().map(|heard| heard.len()).ok(), Some(3), "who is gone hears nothing");
    }

    #[test]
    fn disconnected_clients_leave_nothing_behind() {
        let (changes, kept) = (ChangeFeed::default(), Arc::new(()));
        for _ in 0..1_000 {
            let kept = Arc::clone(&kept);
            drop(changes.subscribe(move |_| assert!(Arc::strong_count(&kept) > 0)));
        }
        assert_eq!(Arc::strong_count(&kept), 1, "what a listener holds is gone with it");
        assert!(changes.listeners().len() <= 1, "{} are remembered", changes.listeners().len());
    }
}
