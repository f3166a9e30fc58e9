//! The scales of the controllers of a budget's pods: from the caches, or from their `scale` subresource.

use std::collections::BTreeMap;

use gantry_decide::disruption::{Scale, ScaleLookup, controllers_with_scale, find_scale};
use gantry_decide::gc::{Resource, ResourceScope};
use gantry_json::Value;
use gantry_model::{Namespace, OwnerReference, Replicas, Uid};
use gantry_runtime::{NoneIf as _, ResourcePath};

use super::Disruption;
use super::observe::Snapshot;

impl Disruption {
    /// The scale of every controller that the decision needs.
    pub(super) async fn scales(&self, snapshot: &Snapshot) -> BTreeMap<Uid, Scale> {
        let namespace = &snapshot.budget.parsed.meta.namespace;
        let pods = snapshot.pods();
        let mut scales = BTreeMap::new();
        for owner in controllers_with_scale(&snapshot.budget.parsed, &pods) {
            let found = find_scale(namespace, owner, &self.caches.controllers());
            let scale = match found {
                ScaleLookup::Scale(scale) => scale,
                ScaleLookup::NotCached => {
                    self.read_scale(namespace, owner).await.unwrap_or_else(Scale::Failed)
                }
            };
            scales.insert(owner.uid.clone(), scale);
        }
        scales
    }

    /// Reads the `scale` subresource of a controller of any kind.
    async fn read_scale(&self, namespace: &Namespace, owner: &OwnerReference) -> Result<Scale, String> {
        let resource = self.scalable_resource(owner).await?;
        let target = ResourcePath::object(&resource, Some(namespace), &owner.name).part("scale");
        let found = self.context.api.get::<Value>(&target).await.none_if_absent();
        let scale = found.map_err(|failure| failure.to_string())?.unwrap_or_default();
        if scale["metadata"]["uid"].as_str() != Some(&owner.uid.text()) {
            return Ok(Scale::Missing);
        }
        let replicas = scale["spec"]["replicas"].as_i64().unwrap_or(0);
        Ok(Scale::Known { controller: owner.uid.clone(), replicas: Replicas::nearest(replicas) })
    }

    /// The resource of a controller's kind, if it has a `scale` subresource.
    async fn scalable_resource(&self, owner: &OwnerReference) -> Result<Resource, String> {
        let OwnerReference { api_version, kind, .. } = owner;
        let (root, group) = match api_version.split_once('/') {
            Some((group, _)) => ("/apis", group),
            None => ("/api", ""),
        };
        let served =
            self.context.api.get::<Value>(&ResourcePath::path(format!("{root}/{api_version}"))).await;
        let served = served.none_if_absent().map_err(|failure| failure.to_string())?.unwrap_or_default();
        let resources: Vec<&Value> = served["resources"].as_array().into_iter().flatten().collect();
        let plural = resources.iter().find_map(|resource| {
            let name = resource["name"].as_str().filter(|name| !name.contains('/'))?;
            (resource["kind"] == kind.as_str()).then(|| name.to_owned())
        });
        let Some(plural) = plural else {
            return Err(format!("no matches for kind {kind:?} in version {api_version:?}"));
        };
        let scale = format!("{plural}/scale");
        if !resources.iter().any(|resource| resource["name"] == scale.as_str()) {
            let dot = if group.is_empty() { "" } else { "." };
            return Err(format!("{plural}{dot}{group} does not implement the scale subresource"));
        }
        let (api_version, kind) = (api_version.to_string(), kind.to_string());
        Ok(Resource { api_version, kind, plural, scope: ResourceScope::Namespaced })
    }
}
