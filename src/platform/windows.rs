//! Windows: what Linux and macOS have and this system lacks does nothing. Only the compiler has checked this.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::signal::windows::{CtrlBreak, CtrlC, ctrl_break, ctrl_c};

/// What ends a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignalKind {
    /// Ctrl+C.
    Interrupt,
    /// Ctrl+Break, the nearest thing to SIGTERM.
    Terminate,
    /// SIGHUP, which this system lacks.
    HangUp,
}

impl SignalKind {
    /// The one of Ctrl+C.
    pub fn interrupt() -> Self {
        Self::Interrupt
    }

    /// The one that asks a process to end.
    pub fn terminate() -> Self {
        Self::Terminate
    }

    /// The one of a terminal that is closed.
    pub fn hangup() -> Self {
        Self::HangUp
    }

    /// The number that Linux and macOS have for it: exit codes are the same everywhere.
    pub fn as_raw_value(self) -> i32 {
        match self {
            Self::HangUp => 1,
            Self::Interrupt => 2,
            Self::Terminate => 15,
        }
    }
}

/// A signal that is awaited.
pub enum Signal {
    /// Ctrl+C.
    Interrupt(CtrlC),
    /// Ctrl+Break.
    Terminate(CtrlBreak),
    /// It never arrives.
    HangUp,
}

impl Signal {
    /// Completes when it arrives.
    pub async fn recv(&mut self) -> Option<()> {
        match self {
            Self::Interrupt(signal) => signal.recv().await,
            Self::Terminate(signal) => signal.recv().await,
            Self::HangUp => std::future::pending().await,
        }
    }
}

/// Awaits a signal from now on.
///
/// # Errors
/// The handler cannot be installed.
pub fn signal(kind: SignalKind) -> io::Result<Signal> {
    Ok(match kind {
        SignalKind::Interrupt => Signal::Interrupt(ctrl_c()?),
        SignalKind::Terminate => Signal::Terminate(ctrl_break()?),
        SignalKind::HangUp => Signal::HangUp,
    })
}

/// The stream that messages are read from: a blocking thread reads it.
pub struct StdinStream(tokio::io::Stdin);

/// The stream that messages are written to.
pub struct StdoutStream(tokio::io::Stdout);

/// Takes standard input and output for the protocol. What else is printed is not redirected here.
///
/// # Errors
/// None.
pub fn take_standard_streams() -> io::Result<(StdinStream, StdoutStream)> {
    Ok((StdinStream(tokio::io::stdin()), StdoutStream(tokio::io::stdout())))
}

impl AsyncRead for StdinStream {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().0).poll_read(context, buffer)
    }
}

impl AsyncWrite for StdoutStream {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().0).poll_write(context, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().0).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().0).poll_shutdown(context)
    }
}

/// The time of the process: this system has no clock of a thread that `std` reads.
#[cfg(test)]
pub fn thread_time() -> Duration {
    Duration::from_millis(u64::try_from(super::coarse_ms()).unwrap_or(0))
}

/// Returns `None`: sockets are not counted as files here.
pub fn raise_descriptor_limit(_needed: u64) -> Option<u64> {
    None
}

/// Does nothing: the system holds as much of what is sent as it likes.
///
/// # Errors
/// None.
pub fn limit_send_buffer<S>(_socket: S, _bytes: usize) -> io::Result<()> {
    Ok(())
}

/// Does nothing: the system keeps written bytes as long as it likes.
///
/// # Errors
/// None.
pub fn limit_unsent_time<S>(_socket: S, _time: Duration) -> io::Result<()> {
    Ok(())
}

/// Does nothing: the system keeps for a while what a client did not take.
///
/// # Errors
/// None.
pub fn discard_unsent<S>(_socket: S) -> io::Result<()> {
    Ok(())
}
