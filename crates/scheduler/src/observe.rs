//! What the scheduler keeps of pods and nodes: parsed when they arrive, and no more than the decision looks at.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use gantry_decide::events::Subject;
use gantry_decide::gc::Resource;
use gantry_model::{ObjectKey, ObjectMetadata, ParseError, ResourceVersion, Uid};
use gantry_runtime::informer::{Cached, Plain, resource_of};
use gantry_runtime::{Api, Form, Informer, Shutdown};
use k8s_openapi::api::core::v1 as core;
use k8s_openapi::api::storage::v1::StorageClass;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time};
use tokio::sync::Notify;
use tokio::task::JoinSet;

use crate::place::{Node, Pod, Standing};

/// A pod as the scheduler keeps it.
#[derive(Debug)]
pub(crate) struct SeenPod {
    id: Id,
    pub(crate) pod: Pod,
    pub(crate) standing: Standing,
    pub(crate) generation: Option<i64>,
    /// What the pod says about its place so far.
    pub(crate) told: Option<core::PodCondition>,
}

/// A node as the scheduler keeps it.
#[derive(Debug)]
pub(crate) struct SeenNode {
    id: Id,
    pub(crate) node: Node,
}

/// What changed since somebody last looked: keys, each once, so that there are never more than objects.
#[derive(Clone, Debug, Default)]
pub(crate) struct Changes {
    keys: Arc<Mutex<Changed>>,
    bell: Arc<Notify>,
}

/// Keys of what changed.
#[derive(Debug, Default)]
pub(crate) struct Changed {
    pub(crate) pods: BTreeSet<ObjectKey>,
    pub(crate) nodes: BTreeSet<ObjectKey>,
    pub(crate) claims: BTreeSet<ObjectKey>,
    pub(crate) volumes: BTreeSet<ObjectKey>,
    pub(crate) classes: BTreeSet<ObjectKey>,
}

/// What the scheduler follows.
#[derive(Clone, Debug)]
pub(crate) struct Caches {
    pub(crate) pods: Informer<SeenPod>,
    pub(crate) nodes: Informer<SeenNode>,
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

impl Changes {
    /// Hears of everything these informers hear of.
    pub(crate) fn of(caches: &Caches) -> Self {
        let changes = Self::default();
        changes.follow(&caches.pods, |changed| &mut changed.pods);
        changes.follow(&caches.nodes, |changed| &mut changed.nodes);
        changes.follow(&caches.claims, |changed| &mut changed.claims);
        changes.follow(&caches.volumes, |changed| &mut changed.volumes);
        changes.follow(&caches.classes, |changed| &mut changed.classes);
        changes
    }

    fn follow<T: Cached>(&self, informer: &Informer<T>, keys: fn(&mut Changed) -> &mut BTreeSet<ObjectKey>) {
        let changes = self.clone();
        informer.subscribe(move |change| changes.note(|changed| keys(changed).insert(change.object().key())));
    }

    /// Returns when something has changed.
    pub(crate) async fn heard(&self) {
        self.bell.notified().await;
    }

    /// What has changed.
    pub(crate) fn take(&self) -> Changed {
        std::mem::take(&mut self.keys.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn note(&self, note: impl FnOnce(&mut Changed) -> bool) {
        note(&mut self.keys.lock().unwrap_or_else(PoisonError::into_inner));
        self.bell.notify_one();
    }
}

impl Caches {
    pub(crate) fn new() -> Self {
        Self {
            pods: Informer::new(resource_of::<core::Pod>()),
            nodes: Informer::new(resource_of::<core::Node>()),
            claims: Informer::new(resource_of::<core::PersistentVolumeClaim>()),
            volumes: Informer::new(resource_of::<core::PersistentVolume>()),
            classes: Informer::new(resource_of::<StorageClass>()),
        }
    }

    /// Follows the server until it is time to end.
    pub(crate) fn start(&self, tasks: &mut JoinSet<()>, api: &Api, shutdown: &Shutdown) {
        fn follow<T: Cached>(
            informer: &Informer<T>,
            api: &Api,
            shutdown: &Shutdown,
        ) -> impl Future<Output = ()> + use<T> {
            let (informer, api, shutdown) = (informer.clone(), api.clone(), shutdown.clone());
            async move { informer.run(api, shutdown).await }
        }
        tasks.spawn(follow(&self.pods, api, shutdown));
        tasks.spawn(follow(&self.nodes, api, shutdown));
        tasks.spawn(follow(&self.claims, api, shutdown));
        tasks.spawn(follow(&self.volumes, api, shutdown));
        tasks.spawn(follow(&self.classes, api, shutdown));
    }

    /// Returns when all of it is known: before, a pod might be sent to a node that is full.
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

impl SeenPod {
    /// Who it is, for events.
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

    /// Since when the pod says that it has no place, if it does.
    pub(crate) fn unplaced_since(&self) -> Option<&Time> {
        let told = self.told.as_ref().filter(|condition| condition.status == "False");
        told.and_then(|condition| condition.last_transition_time.as_ref())
    }
}

impl Id {
    fn parse(resource: &Resource, meta: &ObjectMeta) -> Result<Self, ParseError> {
        let meta = ObjectMetadata::parse(&resource.api_version, &resource.kind, meta.clone())?;
        let namespace = meta.identity.namespace.unwrap_or_else(|| "".into());
        let key = ObjectKey { namespace, name: meta.identity.name };
        Ok(Self { key, uid: meta.identity.uid, version: meta.resource_version })
    }
}

impl Cached for SeenPod {
    type Wire = core::Pod;
    const FORM: Form = Form::Whole;

    fn parse(resource: &Resource, wire: core::Pod) -> Result<Self, ParseError> {
        let conditions =
            wire.status.as_ref().and_then(|status| status.conditions.as_deref()).unwrap_or_default();
        let told = conditions.iter().find(|condition| condition.type_ == "PodScheduled").cloned();
        Ok(Self {
            id: Id::parse(resource, &wire.metadata)?,
            pod: Pod::parse(&wire),
            standing: Standing::of(&wire),
            generation: wire.metadata.generation,
            told,
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

impl Cached for SeenNode {
    type Wire = core::Node;
    const FORM: Form = Form::Whole;

    fn parse(resource: &Resource, wire: core::Node) -> Result<Self, ParseError> {
        Ok(Self { id: Id::parse(resource, &wire.metadata)?, node: Node::parse(&wire) })
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
