//! Creating the account.

use gantry_model::{Name, Namespace};
use gantry_runtime::informer::{Plain, Typed as _};
use gantry_runtime::{Failure, Target};
use k8s_openapi::api::core::v1 as core;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use super::{Accounts, DEFAULT};
use crate::namespace::provided;

impl Accounts {
    /// Creates the account; that it is there already, or that its namespace goes, is fine.
    pub(super) async fn create(&self, namespace: &Name) -> Result<(), Failure> {
        let namespace = Namespace::from(namespace.as_str());
        let target = Target::collection(&Plain::<core::ServiceAccount>::resource(), Some(&namespace));
        let metadata = ObjectMeta {
            name: Some(DEFAULT.to_owned()),
            namespace: Some(namespace.to_string()),
            ..ObjectMeta::default()
        };
        let account = core::ServiceAccount { metadata, ..core::ServiceAccount::default() };
        provided(self.context.api.create::<core::ServiceAccount>(&target, &account).await)
    }
}
