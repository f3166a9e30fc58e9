//! The clocks of a process: the system clock, which may step, a monotonic one, and one that never stops.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use gantry_model::Timestamp;
use tokio::time::Instant;

/// The time source of a process.
///
/// Times that are compared with times in objects (deadlines, `minReadySeconds`) come from the system clock. Durations
/// (queues, back-off) come from tokio's clock, which tests can stop. That clock stands still while the machine is
/// suspended, so the validity of a lease follows [`Clock::since_boot`].
#[derive(Clone)]
pub struct Clock {
    system_time: Arc<dyn Fn() -> Timestamp + Send + Sync>,
    since_boot: fn() -> Option<Duration>,
    started: Instant,
    started_at: Timestamp,
}

impl Clock {
    /// The system clock.
    pub fn system() -> Self {
        let clock = Self::new(|| {
            let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            Timestamp::EPOCH.plus(since)
        });
        Self { since_boot: time_since_boot, ..clock }
    }

    /// A clock that returns what this function returns.
    pub fn new(system_time: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        let started_at = system_time();
        let started = Instant::now();
        Self { system_time: Arc::new(system_time), since_boot: || None, started, started_at }
    }

    /// A clock that starts at `start` and follows tokio's: stopped when a test has stopped that.
    pub fn of_tokio(start: Timestamp) -> Self {
        let started = Instant::now();
        let system_time = Arc::new(move || start.plus(started.elapsed()));
        Self { system_time, since_boot: || None, started, started_at: start }
    }

    /// The system time.
    pub fn now(&self) -> Timestamp {
        (self.system_time)()
    }

    /// A monotonic time: the system time at the start, plus what has passed since.
    pub fn steady(&self) -> Timestamp {
        self.started_at.plus(self.started.elapsed())
    }

    /// A monotonic time that goes on while the machine is suspended, from some moment on. Clocks that follow tokio's
    /// have no other.
    pub fn since_boot(&self) -> Duration {
        (self.since_boot)().unwrap_or_else(|| self.started.elapsed())
    }

    /// The tokio instant of this monotonic time.
    pub fn instant(&self, steady: Timestamp) -> Instant {
        let after: Duration = steady.since(self.started_at);
        self.started.checked_add(after).unwrap_or_else(|| self.started + Duration::from_secs(1 << 30))
    }
}

/// The time since the machine was started, with the time that it was suspended.
#[cfg(any(target_os = "linux", target_os = "android"))]
#[expect(clippy::unnecessary_wraps, reason = "other systems have none")]
fn time_since_boot() -> Option<Duration> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    let part = |value: i64| u64::try_from(value).unwrap_or(0);
    Some(Duration::from_secs(part(time.tv_sec)) + Duration::from_nanos(part(time.tv_nsec)))
}

/// Elsewhere the monotonic clock is used.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn time_since_boot() -> Option<Duration> {
    None
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
    async fn the_clock_of_the_machine_goes_on_when_tokio_stands_still() {
        let clock = Clock::system();
        let before = clock.since_boot();
        std::thread::sleep(Duration::from_millis(2));
        assert!(clock.since_boot() > before, "{before:?}");
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
