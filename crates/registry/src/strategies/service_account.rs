//! ServiceAccounts.

use serde_json::Value;

use super::Strategy;
use crate::table::{Rows, cluster};

pub(super) const STRATEGY: Strategy = Strategy {
    prepare: |_, _, new| keep_names_of_secrets(new),
    rows: Rows::new(cluster::SERVICE_ACCOUNT, cluster::service_account),
    ..Strategy::DEFAULT
};

/// Drops all but the names of the secrets that an account references.
fn keep_names_of_secrets(account: &mut Value) {
    let Some(Value::Array(secrets)) = account.get_mut("secrets") else { return };
    for secret in secrets.iter_mut().filter_map(Value::as_object_mut) {
        secret.retain(|field, _| field == "name");
    }
}
