//! The ReplicaSet controller over the simulated cluster.

use gantry_decide::Wake;
use gantry_decide::ownership::may_adopt;
use gantry_decide::queue::{self, RetryPolicy, WorkQueue};
use gantry_decide::replica_set::{
    Action, ControllerState, Decision, EVENT_SOURCE, ManageResult, Observed, PendingCreations,
    PendingDeletions, StatusWrite, SyncStart, classify_pods, creation_event, decide, deletion_event,
    is_choice_needed, related_pods, report, triggers,
};
use gantry_decide::written_versions::{CachedResource, ReadVersions};
use gantry_model::{Event, ObjectKey, Pod, Refusal, ReplicaSet, ReplicaSetStatus};

use super::EventLog;
use crate::cluster::{AnyWatchEvent, PlainCluster, Propagation, WatchEvent, WorkloadKind};

/// The ReplicaSet controller.
#[derive(Clone, Debug)]
pub(crate) struct ReplicaSets {
    pub(crate) queue: WorkQueue<ObjectKey>,
    state: ControllerState,
}

impl ReplicaSets {
    pub(crate) fn new() -> Self {
        Self { queue: WorkQueue::new(), state: ControllerState::default() }
    }

    pub(crate) fn watch(&mut self, change: &AnyWatchEvent, cluster: &PlainCluster) {
        let triggered = match change {
            AnyWatchEvent::Deployment(_) => return,
            AnyWatchEvent::ReplicaSet(change) => match &**change {
                WatchEvent::Added(set) => triggers::on_set_added(set),
                WatchEvent::Updated { old, new } => triggers::on_set_updated(old, new),
                WatchEvent::Deleted(set) => triggers::on_set_deleted(set),
            },
            AnyWatchEvent::Pod(change) => match &**change {
                WatchEvent::Added(pod) => triggers::on_pod_added(pod, cluster),
                WatchEvent::Updated { old, new } => triggers::on_pod_updated(old, new, cluster),
                WatchEvent::Deleted(pod) => triggers::on_pod_deleted(pod, cluster),
            },
        };
        for met in &triggered.met {
            self.state.lower(met);
        }
        for enqueue in triggered.enqueue {
            self.queue.add_after(enqueue.key, enqueue.after, cluster.now);
        }
    }

    /// Syncs one ReplicaSet that is due. Returns whether there was one.
    pub(crate) fn work(&mut self, cluster: &mut PlainCluster, event_log: &mut EventLog) -> bool {
        let now = cluster.now;
        let Some(key) = self.queue.next(now) else { return false };
        let outcome = match self.sync(cluster, event_log, &key) {
            Wake::OnChange => queue::Outcome::Success,
            Wake::Soon => queue::Outcome::Failure,
            Wake::After(delay) => {
                self.queue.add_after(key.clone(), delay, now);
                queue::Outcome::Success
            }
        };
        self.queue.finish(&key, outcome, RetryPolicy::REPLICA_SET, now);
        true
    }

    fn sync(&mut self, cluster: &mut PlainCluster, event_log: &mut EventLog, key: &ObjectKey) -> Wake {
        let now = cluster.now;
        let cached = cluster.sets.get(key).cloned();
        // The caches are the cluster itself, so they are never stale.
        let read = ReadVersions::from([
            (CachedResource::Pods, "0".into()),
            (CachedResource::ReplicaSets, "0".into()),
        ]);
        let Ok(SyncStart::Present(set, expectation_state)) =
            self.state.begin_sync(now, key, cached.as_ref(), &read)
        else {
            return Wake::OnChange;
        };
        let pods: Vec<Pod> = cluster.pods.iter().cloned().collect();
        let Ok(classified) = classify_pods(set, expectation_state, &pods) else { return Wake::OnChange };
        let live = cluster.meta(WorkloadKind::ReplicaSet, key);
        let refusal = may_adopt(&set.meta.uid, live).map_err(|refused| Refusal::other(refused.to_string()));
        let owner = set.reference();
        let mut adoptions = Vec::new();
        for pod in &classified.claims.adopt {
            if refusal.is_ok() {
                cluster.adopt(WorkloadKind::Pod, &pod.meta.key(), owner.clone());
            }
            adoptions.push((*pod, refusal.clone()));
        }
        let mut releases = Vec::new();
        for pod in &classified.claims.release {
            cluster.release(WorkloadKind::Pod, &pod.meta.key(), &set.meta.uid);
            releases.push((*pod, Ok(())));
        }
        let Ok(mut observed) = classified.claimed(adoptions, releases) else { return Wake::Soon };
        let sets: Vec<ReplicaSet> = cluster.sets.iter().cloned().collect();
        if is_choice_needed(set, observed.active.len()) {
            observed.related = related_pods(set, &sets, &pods);
        }
        let decision = decide(now, &observed);
        let manage_result = self.manage(cluster, event_log, &observed, &decision);
        let report = report(now, &observed, &decision, &manage_result);
        if let StatusWrite::Put(status) = &report.status {
            cluster.update_status(key, |set: &mut ReplicaSet| {
                set.status = ReplicaSetStatus::parse(status.render());
            });
        }
        report.wake(now)
    }

    fn manage(
        &mut self,
        cluster: &mut PlainCluster,
        event_log: &mut EventLog,
        observed: &Observed<'_>,
        decision: &Decision,
    ) -> ManageResult {
        let set = observed.set;
        let key = set.meta.key();
        decision.action.set_expectations(cluster.now, &key, &mut self.state.expectations);
        let record = |cluster: &PlainCluster, event_log: &mut EventLog, event: Option<Event>| {
            if let Some(event) = event {
                event_log.record(cluster.now, EVENT_SOURCE, WorkloadKind::ReplicaSet, &set.meta, &event);
            }
        };
        let manage_result = match &decision.action {
            Action::Nothing => ManageResult::nothing(),
            Action::CannotCreate(no_labels) => ManageResult::impossible(*no_labels),
            Action::Create { count, draft } => {
                event_log.trace_step(format!("{}: create {count} pods", key.name));
                let mut creating = PendingCreations::new(key.clone(), *count);
                while let Some(batch) = creating.batch() {
                    let answers: Vec<_> = (0..batch).map(|_| cluster.create_drafted_pod(draft)).collect();
                    for answer in &answers {
                        record(cluster, event_log, creation_event(answer));
                    }
                    creating.completed(answers);
                }
                creating.finish()
            }
            Action::Delete { pods } => {
                event_log.trace_step(format!("{}: delete {} pods", key.name, pods.len()));
                let mut deleting = PendingDeletions::new(key.clone());
                for pod in pods {
                    cluster.delete(WorkloadKind::Pod, pod, Propagation::Background);
                    record(cluster, event_log, deletion_event(&pod.name, &Ok(())));
                    deleting.answered(pod, Ok(()));
                }
                deleting.finish()
            }
        };
        for met in &manage_result.met {
            self.state.lower(met);
        }
        manage_result
    }
}
