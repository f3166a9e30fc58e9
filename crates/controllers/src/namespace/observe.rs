//! The snapshot: whether the namespace is terminating.

use std::sync::Arc;

use gantry_decide::namespace::FINALIZER;
use gantry_model::{Name, ObjectKey, Pod};
use gantry_runtime::Informer;
use gantry_runtime::informer::Plain;
use k8s_openapi::api::core::v1 as core;

use crate::context::Assembly;

#[derive(Clone, Debug)]
pub(super) struct Caches {
    pub(super) namespaces: Informer<Plain<core::Namespace>>,
    /// The deletion of a pod enqueues its namespace.
    pub(super) pods: Informer<Pod>,
}

impl Caches {
    pub(super) fn of(assembly: &mut Assembly<'_>) -> Self {
        // Content can also be deleted before the pods are synced.
        Self { namespaces: assembly.informer(), pods: assembly.informers.of() }
    }

    /// A terminating namespace with our finalizer.
    pub(super) fn terminating(&self, name: &Name) -> Option<Arc<core::Namespace>> {
        let namespaces = self.namespaces.read();
        let found = namespaces.get(&ObjectKey::new("", name.clone())).map(|found| &found.wire)?;
        is_ours(found).then(|| found.clone())
    }
}

fn is_ours(namespace: &core::Namespace) -> bool {
    let finalizers = namespace.spec.iter().flat_map(|spec| spec.finalizers.iter().flatten());
    namespace.metadata.deletion_timestamp.is_some() && finalizers.into_iter().any(|held| held == FINALIZER)
}
