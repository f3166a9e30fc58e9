//! Parts of a pod's spec that are written on their own: what is written beside them is dropped.

use serde_json::Value;

/// The stored pod with the containers for debugging that were sent.
pub(crate) fn with_ephemeral_containers(stored: &Value, sent: &Value) -> Value {
    let mut pod = only_owners(stored, sent);
    put(&mut pod["spec"], "ephemeralContainers", sent["spec"].get("ephemeralContainers"));
    pod
}

/// The stored pod with the resources that were sent for its containers.
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

/// The stored pod; only who wrote what is already as it will be.
fn only_owners(stored: &Value, sent: &Value) -> Value {
    let mut pod = stored.clone();
    put(&mut pod["metadata"], "managedFields", sent["metadata"].get("managedFields"));
    pod
}

/// Writes a field, or takes it away.
pub(crate) fn put(holder: &mut Value, field: &str, value: Option<&Value>) {
    let Value::Object(fields) = holder else { return };
    match value.filter(|value| !value.is_null()) {
        Some(value) => fields.insert(field.to_owned(), value.clone()),
        None => fields.remove(field),
    };
}
