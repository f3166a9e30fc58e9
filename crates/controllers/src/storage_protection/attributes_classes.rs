//! VolumeAttributesClasses: removes the finalizer of a deleted class that no claim and no volume uses.

use std::sync::Arc;

use gantry_decide::Wake;
use gantry_decide::queue::RetryPolicy;
use gantry_json::Value;
use gantry_model::{ObjectKey, Refusal};
use gantry_runtime::informer::{Cached as _, Plain, Typed as _};
use gantry_runtime::{Informer, InformerEvent, Queue, ResourcePath};
use k8s_openapi::api::core::v1::{PersistentVolume, PersistentVolumeClaim};
use k8s_openapi::api::storage::v1::VolumeAttributesClass;

use super::{WORKERS, is_held, release};
use crate::context::{Assembly, Context, Reconciler};
use crate::namespace::ignore_existing;

const FINALIZER: &str = "kubernetes.io/vac-protection";

#[derive(Clone, Debug)]
struct AttributesClasses {
    context: Context,
    classes: Informer<Plain<VolumeAttributesClass>>,
    claims: Informer<Plain<PersistentVolumeClaim>>,
    volumes: Informer<Plain<PersistentVolume>>,
}

pub(crate) fn assemble(assembly: &mut Assembly<'_>) {
    let context = assembly.context.clone();
    let (classes, claims, volumes) = (assembly.informer(), assembly.informer(), assembly.informer());
    let queue = assembly.queue("vacprotection");
    let controller = AttributesClasses { context, classes, claims, volumes };
    controller.subscribe(&queue);
    assembly.work(&queue, (WORKERS, RetryPolicy::REPLICA_SET), controller);
}

/// The classes that a claim uses, will use, or used until a change in progress.
fn classes_of_claim(claim: &PersistentVolumeClaim) -> Vec<&str> {
    let status = claim.status.as_ref();
    let desired = claim.spec.as_ref().and_then(|spec| spec.volume_attributes_class_name.as_deref());
    let current = status.and_then(|status| status.current_volume_attributes_class_name.as_deref());
    let target = status
        .and_then(|status| status.modify_volume_status.as_ref())
        .and_then(|modified| modified.target_volume_attributes_class_name.as_deref());
    [desired, current, target].into_iter().flatten().collect()
}

fn class_of_volume(volume: &PersistentVolume) -> Option<&str> {
    volume.spec.as_ref().and_then(|spec| spec.volume_attributes_class_name.as_deref())
}

impl Reconciler<ObjectKey> for AttributesClasses {
    async fn sync(&self, key: &ObjectKey) -> Result<Wake, Refusal> {
        let class = self.classes.read().get(key).map(|class| class.wire.clone());
        let Some(class) = class.filter(|class| is_held(&class.metadata, FINALIZER)) else {
            return Ok(Wake::OnChange);
        };
        if self.is_used(key.name.as_str()) {
            return Ok(Wake::OnChange);
        }
        let mut class = Arc::unwrap_or_clone(class);
        release(&mut class.metadata, FINALIZER);
        let target = ResourcePath::object(&Plain::<VolumeAttributesClass>::resource(), None, &key.name);
        ignore_existing(self.context.api.replace::<Value>(&target, &class).await)?;
        Ok(Wake::OnChange)
    }
}

impl AttributesClasses {
    /// Enqueues a class when it changes, and when a claim or a volume stops using it.
    fn subscribe(&self, queue: &Queue<ObjectKey>) {
        let to = queue.clone();
        self.classes.subscribe(move |change| {
            if is_held(&change.object().wire.metadata, FINALIZER) {
                to.add(change.object().key());
            }
        });
        let to = queue.clone();
        self.claims.subscribe(move |change| {
            if let InformerEvent::Updated { old, .. } | InformerEvent::Deleted(old) = change {
                for name in classes_of_claim(&old.wire) {
                    to.add(ObjectKey::new("", name));
                }
            }
        });
        let to = queue.clone();
        self.volumes.subscribe(move |change| {
            if let InformerEvent::Updated { old, .. } | InformerEvent::Deleted(old) = change
                && let Some(name) = class_of_volume(&old.wire)
            {
                to.add(ObjectKey::new("", name));
            }
        });
    }

    fn is_used(&self, name: &str) -> bool {
        let by_claim = self.claims.read().iter().any(|claim| classes_of_claim(&claim.wire).contains(&name));
        by_claim || self.volumes.read().iter().any(|volume| class_of_volume(&volume.wire) == Some(name))
    }
}
