//! Parts of a pod's spec that are written on their own: what is written beside them is dropped.

use serde_json::Value;

/// The stored pod with the containers for debugging that were sent.
pub(crate) fn with_ephemeral_containers(stored: &Value, sent: &Value) -> Value {
    let mut pod = only_owners(stored, sent);
    put(&mut pod["spec"], "ephemeralContainers", sent["spec"].get("ephemeralContainers"));
    pod
}

/// The stored pod with the resources that were sent for its containers.
///
/// What is sent for other containers than it has is taken as it is, for validation to refuse it.
pub(crate) fn with_resources(stored: &Value, sent: &Value) -> Value {
    let containers = |pod: &Value, list: &str| pod["spec"][list].as_array().cloned().unwrap_or_default();
    let lists = ["containers", "initContainers"];
    if lists.iter().any(|list| containers(stored, list).len() != containers(sent, list).len()) {
        return sent.clone();
    }
    let mut pod = only_owners(stored, sent);
    for list in lists {
        let (old, new) = (containers(stored, list), containers(sent, list));
        let resized = if old.iter().zip(&new).any(|(old, new)| old["name"] != new["name"]) {
            new
        } else {
            old.iter().zip(&new).map(|(old, new)| resized(old, new)).collect()
        };
        put(&mut pod["spec"], list, (!resized.is_empty()).then(|| Value::Array(resized)).as_ref());
    }
    pod
}

fn resized(old: &Value, new: &Value) -> Value {
    let mut container = old.clone();
    for field in ["resources", "resizePolicy"] {
        put(&mut container, field, new.get(field));
    }
    container
}

/// The stored pod; only who wrote what is already as it will be.
fn only_owners(stored: &Value, sent: &Value) -> Value {
    let mut pod = stored.clone();
    put(&mut pod["metadata"], "managedFields", sent["metadata"].get("managedFields"));
    // Another uid than the stored one is refused later.
    put(&mut pod["metadata"], "uid", sent["metadata"].get("uid"));
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
