//! The ReplicaSet controller over the simulated cluster.

use gantry_decide::Wake;
use gantry_decide::ownership::may_adopt;
use gantry_decide::queue::{self, RetryPolicy, WorkQueue};
use gantry_decide::replica_set::{
    Action, Begun, Creating, Decision, Deleting, EVENT_SOURCE, Managed, Memory, Observed, StatusWrite,
    consider, creation_event, decide, deletion_event, is_choice_needed, related_pods, report, triggers,
};
use gantry_decide::written_versions::{ReadVersions, Resource};
use gantry_model::{Event, ObjectKey, Pod, Refusal, ReplicaSet, ReplicaSetStatus};

use super::Telling;
use crate::cluster::{Change, Cluster, Kind, Propagation, Watched};

/// The ReplicaSet controller.
#[derive(Clone, Debug)]
pub(crate) struct ReplicaSets {
    pub(crate) queue: WorkQueue<ObjectKey>,
    memory: Memory,
}

impl ReplicaSets {
    pub(crate) fn new() -> Self {
        Self { queue: WorkQueue::new(), memory: Memory::default() }
    }

    pub(crate) fn watch(&mut self, change: &Change, cluster: &Cluster) {
        let triggered = match change {
            Change::Deployment(_) => return,
            Change::ReplicaSet(change) => match &**change {
                Watched::Added(set) => triggers::on_set_added(set),
                Watched::Updated { old, new } => triggers::on_set_updated(old, new),
                Watched::Deleted(set) => triggers::on_set_deleted(set),
            },
            Change::Pod(change) => match &**change {
                Watched::Added(pod) => triggers::on_pod_added(pod, cluster),
                Watched::Updated { old, new } => triggers::on_pod_updated(old, new, cluster),
                Watched::Deleted(pod) => triggers::on_pod_deleted(pod, cluster),
            },
        };
        for settled in &triggered.settled {
            self.memory.settle(settled);
        }
        for enqueue in triggered.enqueue {
            self.queue.add_after(enqueue.key, enqueue.after, cluster.now);
        }
    }

    /// Syncs one ReplicaSet that is due. Returns whether there was one.
    pub(crate) fn work(&mut self, cluster: &mut Cluster, telling: &mut Telling) -> bool {
        let now = cluster.now;
        let Some(key) = self.queue.next(now) else { return false };
        let outcome = match self.sync(cluster, telling, &key) {
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

    fn sync(&mut self, cluster: &mut Cluster, telling: &mut Telling, key: &ObjectKey) -> Wake {
        let now = cluster.now;
        let cached = cluster.sets.get(key).cloned();
        // The caches are the cluster itself, so the staleness guard has nothing to compare.
        let read = ReadVersions::from([(Resource::Pods, "0".into()), (Resource::ReplicaSets, "0".into())]);
        let Ok(Begun::Present(set, standing)) = self.memory.begin(now, key, cached.as_ref(), &read) else {
            return Wake::OnChange;
        };
        let pods: Vec<Pod> = cluster.pods.iter().cloned().collect();
        let Ok(considered) = consider(set, standing, &pods) else { return Wake::OnChange };
        let live = cluster.meta(Kind::ReplicaSet, key);
        let refusal = may_adopt(&set.meta.uid, live).map_err(|refused| Refusal::other(refused.to_string()));
        let owner = set.reference();
        let mut adoptions = Vec::new();
        for pod in &considered.claims.adopt {
            if refusal.is_ok() {
                cluster.adopt(Kind::Pod, &pod.meta.key(), owner.clone());
            }
            adoptions.push((*pod, refusal.clone()));
        }
        let mut releases = Vec::new();
        for pod in &considered.claims.release {
            cluster.release(Kind::Pod, &pod.meta.key(), &set.meta.uid);
            releases.push((*pod, Ok(())));
        }
        let Ok(mut observed) = considered.claimed(adoptions, releases) else { return Wake::Soon };
        let sets: Vec<ReplicaSet> = cluster.sets.iter().cloned().collect();
        if is_choice_needed(set, observed.active.len()) {
            observed.related = related_pods(set, &sets, &pods);
        }
        let decision = decide(now, &observed);
        let managed = self.manage(cluster, telling, &observed, &decision);
        let report = report(now, &observed, &decision, &managed);
        if let StatusWrite::Put(status) = &report.status {
            cluster.update_status(key, |set: &mut ReplicaSet| {
                set.status = ReplicaSetStatus::parse(status.render());
            });
        }
        report.wake(now)
    }

    fn manage(
        &mut self,
        cluster: &mut Cluster,
        telling: &mut Telling,
        observed: &Observed<'_>,
        decision: &Decision,
    ) -> Managed {
        let set = observed.set;
        let key = set.meta.key();
        decision.action.announce(cluster.now, &key, &mut self.memory.expectations);
        let tell = |cluster: &Cluster, telling: &mut Telling, event: Option<Event>| {
            if let Some(event) = event {
                telling.tell(cluster.now, EVENT_SOURCE, Kind::ReplicaSet, &set.meta, &event);
            }
        };
        let managed = match &decision.action {
            Action::Nothing => Managed::nothing(),
            Action::CannotCreate(no_labels) => Managed::impossible(*no_labels),
            Action::Create { count, draft } => {
                telling.note(format!("{}: create {count} pods", key.name));
                let mut creating = Creating::new(key.clone(), *count);
                while let Some(batch) = creating.batch() {
                    let answers: Vec<_> = (0..batch).map(|_| cluster.create_drafted_pod(draft)).collect();
                    for answer in &answers {
                        tell(cluster, telling, creation_event(answer));
                    }
                    creating.completed(answers);
                }
                creating.finish()
            }
            Action::Delete { pods } => {
                telling.note(format!("{}: delete {} pods", key.name, pods.len()));
                let mut deleting = Deleting::new(key.clone());
                for pod in pods {
                    cluster.delete(Kind::Pod, pod, Propagation::Background);
                    tell(cluster, telling, deletion_event(&pod.name, &Ok(())));
                    deleting.answered(pod, Ok(()));
                }
                deleting.finish()
            }
        };
        for settled in &managed.settled {
            self.memory.settle(settled);
        }
        managed
    }
}
