//! The socket: connections are accepted, their bytes are carried and counted, and they are brought to their end.

use super::access::PATH;
use super::activity::{CloseReason, ConnectionLimits, HALF_CLOSED, format_duration};
use super::connections::{ConnectionHandle, Connections};
use super::endpoint::HttpEndpoint;
use super::head_scan::MAX_HEAD;
use crate::mcp::connection::{McpServer, Shutdown};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::convert::Infallible;
use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

/// How long answers may take to be sent at the end.
const SEND_GRACE: Duration = Duration::from_millis(300);

/// The send buffer of a connection in bytes: by default the system takes megabytes, which nobody counts.
const SEND_BUFFER: usize = 256 << 10;

/// How many descriptors are kept for files and programs.
const RESERVED_DESCRIPTORS: usize = 256;

/// How long accepting pauses when the system is out of descriptors, or the last accepted connection was not polled yet.
const ACCEPT_PAUSE: Duration = Duration::from_millis(10);

/// The socket of the server, and its connections.
pub(crate) struct HttpListener {
    socket: TcpListener,
    shutdown: Shutdown,
    /// Ends sessions and streams.
    streams: CancellationToken,
    connections: Arc<Connections>,
    /// Cancelled when no connection may take another request.
    closing: CancellationToken,
}

impl HttpListener {
    pub(crate) async fn open(
        server: &McpServer,
        address: SocketAddr,
        limits: ConnectionLimits,
        shutdown: Shutdown,
        streams: CancellationToken,
    ) -> io::Result<Self> {
        let socket = TcpListener::bind(address).await?;
        let address = socket.local_addr()?;
        server.service.listens(&address.ip().to_string(), address.port());
        tracing::info!("serving http://{address}{}", PATH);
        let connections = Connections::new(affordable(limits), Arc::clone(&server.queued_notice_bytes));
        Ok(Self { socket, shutdown, streams, connections, closing: CancellationToken::new() })
    }

    pub(crate) fn connections(&self) -> &Arc<Connections> {
        &self.connections
    }

    /// Serves until `ended` completes, and winds everything down. `beside` runs meanwhile and never completes.
    pub(crate) async fn serve(
        self,
        endpoint: Arc<HttpEndpoint>,
        server: &McpServer,
        ended: impl Future<Output = ()>,
        beside: impl Future<Output = ()>,
    ) {
        tokio::pin!(ended);
        let watching = tokio::spawn(close_overdue_connections(Arc::clone(&self.connections)));
        tokio::select! {
            () = &mut ended => {}
            () = self.accept(&endpoint) => {}
            () = beside => {}
        }
        self.wind_down(server).await;
        watching.abort();
    }

    async fn accept(&self, endpoint: &Arc<HttpEndpoint>) {
        loop {
            let (stream, peer) = match self.socket.accept().await {
                Ok(taken) => taken,
                Err(error) => {
                    // The client was gone at once, or the system is out of descriptors: then one connection goes.
                    tracing::warn!(%error, "a connection was not taken");
                    let is_gone = error.kind() == io::ErrorKind::ConnectionAborted;
                    if !is_gone && self.connections.close_most_silent() {
                        tracing::warn!("closed the connection that has been silent longest");
                    }
                    sleep(ACCEPT_PAUSE).await;
                    continue;
                }
            };
            let is_proven = !endpoint.access.load().has_token();
            let handle = Arc::new(self.connections.admit(peer.ip(), is_proven));
            let activity = Arc::clone(&handle.activity);
            tokio::spawn(serve_connection(stream, handle, Arc::clone(endpoint), self.closing.clone()));
            // What it has sent is read before others are accepted: a crowd of waiting connections cannot push it out unheard.
            let _busy = timeout(ACCEPT_PAUSE, activity.first_poll()).await;
        }
    }

    //= docs/spec.md#http
    //# At SIGINT and SIGTERM, running calls MUST get a grace, and the process MUST end with code 0.
    /// Accepts no more connections, closes idle ones, ends subscriptions, and gives running calls their grace.
    async fn wind_down(self, server: &McpServer) {
        let Self { socket, shutdown, streams, connections, closing } = self;
        // First the open connections: a client that cannot connect any more finds them closed as well.
        closing.cancel();
        drop(socket);
        shutdown.draining.cancel();
        // Whether the calls ended in time makes no difference: the rest is cancelled.
        let _ = timeout(server.settings.bounds.grace, server.wait_until_idle()).await;
        shutdown.now.cancel();
        let _ = timeout(SEND_GRACE, connections.wait_for_none()).await;
        streams.cancel();
        let _ = timeout(SEND_GRACE, connections.wait_for_none()).await;
        let _ = timeout(SEND_GRACE, server.wait_until_idle()).await;
        // Whatever is left was cut off, or is counted wrongly.
        let (open, bytes) = connections.counts();
        let (calls, tasks) = (server.active_requests(), server.tasks.running());
        tracing::info!(
            "at the end there are {open} connections, {bytes} bytes that wait, {calls} calls, {tasks} tasks"
        );
    }
}

