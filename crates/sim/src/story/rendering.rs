//! The steps and the state, in a few lines.

use std::fmt::Write;

use gantry_decide::deployment::{Deadline, revision_of};
use gantry_model::{Deployment, DeploymentCondition, Pod, ReplicaSet, Timestamp};

use super::player::Player;

/// Steps that the state below shows as well.
const HIDDEN: [&str; 3] = ["report ", "event Normal ScalingReplicaSet", "annotate "];

pub(super) fn render(player: &Player, trace: &[String]) -> String {
    let mut text = String::new();
    for line in trace {
        let step = line.split_once(": ").map_or(line.as_str(), |(_, step)| step);
        let is_about_pods = line.ends_with(" pods");
        if !is_about_pods && !HIDDEN.iter().any(|hidden| step.starts_with(hidden)) {
            let _ = writeln!(text, "{}", if line.starts_with("gc: ") { line } else { step });
        }
    }
    for deployment in player.world.cluster.deployments() {
        state(player, deployment, &mut text);
    }
    for set in player.names.sets(&player.world.cluster) {
        if set.meta.controller().is_none() {
            let _ = writeln!(text, "  {} (no owner)", set_state(player, set));
        }
    }
    let orphans = player.world.cluster.pods().filter(|pod| pod.meta.controller().is_none()).count();
    if orphans > 0 {
        let _ = writeln!(text, "  {orphans} pods without an owner");
    }
    let deployment_name = player.deployment_name.as_deref().unwrap_or("set");
    player.names.shorten(&text, |index| format!("{deployment_name}-{}", index + 1))
}

fn state(player: &Player, deployment: &Deployment, text: &mut String) {
    let status = &deployment.status;
    let conditions: Vec<_> = status.conditions.iter().map(condition).collect();
    let deleting = if deployment.meta.is_deleting() { ", being deleted" } else { "" };
    let _ = writeln!(
        text,
        "{} wants {}: {} pods, {} updated, {} ready, {} available{deleting}; {}",
        deployment.meta.name,
        deployment.replicas,
        status.replicas,
        status.updated,
        status.ready,
        status.available,
        conditions.join(", "),
    );
    let owned = |set: &&ReplicaSet| set.meta.is_controlled_by(&deployment.meta.uid);
    for set in player.names.sets(&player.world.cluster).into_iter().filter(owned) {
        let new = if set.template == deployment.template { "*" } else { " " };
        let _ = writeln!(text, " {new}{}", set_state(player, set));
    }
    let Some(preview_decision) = player.world.preview_decision(deployment.meta.name.as_str()) else { return };
    for reason in &preview_decision.waiting_on {
        let _ = writeln!(text, "  waits: {reason}");
    }
    match preview_decision.deadline {
        Deadline::None => {}
        Deadline::At(at) => {
            let _ = writeln!(text, "  deadline in {}", seconds_until(player.world.now(), at));
        }
        Deadline::Exceeded => text.push_str("  deadline exceeded\n"),
    }
}

fn set_state(player: &Player, set: &ReplicaSet) -> String {
    let pods = player.world.cluster.pods().filter(|pod| pod.meta.is_controlled_by(&set.meta.uid));
    let pods: Vec<&Pod> = pods.collect();
    let active = pods.iter().filter(|pod| pod.is_active()).count();
    let ready = pods.iter().filter(|pod| pod.is_active() && pod.is_ready()).count();
    let terminating = pods.iter().filter(|pod| pod.is_terminating()).count();
    let mut line = format!("{} {}/{} ready of {}", set.meta.name, ready, active, set.replicas);
    if terminating > 0 {
        let _ = write!(line, ", {terminating} terminating");
    }
    if let Some(revision) = revision_of(&set.meta.annotations).filter(|revision| *revision > 0) {
        let _ = write!(line, ", revision {revision}");
    }
    if set.meta.is_deleting() {
        line.push_str(", being deleted");
    }
    if let Some(failure) = set.status.replica_failure() {
        let _ = write!(line, ", {}", failure.reason);
    }
    line
}

fn condition(condition: &DeploymentCondition) -> String {
    format!("{}={} {}", condition.condition_type.as_str(), condition.status.as_str(), condition.reason)
}

fn seconds_until(now: Timestamp, at: Timestamp) -> String {
    let left = at.since(now).as_secs_f64().ceil();
    format!("{left} s")
}
