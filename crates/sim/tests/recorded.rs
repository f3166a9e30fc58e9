//! What Kubernetes 1.37 did, recorded, and what the rules do in virtual time: the same snapshots, step by step.
//!
//! `recorded/scenarios.txt` says what was played; beside it are the snapshots that were taken of a real
//! kube-apiserver, etcd and kube-controller-manager. With controllers that take turns in step, everything must be the
//! same; with controllers that take turns as the dice fall, everything but the events, which tell the way that was
//! taken.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on should say so and stop")]
#![allow(clippy::disallowed_methods, reason = "the texts to compare with are files")]

use std::path::Path;

use gantry_sim::snapshot::Camera;
use gantry_sim::story::{Command, Player};
use gantry_sim::{Dice, Turns};
use serde_json::Value;

const SEEDS: u64 = 16;

/// D20: every recorded scenario, with every seed.
#[test]
fn the_rules_do_what_kubernetes_did() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded");
    let scenarios = std::fs::read_to_string(folder.join("scenarios.txt")).unwrap();
    let mut differences = Vec::new();
    let mut played = 0;
    for scenario in scenarios.split("\n== ").skip(1) {
        let (name, commands) = scenario.split_once('\n').unwrap();
        let recorded: Vec<Value> =
            serde_json::from_str(&std::fs::read_to_string(folder.join(format!("{name}.json"))).unwrap())
                .unwrap();
        if let Err(difference) =
            compare(commands, &recorded, Turns::InStep, &["deployments", "sets", "pods", "events"])
        {
            differences.push(format!("{name}: {difference}"));
        }
        for seed in 0..SEEDS {
            played += 1;
            let turns = Turns::Shuffled(Dice::new(seed));
            if let Err(difference) = compare(commands, &recorded, turns, &["deployments", "sets", "pods"]) {
                differences.push(format!("{name} with seed {seed}: {difference}"));
                break;
            }
        }
    }
    assert!(differences.is_empty(), "{} of them:\n{}", differences.len(), differences.join("\n"));
    assert_eq!(played, 49 * SEEDS, "every scenario was played with every seed");
}

fn compare(commands: &str, recorded: &[Value], turns: Turns, parts: &[&str]) -> Result<(), String> {
    let snapshots = snapshots(commands, turns)?;
    for (step, (kubernetes, here)) in recorded.iter().zip(&snapshots).enumerate() {
        for part in parts {
            if kubernetes[part] != here[part] {
                return Err(format!(
                    "step {step} ({}), {part}\n  kubernetes: {}\n  here:       {}",
                    kubernetes["step"], kubernetes[part], here[part]
                ));
            }
        }
    }
    if recorded.len() == snapshots.len() {
        Ok(())
    } else {
        Err(format!("{} steps there, {} here", recorded.len(), snapshots.len()))
    }
}

fn snapshots(commands: &str, turns: Turns) -> Result<Vec<Value>, String> {
    let (mut player, mut camera) = (Player::new(turns), Camera::default());
    let mut snapshots = Vec::new();
    for line in commands.lines().filter(|line| !line.trim().is_empty()) {
        let (line, is_shown) = line.strip_prefix('-').map_or((line, true), |line| (line, false));
        let command = Command::parse(line)?;
        if matches!(command, Command::Drain) {
            while !player.unready(None).is_empty() {
                player.play(&Command::Ready(Some(1), None))?;
                snapshots.push(camera.snapshot(&player));
            }
        } else {
            player.play(&command)?;
            if is_shown {
                snapshots.push(camera.snapshot(&player));
            }
        }
    }
    Ok(snapshots)
}
