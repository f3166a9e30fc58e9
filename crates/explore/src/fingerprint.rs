//! The fingerprint of a state: equal for states with the same future.
//!
//! Masked are uids, names of pods, versions and times. A version counts only by whether it is the current one, a time
//! by how long ago it was, as far as a rule may depend on it; pods are sorted by what distinguishes them.

use std::collections::BTreeSet;
use std::hash::{Hash as _, Hasher};
use std::sync::Arc;

use gantry_decide::deployment::{Action, Step};
use gantry_decide::replica_set::StatusWrite;
use gantry_model::{
    Deployment, DeploymentConditionType, DeploymentStatus, Limit, Meta, Name, Pod, Readiness, ReplicaSet,
    ReplicaSetStatus, RollingLimits, Strategy, Timestamp,
};

use crate::objects::{Change, VersionedChange, Watched, key};
use crate::set_sync::{SetSync, SyncPhase};
use crate::small_world::SmallWorld;
use crate::state::State;

/// The number of seconds after the effect of a time for which its age is still distinguished.
const AFTERWARDS: i64 = 20;

/// A hasher that mixes by multiplication: faster than the standard one, and the same in every run.
#[derive(Clone, Debug, Default)]
struct MixingHasher(u64);

struct Fingerprint<'a> {
    state: &'a State,
    world: &'a SmallWorld,
    hasher: MixingHasher,
}

/// The fingerprint of a state.
pub(crate) fn fingerprint(state: &State, world: &SmallWorld) -> u64 {
    let mut print = Fingerprint { state, world, hasher: MixingHasher::default() };
    print.whole();
    print.hasher.finish()
}

