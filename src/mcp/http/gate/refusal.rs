//! A request that is not let in, and what its client is told.

use super::super::answering::{Answer, plain, told};
use crate::value::Json;
use hyper::header::{CONNECTION, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use hyper::{HeaderMap, StatusCode};
use std::borrow::Cow;

/// Why a request is refused. None has more than a kilobyte.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// By the transport.
    Plain(StatusCode, Cow<'static, str>),
    /// By the protocol: its error.
    Told(StatusCode, Json),
}

/// What a client may bring into a message, in bytes.
const QUOTED: usize = 100;

impl Refusal {
    pub(crate) fn new(status: StatusCode, text: impl Into<Cow<'static, str>>) -> Self {
        Self::Plain(status, text.into())
    }

    /// A request that breaks the rules of HTTP.
    pub(crate) fn bad(text: impl AsRef<str>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, format!("Bad Request: {}", text.as_ref()))
    }

    /// A request while too many bytes wait.
    pub(crate) fn full() -> Self {
        let text = "Service Unavailable: too many bytes wait to be read by clients, or are being sent by them";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, text)
    }

    /// Its answer, on a connection that has shown the token or not.
    pub(crate) fn answer(self, is_proven: bool) -> Answer {
        let (status, mut answer) = match self {
            Self::Plain(status, text) => (status, plain(status, text.into_owned())),
            Self::Told(status, message) => (status, told(status, &message)),
        };
        let headers = answer.headers_mut();
        let keeps = [StatusCode::NOT_FOUND, StatusCode::FORBIDDEN, StatusCode::UNSUPPORTED_MEDIA_TYPE];
        //= docs/spec.md#http
        //# After status 401 the connection MUST be closed.
        // Who is not known yet gets one answer, and a request that was not read to its end leaves nothing to go on with.
        let is_protocol = headers.get(hyper::header::CONTENT_TYPE).is_some_and(|kind| kind == "application/json");
        if !is_proven || !(keeps.contains(&status) || is_protocol) {
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        add_hints(status, headers);
        answer
    }
}

fn add_hints(status: StatusCode, headers: &mut HeaderMap) {
    match status {
        StatusCode::UNAUTHORIZED => headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer")),
        StatusCode::SERVICE_UNAVAILABLE => headers.insert(RETRY_AFTER, HeaderValue::from_static("1")),
        _ => None,
    };
}

/// What a client sent, as a message quotes it.
pub(super) fn quoted(text: &str) -> String {
    let end = text.floor_char_boundary(QUOTED);
    format!("`{}{}`", &text[..end], if end < text.len() { "…" } else { "" })
}
