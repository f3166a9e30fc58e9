//! Secrets.

use serde_json::{Value, json};

use super::Strategy;
use crate::Timestamp;
use crate::defaults::setting::{Object, default_text, ensure};
use crate::selector::fields;
use crate::selector::fields::SelectableFields;
use crate::table::column::Column;
use crate::table::{Rows, cell, column};
use crate::validation::config;
use crate::validation::config::{MAX_BYTES, decoded};
use crate::validation::error_list::{ErrorList, Path, text};
use crate::validation::names::config_key;

const COLUMNS: &[Column] = &[column::NAME, column::text("Type"), column::text("Data"), column::AGE];
const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
/// The required keys of types of secrets.
const NEEDED: [(&str, &[&str]); 4] = [
    ("kubernetes.io/tls", &["tls.crt", "tls.key"]),
    ("kubernetes.io/ssh-auth", &["ssh-privatekey"]),
    ("kubernetes.io/dockercfg", &[".dockercfg"]),
    ("kubernetes.io/dockerconfigjson", &[".dockerconfigjson"]),
];

pub(super) const STRATEGY: Strategy = Strategy {
    defaults: set_defaults,
    validate: |errors, _, old, new| {
        if let Some(old) = old {
            errors.immutable(&Path::new("type"), old["type"] == new["type"], &new["type"]);
            config::immutable(errors, old, new);
        }
        validate(errors, new);
    },
    quota_usage: |usage, _| usage.count("secrets"),
    rows: Rows::new(COLUMNS, cells),
    selectable: SelectableFields::new(&[fields::NAME, fields::NAMESPACE, fields::text("type")]),
    ..Strategy::DEFAULT
};

fn cells(object: &Value, now: Timestamp) -> Vec<Value> {
    vec![
        json!(cell::name(object)),
        json!(cell::text(object, "type")),
        json!(cell::members(object, "data")),
        json!(cell::age(object, now)),
    ]
}

/// Sets the default type, and encodes `stringData` into `data`, which it overrides.
fn set_defaults(secret: &mut Object) {
    default_text(secret, "type", "Opaque");
    let Some(Value::Object(texts)) = secret.remove("stringData") else { return };
    if texts.is_empty() {
        return;
    }
    if let Some(data) = ensure(secret, "data") {
        for (key, text) in texts {
            let encoded = base64(text.as_str().unwrap_or("").as_bytes());
            data.insert(key, json!(encoded));
        }
    }
}

fn base64(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let group = chunk.iter().fold(0_usize, |group, byte| group << 8 | usize::from(*byte))
            << (8 * (3 - chunk.len()));
        for place in 0..4 {
            let letter = ALPHABET[group >> (18 - 6 * place) & 63];
            text.push(if place <= chunk.len() { char::from(letter) } else { '=' });
        }
    }
    text
}

/// Validates the keys and size of a Secret, and what its type requires.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_padded_to_groups_of_four() {
        let texts = ["", "a", "ab", "abc", "over"].map(|text| base64(text.as_bytes()));
        assert_eq!(texts, ["", "YQ==", "YWI=", "YWJj", "b3Zlcg=="]);
    }
}
