//! Writing the map.

use gantry_model::{Name, Namespace};
use gantry_runtime::informer::{Plain, Typed as _};
use gantry_runtime::{Failure, Target};
use k8s_openapi::api::core::v1 as core;

use super::observe::Step;
use super::{NAME, Publisher};
use crate::namespace::provided;

impl Publisher {
    /// Writes the map; that it is there already, or that its namespace goes, is fine.
    pub(super) async fn apply(&self, namespace: &Name, step: Step) -> Result<(), Failure> {
        let resource = Plain::<core::ConfigMap>::resource();
        let namespace = Namespace::from(namespace.as_str());
        let written = match step {
            Step::Create(map) => {
                let target = Target::collection(&resource, Some(&namespace));
                self.context.api.create::<core::ConfigMap>(&target, &map).await
            }
            Step::Replace(map) => {
                let target = Target::object(&resource, Some(&namespace), &NAME.into());
                self.context.api.replace::<core::ConfigMap>(&target, &map).await
            }
        };
        provided(written)
    }
}
