//! PersistentVolumes: removes the finalizer of a deleted volume without a bound claim.

use std::sync::Arc;

use gantry_decide::Wake;
use gantry_decide::queue::RetryPolicy;
use gantry_json::Value;
use gantry_model::{ObjectKey, Refusal};
use gantry_runtime::informer::{Cached as _, Plain, Typed as _};
use gantry_runtime::{Informer, ResourcePath};
use k8s_openapi::api::core::v1 as core;

use super::{WORKERS, is_held, release};
use crate::context::{Assembly, Context, Reconciler};
use crate::namespace::ignore_existing;

const FINALIZER: &str = "kubernetes.io/pv-protection";

#[derive(Clone, Debug)]
struct Volumes {
    context: Context,
    volumes: Informer<Plain<core::PersistentVolume>>,
}

pub(crate) fn assemble(assembly: &mut Assembly<'_>) {
    let context = assembly.context.clone();
    let volumes = assembly.informer::<Plain<core::PersistentVolume>>();
    let queue = assembly.queue("pvprotection");
    let to = queue.clone();
    volumes.subscribe(move |change| {
        if is_held(&change.object().wire.metadata, FINALIZER) {
            to.add(change.object().key());
        }
    });
    let controller = Volumes { context, volumes };
    assembly.work(&queue, (WORKERS, RetryPolicy::REPLICA_SET), controller);
}

impl Reconciler<ObjectKey> for Volumes {
    async fn sync(&self, key: &ObjectKey) -> Result<Wake, Refusal> {
        let volume = self.volumes.read().get(key).map(|volume| volume.wire.clone());
        let Some(volume) = volume.filter(|volume| is_held(&volume.metadata, FINALIZER)) else {
            return Ok(Wake::OnChange);
        };
        let phase = volume.status.as_ref().and_then(|status| status.phase.as_deref());
        if phase == Some("Bound") {
            return Ok(Wake::OnChange);
        }
        let mut volume = Arc::unwrap_or_clone(volume);
        release(&mut volume.metadata, FINALIZER);
        let target = ResourcePath::object(&Plain::<core::PersistentVolume>::resource(), None, &key.name);
        ignore_existing(self.context.api.replace::<Value>(&target, &volume).await)?;
        Ok(Wake::OnChange)
    }
}
