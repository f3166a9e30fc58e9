//! The garbage collector over the simulated cluster.

use gantry_decide::gc::attempt::{DeleteResult, PatchResult, ReadResult};
use gantry_decide::gc::orphan::{self, Orphaning};
use gantry_decide::gc::{
    AbsentOwners, AttemptAction, AttemptContext, AttemptResult, AttemptStep, EVENT_SOURCE, Effect,
    EnqueueMode, Graph, GraphChange, ItemDisposition, KindLookup, QueueItem, ResourceScope, attempt,
};
use gantry_decide::queue::WorkQueue;
use gantry_model::patch::MetadataPatch;
use gantry_model::{Identity, Meta, Uid};

use super::EventLog;
use crate::cluster::{self, AnyWatchEvent, PlainCluster, WatchEvent, WorkloadKind};

/// The garbage collector.
#[derive(Clone, Debug)]
pub(crate) struct Garbage {
    graph: Graph,
    absent: AbsentOwners,
    pub(crate) to_delete: WorkQueue<QueueItem>,
    pub(crate) to_orphan: WorkQueue<Uid>,
}

/// The kinds of this cluster, all of them namespaced.
struct Served;

impl KindLookup for Served {
    fn scope(&self, _: &str, kind: &str) -> Option<ResourceScope> {
        WorkloadKind::named(kind).map(|_| ResourceScope::Namespaced)
    }
}

impl Garbage {
    pub(crate) fn new() -> Self {
        Self {
            graph: Graph::new(),
            absent: AbsentOwners::new(),
            to_delete: WorkQueue::new(),
            to_orphan: WorkQueue::new(),
        }
    }

    pub(crate) fn watch(&mut self, change: &AnyWatchEvent, cluster: &PlainCluster, event_log: &mut EventLog) {
        let seen = match change {
            AnyWatchEvent::Deployment(change) => seen(WorkloadKind::Deployment, change),
            AnyWatchEvent::ReplicaSet(change) => seen(WorkloadKind::ReplicaSet, change),
            AnyWatchEvent::Pod(change) => seen(WorkloadKind::Pod, change),
        };
        self.observe(seen, cluster, event_log);
    }

    /// Looks at one object that is due. Returns whether there was one.
    pub(crate) fn work(&mut self, cluster: &mut PlainCluster, event_log: &mut EventLog) -> bool {
        self.work_on_delete(cluster, event_log) || self.work_on_orphan(cluster)
    }

    fn observe(&mut self, seen: GraphChange, cluster: &PlainCluster, event_log: &mut EventLog) {
        for effect in self.graph.observe(seen, &mut self.absent) {
            match effect {
                Effect::AttemptToDelete(item, EnqueueMode::AtOnce) => self.to_delete.add(item, cluster.now),
                Effect::AttemptToDelete(item, EnqueueMode::RateLimited) => {
                    self.to_delete.add_rate_limited(item, cluster.now);
                }
                Effect::AttemptToOrphan(owner) => self.to_orphan.add(owner, cluster.now),
                Effect::RecordEvent(report) => {
                    if let Some((kind, meta)) = live(cluster, &report.object) {
                        event_log.record(cluster.now, EVENT_SOURCE, kind, meta, &report.event);
                    }
                }
            }
        }
    }

    fn work_on_delete(&mut self, cluster: &mut PlainCluster, event_log: &mut EventLog) -> bool {
        let Some(item) = self.to_delete.next(cluster.now) else { return false };
        let first = attempt::begin(&item, &self.context());
        let outcome = self.run(first, cluster);
        if !is_idle(&outcome) {
            event_log.trace_step(format!("gc: {}: {outcome}", self.name(item.uid())));
        }
        match &outcome {
            AttemptResult::Absent(identity) => {
                self.observe(GraphChange::VerifiedAbsent(identity.clone()), cluster, event_log);
            }
            AttemptResult::Settled { did: AttemptAction::Enqueued(items), .. } => {
                for item in items {
                    self.to_delete.add(item.clone(), cluster.now);
                }
            }
            AttemptResult::Settled { .. } | AttemptResult::Failed(_) => {}
        }
        let disposition = outcome.disposition(&item, &self.graph);
        finish(&mut self.to_delete, &item, disposition, cluster);
        true
    }

    fn work_on_orphan(&mut self, cluster: &mut PlainCluster) -> bool {
        let Some(owner) = self.to_orphan.next(cluster.now) else { return false };
        let outcome = match orphan::begin(&owner, &self.context()) {
            Orphaning::Done(outcome) => outcome,
            Orphaning::Release(releases, afterwards) => {
                let releases = releases.into_iter().map(|first| self.run(first, cluster)).collect();
                let last = afterwards.resume(releases);
                self.run(last, cluster)
            }
        };
        let disposition = if matches!(outcome, AttemptResult::Failed(_)) {
            ItemDisposition::Retry
        } else {
            ItemDisposition::Forget
        };
        finish(&mut self.to_orphan, &owner, disposition, cluster);
        true
    }

