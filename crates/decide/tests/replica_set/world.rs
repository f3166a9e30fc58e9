//! A small world around one ReplicaSet: an API server that can refuse pods, a pod cache that lags behind it, and a
//! controller that carries out what the rules decide.

use std::collections::{BTreeMap, VecDeque};

use gantry_decide::Wake;
use gantry_decide::replica_set::triggers::{Lookup, Triggered, on_pod_added, on_pod_deleted, on_pod_updated};
use gantry_decide::replica_set::{
    Action, ControllerState, Decision, ManageResult, Observed, PendingCreations, PendingDeletions,
    StatusWrite, SyncStart, WaitingOn, classify_pods, creation_event, decide, deletion_event, report,
};
use gantry_decide::written_versions::{CachedResource, ReadVersions};
use gantry_model::{
    Event, Name, Namespace, ObjectKey, Pod, PodDraft, Refusal, RefusalKind, ReplicaSet, Timestamp,
};
use gantry_testkit::{NOON, pod};

use crate::refusal;

/// How the API server responds to the creation of pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Accepting,
    /// At most this many pods may exist, not counting finished ones.
    Quota(usize),
    /// Admission refuses every pod with this message.
    Rejecting(&'static str),
    NamespaceTerminating,
    /// It creates the pod, but the response is lost.
    LosingResponses,
}

/// The effects of one sync.
#[derive(Debug)]
pub(crate) struct Synced {
    /// The sizes of the batches of creations.
    pub(crate) batches: Vec<usize>,
    pub(crate) deleted: usize,
    pub(crate) wrote_status: bool,
    pub(crate) result: Result<(), String>,
    pub(crate) waiting_on: WaitingOn,
    pub(crate) wake: Wake,
}

pub(crate) struct World {
    pub(crate) now: Timestamp,
    pub(crate) set: ReplicaSet,
    pub(crate) mode: Mode,
    pub(crate) events: Vec<Event>,
    /// The pods in the API server.
    pub(crate) store: BTreeMap<Name, Pod>,
    /// The pods in the controller's cache.
    cache: BTreeMap<Name, Pod>,
    /// The pods with undelivered changes, in the order of delivery.
    undelivered: VecDeque<Name>,
    state: ControllerState,
    writes: u32,
}

impl World {
    /// A world in which the set has all its pods, and has observed them.
    pub(crate) fn settled(set: ReplicaSet) -> Self {
        let mut world = Self {
            now: NOON,
            set,
            mode: Mode::Accepting,
            events: Vec::new(),
            store: BTreeMap::new(),
            cache: BTreeMap::new(),
            undelivered: VecDeque::new(),
            state: ControllerState::default(),
            writes: 0,
        };
        world.settle();
        world.events.clear();
        world
    }

    /// Syncs and delivers until nothing changes any more; completes deletions, too.
    pub(crate) fn settle(&mut self) {
        for _ in 0..100 {
            self.finish_deletions();
            self.deliver_all();
            let synced = self.sync();
            if synced.batches.is_empty() && synced.deleted == 0 && !synced.wrote_status {
                return;
            }
        }
        panic!("does not settle");
    }

    /// Changes a pod in the store, as a user or a node would.
    pub(crate) fn change(&mut self, name: &str, change: impl FnOnce(Pod) -> Pod) {
        let name = Name::from(name);
        let pod = self.store.remove(&name).unwrap_or_else(|| pod(name.as_str()));
        self.put(change(pod));
    }

    /// Delivers the next change to the controller.
    pub(crate) fn deliver_one(&mut self) {
        let Some(name) = self.undelivered.pop_front() else { return };
        let old = self.cache.remove(&name);
        let new = self.store.get(&name).cloned();
        let triggered = match (&old, &new) {
            (None, None) => Triggered::default(),
            (None, Some(new)) => on_pod_added(new, self),
            (Some(old), Some(new)) => on_pod_updated(old, new, self),
            (Some(old), None) => on_pod_deleted(old, self),
        };
        for met in &triggered.met {
            self.state.lower(met);
        }
        self.cache.extend(new.map(|pod| (name, pod)));
    }

    pub(crate) fn deliver_all(&mut self) {
        while !self.undelivered.is_empty() {
            self.deliver_one();
        }
    }

    /// Removes terminating pods.
    pub(crate) fn finish_deletions(&mut self) {
        let gone: Vec<Name> = self.store.values().filter(|pod| pod.meta.is_deleting()).map(name_of).collect();
        for name in gone {
            self.store.remove(&name);
            self.undelivered.push_back(name);
        }
    }

    /// Restarts the controller: its cache is up to date, and its state is empty.
    pub(crate) fn restart(&mut self) {
        self.deliver_all();
        self.state = ControllerState::default();
    }

    /// The active pods of the set in the API server.
    pub(crate) fn active_pods(&self) -> usize {
        let is_own = |pod: &&Pod| pod.is_active() && pod.meta.is_controlled_by(&self.set.meta.uid);
        self.store.values().filter(is_own).count()
    }

    /// The events as lines.
    pub(crate) fn event_lines(&self) -> Vec<String> {
        let line =
            |event: &Event| format!("{} {} {}", event.event_type.as_str(), event.reason, event.message);
        self.events.iter().map(line).collect()
    }

