//! The Deployment controller over the simulated cluster.

use gantry_decide::Wake;
use gantry_decide::deployment::{
    Action, Decision, EVENT_SOURCE, IfRefused, Observed, RefusedStep, Repairs, SyncError, SyncResult, decide,
    triggers,
};
use gantry_decide::ownership::{claim, may_adopt};
use gantry_decide::queue::{self, RetryPolicy, WorkQueue};
use gantry_model::{
    Deployment, DeploymentStatus, ObjectKey, OwnerReference, Pod, ReplicaSet, Selector, Strategy, keys,
};

use super::EventLog;
use crate::cluster::{AnyWatchEvent, PlainCluster, Propagation, WatchEvent, WorkloadKind};

/// The Deployment controller.
#[derive(Clone, Debug)]
pub(crate) struct Deployments {
    pub(crate) queue: WorkQueue<ObjectKey>,
}

impl Deployments {
    pub(crate) fn new() -> Self {
        Self { queue: WorkQueue::new() }
    }

    pub(crate) fn watch(&mut self, change: &AnyWatchEvent, cluster: &PlainCluster) {
        let keys = match change {
            AnyWatchEvent::Deployment(change) => match &**change {
                WatchEvent::Added(deployment)
                | WatchEvent::Updated { new: deployment, .. }
                | WatchEvent::Deleted(deployment) => vec![triggers::on_deployment(deployment)],
            },
            AnyWatchEvent::ReplicaSet(change) => match &**change {
                WatchEvent::Added(set) => triggers::on_set_added(set, cluster),
                WatchEvent::Updated { old, new } => triggers::on_set_updated(old, new, cluster),
                WatchEvent::Deleted(set) => triggers::on_set_deleted(set, cluster),
            },
            AnyWatchEvent::Pod(change) => match &**change {
                WatchEvent::Deleted(pod) => triggers::on_pod_deleted(pod, cluster).into_iter().collect(),
                WatchEvent::Added(_) | WatchEvent::Updated { .. } => Vec::new(),
            },
        };
        for key in keys {
            self.queue.add(key, cluster.now);
        }
    }

    /// Syncs one Deployment that is due. Returns whether there was one.
    pub(crate) fn work(&mut self, cluster: &mut PlainCluster, event_log: &mut EventLog) -> bool {
        let now = cluster.now;
        let Some(key) = self.queue.next(now) else { return false };
        let outcome = match sync(cluster, event_log, &key) {
            Some(decision) => {
                match decision.wake {
                    Wake::OnChange => {}
                    Wake::Soon => {
                        self.queue.add_rate_limited(key.clone(), now);
                    }
                    Wake::After(delay) => self.queue.add_after(key.clone(), delay, now),
                }
                match decision.result {
                    SyncResult::Done => queue::Outcome::Success,
                    SyncResult::Failed(SyncError::NamespaceTerminating) => {
                        queue::Outcome::NamespaceTerminating
                    }
                    SyncResult::Failed(_) => queue::Outcome::Failure,
                }
            }
            None => queue::Outcome::Success,
        };
        self.queue.finish(&key, outcome, RetryPolicy::DEPLOYMENT, now);
        true
    }
}

/// What would be decided about a Deployment if it were looked at now.
pub(crate) fn preview_decision(
    cluster: &PlainCluster,
    key: &ObjectKey,
    refused: Option<RefusedStep>,
) -> Option<Decision> {
    let deployment = cluster.deployments.get(key)?;
    let sets: Vec<&ReplicaSet> = match usable_selector(deployment) {
        Some(selector) => claim(&deployment.meta, selector, cluster.sets.iter()).owned,
        None => Vec::new(),
    };
    let pods: Vec<&Pod> = match deployment.strategy {
        Strategy::Recreate => cluster.pods.iter().collect(),
        Strategy::RollingUpdate(_) | Strategy::Unknown(_) => Vec::new(),
    };
    Some(decide(
        cluster.now,
        &Observed { deployment, sets: &sets, pods: &pods, refused, repairs: Repairs::default() },
    ))
}

/// Syncs one Deployment: claim, decide, carry out; and again where a refusal has to be decided on.
fn sync(cluster: &mut PlainCluster, event_log: &mut EventLog, key: &ObjectKey) -> Option<Decision> {
    claim_sets(cluster, key);
    let mut refused = None;
    loop {
        let decision = preview_decision(cluster, key, refused.take())?;
        match carry_out(cluster, event_log, key, &decision) {
            Ok(()) => return Some(decision),
            Err(step) => refused = Some(step),
        }
    }
}

