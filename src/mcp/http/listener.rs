//! The socket: accepts connections, has hyper serve each, and closes those that are silent or read nothing.

use super::access::PATH;
use super::connections::{ConnectionLimits, ConnectionPlace, Connections, MAX_HEAD, OpenConnection};
use super::endpoint::HttpEndpoint;
use crate::mcp::connection::{McpServer, Shutdown};
use crate::platform::{discard_unsent, limit_send_buffer, limit_unsent_time, raise_descriptor_limit};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Sleep, sleep, timeout};
use tokio_util::sync::CancellationToken;

/// How long answers may take to be sent at the end.
const SEND_GRACE_PERIOD: Duration = Duration::from_millis(300);

/// The send buffer of a connection in bytes: by default the system takes megabytes.
const SEND_BUFFER_BYTES: usize = 256 << 10;

/// How many descriptors are kept for files and programs.
const RESERVED_DESCRIPTORS: usize = 256;

/// How long accepting pauses after an error, such as that the system is out of descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(10);

/// The socket of the server.
pub(super) struct HttpListener {
    socket: TcpListener,
    shutdown: Shutdown,
    /// Ends sessions and streams.
    streams: CancellationToken,
}

impl HttpListener {
    pub(super) async fn open(
        server: &McpServer,
        address: SocketAddr,
        shutdown: Shutdown,
        streams: CancellationToken,
    ) -> io::Result<Self> {
        let socket = TcpListener::bind(address).await?;
        let address = socket.local_addr()?;
        server.service.listens(&address.ip().to_string(), address.port());
        tracing::info!("serving http://{address}{PATH}");
        Ok(Self { socket, shutdown, streams })
    }

    /// Serves until `ended` completes, and winds everything down. `beside` runs meanwhile and never completes.
    pub(super) async fn serve(
        self,
        endpoint: Arc<HttpEndpoint>,
        server: &McpServer,
        ended: impl Future<Output = ()>,
        meanwhile: impl Future<Output = ()>,
    ) {
        tokio::select! {
            () = ended => {}
            () = self.accept(&endpoint) => {}
            () = meanwhile => {}
        }
        self.wind_down(&endpoint.connections, server).await;
    }

