//! Scenarios with faults, checked after every write: a few seeds of `cargo xtask sim`, and those that found a defect.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use std::sync::Mutex;
use std::time::Duration;

use gantry_sim::scenario::{SimScenario, SimStep, TimedStep, play};
use gantry_sim::{Faults, SimScope};

/// The seeds that every test run plays.
const SEEDS: std::ops::Range<u64> = 1..13;

fn holds(scenario: &SimScenario) {
    if let Some((at, finding)) = play(scenario).violation {
        panic!(
            "after {:.3} s: {finding}\n{scenario}\nagain: cargo xtask sim --seed {}",
            at.as_secs_f64(),
            scenario.seed
        );
    }
}

fn at(seconds: u64, step: SimStep) -> TimedStep {
    TimedStep { at: Duration::from_secs(seconds), step }
}

fn at_millis(millis: u64, step: SimStep) -> TimedStep {
    TimedStep { at: Duration::from_millis(millis), step }
}

#[test]
fn no_rule_is_broken_by_any_of_these_seeds() {
    let next = Mutex::new(SEEDS);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let Some(seed) = next.lock().unwrap().next() else { return };
                    holds(&SimScenario::of_seed(seed));
                }
            });
        }
    });
}

/// A node did not report a pod any more after one patch of its status had conflicted, so that the rollout never ended.
#[test]
fn a_pod_becomes_ready_although_patches_of_its_status_conflict() {
    holds(&SimScenario {
        seed: 50,
        nodes: 2,
        replicas: 1,
        faults: Faults { delay_ms: 50, conflicts: 200, ..Faults::default() },
        steps: vec![
            at(4, SimStep::Create("api", 7)),
            at(60, SimStep::Scale("api", 3)),
            at(90, SimStep::Image("api", "app:2")),
        ],
        duration: Duration::from_secs(112),
        rest: Duration::from_mins(20),
        scope: SimScope::Everything,
        resolution: Duration::ZERO,
        deadline_seconds: None,
    });
}

/// The informer of the node showed its own report and that of the node controller at once.
#[test]
fn a_pod_becomes_ready_again_although_its_node_and_the_node_controller_report_at_the_same_time() {
    holds(&SimScenario {
        seed: 485,
        nodes: 2,
        replicas: 2,
        faults: Faults {
            delay_ms: 500,
            refused: 5,
            conflicts: 50,
            watch_delay_ms: 3000,
            stalled: 20,
            stall_seconds: 60,
            ..Faults::default()
        },
        steps: vec![
            at(26, SimStep::Create("web", 7)),
            at(292, SimStep::Crash(1, Duration::from_secs(27))),
            at(320, SimStep::Create("api", 4)),
            at(524, SimStep::Restart(0, Duration::from_secs(264))),
        ],
        duration: Duration::from_secs(608),
        rest: Duration::from_mins(20),
        scope: SimScope::Everything,
        resolution: Duration::ZERO,
        deadline_seconds: None,
    });
}

/// The second attempt to write the status of the deleted set wrote it to the new set of the same name.
#[test]
fn the_status_of_a_deleted_set_is_not_written_to_its_successor() {
    holds(&SimScenario {
        seed: 143,
        nodes: 2,
        replicas: 1,
        faults: Faults {
            delay_ms: 500,
            refused: 100,
            watch_delay_ms: 200,
            stalled: 20,
            stall_seconds: 60,
            ..Faults::default()
        },
        steps: vec![
            at_millis(69, SimStep::Create("web", 7)),
            at_millis(3_706, SimStep::Crash(0, Duration::from_millis(457))),
            at_millis(6_531, SimStep::Crash(0, Duration::from_millis(18))),
            at_millis(25_774, SimStep::Scale("web", 5)),
            at_millis(25_872, SimStep::Delete("web", "Background")),
            at_millis(28_085, SimStep::Create("web", 1)),
        ],
        duration: Duration::from_secs(90),
        rest: Duration::from_mins(2),
        scope: SimScope::Workloads,
        resolution: Duration::from_secs(1),
        deadline_seconds: None,
    });
}

/// The node observed the deletion of its pods while it had failed, and treated it as its own write when it was back.
#[test]
fn a_pod_that_is_deleted_while_its_node_has_failed_is_removed_when_it_is_back() {
    holds(&SimScenario {
        seed: 17_730,
        nodes: 2,
        replicas: 2,
        faults: Faults {
            delay_ms: 5,
            watch_delay_ms: 20,
            stalled: 5,
            stall_seconds: 60,
            ..Faults::default()
        },
        steps: vec![
            at_millis(219, SimStep::Create("web", 4)),
            at_millis(461, SimStep::Create("api", 3)),
            at_millis(548, SimStep::Delete("web", "Background")),
            at_millis(40_946, SimStep::FailNode(1, Duration::from_millis(74_933))),
        ],
        duration: Duration::from_secs(143),
        rest: Duration::from_mins(2),
        scope: SimScope::Workloads,
        resolution: Duration::ZERO,
        deadline_seconds: None,
    });
}

/// The response to the creation of the first set was lost, and the template changed before the cache showed the set.
#[test]
fn a_set_whose_creation_got_no_response_keeps_its_revision_for_itself() {
    holds(&SimScenario {
        seed: 42_877,
        nodes: 2,
        replicas: 1,
        faults: Faults {
            conflicts: 5,
            lost: 30,
            watch_delay_ms: 3000,
            stalled: 20,
            stall_seconds: 10,
            ..Faults::default()
        },
        steps: vec![
            at_millis(5_995, SimStep::Create("web", 1)),
            at_millis(10_042, SimStep::Create("api", 1)),
            at_millis(10_172, SimStep::Image("web", "app:3")),
            at_millis(10_860, SimStep::Image("api", "app:crash")),
            at_millis(12_492, SimStep::Image("api", "app:2")),
        ],
        duration: Duration::from_secs(137),
        rest: Duration::from_mins(2),
        scope: SimScope::Workloads,
        resolution: Duration::from_secs(5),
        deadline_seconds: None,
    });
}

#[test]
fn the_same_scenario_breaks_the_same_rule_at_the_same_time() {
    let scenario = SimScenario::of_seed(5);
    let (once, again) = (play(&scenario), play(&scenario));
    assert_eq!((once.writes, once.simulated), (again.writes, again.simulated));
}
