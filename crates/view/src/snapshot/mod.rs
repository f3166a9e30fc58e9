//! A Deployment and its related objects, parsed once.

mod container;
mod event;
mod listing;
mod node;
mod pod;

pub use container::{Container, ContainerRole, ContainerState, Exit, Probe};
pub use event::ObservedEvent;
pub use listing::Listing;
pub use node::ObservedNode;
pub use pod::{ObservedPod, Scheduling};

use std::collections::{BTreeMap, BTreeSet};

use gantry_model::{Deployment, Name, ParseError, ReplicaSet, Timestamp, Uid};
use k8s_openapi::api::apps::v1 as apps;
use k8s_openapi::api::core::v1 as core;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

/// The API objects of a snapshot.
#[derive(Clone, Debug, Default)]
pub struct ApiObjects {
    /// The Deployment in question.
    pub deployment: apps::Deployment,
    /// ReplicaSets of its namespace that its selector selects, with any owner.
    pub sets: Vec<apps::ReplicaSet>,
    /// Pods of its namespace that its selector selects, with any owner.
    pub pods: Vec<core::Pod>,
    /// Events of its namespace; those about other objects are ignored.
    pub events: Vec<core::Event>,
    /// All Deployments of its namespace, to find those that claim the same pods; may be left out.
    pub deployments: Vec<apps::Deployment>,
    /// The cluster's nodes, to find cordoned and simulated ones; may be left out.
    pub nodes: Vec<core::Node>,
}

/// A Deployment and its related objects at one time.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// The Deployment in question.
    pub deployment: Deployment,
    /// ReplicaSets that its selector selects, with any owner.
    pub sets: Vec<ReplicaSet>,
    /// Pods that its selector selects, with any owner.
    pub pods: Vec<ObservedPod>,
    /// Events about any of these, oldest first.
    pub events: Vec<ObservedEvent>,
    /// Other Deployments of the namespace.
    pub others: Vec<Deployment>,
    /// The cluster's nodes, as far as they were read.
    pub nodes: Vec<ObservedNode>,
    changed: BTreeMap<Uid, Timestamp>,
}

impl Snapshot {
    /// Parses the API objects.
    pub fn parse(objects: ApiObjects) -> Result<Self, ParseError> {
        let mut changed = BTreeMap::new();
        note_change(&mut changed, &objects.deployment.metadata);
        for set in &objects.sets {
            note_change(&mut changed, &set.metadata);
        }
        let deployment = Deployment::parse(objects.deployment)?;
        let sets = objects.sets.into_iter().map(ReplicaSet::parse).collect::<Result<Vec<_>, _>>()?;
        let pods = objects.pods.iter().map(ObservedPod::parse).collect::<Result<Vec<_>, _>>()?;
        let others = objects.deployments.into_iter().map(Deployment::parse).collect::<Result<Vec<_>, _>>()?;
        let nodes = objects.nodes.into_iter().map(ObservedNode::parse).collect();
        let mut snapshot = Self { deployment, sets, pods, events: Vec::new(), others, nodes, changed };
        snapshot.others.retain(|other| other.meta.uid != snapshot.deployment.meta.uid);
        snapshot.events = objects.events.into_iter().map(ObservedEvent::parse).collect();
        snapshot.keep_own_events();
        Ok(snapshot)
    }

    /// Events about the object with this uid, oldest first.
    pub fn events_about<'a>(&'a self, uid: &'a Uid) -> impl DoubleEndedIterator<Item = &'a ObservedEvent> {
        self.events.iter().filter(move |event| event.about == *uid)
    }

    /// When the spec of an object last changed, according to `managedFields`; its creation otherwise.
    pub fn changed(&self, uid: &Uid) -> Option<Timestamp> {
        self.changed.get(uid).copied()
    }

    fn keep_own_events(&mut self) {
        let own: BTreeSet<Uid> = std::iter::once(&self.deployment.meta)
            .chain(self.sets.iter().map(|set| &set.meta))
            .chain(self.pods.iter().map(|seen| &seen.pod.meta))
            .map(|meta| meta.uid.clone())
            .collect();
        self.events.retain(|event| own.contains(&event.about));
        self.events.sort_by(|a, b| (a.last, &a.name).cmp(&(b.last, &b.name)));
    }
}

fn note_change(changed: &mut BTreeMap<Uid, Timestamp>, meta: &ObjectMeta) {
    let written = meta.managed_fields.iter().flatten();
    let written = written.filter(|entry| entry.subresource.as_deref().unwrap_or_default().is_empty());
    let last = written.filter_map(|entry| entry.time.as_ref()).chain(&meta.creation_timestamp);
    if let (Some(uid), Some(last)) = (&meta.uid, last.map(Timestamp::parse).max()) {
        changed.insert(Uid::from(uid.as_str()), last);
    }
}

/// A name that may be missing on the wire.
fn name(written: Option<String>) -> Name {
    Name::from(written.unwrap_or_default())
}
