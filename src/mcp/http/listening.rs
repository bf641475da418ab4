//! The socket: connections are taken, carried, and brought to their end.

use super::activity::{Ending, HALF_CLOSED};
use super::answering::Door;
use super::connections::{Connections, Seat};
use super::head_scan::HEAD;
use super::limits::told;
use super::watched::Watched;
use super::{ConnectionLimits, Ends, Host};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

/// How long answers may take to be sent at the end.
const SENDING: Duration = Duration::from_millis(300);
/// Bytes that the system holds of what is sent on a connection: by itself it takes megabytes, which nobody counts.
const SENT: usize = 256 << 10;
/// Descriptors that are kept for files and programs.
const DESCRIPTORS: usize = 256;
/// How long nothing is taken when the system is out of descriptors, or the last one that was taken is not heard yet.
const RELIEF: Duration = Duration::from_millis(10);

/// A socket that is listened at.
pub(crate) struct Listener {
    socket: TcpListener,
    ends: Ends,
    /// Ends sessions and streams.
    streams: CancellationToken,
    connections: Arc<Connections>,
    /// No connection takes another request.
    closing: CancellationToken,
}

impl Listener {
    pub(crate) async fn open(
        host: &Host,
        address: SocketAddr,
        limits: ConnectionLimits,
        ends: Ends,
        streams: CancellationToken,
    ) -> io::Result<Self> {
        let socket = TcpListener::bind(address).await?;
        let address = socket.local_addr()?;
        host.service.listens(&address.ip().to_string(), address.port());
        tracing::info!("serving http://{address}{}", super::PATH);
        let connections = Connections::new(affordable(limits), Arc::clone(&host.said));
        Ok(Self { socket, ends, streams, connections, closing: CancellationToken::new() })
    }

    pub(crate) fn connections(&self) -> &Arc<Connections> {
        &self.connections
    }

    /// Serves until `ended` comes to be, and brings all to its end. What goes on `beside` it never ends by itself.
    pub(crate) async fn serve(
        self,
        door: Arc<Door>,
        host: &Host,
        ended: impl Future<Output = ()>,
        beside: impl Future<Output = ()>,
    ) {
        tokio::pin!(ended);
        let watching = tokio::spawn(watch(Arc::clone(&self.connections)));
        tokio::select! {
            () = &mut ended => {}
            () = self.take(&door) => {}
            () = beside => {}
        }
        self.wind_down(host).await;
        watching.abort();
    }

    async fn take(&self, door: &Arc<Door>) {
        loop {
            let (stream, peer) = match self.socket.accept().await {
                Ok(taken) => taken,
                Err(error) => {
                    // The client was gone at once, or the system is out of descriptors: then one connection goes.
                    tracing::warn!(%error, "a connection was not taken");
                    let is_gone = error.kind() == io::ErrorKind::ConnectionAborted;
                    if !is_gone && self.connections.close_one() {
                        tracing::warn!("closed the connection that has been silent longest");
                    }
                    sleep(RELIEF).await;
                    continue;
                }
            };
            let is_proven = !door.gate.load().has_token();
            let seat = Arc::new(self.connections.admit(peer.ip(), is_proven));
            let activity = Arc::clone(&seat.activity);
            tokio::spawn(carry(stream, seat, Arc::clone(door), self.closing.clone()));
            // What it has sent is read before others are taken: a crowd that waited with it cannot push it out unheard.
            let _busy = timeout(RELIEF, activity.looked()).await;
        }
    }

    //= docs/spec.md#http
    //# At SIGINT and SIGTERM, running calls MUST get a grace, and the process MUST end with code 0.
    /// No connection is taken any more, idle ones are closed, subscriptions end; running calls get their grace.
    async fn wind_down(self, host: &Host) {
        let Self { socket, ends, streams, connections, closing } = self;
        // Who is let in no more finds that nobody is heard any more, either.
        closing.cancel();
        drop(socket);
        ends.input.cancel();
        // What is over in time needs no word, and what is not ends without it.
        let _ = timeout(host.settings.bounds.grace, host.all_turns()).await;
        ends.all.cancel();
        let _ = timeout(SENDING, connections.none()).await;
        streams.cancel();
        let _ = timeout(SENDING, connections.none()).await;
        let _ = timeout(SENDING, host.all_turns()).await;
        // Anything but nothing was cut off now, or is counted wrongly.
        let (open, bytes) = connections.counts();
        let (calls, tasks) = (host.turns(), host.tasks.running());
        tracing::info!(
            "at the end there are {open} connections, {bytes} bytes that wait, {calls} calls, {tasks} tasks"
        );
    }
}

/// Looks at all connections, again and again, and closes those whose time is over.
async fn watch(connections: Arc<Connections>) {
    loop {
        connections.some().await;
        sleep(connections.limits().look()).await;
        connections.look();
    }
}

