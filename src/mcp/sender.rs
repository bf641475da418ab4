//! Who sent a request, and how its answer gets back: a large one is made without blocking other requests.

use crate::script::CallerId;
use hyper::header::HeaderMap;
use hyper::http::request::Parts;
use rmcp::RoleServer;
use rmcp::model::RequestMetaObject;
use rmcp::service::{Peer, RequestContext};
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio_util::sync::CancellationToken;

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
    /// The connection whose turn the request takes.
    pub(crate) caller_id: CallerId,
}

impl<'a> From<&'a RequestContext<RoleServer>> for RequestSender<'a> {
    fn from(context: &'a RequestContext<RoleServer>) -> Self {
        let parts = context.extensions.get::<Parts>();
        Self {
            meta: &context.meta,
            peer: Some(&context.peer),
            cancelled: &context.ct,
            headers: parts.map(|parts| &parts.headers),
            // On standard streams there is one connection.
            caller_id: parts.and_then(|parts| parts.extensions.get()).copied().unwrap_or_default(),
        }
    }
}

/// From this size on, in bytes, a message takes longer to read or write than other requests should wait.
pub(crate) const LARGE_MESSAGE_BYTES: usize = 128 << 10;

/// Runs long work on this thread, while another thread takes over the tasks that wait for this one.
pub(crate) fn run_blocking<T>(work: impl FnOnce() -> T) -> T {
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
    //# Large requests and responses MUST NOT delay those of other clients.
    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn others_go_on_meanwhile() {
        let (say, heard) = channel();
        let (begin, begun) = tokio::sync::oneshot::channel();
        let long = tokio::spawn(async move {
            run_blocking(|| {
                begin.send(()).unwrap();
                heard.recv_timeout(Duration::from_secs(30))
            })
        });
        let other = tokio::spawn(async move {
            begun.await.unwrap();
            say.send(7)
        });
        assert_eq!(long.await.unwrap(), Ok(7), "no other call had a thread");
        other.await.unwrap().unwrap();
    }

    #[tokio::test]
    async fn where_there_is_one_thread_it_is_done_there() {
        assert_eq!(run_blocking(|| 7), 7);
    }
}
