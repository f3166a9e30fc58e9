//! Plays the scenarios recorded on Kubernetes 1.37 with the rules in virtual time, and compares the snapshots step by
//! step.
//!
//! With controllers in a fixed order everything must be the same; in random order everything but the events, which
//! depend on the path.

use gantry_json::Value;
use gantry_rng::Rng;
use gantry_sim::Interleaving;
use gantry_sim::snapshot::Snapshotter;
use gantry_sim::story::{Command, Player};
use gantry_testkit::recorded::{self, Scenario};

const SEEDS: u64 = 16;

/// D20: every recorded scenario, with every seed.
#[test]
fn the_rules_do_what_kubernetes_did() {
    let mut differences = Vec::new();
    let mut played = 0;
    for scenario in recorded::scenarios() {
        let name = &scenario.name;
        let parts = ["deployments", "sets", "pods", "events"];
        if let Some(difference) = compare(&scenario, Interleaving::FixedOrder, &parts) {
            differences.push(format!("{name}: {difference}"));
        }
        for seed in 0..SEEDS {
            played += 1;
            let interleaving = Interleaving::Random(Rng::new(seed));
            if let Some(difference) = compare(&scenario, interleaving, &["deployments", "sets", "pods"]) {
                differences.push(format!("{name} with seed {seed}: {difference}"));
                break;
            }
        }
    }
    assert!(differences.is_empty(), "{} of them:\n{}", differences.len(), differences.join("\n"));
    assert_eq!(played, 49 * SEEDS, "every scenario was played with every seed");
}

fn compare(scenario: &Scenario, interleaving: Interleaving, parts: &[&str]) -> Option<String> {
    match snapshots(scenario, interleaving) {
        Ok(snapshots) => recorded::difference(&scenario.snapshots, &snapshots, parts),
        Err(problem) => Some(problem),
    }
}

fn snapshots(scenario: &Scenario, interleaving: Interleaving) -> Result<Vec<Value>, String> {
    let (mut player, mut camera) = (Player::new(interleaving), Snapshotter::default());
    let mut snapshots = Vec::new();
    for step in &scenario.steps {
        let command = Command::parse(&step.command)?;
        if matches!(command, Command::Drain) {
            while !player.unready(None).is_empty() {
                player.play(&Command::Ready(Some(1), None))?;
                snapshots.push(camera.snapshot(&player));
            }
        } else {
            player.play(&command)?;
            if step.has_snapshot {
                snapshots.push(camera.snapshot(&player));
            }
        }
    }
    Ok(snapshots)
}
