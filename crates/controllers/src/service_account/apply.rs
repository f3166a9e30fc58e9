//! Creates the service account.

use gantry_model::{Name, Namespace};
use gantry_runtime::informer::{Plain, Typed as _};
use gantry_runtime::{RequestError, ResourcePath};
use k8s_openapi::api::core::v1 as core;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use super::{Accounts, DEFAULT};
use crate::namespace::ignore_existing;

impl Accounts {
    /// Treats "already exists" and a terminating namespace as success.
    pub(super) async fn create(&self, namespace: &Name) -> Result<(), RequestError> {
        let namespace = Namespace::from(namespace.as_str());
        let target = ResourcePath::collection(&Plain::<core::ServiceAccount>::resource(), Some(&namespace));
        let metadata = ObjectMeta {
            name: Some(DEFAULT.to_owned()),
            namespace: Some(namespace.to_string()),
            ..ObjectMeta::default()
        };
        let account = core::ServiceAccount { metadata, ..core::ServiceAccount::default() };
        ignore_existing(self.context.api.create::<core::ServiceAccount>(&target, &account).await)
    }
}
