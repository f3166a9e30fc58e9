//! Defaults of CustomResourceDefinitions.

use gantry_json::{Value, json};

use crate::custom::storage_version;

use crate::defaults::setting::{Object, child, default, default_text, ensure, is_empty, text};

/// Sets the defaults of a definition.
pub(crate) fn definition(definition: &mut Object) {
    let Some(spec) = ensure(definition, "spec") else { return };
    if let Some(names) = child(spec, "names") {
        let kind = text(names, "kind").to_owned();
        if !kind.is_empty() {
            default_text(names, "singular", &kind.to_lowercase());
            default_text(names, "listKind", &format!("{kind}List"));
        }
    }
    default(spec, "conversion", json!({"strategy": "None"}));
    let webhook = child(spec, "conversion").and_then(|conversion| child(conversion, "webhook"));
    if let Some(service) =
        webhook.and_then(|webhook| child(webhook, "clientConfig")).and_then(|config| child(config, "service"))
    {
        default(service, "port", 443);
    }
    let stored = stored_version(definition);
    let Some(status) = child(definition, "status") else { return };
    if is_empty(status, "storedVersions") && !stored.is_null() {
        status.insert("storedVersions", stored);
    }
}

/// Returns the initial status of a definition: no conditions, and the stored version.
pub(crate) fn initial_status(definition: &Object) -> Value {
    let names = json!({"plural": "", "kind": ""});
    json!({"conditions": null, "acceptedNames": names, "storedVersions": stored_version(definition)})
}

/// Returns a list with the storage version; `null` if there is none.
fn stored_version(definition: &Object) -> Value {
    let stored = definition.get("spec").and_then(storage_version);
    stored.map_or(Value::Null, |version| json!([version["name"]]))
}
