//! Priority admission: the priority of new pods, and at most one default PriorityClass.

use gantry_json::Value;
use gantry_registry::admission::priority;

use super::{all, known};
use crate::ApiServer;
use crate::error::ApiError;
use crate::objects::ObjectRef;

const GROUP: &str = "scheduling.k8s.io";

/// Sets the priority of a pod from its class.
pub(super) async fn admit(
    server: &ApiServer,
    object_ref: ObjectRef<'_>,
    pod: &mut Value,
) -> Result<(), ApiError> {
    let kind = known(GROUP, "priorityclasses")?;
    let name = priority::class_of(pod).to_owned();
    let class = if name.is_empty() {
        priority::by_default(&all(&server.objects, kind, None).await?).cloned()
    } else {
        match server.objects.get(ObjectRef { kind, namespace: None, name: &name }).await {
            Err(ApiError::NotFound(_)) => {
                return Err(ApiError::forbidden(object_ref, priority::missing(&name)));
            }
            found => Some(found?),
        }
    };
    priority::prioritize(pod, class.as_ref()).map_err(|why| ApiError::forbidden(object_ref, why))
}

/// Returns 403 for a second default class.
pub(super) async fn admit_class(
    server: &ApiServer,
    object_ref: ObjectRef<'_>,
    class: &Value,
) -> Result<(), ApiError> {
    let classes = all(&server.objects, object_ref.kind, None).await?;
    priority::second_default(class, &classes).map_or(Ok(()), |why| Err(ApiError::forbidden(object_ref, why)))
}
