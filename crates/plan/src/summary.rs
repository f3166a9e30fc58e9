//! The extremes of a rollout: how long it takes, how few pods are available, how many there are.

use std::time::Duration;

use crate::timeline::{DEADLINE_EXCEEDED, Timeline, TimelineSample};

/// The most important facts about a rollout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// When all desired pods were available and no others remained; `None` if that did not happen.
    pub complete_after: Option<Duration>,
    /// When the progress deadline was exceeded, if it was.
    pub deadline_exceeded_after: Option<Duration>,
    /// The smallest number of available pods.
    pub fewest_available: Extreme,
    /// The largest number of pods that are not terminating.
    pub most_pods: Extreme,
    /// The largest number of pods, terminating ones included.
    pub most_with_terminating: Extreme,
    /// The longest time without an available pod, if pods were available before.
    pub outage: Option<Outage>,
}

/// The largest or smallest value of a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extreme {
    /// The value.
    pub value: i64,
    /// When it was reached first.
    pub at: Duration,
    /// For how long in total it had that value.
    pub lasted: Duration,
}

/// A time without available pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outage {
    /// When it began.
    pub from: Duration,
    /// When it ended; `None` if it did not.
    pub until: Option<Duration>,
}

impl Summary {
    /// Summarizes a rollout that was observed until `end`.
    pub fn of(timeline: &Timeline, end: Duration) -> Self {
        let samples = &timeline.samples;
        let exceeded = timeline.conditions.iter().find(|change| change.reason == DEADLINE_EXCEEDED);
        Self {
            complete_after: complete_after(timeline),
            deadline_exceeded_after: exceeded.map(|change| change.at),
            fewest_available: extreme(samples, end, |sample| -sample.available()).negated(),
            most_pods: extreme(samples, end, TimelineSample::pods),
            most_with_terminating: extreme(samples, end, |sample| sample.pods() + sample.terminating()),
            outage: longest_outage(samples, end),
        }
    }
}

impl Extreme {
    fn negated(self) -> Self {
        Self { value: -self.value, ..self }
    }
}

impl Outage {
    /// How long it lasted, when the rollout was observed until `end`.
    pub fn duration(&self, end: Duration) -> Duration {
        self.until.unwrap_or(end).saturating_sub(self.from)
    }
}

/// The time from which on all desired pods were available and no others remained.
fn complete_after(timeline: &Timeline) -> Option<Duration> {
    let is_complete = |sample: &TimelineSample| timeline.is_complete(sample);
    let mut since = None;
    for sample in timeline.samples.iter().skip(1) {
        since = if is_complete(sample) { since.or(Some(sample.at)) } else { None };
    }
    let never_changed = timeline.samples.len() == 1 && timeline.samples.iter().all(is_complete);
    since.or(never_changed.then_some(Duration::ZERO))
}

/// The largest value, when it was reached and how long it lasted.
fn extreme(samples: &[TimelineSample], end: Duration, value: impl Fn(&TimelineSample) -> i64) -> Extreme {
    let Some(largest) = samples.iter().map(&value).max() else { return Extreme::default() };
    let at = samples.iter().find(|sample| value(sample) == largest).map(|sample| sample.at);
    let lasted =
        spans(samples, end).filter(|(sample, _)| value(sample) == largest).map(|(_, span)| span).sum();
    Extreme { value: largest, at: at.unwrap_or_default(), lasted }
}

/// Each sample with the time until the next one.
fn spans(samples: &[TimelineSample], end: Duration) -> impl Iterator<Item = (&TimelineSample, Duration)> {
    let next = samples.iter().skip(1).map(|sample| sample.at).chain([end]);
    samples.iter().zip(next).map(|(sample, next)| (sample, next.saturating_sub(sample.at)))
}

fn longest_outage(samples: &[TimelineSample], end: Duration) -> Option<Outage> {
    let mut outages: Vec<Outage> = Vec::new();
    let mut was_available = false;
    for sample in samples {
        let is_out = sample.available() == 0 && sample.limits.desired > 0;
        match outages.last_mut().filter(|outage| outage.until.is_none()) {
            Some(open) if !is_out => open.until = Some(sample.at),
            None if is_out && was_available => outages.push(Outage { from: sample.at, until: None }),
            _ => {}
        }
        was_available |= sample.available() > 0;
    }
    let lasting = outages.into_iter().filter(|outage| outage.until != Some(outage.from));
    lasting.max_by_key(|outage| outage.duration(end))
}
