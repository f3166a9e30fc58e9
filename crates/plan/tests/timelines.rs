//! The steps and the summary of a recorded rollout.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::time::Duration;

use gantry_model::{Limit, ReplicaSet};
use gantry_plan::steps::{Resize, Trigger, condense, steps};
use gantry_plan::{Outage, Recorder, Summary, Timeline};
use gantry_testkit::{DeploymentBuilder as _, ReplicaSetBuilder as _, deployment, replica_set};

fn old(size: u16, available: u16) -> ReplicaSet {
    replica_set("old").image("old:1").size(size).available(available)
}

fn new(size: u16, available: u16) -> ReplicaSet {
    replica_set("new").size(size).available(available)
}

fn at(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// Four pods are replaced, one more at a time, at the given times.
fn rolled() -> Timeline {
    let web = deployment("web").size(4).rolling(Limit::Count(1), Limit::Count(1));
    let mut recorder = Recorder::new(Some(&web), [old(4, 4)]);
    recorder.set(at(0), new(1, 0));
    recorder.set(at(0), old(3, 3));
    recorder.set(at(0), new(2, 0));
    recorder.set(at(20), new(2, 2));
    recorder.set(at(20), old(1, 1));
    recorder.set(at(20), new(4, 2));
    recorder.set(at(45), new(4, 4));
    recorder.set(at(45), old(0, 0));
    recorder.finish()
}

#[test]
fn changes_of_one_time_are_one_sample_after_the_state_before_the_change() {
    let timeline = rolled();
    let times: Vec<_> = timeline.samples.iter().map(|sample| sample.at.as_secs()).collect();
    assert_eq!(times, [0, 0, 20, 45]);
    let sizes = |index: usize| timeline.samples[index].counts.iter().map(|it| it.size).collect::<Vec<_>>();
    assert_eq!([sizes(0), sizes(1), sizes(2), sizes(3)], [[4, 0], [3, 2], [1, 4], [0, 4]]);
    let is_new: Vec<_> = timeline.sets.iter().map(|set| set.is_new).collect();
    assert_eq!(is_new, [false, true]);
}

#[test]
fn the_summary_has_the_extremes() {
    let summary = Summary::of(&rolled(), at(60));
    assert_eq!(summary.complete_after, Some(at(45)));
    let fewest = summary.fewest_available;
    assert_eq!((fewest.value, fewest.at, fewest.lasted), (3, at(0), at(45)));
    assert_eq!(summary.most_pods.value, 5);
    assert_eq!(summary.outage, None);
}

#[test]
fn an_unfinished_rollout_is_not_complete() {
    let web = deployment("web").size(2).rolling(Limit::Count(1), Limit::Count(0));
    let mut recorder = Recorder::new(Some(&web), [old(2, 2)]);
    recorder.set(at(0), new(1, 0));
    let summary = Summary::of(&recorder.finish(), at(600));
    assert_eq!(summary.complete_after, None);
}

#[test]
fn an_outage_is_found_if_pods_were_available_before() {
    let web = deployment("web").size(2);
    let mut recorder = Recorder::new(Some(&web), [old(2, 2)]);
    recorder.set(at(1), old(0, 0));
    recorder.set(at(3), new(2, 0));
    recorder.set(at(30), new(2, 2));
    let summary = Summary::of(&recorder.finish(), at(40));
    assert_eq!(summary.outage, Some(Outage { from: at(1), until: Some(at(30)) }));
    let mut created = Recorder::new(Some(&web), []);
    created.set(at(0), new(2, 0));
    created.set(at(30), new(2, 2));
    assert_eq!(Summary::of(&created.finish(), at(40)).outage, None, "nothing was available before");
}

#[test]
fn steps_are_resizes_with_their_triggers() {
    let steps = steps(&rolled());
    let times: Vec<_> = steps.iter().map(|step| step.from.as_secs()).collect();
    assert_eq!(times, [0, 20, 45]);
    assert_eq!(steps[0].trigger, Trigger::Change);
    assert_eq!(steps[1].trigger, Trigger::Available { more: 2, total: 2 });
    assert_eq!(steps[1].sizes, [Resize { before: 3, after: 1 }, Resize { before: 2, after: 4 }]);
    assert_eq!(steps[2].trigger, Trigger::Available { more: 2, total: 4 });
}

#[test]
fn many_steps_are_merged_without_losing_sizes() {
    let web = deployment("web").size(100).rolling(Limit::Count(1), Limit::Count(0));
    let mut recorder = Recorder::new(Some(&web), [old(100, 100)]);
    for n in 0..100_u16 {
        recorder.set(at(n.into()), new(n + 1, n));
        recorder.set(at(n.into()), old(100 - n, 100 - n));
    }
    let all = steps(&recorder.finish());
    let few = condense(&all, 10);
    assert!(few.len() <= 10, "{}", few.len());
    assert_eq!(few[0], all[0], "the change itself is not merged");
    assert_eq!(
        few.last().unwrap().sizes,
        [
            Resize { before: few[few.len() - 2].sizes[0].after, after: 1 },
            Resize { before: few[few.len() - 2].sizes[1].after, after: 100 }
        ]
    );
}
