//! Standard input and output, asynchronous where they are pipes or sockets.

use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream as StdStream;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;

/// The stream that messages are read from.
pub enum StdinStream {
    /// A pipe, as shells and most clients pass it.
    Pipe(pipe::Receiver),
    /// A socket, as clients built on libuv pass it.
    Socket(UnixStream),
    /// A file or a terminal, which a blocking thread reads.
    Blocking(tokio::io::Stdin),
}

/// The stream that messages are written to.
pub enum StdoutStream {
    /// A pipe.
    Pipe(pipe::Sender),
    /// A socket.
    Socket(UnixStream),
    /// A file or a terminal, where writes do not block for long.
    Plain(io::PipeWriter),
}

/// Takes over standard input and output for the protocol. From then on everything else that is printed goes to standard
/// error.
///
/// # Errors
/// The descriptors cannot be duplicated.
pub fn take_standard_streams() -> io::Result<(StdinStream, StdoutStream)> {
    let (stdin, stdout) = (io::stdin(), io::stdout());
    //= docs/spec.md#protocol
    //# Pipes, files and sockets MUST be supported as standard input and output.
    let input = match open_socket(stdin.as_fd()) {
        Some(socket) => StdinStream::Socket(socket),
        None => match open_receiver(stdin.as_fd()) {
            Some(pipe) => StdinStream::Pipe(pipe),
            None => StdinStream::Blocking(tokio::io::stdin()),
        },
    };
    let output = match open_socket(stdout.as_fd()) {
        Some(socket) => StdoutStream::Socket(socket),
        None => match open_sender(stdout.as_fd()) {
            Some(pipe) => StdoutStream::Pipe(pipe),
            None => StdoutStream::Plain(io::PipeWriter::from(stdout.as_fd().try_clone_to_owned()?)),
        },
    };
    //= docs/spec.md#protocol
    //# While the server runs, it MUST NOT write anything but protocol messages to standard output.
    redirect_stdout_to_stderr();
    Ok((input, output))
}

/// The descriptor as a socket, if it is one. This sets `O_NONBLOCK` on the open file description, which other processes
/// and the other standard streams may share: nothing else in this process may use the standard streams afterwards.
fn open_socket(descriptor: BorrowedFd<'_>) -> Option<UnixStream> {
    let stream = StdStream::from(descriptor.try_clone_to_owned().ok()?);
    // Only a socket has an address.
    stream.local_addr().ok()?;
    stream.set_nonblocking(true).ok()?;
    UnixStream::from_std(stream).ok()
}

/// The descriptor as a pipe, if it is one. Where the system allows it, the pipe is reopened, so that `O_NONBLOCK` is
/// not shared.
fn open_receiver(descriptor: BorrowedFd<'_>) -> Option<pipe::Receiver> {
    let reopened = cfg!(target_os = "linux").then(|| pipe::OpenOptions::new().open_receiver("/proc/self/fd/0").ok());
    reopened.flatten().or_else(|| pipe::Receiver::from_owned_fd(duplicate_descriptor(descriptor)?).ok())
}

fn open_sender(descriptor: BorrowedFd<'_>) -> Option<pipe::Sender> {
    let reopened = cfg!(target_os = "linux").then(|| pipe::OpenOptions::new().open_sender("/proc/self/fd/1").ok());
    reopened.flatten().or_else(|| pipe::Sender::from_owned_fd(duplicate_descriptor(descriptor)?).ok())
}

fn duplicate_descriptor(descriptor: BorrowedFd<'_>) -> Option<OwnedFd> {
    descriptor.try_clone_to_owned().ok()
}

/// Redirects standard output to standard error: a stray line on standard output would break the protocol.
#[allow(unsafe_code, reason = "std has no dup2; both descriptors are open, and nothing of Rust owns number 1")]
fn redirect_stdout_to_stderr() {
    // SAFETY: dup2 takes two numbers and touches no memory. If it fails, nothing has changed.
    unsafe {
        libc::dup2(libc::STDERR_FILENO, libc::STDOUT_FILENO);
    }
}

impl AsyncRead for StdinStream {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Pipe(pipe) => Pin::new(pipe).poll_read(context, buffer),
            Self::Socket(socket) => Pin::new(socket).poll_read(context, buffer),
            Self::Blocking(stdin) => Pin::new(stdin).poll_read(context, buffer),
        }
    }
}

impl AsyncWrite for StdoutStream {
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
