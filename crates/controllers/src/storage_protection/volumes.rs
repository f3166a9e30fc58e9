//! PersistentVolumes: removes the finalizer of a deleted volume without a bound claim.

use std::sync::Arc;

use gantry_decide::Wake;
use gantry_decide::queue::{Outcome, RetryPolicy};
use gantry_json::Value;
use gantry_model::ObjectKey;
use gantry_runtime::informer::{Cached as _, Plain, Typed as _};
use gantry_runtime::{Informer, Queue, RequestError, ResourcePath};
use k8s_openapi::api::core::v1 as core;

use super::{WORKERS, is_held, release, result};
use crate::context::{Assembly, Context};
use crate::namespace::ignore_existing;

const FINALIZER: &str = "kubernetes.io/pv-protection";

#[derive(Clone, Debug)]
struct Volumes {
    context: Context,
    volumes: Informer<Plain<core::PersistentVolume>>,
}

pub(crate) fn assemble(assembly: &mut Assembly<'_>) {
    let context = assembly.context.clone();
    let volumes = assembly.informers.of::<Plain<core::PersistentVolume>>();
    let queue = Queue::new("pvprotection", context.clock.clone(), &context.metrics);
    let to = queue.clone();
    volumes.subscribe(move |change| {
        if is_held(&change.object().wire.metadata, FINALIZER) {
            to.add(change.object().key());
        }
    });
    let controller = Volumes { context, volumes };
    let synced = {
        let volumes = controller.volumes.clone();
        async move { volumes.synced().await }
    };
    assembly.work(&queue, (WORKERS, RetryPolicy::REPLICA_SET), synced, move |key| {
        let controller = controller.clone();
        async move { controller.sync(&key).await }
    });
}

impl Volumes {
    async fn sync(&self, key: &ObjectKey) -> (Outcome, Wake) {
        result(key, self.release_if_unbound(key).await)
    }

    async fn release_if_unbound(&self, key: &ObjectKey) -> Result<(), RequestError> {
        let volume = self.volumes.read().get(key).map(|volume| volume.wire.clone());
        let Some(volume) = volume.filter(|volume| is_held(&volume.metadata, FINALIZER)) else {
            return Ok(());
        };
        let phase = volume.status.as_ref().and_then(|status| status.phase.as_deref());
        if phase == Some("Bound") {
            return Ok(());
        }
        let mut volume = Arc::unwrap_or_clone(volume);
        release(&mut volume.metadata, FINALIZER);
        let target = ResourcePath::object(&Plain::<core::PersistentVolume>::resource(), None, &key.name);
        ignore_existing(self.context.api.replace::<Value>(&target, &volume).await)
    }
}