/// Checks all connections again and again, and closes those over a limit of time.
async fn close_overdue_connections(connections: Arc<Connections>) {
    loop {
        connections.wait_for_any().await;
        sleep(connections.limits().check_interval()).await;
        connections.close_overdue();
    }
}

/// Lowers the limits to what the descriptors of the process allow, some of which calls need.
pub(crate) fn affordable(limits: ConnectionLimits) -> ConnectionLimits {
    let wanted = limits.connections.saturating_add(limits.unproven);
    let needed = (wanted.saturating_add(RESERVED_DESCRIPTORS)) as u64;
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let Some(current) = current.filter(|current| *current < needed) else { return limits };
    let raised = maximum.map_or(needed, |maximum| maximum.min(needed));
    let current = match setrlimit(Resource::Nofile, Rlimit { current: Some(raised), maximum }) {
        Ok(()) => raised,
        Err(_) => current,
    };
    let most = usize::try_from(current).unwrap_or(usize::MAX);
    if most as u64 >= needed {
        return limits;
    }
    let most = most.saturating_sub(RESERVED_DESCRIPTORS).max(most / 2);
    tracing::warn!("{most} connections are served in place of {wanted}: raise the limit of open files to {needed}");
    limits.capped_at(most)
}

async fn serve_connection(
    stream: TcpStream,
    handle: Arc<ConnectionHandle>,
    endpoint: Arc<HttpEndpoint>,
    closing: CancellationToken,
) {
    configure_socket(&stream, &handle.connections().limits());
    let (own, asked) = (Arc::clone(&handle), Arc::clone(&handle));
    let service = service_fn(move |request| {
        let (endpoint, handle) = (Arc::clone(&endpoint), Arc::clone(&asked));
        async move { Ok::<_, Infallible>(endpoint.answer(request, &handle).await) }
    });
    // Limits of time are checked from outside, for all connections at once.
    let mut connection = http1::Builder::new()
        .max_buf_size(MAX_HEAD)
        .serve_connection(TokioIo::new(WatchedStream::new(stream, handle)), service);
    // Biased: what arrives when the connection is to be closed is not read any more.
    let reason = tokio::select! {
        biased;
        reason = own.activity.closed() => reason,
        () = closing.cancelled() => {
            Pin::new(&mut connection).graceful_shutdown();
            tokio::select! {
                biased;
                reason = own.activity.closed() => reason,
                result = &mut connection => return log_error(result),
            }
        }
        result = &mut connection => return log_error(result),
    };
    tracing::debug!(?reason, "a connection is closed");
    let stream = connection.into_parts().io.into_inner();
    if own.activity.is_blocked() {
        stream.discard_unsent();
    }
    if let Some((status, text)) = closing_answer(reason, &own) {
        let head = format!("HTTP/1.1 {status}\r\nConnection: close\r\nContent-Type: text/plain; charset=utf-8");
        stream.try_send(&format!("{head}\r\nContent-Length: {}\r\n\r\n{text}", text.len()));
    }
}

/// The status line and the text for a client whose connection is closed before its request is answered.
fn closing_answer(reason: CloseReason, handle: &ConnectionHandle) -> Option<(&'static str, String)> {
    let (limits, is_proven) = (handle.connections().limits(), handle.activity.is_proven());
    match reason {
        CloseReason::SlowHead => {
            let time = if is_proven { limits.head_time } else { limits.head_time.min(limits.unproven_time) };
            let text = format!("Request Timeout: the head did not arrive in {}", format_duration(time));
            Some(("408 Request Timeout", text))
        }
        //= docs/spec.md#http
        //# A request that is given up because too many connections are open, or too many bytes wait, MUST be answered with status 503 if nothing of its answer was sent.
        CloseReason::Crowded | CloseReason::Unread if is_proven && handle.activity.awaits_answer() => {
            let why = match reason {
                CloseReason::Crowded => {
                    "too many connections are open, requests are worked on in all of them, and of the address with the most \
                     this one has been silent longest: its request was given up"
                }
                _ => "too many bytes wait, and this body arrives too slowly",
            };
            let text = format!("Service Unavailable: {why}; send it again later");
            Some(("503 Service Unavailable\r\nRetry-After: 1", text))
        }
        CloseReason::Gone if handle.activity.awaits_answer() => {
            let text = format!(
                "Request Timeout: its sender closed its side, and {} were not enough",
                format_duration(HALF_CLOSED)
            );
            Some(("408 Request Timeout", text))
        }
        _ => None,
    }
}

