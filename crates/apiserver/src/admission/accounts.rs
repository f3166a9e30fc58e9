//! The service account of a new pod.

use std::time::Duration;

use gantry_registry::Refusal;
use gantry_registry::admission::accounts;
use serde_json::Value;

use super::{forbidden, known};
use crate::ApiServer;
use crate::objects::Place;
use crate::settings::ServiceAccounts;

/// The account that every namespace is given soon after it was made.
const GIVEN: &str = "default";

/// How long a pod waits for that account, in steps that double: most are there at the second look.
const FIRST_WAIT: Duration = Duration::from_millis(5);
const LAST_WAIT: Duration = Duration::from_millis(640);

/// Gives a pod the token of its account, which must exist.
pub(super) async fn admit(server: &ApiServer, place: Place<'_>, pod: &mut Value) -> Result<(), Refusal> {
    if server.settings.service_accounts == ServiceAccounts::Ignored {
        return Ok(());
    }
    let Some(name) = accounts::account_of(pod) else { return Ok(()) };
    let Some(account) = find(server, place.namespace, name).await? else {
        return Err(forbidden(place, &accounts::missing(place.namespace.unwrap_or_default(), name)));
    };
    accounts::provide(pod, &account, &server.surroundings.name_suffix());
    Ok(())
}

/// The account of this name, waited for if it is one that is about to come.
async fn find(server: &ApiServer, namespace: Option<&str>, name: &str) -> Result<Option<Value>, Refusal> {
    let kind = known("", "serviceaccounts")?;
    let mut wait = FIRST_WAIT;
    loop {
        match server.objects.get(Place { kind, namespace, name }).await {
            Err(absent) if absent.code == 404 => {}
            found => return found.map(Some),
        }
        if name != GIVEN || wait > LAST_WAIT {
            return Ok(None);
        }
        tokio::time::sleep(wait).await;
        wait *= 2;
    }
}
