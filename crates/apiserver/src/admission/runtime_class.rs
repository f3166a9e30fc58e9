//! Looks up the runtime class of a new pod.

use gantry_json::Value;
use gantry_registry::admission::runtime_class;

use super::known;
use crate::ApiServer;
use crate::error::ApiError;
use crate::objects::ObjectRef;

/// Sets the fields of a pod that its runtime class determines.
pub(super) async fn admit(
    server: &ApiServer,
    object_ref: ObjectRef<'_>,
    pod: &mut Value,
) -> Result<(), ApiError> {
    let class = match runtime_class::name(pod) {
        Some(name) => {
            let kind = known("node.k8s.io", "runtimeclasses")?;
            match server.objects.get(ObjectRef { kind, namespace: None, name }).await {
                Err(ApiError::NotFound(_)) => None,
                found => Some(found?),
            }
        }
        None => None,
    };
    runtime_class::admit(pod, class.as_ref()).map_err(|why| ApiError::forbidden(object_ref, why))
}
