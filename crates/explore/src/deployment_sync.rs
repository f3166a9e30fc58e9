//! The Deployment controller: a sync takes a snapshot of the caches, decides, and carries the steps out one by one.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use gantry_decide::Wake;
use gantry_decide::deployment::{
    Action, IfRefused, Observed, RefusedStep, Step, SyncError, SyncResult, decide,
};
use gantry_decide::ownership::may_adopt;
use gantry_decide::written_versions::CachedResource;
use gantry_model::{
    Deployment, DeploymentEdit, DeploymentStatus, Limit, Meta, Name, Pod, Refusal, RefusalKind, ReplicaSet,
    ReplicaSetDraft, ReplicaSetEdit, ReplicaSetStatus, SetKind, Strategy, keys,
};

use crate::drafts;
use crate::objects::version_of;
use crate::properties;
use crate::small_world::{Mutant, SmallWorld};
use crate::state::{State, WriteFault, after, not_found};

/// How often one sync may decide again after a refusal.
const DECISIONS_MAX: u8 = 10;

/// A sync in progress.
#[derive(Clone, Debug)]
pub(crate) struct DeploymentSync {
    pub(crate) deployment: Arc<Deployment>,
    pub(crate) sets: BTreeMap<Name, Arc<ReplicaSet>>,
    pub(crate) pods: Vec<Arc<Pod>>,
    /// The remaining steps.
    pub(crate) steps: Vec<Step>,
    pub(crate) fails: bool,
    pub(crate) wake: Wake,
    pub(crate) decisions: u8,
}

impl State {
    /// Begins a sync: takes a snapshot and decides.
    pub(crate) fn begin_deployment_sync(&mut self, world: &SmallWorld) {
        self.deployment_queued = false;
        let name = self.cache.deployment.as_ref().map(|deployment| deployment.meta.key());
        let read = self.read_versions(world);
        if name.is_some_and(|name| self.created_sets.check(&name, &read).is_err()) {
            self.deployment_queued = true;
            return;
        }
        let Some(deployment) = self.newer_deployment().or(self.cache.deployment.as_ref()).cloned() else {
            return;
        };
        let mut sets: BTreeMap<Name, Arc<ReplicaSet>> =
            self.cache.owned_sets().map(|set| (set.meta.name.clone(), set.clone())).collect();
        sets.extend(self.newer_sets().map(|set| (set.meta.name.clone(), set.clone())));
        let pods = match deployment.strategy {
            Strategy::Recreate => self.cache.pods.values().cloned().collect(),
            Strategy::RollingUpdate(_) | Strategy::Unknown(_) => Vec::new(),
        };
        let sync = DeploymentSync {
            deployment,
            sets,
            pods,
            steps: Vec::new(),
            fails: false,
            wake: Wake::OnChange,
            decisions: 0,
        };
        self.decide_deployment(world, sync, None);
    }

    /// Decides, and ends the sync if nothing has to be done.
    fn decide_deployment(
        &mut self,
        world: &SmallWorld,
        mut sync: DeploymentSync,
        refused: Option<RefusedStep>,
    ) {
        sync.decisions += 1;
        if sync.decisions > DECISIONS_MAX {
            self.deployment_queued = true;
            return;
        }
        let (decision, must_be_confirmed) = {
            let view = MutatedView::of(world, &sync);
            let (sets, pods) = (view.sets(), view.pods());
            let observed = Observed {
                deployment: view.deployment(),
                sets: &sets,
                pods: &pods,
                refused,
                repairs: world.repairs,
            };
            let decision = decide(self.now(), &observed);
            let must_be_confirmed = decision.must_be_confirmed(&observed);
            (decision, must_be_confirmed)
        };
        let live = self.server.deployment.as_ref().map(|live| &live.meta);
        if must_be_confirmed && may_adopt(&sync.deployment.meta.uid, live).is_err() {
            self.deployment_queued = true;
            return;
        }
        sync.fails = !matches!(
            decision.result,
            SyncResult::Done | SyncResult::Failed(SyncError::NamespaceTerminating)
        );
        sync.wake = decision.wake;
        sync.steps = decision.steps;
        sync.steps.retain(|step| !matches!(step.action, Action::Emit(_)));
        self.continue_deployment(world, sync);
    }

