//! A small cluster: the API server of `api`, and a collector that is driven step by step until nothing changes.

use std::collections::{BTreeSet, VecDeque};

use gantry_model::patch::MetadataPatch;
use gantry_model::{Identity, ObjectMetadata, OwnerReference, Uid};

use super::api::Api;
use super::{Memory, Served, uid};
use crate::gc::attempt::{self, PatchResult};
use crate::gc::orphan::{self, Orphaning};
use crate::gc::{
    AttemptAction, AttemptResult, AttemptStep, DeleteRequest, Effect, EnqueueMode, GraphChange,
    ItemDisposition, KindLookup, ObjectEvent, Propagation, QueueItem, ResourceScope,
};

/// The number of rounds of retries without any write after which the cluster counts as settled.
const QUIET_ROUNDS: u32 = 12;

/// The maximum number of steps of a test.
const STEPS_MAX: u32 = 50_000;

/// An item of a queue.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Work {
    Delete(QueueItem),
    Orphan(Uid),
}

/// The API server, the collector, and a record of what they did.
#[derive(Default)]
pub(super) struct Cluster {
    pub(super) api: Api,
    pub(super) memory: Memory,
    queue: VecDeque<Work>,
    /// Work that waits for its rate limit.
    later: Vec<Work>,
    /// The requests of the collector, one line each.
    pub(super) log: Vec<String>,
    pub(super) reports: Vec<ObjectEvent>,
    /// Deletions of objects that an owner or the lack of owners should have prevented.
    pub(super) violations: Vec<String>,
    /// A change that is made to the object right before the next delete request.
    pub(super) interfere: Option<fn(&mut Api, &Uid)>,
}

impl Cluster {
    /// A cluster in which these objects were created, in this order.
    pub(super) fn of(objects: &[&ObjectMetadata]) -> Self {
        let mut cluster = Self::default();
        for object in objects {
            cluster.api.create((*object).clone());
        }
        cluster
    }

    /// Deletes an object as a user, and runs the controllers until nothing changes.
    pub(super) fn delete(&mut self, object: &ObjectMetadata, propagation: Propagation) -> &mut Self {
        self.request_deletion(&uid(object), propagation);
        self.settle()
    }

    /// Deletes the object with this uid as a user, if it exists.
    pub(super) fn request_deletion(&mut self, uid: &Uid, propagation: Propagation) {
        if let Some(target) = self.api.by_uid(uid).map(|object| object.identity.clone()) {
            self.api.delete(&DeleteRequest { target, propagation, uid: uid.clone(), version: None });
        }
    }

    pub(super) fn exists(&self, object: &ObjectMetadata) -> bool {
        self.api.by_uid(&uid(object)).is_some()
    }

    /// The names of the owners that an object has now.
    pub(super) fn owners(&self, object: &ObjectMetadata) -> Vec<String> {
        let stored = self.api.by_uid(&uid(object));
        stored.into_iter().flat_map(|object| &object.owners).map(|owner| owner.name.to_string()).collect()
    }

    /// Whether work on the object waits for a retry.
    pub(super) fn is_retrying(&self, object: &ObjectMetadata) -> bool {
        self.later.iter().any(|work| matches!(work, Work::Delete(item) if *item.uid() == uid(object)))
    }

    /// Delivers changes, processes items and retries until nothing changes.
    pub(super) fn settle(&mut self) -> &mut Self {
        let (mut quiet, mut writes) = (0, self.api.writes);
        for _ in 0..STEPS_MAX {
            if self.deliver() || self.work(0) {
                continue;
            }
            quiet = if self.api.writes == writes { quiet + 1 } else { 0 };
            writes = self.api.writes;
            if quiet == QUIET_ROUNDS || self.later.is_empty() {
                return self;
            }
            self.let_time_pass();
        }
        panic!("does not settle: {:#?}", &self.log[self.log.len().saturating_sub(20)..]);
    }

    /// Ends the delay of everything that waits for its rate limit.
    pub(super) fn let_time_pass(&mut self) {
        for work in std::mem::take(&mut self.later) {
            self.enqueue(work, EnqueueMode::AtOnce);
        }
    }

    /// Delivers the next change to the graph, if there is one.
    pub(super) fn deliver(&mut self) -> bool {
        let Some(change) = self.api.watch.pop_front() else { return false };
        for effect in self.memory.graph.observe(change, &mut self.memory.absent) {
            match effect {
                Effect::AttemptToDelete(item, pace) => self.enqueue(Work::Delete(item), pace),
                Effect::AttemptToOrphan(uid) => self.enqueue(Work::Orphan(uid), EnqueueMode::AtOnce),
                Effect::RecordEvent(report) => self.reports.push(report),
            }
        }
        true
    }

