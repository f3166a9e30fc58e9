//! Random worlds: users, kubelets and controllers in any order, checked after every single sync.
//!
//! A failing case is printed as a story and can be played with `gantry simulate`; its seed is kept in
//! `properties.regressions` and tried first from then on. `PROPTEST_CASES=100000` searches longer.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on should say so and stop")]

use gantry_model::{Deployment, ReplicaSet};
use gantry_rng::Rng;
use gantry_sim::Interleaving;
use gantry_sim::story::{Command, Player};
use proptest::prelude::*;
use proptest::test_runner::{FailurePersistence, FileFailurePersistence};

/// One line of a random story.
fn line() -> impl Strategy<Value = String> {
    let limit =
        prop_oneof![(0..6u16).prop_map(|n| n.to_string()), (0..=150u16).prop_map(|p| format!("{p}%"))];
    let unavailable =
        prop_oneof![(0..6u16).prop_map(|n| n.to_string()), (0..=100u16).prop_map(|p| format!("{p}%"))];
    prop_oneof![
        3 => (1..4u8).prop_map(|version| format!("image nginx:{version}")),
        2 => (0..14u16).prop_map(|n| format!("scale {n}")),
        4 => (1..4usize).prop_map(|n| format!("ready {n}")),
        1 => Just("ready all".to_owned()),
        2 => (1..3usize).prop_map(|n| format!("unready {n}")),
        1 => (1..3usize).prop_map(|n| format!("fail {n}")),
        1 => Just("pause".to_owned()),
        1 => Just("resume".to_owned()),
        1 => Just("delete pod 1".to_owned()),
        1 => Just("change strategy=Recreate".to_owned()),
        1 => (limit, unavailable).prop_map(|(s, u)| format!("change surge={s} unavailable={u}")),
        1 => (0..3u16).prop_map(|n| format!("change history={n}")),
        1 => (0..4u16).prop_map(|n| format!("change min-ready={n}")),
        1 => (0..3u16).prop_map(|n| format!("rollback {n}")),
        1 => prop_oneof![Just("reap on".to_owned()), Just("reap off".to_owned()), Just("reap now".to_owned())],
        1 => (1..20u8).prop_map(|seconds| format!("wait {seconds}")),
        1 => Just("undo".to_owned()),
    ]
}

fn story() -> impl Strategy<Value = Vec<String>> {
    proptest::collection::vec(line(), 1..14).prop_map(|mut lines| {
        lines.insert(0, "deployment web replicas=5".to_owned());
        lines
    })
}

fn sets(player: &Player, deployment: &Deployment) -> Vec<ReplicaSet> {
    let owned = |set: &&ReplicaSet| set.meta.is_controlled_by(&deployment.meta.uid);
    player.world.cluster.replica_sets().filter(owned).cloned().collect()
}

/// Works sync by sync until nothing is due, and checks each.
fn work_and_check(player: &mut Player) -> Result<(), TestCaseError> {
    for syncs in 0.. {
        prop_assert!(syncs < 20_000, "the controllers run in a circle");
        let Some(before) = player.world.cluster.deployment("web").cloned() else { return Ok(()) };
        let sets_before = sets(player, &before);
        if !player.world.step() {
            return Ok(());
        }
        let Some(after) = player.world.cluster.deployment("web").cloned() else { return Ok(()) };
        let sets_after = sets(player, &after);
        let (b, a): (Vec<_>, Vec<_>) = (sets_before.iter().collect(), sets_after.iter().collect());
        let mut findings = gantry_check::rollout_step(&before, &b, &a);
        findings.extend(gantry_check::reported(&after, &a));
        prop_assert!(findings.is_empty(), "{}", findings[0]);
    }
    Ok(())
}

/// Plays a line without letting the world settle, then works sync by sync, with checks.
fn play_and_check(player: &mut Player, line: &str) -> Result<(), TestCaseError> {
    let command = Command::parse(line).unwrap();
    // What cannot be done now (an undo without history) is left out of the story.
    if player.act(&command).is_ok() {
        work_and_check(player)?;
        player.settle();
        work_and_check(player)?;
    }
    Ok(())
}

/// Failing seeds are kept beside this file.
fn kept() -> Box<dyn FailurePersistence> {
    Box::new(FileFailurePersistence::WithSource("regressions"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, max_shrink_iters: 4000, failure_persistence: Some(kept()), ..ProptestConfig::default() })]

    /// The sets' sizes never exceed N + S, no scale-down goes below N − U; and with healthy pods every world ends in
    /// a complete rollout in which nothing happens any more.
    #[test]
    fn any_story_stays_within_its_limits_and_ends_well(lines in story(), seed in any::<u64>()) {
        let mut player = Player::new(Interleaving::Random(Rng::new(seed)));
        for line in &lines {
            play_and_check(&mut player, line)?;
        }
        for line in ["change paused=false strategy=RollingUpdate", "reap on"] {
            play_and_check(&mut player, line)?;
        }
        for _ in 0..200 {
            play_and_check(&mut player, "ready all")?;
            play_and_check(&mut player, "wait 30")?;
            if player.unready(None).is_empty() {
                break;
            }
        }
        let Some(web) = player.world.cluster.deployment("web").cloned() else { return Ok(()) };
        let sets = sets(&player, &web);
        let pods: Vec<_> = player.world.cluster.pods().collect();
        let findings = gantry_check::rolled_out(&web, &sets.iter().collect::<Vec<_>>(), &pods);
        prop_assert!(findings.is_empty(), "{}\n{}", findings[0], player.record());
        let preview_decision = player.world.preview_decision("web").unwrap();
        prop_assert!(preview_decision.steps.is_empty() && preview_decision.waiting_on.is_empty(), "{preview_decision:?}");
    }

    /// The same story and seed give the same world, to the letter.
    #[test]
    fn the_same_story_goes_the_same_way(lines in story(), seed in any::<u64>()) {
        let event_log = || {
            let mut player = Player::new(Interleaving::Random(Rng::new(seed)));
            let played: Vec<_> = lines.iter().filter_map(|line| {
                let command = Command::parse(line).unwrap();
                player.play(&command).ok()?;
                Some(player.record())
            }).collect();
            played.join("\n")
        };
        prop_assert_eq!(event_log(), event_log());
    }
}