impl Fingerprint<'_> {
    fn whole(&mut self) {
        let state = self.state;
        (state.budget, state.actions, state.delayed).hash(&mut self.hasher);
        (state.deployment_queued, &state.sets_queued, &state.revisions).hash(&mut self.hasher);
        if self.world.is_timed {
            state.deployment_timer.map(|at| at - state.seconds).hash(&mut self.hasher);
            for (name, at) in &state.set_timers {
                (name, at - state.seconds).hash(&mut self.hasher);
            }
        }
        if let Some(deployment) = &state.server.deployment {
            self.deployment(deployment);
        }
        for set in by_age(state.server.sets.values()) {
            self.set(set);
        }
        if let Some(deployment) = &state.cache.deployment {
            self.copy_of_deployment(deployment);
        }
        for set in by_age(state.cache.sets.values()) {
            self.copy_of_set(set);
        }
        self.memory();
        self.undelivered();
        self.deployment_sync();
        for (name, sync) in &state.set_syncs {
            name.hash(&mut self.hasher);
            self.set_sync(sync);
        }
        self.pods();
    }

    fn memory(&mut self) {
        let state = self.state;
        let is_unseen = |change: &&VersionedChange| change.version <= state.newest_set;
        state.undelivered[Watched::ReplicaSets.index()]
            .iter()
            .filter(is_unseen)
            .count()
            .hash(&mut self.hasher);
        for set in state.newer_sets() {
            self.copy_of_set(set);
        }
        if let Some(deployment) = state.newer_deployment() {
            self.copy_of_deployment(deployment);
        }
        let names: BTreeSet<&Name> = state.server.sets.keys().chain(state.cache.sets.keys()).collect();
        for name in names {
            let expected = state.memory.expectations.expectation_state(state.steady(), &key(name));
            let counts = match expected {
                gantry_decide::replica_set::ExpectationState::Satisfied => None,
                gantry_decide::replica_set::ExpectationState::Pending { creations, deletions, .. } => {
                    Some((creations, deletions))
                }
            };
            let lag = |kind: Watched, version: u64| {
                state.undelivered[kind.index()].iter().filter(|change| change.version <= version).count()
            };
            let [pods, sets] = state.written.get(name).copied().unwrap_or_default();
            (counts, lag(Watched::Pods, pods), lag(Watched::ReplicaSets, sets)).hash(&mut self.hasher);
        }
    }

    fn undelivered(&mut self) {
        let state = self.state;
        for kind in [Watched::Deployments, Watched::ReplicaSets] {
            for change in &state.undelivered[kind.index()] {
                match &change.change {
                    Change::Deployment(Some(deployment)) => self.copy_of_deployment(deployment),
                    Change::ReplicaSet(_, Some(set)) => self.copy_of_set(set),
                    Change::ReplicaSet(name, None) => name.hash(&mut self.hasher),
                    Change::Deployment(None) | Change::Pod(..) => {}
                }
            }
            state.undelivered[kind.index()].len().hash(&mut self.hasher);
        }
        state.undelivered[Watched::Pods.index()].len().hash(&mut self.hasher);
    }

    fn deployment_sync(&mut self) {
        let Some(sync) = &self.state.deployment_sync else { return };
        (sync.decisions, sync.fails, sync.steps.len()).hash(&mut self.hasher);
        if self.world.is_timed {
            format!("{:?}", sync.wake).hash(&mut self.hasher);
        }
        self.copy_of_deployment(&sync.deployment);
        for set in by_age(sync.sets.values()) {
            self.copy_of_set(set);
        }
        for step in &sync.steps {
            self.step(step);
        }
    }

    fn step(&mut self, step: &Step) {
        (step.if_refused as u8).hash(&mut self.hasher);
        match &step.action {
            Action::CreateReplicaSet(draft) => {
                (1_u8, &draft.name, draft.replicas, &draft.annotations).hash(&mut self.hasher);
            }
            Action::UpdateReplicaSet { set, edit, .. } => {
                (2_u8, set, edit.replicas, &edit.annotations, edit.min_ready_seconds).hash(&mut self.hasher);
            }
            Action::DeleteReplicaSet { set } => (3_u8, set).hash(&mut self.hasher),
            Action::UpdateStatus { status, revision } => {
                (4_u8, revision).hash(&mut self.hasher);
                let generation = self.state.server.deployment.as_ref().map_or(0, |live| live.meta.generation);
                self.deployment_status(status, generation);
            }
            Action::UpdateDeployment(edit) => {
                let template = edit.template.as_ref().map(gantry_model::Template::canonical);
                (5_u8, &edit.annotations, template).hash(&mut self.hasher);
            }
            Action::Emit(_) => {}
        }
    }

    fn set_sync(&mut self, sync: &SetSync) {
        self.copy_of_set(&sync.set);
        let ready = sync.active.iter().filter(|pod| pod.is_ready()).count();
        (sync.active.len(), ready, sync.terminating.len()).hash(&mut self.hasher);
        match &sync.phase {
            SyncPhase::Deciding => {}
            SyncPhase::Creating { creations, responses } => {
                let responses: Vec<bool> = responses.iter().map(Result::is_ok).collect();
                (1_u8, format!("{creations:?}"), responses).hash(&mut self.hasher);
            }
            SyncPhase::Deleting { remaining, responses } => {
                (2_u8, remaining.len(), responses.len()).hash(&mut self.hasher);
            }
            SyncPhase::Reporting { report, over, attempts } => {
                (3_u8, report.result.is_ok(), attempts).hash(&mut self.hasher);
                let is_current =
                    is_current(self.state.server.sets.get(&over.meta.name).map(|set| &set.meta), &over.meta);
                is_current.hash(&mut self.hasher);
                if self.world.is_timed {
                    report
                        .next_available_at
                        .map(|look| self.age(Some(look), self.world.min_ready_seconds))
                        .hash(&mut self.hasher);
                }
                if let StatusWrite::Put(status) = &report.status {
                    self.set_status(status, sync.set.meta.generation);
                }
            }
        }
    }

    // === objects ===

    /// Hashes a copy of the Deployment; one that is the stored object itself is recognized by its pointer.
    fn copy_of_deployment(&mut self, deployment: &Arc<Deployment>) {
        if self.state.server.deployment.as_ref().is_some_and(|live| Arc::ptr_eq(live, deployment)) {
            1_u8.hash(&mut self.hasher);
        } else {
            2_u8.hash(&mut self.hasher);
            self.deployment(deployment);
        }
    }

    /// Hashes a copy of a set; one that is the stored object itself is recognized by its pointer.
    fn copy_of_set(&mut self, set: &Arc<ReplicaSet>) {
        if self.state.server.sets.get(&set.meta.name).is_some_and(|live| Arc::ptr_eq(live, set)) {
            (1_u8, &set.meta.name).hash(&mut self.hasher);
        } else {
            2_u8.hash(&mut self.hasher);
            self.set(set);
        }
    }

    fn deployment(&mut self, deployment: &Deployment) {
        let live = self.state.server.deployment.as_ref().map(|live| &live.meta);
        is_current(live, &deployment.meta).hash(&mut self.hasher);
        live.map(|live| live.generation - deployment.meta.generation).hash(&mut self.hasher);
        let template = self.world.templates.iter().position(|template| *template == deployment.template);
        (deployment.replicas, template, deployment.min_ready_seconds, deployment.paused)
            .hash(&mut self.hasher);
        deployment.meta.annotations.hash(&mut self.hasher);
        match &deployment.strategy {
            Strategy::RollingUpdate(Ok(RollingLimits { surge, unavailable })) => {
                (limit(*surge), limit(*unavailable)).hash(&mut self.hasher);
            }
            Strategy::RollingUpdate(Err(_)) | Strategy::Recreate | Strategy::Unknown(_) => {
                1_u8.hash(&mut self.hasher);
            }
        }
        self.deployment_status(&deployment.status, deployment.meta.generation);
    }

    fn deployment_status(&mut self, status: &DeploymentStatus, generation: i64) {
        let counters = (status.replicas, status.updated, status.ready, status.available, status.unavailable);
        (generation - status.observed_generation, counters).hash(&mut self.hasher);
        (status.terminating, status.collision_count).hash(&mut self.hasher);
        for condition in &status.conditions {
            let kind = match condition.condition_type {
                DeploymentConditionType::Available => 0_u8,
                DeploymentConditionType::Progressing => 1,
                DeploymentConditionType::ReplicaFailure => 2,
                DeploymentConditionType::Other(_) => 3,
            };
            (kind, condition.status.as_str(), &condition.reason, &condition.message).hash(&mut self.hasher);
            if self.world.is_timed && kind == 1 {
                self.age(condition.last_update, self.world.deadline_seconds.unwrap_or(0))
                    .hash(&mut self.hasher);
            }
        }
    }

    fn set(&mut self, set: &ReplicaSet) {
        let live = self.state.server.sets.get(&set.meta.name).map(|live| &live.meta);
        is_current(live, &set.meta).hash(&mut self.hasher);
        live.map(|live| (live.uid == set.meta.uid, live.generation - set.meta.generation))
            .hash(&mut self.hasher);
        (&set.meta.name, set.replicas, &set.meta.annotations, set.min_ready_seconds).hash(&mut self.hasher);
        self.set_status(&set.status, set.meta.generation);
    }

    fn set_status(&mut self, status: &ReplicaSetStatus, generation: i64) {
        let counters =
            (status.replicas, status.fully_labeled, status.ready, status.available, status.terminating);
        (generation - status.observed_generation, counters).hash(&mut self.hasher);
        for condition in &status.conditions {
            (condition.status.as_str(), &condition.reason, &condition.message).hash(&mut self.hasher);
        }
    }

    /// How many seconds ago a time was, as far as it matters.
    fn age(&self, time: Option<Timestamp>, matters_for: i32) -> Option<i64> {
        let nanos = self.state.now().as_nanos() - time?.as_nanos();
        Some((nanos / 1_000_000_000).min(i64::from(matters_for) + AFTERWARDS))
    }

    // === pods ===

    fn pods(&mut self) {
        let state = self.state;
        let mut names: BTreeSet<&Name> = state.server.pods.keys().chain(state.cache.pods.keys()).collect();
        for change in &state.undelivered[Watched::Pods.index()] {
            if let Change::Pod(name, _) = &change.change {
                names.insert(name);
            }
        }
        let mut signatures: Vec<u64> = names.into_iter().map(|name| self.signature(name)).collect();
        signatures.sort_unstable();
        signatures.hash(&mut self.hasher);
    }

    /// Hashes everything that distinguishes a pod from others.
    fn signature(&self, name: &Name) -> u64 {
        let state = self.state;
        let mut hasher = MixingHasher::default();
        let server = state.server.pods.get(name);
        let cached = state.cache.pods.get(name);
        self.pod(server.map(|pod| &**pod), &mut hasher);
        match (server, cached) {
            (Some(server), Some(cached)) if Arc::ptr_eq(server, cached) => 1_u8.hash(&mut hasher),
            _ => self.pod(cached.map(|pod| &**pod), &mut hasher),
        }
        for (place, change) in state.undelivered[Watched::Pods.index()].iter().enumerate() {
            if let Change::Pod(changed, pod) = &change.change
                && changed == name
            {
                place.hash(&mut hasher);
                self.pod(pod.as_deref(), &mut hasher);
            }
        }
        for (set, pods) in &state.expected_deletions {
            if pods.contains(name) {
                set.hash(&mut hasher);
            }
        }
        for (set, sync) in &state.set_syncs {
            sync.victims()
                .iter()
                .position(|pod| pod.name == *name)
                .map(|place| (set, place))
                .hash(&mut hasher);
            if let SyncPhase::Deleting { responses, .. } = &sync.phase {
                let response = responses.iter().find(|(pod, _)| pod.name == *name);
                response
                    .map(|(_, response)| response.as_ref().map_err(|refusal| refusal.kind as u8))
                    .hash(&mut hasher);
            }
        }
        if let Some(sync) = &state.deployment_sync {
            let seen = sync.pods.iter().find(|pod| pod.meta.name == *name);
            self.pod(seen.map(|pod| &**pod), &mut hasher);
        }
        hasher.finish()
    }

    fn pod(&self, pod: Option<&Pod>, hasher: &mut MixingHasher) {
        let Some(pod) = pod else {
            0_u8.hash(hasher);
            return;
        };
        let owner = pod.meta.controller();
        let is_live = owner
            .and_then(|owner| self.state.server.sets.get(&owner.name).map(|set| set.meta.uid == owner.uid));
        (owner.map(|owner| &owner.name), is_live, pod.phase as u8).hash(hasher);
        (pod.node.is_some(), pod.meta.is_deleting(), pod.is_ready()).hash(hasher);
        if self.world.is_timed
            && let Readiness::Ready { since } = pod.readiness
        {
            self.age(since, self.world.min_ready_seconds).hash(hasher);
        }
    }
}

