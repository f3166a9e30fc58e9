//! Plays the scenarios recorded on Kubernetes 1.37 on the shipped cluster in virtual time, and compares the snapshots
//! step by step.
//!
//! Without delays everything must be equal; with delayed watches and requests everything except the events, which
//! depend on the path.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod refusals;
mod snapshotter;

use std::sync::Mutex;
use std::thread;

use gantry_json::Value;
use gantry_sim::story::{Command, Player, no_files};
use gantry_sim::{Faults, SimOptions, simulate};
use gantry_testkit::recorded::{self, Scenario};

use snapshotter::Snapshotter;

/// The recorded parts of a step.
const PARTS: [&str; 6] = ["deployments", "sets", "pods", "events", "left", "error"];

/// The seeds of plays with delays.
const SEEDS: std::ops::Range<u64> = 1..3;

/// D20: every recorded scenario, each in a cluster of its own.
#[test]
fn the_controllers_act_as_recorded() {
    let all = recorded::scenarios();
    assert_eq!(all.len(), 49);
    let (next, differences) = (Mutex::new(all.iter()), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(|| {
                loop {
                    let Some(scenario) = next.lock().unwrap().next() else { return };
                    differences.lock().unwrap().extend(differences_of(scenario));
                }
            });
        }
    });
    let differences = differences.into_inner().unwrap();
    assert!(differences.is_empty(), "{} of them:\n{}", differences.len(), differences.join("\n"));
}

/// D20: invalid requests, and their error messages.
#[test]
fn invalid_requests_are_refused_as_recorded() {
    let snapshots = simulate(Player::options(), async |cluster| refusals::snapshots(cluster).await);
    assert_eq!(recorded::difference(&recorded::snapshots("invalid_objects"), &snapshots, &PARTS), None);
}

fn differences_of(scenario: &Scenario) -> Vec<String> {
    let name = &scenario.name;
    let calm = recorded::difference(&scenario.snapshots, &snapshots(scenario, 0, &Faults::default()), &PARTS);
    let delays = Faults { delay_ms: 5, watch_delay_ms: 40, ..Faults::default() };
    let delayed = SEEDS.filter_map(|seed| {
        let parts = ["deployments", "sets", "pods"];
        let difference =
            recorded::difference(&scenario.snapshots, &snapshots(scenario, seed, &delays), &parts);
        difference.map(|difference| format!("{name} with seed {seed}: {difference}"))
    });
    calm.map(|difference| format!("{name}: {difference}")).into_iter().chain(delayed).collect()
}

fn snapshots(scenario: &Scenario, seed: u64, faults: &Faults) -> Vec<Value> {
    simulate(SimOptions { seed, ..Player::options() }, async |cluster| {
        cluster.set_faults(faults.clone());
        let (mut player, mut snapshotter) = (Player::new(cluster, &no_files), Snapshotter::default());
        let mut snapshots = Vec::new();
        for step in &scenario.steps {
            let command = Command::parse(&step.command).unwrap();
            if command == Command::ReadyEach {
                while player.ready_one(None).await.unwrap() {
                    snapshots.push(snapshotter.snapshot(&mut player).await);
                }
                continue;
            }
            player.play(&command).await.unwrap();
            if step.has_snapshot {
                snapshots.push(snapshotter.snapshot(&mut player).await);
            }
        }
        snapshots
    })
}
