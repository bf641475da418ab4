//! Standard input and output, without threads that block where pipes and sockets can do without.

use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream as StdStream;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;

/// Where messages come from.
pub(crate) enum Input {
    /// A pipe, as shells and most clients give it.
    Pipe(pipe::Receiver),
    /// A socket, as clients built on libuv give it.
    Socket(UnixStream),
    /// A file or a terminal: read by a thread that blocks.
    Blocking(tokio::io::Stdin),
}

/// Where messages go.
pub(crate) enum Output {
    /// A pipe.
    Pipe(pipe::Sender),
    /// A socket.
    Socket(UnixStream),
    /// A file or a terminal, which takes what it is given.
    Plain(io::PipeWriter),
}

/// Takes standard input and output for the protocol. From then on what anything else prints goes to
/// standard error.
///
/// # Errors
/// The descriptors cannot be duplicated.
pub(crate) fn take() -> io::Result<(Input, Output)> {
    let (stdin, stdout) = (io::stdin(), io::stdout());
    //= docs/spec.md#protocol
    //# Pipes, files and socket pairs MUST all be served.
    let input = match socket(stdin.as_fd()) {
        Some(socket) => Input::Socket(socket),
        None => match receiver(stdin.as_fd()) {
            Some(pipe) => Input::Pipe(pipe),
            None => Input::Blocking(tokio::io::stdin()),
        },
    };
    let output = match socket(stdout.as_fd()) {
        Some(socket) => Output::Socket(socket),
        None => match sender(stdout.as_fd()) {
            Some(pipe) => Output::Pipe(pipe),
            None => Output::Plain(io::PipeWriter::from(stdout.as_fd().try_clone_to_owned()?)),
        },
    };
    //= docs/spec.md#protocol
    //# Nothing but protocol messages MUST ever be written to standard output while serving.
    protect();
    Ok((input, output))
}

/// `O_NONBLOCK` sits on the description that we share with whoever gave us the socket: nothing else of
/// this process may use the standard streams afterwards.
fn socket(descriptor: BorrowedFd<'_>) -> Option<UnixStream> {
    let stream = StdStream::from(descriptor.try_clone_to_owned().ok()?);
    // Only a socket has an address.
    stream.local_addr().ok()?;
    stream.set_nonblocking(true).ok()?;
    UnixStream::from_std(stream).ok()
}

/// Opened anew where the system can, so that `O_NONBLOCK` stays ours.
fn receiver(descriptor: BorrowedFd<'_>) -> Option<pipe::Receiver> {
    let reopened = cfg!(target_os = "linux").then(|| pipe::OpenOptions::new().open_receiver("/proc/self/fd/0").ok());
    reopened.flatten().or_else(|| pipe::Receiver::from_owned_fd(copy(descriptor)?).ok())
}

fn sender(descriptor: BorrowedFd<'_>) -> Option<pipe::Sender> {
    let reopened = cfg!(target_os = "linux").then(|| pipe::OpenOptions::new().open_sender("/proc/self/fd/1").ok());
    reopened.flatten().or_else(|| pipe::Sender::from_owned_fd(copy(descriptor)?).ok())
}

fn copy(descriptor: BorrowedFd<'_>) -> Option<OwnedFd> {
    descriptor.try_clone_to_owned().ok()
}

/// A stray line on standard output would break the protocol: standard output becomes standard error.
#[allow(unsafe_code, reason = "std has no dup2; both descriptors are open, and nothing of Rust owns number 1")]
fn protect() {
    // SAFETY: dup2 takes two numbers and touches no memory; if it fails, nothing has changed.
    unsafe {
        libc::dup2(libc::STDERR_FILENO, libc::STDOUT_FILENO);
    }
}

impl AsyncRead for Input {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Pipe(pipe) => Pin::new(pipe).poll_read(context, buffer),
            Self::Socket(socket) => Pin::new(socket).poll_read(context, buffer),
            Self::Blocking(stdin) => Pin::new(stdin).poll_read(context, buffer),
        }
    }
}

impl AsyncWrite for Output {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Pipe(pipe) => Pin::new(pipe).poll_write(context, bytes),
            Self::Socket(socket) => Pin::new(socket).poll_write(context, bytes),
            Self::Plain(file) => Poll::Ready(file.write(bytes)),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Pipe(pipe) => Pin::new(pipe).poll_flush(context),
            Self::Socket(socket) => Pin::new(socket).poll_flush(context),
            Self::Plain(file) => Poll::Ready(file.flush()),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Pipe(pipe) => Pin::new(pipe).poll_shutdown(context),
            Self::Socket(socket) => Pin::new(socket).poll_shutdown(context),
            Self::Plain(_) => Poll::Ready(Ok(())),
        }
    }
}
