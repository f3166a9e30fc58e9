//! One state of a small world: the server, the controllers' caches and queues, syncs in progress, and the remaining
//! actions and faults.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use gantry_decide::replica_set::{ControllerState, MetExpectation, triggers as set_triggers};
use gantry_decide::written_versions::WrittenVersions;
use gantry_decide::{deployment::triggers as deployment_triggers, replica_set::triggers::Triggered};
use gantry_model::{Deployment, Name, Pod, Refusal, RefusalKind, ReplicaSet, Replicas, Timestamp, Uid};

use crate::deployment_sync::DeploymentSync;
use crate::drafts::BEGINNING;
use crate::objects::{Change, Objects, VersionedChange, Watched, key};
use crate::set_sync::SetSync;
use crate::small_world::{FaultBudget, Mutant, SmallWorld};

/// A state.
#[derive(Clone, Debug)]
pub(crate) struct State {
    pub(crate) server: Objects,
    /// The caches, which both controllers share.
    pub(crate) cache: Objects,
    /// The changes that each watch has not delivered yet.
    pub(crate) undelivered: [Vec<VersionedChange>; 3],
    /// The version that each cache has reached.
    pub(crate) reached: [u64; 3],
    /// The watch that is delayed.
    pub(crate) delayed: Option<Watched>,
    /// Seconds since the start, by the system clock.
    pub(crate) seconds: i64,
    /// Seconds since the start, by the monotonic clock: expectations time out by it.
    pub(crate) steady_seconds: i64,
    pub(crate) version: u64,
    pub(crate) created: u64,
    pub(crate) deployment_queued: bool,
    pub(crate) deployment_timer: Option<i64>,
    pub(crate) sets_queued: BTreeSet<Name>,
    pub(crate) set_timers: BTreeMap<Name, i64>,
    /// The state of the ReplicaSet controller between syncs.
    pub(crate) memory: ControllerState,
    /// The pods whose deletion each set expects: a copy of what `memory` holds, for the fingerprint.
    pub(crate) expected_deletions: BTreeMap<Name, BTreeSet<Name>>,
    /// The versions of pods and of the set that each set has written: a copy as well.
    pub(crate) written: BTreeMap<Name, [u64; 2]>,
    /// The versions of sets that the Deployment controller has created, and the newest of them for the fingerprint.
    pub(crate) created_sets: WrittenVersions,
    pub(crate) newest_set: u64,
    /// The last writes of the Deployment controller: a sync begins with them where the caches are behind.
    pub(crate) last_writes: Objects,
    pub(crate) deployment_sync: Option<DeploymentSync>,
    pub(crate) set_syncs: BTreeMap<Name, SetSync>,
    pub(crate) budget: FaultBudget,
    /// The remaining actions of the user, one bit each.
    pub(crate) actions: u32,
    /// `spec.replicas` as the user last set it.
    pub(crate) requested_replicas: Replicas,
    /// Which set has had which revision.
    pub(crate) revisions: BTreeMap<i64, Uid>,
    /// The first violation on the way here.
    pub(crate) violation: Option<String>,
}

/// The fault of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum WriteFault {
    /// It gets its response.
    None,
    /// It is refused, by a quota or an error of the server.
    Refused,
    /// It takes effect, but its response is lost.
    ResponseLost,
}

impl State {
    pub(crate) fn empty(world: &SmallWorld) -> Self {
        Self {
            server: Objects::default(),
            cache: Objects::default(),
            undelivered: Default::default(),
            reached: [0; 3],
            delayed: None,
            seconds: 0,
            steady_seconds: 0,
            version: 0,
            created: 0,
            deployment_queued: false,
            deployment_timer: None,
            sets_queued: BTreeSet::new(),
            set_timers: BTreeMap::new(),
            memory: ControllerState::default(),
            expected_deletions: BTreeMap::new(),
            written: BTreeMap::new(),
            created_sets: WrittenVersions::default(),
            newest_set: 0,
            last_writes: Objects::default(),
            deployment_sync: None,
            set_syncs: BTreeMap::new(),
            budget: world.budget,
            actions: (1 << world.actions.len()) - 1,
            requested_replicas: Replicas::from(world.replicas),
            revisions: BTreeMap::new(),
            violation: None,
        }
    }

    pub(crate) fn now(&self) -> Timestamp {
        after(self.seconds)
    }

    pub(crate) fn steady(&self) -> Timestamp {
        after(self.steady_seconds)
    }

    /// Records a violation; the first one counts.
    pub(crate) fn violated(&mut self, violation: String) {
        self.violation.get_or_insert(violation);
    }

    // === the server ===

