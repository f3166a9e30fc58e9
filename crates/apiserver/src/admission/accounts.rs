//! The service account of a new pod.

use gantry_registry::Refusal;
use gantry_registry::admission::accounts;
use serde_json::Value;

use super::{forbidden, known};
use crate::ApiServer;
use crate::objects::Place;
use crate::settings::ServiceAccounts;

/// Gives a pod the token of its account, which must exist.
pub(super) async fn admit(server: &ApiServer, place: Place<'_>, pod: &mut Value) -> Result<(), Refusal> {
    if server.settings.service_accounts == ServiceAccounts::Ignored {
        return Ok(());
    }
    let Some(name) = accounts::account_of(pod) else { return Ok(()) };
    let kind = known("", "serviceaccounts")?;
    let account = match server.objects.get(Place { kind, namespace: place.namespace, name }).await {
        Err(absent) if absent.code == 404 => {
            return Err(forbidden(place, &accounts::missing(place.namespace.unwrap_or_default(), name)));
        }
        found => found?,
    };
    accounts::provide(pod, &account, &server.surroundings.name_suffix());
    Ok(())
}