    async fn accept(&self, endpoint: &Arc<HttpEndpoint>) {
        loop {
            match self.socket.accept().await {
                Ok((stream, _)) => {
                    let place = endpoint.connections.admit().await;
                    tokio::spawn(serve_connection(stream, place, Arc::clone(endpoint), self.shutdown.draining.clone()));
                }
                Err(error) => {
                    // The system is out of descriptors; rarely, a client was gone at once.
                    tracing::warn!(%error, "a connection was not accepted");
                    endpoint.connections.close_most_silent();
                    sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    }

    //= docs/spec.md#http
    //# At SIGINT and SIGTERM, running calls MUST get a grace period before the process exits with code 0.
    /// Accepts no more connections, closes idle ones, ends subscriptions, and lets running calls finish within the
    /// grace period.
    async fn wind_down(self, connections: &Connections, server: &McpServer) {
        let Self { socket, shutdown, streams } = self;
        // First the open connections: a client that cannot connect any more finds them closed as well.
        shutdown.draining.cancel();
        drop(socket);
        // Whether the calls ended in time makes no difference: the rest is cancelled.
        let _ = timeout(server.settings.bounds.grace, server.wait_until_idle()).await;
        shutdown.now.cancel();
        let _ = timeout(SEND_GRACE_PERIOD, connections.wait_for_none()).await;
        streams.cancel();
        let _ = timeout(SEND_GRACE_PERIOD, connections.wait_for_none()).await;
        let _ = timeout(SEND_GRACE_PERIOD, server.wait_until_idle()).await;
        // Whatever is left was cut off, or is counted wrongly.
        let (open, calls, tasks) = (connections.count(), server.active_requests(), server.tasks.running());
        tracing::info!("at the end there are {open} connections, {calls} calls, {tasks} tasks");
    }
}

/// Lowers the limit of connections to what the descriptors of the process allow, some of which calls need.
pub(super) fn affordable(limits: ConnectionLimits) -> ConnectionLimits {
    let wanted = limits.connections;
    let needed = wanted.saturating_add(RESERVED_DESCRIPTORS) as u64;
    let Some(most) = raise_descriptor_limit(needed) else { return limits };
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let connections = most.saturating_sub(RESERVED_DESCRIPTORS).max(most / 2).max(1);
    tracing::warn!(
        "{connections} connections are served in place of {wanted}: raise the limit of open files to {needed}"
    );
    ConnectionLimits { connections, ..limits }
}

async fn serve_connection(
    stream: TcpStream,
    place: ConnectionPlace,
    endpoint: Arc<HttpEndpoint>,
    draining: CancellationToken,
) {
    let limits = endpoint.connections.limits();
    configure_socket(&stream, &limits);
    let connection = Arc::clone(&place.connection);
    let service = service_fn(move |request| {
        let (endpoint, connection) = (Arc::clone(&endpoint), Arc::clone(&connection));
        async move { Ok::<_, Infallible>(endpoint.answer(request, &connection).await) }
    });
    let stream = WatchedStream {
        stream,
        connection: Arc::clone(&place.connection),
        write_time: limits.write_time,
        blocked: None,
    };
    //= docs/spec.md#http
    //# A client that does not send a request or read a response in time MUST be disconnected.
    let mut served = pin!(
        http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(limits.idle_time)
            .max_header_size(MAX_HEAD)
            .max_buf_size(MAX_HEAD)
            .serve_connection(TokioIo::new(stream), service)
    );
    let mut is_draining = false;
    loop {
        // Biased: what arrives when the connection is to be closed is not read any more.
        tokio::select! {
            biased;
            () = place.connection.closing() => return,
            () = draining.cancelled(), if !is_draining => {
                is_draining = true;
                served.as_mut().graceful_shutdown();
            }
            result = served.as_mut() => {
                if let Err(error) = result {
                    tracing::debug!(%error, "a connection broke off");
                }
                return;
            }
        }
    }
}

fn configure_socket(stream: &TcpStream, limits: &ConnectionLimits) {
    // Without it an answer in two pieces waits for the other side's delayed acknowledgement: 40 ms.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "the connection sends in large pieces only");
    }
    if let Err(error) = limit_send_buffer(stream, SEND_BUFFER_BYTES) {
        tracing::debug!(%error, "the system holds as much of what is sent as it likes");
    }
    if let Err(error) = limit_unsent_time(stream, limits.write_time) {
        tracing::debug!(%error, "a client that is gone is noticed late");
    }
}

/// The stream of a connection: records when bytes move, and fails when a write waits too long for its client.
struct WatchedStream {
    stream: TcpStream,
    connection: Arc<OpenConnection>,
    write_time: Duration,
    /// Ends when the write that waits has waited too long.
    blocked: Option<Pin<Box<Sleep>>>,
}

impl WatchedStream {
    fn watch_write(&mut self, context: &mut Context<'_>, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if written.is_ready() {
            self.blocked = None;
            self.connection.record_moved();
            return written;
        }
        let write_time = self.write_time;
        ready!(self.blocked.get_or_insert_with(|| Box::pin(sleep(write_time))).as_mut().poll(context));
        // The system discards what the client did not take, rather than keep it after the close.
        if let Err(error) = discard_unsent(&self.stream) {
            tracing::debug!(%error, "the system keeps for a while what a client did not take");
        }
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
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
        if polled.is_ready() {
            self.connection.record_moved();
            self.connection.record_head(&buffer.filled()[before..]);
        }
        polled
    }
}

impl AsyncWrite for WatchedStream {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.watch_write(context, written)
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
    async fn sockets_have_a_user_timeout_and_small_buffers() {
        let socket = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let _client = TcpStream::connect(socket.local_addr().unwrap()).await.unwrap();
        let (stream, _) = socket.accept().await.unwrap();
        assert!(!stream.nodelay().unwrap() && sockopt::tcp_user_timeout(&stream).unwrap() == 0, "a void test");
        let limits = ConnectionLimits { write_time: Duration::from_millis(4_321), ..ConnectionLimits::default() };
        configure_socket(&stream, &limits);
        assert!(stream.nodelay().unwrap());
        assert_eq!(sockopt::tcp_user_timeout(&stream).unwrap(), 4_321);
        // The system doubles it for its own needs.
        assert!(sockopt::socket_send_buffer_size(&stream).unwrap() <= 2 * SEND_BUFFER_BYTES);
    }
}
