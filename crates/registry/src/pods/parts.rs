//! Parts of a pod's spec with a subresource of their own: a write to one drops all other changes.

use gantry_json::Value;

/// Returns the stored pod with the ephemeral containers that were sent.
pub(crate) fn with_ephemeral_containers(stored: &Value, sent: &Value) -> Value {
    let mut pod = only_owners(stored, sent);
    put(&mut pod["spec"], "ephemeralContainers", sent["spec"].get("ephemeralContainers"));
    pod
}

/// Returns the stored pod with the resources that were sent for its containers.
///
/// Other containers than the stored ones are taken as they are sent, for validation to reject them.
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
        put(&mut pod["spec"], list, (!resized.is_empty()).then_some(Value::Array(resized)).as_ref());
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

/// Returns the stored pod with the managed fields that were sent.
fn only_owners(stored: &Value, sent: &Value) -> Value {
    let mut pod = stored.clone();
    put(&mut pod["metadata"], "managedFields", sent["metadata"].get("managedFields"));
    // Another uid than the stored one is rejected by validation.
    put(&mut pod["metadata"], "uid", sent["metadata"].get("uid"));
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
