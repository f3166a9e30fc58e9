//! The strategy of ConfigMaps.

use gantry_json::{Value, json};

use super::KindStrategy;
use crate::admission::quota::QuotaRules;
use crate::table::column::TableColumn;
use crate::table::{Rows, cell, column};
use crate::validation::config;
use crate::validation::config::{MAX_BYTES, decoded};
use crate::validation::error_list::{ErrorList, Path};
use crate::validation::names::config_key;

const COLUMNS: &[TableColumn] = &[
    column::NAME,
    column::text("Data")
        .computed(|object, _| json!(cell::members(object, "data") + cell::members(object, "binaryData"))),
    column::AGE,
];

pub(super) const STRATEGY: KindStrategy = KindStrategy {
    validate: |errors, _, old, new| {
        if let Some(old) = old {
            config::immutable(errors, old, new);
        }
        validate(errors, new);
    },
    quota: QuotaRules::new(|usage, _| usage.count("configmaps")),
    rows: Rows::new(COLUMNS),
    ..KindStrategy::DEFAULT
};

/// Validates the keys and the total size of a ConfigMap.
fn validate(errors: &mut ErrorList, object: &Value) {
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
        // The path is empty, as in Kubernetes.
        errors.too_long(&Path::new("[]"), MAX_BYTES);
    }
}
