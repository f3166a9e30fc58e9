//! Durations of simulated steps: seconds, or a range of seconds.

use std::time::Duration;

use gantry_rng::Rng;

/// The minimum and maximum duration of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DurationRange {
    from: Duration,
    to: Duration,
}

/// The longest allowed duration, which keeps arithmetic on timestamps from overflowing.
const SECONDS_MAX: f64 = 365.0 * 24.0 * 3600.0;

impl DurationRange {
    /// Exactly that many milliseconds.
    pub const fn millis(millis: u64) -> Self {
        Self::between(millis, millis)
    }

    /// A range of milliseconds.
    pub const fn between(from: u64, to: u64) -> Self {
        Self { from: Duration::from_millis(from), to: Duration::from_millis(to) }
    }

    /// Parses `2`, `0.5`, `1..3` or `2±1`, in seconds.
    pub fn parse(text: &str) -> Option<Self> {
        if let Some((middle, margin)) = text.split_once('±').or_else(|| text.split_once("+-")) {
            let (middle, margin) = (seconds(middle)?, seconds(margin)?);
            return Some(Self { from: middle.checked_sub(margin)?, to: middle + margin });
        }
        let (from, to) = text.split_once("..").unwrap_or((text, text));
        let (from, to) = (seconds(from)?, seconds(to)?);
        (from <= to).then_some(Self { from, to })
    }

    /// Whether the minimum is greater than 0.
    pub(crate) fn is_positive(&self) -> bool {
        self.from > Duration::ZERO
    }

    /// Picks a duration in the range.
    pub(crate) fn pick(self, mut rng: Rng) -> Duration {
        let width = u64::try_from(self.to.saturating_sub(self.from).as_millis()).unwrap_or(0);
        self.from + Duration::from_millis(rng.below(width.saturating_add(1)))
    }
}

fn seconds(text: &str) -> Option<Duration> {
    let seconds: f64 = text.trim().parse().ok()?;
    (0.0..=SECONDS_MAX).contains(&seconds).then(|| Duration::from_secs_f64(seconds))
}
