//! Whole namespaces as they were listed, for those who look at several Deployments at once.

use gantry_model::Selector;
use k8s_openapi::api::apps::v1 as apps;
use k8s_openapi::api::core::v1 as core;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use super::Objects;

/// All that was listed in one namespace, or in all.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    /// The Deployments.
    pub deployments: Vec<apps::Deployment>,
    /// The ReplicaSets.
    pub sets: Vec<apps::ReplicaSet>,
    /// The pods.
    pub pods: Vec<core::Pod>,
    /// The events.
    pub events: Vec<core::Event>,
    /// The cluster's nodes; may be left out.
    pub nodes: Vec<core::Node>,
}

impl Listing {
    /// One of the Deployments, with what its selector selects in its namespace.
    pub fn around(&self, deployment: &apps::Deployment) -> Objects {
        let namespace = &deployment.metadata.namespace;
        let selector = Selector::parse(deployment.spec.selector.clone());
        let is_near = |meta: &ObjectMeta| meta.namespace == *namespace;
        // A selector that cannot be read selects everything: ownership tells then.
        let is_selected = |meta: &ObjectMeta| {
            let labels = meta.labels.clone().unwrap_or_default();
            is_near(meta) && selector.as_ref().map_or(true, |selector| selector.matches(&labels))
        };
        Objects {
            deployment: deployment.clone(),
            sets: self.sets.iter().filter(|set| is_selected(&set.metadata)).cloned().collect(),
            pods: self.pods.iter().filter(|pod| is_selected(&pod.metadata)).cloned().collect(),
            events: self.events.iter().filter(|event| is_near(&event.metadata)).cloned().collect(),
            deployments: self.deployments.iter().filter(|other| is_near(&other.metadata)).cloned().collect(),
            nodes: self.nodes.clone(),
        }
    }
}
