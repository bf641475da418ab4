//! The responses that the transport makes by itself: protocol messages, refusals, and headers for pages of other
//! origins.

use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::{Response, StatusCode};
use serde::Serialize;
use std::convert::Infallible;

/// A response, whose body may be a stream.
pub(super) type HttpResponse = Response<BoxBody<Bytes, Infallible>>;

/// The response to a request that is refused.
pub(super) type Refusal = Box<HttpResponse>;

/// A response with a message of the protocol.
pub(super) fn json_response(status: StatusCode, message: &impl Serialize) -> HttpResponse {
    let mut response = text_response(status, serde_json::to_vec(message).unwrap_or_default());
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

pub(super) fn text_response(status: StatusCode, text: impl Into<Bytes>) -> HttpResponse {
    let mut response = Response::new(Full::new(text.into()).boxed());
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    response
}

/// A refusal, which says why.
pub(super) fn refusal(status: StatusCode, why: impl Into<String>) -> Refusal {
    let mut response = text_response(status, why.into());
    let headers = response.headers_mut();
    let close = HeaderValue::from_static("close");
    match status {
        //= docs/spec.md#http
        //# With a token, a request without it MUST be refused with status 401, and its connection MUST be
        //# closed.
        StatusCode::UNAUTHORIZED => {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            headers.insert(header::CONNECTION, close);
        }
        // The rest of the body is not read, so that no other request can follow.
        StatusCode::REQUEST_TIMEOUT | StatusCode::PAYLOAD_TOO_LARGE => {
            headers.insert(header::CONNECTION, close);
        }
        StatusCode::SERVICE_UNAVAILABLE => {
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        _ => {}
    }
    Box::new(response)
}

/// The response to a preflight request: what pages may send.
pub(super) fn preflight_response() -> HttpResponse {
    let mut response = Response::new(Full::default().boxed());
    *response.status_mut() = StatusCode::NO_CONTENT;
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, POST, DELETE"));
    // `*` does not include `authorization`, which must be named.
    headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static("authorization, *"));
    response
}

/// Lets a page of an allowed origin read the response.
pub(super) fn allow_origin(headers: &mut HeaderMap, origin: HeaderValue) {
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static("mcp-session-id"));
    headers.insert(header::VARY, HeaderValue::from_static("origin"));
}
