//! The strategy of ServiceAccounts.

use gantry_json::{Value, json};

use super::KindStrategy;
use crate::Timestamp;
use crate::table::column::Column;
use crate::table::{Rows, cell, column};

const COLUMNS: &[Column] = &[column::NAME, column::AGE];

pub(super) const STRATEGY: KindStrategy = KindStrategy {
    prepare: |_, _, new| keep_names_of_secrets(new),
    rows: Rows::new(COLUMNS, cells),
    ..KindStrategy::DEFAULT
};

/// Drops all but the names of the secrets that an account references.
fn keep_names_of_secrets(account: &mut Value) {
    let Some(Value::Array(secrets)) = account.get_mut("secrets") else { return };
    for secret in secrets.iter_mut().filter_map(Value::as_object_mut) {
        secret.retain(|field, _| field == "name");
    }
}

fn cells(object: &Value, now: Timestamp) -> Vec<Value> {
    vec![json!(cell::name(object)), json!(cell::age(object, now))]
}
