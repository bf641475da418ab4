//! The body of an answer, whose bytes count as pending until the client has taken them.

use super::connections::Seat;
use super::sessions::Answered;
use http_body_util::combinators::BoxBody;
use hyper::body::{Body, Bytes, Frame, SizeHint};
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// A body on its way to a connection.
pub(crate) struct Counted {
    body: BoxBody<Bytes, Infallible>,
    seat: Arc<Seat>,
    /// The request of a session that it answers.
    _answered: Option<Arc<Answered>>,
}

impl Counted {
    pub(crate) fn new(body: BoxBody<Bytes, Infallible>, seat: Arc<Seat>, answered: Option<Arc<Answered>>) -> Self {
        Self { body, seat, _answered: answered }
    }
}

impl Body for Counted {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        // Of a session, rmcp writes the answer here.
        let seat = Arc::clone(&self.seat);
        let polled = seat.aside_if_large(|| Pin::new(&mut self.body).poll_frame(context));
        if let Poll::Ready(Some(Ok(frame))) = &polled {
            self.seat.owes(frame.data_ref().map_or(0, Bytes::len));
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Counted {
    /// All of it was handed over to be written, or its client is gone.
    fn drop(&mut self) {
        self.seat.has_answered();
    }
}
