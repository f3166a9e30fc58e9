//! PersistentVolumeClaims: removes the finalizer of a deleted claim that no assigned pod uses.

use std::sync::Arc;

use gantry_decide::Wake;
use gantry_decide::queue::RetryPolicy;
use gantry_json::Value;
use gantry_model::{ObjectKey, Pod, Refusal};
use gantry_runtime::informer::{Cached as _, InformerEvent, Plain, Typed as _};
use gantry_runtime::{Form, Informer, Queue, RequestError, ResourcePath};
use k8s_openapi::api::core::v1 as core;

use super::{WORKERS, is_held, release};
use crate::context::{Assembly, Context, Reconciler};
use crate::namespace::ignore_existing;

const FINALIZER: &str = "kubernetes.io/pvc-protection";

#[derive(Clone, Debug)]
struct Claims {
    context: Context,
    claims: Informer<Plain<core::PersistentVolumeClaim>>,
}

pub(crate) fn assemble(assembly: &mut Assembly<'_>) {
    let context = assembly.context.clone();
    let claims = assembly.informer::<Plain<core::PersistentVolumeClaim>>();
    let pods = assembly.informer::<Pod>();
    let queue = assembly.queue("pvcprotection");
    subscribe(&claims, &pods, &queue);
    let controller = Claims { context, claims };
    assembly.work(&queue, (WORKERS, RetryPolicy::REPLICA_SET), controller);
}

/// Enqueues a claim when it changes, and when a pod of its namespace is deleted.
fn subscribe(
    claims: &Informer<Plain<core::PersistentVolumeClaim>>,
    pods: &Informer<Pod>,
    queue: &Queue<ObjectKey>,
) {
    let to = queue.clone();
    claims.subscribe(move |change| {
        if is_held(&change.object().wire.metadata, FINALIZER) {
            to.add(change.object().key());
        }
    });
    let (to, claims) = (queue.clone(), claims.clone());
    pods.subscribe(move |change| {
        let InformerEvent::Deleted(pod) = change else { return };
        let claims = claims.read();
        for claim in claims.in_namespace(&pod.key().namespace) {
            if is_held(&claim.wire.metadata, FINALIZER) {
                to.add(claim.key());
            }
        }
    });
}

impl Reconciler<ObjectKey> for Claims {
    async fn sync(&self, key: &ObjectKey) -> Result<Wake, Refusal> {
        let claim = self.claims.read().get(key).map(|claim| claim.wire.clone());
        let Some(claim) = claim.filter(|claim| is_held(&claim.metadata, FINALIZER)) else {
            return Ok(Wake::OnChange);
        };
        if self.is_used(key).await? {
            return Ok(Wake::OnChange);
        }
        let mut claim = Arc::unwrap_or_clone(claim);
        release(&mut claim.metadata, FINALIZER);
        let resource = Plain::<core::PersistentVolumeClaim>::resource();
        let target = ResourcePath::object(&resource, Some(&key.namespace), &key.name);
        ignore_existing(self.context.api.replace::<Value>(&target, &claim).await)?;
        Ok(Wake::OnChange)
    }
}

impl Claims {
    /// Whether a pod uses the claim. The pods are listed live: a cache could miss a new one.
    async fn is_used(&self, key: &ObjectKey) -> Result<bool, RequestError> {
        let target = ResourcePath::collection(&Pod::resource(), Some(&key.namespace));
        let pods = self.context.api.list::<Value>(&target, Form::Whole, &[]).await?;
        let pods = pods["items"].as_array().map_or(&[][..], Vec::as_slice);
        Ok(pods.iter().any(|pod| uses(pod, key.name.as_str())))
    }
}

/// Whether the pod is assigned and has the claim among its volumes, by name or as ephemeral volume.
fn uses(pod: &Value, claim: &str) -> bool {
    let is_on_node = pod["spec"]["nodeName"].as_str().is_some_and(|node| !node.is_empty());
    let volumes = pod["spec"]["volumes"].as_array().map_or(&[][..], Vec::as_slice);
    let is_claim = |volume: &Value| {
        let own = || {
            let [pod, volume] =
                [&pod["metadata"]["name"], &volume["name"]].map(|name| name.as_str().unwrap_or(""));
            format!("{pod}-{volume}")
        };
        volume["persistentVolumeClaim"]["claimName"] == claim
            || !volume["ephemeral"].is_null() && own() == claim
    };
    is_on_node && volumes.iter().any(is_claim)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gantry_json::json;

    #[test]
    fn a_pod_uses_the_claims_among_its_volumes_once_it_is_on_a_node() {
        let pod = |node: &str| {
            json!({"metadata": {"name": "p"}, "spec": {"nodeName": node, "volumes": [
                {"name": "a", "persistentVolumeClaim": {"claimName": "data"}},
                {"name": "b", "ephemeral": {"volumeClaimTemplate": {}}},
                {"name": "c", "emptyDir": {}},
            ]}})
        };
        assert!(uses(&pod("n1"), "data"));
        assert!(uses(&pod("n1"), "p-b"));
        assert!(!uses(&pod("n1"), "p-c"));
        assert!(!uses(&pod("n1"), "other"));
        assert!(!uses(&pod(""), "data"), "an unassigned pod does not count");
    }
}
