//! The requests in progress on a connection, to end those that are idle: after a while, and early when connections run out.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

/// The activity of one connection.
#[derive(Debug, Default)]
pub(crate) struct Activity {
    in_progress: AtomicUsize,
    has_served: AtomicBool,
    changed: Notify,
    /// The requests in progress on all connections.
    on_all: Arc<AtomicUsize>,
}

/// A request in progress, until it is dropped.
#[derive(Debug)]
pub(crate) struct RequestInProgress(Arc<Activity>);

/// Requests idle connections to end, because there are too many.
#[derive(Debug, Default)]
pub(crate) struct Pressure(Notify);

/// When a connection is idle for too long.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IdleTimeouts {
    /// Before its first request.
    pub(crate) first: Duration,
    /// After a request.
    pub(crate) next: Duration,
}

/// When there are more requests in progress than these, watches and responses that are not read included, a connection has at
/// most its share of them: each takes some kilobytes.
const REQUESTS_MAX: usize = 2048;
const SHARE: usize = 100;

/// A connection that was idle for this long may be ended when there are too many.
const SPARED: Duration = Duration::from_secs(1);

impl Activity {
    /// The activity of a connection whose requests are included in the count of all connections.
    pub(crate) fn counted_in(on_all: &Arc<AtomicUsize>) -> Self {
        Self { on_all: Arc::clone(on_all), ..Self::default() }
    }

    /// Counts a request.
    pub(crate) fn begin(self: &Arc<Self>) -> RequestInProgress {
        self.on_all.fetch_add(1, Ordering::SeqCst);
        self.in_progress.fetch_add(1, Ordering::SeqCst);
        self.has_served.store(true, Ordering::SeqCst);
        self.changed.notify_one();
        RequestInProgress(Arc::clone(self))
    }

    /// Returns when the connection has been idle for too long.
    pub(crate) async fn is_idle(&self, timeouts: IdleTimeouts, pressure: &Pressure) {
        loop {
            if self.in_progress.load(Ordering::SeqCst) > 0 {
                self.changed.notified().await;
                continue;
            }
            let now = Instant::now();
            let has_served = self.has_served.load(Ordering::SeqCst);
            let timeout = if has_served { timeouts.next } else { timeouts.first };
            tokio::select! {
                () = self.changed.notified() => {}
                () = sleep_until(now + timeout) => return,
                () = pressure.close_requested_after(now + SPARED) => return,
            }
        }
    }
}

impl RequestInProgress {
    /// Whether its connection has more than its share of the requests in progress.
    pub(crate) fn exceeds_share(&self) -> bool {
        self.0.on_all.load(Ordering::SeqCst) > REQUESTS_MAX
            && self.0.in_progress.load(Ordering::SeqCst) > SHARE
    }
}

impl Drop for RequestInProgress {
    fn drop(&mut self) {
        self.0.on_all.fetch_sub(1, Ordering::SeqCst);
        self.0.in_progress.fetch_sub(1, Ordering::SeqCst);
        self.0.changed.notify_one();
    }
}

impl Pressure {
    /// Requests all idle connections to end.
    pub(crate) fn request_close(&self) {
        self.0.notify_waiters();
    }

    /// Returns when idle connections are requested to end, and not before this time.
    pub(crate) async fn close_requested_after(&self, time: Instant) {
        loop {
            self.0.notified().await;
            if Instant::now() >= time {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Connections with hundreds of streams that are not read take hundreds of megabytes; one with a few is always served.
    #[test]
    fn a_connection_has_its_share_when_there_are_many_requests() {
        let on_all = Arc::default();
        let [greedy, late, modest] = [(); 3].map(|()| Arc::new(Activity::counted_in(&on_all)));
        let first: Vec<_> = (0..REQUESTS_MAX).map(|_| greedy.begin()).collect();
        assert!(first.iter().all(|request| !request.exceeds_share()), "the share is free");
        let second: Vec<_> = (0..SHARE).map(|_| late.begin()).collect();
        assert!(second.iter().all(|request| !request.exceeds_share()), "within its share");
        assert!(late.begin().exceeds_share() && greedy.begin().exceeds_share());
        assert!(!modest.begin().exceeds_share());
        drop(first);
        assert!(!late.begin().exceeds_share(), "the share is free again");
    }

    const TIMEOUTS: IdleTimeouts =
        IdleTimeouts { first: Duration::from_secs(10), next: Duration::from_secs(90) };

    async fn idle_after(activity: &Activity, pressure: &Pressure) -> Duration {
        let began = Instant::now();
        activity.is_idle(TIMEOUTS, pressure).await;
        began.elapsed()
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_waits_for_its_first_request_less_than_for_others() {
        let (activity, pressure) = (Arc::new(Activity::default()), Pressure::default());
        assert_eq!(idle_after(&activity, &pressure).await.as_secs(), 10);
        let request = activity.begin();
        let ends = async {
            tokio::time::sleep(Duration::from_hours(1)).await;
            drop(request);
        };
        let (after, ()) = tokio::join!(idle_after(&activity, &pressure), ends);
        assert_eq!(after.as_secs(), 3600 + 90);
    }

    #[tokio::test(start_paused = true)]
    async fn under_pressure_idle_connections_end_and_busy_ones_do_not() {
        let (idle, busy) = (Arc::new(Activity::default()), Arc::new(Activity::default()));
        let (pressure, request) = (Pressure::default(), busy.begin());
        let asks = async {
            for _ in 0..10 {
                tokio::time::sleep(Duration::from_millis(300)).await;
                pressure.request_close();
            }
            drop(request);
        };
        let (idle, busy, ()) = tokio::join!(idle_after(&idle, &pressure), idle_after(&busy, &pressure), asks);
        assert_eq!((idle.as_millis(), busy.as_secs()), (1200, 93));
    }
}
