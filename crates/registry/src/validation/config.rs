//! ConfigMaps and Secrets.

use serde_json::{Value, json};

use super::error_list::{ErrorList, Path, text};
use super::names::config_key;

const MAX_BYTES: usize = 1_048_576;
const FROZEN: &str = "field is immutable when `immutable` is set";
/// Which keys a secret of a certain type must have.
const NEEDED: [(&str, &[&str]); 4] = [
    ("kubernetes.io/tls", &["tls.crt", "tls.key"]),
    ("kubernetes.io/ssh-auth", &["ssh-privatekey"]),
    ("kubernetes.io/dockercfg", &[".dockercfg"]),
    ("kubernetes.io/dockerconfigjson", &[".dockerconfigjson"]),
];

/// A ConfigMap: keys, and no more than a mebibyte in all.
pub(crate) fn config_map(errors: &mut ErrorList, object: &Value) {
    let mut bytes = 0_usize;
    for field in ["data", "binaryData"] {
        let at = Path::new(field);
        for (key, value) in errors.members(&at, object, field) {
            errors.invalid_text(&at.key(key), key, config_key(key));
            if field == "data" && object["binaryData"].get(key).is_some() {
                errors.invalid(&at.key(key), &json!(key), "duplicate of key present in binaryData");
            }
            let length = value.as_str().map_or(0, str::len);
            bytes = bytes.saturating_add(if field == "data" { length } else { decoded(value) });
        }
    }
    if bytes > MAX_BYTES {
        // The place is that of nothing in particular, as in Kubernetes.
        errors.too_long(&Path::new("[]"), MAX_BYTES);
    }
}

/// A Secret: keys, size, and what its type asks for.
pub(crate) fn secret(errors: &mut ErrorList, object: &Value) {
    let at = Path::new("data");
    let mut bytes = 0_usize;
    for (key, value) in errors.members(&at, object, "data") {
        errors.invalid_text(&at.key(key), key, config_key(key));
        bytes = bytes.saturating_add(decoded(value));
    }
    if bytes > MAX_BYTES {
        errors.too_long(&at, MAX_BYTES);
    }
    let kind = text(object, "type");
    for key in NEEDED.iter().filter(|(name, _)| *name == kind).flat_map(|(_, keys)| *keys) {
        if object["data"].get(key).is_none() {
            errors.required(&at.key(key), "");
        }
    }
    let has = |key: &str| object["data"].get(key).is_some();
    if kind == "kubernetes.io/basic-auth" && !has("username") && !has("password") {
        errors.required(&at.key("username"), "");
        errors.required(&at.key("password"), "");
    }
    if kind == "kubernetes.io/service-account-token" {
        let annotations = &object["metadata"]["annotations"];
        if text(annotations, "kubernetes.io/service-account.name").is_empty() {
            let metadata = Path::new("metadata");
            errors.required(&metadata.child("annotations").key("kubernetes.io/service-account.name"), "");
        }
    }
}

/// Validates a change to a ConfigMap or Secret that may be marked as immutable.
pub(crate) fn immutable(errors: &mut ErrorList, old: &Value, new: &Value) {
    if old["immutable"].as_bool() != Some(true) {
        return;
    }
    if new["immutable"].as_bool() != Some(true) {
        errors.forbidden(&Path::new("immutable"), FROZEN);
    }
    for field in ["data", "binaryData"] {
        let no_members = |value: &Value| value.as_object().is_none_or(serde_json::Map::is_empty);
        let is_same = old[field] == new[field] || no_members(&old[field]) && no_members(&new[field]);
        if !is_same {
            errors.forbidden(&Path::new(field), FROZEN);
        }
    }
}

/// How many bytes base64 text stands for.
fn decoded(value: &Value) -> usize {
    let text = value.as_str().unwrap_or("").trim_end_matches('=');
    text.len() / 4 * 3 + (text.len() % 4).saturating_sub(1)
}
