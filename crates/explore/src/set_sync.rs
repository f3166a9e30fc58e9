//! The ReplicaSet controller: a sync observes, creates or deletes pods one by one, and reports.

use std::sync::Arc;

use gantry_decide::Wake;
use gantry_decide::ownership::may_adopt;
use gantry_decide::replica_set::{
    Action, AfterFailedWrite, Decision, ExpectationState, ManageResult, Observed, PendingCreations,
    PendingDeletions, StatusWrite, SyncReport, SyncStart, after_failed_write, classify_pods, decide,
    must_be_confirmed, report,
};
use gantry_decide::written_versions::{CachedResource, ReadVersions};
use gantry_model::{
    Name, ObjectKey, Phase, Pod, PodDraft, Readiness, Refusal, ReplicaSet, ReplicaSetStatus, ResourceVersion,
    Timestamp,
};

use crate::deployment_sync::whole_seconds;
use crate::drafts;
use crate::objects::{Watched, key, version_of};
use crate::properties;
use crate::small_world::{Mutant, SmallWorld};
use crate::state::{State, WriteFault, after, not_found};

/// A sync in progress.
#[derive(Clone, Debug)]
pub(crate) struct SetSync {
    /// The set as it was cached.
    pub(crate) set: Arc<ReplicaSet>,
    expectation_state: ExpectationState,
    pub(crate) active: Vec<Arc<Pod>>,
    pub(crate) terminating: Vec<Arc<Pod>>,
    decision: Arc<Decision>,
    pub(crate) phase: SyncPhase,
}

/// The phase of a sync.
#[derive(Clone, Debug)]
pub(crate) enum SyncPhase {
    /// No pods have to be created or deleted.
    Deciding,
    /// Pods are being created: the responses so far to the present batch.
    Creating { creations: PendingCreations, responses: Vec<Result<Name, Refusal>> },
    /// These pods are still to be deleted.
    Deleting { remaining: Vec<ObjectKey>, responses: Vec<(ObjectKey, Result<(), Refusal>)> },
    /// The status is to be written over this version of the set.
    Reporting { report: Box<SyncReport>, over: Arc<ReplicaSet>, attempts: u32 },
}

impl State {
    /// Begins a sync of a set. Where the order of pods is only decided by uid, `reversed` reverses it.
    pub(crate) fn begin_set_sync(&mut self, world: &SmallWorld, name: &Name, reversed: bool) {
        self.sets_queued.remove(name);
        let cached = self.cache.sets.get(name).cloned();
        let (steady, read) = (self.steady(), self.read_versions(world));
        match self.memory.begin_sync(steady, &key(name), cached.as_deref(), &read) {
            Ok(SyncStart::Present(_, expectation_state)) => {
                if let Some(set) = cached {
                    self.decide_set(world, set, expectation_state, reversed);
                }
            }
            Ok(SyncStart::Gone) => {}
            Err(_) => {
                self.sets_queued.insert(name.clone());
            }
        }
    }

    fn decide_set(
        &mut self,
        world: &SmallWorld,
        set: Arc<ReplicaSet>,
        expectation_state: ExpectationState,
        reversed: bool,
    ) {
        let name = set.meta.name.clone();
        let show = |pod: &Arc<Pod>| if reversed { Arc::new(flipped(pod)) } else { pod.clone() };
        let shown: Vec<Arc<Pod>> = self.cache.pods.values().map(show).collect();
        let shown = || shown.iter().map(|pod| &**pod);
        let Ok(classified) = classify_pods(&set, expectation_state, shown()) else { return };
        let Ok(observed) = classified.claimed([], []) else { return };
        let observed = observed.among(self.cache.sets.values().map(|set| &**set), shown());
        let decision = decide(self.now(), &observed);
        let live = self.server.sets.get(&name).map(|live| &live.meta);
        if must_be_confirmed(&observed, &decision) && may_adopt(&set.meta.uid, live).is_err() {
            self.sets_queued.insert(name);
            return;
        }
        let by_name = |shown: &[&Pod]| -> Vec<Arc<Pod>> {
            shown.iter().filter_map(|pod| self.cache.pods.get(&pod.meta.name)).cloned().collect()
        };
        let (active, terminating) = (by_name(&observed.active), by_name(&observed.terminating));
        self.expect(world, &name, &decision.action);
        let phase = match &decision.action {
            Action::Create { count, .. } => {
                let creations = PendingCreations::new(key(&name), *count);
                SyncPhase::Creating { creations, responses: Vec::new() }
            }
            Action::Delete { pods } => {
                let mut remaining = pods.clone();
                remaining.sort();
                SyncPhase::Deleting { remaining, responses: Vec::new() }
            }
            Action::Nothing | Action::CannotCreate(_) => SyncPhase::Deciding,
        };
        let decision = Arc::new(decision);
        let sync = SetSync { set, expectation_state, active, terminating, decision, phase };
        if matches!(sync.phase, SyncPhase::Deciding) {
            self.managed(sync, &ManageResult::nothing());
        } else {
            self.set_syncs.insert(name, sync);
        }
    }