fn usable_selector(deployment: &Deployment) -> Option<&Selector> {
    deployment.selector.as_ref().ok().filter(|selector| **selector != Selector::Everything)
}

fn claim_sets(cluster: &mut PlainCluster, key: &ObjectKey) {
    let Some(deployment) = cluster.deployments.get(key).cloned() else { return };
    let Some(selector) = usable_selector(&deployment) else { return };
    let claims = claim(&deployment.meta, selector, cluster.sets.iter());
    let adopt: Vec<_> = claims.adopt.iter().map(|set| set.meta.key()).collect();
    let release: Vec<_> = claims.release.iter().map(|set| set.meta.key()).collect();
    let owner = OwnerReference::to_controller(keys::APPS_V1, keys::DEPLOYMENT, &deployment.meta);
    if may_adopt(&deployment.meta.uid, cluster.meta(WorkloadKind::Deployment, key)).is_ok() {
        for set in adopt {
            cluster.adopt(WorkloadKind::ReplicaSet, &set, owner.clone());
        }
    }
    for set in release {
        cluster.release(WorkloadKind::ReplicaSet, &set, &deployment.meta.uid);
    }
}

/// Carries out the steps in order, up to one whose refusal has to be decided on.
fn carry_out(
    cluster: &mut PlainCluster,
    event_log: &mut EventLog,
    key: &ObjectKey,
    decision: &Decision,
) -> Result<(), RefusedStep> {
    for step in &decision.steps {
        event_log.trace_step(format!("{}: {}", key.name, step.action));
        match &step.action {
            Action::CreateReplicaSet(draft) => {
                let name = PlainCluster::key(draft.name.as_str());
                let created = cluster.create_drafted_set((**draft).clone());
                if let (Err(refusal), IfRefused::DecideOnCreate) = (created, step.if_refused) {
                    let existing = cluster.sets.get(&name).cloned().map(Box::new);
                    return Err(RefusedStep::CreateRefused { refusal, existing });
                }
            }
            Action::UpdateReplicaSet { set, edit, .. } => {
                cluster.update(&PlainCluster::key(set.as_str()), |set: &mut ReplicaSet| {
                    set.replicas = edit.replicas;
                    set.min_ready_seconds = edit.min_ready_seconds;
                    set.meta.annotations.clone_from(&edit.annotations);
                });
            }
            Action::DeleteReplicaSet { set } => {
                let set = PlainCluster::key(set.as_str());
                cluster.delete(WorkloadKind::ReplicaSet, &set, Propagation::Background);
            }
            Action::UpdateStatus { status, revision } => {
                cluster.update_status(key, |deployment: &mut Deployment| {
                    deployment.status = truncated(status);
                    if let Some(revision) = revision {
                        deployment.meta.annotations.insert(keys::REVISION.to_owned(), revision.clone());
                    }
                });
            }
            Action::UpdateDeployment(edit) => cluster.update(key, |deployment: &mut Deployment| {
                deployment.meta.annotations.clone_from(&edit.annotations);
                if let Some(template) = &edit.template {
                    deployment.template = template.clone();
                }
            }),
            Action::Emit(event) => {
                if let Some(deployment) = cluster.deployments.get(key) {
                    event_log.record(
                        cluster.now,
                        EVENT_SOURCE,
                        WorkloadKind::Deployment,
                        &deployment.meta,
                        event,
                    );
                }
            }
        }
    }
    Ok(())
}

/// A status as it comes back from the wire, which cuts times to whole seconds.
fn truncated(status: &DeploymentStatus) -> DeploymentStatus {
    DeploymentStatus::parse(status.render())
}

#[cfg(test)]
mod tests {
    use gantry_model::Timestamp;

    use super::*;

    /// D3.1, D1.1: the key of a Deployment that is gone is worked on once, to no effect, and not tried again.
    #[test]
    fn a_deployment_that_is_gone_needs_nothing() {
        let (mut deployments, mut event_log) = (Deployments::new(), EventLog::new());
        let mut cluster = PlainCluster::new(Timestamp::from_secs(0));
        deployments.queue.add(PlainCluster::key("gone"), cluster.now);
        assert!(deployments.work(&mut cluster, &mut event_log), "it is looked at");
        assert_eq!(deployments.queue.next_wake(), None, "and that is all");
        assert!(event_log.trace.is_empty() && cluster.take_changes().is_empty());
    }
}
