//! The strategy of Secrets.

use gantry_formats::base64;
use gantry_json::{Value, json};

use super::KindStrategy;
use crate::admission::quota::QuotaRules;
use crate::defaults::setting::{Object, default_text, ensure};
use crate::selector::fields;
use crate::selector::fields::SelectableFields;
use crate::table::column::TableColumn;
use crate::table::{Rows, cell, column};
use crate::validation::config;
use crate::validation::config::{MAX_BYTES, decoded};
use crate::validation::error_list::{ErrorList, Path, text};
use crate::validation::names::config_key;

const COLUMNS: &[TableColumn] = &[
    column::NAME,
    column::text("Type").text_at("type"),
    column::text("Data").computed(|object, _| json!(cell::members(object, "data"))),
    column::AGE,
];
/// The required keys of types of secrets.
const NEEDED: [(&str, &[&str]); 4] = [
    ("kubernetes.io/tls", &["tls.crt", "tls.key"]),
    ("kubernetes.io/ssh-auth", &["ssh-privatekey"]),
    ("kubernetes.io/dockercfg", &[".dockercfg"]),
    ("kubernetes.io/dockerconfigjson", &[".dockerconfigjson"]),
];

pub(super) const STRATEGY: KindStrategy = KindStrategy {
    defaults: set_defaults,
    validate: |errors, _, old, new| {
        if let Some(old) = old {
            errors.immutable(&Path::new("type"), old["type"] == new["type"], &new["type"]);
            config::immutable(errors, old, new);
        }
        validate(errors, new);
    },
    quota: QuotaRules::new(|usage, _| usage.count("secrets")),
    rows: Rows::new(COLUMNS),
    selectable: SelectableFields::new(&[fields::NAME, fields::NAMESPACE, fields::text("type")]),
    ..KindStrategy::DEFAULT
};

/// Sets the default type, and encodes `stringData` into `data`, which it overrides.
fn set_defaults(secret: &mut Object) {
    default_text(secret, "type", "Opaque");
    let Some(Value::Object(texts)) = secret.remove("stringData") else { return };
    if texts.is_empty() {
        return;
    }
    if let Some(data) = ensure(secret, "data") {
        for (key, text) in texts {
            let encoded = base64::encode(text.as_str().unwrap_or("").as_bytes());
            data.insert(key, json!(encoded));
        }
    }
}

/// Validates the keys and size of a Secret, and the keys that its type requires.
fn validate(errors: &mut ErrorList, object: &Value) {
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