    fn expect(&mut self, world: &SmallWorld, set: &Name, action: &Action) {
        action.set_expectations(self.steady(), &key(set), &mut self.memory.expectations);
        match action {
            Action::Delete { pods } => {
                let pods = pods.iter().map(|pod| pod.name.clone()).collect();
                self.expected_deletions.insert(set.clone(), pods);
            }
            Action::Create { .. } => {
                self.expected_deletions.remove(set);
            }
            Action::Nothing | Action::CannotCreate(_) => {}
        }
        if world.mutant == Some(Mutant::NoExpectations) {
            self.forget_expectations(set);
        }
    }

    pub(crate) fn read_versions(&self, world: &SmallWorld) -> ReadVersions {
        let is_unchecked = matches!(world.mutant, Some(Mutant::NoExpectations | Mutant::NoVersionCheck));
        let reached = |kind: Watched| -> ResourceVersion {
            if is_unchecked { u64::MAX } else { self.reached[kind.index()] }.to_string().into()
        };
        ReadVersions::from([
            (CachedResource::Pods, reached(Watched::Pods)),
            (CachedResource::ReplicaSets, reached(Watched::ReplicaSets)),
        ])
    }

    /// Sends the next request of a sync.
    pub(crate) fn set_step(&mut self, world: &SmallWorld, name: &Name, fault: WriteFault) {
        let Some(mut sync) = self.set_syncs.remove(name) else { return };
        match &mut sync.phase {
            SyncPhase::Creating { creations, responses } => {
                let Action::Create { draft, .. } = &sync.decision.action else { return };
                let response = self.write(fault, |state| Ok(state.create_pod(draft)));
                if let Some(violation) = properties::pod_created(&sync.set, &self.server) {
                    self.violated(violation);
                }
                if let Ok(pod) = &response {
                    self.wrote(&sync.set, CachedResource::Pods, version_of(&pod.meta));
                }
                responses.push(response.map(|pod| pod.meta.name.clone()));
                if creations.batch().is_some_and(|batch| responses.len() >= batch) {
                    creations.completed(std::mem::take(responses));
                }
                if creations.batch().is_some() {
                    self.set_syncs.insert(name.clone(), sync);
                    return;
                }
                let result = creations.clone().finish();
                self.managed(sync, &result);
            }
            SyncPhase::Deleting { remaining, responses } => {
                let pod = remaining.remove(0);
                let response = self.write(fault, |state| state.delete_pod(&pod.name));
                responses.push((pod, response));
                if !remaining.is_empty() {
                    self.set_syncs.insert(name.clone(), sync);
                    return;
                }
                let mut deletions = PendingDeletions::new(key(name));
                for (pod, response) in std::mem::take(responses) {
                    deletions.answered(&pod, response);
                }
                self.managed(sync, &deletions.finish());
            }
            SyncPhase::Deciding | SyncPhase::Reporting { .. } => self.write_set_status(world, sync, fault),
        }
    }

    /// Lowers expectations and continues with the status.
    fn managed(&mut self, mut sync: SetSync, result: &ManageResult) {
        for met in &result.met {
            self.lower(met);
        }
        let report = sync.report(self.now(), result);
        let over = sync.set.clone();
        sync.phase = SyncPhase::Reporting { report: Box::new(report), over, attempts: 0 };
        self.report_or_end(sync);
    }

    /// Keeps a sync that has a status to write, and ends one that has none.
    fn report_or_end(&mut self, sync: SetSync) {
        let SyncPhase::Reporting { report, .. } = &sync.phase else { return };
        match report.status {
            StatusWrite::Put(_) => {
                self.set_syncs.insert(sync.set.meta.name.clone(), sync);
            }
            StatusWrite::Unchanged => self.end_set_sync(&sync.set.meta.name, &report.clone()),
        }
    }

    fn end_set_sync(&mut self, name: &Name, report: &SyncReport) {
        match report.wake(self.now()) {
            Wake::OnChange => {}
            Wake::Soon => {
                self.sets_queued.insert(name.clone());
            }
            Wake::After(delay) => self.set_timer(name, self.seconds + whole_seconds(delay)),
        }
    }

