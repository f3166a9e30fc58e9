//! The clocks of a process: the system clock, which may step, a monotonic one, and one that never stops; and random
//! delays.

use std::fmt;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use gantry_model::Timestamp;
use tokio::time::Instant;

/// The time source of a process.
///
/// Times that are compared with times in objects (deadlines, `minReadySeconds`) are from the system clock. Durations
/// (queues, back-off) are from tokio's clock, which tests can pause. That clock does not advance while the machine is
/// suspended, so the validity of a lease follows [`Clock::since_boot`].
#[derive(Clone)]
pub struct Clock {
    system_time: Arc<dyn Fn() -> Timestamp + Send + Sync>,
    since_boot: fn() -> Option<Duration>,
    /// Returns a random number below its argument.
    random: Arc<dyn Fn(u32) -> u32 + Send + Sync>,
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
        Self {
            system_time: Arc::new(system_time),
            since_boot: || None,
            random: Arc::new(unpredictable),
            started,
            started_at,
        }
    }

    /// A clock that starts at `start` and follows tokio's, also if a test has paused that.
    pub fn of_tokio(start: Timestamp) -> Self {
        let started = Instant::now();
        Self::new(move || start.plus(started.elapsed()))
    }

    /// Takes random delays from this function, which returns a number below its argument.
    #[must_use]
    pub fn with_random(self, random: impl Fn(u32) -> u32 + Send + Sync + 'static) -> Self {
        Self { random: Arc::new(random), ..self }
    }

    /// The delay, extended by a random part of this share of it, so that clients do not act at the same time.
    pub fn with_jitter(&self, delay: Duration, share: f64) -> Duration {
        delay + delay.mul_f64(share * f64::from(self.random(1000)) / 1000.0)
    }

    /// A random number below this one.
    pub(crate) fn random(&self, below: u32) -> u32 {
        (self.random)(below)
    }

    /// The system time.
    pub fn now(&self) -> Timestamp {
        (self.system_time)()
    }

    /// A monotonic time: the system time at the start, plus what has passed since.
    pub fn steady(&self) -> Timestamp {
        self.started_at.plus(self.started.elapsed())
    }

    /// A monotonic time that advances while the machine is suspended, from an arbitrary origin. For clocks that follow
    /// tokio's it is the same as tokio's.
    pub fn since_boot(&self) -> Duration {
        (self.since_boot)().unwrap_or_else(|| self.started.elapsed())
    }

    /// The tokio instant of this monotonic time.
    pub fn instant(&self, steady: Timestamp) -> Instant {
        let after: Duration = steady.since(self.started_at);
        self.started.checked_add(after).unwrap_or_else(|| self.started + Duration::from_secs(1 << 30))
    }
}

/// An unpredictable number below this one, from the random keys of a new hasher.
fn unpredictable(below: u32) -> u32 {
    let number = RandomState::new().build_hasher().finish() % u64::from(below.max(1));
    u32::try_from(number).unwrap_or(0)
}

/// The time since the machine was started, including the time for which it was suspended.
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
    async fn a_tokio_clock_advances_with_tokio() {
        let clock = Clock::of_tokio(Timestamp::from_secs(100));
        tokio::time::advance(Duration::from_secs(5)).await;
        assert_eq!((clock.now(), clock.steady()), (Timestamp::from_secs(105), Timestamp::from_secs(105)));
        assert_eq!(clock.instant(Timestamp::from_secs(107)), Instant::now() + Duration::from_secs(2));
    }

    #[tokio::test(start_paused = true)]
    async fn a_delay_is_lengthened_by_no_more_than_its_share() {
        let (clock, second) = (Clock::of_tokio(Timestamp::EPOCH), Duration::from_secs(1));
        let lengths: Vec<_> = (0..200).map(|_| clock.with_jitter(second, 0.5)).collect();
        assert!(lengths.iter().all(|length| (second..second.mul_f64(1.5)).contains(length)));
        assert!(lengths.iter().any(|length| *length != lengths[0]), "the jitter varies");
        let chosen = clock.with_random(|below| below / 2);
        assert_eq!(chosen.with_jitter(second, 0.5), Duration::from_millis(1250));
    }

    #[tokio::test(start_paused = true)]
    async fn the_system_clock_advances_while_tokio_is_paused() {
        let clock = Clock::system();
        let before = clock.since_boot();
        std::thread::sleep(Duration::from_millis(2));
        assert!(clock.since_boot() > before, "{before:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_wall_clock_step_does_not_change_the_steady_clock() {
        let clock = Clock::new({
            let started = Instant::now();
            move || Timestamp::from_secs(if started.elapsed().is_zero() { 100 } else { 1 })
        });
        tokio::time::advance(Duration::from_secs(5)).await;
        assert_eq!((clock.now(), clock.steady()), (Timestamp::from_secs(1), Timestamp::from_secs(105)));
    }
}