    /// Keeps a sync with remaining steps, and ends one without.
    fn continue_deployment(&mut self, world: &SmallWorld, sync: DeploymentSync) {
        if !sync.steps.is_empty() {
            self.deployment_sync = Some(sync);
            return;
        }
        self.deployment_queued |= sync.fails;
        match sync.wake {
            Wake::OnChange => {}
            Wake::Soon => self.deployment_timer_at(self.seconds + 1),
            // Without time, a short delay ends at once.
            Wake::After(delay) if !world.is_timed && delay <= Duration::from_secs(1) => {
                self.deployment_queued = true;
            }
            Wake::After(delay) => self.deployment_timer_at(self.seconds + whole_seconds(delay)),
        }
    }

    fn deployment_timer_at(&mut self, at: i64) {
        self.deployment_timer = Some(self.deployment_timer.map_or(at, |timer| timer.min(at)));
    }

    /// Carries out the next step.
    pub(crate) fn deployment_step(&mut self, world: &SmallWorld, fault: WriteFault) {
        let Some(mut sync) = self.deployment_sync.take() else { return };
        let step = sync.steps.remove(0);
        let before = self.server.clone();
        let response = self.carry_out(world, &mut sync, &step, fault);
        if let Some(violation) = properties::deployment_write(world, &sync.deployment, &before, &self.server)
        {
            self.violated(violation);
        }
        self.record_revisions();
        match response {
            Ok(()) => self.continue_deployment(world, sync),
            Err(_) if world.mutant == Some(Mutant::RefusalsIgnored) => {
                self.continue_deployment(world, sync);
            }
            Err(refusal) => self.deployment_refused(world, sync, &step, refusal),
        }
    }

    fn deployment_refused(
        &mut self,
        world: &SmallWorld,
        sync: DeploymentSync,
        step: &Step,
        refusal: Refusal,
    ) {
        match step.if_refused {
            IfRefused::Ignore => self.continue_deployment(world, sync),
            IfRefused::Fail => self.deployment_queued = true,
            IfRefused::DecideOnScaleDown => {
                self.decide_deployment(world, sync, Some(RefusedStep::ScaleDownFailed));
            }
            IfRefused::DecideOnCreate => {
                let existing = match &step.action {
                    Action::CreateReplicaSet(draft) if refusal.kind == RefusalKind::AlreadyExists => {
                        self.cache.sets.get(&draft.name).map(|set| Box::new(ReplicaSet::clone(set)))
                    }
                    _ => None,
                };
                let refused = RefusedStep::CreateRefused { refusal, existing };
                self.decide_deployment(world, sync, Some(refused));
            }
        }
    }

    fn carry_out(
        &mut self,
        world: &SmallWorld,
        sync: &mut DeploymentSync,
        step: &Step,
        fault: WriteFault,
    ) -> Result<(), Refusal> {
        let mutant = world.mutant;
        match &step.action {
            Action::CreateReplicaSet(draft) => {
                let stored = self.write(fault, |state| state.create_set(draft, mutant))?;
                self.created_set(&sync.deployment, &stored);
                self.last_writes.sets.insert(stored.meta.name.clone(), stored.clone());
                sync.sets.insert(stored.meta.name.clone(), stored);
            }
            Action::UpdateReplicaSet { set, edit, .. } => {
                let known = sync.sets.get(set).or_else(|| self.cache.sets.get(set)).cloned();
                let known = known.ok_or_else(|| not_found(set))?;
                let stored = self.write(fault, |state| state.update_set(&known, edit, mutant))?;
                self.last_writes.sets.insert(stored.meta.name.clone(), stored.clone());
                sync.sets.insert(stored.meta.name.clone(), stored);
            }
            Action::DeleteReplicaSet { set } => {
                let known = sync.sets.get(set).cloned();
                self.write(fault, |state| state.delete_set(set, known.as_deref()))?;
                sync.sets.remove(set);
            }
            Action::UpdateStatus { status, revision } => {
                let read = sync.deployment.clone();
                sync.deployment = self.write(fault, |state| {
                    state.write_deployment_status(&read, status, revision.as_deref(), mutant)
                })?;
                self.last_writes.deployment = Some(sync.deployment.clone());
            }
            Action::UpdateDeployment(edit) => {
                let read = sync.deployment.clone();
                sync.deployment = self.write(fault, |state| state.edit_deployment(&read, edit, mutant))?;
                self.last_writes.deployment = Some(sync.deployment.clone());
            }
            Action::Emit(_) => {}
        }
        Ok(())
    }

