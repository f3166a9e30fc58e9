//! The garbage collector's rules as stories, first one by one, then in a tiny cluster.

mod absent;
mod api;
mod attempt;
mod cluster;
mod deletion;
mod discovery;
mod foreground;
mod graph;
mod orphan;
mod patches;
mod queue;
mod random;
mod refuted;
mod scenarios;
mod sentences;

use gantry_model::{Identity, ObjectMetadata, Uid};
use gantry_testkit::{MetadataWords, object};

use super::attempt::{ReadAnswer, Reading};
use super::{AbsentOwners, Change, Effect, Graph, Item, Kinds, Knowledge, Outcome, Pace, Scope, Step};

/// A finalizer that is none of the collector's business.
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

/// A custom resource, which takes no strategic merge patch.
fn widget(name: &str) -> ObjectMetadata {
    object("example.com/v1", "Widget", name)
}

/// An object of a kind that nobody serves.
fn ghost(name: &str) -> ObjectMetadata {
    object("gone.example.com/v1", "Ghost", name)
}

fn uid(object: &ObjectMetadata) -> Uid {
    object.identity.uid.clone()
}

/// The kinds of these stories.
struct Served;

impl Kinds for Served {
    fn scope(&self, api_version: &str, kind: &str) -> Option<Scope> {
        match (api_version, kind) {
            ("v1", "Pod" | "Event")
            | ("apps/v1" | "apps/v1beta2", "Deployment" | "ReplicaSet")
            | ("example.com/v1", "Widget") => Some(Scope::Namespaced),
            ("v1", "Node") => Some(Scope::Cluster),
            _ => None,
        }
    }
}

/// What a collector remembers, for stories of single steps.
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
        self.graph.observe(Change::Applied(object.clone()), &mut self.absent)
    }

    fn sees_go(&mut self, object: &ObjectMetadata) -> Vec<Effect> {
        self.graph.observe(Change::Deleted(object.identity.clone()), &mut self.absent)
    }

    fn verifies_absent(&mut self, identity: &Identity) -> Vec<Effect> {
        self.graph.observe(Change::VerifiedAbsent(identity.clone()), &mut self.absent)
    }

    fn knowledge(&mut self) -> Knowledge<'_> {
        Knowledge { graph: &self.graph, kinds: &Served, absent: &mut self.absent }
    }

    /// The first step of an attempt on this object.
    fn attempt(&mut self, object: &ObjectMetadata) -> Step {
        self.attempt_item(&Item::Observed(uid(object)))
    }

    fn attempt_item(&mut self, item: &Item) -> Step {
        super::attempt::begin(item, &self.knowledge())
    }

    /// Answers the live read that a step asks for.
    fn answer(&mut self, step: Step, answer: ReadAnswer) -> Step {
        let (_, reading) = asks_to_read(step);
        reading.resume(answer, &mut self.knowledge())
    }

    /// Answers the live read that a step asks for with this object.
    fn finds(&mut self, step: Step, object: &ObjectMetadata) -> Step {
        self.answer(step, ReadAnswer::Found(object.clone()))
    }
}

fn asks_to_read(step: Step) -> (Identity, Reading) {
    match step {
        Step::Read(identity, reading) => (identity, reading),
        other => panic!("wanted a live read, got {other:?}"),
    }
}

fn done(step: Step) -> Outcome {
    match step {
        Step::Done(outcome) => outcome,
        other => panic!("wanted the end of the attempt, got {other:?}"),
    }
}

/// The effect of queueing this observed object at once.
fn look_at(object: &ObjectMetadata) -> Effect {
    Effect::AttemptToDelete(Item::Observed(uid(object)), Pace::AtOnce)
}

/// The effect of queueing this virtual owner.
fn verify(owner: &ObjectMetadata, pace: Pace) -> Effect {
    Effect::AttemptToDelete(Item::Virtual(uid(owner)), pace)
}
