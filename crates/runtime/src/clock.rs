//! The two clocks of a shell: the wall's, which may step, and one that only goes forward.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use gantry_model::Timestamp;
use tokio::time::Instant;

/// The time, as far as this process can know it.
///
/// What is compared with times in objects (deadlines, `minReadySeconds`) is asked of the wall. What only measures
/// (queues, back-off, leases) is asked of tokio's clock, which tests can stop.
#[derive(Clone)]
pub struct Clock {
    wall: Arc<dyn Fn() -> Timestamp + Send + Sync>,
    started: Instant,
    started_at: Timestamp,
}

impl Clock {
    /// The clock of the machine.
    pub fn system() -> Self {
        Self::new(|| {
            let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            Timestamp::EPOCH.plus(since)
        })
    }

    /// A clock that shows what this function says.
    pub fn new(wall: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        let started_at = wall();
        Self { wall: Arc::new(wall), started: Instant::now(), started_at }
    }

    /// A clock that shows `start` now and goes as tokio's does: stopped when a test has stopped that.
    pub fn of_tokio(start: Timestamp) -> Self {
        let started = Instant::now();
        Self { wall: Arc::new(move || start.plus(started.elapsed())), started, started_at: start }
    }

    /// What the wall shows.
    pub fn now(&self) -> Timestamp {
        (self.wall)()
    }

    /// A time that never steps back: where the wall stood at the start, plus what has passed since.
    pub fn steady(&self) -> Timestamp {
        self.started_at.plus(self.started.elapsed())
    }

    /// When tokio's clock will show this steady time.
    pub fn instant(&self, steady: Timestamp) -> Instant {
        let after: Duration = steady.since(self.started_at);
        self.started.checked_add(after).unwrap_or_else(|| self.started + Duration::from_secs(1 << 30))
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Clock").field("now", &self.now()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_clock_of_tokio_goes_when_tokio_goes() {
        let clock = Clock::of_tokio(Timestamp::from_secs(100));
        tokio::time::advance(Duration::from_secs(5)).await;
        assert_eq!((clock.now(), clock.steady()), (Timestamp::from_secs(105), Timestamp::from_secs(105)));
        assert_eq!(clock.instant(Timestamp::from_secs(107)), Instant::now() + Duration::from_secs(2));
    }

    #[tokio::test(start_paused = true)]
    async fn a_wall_that_steps_back_does_not_take_the_steady_clock_along() {
        let clock = Clock::new({
            let started = Instant::now();
            move || Timestamp::from_secs(if started.elapsed().is_zero() { 100 } else { 1 })
        });
        tokio::time::advance(Duration::from_secs(5)).await;
        assert_eq!((clock.now(), clock.steady()), (Timestamp::from_secs(1), Timestamp::from_secs(105)));
    }
}