    /// One sync, from beginning to end.
    pub(crate) fn sync(&mut self) -> Synced {
        let set = self.set.clone();
        let cache = self.cache.clone();
        let read = ReadVersions::from([
            (CachedResource::Pods, "0".into()),
            (CachedResource::ReplicaSets, "0".into()),
        ]);
        let begun = self.state.begin_sync(self.now, &set.meta.key(), Some(&set), &read);
        let Ok(SyncStart::Present(set, expectation_state)) = begun else {
            panic!("the set must exist: {begun:?}")
        };

        let classified = classify_pods(set, expectation_state, cache.values()).unwrap();
        let adoptions: Vec<_> = classified.claims.adopt.iter().map(|pod| (*pod, self.adopt(pod))).collect();
        let releases: Vec<_> =
            classified.claims.release.iter().map(|pod| (*pod, self.release(pod))).collect();
        let observed = classified.claimed(adoptions, releases).unwrap().among([set], cache.values());

        let decision = decide(self.now, &observed);
        decision.action.set_expectations(self.now, &set.meta.key(), &mut self.state.expectations);
        let (batches, manage_result) = self.carry_out(&set.meta.key(), &decision);
        for met in &manage_result.met {
            self.state.lower(met);
        }
        self.report(&observed, &decision, &manage_result, batches)
    }

    fn report(
        &mut self,
        observed: &Observed<'_>,
        decision: &Decision,
        manage_result: &ManageResult,
        batches: Vec<usize>,
    ) -> Synced {
        let report = report(self.now, observed, decision, manage_result);
        let wake = report.wake(self.now);
        let wrote_status = match report.status {
            StatusWrite::Unchanged => false,
            StatusWrite::Put(status) => {
                self.set.status = status;
                true
            }
        };
        let deleted = match &decision.action {
            Action::Delete { pods } => pods.len(),
            _ => 0,
        };
        let result = report.result.map_err(|error| error.to_string());
        Synced { batches, deleted, wrote_status, result, waiting_on: report.waiting_on, wake }
    }

    fn carry_out(&mut self, set: &ObjectKey, decision: &Decision) -> (Vec<usize>, ManageResult) {
        match &decision.action {
            Action::Nothing => (Vec::new(), ManageResult::nothing()),
            Action::CannotCreate(no_labels) => (Vec::new(), ManageResult::impossible(*no_labels)),
            Action::Create { count, draft } => {
                let mut creating = PendingCreations::new(set.clone(), *count);
                let mut batches = Vec::new();
                while let Some(batch) = creating.batch() {
                    let responses: Vec<_> = (0..batch).map(|_| self.create(draft)).collect();
                    self.events.extend(responses.iter().filter_map(creation_event));
                    creating.completed(responses);
                    batches.push(batch);
                }
                (batches, creating.finish())
            }
            Action::Delete { pods } => {
                let mut deleting = PendingDeletions::new(set.clone());
                for pod in pods {
                    let response = self.delete(&pod.name);
                    self.events.extend(deletion_event(&pod.name, &response));
                    deleting.answered(pod, response);
                }
                (Vec::new(), deleting.finish())
            }
        }
    }

    fn create(&mut self, draft: &PodDraft) -> Result<Name, Refusal> {
        self.writes += 1;
        let name = format!("{}{:05}", draft.generate_name, self.writes);
        let used = self.store.values().filter(|pod| !pod.phase.is_finished()).count();
        match self.mode {
            Mode::Quota(limit) if used >= limit => {
                return Err(refusal(
                    RefusalKind::Other,
                    &format!(
                        "pods \"{name}\" is forbidden: exceeded quota: q, requested: pods=1, used: pods={used}, limited: pods={limit}"
                    ),
                ));
            }
            Mode::Rejecting(message) => return Err(refusal(RefusalKind::Other, message)),
            Mode::NamespaceTerminating => {
                return Err(refusal(RefusalKind::NamespaceTerminating, "the namespace is being terminated"));
            }
            Mode::Accepting | Mode::Quota(_) | Mode::LosingResponses => {}
        }
        let mut pod = pod(&name);
        pod.meta.labels = draft.template.labels().cloned().unwrap_or_default();
        pod.meta.owners = vec![draft.owner.clone()];
        self.put(pod);
        if self.mode == Mode::LosingResponses {
            return Err(refusal(RefusalKind::Other, "the response was lost"));
        }
        Ok(name.into())
    }

    fn delete(&mut self, name: &Name) -> Result<(), Refusal> {
        let Some(mut pod) = self.store.remove(name) else {
            return Err(refusal(RefusalKind::NotFound, "not found"));
        };
        pod.meta.deleting.get_or_insert(self.now);
        self.put(pod);
        Ok(())
    }

    fn adopt(&mut self, pod: &Pod) -> Result<(), Refusal> {
        let owner = self.set.reference();
        self.patch(pod, |pod| pod.meta.owners.push(owner))
    }

    fn release(&mut self, pod: &Pod) -> Result<(), Refusal> {
        let uid = self.set.meta.uid.clone();
        self.patch(pod, |pod| pod.meta.owners.retain(|owner| owner.uid != uid))
    }

    fn patch(&mut self, pod: &Pod, change: impl FnOnce(&mut Pod)) -> Result<(), Refusal> {
        let gone = || refusal(RefusalKind::NotFound, "not found");
        let mut pod = self.store.remove(&pod.meta.name).ok_or_else(gone)?;
        change(&mut pod);
        self.put(pod);
        Ok(())
    }

    fn put(&mut self, mut pod: Pod) {
        self.writes += 1;
        pod.meta.resource_version = self.writes.to_string().into();
        self.undelivered.push_back(pod.meta.name.clone());
        self.store.insert(pod.meta.name.clone(), pod);
    }
}

impl Lookup for World {
    fn replica_set(&self, _: &Namespace, name: &Name) -> Option<&ReplicaSet> {
        Some(&self.set).filter(|set| set.meta.name == *name)
    }

    fn replica_sets(&self, _: &Namespace) -> impl Iterator<Item = &ReplicaSet> {
        [&self.set].into_iter()
    }
}

fn name_of(pod: &Pod) -> Name {
    pod.meta.name.clone()
}
