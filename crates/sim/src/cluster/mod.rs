//! What an API server does to objects, as far as the rules depend on it: versions, generations, deletion.
//!
//! Not here: validation, defaulting, patches, selectors in lists.

mod deletion;
mod drafts;
mod object_map;

pub(crate) use drafts::{DEFAULT_LIMITS, template};
pub use drafts::{NewDeployment, NewReplicaSet};
pub use gantry_decide::gc::Propagation;
pub(crate) use object_map::{AnyWatchEvent, ObjectMap, Stored, WatchEvent};

use gantry_model::{
    Deployment, Identity, Meta, Name, Namespace, ObjectKey, ObjectMetadata, OwnerReference, Pod, PodDraft,
    Refusal, RefusalKind, ReplicaSet, ReplicaSetDraft, SetKind, Timestamp, Uid, keys,
};

/// The kinds of object in a simulated cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WorkloadKind {
    /// `apps/v1` Deployment.
    Deployment,
    /// `apps/v1` ReplicaSet.
    ReplicaSet,
    /// Core `v1` Pod.
    Pod,
}

/// The objects of one namespace, and their changes since the last call of `take_changes`.
#[derive(Clone, Debug)]
pub struct PlainCluster {
    pub(crate) now: Timestamp,
    pub(crate) deployments: ObjectMap<Deployment>,
    pub(crate) sets: ObjectMap<ReplicaSet>,
    pub(crate) pods: ObjectMap<Pod>,
    /// If set, no more pods than this are admitted.
    pub(crate) pod_quota: Option<usize>,
    changes: Vec<AnyWatchEvent>,
    version: u64,
    uids: u64,
    pod_names: u64,
}

impl WorkloadKind {
    /// Group and version.
    pub fn api_version(self) -> &'static str {
        match self {
            Self::Deployment | Self::ReplicaSet => keys::APPS_V1,
            Self::Pod => "v1",
        }
    }

    /// The kind's name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Deployment => keys::DEPLOYMENT,
            Self::ReplicaSet => keys::REPLICA_SET,
            Self::Pod => "Pod",
        }
    }

    pub(crate) fn named(word: &str) -> Option<Self> {
        [Self::Deployment, Self::ReplicaSet, Self::Pod].into_iter().find(|kind| kind.as_str() == word)
    }
}

impl PlainCluster {
    /// The namespace of all objects.
    pub const NAMESPACE: &str = "default";

    /// An empty cluster.
    pub fn new(now: Timestamp) -> Self {
        Self {
            now,
            deployments: ObjectMap::default(),
            sets: ObjectMap::default(),
            pods: ObjectMap::default(),
            pod_quota: None,
            changes: Vec::new(),
            version: 0,
            uids: 0,
            pod_names: 0,
        }
    }

    /// All Deployments by name.
    pub fn deployments(&self) -> impl Iterator<Item = &Deployment> {
        self.deployments.iter()
    }

    /// All ReplicaSets by name.
    pub fn replica_sets(&self) -> impl Iterator<Item = &ReplicaSet> {
        self.sets.iter()
    }

    /// All Pods by name.
    pub fn pods(&self) -> impl Iterator<Item = &Pod> {
        self.pods.iter()
    }

    /// The Deployment of this name.
    pub fn deployment(&self, name: &str) -> Option<&Deployment> {
        self.deployments.get(&Self::key(name))
    }

    pub(crate) fn key(name: &str) -> ObjectKey {
        ObjectKey::new(Self::NAMESPACE, name)
    }

    /// The changes since the last call, in order.
    pub(crate) fn take_changes(&mut self) -> Vec<AnyWatchEvent> {
        std::mem::take(&mut self.changes)
    }

    // === creating ===

    pub(crate) fn create_deployment(&mut self, draft: NewDeployment) -> Result<(), Refusal> {
        let meta = self.new_meta(&draft.name);
        self.insert(draft.build(meta))
    }

    pub(crate) fn create_replica_set(&mut self, draft: NewReplicaSet) -> Result<(), Refusal> {
        let meta = self.new_meta(&draft.name);
        self.insert(draft.build(meta))
    }

    pub(crate) fn create_drafted_set(&mut self, draft: ReplicaSetDraft) -> Result<(), Refusal> {
        let mut meta = self.new_meta(draft.name.as_str());
        meta.labels = draft.labels;
        meta.annotations = draft.annotations;
        meta.owners = vec![draft.owner];
        self.insert(ReplicaSet {
            kind: SetKind::ReplicaSet,
            meta,
            replicas: draft.replicas,
            selector: Ok(draft.selector),
            template: draft.template,
            min_ready_seconds: draft.min_ready_seconds,
            status: gantry_model::ReplicaSetStatus::default(),
        })
    }

    pub(crate) fn create_drafted_pod(&mut self, draft: &PodDraft) -> Result<Name, Refusal> {
        self.pod_names += 1;
        let name = format!("{}{}", draft.generate_name, drafts::suffix(self.pod_names));
        if let Some(quota) = self.pod_quota.filter(|quota| self.pods.len() >= *quota) {
            return Err(Refusal::other(format!(
                "pods \"{name}\" is forbidden: exceeded quota: pods, requested: pods=1, used: pods={quota}, \
                 limited: pods={quota}"
            )));
        }
        let meta = self.new_meta(&name);
        let pod = drafts::pod(meta, draft);
        let name = pod.meta.name.clone();
        self.insert(pod).map(|()| name)
    }

