//! The garbage collector over the simulated cluster.

use gantry_decide::gc::attempt::{DeleteAnswer, PatchAnswer, ReadAnswer};
use gantry_decide::gc::orphan::{self, Orphaning};
use gantry_decide::gc::{
    AbsentOwners, Change as Seen, Deed, EVENT_SOURCE, Effect, Fate, Graph, Item, Kinds, Knowledge, Outcome,
    Pace, Propagation, Scope, Step, attempt,
};
use gantry_decide::queue::WorkQueue;
use gantry_model::patch::MetadataPatch;
use gantry_model::{Identity, Meta, Uid};

use super::Telling;
use crate::cluster::{self, Change, Cluster, Kind, Watched};

/// The garbage collector.
#[derive(Clone, Debug)]
pub(crate) struct Garbage {
    graph: Graph,
    absent: AbsentOwners,
    pub(crate) to_delete: WorkQueue<Item>,
    pub(crate) to_orphan: WorkQueue<Uid>,
}

/// The kinds of this cluster, all of them namespaced.
struct Served;

impl Kinds for Served {
    fn scope(&self, _: &str, kind: &str) -> Option<Scope> {
        Kind::named(kind).map(|_| Scope::Namespaced)
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

    pub(crate) fn watch(&mut self, change: &Change, cluster: &Cluster, telling: &mut Telling) {
        let seen = match change {
            Change::Deployment(change) => seen(Kind::Deployment, change),
            Change::ReplicaSet(change) => seen(Kind::ReplicaSet, change),
            Change::Pod(change) => seen(Kind::Pod, change),
        };
        self.observe(seen, cluster, telling);
    }

    /// Looks at one object that is due. Returns whether there was one.
    pub(crate) fn work(&mut self, cluster: &mut Cluster, telling: &mut Telling) -> bool {
        self.work_on_delete(cluster, telling) || self.work_on_orphan(cluster)
    }

    fn observe(&mut self, seen: Seen, cluster: &Cluster, telling: &mut Telling) {
        for effect in self.graph.observe(seen, &mut self.absent) {
            match effect {
                Effect::AttemptToDelete(item, Pace::AtOnce) => self.to_delete.add(item, cluster.now),
                Effect::AttemptToDelete(item, Pace::RateLimited) => {
                    self.to_delete.add_rate_limited(item, cluster.now);
                }
                Effect::AttemptToOrphan(owner) => self.to_orphan.add(owner, cluster.now),
                Effect::Report(report) => {
                    if let Some((kind, meta)) = live(cluster, &report.about) {
                        telling.tell(cluster.now, EVENT_SOURCE, kind, meta, &report.event);
                    }
                }
            }
        }
    }

    fn work_on_delete(&mut self, cluster: &mut Cluster, telling: &mut Telling) -> bool {
        let Some(item) = self.to_delete.next(cluster.now) else { return false };
        let first = attempt::begin(&item, &self.knowledge());
        let outcome = self.run(first, cluster);
        if !is_idle(&outcome) {
            telling.note(format!("gc: {}: {outcome}", self.name(item.uid())));
        }
        match &outcome {
            Outcome::Absent(identity) => {
                self.observe(Seen::VerifiedAbsent(identity.clone()), cluster, telling);
            }
            Outcome::Settled { did: Deed::Asked(items), .. } => {
                for item in items {
                    self.to_delete.add(item.clone(), cluster.now);
                }
            }
            Outcome::Settled { .. } | Outcome::Failed(_) => {}
        }
        let fate = outcome.fate(&item, &self.graph);
        finish(&mut self.to_delete, &item, fate, cluster);
        true
    }

    fn work_on_orphan(&mut self, cluster: &mut Cluster) -> bool {
        let Some(owner) = self.to_orphan.next(cluster.now) else { return false };
        let outcome = match orphan::begin(&owner, &self.knowledge()) {
            Orphaning::Done(outcome) => outcome,
            Orphaning::Release(releases, afterwards) => {
                let releases = releases.into_iter().map(|first| self.run(first, cluster)).collect();
                let last = afterwards.resume(releases);
                self.run(last, cluster)
            }
        };
        let fate = if matches!(outcome, Outcome::Failed(_)) { Fate::Retry } else { Fate::Forget };
        finish(&mut self.to_orphan, &owner, fate, cluster);
        true
    }

    /// Runs an attempt to its end.
    fn run(&mut self, first: Step, cluster: &mut Cluster) -> Outcome {
        let mut step = first;
        loop {
            step = match step {
                Step::Done(outcome) => return outcome,
                Step::Wait(_, waiting) => waiting.resume(),
                Step::Read(target, reading) => reading.resume(read(cluster, &target), &mut self.knowledge()),
                Step::Patch(target, patch, patching) => patching.resume(apply(cluster, &target, &patch)),
                Step::Delete(deletion, deleting) => {
                    let answer = match live(cluster, &deletion.target) {
                        None => DeleteAnswer::NotFound,
                        Some((_, live)) if live.uid != deletion.uid => DeleteAnswer::Conflict,
                        Some((_, live))
                            if deletion.version.as_ref().is_some_and(|v| *v != live.resource_version) =>
                        {
                            DeleteAnswer::Conflict
                        }
                        Some((kind, _)) => {
                            let key = Cluster::key(deletion.target.name.as_str());
                            cluster.delete(kind, &key, propagation(deletion.propagation));
                            DeleteAnswer::Accepted
                        }
                    };
                    deleting.resume(answer)
                }
            };
        }
    }

    fn knowledge(&mut self) -> Knowledge<'_> {
        Knowledge { graph: &self.graph, kinds: &Served, absent: &mut self.absent }
    }

