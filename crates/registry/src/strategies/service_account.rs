//! The strategy of ServiceAccounts.

use gantry_json::Value;

use super::KindStrategy;
use crate::table::column::TableColumn;
use crate::table::{Rows, column};

const COLUMNS: &[TableColumn] = &[column::NAME, column::AGE];

pub(super) const STRATEGY: KindStrategy = KindStrategy {
    prepare: |_, _, new| keep_names_of_secrets(new),
    rows: Rows::new(COLUMNS),
    ..KindStrategy::DEFAULT
};

/// Drops all but the names of the secrets that an account references.
fn keep_names_of_secrets(account: &mut Value) {
    let Some(Value::Array(secrets)) = account.get_mut("secrets") else { return };
    for secret in secrets.iter_mut().filter_map(Value::as_object_mut) {
        secret.retain(|field, _| field == "name");
    }
}