    fn new_meta(&mut self, name: &str) -> Meta {
        self.uids += 1;
        Meta {
            namespace: Namespace::from(Self::NAMESPACE),
            name: name.into(),
            uid: format!("uid-{:04}", self.uids).into(),
            resource_version: "0".into(),
            generation: 1,
            labels: gantry_model::Labels::new(),
            annotations: gantry_model::Annotations::new(),
            created: Some(self.now.to_whole_seconds()),
            deleting: None,
            owners: Vec::new(),
            finalizers: Vec::new(),
        }
    }

    fn insert<T: Stored>(&mut self, mut object: T) -> Result<(), Refusal> {
        let key = object.meta().key();
        if T::objects(self).get(&key).is_some() {
            return Err(Refusal::new(RefusalKind::AlreadyExists, "an object of that name exists already"));
        }
        object.meta_mut().resource_version = self.next_version();
        self.changes.push(T::added(object.clone()));
        T::objects_mut(self).put(object);
        Ok(())
    }

    // === updating ===

    /// Updates an object through its main resource: a changed spec increases the generation.
    pub(crate) fn update<T: Stored>(&mut self, key: &ObjectKey, change: impl FnOnce(&mut T)) {
        self.write(key, change, |before: &T, after: &T| before.has_other_spec(after));
    }

    /// Updates an object through its status: the generation stays.
    pub(crate) fn update_status<T: Stored>(&mut self, key: &ObjectKey, change: impl FnOnce(&mut T)) {
        self.write(key, change, |_: &T, _: &T| false);
    }

    fn write<T: Stored>(
        &mut self,
        key: &ObjectKey,
        change: impl FnOnce(&mut T),
        bumps_generation: impl FnOnce(&T, &T) -> bool,
    ) {
        let Some(before) = T::objects(self).get(key).cloned() else { return };
        let mut after = before.clone();
        change(&mut after);
        if after == before {
            return;
        }
        if bumps_generation(&before, &after) {
            after.meta_mut().generation += 1;
        }
        after.meta_mut().resource_version = self.next_version();
        T::objects_mut(self).put(after.clone());
        let may_go = after.meta().is_deleting() && after.meta().finalizers.is_empty() && !after.is_held();
        self.changes.push(T::updated(before, after));
        if may_go {
            self.remove::<T>(key);
        }
    }

    fn remove<T: Stored>(&mut self, key: &ObjectKey) {
        if let Some(gone) = T::objects_mut(self).take(key) {
            self.version += 1;
            self.changes.push(T::deleted(gone));
        }
    }

    fn next_version(&mut self) -> gantry_model::ResourceVersion {
        self.version += 1;
        self.version.to_string().into()
    }

    /// Updates the metadata of an object of any kind.
    pub(crate) fn update_meta(
        &mut self,
        kind: WorkloadKind,
        key: &ObjectKey,
        change: impl FnOnce(&mut Meta),
    ) {
        match kind {
            WorkloadKind::Deployment => self.update(key, |object: &mut Deployment| change(&mut object.meta)),
            WorkloadKind::ReplicaSet => self.update(key, |object: &mut ReplicaSet| change(&mut object.meta)),
            WorkloadKind::Pod => self.update(key, |object: &mut Pod| change(&mut object.meta)),
        }
    }

    pub(crate) fn meta(&self, kind: WorkloadKind, key: &ObjectKey) -> Option<&Meta> {
        match kind {
            WorkloadKind::Deployment => self.deployments.get(key).map(|object| &object.meta),
            WorkloadKind::ReplicaSet => self.sets.get(key).map(|object| &object.meta),
            WorkloadKind::Pod => self.pods.get(key).map(|object| &object.meta),
        }
    }

    pub(crate) fn adopt(&mut self, kind: WorkloadKind, key: &ObjectKey, owner: OwnerReference) {
        self.update_meta(kind, key, |meta| meta.owners.push(owner));
    }

    pub(crate) fn release(&mut self, kind: WorkloadKind, key: &ObjectKey, owner: &Uid) {
        self.update_meta(kind, key, |meta| meta.owners.retain(|reference| reference.uid != *owner));
    }
}

/// An object as the garbage collector sees it.
pub(crate) fn metadata(kind: WorkloadKind, meta: &Meta) -> ObjectMetadata {
    ObjectMetadata {
        identity: identity(kind, meta),
        owners: meta.owners.clone(),
        finalizers: meta.finalizers.clone(),
        deleting: meta.deleting,
        resource_version: meta.resource_version.clone(),
    }
}

pub(crate) fn identity(kind: WorkloadKind, meta: &Meta) -> Identity {
    Identity {
        kind: kind.as_str().to_owned(),
        api_version: kind.api_version().to_owned(),
        namespace: Some(meta.namespace.clone()),
        name: meta.name.clone(),
        uid: meta.uid.clone(),
    }
}