    fn name(&self, uid: &Uid) -> String {
        self.graph.node(uid).map_or_else(|| uid.to_string(), |node| node.identity().name.to_string())
    }
}

fn finish<K: Ord + Clone>(queue: &mut WorkQueue<K>, key: &K, fate: Fate, cluster: &Cluster) {
    match fate {
        Fate::Forget => queue.forget(key),
        Fate::Retry => {
            queue.add_rate_limited(key.clone(), cluster.now);
        }
    }
    queue.done(key, cluster.now);
}

/// Whether nothing came of an attempt that is worth a line.
fn is_idle(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Absent(_) | Outcome::Settled { did: Deed::Nothing | Deed::Asked(_), .. })
}

fn seen<T: cluster::Stored>(kind: Kind, change: &Watched<T>) -> Seen {
    match change {
        Watched::Added(object) | Watched::Updated { new: object, .. } => {
            Seen::Applied(cluster::metadata(kind, object.meta()))
        }
        Watched::Deleted(object) => Seen::Deleted(cluster::identity(kind, object.meta())),
    }
}

fn read(cluster: &Cluster, target: &Identity) -> ReadAnswer {
    match live(cluster, target) {
        Some((kind, meta)) => ReadAnswer::Found(cluster::metadata(kind, meta)),
        None => ReadAnswer::NotFound,
    }
}

fn apply(cluster: &mut Cluster, target: &Identity, patch: &MetadataPatch) -> PatchAnswer {
    let Some((kind, before)) = live(cluster, target).map(|(kind, meta)| (kind, meta.clone())) else {
        return PatchAnswer::NotFound;
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
        return PatchAnswer::Conflict;
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
    PatchAnswer::Patched(cluster::metadata(kind, after))
}

/// The object of this kind and name, whoever it is by now.
fn live<'a>(cluster: &'a Cluster, target: &Identity) -> Option<(Kind, &'a Meta)> {
    let kind = Kind::named(&target.kind)?;
    Some((kind, cluster.meta(kind, &Cluster::key(target.name.as_str()))?))
}

fn propagation(wanted: Propagation) -> cluster::Propagation {
    match wanted {
        Propagation::Orphan => cluster::Propagation::Orphan,
        Propagation::Background => cluster::Propagation::Background,
        Propagation::Foreground => cluster::Propagation::Foreground,
    }
}
