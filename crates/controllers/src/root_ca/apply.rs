//! Writes the ConfigMap.

use gantry_model::{Name, Namespace};
use gantry_runtime::informer::{Plain, Typed as _};
use gantry_runtime::{RequestError, ResourcePath};
use k8s_openapi::api::core::v1 as core;

use super::observe::ConfigMapWrite;
use super::{NAME, RootCaPublisher};
use crate::namespace::ignore_existing;

impl RootCaPublisher {
    /// Treats "already exists" and a terminating namespace as success.
    pub(super) async fn apply(
        &self,
        namespace: &Name,
        needed_write: ConfigMapWrite,
    ) -> Result<(), RequestError> {
        let resource = Plain::<core::ConfigMap>::resource();
        let namespace = Namespace::from(namespace.as_str());
        let written = match needed_write {
            ConfigMapWrite::Create(map) => {
                let target = ResourcePath::collection(&resource, Some(&namespace));
                self.context.api.create::<core::ConfigMap>(&target, &map).await
            }
            ConfigMapWrite::Replace(map) => {
                let target = ResourcePath::object(&resource, Some(&namespace), &NAME.into());
                self.context.api.replace::<core::ConfigMap>(&target, &map).await
            }
        };
        ignore_existing(written)
    }
}
