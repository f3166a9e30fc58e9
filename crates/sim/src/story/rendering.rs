//! Renders the steps and the state, in a few lines.

use std::fmt::Write;

use gantry_decide::deployment::{Deadline, Decision, Observed, Repairs, decide, revision_of};
use gantry_json::Value;
use gantry_model::{Deployment, DeploymentCondition, Pod, ReplicaSet, Strategy, Timestamp};
use gantry_runtime::Decode;
use k8s_openapi::api::core::v1 as core;

use super::player::Player;

/// The objects of the namespace.
struct Objects {
    now: Timestamp,
    deployments: Vec<Deployment>,
    /// The sets in the order in which they first appeared.
    sets: Vec<ReplicaSet>,
    pods: Vec<Pod>,
}

/// Renders the steps and the state of the cluster, with short names.
pub(super) async fn render(player: &mut Player<'_>, steps: &[String]) -> Result<String, String> {
    let objects = Objects {
        now: player.cluster.now(),
        deployments: parsed(&player.list("deployments").await?, Deployment::parse),
        sets: parsed(&player.sets().await?, ReplicaSet::parse),
        pods: parsed(&player.list("pods").await?, |pod: core::Pod| Pod::parse(&pod)),
    };
    let mut text = String::new();
    for step in steps {
        let _ = writeln!(text, "{step}");
    }
    for deployment in &objects.deployments {
        objects.render_deployment(deployment, &mut text);
    }
    for set in objects.sets.iter().filter(|set| set.meta.controller().is_none()) {
        let _ = writeln!(text, "  {} (no owner)", objects.set_state(set));
    }
    let orphans = objects.pods.iter().filter(|pod| pod.meta.controller().is_none()).count();
    if orphans > 0 {
        let _ = writeln!(text, "  {orphans} pods without an owner");
    }
    let deployment_name = player.deployment_name.as_deref().unwrap_or("set");
    Ok(player.shorten(&text, |index| format!("{deployment_name}-{}", index + 1)))
}

/// Parses objects; the server has checked them.
fn parsed<W: Decode, T, E>(objects: &[Value], parse: impl Fn(W) -> Result<T, E>) -> Vec<T> {
    let one = |object: &Value| parse(W::decode_value(object).ok()?).ok();
    objects.iter().filter_map(one).collect()
}

impl Objects {
    fn render_deployment(&self, deployment: &Deployment, text: &mut String) {
        let status = &deployment.status;
        let conditions: Vec<_> = status.conditions.iter().map(condition).collect();
        let deleting = if deployment.meta.is_deleting() { ", being deleted" } else { "" };
        let _ = writeln!(
            text,
            "{}: {} pods, {} desired, {} updated, {} ready, {} available{deleting}; {}",
            deployment.meta.name,
            status.replicas,
            deployment.replicas,
            status.updated,
            status.ready,
            status.available,
            conditions.join(", "),
        );
        for set in self.owned_sets(deployment) {
            let new = if set.template == deployment.template { "*" } else { " " };
            let _ = writeln!(text, " {new}{}", self.set_state(set));
        }
        let decision = self.next_decision(deployment);
        for reason in &decision.waiting_on {
            let _ = writeln!(text, "  waits: {reason}");
        }
        match decision.deadline {
            Deadline::None => {}
            Deadline::At(at) => {
                let _ = writeln!(text, "  deadline in {} s", at.since(self.now).as_secs_f64().ceil());
            }
            Deadline::Exceeded => text.push_str("  deadline exceeded\n"),
        }
    }

    /// The decision about a Deployment if it were synced now.
    fn next_decision(&self, deployment: &Deployment) -> Decision {
        let sets: Vec<&ReplicaSet> = self.owned_sets(deployment).collect();
        let pods: Vec<&Pod> = match deployment.strategy {
            Strategy::Recreate => self.pods.iter().collect(),
            Strategy::RollingUpdate(_) | Strategy::Unknown(_) => Vec::new(),
        };
        let repairs = Repairs::default();
        decide(self.now, &Observed { deployment, sets: &sets, pods: &pods, refused: None, repairs })
    }

    fn owned_sets(&self, deployment: &Deployment) -> impl Iterator<Item = &ReplicaSet> {
        self.sets.iter().filter(|set| set.meta.is_controlled_by(&deployment.meta.uid))
    }

    fn set_state(&self, set: &ReplicaSet) -> String {
        let pods = || self.pods.iter().filter(|pod| pod.meta.is_controlled_by(&set.meta.uid));
        let active = pods().filter(|pod| pod.is_active()).count();
        let ready = pods().filter(|pod| pod.is_active() && pod.is_ready()).count();
        let terminating = pods().filter(|pod| pod.is_terminating()).count();
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
}

fn condition(condition: &DeploymentCondition) -> String {
    format!("{}={} {}", condition.condition_type.as_str(), condition.status.as_str(), condition.reason)
}
