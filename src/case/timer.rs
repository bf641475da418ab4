//! The clock by which the graph of a case is refreshed: it moves only with `advance_ms`.

use crate::call::{Change, Listener, Service};
use crate::guard::CancelFlag;
use crate::primitive::{ListKind, Notice};
use crate::registry::Pack;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The timer of a pack whose graph is refreshed beside the calls.
pub struct Timer {
    every: Option<Duration>,
    /// When it is due next, in milliseconds.
    due_ms: AtomicI64,
    /// What clients were told since the last step.
    told: Arc<Mutex<Vec<Notice>>>,
    _listener: Listener,
}

impl Timer {
    /// Builds the graph, as a server does when it starts; nothing for a pack whose graph is looked at before each call.
    pub fn begin(service: &Arc<Service>, pack: &Arc<Pack>, now_ms: i64) -> Option<Self> {
        let pace = service.paces().into_iter().find(|pace| pace.pack == pack.name)?;
        let (inner, name) = (Arc::clone(service), pack.name.clone());
        service.on_script_thread("graph", move || {
            inner.describe();
            inner.refresh(&name, CancelFlag::default())
        });
        let told: Arc<Mutex<Vec<Notice>>> = Arc::default();
        let hears = Arc::clone(&told);
        let listener = service.changes().listen(move |change| {
            if let Change::Lists { tools, prompts, resources } = change {
                let lists =
                    [(*tools, ListKind::Tools), (*prompts, ListKind::Prompts), (*resources, ListKind::Resources)];
                let changed = lists.into_iter().filter(|(changed, _)| *changed).map(|(_, list)| Notice::Changed(list));
                hears.lock().unwrap_or_else(PoisonError::into_inner).extend(changed);
            }
        });
        let timer = Self { every: pace.every, due_ms: AtomicI64::new(i64::MAX), told, _listener: listener };
        timer.wind(now_ms);
        Some(timer)
    }

    fn wind(&self, now_ms: i64) {
        let every = self.every.and_then(|every| i64::try_from(every.as_millis()).ok());
        self.due_ms.store(every.map_or(i64::MAX, |every| now_ms.saturating_add(every)), Ordering::Relaxed);
    }

    /// Refreshes if that is due.
    pub fn ring(&self, service: &Arc<Service>, pack: &str, now_ms: i64, notices: &Mutex<Vec<Notice>>) {
        if now_ms < self.due_ms.load(Ordering::Relaxed) {
            return;
        }
        self.told.lock().unwrap_or_else(PoisonError::into_inner).clear();
        refresh(service, pack);
        self.wind(now_ms);
        let told = std::mem::take(&mut *self.told.lock().unwrap_or_else(PoisonError::into_inner));
        notices.lock().unwrap_or_else(PoisonError::into_inner).extend(told);
    }
}

/// On a script thread, whose stack is large enough.
fn refresh(service: &Arc<Service>, pack: &str) {
    let (inner, pack) = (Arc::clone(service), pack.to_owned());
    service.on_script_thread("refresh", move || inner.refresh(&pack, CancelFlag::default()));
}
