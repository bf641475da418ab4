//! The bytes of one connection, each of which is seen on its way: what is read of a head, what is written, and whether a
//! write waits for its client.

use super::connections::Seat;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// The stream of a connection.
pub(crate) struct Watched {
    stream: TcpStream,
    seat: Arc<Seat>,
    /// Who reads, and was not told yet that its client has closed its side.
    reader: Option<Waker>,
}

impl Watched {
    pub(crate) fn new(stream: TcpStream, seat: Arc<Seat>) -> Self {
        Self { stream, seat, reader: None }
    }

    /// Says one last thing, as far as it can be said at once.
    pub(crate) fn tell(&self, text: &str) {
        if let Err(error) = self.stream.try_write(text.as_bytes()) {
            tracing::debug!(%error, "a client did not hear why its connection ends");
        }
    }

    /// Has the system forget what the client did not take, rather than keep it after the end.
    pub(crate) fn forget(&self) {
        if let Err(error) = rustix::net::sockopt::set_socket_linger(&self.stream, Some(Duration::ZERO)) {
            tracing::debug!(%error, "the system keeps for a while what a client did not take");
        }
    }

    fn wrote(&mut self, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        match &written {
            Poll::Pending => self.seat.activity.waits_to_write(),
            Poll::Ready(Ok(bytes)) => {
                self.seat.pays(*bytes);
                if let Some(reader) = self.reader.take() {
                    reader.wake();
                }
            }
            Poll::Ready(Err(_)) => {}
        }
        written
    }
}

impl AsyncRead for Watched {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(context, buffer);
        let read = &buffer.filled()[before..];
        let is_over = matches!(polled, Poll::Ready(Ok(()))) && read.is_empty() && buffer.remaining() > 0;
        // To the HTTP library it would be the end of the connection, whatever is still to be answered.
        if is_over && self.seat.hangs_up() {
            self.reader = Some(context.waker().clone());
            return Poll::Pending;
        }
        if !read.is_empty() {
            self.seat.reads(read);
        }
        self.seat.activity.looks();
        polled
    }
}

impl AsyncWrite for Watched {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.wrote(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, pieces);
        self.wrote(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
