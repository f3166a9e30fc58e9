//! Service account admission of new pods.

use std::time::Duration;

use gantry_json::Value;
use gantry_registry::admission::accounts;

use super::known;
use crate::ApiServer;
use crate::error::ApiError;
use crate::objects::ObjectRef;
use crate::settings::ServiceAccounts;

/// The account that a controller creates in every namespace.
const GIVEN: &str = "default";

/// The backoff while waiting for that account to be created.
const FIRST_WAIT: Duration = Duration::from_millis(5);
const LAST_WAIT: Duration = Duration::from_millis(640);

/// Mounts the token of the pod's account. Returns 403 if the account does not exist.
pub(super) async fn admit(
    server: &ApiServer,
    object_ref: ObjectRef<'_>,
    pod: &mut Value,
) -> Result<(), ApiError> {
    if server.settings.service_accounts == ServiceAccounts::Ignored {
        return Ok(());
    }
    let Some(name) = accounts::account_of(pod) else { return Ok(()) };
    let Some(account) = find(server, object_ref.namespace, name).await? else {
        let why = accounts::missing(object_ref.namespace.unwrap_or_default(), name);
        return Err(ApiError::forbidden(object_ref, why));
    };
    accounts::provide(pod, &account, &server.environment.name_suffix());
    Ok(())
}

/// Returns the account of this name; waits for `default`, which a controller creates.
async fn find(server: &ApiServer, namespace: Option<&str>, name: &str) -> Result<Option<Value>, ApiError> {
    let kind = known("", "serviceaccounts")?;
    let mut wait = FIRST_WAIT;
    loop {
        match server.objects.get(ObjectRef { kind, namespace, name }).await {
            Err(ApiError::NotFound(_)) => {}
            found => return found.map(Some),
        }
        if name != GIVEN || wait > LAST_WAIT {
            return Ok(None);
        }
        tokio::time::sleep(wait).await;
        wait *= 2;
    }
}
