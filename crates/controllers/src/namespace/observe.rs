//! The snapshot: is the namespace one to be emptied?

use gantry_decide::namespace::FINALIZER;
use gantry_model::{Name, ObjectKey, Pod};
use gantry_runtime::informer::Plain;
use gantry_runtime::{Informer, Informers};
use k8s_openapi::api::core::v1 as core;

/// The copies that the controller reads.
#[derive(Clone, Debug)]
pub(super) struct Caches {
    pub(super) namespaces: Informer<Plain<core::Namespace>>,
    /// Only to be woken when the last of them goes.
    pub(super) pods: Informer<Pod>,
}

impl Caches {
    pub(super) fn of(informers: &mut Informers) -> Self {
        Self { namespaces: informers.of(), pods: informers.of() }
    }

    pub(super) async fn synced(&self) {
        self.namespaces.synced().await;
    }

    /// A namespace that is to go and waits for this controller.
    pub(super) fn going(&self, name: &Name) -> Option<core::Namespace> {
        let namespaces = self.namespaces.read();
        let found = namespaces.get(&ObjectKey::new("", name.clone())).map(|found| &found.wire)?;
        is_ours(found).then(|| found.clone())
    }
}

fn is_ours(namespace: &core::Namespace) -> bool {
    let finalizers = namespace.spec.iter().flat_map(|spec| spec.finalizers.iter().flatten());
    namespace.metadata.deletion_timestamp.is_some() && finalizers.into_iter().any(|held| held == FINALIZER)
}
