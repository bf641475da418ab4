//! What happens outside of calls and may matter to clients: lists that change, files that change, log lines.

use crate::primitive::LogLevel;
use crate::value::Json;
use std::sync::{Arc, Mutex, PoisonError};

/// Something that happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// Published lists differ from what they were.
    Lists {
        /// The tools.
        tools: bool,
        /// The prompts.
        prompts: bool,
        /// The resources and their templates.
        resources: bool,
    },
    /// Files of the workspace were written or removed: paths as [`super::Contents::touched`] names them.
    Files(Vec<String>),
    /// A resource has other contents than before.
    Resource {
        /// Its URI.
        uri: String,
    },
    /// Something for the log of every client.
    Log {
        /// How much it matters.
        level: LogLevel,
        /// What to say: a text, or any JSON.
        data: Json,
    },
}

type Listener = Arc<dyn Fn(&Change) + Send + Sync>;

/// Who wants to know of changes.
#[derive(Default)]
pub struct Changes {
    listeners: Mutex<Vec<Listener>>,
}

impl Changes {
    /// Has `listener` called for each change, on the thread that announces it: it must not block.
    pub fn listen(&self, listener: impl Fn(&Change) + Send + Sync + 'static) {
        self.listeners.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::new(listener));
    }

    /// Tells all listeners.
    pub fn announce(&self, change: &Change) {
        let listeners = self.listeners.lock().unwrap_or_else(PoisonError::into_inner).clone();
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
        let changes = Changes::default();
        let heard = Arc::new(Mutex::new(Vec::new()));
        for _ in 0..2 {
            let heard = Arc::clone(&heard);
            changes.listen(move |change| {
                if let Ok(mut heard) = heard.lock() {
                    heard.push(change.clone());
                }
            });
        }
        changes.announce(&Change::Files(vec!["a".to_owned()]));
        assert_eq!(heard.lock().map(|heard| heard.len()).ok(), Some(2));
    }
}
