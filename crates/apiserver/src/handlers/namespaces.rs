//! Namespaces: three cannot be deleted, and finalizers are changed by a subresource.

use gantry_registry::Refusal;
use gantry_registry::lifecycle::{DeleteOptions, Part};
use http::Method;
use serde_json::Value;

use super::call::Call;
use super::method_not_allowed;
use crate::objects::ObjectRef;
use crate::response::ApiResponse;

/// The namespaces that cannot be deleted.
const PROTECTED: [&str; 3] = ["default", "kube-system", "kube-public"];

impl Call<'_> {
    /// The subresource `finalize`, by which the namespace controller removes finalizers.
    pub(super) async fn finalize(&self, method: &Method) -> Result<ApiResponse, Refusal> {
        match *method {
            Method::PUT => self.put(Part::Finalize).await,
            _ => Err(method_not_allowed()),
        }
    }

    /// Returns 403 for deleting a protected namespace; does nothing for other kinds.
    pub(super) fn check_deletable(&self, object_ref: ObjectRef<'_>) -> Result<(), Refusal> {
        if !self.is_namespace() || !PROTECTED.contains(&object_ref.name) {
            return Ok(());
        }
        let message =
            format!("namespaces \"{}\" is forbidden: this namespace may not be deleted", object_ref.name);
        Err(Refusal {
            code: 403,
            reason: "Forbidden",
            message,
            details: Some(Box::new(object_ref.details())),
        })
    }

    /// Whether the request is for the resource `namespaces`.
    pub(super) fn is_namespace(&self) -> bool {
        (self.kind.group, self.kind.resource) == ("", "namespaces")
    }
}

/// Returns 409 for a failed precondition; the message differs from that of other kinds.
pub(super) fn namespace_precondition_failed(
    object_ref: ObjectRef<'_>,
    stored: &Value,
    options: &DeleteOptions,
) -> Refusal {
    let known = |field: &str| stored["metadata"][field].as_str().unwrap_or_default();
    let (word, wanted, known) = match (&options.uid, &options.resource_version) {
        (Some(uid), _) if uid != known("uid") => ("UID", uid.as_str(), known("uid")),
        (_, version) => ("ResourceVersion", version.as_deref().unwrap_or_default(), known("resourceVersion")),
    };
    let message = format!(
        "Operation cannot be fulfilled on namespaces \"{}\": Precondition failed: {word} in precondition: {wanted}, \
         {word} in object meta: {known}",
        object_ref.name
    );
    Refusal { code: 409, reason: "Conflict", message, details: Some(Box::new(object_ref.details())) }
}