    /// Records a set that was created: the cache has to show it before the next sync.
    fn created_set(&mut self, deployment: &Deployment, set: &ReplicaSet) {
        let (meta, version) = (&deployment.meta, &set.meta.resource_version);
        self.created_sets.wrote(&meta.key(), &meta.uid, CachedResource::ReplicaSets, version);
        self.newest_set = self.newest_set.max(version_of(&set.meta));
    }

    /// The written sets that the cache shows in an older state.
    pub(crate) fn newer_sets(&self) -> impl Iterator<Item = &Arc<ReplicaSet>> {
        self.last_writes.sets.values().filter(|written| {
            self.cache
                .sets
                .get(&written.meta.name)
                .is_some_and(|cached| is_newer(&written.meta, &cached.meta))
        })
    }

    /// The written Deployment, if the cache shows it in an older state.
    pub(crate) fn newer_deployment(&self) -> Option<&Arc<Deployment>> {
        let cached = self.cache.deployment.as_ref()?;
        self.last_writes.deployment.as_ref().filter(|written| is_newer(&written.meta, &cached.meta))
    }

    // === the server ===

    fn create_set(
        &mut self,
        draft: &ReplicaSetDraft,
        mutant: Option<Mutant>,
    ) -> Result<Arc<ReplicaSet>, Refusal> {
        if self.server.sets.contains_key(&draft.name) {
            return Err(Refusal::new(RefusalKind::AlreadyExists, format!("{} already exists", draft.name)));
        }
        self.created += 1;
        let mut meta = drafts::meta(draft.name.as_str(), &format!("set-{:04}", self.created));
        // Ages differ even if the clock does not advance.
        meta.created = Some(after(i64::try_from(self.created).unwrap_or(0) - 1_000_000));
        meta.labels.clone_from(&draft.labels);
        meta.annotations.clone_from(&draft.annotations);
        meta.owners = vec![draft.owner.clone()];
        if mutant == Some(Mutant::RevisionReused) {
            meta.annotations.insert(keys::REVISION.to_owned(), "1".to_owned());
        }
        Ok(self.put_set(ReplicaSet {
            kind: SetKind::ReplicaSet,
            meta,
            replicas: draft.replicas,
            selector: Ok(draft.selector.clone()),
            template: draft.template.clone(),
            min_ready_seconds: draft.min_ready_seconds,
            status: ReplicaSetStatus::default(),
        }))
    }

    fn update_set(
        &mut self,
        read: &ReplicaSet,
        edit: &ReplicaSetEdit,
        mutant: Option<Mutant>,
    ) -> Result<Arc<ReplicaSet>, Refusal> {
        self.set_at_version(read, mutant)?;
        let current =
            self.server.sets.get(&read.meta.name).cloned().ok_or_else(|| not_found(&read.meta.name))?;
        let mut set = ReplicaSet::clone(&current);
        set.replicas = edit.replicas;
        set.min_ready_seconds = edit.min_ready_seconds;
        if (set.replicas, set.min_ready_seconds) != (current.replicas, current.min_ready_seconds) {
            set.meta.generation += 1;
        }
        set.meta.annotations.clone_from(&edit.annotations);
        if set == *current { Ok(current) } else { Ok(self.put_set(set)) }
    }

    fn delete_set(&mut self, name: &Name, known: Option<&ReplicaSet>) -> Result<(), Refusal> {
        match (self.server.sets.get(name), known) {
            (Some(current), Some(known)) if current.meta.uid != known.meta.uid => {
                Err(Refusal::new(RefusalKind::Conflict, "another uid"))
            }
            (Some(_), _) => {
                self.remove_set(name);
                Ok(())
            }
            (None, _) => Ok(()),
        }
    }

    fn write_deployment_status(
        &mut self,
        read: &Deployment,
        status: &DeploymentStatus,
        revision: Option<&str>,
        mutant: Option<Mutant>,
    ) -> Result<Arc<Deployment>, Refusal> {
        let current = self.deployment_at_version(read, mutant)?;
        let mut deployment = Deployment::clone(&current);
        deployment.status = status.clone();
        if let Some(revision) = revision {
            deployment.meta.annotations.insert(keys::REVISION.to_owned(), revision.to_owned());
        }
        if deployment == *current { Ok(current) } else { Ok(self.put_deployment(deployment)) }
    }

