//! Namespaces: three may not be deleted, and their own finalizers change in one way only.

use gantry_registry::Refusal;
use gantry_registry::lifecycle::{DeleteOptions, Part};
use http::Method;
use serde_json::Value;

use super::call::Call;
use super::method_not_allowed;
use crate::answer::Answer;
use crate::objects::Place;

/// The namespaces that no cluster is without.
const IMMORTAL: [&str; 3] = ["default", "kube-system", "kube-public"];

impl Call<'_> {
    /// Writes the finalizers of a namespace: whoever emptied it lets it go.
    pub(super) async fn finalize(&self, method: &Method) -> Result<Answer, Refusal> {
        match *method {
            Method::PUT => self.put(Part::Finalize).await,
            _ => Err(method_not_allowed()),
        }
    }

    /// Refuses to delete a namespace that no cluster is without; of anything else it knows nothing.
    pub(super) fn check_mortal(&self, place: Place<'_>) -> Result<(), Refusal> {
        if !self.is_of_namespaces() || !IMMORTAL.contains(&place.name) {
            return Ok(());
        }
        let message =
            format!("namespaces \"{}\" is forbidden: this namespace may not be deleted", place.name);
        Err(Refusal { code: 403, reason: "Forbidden", message, details: Some(Box::new(place.details())) })
    }

    /// Whether the request is about namespaces themselves.
    pub(super) fn is_of_namespaces(&self) -> bool {
        (self.kind.group, self.kind.resource) == ("", "namespaces")
    }
}

/// What is said of a precondition that does not hold; namespaces have words of their own for it.
pub(super) fn other_namespace(place: Place<'_>, stored: &Value, options: &DeleteOptions) -> Refusal {
    let known = |field: &str| stored["metadata"][field].as_str().unwrap_or_default();
    let (word, wanted, known) = match (&options.uid, &options.resource_version) {
        (Some(uid), _) if uid != known("uid") => ("UID", uid.as_str(), known("uid")),
        (_, version) => ("ResourceVersion", version.as_deref().unwrap_or_default(), known("resourceVersion")),
    };
    let message = format!(
        "Operation cannot be fulfilled on namespaces \"{}\": Precondition failed: {word} in precondition: {wanted}, \
         {word} in object meta: {known}",
        place.name
    );
    Refusal { code: 409, reason: "Conflict", message, details: Some(Box::new(place.details())) }
}
