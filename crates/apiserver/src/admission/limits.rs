//! LimitRange admission.

use gantry_json::Value;
use gantry_registry::admission::limits;

use super::{all, known};
use crate::ApiServer;
use crate::error::ApiError;
use crate::objects::ObjectRef;

/// Sets default requests and limits of containers. Returns 403 if an object exceeds a limit.
pub(super) async fn admit(
    server: &ApiServer,
    object_ref: ObjectRef<'_>,
    object: &mut Value,
) -> Result<(), ApiError> {
    let ranges = all(&server.objects, known("", "limitranges")?, object_ref.namespace).await?;
    limits::admit(&ranges, object_ref.kind, object).map_err(|why| ApiError::forbidden(object_ref, why))
}
