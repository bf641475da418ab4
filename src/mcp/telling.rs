//! What the bus says, told to one client: through its peer up to 2025-11-25, through its subscriptions after.
#![allow(deprecated, reason = "logging is deprecated in the newest revision and alive in the others")]

use super::{Connection, Event, logging_level, read_resource};
use rmcp::RoleServer;
use rmcp::model::{LoggingMessageNotificationParam, ResourceUpdatedNotificationParam};
use rmcp::service::{Peer, SubscriptionContext};
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::sync::broadcast::error::RecvError;

/// Requests without an end that a connection may have open: they take the place of others.
const SUBSCRIPTIONS: usize = 64;

/// So often it is seen whether a session is over: over HTTP nothing else tells. Until then it keeps some 20 kB, so that who
/// opens and ends hundreds in a second must not be waited for long.
const GONE: Duration = Duration::from_secs(1);

impl Connection {
    /// Tells a client of the era of handshakes what happens, until the connection ends. A client that does
    /// not read holds up only this.
    pub(crate) async fn tell_peer(&self, peer: &Peer<RoleServer>) {
        let mut events = self.host.bus.events();
        loop {
            let event = tokio::select! {
                () = self.ends.all.cancelled() => return,
                () = self.ends.input.cancelled() => return,
                () = tokio::time::sleep(GONE) => match peer.is_transport_closed() {
                    true => return,
                    false => continue,
                },
                event = events.recv() => event,
            };
            let events = match event {
                Ok(event) => vec![event],
                Err(RecvError::Lagged(_)) => self.everything(self.subscribed().iter().cloned().collect()),
                Err(RecvError::Closed) => return,
            };
            for event in events {
                tokio::select! {
                    () = self.ends.all.cancelled() => return,
                    sent = self.tell_event(peer, event) => if !sent { return },
                }
            }
        }
    }

    async fn tell_event(&self, peer: &Peer<RoleServer>, event: Event) -> bool {
        let sent = match event {
            Event::Tools => peer.notify_tool_list_changed().await,
            Event::Prompts => peer.notify_prompt_list_changed().await,
            Event::Resources => peer.notify_resource_list_changed().await,
            Event::Updated(uri) => {
                if !self.subscribed().contains(&uri) {
                    return true;
                }
                peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await
            }
            Event::Log(level, data) => {
                if level < self.level() {
                    return true;
                }
                let line = LoggingMessageNotificationParam::new(logging_level(level), data).with_logger("toolsd");
                peer.notify_logging_message(line).await
            }
        };
        sent.is_ok()
    }

    /// Serves one `subscriptions/listen`, until it is taken back or the input ends.
    pub(crate) async fn tell_subscription(&self, subscription: &SubscriptionContext) {
        let uris = subscription.accepted().resource_subscriptions.clone().unwrap_or_default();
        let mut events = self.host.bus.events();
        if self.listening.fetch_add(1, Ordering::Relaxed) < SUBSCRIPTIONS {
            for uri in &uris {
                let contents = read_resource(&self.host.service, uri).await;
                self.host.bus.follow(uri, contents.as_ref());
            }
            loop {
                let event = tokio::select! {
                    () = subscription.cancelled() => break,
                    () = self.ends.all.cancelled() => break,
                    () = self.ends.input.cancelled() => break,
                    event = events.recv() => event,
                };
                let events = match event {
                    Ok(event) => vec![event],
                    Err(RecvError::Lagged(_)) => self.everything(uris.clone()),
                    Err(RecvError::Closed) => break,
                };
                for event in events {
                    tokio::select! {
                        () = self.ends.all.cancelled() => {}
                        () = tell_sink(subscription, event) => {}
                    }
                }
            }
            uris.iter().for_each(|uri| self.host.bus.leave(uri));
        }
        self.listening.fetch_sub(1, Ordering::Relaxed);
    }

    /// What is told to a client that missed something.
    fn everything(&self, uris: Vec<String>) -> Vec<Event> {
        let lists = [Event::Tools, Event::Prompts, Event::Resources];
        lists.into_iter().chain(uris.into_iter().map(Event::Updated)).collect()
    }
}

async fn tell_sink(subscription: &SubscriptionContext, event: Event) {
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
        tracing::debug!(%error, "a change did not reach a subscription");
    }
}