    /// Carries out a write, or makes it fail.
    pub(crate) fn write<T>(
        &mut self,
        fault: WriteFault,
        write: impl FnOnce(&mut Self) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        match fault {
            WriteFault::None => write(self),
            WriteFault::Refused => Err(Refusal::other("the server refused the request")),
            WriteFault::ResponseLost => {
                write(self)?;
                Err(Refusal::other("the response was lost"))
            }
        }
    }

    pub(crate) fn put_deployment(&mut self, mut deployment: Deployment) -> Arc<Deployment> {
        deployment.meta.resource_version = self.next_version();
        let deployment = Arc::new(deployment);
        self.publish(Change::Deployment(Some(deployment.clone())));
        deployment
    }

    pub(crate) fn put_set(&mut self, mut set: ReplicaSet) -> Arc<ReplicaSet> {
        set.meta.resource_version = self.next_version();
        let set = Arc::new(set);
        self.publish(Change::ReplicaSet(set.meta.name.clone(), Some(set.clone())));
        set
    }

    pub(crate) fn put_pod(&mut self, mut pod: Pod) -> Arc<Pod> {
        pod.meta.resource_version = self.next_version();
        let pod = Arc::new(pod);
        self.publish(Change::Pod(pod.meta.name.clone(), Some(pod.clone())));
        pod
    }

    pub(crate) fn remove_set(&mut self, name: &Name) {
        self.version += 1;
        self.publish(Change::ReplicaSet(name.clone(), None));
    }

    pub(crate) fn remove_pod(&mut self, name: &Name) {
        self.version += 1;
        self.publish(Change::Pod(name.clone(), None));
    }

    /// Deletes a pod: one without a node is removed at once, any other becomes terminating.
    pub(crate) fn delete_pod(&mut self, name: &Name) -> Result<(), Refusal> {
        let pod = self.server.pods.get(name).ok_or_else(|| not_found(name))?.clone();
        if pod.meta.is_deleting() {
            return Ok(());
        }
        if pod.node.is_none() || pod.phase.is_finished() {
            self.remove_pod(name);
            return Ok(());
        }
        let mut pod = Pod::clone(&pod);
        pod.meta.deleting = Some(BEGINNING);
        self.put_pod(pod);
        Ok(())
    }

    /// The set of this name, if it is still the version that the writer has read.
    pub(crate) fn set_at_version(&self, read: &ReplicaSet, mutant: Option<Mutant>) -> Result<(), Refusal> {
        let current = self.server.sets.get(&read.meta.name).ok_or_else(|| not_found(&read.meta.name))?;
        let is_current = current.meta.resource_version == read.meta.resource_version;
        if is_current || mutant == Some(Mutant::ConflictsIgnored) { Ok(()) } else { Err(conflict()) }
    }

    /// The Deployment, if it is still the version that the writer has read.
    pub(crate) fn deployment_at_version(
        &self,
        read: &Deployment,
        mutant: Option<Mutant>,
    ) -> Result<Arc<Deployment>, Refusal> {
        let current = self.server.deployment.as_ref().ok_or_else(|| not_found(&read.meta.name))?;
        let is_current = current.meta.resource_version == read.meta.resource_version;
        if is_current || mutant == Some(Mutant::ConflictsIgnored) {
            Ok(current.clone())
        } else {
            Err(conflict())
        }
    }

    fn next_version(&mut self) -> gantry_model::ResourceVersion {
        self.version += 1;
        self.version.to_string().into()
    }

    fn publish(&mut self, change: Change) {
        self.server.apply(&change);
        let version = self.version;
        self.undelivered[change.kind().index()].push(VersionedChange { version, change });
    }

    // === the caches ===

    /// Delivers all changes except those of the delayed watch, in the order of their versions.
    pub(crate) fn deliver_all(&mut self) {
        loop {
            let first = |kind: &Watched| self.undelivered[kind.index()].first().map(|change| change.version);
            let next = Watched::ALL
                .into_iter()
                .filter(|kind| Some(*kind) != self.delayed)
                .filter_map(|kind| Some((first(&kind)?, kind)))
                .min();
            let Some((_, kind)) = next else { return };
            self.deliver(kind);
        }
    }

    /// Delivers the next change of a kind: the cache changes first, and then the queues.
    pub(crate) fn deliver(&mut self, kind: Watched) {
        let VersionedChange { version, change } = self.undelivered[kind.index()].remove(0);
        self.reached[kind.index()] = version;
        match &change {
            Change::Deployment(_) => {
                self.cache.apply(&change);
                self.deployment_queued = true;
            }
            Change::ReplicaSet(name, new) => {
                let old = self.cache.sets.get(name).cloned();
                self.cache.apply(&change);
                self.set_changed(old.as_deref(), new.as_deref());
            }
            Change::Pod(name, new) => {
                let old = self.cache.pods.get(name).cloned();
                self.cache.apply(&change);
                self.pod_changed(old.as_deref(), new.as_deref());
            }
        }
    }

