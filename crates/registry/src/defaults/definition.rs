//! Defaults of definitions of custom kinds.

use serde_json::{Value, json};

use crate::custom::storage_version;

use super::setting::{Object, child, default, default_text, ensure, is_empty, text};

/// A definition: the names that follow from others, and what is stored so far.
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
        status.insert("storedVersions".to_owned(), stored);
    }
}

/// The status of a new definition: nothing is decided yet, but what is stored is known.
pub(crate) fn first_status(definition: &Object) -> Value {
    let names = json!({"plural": "", "kind": ""});
    json!({"conditions": null, "acceptedNames": names, "storedVersions": stored_version(definition)})
}

/// The version in which objects are stored, in a list; `null` if there is none.
fn stored_version(definition: &Object) -> Value {
    let stored = definition.get("spec").and_then(storage_version);
    stored.map_or(Value::Null, |version| json!([version["name"]]))
}
