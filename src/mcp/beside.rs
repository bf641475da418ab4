//! Work of some milliseconds, done beside the threads that everybody's bytes pass through.

use tokio::runtime::{Handle, RuntimeFlavor};

/// A message of so many bytes takes longer to read or write than others like to wait.
pub(crate) const LARGE: usize = 128 << 10;

/// Does something long: another thread takes over what this one would do next.
pub(crate) fn beside<T>(work: impl FnOnce() -> T) -> T {
    match Handle::try_current().map(|handle| handle.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(work),
        // There is no other thread.
        _ => work(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;
    use std::time::Duration;

    //= docs/spec.md#http
    //= type=test
    //# While a large body is read or a large answer is written, the requests of others MUST be answered.
    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn others_go_on_meanwhile() {
        let (say, heard) = channel();
        let (begin, begun) = tokio::sync::oneshot::channel();
        let long = tokio::spawn(async move {
            beside(|| {
                begin.send(()).unwrap();
                heard.recv_timeout(Duration::from_secs(30))
            })
        });
        let other = tokio::spawn(async move {
            begun.await.unwrap();
            say.send(7)
        });
        assert_eq!(long.await.unwrap(), Ok(7), "nobody else had a thread");
        other.await.unwrap().unwrap();
    }

    #[tokio::test]
    async fn where_there_is_one_thread_it_is_done_there() {
        assert_eq!(beside(|| 7), 7);
    }
}