    fn set_changed(&mut self, old: Option<&ReplicaSet>, new: Option<&ReplicaSet>) {
        let (keys, triggered) = match (old, new) {
            (None, Some(set)) => {
                (deployment_triggers::on_set_added(set, &self.cache), set_triggers::on_set_added(set))
            }
            (Some(old), Some(new)) => (
                deployment_triggers::on_set_updated(old, new, &self.cache),
                set_triggers::on_set_updated(old, new),
            ),
            (Some(set), None) => {
                (deployment_triggers::on_set_deleted(set, &self.cache), set_triggers::on_set_deleted(set))
            }
            (None, None) => return,
        };
        self.deployment_queued |= !keys.is_empty();
        self.triggered(&triggered);
    }

    fn pod_changed(&mut self, old: Option<&Pod>, new: Option<&Pod>) {
        let triggered = match (old, new) {
            (None, Some(pod)) => set_triggers::on_pod_added(pod, &self.cache),
            (Some(old), Some(new)) => set_triggers::on_pod_updated(old, new, &self.cache),
            (Some(pod), None) => {
                self.deployment_queued |= deployment_triggers::on_pod_deleted(pod, &self.cache).is_some();
                set_triggers::on_pod_deleted(pod, &self.cache)
            }
            (None, None) => return,
        };
        self.triggered(&triggered);
    }

    fn triggered(&mut self, triggered: &Triggered) {
        for met in &triggered.met {
            self.lower(met);
        }
        for enqueue in &triggered.enqueue {
            let name = enqueue.key.name.clone();
            match i64::try_from(enqueue.after.as_secs()) {
                Ok(0) | Err(_) => {
                    self.sets_queued.insert(name);
                }
                Ok(seconds) => self.set_timer(&name, self.seconds + seconds),
            }
        }
    }

    /// Lowers the expectations of a set.
    pub(crate) fn lower(&mut self, met: &MetExpectation) {
        self.memory.lower(met);
        match met {
            MetExpectation::Creations { .. } => {}
            MetExpectation::Deletion { set, pod } => {
                if let Some(expected) = self.expected_deletions.get_mut(&set.name) {
                    expected.remove(&pod.name);
                }
            }
            MetExpectation::Everything { set, .. } => {
                self.expected_deletions.remove(&set.name);
                self.written.remove(&set.name);
            }
        }
    }

    /// Requeues a set at a time, or earlier if it has an earlier timer.
    pub(crate) fn set_timer(&mut self, name: &Name, at: i64) {
        let timer = self.set_timers.entry(name.clone()).or_insert(at);
        *timer = at.min(*timer);
    }

    /// Requeues the sets whose timers are due.
    pub(crate) fn fire_timers(&mut self) {
        if self.deployment_timer.is_some_and(|at| at <= self.seconds) {
            self.deployment_timer = None;
            self.deployment_queued = true;
        }
        let due: Vec<_> = self
            .set_timers
            .iter()
            .filter(|(_, at)| **at <= self.seconds)
            .map(|(name, _)| name.clone())
            .collect();
        for name in due {
            self.set_timers.remove(&name);
            self.sets_queued.insert(name);
        }
    }

    /// The process with both controllers restarts: syncs and memory are lost, the caches are read again,
    /// every object is queued.
    pub(crate) fn restart_controllers(&mut self) {
        self.cache = self.server.clone();
        self.undelivered = Default::default();
        self.reached = [self.version; 3];
        self.delayed = None;
        self.memory = ControllerState::default();
        self.expected_deletions.clear();
        self.written.clear();
        self.created_sets = WrittenVersions::default();
        self.newest_set = 0;
        self.last_writes = Objects::default();
        self.deployment_sync = None;
        self.set_syncs.clear();
        self.deployment_timer = None;
        self.set_timers.clear();
        self.deployment_queued = self.server.deployment.is_some();
        self.sets_queued = self.server.sets.keys().cloned().collect();
    }

    /// Drops the expectations of a set although they are not met.
    pub(crate) fn forget_expectations(&mut self, set: &Name) {
        self.memory.expectations.forget(&key(set));
        self.expected_deletions.remove(set);
    }
}

pub(crate) fn after(seconds: i64) -> Timestamp {
    Timestamp::from_nanos(BEGINNING.as_nanos() + seconds * 1_000_000_000)
}

pub(crate) fn not_found(name: &Name) -> Refusal {
    Refusal::new(RefusalKind::NotFound, format!("{name:?} not found"))
}

fn conflict() -> Refusal {
    Refusal::new(RefusalKind::Conflict, "the object has been modified")
}
