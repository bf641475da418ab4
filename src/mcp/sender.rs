//! Who sent a request: what it says of itself, and how it is reached while the request is worked on.

use hyper::header::HeaderMap;
use hyper::http::request::Parts;
use rmcp::RoleServer;
use rmcp::model::RequestMetaObject;
use rmcp::service::{Peer, RequestContext};
use tokio_util::sync::CancellationToken;

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
}

impl<'a> From<&'a RequestContext<RoleServer>> for Sender<'a> {
    fn from(context: &'a RequestContext<RoleServer>) -> Self {
        Self {
            meta: &context.meta,
            peer: Some(&context.peer),
            gone: &context.ct,
            headers: context.extensions.get::<Parts>().map(|parts| &parts.headers),
        }
    }
}
