//! The steps of a rollout: which ReplicaSets were resized when, and the trigger.

use std::time::Duration;

use gantry_decide::deployment::Limits;

use crate::timeline::{Counts, Timeline, TimelineSample};

/// The changes at one time, or in a short period.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RolloutStep {
    /// When it began.
    pub from: Duration,
    /// When it ended; the same for a step at one time.
    pub until: Duration,
    /// The sizes before and after, by set.
    pub sizes: Vec<Resize>,
    /// The trigger.
    pub trigger: Trigger,
    /// The limits after it.
    pub limits: Limits,
    /// Available pods after it.
    pub available: i64,
    /// Pods after it, without terminating ones.
    pub pods: i64,
    /// Terminating pods after it.
    pub terminating: i64,
}

/// The size of a ReplicaSet before and after a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resize {
    /// `spec.replicas` before.
    pub before: i64,
    /// `spec.replicas` after.
    pub after: i64,
}

/// The trigger of a step of a rollout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// The change itself.
    Change,
    /// Pods of the new ReplicaSet became available.
    Available {
        /// How many more than before.
        more: i64,
        /// How many in all.
        total: i64,
    },
    /// Old pods were deleted, which Recreate waits for.
    Gone,
    /// Pods of a ReplicaSet became unavailable.
    Unavailable {
        /// How many.
        count: i64,
    },
    /// Anything else, such as time that passed.
    Other,
}

impl Resize {
    /// Whether the size changed.
    pub fn is_change(self) -> bool {
        self.before != self.after
    }
}

/// Returns the steps of a rollout: every time at which a ReplicaSet was resized.
pub fn steps(timeline: &Timeline) -> Vec<RolloutStep> {
    let mut steps = Vec::new();
    // Pods that became available since the last step triggered the next one.
    let Some(mut last) = timeline.samples.first() else { return steps };
    let begin = last;
    for sample in &timeline.samples[1..] {
        if last.counts.iter().zip(&sample.counts).all(|(before, after)| before.size == after.size) {
            continue;
        }
        steps.push(step(timeline, last, sample, std::ptr::eq(last, begin)));
        last = sample;
    }
    steps
}

fn step(timeline: &Timeline, before: &TimelineSample, after: &TimelineSample, is_first: bool) -> RolloutStep {
    let pairs = before.counts.iter().zip(&after.counts);
    let trigger =
        if is_first && after.at.is_zero() { Trigger::Change } else { trigger(timeline, before, after) };
    RolloutStep {
        from: after.at,
        until: after.at,
        sizes: pairs.map(|(before, after)| Resize { before: before.size, after: after.size }).collect(),
        trigger,
        limits: after.limits,
        available: after.available(),
        pods: after.pods(),
        terminating: after.terminating(),
    }
}

fn trigger(timeline: &Timeline, before: &TimelineSample, after: &TimelineSample) -> Trigger {
    let sum = |sample: &TimelineSample, is_new: bool, number: fn(&Counts) -> i64| -> i64 {
        let sets = timeline.sets.iter().zip(&sample.counts).filter(|(set, _)| set.is_new == is_new);
        sets.map(|(_, counts)| number(counts)).sum()
    };
    let (had, has) = (sum(before, true, |it| it.available), sum(after, true, |it| it.available));
    let old_pods = |sample| sum(sample, false, |it| it.pods + it.terminating);
    if has > had {
        Trigger::Available { more: has - had, total: has }
    } else if old_pods(before) > 0 && old_pods(after) == 0 {
        Trigger::Gone
    } else if before.available() > after.available() && has < had {
        Trigger::Unavailable { count: had - has }
    } else {
        Trigger::Other
    }
}

/// Merges neighbouring steps until there are at most `max`.
pub fn condense(steps: &[RolloutStep], max: usize) -> Vec<RolloutStep> {
    if steps.len() <= max || max < 2 {
        return steps.to_vec();
    }
    // The first step is the change itself and is not merged.
    let (first, rest) = steps.split_at(1);
    let chunk = rest.len().div_ceil(max - 1);
    first.iter().cloned().chain(rest.chunks(chunk).filter_map(merge)).collect()
}

fn merge(steps: &[RolloutStep]) -> Option<RolloutStep> {
    let (first, last) = (steps.first()?, steps.last()?);
    let sizes = first.sizes.iter().zip(&last.sizes);
    let more = |step: &RolloutStep| match step.trigger {
        Trigger::Available { more, .. } => more,
        _ => 0,
    };
    let trigger = match (steps.iter().map(more).sum(), last.trigger) {
        (0, trigger) => trigger,
        (more, Trigger::Available { total, .. }) => Trigger::Available { more, total },
        (_, trigger) => trigger,
    };
    Some(RolloutStep {
        from: first.from,
        sizes: sizes.map(|(first, last)| Resize { before: first.before, after: last.after }).collect(),
        trigger,
        ..last.clone()
    })
}
