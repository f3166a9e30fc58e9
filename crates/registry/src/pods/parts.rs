//! Parts of a pod's spec with a subresource of their own: a write to one drops all other changes.

use serde_json::Value;

/// Returns the stored pod with the ephemeral containers that were sent.
pub(crate) fn with_ephemeral_containers(stored: &Value, sent: &Value) -> Value {
    let mut pod = only_owners(stored, sent);
    put(&mut pod["spec"], "ephemeralContainers", sent["spec"].get("ephemeralContainers"));
    pod
}

/// Returns the stored pod with the resources that were sent for its containers.
pub(crate) fn with_resources(stored: &Value, sent: &Value) -> Value {
    let mut pod = only_owners(stored, sent);
    for list in ["containers", "initContainers"] {
        let wanted = sent["spec"][list].as_array().map_or(&[][..], Vec::as_slice);
        for container in pod["spec"][list].as_array_mut().into_iter().flatten() {
            if let Some(sent) = wanted.iter().find(|sent| sent["name"] == container["name"]) {
                put(container, "resources", sent.get("resources"));
                put(container, "resizePolicy", sent.get("resizePolicy"));
            }
        }
    }
    pod
}

/// Returns the stored pod with the managed fields that were sent.
fn only_owners(stored: &Value, sent: &Value) -> Value {
    let mut pod = stored.clone();
    put(&mut pod["metadata"], "managedFields", sent["metadata"].get("managedFields"));
    pod
}

/// Sets or removes a field.
pub(crate) fn put(holder: &mut Value, field: &str, value: Option<&Value>) {
    let Value::Object(fields) = holder else { return };
    match value.filter(|value| !value.is_null()) {
        Some(value) => fields.insert(field.to_owned(), value.clone()),
        None => fields.remove(field),
    };
}