    fn edit_deployment(
        &mut self,
        read: &Deployment,
        edit: &DeploymentEdit,
        mutant: Option<Mutant>,
    ) -> Result<Arc<Deployment>, Refusal> {
        let current = self.deployment_at_version(read, mutant)?;
        // The whole object is replaced by the version that the writer has read and changed.
        let mut deployment = read.clone();
        deployment.meta.resource_version = current.meta.resource_version.clone();
        deployment.meta.generation = current.meta.generation;
        deployment.status = current.status.clone();
        deployment.meta.annotations.clone_from(&edit.annotations);
        if let Some(template) = &edit.template {
            deployment.template = template.clone();
        }
        if deployment == *current {
            return Ok(current);
        }
        deployment.meta.generation += 1;
        Ok(self.put_deployment(deployment))
    }

    /// Records which set has which revision: none may have that of another.
    fn record_revisions(&mut self) {
        for set in self.server.sets.values() {
            let revision =
                set.meta.annotations.get(keys::REVISION).and_then(|revision| revision.parse().ok());
            let Some(revision) = revision else { continue };
            let holder = self.revisions.entry(revision).or_insert_with(|| set.meta.uid.clone());
            if *holder != set.meta.uid {
                let violation =
                    format!("no revision is used twice: {} has revision {revision} again", set.meta.name);
                self.violation.get_or_insert(violation);
            }
        }
    }
}

/// The observed objects, as changed by a mutant.
struct MutatedView<'a> {
    sync: &'a DeploymentSync,
    deployment: Option<Deployment>,
    sets: Option<Vec<ReplicaSet>>,
    overlooks_pods: bool,
}

impl<'a> MutatedView<'a> {
    fn of(world: &SmallWorld, sync: &'a DeploymentSync) -> Self {
        let mut view = Self { sync, deployment: None, sets: None, overlooks_pods: false };
        match world.mutant {
            Some(Mutant::SurgePlusOne) => view.deployment = Some(with_limits(&sync.deployment, 1, 0)),
            Some(Mutant::UnavailablePlusOne) => view.deployment = Some(with_limits(&sync.deployment, 0, 1)),
            Some(Mutant::AllPodsAvailable) => {
                let all_available = |set: &Arc<ReplicaSet>| {
                    let mut set = ReplicaSet::clone(set);
                    (set.status.ready, set.status.available) = (set.replicas, set.replicas);
                    set
                };
                view.sets = Some(sync.sets.values().map(all_available).collect());
            }
            Some(Mutant::OldPodsOverlooked) => {
                view.overlooks_pods = true;
            }
            _ => {}
        }
        view
    }

    fn deployment(&self) -> &Deployment {
        self.deployment.as_ref().unwrap_or(&self.sync.deployment)
    }

    fn sets(&self) -> Vec<&ReplicaSet> {
        match &self.sets {
            Some(sets) => sets.iter().collect(),
            None => self.sync.sets.values().map(|set| &**set).collect(),
        }
    }

    fn pods(&self) -> Vec<&Pod> {
        if self.overlooks_pods { Vec::new() } else { self.sync.pods.iter().map(|pod| &**pod).collect() }
    }
}

fn with_limits(deployment: &Deployment, surge: i32, unavailable: i32) -> Deployment {
    let mut deployment = deployment.clone();
    if let Strategy::RollingUpdate(Ok(limits)) = &mut deployment.strategy {
        let more = |limit: &mut Limit, by: i32| {
            if let Limit::Count(count) = limit {
                *count += by;
            }
        };
        more(&mut limits.surge, surge);
        more(&mut limits.unavailable, unavailable);
    }
    deployment
}

/// The delay in whole seconds, rounded up.
pub(crate) fn whole_seconds(delay: Duration) -> i64 {
    i64::try_from(delay.as_nanos().div_ceil(1_000_000_000)).unwrap_or(i64::MAX)
}

/// Whether one state of an object is newer than another one.
fn is_newer(one: &Meta, other: &Meta) -> bool {
    one.uid == other.uid && version_of(one) > version_of(other)
}
