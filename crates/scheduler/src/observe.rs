//! The caches of the scheduler, and pods and nodes parsed to the fields that the decision needs.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use gantry_decide::events::Subject;
use gantry_decide::gc::Resource;
use gantry_model::{ObjectKey, ObjectMetadata, ParseError, ResourceVersion, Uid};
use gantry_runtime::informer::{Cached, Plain};
use gantry_runtime::{Form, Informer, Informers};
use k8s_openapi::api::core::v1 as core;
use k8s_openapi::api::storage::v1::StorageClass;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time};
use tokio::sync::Notify;

use crate::place::{Node, PodInfo, SchedulingState};

#[derive(Debug)]
pub(crate) struct CachedPod {
    id: Id,
    pub(crate) pod: PodInfo,
    pub(crate) state: SchedulingState,
    pub(crate) generation: Option<i64>,
    /// The `PodScheduled` condition.
    pub(crate) scheduled_condition: Option<core::PodCondition>,
}

#[derive(Debug)]
pub(crate) struct CachedNode {
    id: Id,
    pub(crate) node: Node,
}

/// Keys that changed since the last `take`, each once.
#[derive(Clone, Debug, Default)]
pub(crate) struct ChangedKeys {
    sets: Arc<Mutex<KeySets>>,
    notify: Arc<Notify>,
}

#[derive(Debug, Default)]
pub(crate) struct KeySets {
    pub(crate) pods: BTreeSet<ObjectKey>,
    pub(crate) nodes: BTreeSet<ObjectKey>,
    pub(crate) claims: BTreeSet<ObjectKey>,
    pub(crate) volumes: BTreeSet<ObjectKey>,
    pub(crate) classes: BTreeSet<ObjectKey>,
}

#[derive(Clone, Debug)]
pub(crate) struct Caches {
    pub(crate) pods: Informer<CachedPod>,
    pub(crate) nodes: Informer<CachedNode>,
    pub(crate) claims: Informer<Plain<core::PersistentVolumeClaim>>,
    pub(crate) volumes: Informer<Plain<core::PersistentVolume>>,
    pub(crate) classes: Informer<Plain<StorageClass>>,
}

#[derive(Debug)]
struct Id {
    key: ObjectKey,
    uid: Uid,
    version: ResourceVersion,
}

impl ChangedKeys {
    /// Subscribes to all informers.
    pub(crate) fn of(caches: &Caches) -> Self {
        let changes = Self::default();
        changes.subscribe(&caches.pods, |changed| &mut changed.pods);
        changes.subscribe(&caches.nodes, |changed| &mut changed.nodes);
        changes.subscribe(&caches.claims, |changed| &mut changed.claims);
        changes.subscribe(&caches.volumes, |changed| &mut changed.volumes);
        changes.subscribe(&caches.classes, |changed| &mut changed.classes);
        changes
    }

    fn subscribe<T: Cached>(
        &self,
        informer: &Informer<T>,
        keys: fn(&mut KeySets) -> &mut BTreeSet<ObjectKey>,
    ) {
        let changes = self.clone();
        informer
            .subscribe(move |change| changes.update(|changed| keys(changed).insert(change.object().key())));
    }

    /// Returns when something has changed.
    pub(crate) async fn changed(&self) {
        self.notify.notified().await;
    }

    pub(crate) fn take(&self) -> KeySets {
        std::mem::take(&mut self.sets.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn update(&self, update: impl FnOnce(&mut KeySets) -> bool) {
        update(&mut self.sets.lock().unwrap_or_else(PoisonError::into_inner));
        self.notify.notify_one();
    }
}

impl Caches {
    pub(crate) fn of(informers: &Informers) -> Self {
        Self {
            pods: informers.of(),
            nodes: informers.of(),
            claims: informers.of(),
            volumes: informers.of(),
            classes: informers.of(),
        }
    }

    /// Returns when all informers have synced: before that, a pod might be assigned to a node that is full.
    pub(crate) async fn synced(&self) {
        tokio::join!(
            self.pods.synced(),
            self.nodes.synced(),
            self.claims.synced(),
            self.volumes.synced(),
            self.classes.synced(),
        );
    }
}

impl CachedPod {
    /// The subject of events about the pod.
    pub(crate) fn subject(&self) -> Subject {
        Subject {
            api_version: "v1".into(),
            kind: "Pod".into(),
            namespace: Some(self.id.key.namespace.clone()),
            name: self.id.key.name.clone(),
            uid: self.id.uid.clone(),
            resource_version: self.id.version.clone(),
        }
    }

    /// Since when the pod reports that it is unschedulable, if it does.
    pub(crate) fn unschedulable_since(&self) -> Option<&Time> {
        let scheduled_condition =
            self.scheduled_condition.as_ref().filter(|condition| condition.status == "False");
        scheduled_condition.and_then(|condition| condition.last_transition_time.as_ref())
    }
}

impl Id {
    fn parse(resource: &Resource, meta: &ObjectMeta) -> Result<Self, ParseError> {
        let meta = ObjectMetadata::parse(&resource.api_version, &resource.kind, meta)?;
        let namespace = meta.identity.namespace.unwrap_or_else(|| "".into());
        let key = ObjectKey { namespace, name: meta.identity.name };
        Ok(Self { key, uid: meta.identity.uid, version: meta.resource_version })
    }
}

impl Cached for CachedPod {
    type Wire = core::Pod;
    const FORM: Form = Form::Whole;

    fn parse(resource: &Resource, wire: &Arc<core::Pod>) -> Result<Self, ParseError> {
        let conditions =
            wire.status.as_ref().and_then(|status| status.conditions.as_deref()).unwrap_or_default();
        let scheduled_condition =
            conditions.iter().find(|condition| condition.type_ == "PodScheduled").cloned();
        Ok(Self {
            id: Id::parse(resource, &wire.metadata)?,
            pod: PodInfo::parse(wire),
            state: SchedulingState::of(wire),
            generation: wire.metadata.generation,
            scheduled_condition,
        })
    }
    fn key(&self) -> ObjectKey {
        self.id.key.clone()
    }
    fn uid(&self) -> &Uid {
        &self.id.uid
    }
    fn version(&self) -> &ResourceVersion {
        &self.id.version
    }
}

impl Cached for CachedNode {
    type Wire = core::Node;
    const FORM: Form = Form::Whole;

    fn parse(resource: &Resource, wire: &Arc<core::Node>) -> Result<Self, ParseError> {
        Ok(Self { id: Id::parse(resource, &wire.metadata)?, node: Node::parse(wire) })
    }
    fn key(&self) -> ObjectKey {
        self.id.key.clone()
    }
    fn uid(&self) -> &Uid {
        &self.id.uid
    }
    fn version(&self) -> &ResourceVersion {
        &self.id.version
    }
}
