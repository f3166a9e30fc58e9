//! Stops the writes of a process that may have lost its lease.
//!
//! The holder of a lease may be stopped at any moment for any time (SIGSTOP, a suspended machine, a busy one), and
//! another process takes over. A [`WriteFence`] has a time on a clock that never stops, after which nothing is written.
//! [`ApiClient`](crate::ApiClient) checks it before each write, and the connections of
//! [`ApiTransport::connect_fenced`](crate::ApiTransport::connect_fenced) before each write to a socket, so that a request that was queued before the stop is not sent after it.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::watch;

/// A time after which a process writes nothing more. Clones share it.
#[derive(Clone)]
pub struct WriteFence(Arc<State>);

struct State {
    /// The time since some fixed moment.
    now: Box<dyn Fn() -> Duration + Send + Sync>,
    /// When it closes, in nanoseconds of that clock; `u64::MAX` for never.
    closes_at: AtomicU64,
    /// Whether something was refused since it was opened.
    refused: watch::Sender<bool>,
}

/// The fence is closed: nothing is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FenceClosed;

impl WriteFence {
    /// An open fence. The clock must not stop while the process or the machine does, nor go back.
    pub fn new(now: impl Fn() -> Duration + Send + Sync + 'static) -> Self {
        let (closes_at, refused) = (AtomicU64::new(u64::MAX), watch::Sender::new(false));
        Self(Arc::new(State { now: Box::new(now), closes_at, refused }))
    }

    /// The time of its clock.
    pub fn now(&self) -> Duration {
        (self.0.now)()
    }

    /// Opens it until this time of its clock.
    pub fn open_until(&self, closes_at: Duration) {
        self.set(u64::try_from(closes_at.as_nanos()).unwrap_or(u64::MAX));
    }

    /// Opens it without an end.
    pub fn open(&self) {
        self.set(u64::MAX);
    }

    /// Closes it now.
    pub fn close(&self) {
        self.0.closes_at.store(0, Ordering::SeqCst);
    }

    /// Returns how long it is still open.
    pub fn check(&self) -> Result<Duration, FenceClosed> {
        let closes_at = Duration::from_nanos(self.0.closes_at.load(Ordering::SeqCst));
        let left = closes_at.checked_sub(self.now()).filter(|left| !left.is_zero());
        if left.is_none() {
            self.0.refused.send_if_modified(|refused| !std::mem::replace(refused, true));
        }
        left.ok_or(FenceClosed)
    }

    /// Returns when a check has failed since it was opened.
    pub async fn refused(&self) {
        // The sender is not dropped while this borrows it.
        let _ = self.0.refused.subscribe().wait_for(|refused| *refused).await;
    }

    fn set(&self, closes_at: u64) {
        self.0.refused.send_replace(false);
        self.0.closes_at.store(closes_at, Ordering::SeqCst);
    }
}

impl fmt::Debug for WriteFence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WriteFence").field("closes_at", &self.0.closes_at).finish_non_exhaustive()
    }
}

impl fmt::Display for FenceClosed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not sent: the lease of this process may have expired, and another process may hold it")
    }
}

impl std::error::Error for FenceClosed {}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test]
    async fn a_fence_closes_by_its_clock_and_reports_the_first_refusal() {
        let seconds = Arc::new(AtomicU64::new(100));
        let fence = WriteFence::new({
            let seconds = Arc::clone(&seconds);
            move || Duration::from_secs(seconds.load(Ordering::SeqCst))
        });
        assert!(fence.check().is_ok(), "it is open without a time");
        fence.open_until(fence.now() + 10 * SECOND);
        seconds.store(109, Ordering::SeqCst);
        assert_eq!(fence.check(), Ok(SECOND));
        seconds.store(110, Ordering::SeqCst);
        assert_eq!(fence.check(), Err(FenceClosed));
        fence.refused().await;
        fence.open_until(fence.now() + SECOND);
        assert!(fence.check().is_ok());
        fence.close();
        assert_eq!(fence.check(), Err(FenceClosed));
        fence.open();
        assert!(fence.check().is_ok());
    }
}