/// The limits that the system can keep: a process has so many descriptors, and calls need some of them.
pub(crate) fn affordable(limits: ConnectionLimits) -> ConnectionLimits {
    let wanted = limits.connections.saturating_add(limits.unproven);
    let needed = (wanted.saturating_add(DESCRIPTORS)) as u64;
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
    let most = most.saturating_sub(DESCRIPTORS).max(most / 2);
    tracing::warn!("{most} connections are served in place of {wanted}: raise the limit of open files to {needed}");
    limits.within(most)
}

async fn carry(stream: TcpStream, seat: Arc<Seat>, door: Arc<Door>, closing: CancellationToken) {
    set_up(&stream, &seat.connections().limits());
    let (own, asked) = (Arc::clone(&seat), Arc::clone(&seat));
    let service = service_fn(move |request| {
        let (door, seat) = (Arc::clone(&door), Arc::clone(&asked));
        async move { Ok::<_, Infallible>(door.answer(request, &seat).await) }
    });
    // Times are watched from outside, for all connections at once.
    let mut connection =
        http1::Builder::new().max_buf_size(HEAD).serve_connection(TokioIo::new(Watched::new(stream, seat)), service);
    // In this order: what arrives when the end has come is not read any more.
    let ending = tokio::select! {
        biased;
        ending = own.activity.ended() => ending,
        () = closing.cancelled() => {
            Pin::new(&mut connection).graceful_shutdown();
            tokio::select! {
                biased;
                ending = own.activity.ended() => ending,
                result = &mut connection => return broke_off(result),
            }
        }
        result = &mut connection => return broke_off(result),
    };
    tracing::debug!(?ending, "a connection is closed");
    let watched = connection.into_parts().io.into_inner();
    if own.activity.is_blocked() {
        watched.forget();
    }
    if let Some((status, text)) = last_word(ending, &own) {
        let head = format!("HTTP/1.1 {status}\r\nConnection: close\r\nContent-Type: text/plain; charset=utf-8");
        watched.tell(&format!("{head}\r\nContent-Length: {}\r\n\r\n{text}", text.len()));
    }
}

/// What a client is told whose connection is closed before its request is answered.
fn last_word(ending: Ending, seat: &Seat) -> Option<(&'static str, String)> {
    let (limits, is_proven) = (seat.connections().limits(), seat.activity.is_proven());
    match ending {
        Ending::SlowHead => {
            let time = if is_proven { limits.head_time } else { limits.head_time.min(limits.unproven_time) };
            let text = format!("Request Timeout: the head did not arrive in {}", told(time));
            Some(("408 Request Timeout", text))
        }
        //= docs/spec.md#http
        //# A request that is given up because too many connections are open, or too many bytes wait, MUST be answered with status 503 if nothing of its answer was sent.
        Ending::Crowded | Ending::Unread if is_proven && seat.activity.awaits_answer() => {
            let why = match ending {
                Ending::Crowded => {
                    "too many connections are open, requests are worked on in all of them, and of the address with the most \
                     this one has been silent longest: its request was given up"
                }
                _ => "too many bytes wait, and this body arrives too slowly",
            };
            let text = format!("Service Unavailable: {why}; send it again later");
            Some(("503 Service Unavailable\r\nRetry-After: 1", text))
        }
        Ending::Gone if seat.activity.awaits_answer() => {
            let text =
                format!("Request Timeout: its sender closed its side, and {} were not enough", told(HALF_CLOSED));
            Some(("408 Request Timeout", text))
        }
        _ => None,
    }
}

fn broke_off(result: Result<(), hyper::Error>) {
    if let Err(error) = result {
        tracing::debug!(%error, "a connection broke off");
    }
}

fn set_up(stream: &TcpStream, limits: &ConnectionLimits) {
    // Without it an answer in two pieces waits for the other side's delayed acknowledgement: 40 ms.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "the connection sends in large pieces only");
    }
    if let Err(error) = rustix::net::sockopt::set_socket_send_buffer_size(stream, SENT) {
        tracing::debug!(%error, "the system holds as much of what is sent as it likes");
    }
    // What the system still holds when all was written to it: a client that is gone without a word never takes it.
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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use rustix::net::sockopt;

    /// A client that is gone without a word cannot be made here: that the system is told what to do then, can be seen.
    #[tokio::test]
    #[cfg(target_os = "linux")]
    async fn the_system_gives_up_what_nobody_takes_and_holds_little_of_it() {
        let socket = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let _client = TcpStream::connect(socket.local_addr().unwrap()).await.unwrap();
        let (stream, _) = socket.accept().await.unwrap();
        assert!(!stream.nodelay().unwrap() && sockopt::tcp_user_timeout(&stream).unwrap() == 0, "a void test");
        let limits = ConnectionLimits { write_time: Duration::from_millis(4_321), ..ConnectionLimits::default() };
        set_up(&stream, &limits);
        assert!(stream.nodelay().unwrap());
        assert_eq!(sockopt::tcp_user_timeout(&stream).unwrap(), 4_321);
        // The system doubles it for its own needs.
        assert!(sockopt::socket_send_buffer_size(&stream).unwrap() <= 2 * SENT);
    }
}
