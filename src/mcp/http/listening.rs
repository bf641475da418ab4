//! The socket: connections are taken, carried, and brought to their end.

use super::answering::Door;
use super::{Ends, Host};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// So many connections are open at a time; others wait to be taken.
const CONNECTIONS: u32 = 1_024;
/// How long a connection may be silent between requests, or take for the head of one.
const SILENCE: Duration = Duration::from_secs(75);
/// How long answers may take to be sent at the end.
const SENDING: Duration = Duration::from_millis(300);

/// A socket that is listened at.
pub(crate) struct Listener {
    socket: TcpListener,
    ends: Ends,
    /// Ends sessions and streams.
    streams: CancellationToken,
    /// One permit for each connection that can be open.
    connections: Arc<Semaphore>,
    /// No connection takes another request.
    closing: CancellationToken,
}

impl Listener {
    pub(crate) async fn open(
        host: &Host,
        address: SocketAddr,
        ends: Ends,
        streams: CancellationToken,
    ) -> io::Result<Self> {
        let socket = TcpListener::bind(address).await?;
        let address = socket.local_addr()?;
        host.service.listens(&address.ip().to_string(), address.port());
        tracing::info!("serving http://{address}{}", super::PATH);
        let connections = Arc::new(Semaphore::new(CONNECTIONS as usize));
        Ok(Self { socket, ends, streams, connections, closing: CancellationToken::new() })
    }

    /// Serves until `ended` comes to be, and brings all to its end.
    pub(crate) async fn serve(self, door: Arc<Door>, host: &Host, ended: impl Future<Output = ()>) {
        tokio::pin!(ended);
        tokio::select! {
            () = &mut ended => {}
            () = self.take(&door) => {}
        }
        self.wind_down(host).await;
    }

    async fn take(&self, door: &Arc<Door>) {
        loop {
            //= docs/spec.md#http
            //# When too many connections are open another MUST wait until one ends, and then be served.
            let Ok(permit) = Arc::clone(&self.connections).acquire_owned().await else { return };
            let stream = match self.socket.accept().await {
                Ok((stream, _)) => stream,
                Err(error) => {
                    // The system is out of descriptors, or the client was gone at once: others go on.
                    tracing::warn!(%error, "a connection was not taken");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            };
            let (door, closing) = (Arc::clone(door), self.closing.clone());
            tokio::spawn(async move {
                carry(stream, door, closing).await;
                drop(permit);
            });
        }
    }

    //= docs/spec.md#http
    //# At SIGINT and SIGTERM, running calls MUST get a grace, and the process MUST end with code 0.
    /// No connection is taken any more, idle ones are closed, subscriptions end; running calls get their grace.
    async fn wind_down(self, host: &Host) {
        let Self { socket, ends, streams, connections, closing } = self;
        drop(socket);
        ends.input.cancel();
        closing.cancel();
        // What is over in time needs no word, and what is not ends without it.
        let _ = timeout(host.settings.bounds.grace, host.all_turns()).await;
        ends.all.cancel();
        let _ = timeout(SENDING, connections.acquire_many(CONNECTIONS)).await;
        streams.cancel();
        let _ = timeout(SENDING, connections.acquire_many(CONNECTIONS)).await;
    }
}

async fn carry(stream: TcpStream, door: Arc<Door>, closing: CancellationToken) {
    // Without it an answer in two pieces waits for the other side's delayed acknowledgement: 40 ms.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "the connection sends in large pieces only");
    }
    let service = service_fn(move |request| {
        let door = Arc::clone(&door);
        async move { Ok::<_, Infallible>(door.answer(request).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(SILENCE)
        .serve_connection(TokioIo::new(stream), service);
    tokio::pin!(connection);
    let result = tokio::select! {
        result = connection.as_mut() => result,
        () = closing.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = result {
        tracing::debug!(%error, "a connection broke off");
    }
}
