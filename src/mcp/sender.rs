//! Who sent a request: what it says of itself, and how it is reached while the request is worked on.

use super::LARGE;
use crate::script::CallerId;
use hyper::header::{HeaderMap, USER_AGENT};
use hyper::http::request::Parts;
use rmcp::RoleServer;
use rmcp::model::{ErrorData, RequestMetaObject};
use rmcp::service::{Peer, RequestContext};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// What carries the bytes of answers, and has room for so many.
pub(crate) trait Carrier: Send + Sync {
    /// Takes room for an answer that is to be written; `false` if there is none.
    fn reserve(&self, bytes: usize) -> bool;
}

/// Where a request came from.
#[derive(Clone)]
pub(crate) struct Place {
    /// An address, as far as it is told from others.
    pub(crate) address: u64,
    /// The number of its connection.
    pub(crate) connection: u64,
    pub(crate) carrier: Arc<dyn Carrier>,
}

/// The sender of a request.
#[derive(Clone, Copy)]
pub(crate) struct Sender<'a> {
    /// What the request says beside its parameters.
    pub(crate) meta: &'a RequestMetaObject,
    /// Where notices and questions go; nothing if only the answer can be sent.
    pub(crate) peer: Option<&'a Peer<RoleServer>>,
    /// Comes to be when the request is taken back.
    pub(crate) gone: &'a CancellationToken,
    /// What came with it over HTTP.
    pub(crate) headers: Option<&'a HeaderMap>,
    /// Where it came from over HTTP.
    pub(crate) place: Option<&'a Place>,
}

impl Sender<'_> {
    //= docs/spec.md#http
    //# An answer MUST be counted before it is written, and be dropped with a word where too many bytes wait.
    /// Takes room for an answer.
    pub(crate) fn make_room(&self, bytes: usize) -> Result<(), ErrorData> {
        if bytes <= LARGE || self.place.is_none_or(|place| place.carrier.reserve(bytes)) {
            return Ok(());
        }
        let message = format!(
            "the request was worked on, and its answer of {bytes} bytes was dropped: too many bytes wait to be read by \
             clients; ask for less, or again later"
        );
        Err(ErrorData::internal_error(message, None))
    }

    /// With whom its calls take turns. On standard streams there is one client. Over HTTP a client is known by its session;
    /// without one by what it says of itself, which counts among the clients of its own address only.
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
        let (place, connection) = self.place.map_or((0, 0), |place| (place.address, place.connection));
        CallerId { address: place, client: client.finish(), connection }
    }
}

impl<'a> From<&'a RequestContext<RoleServer>> for Sender<'a> {
    fn from(context: &'a RequestContext<RoleServer>) -> Self {
        let parts = context.extensions.get::<Parts>();
        Self {
            meta: &context.meta,
            peer: Some(&context.peer),
            gone: &context.ct,
            headers: parts.map(|parts| &parts.headers),
            place: parts.and_then(|parts| parts.extensions.get::<Place>()),
        }
    }
}