    /// Processes one item of the queue, if there is any.
    pub(super) fn work(&mut self, nth: usize) -> bool {
        if self.queue.is_empty() {
            return false;
        }
        let Some(work) = self.queue.remove(nth % self.queue.len()) else { return false };
        let (item, outcome) = match &work {
            Work::Delete(item) => {
                let step = attempt::begin(item, &self.memory.context());
                (item.clone(), self.drive(step))
            }
            Work::Orphan(uid) => (QueueItem::Observed(uid.clone()), self.orphan(uid)),
        };
        if outcome.disposition(&item, &self.memory.graph) == ItemDisposition::Retry {
            self.enqueue(work, EnqueueMode::RateLimited);
        }
        match outcome {
            AttemptResult::Absent(identity) => {
                self.api.watch.push_back(GraphChange::VerifiedAbsent(identity));
            }
            AttemptResult::Settled { did: AttemptAction::Enqueued(items), .. } => {
                for item in items {
                    self.enqueue(Work::Delete(item), EnqueueMode::AtOnce);
                }
            }
            AttemptResult::Settled { .. } | AttemptResult::Failed(_) => {}
        }
        true
    }

    fn orphan(&mut self, owner: &Uid) -> AttemptResult {
        match orphan::begin(owner, &self.memory.context()) {
            Orphaning::Done(outcome) => outcome,
            Orphaning::Release(releases, afterwards) => {
                let outcomes = releases.into_iter().map(|step| self.drive(step)).collect();
                self.drive(afterwards.resume(outcomes))
            }
        }
    }

    /// Carries out the steps until the attempt is done.
    pub(super) fn drive(&mut self, mut step: AttemptStep) -> AttemptResult {
        loop {
            step = match step {
                AttemptStep::Read(identity, reading) => {
                    let response = self.api.read(&identity);
                    reading.resume(response, &mut self.memory.context())
                }
                AttemptStep::Patch(identity, patch, patching) => {
                    let response = self.api.patch(&identity, &patch);
                    let refusal = match &response {
                        PatchResult::Patched(_) => String::new(),
                        refusal => format!(": {refusal:?}"),
                    };
                    self.log.push(format!("{}{refusal}", describe(&identity, &patch)));
                    patching.resume(response)
                }
                AttemptStep::Delete(deletion, deleting) => {
                    if let Some(interfere) = self.interfere.take() {
                        interfere(&mut self.api, &deletion.uid);
                    }
                    self.decide(&deletion);
                    let DeleteRequest { target, propagation, .. } = &deletion;
                    self.log.push(format!("delete {} {} {propagation}", target.kind, target.name));
                    deleting.resume(self.api.delete(&deletion))
                }
                AttemptStep::Wait(_, waiting) => waiting.resume(),
                AttemptStep::Done(outcome) => return outcome,
            }
        }
    }

    fn enqueue(&mut self, work: Work, pace: EnqueueMode) {
        match pace {
            EnqueueMode::RateLimited if !self.later.contains(&work) => self.later.push(work),
            EnqueueMode::AtOnce if !self.queue.contains(&work) => self.queue.push_back(work),
            EnqueueMode::RateLimited | EnqueueMode::AtOnce => {}
        }
    }

    /// Records a request that would delete an object that must be kept.
    fn decide(&mut self, deletion: &DeleteRequest) {
        let Some(object) = self.api.by_uid(&deletion.uid) else { return };
        let stale = deletion.version.as_ref().is_some_and(|version| *version != object.resource_version);
        if !stale
            && (object.owners.is_empty() || object.owners.iter().any(|owner| self.protects(object, owner)))
        {
            self.violations.push(format!("{} was deleted and should not have been", object.identity));
        }
    }

    /// Whether a reference keeps its object from being collected, according to the stored objects.
    pub(super) fn protects(&self, object: &ObjectMetadata, reference: &OwnerReference) -> bool {
        match self.owner(object, reference) {
            Ok(owner) => owner.is_some_and(|owner| !owner.is_deleting_dependents()),
            // The owner is unknown, so the object is kept.
            Err(()) => true,
        }
    }

    /// The owner that a reference means, according to the stored objects; an error if it cannot be read.
    pub(super) fn owner(
        &self,
        object: &ObjectMetadata,
        reference: &OwnerReference,
    ) -> Result<Option<&ObjectMetadata>, ()> {
        let namespace = match Served.scope(&reference.api_version, &reference.kind) {
            None => return Err(()),
            Some(ResourceScope::Cluster) => None,
            Some(ResourceScope::Namespaced) => Some(object.identity.namespace.clone().ok_or(())?),
        };
        let named = self.api.get(&Identity::of_owner(reference, namespace));
        Ok(named.filter(|owner| owner.identity.uid == reference.uid))
    }

    /// The uids of all stored objects.
    pub(super) fn uids(&self) -> BTreeSet<Uid> {
        self.api.objects().map(uid).collect()
    }
}

/// A patch as a line of the log.
fn describe(identity: &Identity, patch: &MetadataPatch) -> String {
    let Identity { kind, name, .. } = identity;
    match patch {
        MetadataPatch::Release { owners, .. } => format!("release {kind} {name} from {owners:?}"),
        MetadataPatch::Unblock { references, .. } => {
            let owners: Vec<_> = references.iter().map(|reference| &reference.uid).collect();
            format!("unblock {owners:?} by {kind} {name}")
        }
        MetadataPatch::SetOwners { owners, .. } => format!("set {} owners of {kind} {name}", owners.len()),
        MetadataPatch::SetFinalizers { finalizers, .. } => format!("leave {finalizers:?} on {kind} {name}"),
    }
}
