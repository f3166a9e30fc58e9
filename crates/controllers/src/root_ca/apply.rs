//! Writes the ConfigMap.

use gantry_model::{Name, Namespace};
use gantry_runtime::informer::{Plain, Typed as _};
use gantry_runtime::{Failure, Target};
use k8s_openapi::api::core::v1 as core;

use super::observe::ConfigMapWrite;
use super::{NAME, RootCaPublisher};
use crate::namespace::ignore_existing;

impl RootCaPublisher {
    /// Treats "already exists" and a terminating namespace as success.
    pub(super) async fn apply(&self, namespace: &Name, needed_write: ConfigMapWrite) -> Result<(), Failure> {
        let resource = Plain::<core::ConfigMap>::resource();
        let namespace = Namespace::from(namespace.as_str());
        let written = match needed_write {
            ConfigMapWrite::Create(map) => {
                let target = Target::collection(&resource, Some(&namespace));
                self.context.api.create::<core::ConfigMap>(&target, &map).await
            }
            ConfigMapWrite::Replace(map) => {
                let target = Target::object(&resource, Some(&namespace), &NAME.into());
                self.context.api.replace::<core::ConfigMap>(&target, &map).await
            }
        };
        ignore_existing(written)
    }
}
