//! The garbage collector's rules as stories, first one by one, then in a small cluster.

mod absent;
mod absent_owners;
mod api;
mod attempt;
mod cluster;
mod deletion;
mod discovery;
mod foreground;
mod graph;
mod messages;
mod orphan;
mod patches;
mod queue;
mod random;
mod scenarios;

use gantry_model::{Identity, ObjectMetadata, Uid};
use gantry_testkit::{MetadataBuilder, object};

use super::attempt::{PendingRead, ReadResult};
use super::{
    AbsentOwners, AttemptContext, AttemptResult, AttemptStep, Effect, EnqueueMode, Graph, GraphChange,
    KindLookup, QueueItem, ResourceScope,
};

/// A finalizer of another component.
const HOLD: &str = "example.com/hold";

fn deployment(name: &str) -> ObjectMetadata {
    object("apps/v1", "Deployment", name)
}

fn replica_set(name: &str) -> ObjectMetadata {
    object("apps/v1", "ReplicaSet", name)
}

fn pod(name: &str) -> ObjectMetadata {
    object("v1", "Pod", name)
}

/// A cluster-scoped object.
fn node(name: &str) -> ObjectMetadata {
    object("v1", "Node", name).cluster_scoped()
}

/// A custom resource, which does not support the strategic merge patch.
fn widget(name: &str) -> ObjectMetadata {
    object("example.com/v1", "Widget", name)
}

/// An object of an unserved kind.
fn unserved_object(name: &str) -> ObjectMetadata {
    object("gone.example.com/v1", "Ghost", name)
}

fn uid(object: &ObjectMetadata) -> Uid {
    object.identity.uid.clone()
}

/// The kinds of these tests.
struct Served;

impl KindLookup for Served {
    fn scope(&self, api_version: &str, kind: &str) -> Option<ResourceScope> {
        match (api_version, kind) {
            ("v1", "Pod" | "Event")
            | ("apps/v1" | "apps/v1beta2", "Deployment" | "ReplicaSet")
            | ("example.com/v1", "Widget") => Some(ResourceScope::Namespaced),
            ("v1", "Node") => Some(ResourceScope::Cluster),
            _ => None,
        }
    }
}

/// The state of a collector, for tests of single steps.
#[derive(Default)]
struct Memory {
    graph: Graph,
    absent: AbsentOwners,
}

impl Memory {
    /// A collector that has seen these objects, in this order.
    fn of(objects: &[&ObjectMetadata]) -> Self {
        let mut memory = Self::default();
        for object in objects {
            memory.sees(object);
        }
        memory
    }

    fn sees(&mut self, object: &ObjectMetadata) -> Vec<Effect> {
        self.graph.observe(GraphChange::Applied(object.clone()), &mut self.absent)
    }

    fn sees_go(&mut self, object: &ObjectMetadata) -> Vec<Effect> {
        self.graph.observe(GraphChange::Deleted(object.identity.clone()), &mut self.absent)
    }

    fn verifies_absent(&mut self, identity: &Identity) -> Vec<Effect> {
        self.graph.observe(GraphChange::VerifiedAbsent(identity.clone()), &mut self.absent)
    }

    fn context(&mut self) -> AttemptContext<'_> {
        AttemptContext { graph: &self.graph, kinds: &Served, absent: &mut self.absent }
    }

    /// The first step of an attempt on this object.
    fn attempt(&mut self, object: &ObjectMetadata) -> AttemptStep {
        self.attempt_item(&QueueItem::Observed(uid(object)))
    }

    fn attempt_item(&mut self, item: &QueueItem) -> AttemptStep {
        super::attempt::begin(item, &self.context())
    }

    /// Responds to the live read that a step requests.
    fn respond(&mut self, step: AttemptStep, response: ReadResult) -> AttemptStep {
        let (_, reading) = expect_read(step);
        reading.resume(response, &mut self.context())
    }

    /// Responds with this object to the live read that a step requests.
    fn finds(&mut self, step: AttemptStep, object: &ObjectMetadata) -> AttemptStep {
        self.respond(step, ReadResult::Found(object.clone()))
    }
}

fn expect_read(step: AttemptStep) -> (Identity, PendingRead) {
    match step {
        AttemptStep::Read(identity, reading) => (identity, reading),
        other => panic!("expected a live read, got {other:?}"),
    }
}

fn done(step: AttemptStep) -> AttemptResult {
    match step {
        AttemptStep::Done(outcome) => outcome,
        other => panic!("expected the end of the attempt, got {other:?}"),
    }
}

/// The effect of enqueueing this observed object at once.
fn enqueued(object: &ObjectMetadata) -> Effect {
    Effect::AttemptToDelete(QueueItem::Observed(uid(object)), EnqueueMode::AtOnce)
}

/// The effect of enqueueing this virtual owner.
fn verify(owner: &ObjectMetadata, pace: EnqueueMode) -> Effect {
    Effect::AttemptToDelete(QueueItem::Virtual(uid(owner)), pace)
}