    fn write_set_status(&mut self, world: &SmallWorld, mut sync: SetSync, fault: WriteFault) {
        let name = sync.set.meta.name.clone();
        let SyncPhase::Reporting { report, over, attempts } = &mut sync.phase else { return };
        let StatusWrite::Put(status) = &report.status else { return };
        *attempts += 1;
        let (over, status, attempts) = (over.clone(), status.clone(), *attempts);
        let response = self.write(fault, |state| state.store_set_status(world, &over, &status));
        match response {
            Ok(stored) => {
                self.wrote(&sync.set, CachedResource::ReplicaSets, version_of(&stored.meta));
                let SyncPhase::Reporting { report, .. } = sync.phase else { return };
                self.end_set_sync(&name, &report);
            }
            Err(_) => match (after_failed_write(attempts), self.server.sets.get(&name)) {
                (AfterFailedWrite::ReadAndPutAgain, Some(live)) => {
                    if let SyncPhase::Reporting { over, .. } = &mut sync.phase {
                        *over = live.clone();
                    }
                    self.set_syncs.insert(name, sync);
                }
                _ => {
                    self.sets_queued.insert(name);
                }
            },
        }
    }

    fn store_set_status(
        &mut self,
        world: &SmallWorld,
        over: &ReplicaSet,
        status: &ReplicaSetStatus,
    ) -> Result<Arc<ReplicaSet>, Refusal> {
        self.set_at_version(over, world.mutant)?;
        let current =
            self.server.sets.get(&over.meta.name).cloned().ok_or_else(|| not_found(&over.meta.name))?;
        let mut set = ReplicaSet::clone(&current);
        set.status = status.clone();
        if set == *current { Ok(current) } else { Ok(self.put_set(set)) }
    }

    fn create_pod(&mut self, draft: &PodDraft) -> Arc<Pod> {
        self.created += 1;
        let name = format!("{}{:04}", draft.generate_name, self.created);
        let mut meta = drafts::meta(&name, &format!("pod-{:04}", self.created));
        meta.labels = draft.template.labels().cloned().unwrap_or_default();
        meta.owners = vec![draft.owner.clone()];
        self.put_pod(Pod::pending(meta))
    }

    fn wrote(&mut self, set: &ReplicaSet, resource: CachedResource, version: u64) {
        self.memory.wrote(set, resource, &version.to_string().into());
        let index = usize::from(resource == CachedResource::ReplicaSets);
        let written = self.written.entry(set.meta.name.clone()).or_default();
        written[index] = written[index].max(version);
    }

    /// The remaining work of the ReplicaSet controller on a set that is not queued; `None` in a settled state.
    pub(crate) fn unfinished_set(&self, set: &ReplicaSet) -> Option<String> {
        let pods: Vec<Pod> = self.cache.pods.values().map(|pod| Pod::clone(pod)).collect();
        let classified = classify_pods(set, ExpectationState::Satisfied, &pods).ok()?;
        let observed = classified.claimed([], []).ok()?;
        let decision = decide(self.now(), &observed);
        let report = report(self.now(), &observed, &decision, &ManageResult::nothing());
        (decision.action != Action::Nothing || report.status != StatusWrite::Unchanged)
            .then(|| format!("{} would still be synced: {:?}", set.meta.name, decision.waiting_on))
    }
}

impl SetSync {
    fn report(&self, now: Timestamp, result: &ManageResult) -> SyncReport {
        let observed = Observed {
            set: &self.set,
            expectation_state: self.expectation_state,
            active: self.active.iter().map(|pod| &**pod).collect(),
            terminating: self.terminating.iter().map(|pod| &**pod).collect(),
            related: Vec::new(),
        };
        report(now, &observed, &self.decision, result)
    }

    /// The pods that are yet to be deleted.
    pub(crate) fn victims(&self) -> &[ObjectKey] {
        match &self.phase {
            SyncPhase::Deleting { remaining, .. } => remaining,
            SyncPhase::Deciding | SyncPhase::Creating { .. } | SyncPhase::Reporting { .. } => &[],
        }
    }
}

/// A pod whose uid sorts the other way. Uids decide between pods that are otherwise equal, and they are random: so both
/// orders are explored.
fn flipped(pod: &Pod) -> Pod {
    let mut pod = pod.clone();
    let uid: String = pod.meta.uid.text().bytes().map(|byte| char::from(b'~' - (byte - b' '))).collect();
    pod.meta.uid = uid.into();
    pod
}

/// A pod that became ready now.
pub(crate) fn ready_pod(pod: &Pod, seconds: i64) -> Pod {
    let mut pod = pod.clone();
    pod.phase = Phase::Running;
    pod.node = Some("node-1".into());
    pod.readiness = Readiness::Ready { since: Some(after(seconds)) };
    pod
}