    /// Runs an attempt to its end.
    fn run(&mut self, first: AttemptStep, cluster: &mut PlainCluster) -> AttemptResult {
        let mut step = first;
        loop {
            step = match step {
                AttemptStep::Done(outcome) => return outcome,
                AttemptStep::Wait(_, waiting) => waiting.resume(),
                AttemptStep::Read(target, reading) => {
                    reading.resume(read(cluster, &target), &mut self.context())
                }
                AttemptStep::Patch(target, patch, patching) => {
                    patching.resume(apply(cluster, &target, &patch))
                }
                AttemptStep::Delete(deletion, deleting) => {
                    let answer = match live(cluster, &deletion.target) {
                        None => DeleteResult::NotFound,
                        Some((_, live)) if live.uid != deletion.uid => DeleteResult::Conflict,
                        Some((_, live))
                            if deletion.version.as_ref().is_some_and(|v| *v != live.resource_version) =>
                        {
                            DeleteResult::Conflict
                        }
                        Some((kind, _)) => {
                            let key = PlainCluster::key(deletion.target.name.as_str());
                            cluster.delete(kind, &key, deletion.propagation);
                            DeleteResult::Accepted
                        }
                    };
                    deleting.resume(answer)
                }
            };
        }
    }

    fn context(&mut self) -> AttemptContext<'_> {
        AttemptContext { graph: &self.graph, kinds: &Served, absent: &mut self.absent }
    }

    fn name(&self, uid: &Uid) -> String {
        self.graph.node(uid).map_or_else(|| uid.to_string(), |node| node.identity().name.to_string())
    }
}

fn finish<K: Ord + Clone>(
    queue: &mut WorkQueue<K>,
    key: &K,
    disposition: ItemDisposition,
    cluster: &PlainCluster,
) {
    match disposition {
        ItemDisposition::Forget => queue.forget(key),
        ItemDisposition::Retry => {
            queue.add_rate_limited(key.clone(), cluster.now);
        }
    }
    queue.done(key, cluster.now);
}

/// Whether an attempt did nothing that is worth a line.
fn is_idle(outcome: &AttemptResult) -> bool {
    matches!(
        outcome,
        AttemptResult::Absent(_)
            | AttemptResult::Settled { did: AttemptAction::Nothing | AttemptAction::Enqueued(_), .. }
    )
}

fn seen<T: cluster::Stored>(kind: WorkloadKind, change: &WatchEvent<T>) -> GraphChange {
    match change {
        WatchEvent::Added(object) | WatchEvent::Updated { new: object, .. } => {
            GraphChange::Applied(cluster::metadata(kind, object.meta()))
        }
        WatchEvent::Deleted(object) => GraphChange::Deleted(cluster::identity(kind, object.meta())),
    }
}

fn read(cluster: &PlainCluster, target: &Identity) -> ReadResult {
    match live(cluster, target) {
        Some((kind, meta)) => ReadResult::Found(cluster::metadata(kind, meta)),
        None => ReadResult::NotFound,
    }
}

fn apply(cluster: &mut PlainCluster, target: &Identity, patch: &MetadataPatch) -> PatchResult {
    let Some((kind, before)) = live(cluster, target).map(|(kind, meta)| (kind, meta.clone())) else {
        return PatchResult::NotFound;
    };
    let is_meant = match patch {
        MetadataPatch::Release { object, .. } | MetadataPatch::Unblock { object, .. } => {
            *object == before.uid
        }
        MetadataPatch::SetOwners { version, .. } | MetadataPatch::SetFinalizers { version, .. } => {
            *version == before.resource_version
        }
    };
    if !is_meant {
        return PatchResult::Conflict;
    }
    let key = before.key();
    cluster.update_meta(kind, &key, |meta| match patch {
        MetadataPatch::Release { owners, .. } => meta.owners.retain(|owner| !owners.contains(&owner.uid)),
        MetadataPatch::Unblock { references, .. } => {
            let named = |uid: &Uid| references.iter().any(|reference| reference.uid == *uid);
            for owner in meta.owners.iter_mut().filter(|owner| named(&owner.uid)) {
                owner.block_owner_deletion = false;
            }
        }
        MetadataPatch::SetOwners { owners, .. } => meta.owners.clone_from(owners),
        MetadataPatch::SetFinalizers { finalizers, .. } => meta.finalizers.clone_from(finalizers),
    });
    let after = cluster.meta(kind, &key).unwrap_or(&before);
    PatchResult::Patched(cluster::metadata(kind, after))
}

/// The object of this kind and name, whatever its uid.
fn live<'a>(cluster: &'a PlainCluster, target: &Identity) -> Option<(WorkloadKind, &'a Meta)> {
    let kind = WorkloadKind::named(&target.kind)?;
    Some((kind, cluster.meta(kind, &PlainCluster::key(target.name.as_str()))?))
}