fn log_error(result: Result<(), hyper::Error>) {
    if let Err(error) = result {
        tracing::debug!(%error, "a connection broke off");
    }
}

fn configure_socket(stream: &TcpStream, limits: &ConnectionLimits) {
    // Without it an answer in two pieces waits for the other side's delayed acknowledgement: 40 ms.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "the connection sends in large pieces only");
    }
    if let Err(error) = rustix::net::sockopt::set_socket_send_buffer_size(stream, SEND_BUFFER) {
        tracing::debug!(%error, "the system holds as much of what is sent as it likes");
    }
    // Limits how long the system keeps written bytes: a client that vanished without a word never takes them.
    #[cfg(target_os = "linux")]
    {
        let time = u32::try_from(limits.write_time.as_millis()).unwrap_or(u32::MAX);
        if let Err(error) = rustix::net::sockopt::set_tcp_user_timeout(stream, time) {
            tracing::debug!(%error, "a client that is gone is noticed late");
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _it_has_no_such_option = limits;
}

/// The stream of a connection, whose bytes are noted: what is read, what is written, and whether a write waits for its
/// client.
struct WatchedStream {
    stream: TcpStream,
    handle: Arc<ConnectionHandle>,
    /// The reader, if it was not told yet that the client has closed its side.
    reader: Option<Waker>,
}

impl WatchedStream {
    fn new(stream: TcpStream, handle: Arc<ConnectionHandle>) -> Self {
        Self { stream, handle, reader: None }
    }

    /// Sends a last answer, as far as that is possible at once.
    fn try_send(&self, text: &str) {
        if let Err(error) = self.stream.try_write(text.as_bytes()) {
            tracing::debug!(%error, "a client did not hear why its connection ends");
        }
    }

    /// Has the system discard what the client did not take, rather than keep it after the close.
    fn discard_unsent(&self) {
        if let Err(error) = rustix::net::sockopt::set_socket_linger(&self.stream, Some(Duration::ZERO)) {
            tracing::debug!(%error, "the system keeps for a while what a client did not take");
        }
    }

    fn note_write(&mut self, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        match &written {
            Poll::Pending => self.handle.activity.record_blocked_write(),
            Poll::Ready(Ok(bytes)) => {
                self.handle.record_written(*bytes);
                if let Some(reader) = self.reader.take() {
                    reader.wake();
                }
            }
            Poll::Ready(Err(_)) => {}
        }
        written
    }
}

impl AsyncRead for WatchedStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(context, buffer);
        let read = &buffer.filled()[before..];
        let is_over = matches!(polled, Poll::Ready(Ok(()))) && read.is_empty() && buffer.remaining() > 0;
        // The HTTP library would end the connection, whatever is still to be answered.
        if is_over && self.handle.record_half_close() {
            self.reader = Some(context.waker().clone());
            return Poll::Pending;
        }
        if !read.is_empty() {
            self.handle.record_read(read);
        }
        self.handle.activity.mark_polled();
        polled
    }
}

impl AsyncWrite for WatchedStream {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.note_write(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, pieces);
        self.note_write(written)
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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use rustix::net::sockopt;

    /// A client that vanishes without a word cannot be simulated here, but the options of the socket can be read.
    #[tokio::test]
    #[cfg(target_os = "linux")]
    async fn the_system_gives_up_what_nobody_takes_and_holds_little_of_it() {
        let socket = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let _client = TcpStream::connect(socket.local_addr().unwrap()).await.unwrap();
        let (stream, _) = socket.accept().await.unwrap();
        assert!(!stream.nodelay().unwrap() && sockopt::tcp_user_timeout(&stream).unwrap() == 0, "a void test");
        let limits = ConnectionLimits { write_time: Duration::from_millis(4_321), ..ConnectionLimits::default() };
        configure_socket(&stream, &limits);
        assert!(stream.nodelay().unwrap());
        assert_eq!(sockopt::tcp_user_timeout(&stream).unwrap(), 4_321);
        // The system doubles it for its own needs.
        assert!(sockopt::socket_send_buffer_size(&stream).unwrap() <= 2 * SEND_BUFFER);
    }
}
