//! Who sent a request, and how its answer gets back: a large one is made without blocking other requests.

use crate::script::CallerId;
use hyper::header::{HeaderMap, USER_AGENT};
use hyper::http::request::Parts;
use rmcp::RoleServer;
use rmcp::model::RequestMetaObject;
use rmcp::service::{Peer, RequestContext};
use std::hash::{DefaultHasher, Hash, Hasher};
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio_util::sync::CancellationToken;

/// A client over HTTP.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RemoteClient {
    /// A hash of its address.
    pub(crate) address: u64,
    /// The number of its connection.
    pub(crate) connection: u64,
}

/// The sender of a request.
#[derive(Clone, Copy)]
pub(crate) struct RequestSender<'a> {
    /// The `_meta` of the request.
    pub(crate) meta: &'a RequestMetaObject,
    /// Where notices and questions go; `None` if only the answer can be sent.
    pub(crate) peer: Option<&'a Peer<RoleServer>>,
    /// Cancelled when the client cancels the request.
    pub(crate) cancelled: &'a CancellationToken,
    /// The headers of the request over HTTP.
    pub(crate) headers: Option<&'a HeaderMap>,
    /// The client over HTTP.
    pub(crate) remote: Option<&'a RemoteClient>,
}

impl RequestSender<'_> {
    /// The caller whose calls take turns with those of other callers. On standard streams there is one. Over HTTP a
    /// session identifies the caller. Without a session, its name, version and user agent do, but only within its
    /// address.
    pub(crate) fn party(&self) -> CallerId {
        let Some(headers) = self.headers else { return CallerId::default() };
        let mut client = DefaultHasher::new();
        match headers.get("mcp-session-id") {
            Some(session) => session.hash(&mut client),
            None => {
                let said = self.meta.get("io.modelcontextprotocol/clientInfo");
                for key in ["name", "version"] {
                    said.and_then(|said| said[key].as_str()).hash(&mut client);
                }
                headers.get(USER_AGENT).hash(&mut client);
            }
        }
        let (place, connection) = self.remote.map_or((0, 0), |remote| (remote.address, remote.connection));
        CallerId { address: place, client: client.finish(), connection }
    }
}

impl<'a> From<&'a RequestContext<RoleServer>> for RequestSender<'a> {
    fn from(context: &'a RequestContext<RoleServer>) -> Self {
        let parts = context.extensions.get::<Parts>();
        Self {
            meta: &context.meta,
            peer: Some(&context.peer),
            cancelled: &context.ct,
            headers: parts.map(|parts| &parts.headers),
            remote: parts.and_then(|parts| parts.extensions.get::<RemoteClient>()),
        }
    }
}

/// From this size on, in bytes, a message takes longer to read or write than other requests should wait.
pub(crate) const LARGE_MESSAGE: usize = 128 << 10;

/// Runs long work on this thread, while another thread takes over the tasks that wait for this one.
pub(crate) fn run_aside<T>(work: impl FnOnce() -> T) -> T {
    match Handle::try_current().map(|handle| handle.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(work),
        // A runtime with one thread has no other thread to take over.
        _ => work(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;
    use std::time::Duration;

    //= docs/spec.md#http
    //= type=test
    //# While a large body is read or a large answer is written, the requests of others MUST be answered.
    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn others_go_on_meanwhile() {
        let (say, heard) = channel();
        let (begin, begun) = tokio::sync::oneshot::channel();
        let long = tokio::spawn(async move {
            run_aside(|| {
                begin.send(()).unwrap();
                heard.recv_timeout(Duration::from_secs(30))
            })
        });
        let other = tokio::spawn(async move {
            begun.await.unwrap();
            say.send(7)
        });
        assert_eq!(long.await.unwrap(), Ok(7), "nobody else had a thread");
        other.await.unwrap().unwrap();
    }

    #[tokio::test]
    async fn where_there_is_one_thread_it_is_done_there() {
        assert_eq!(run_aside(|| 7), 7);
    }
}
