//! Namespaces: three cannot be deleted, and finalizers are changed by a subresource.

use gantry_json::Value;
use gantry_registry::lifecycle::{DeleteOptions, Part};
use http::Method;

use super::call::Call;
use crate::error::ApiError;
use crate::metadata::Metadata;
use crate::objects::ObjectRef;
use crate::response::ApiResponse;

/// The namespaces that cannot be deleted.
const PROTECTED: [&str; 3] = ["default", "kube-system", "kube-public"];

impl Call<'_> {
    /// The subresource `finalize`, through which the namespace controller removes finalizers.
    pub(super) async fn finalize(&self, method: &Method) -> Result<ApiResponse, ApiError> {
        match *method {
            Method::PUT => self.put(Part::Finalize).await,
            _ => Err(ApiError::MethodNotAllowed),
        }
    }

    /// Returns 403 for deleting a protected namespace; does nothing for other kinds.
    pub(super) fn check_deletable(&self, object_ref: ObjectRef<'_>) -> Result<(), ApiError> {
        if !self.is_namespace() || !PROTECTED.contains(&object_ref.name) {
            return Ok(());
        }
        Err(ApiError::forbidden(object_ref, "this namespace may not be deleted"))
    }

    /// Whether the request is for the resource `namespaces`.
    pub(super) fn is_namespace(&self) -> bool {
        (self.kind.group, self.kind.resource) == ("", "namespaces")
    }
}

/// Returns 409 for a failed precondition; the message differs from the message of other kinds.
pub(super) fn namespace_precondition_failed(
    object_ref: ObjectRef<'_>,
    stored: &Value,
    options: &DeleteOptions,
) -> ApiError {
    let stored = Metadata::of(stored);
    let (word, wanted, known) = match (&options.uid, &options.resource_version) {
        (Some(uid), _) if uid != stored.uid() => ("UID", uid.as_str(), stored.uid()),
        (_, version) => {
            ("ResourceVersion", version.as_deref().unwrap_or_default(), stored.resource_version())
        }
    };
    let why =
        format!("Precondition failed: {word} in precondition: {wanted}, {word} in object meta: {known}");
    ApiError::conflict(object_ref, why)
}
