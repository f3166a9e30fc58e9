//! Fields that clients may write and that are not kept: they belong to features that are off, or were withdrawn.

use serde_json::Value;

use crate::kinds::Kind;

/// Removes what is not kept of an object of this kind. Who wrote it is still noted as its owner.
pub(super) fn drop_unserved(object: &mut Value, kind: &Kind) {
    match (kind.group, kind.kind) {
        ("", "Node") => remove(object, "/spec", &["configSource", "podPreemptionPolicy"]),
        ("coordination.k8s.io", "Lease") => remove(object, "/spec", &["strategy", "preferredHolder"]),
        ("", "ServiceAccount") => keep_names_of_secrets(object),
        _ => {}
    }
}

fn remove(object: &mut Value, holder: &str, fields: &[&str]) {
    if let Some(Value::Object(members)) = object.pointer_mut(holder) {
        members.retain(|field, _| !fields.contains(&field.as_str()));
    }
}

/// Of the secrets that an account mentions nothing but the names is kept.
fn keep_names_of_secrets(object: &mut Value) {
    let Some(Value::Array(secrets)) = object.get_mut("secrets") else { return };
    for secret in secrets.iter_mut().filter_map(Value::as_object_mut) {
        secret.retain(|field, _| field == "name");
    }
}