impl MixingHasher {
    fn mix(&mut self, word: u64) {
        let product = u128::from(self.0 ^ word ^ 0x9e37_79b9_7f4a_7c15) * 0xda94_2042_e4dd_58b5;
        let high = u64::try_from(product >> 64).unwrap_or(0);
        let low = u64::try_from(product & u128::from(u64::MAX)).unwrap_or(0);
        self.0 = high ^ low.rotate_left(23);
    }
}

impl Hasher for MixingHasher {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.mix(u64::from_le_bytes(word));
        }
        self.mix(bytes.len() as u64);
    }

    fn write_u8(&mut self, word: u8) {
        self.mix(word.into());
    }

    fn write_u32(&mut self, word: u32) {
        self.mix(word.into());
    }

    fn write_u64(&mut self, word: u64) {
        self.mix(word);
    }

    fn write_usize(&mut self, word: usize) {
        self.mix(word as u64);
    }

    fn finish(&self) -> u64 {
        let mut last = self.clone();
        last.mix(0x2545_f491_4f6c_dd1d);
        last.0
    }
}

fn is_current(live: Option<&Meta>, meta: &Meta) -> bool {
    live.is_some_and(|live| live.resource_version == meta.resource_version)
}

/// Sets by age, which the rules sort by.
fn by_age<'a>(sets: impl Iterator<Item = &'a Arc<ReplicaSet>>) -> Vec<&'a Arc<ReplicaSet>> {
    let mut sets: Vec<_> = sets.collect();
    sets.sort_by_key(|set| set.meta.created);
    sets
}

fn limit(limit: Limit) -> (u8, i32) {
    match limit {
        Limit::Count(count) => (0, count),
        Limit::Percent(percent) => (1, percent),
    }
}
