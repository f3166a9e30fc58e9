//! How long something takes: seconds, or a range of seconds.

use std::time::Duration;

use super::Dice;

/// How long something takes, at least and at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    from: Duration,
    to: Duration,
}

/// No simulated step is longer; it keeps arithmetic on time far from its ends.
const SECONDS_MAX: f64 = 365.0 * 24.0 * 3600.0;

impl Span {
    /// Exactly so many milliseconds.
    pub const fn millis(millis: u64) -> Self {
        Self::between(millis, millis)
    }

    /// Between so many milliseconds.
    pub const fn between(from: u64, to: u64) -> Self {
        Self { from: Duration::from_millis(from), to: Duration::from_millis(to) }
    }

    /// Reads `2`, `0.5` or `1..3`, in seconds.
    pub fn parse(text: &str) -> Option<Self> {
        let (from, to) = text.split_once("..").unwrap_or((text, text));
        let (from, to) = (seconds(from)?, seconds(to)?);
        (from <= to).then_some(Self { from, to })
    }

    /// Whether it takes any time at all.
    pub(crate) fn is_some_time(&self) -> bool {
        self.from > Duration::ZERO
    }

    /// The duration that falls to these dice.
    pub(crate) fn pick(self, dice: Dice) -> Duration {
        let width = u64::try_from(self.to.saturating_sub(self.from).as_millis()).unwrap_or(0);
        self.from + Duration::from_millis(dice.below(width.saturating_add(1)))
    }
}

fn seconds(text: &str) -> Option<Duration> {
    let seconds: f64 = text.trim().parse().ok()?;
    (0.0..=SECONDS_MAX).contains(&seconds).then(|| Duration::from_secs_f64(seconds))
}
