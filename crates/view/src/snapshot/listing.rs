//! Listed namespaces, for views of several Deployments at once.

use std::collections::BTreeSet;

use gantry_model::{Labels, Selector};
use k8s_openapi::api::apps::v1 as apps;
use k8s_openapi::api::core::v1 as core;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use super::ApiObjects;

/// All objects that were listed in one namespace, or in all.
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
    /// One of the Deployments, with the objects that its selector selects in its namespace.
    pub fn objects_of(&self, deployment: &apps::Deployment) -> ApiObjects {
        let namespace = &deployment.metadata.namespace;
        let selector = Selector::parse(deployment.spec.selector.clone());
        let is_near = |meta: &ObjectMeta| meta.namespace == *namespace;
        // An invalid selector selects everything: ownership decides then.
        let is_selected = |meta: &ObjectMeta| {
            is_near(meta) && selector.as_ref().map_or(true, |it| selects(it, meta.labels.as_ref()))
        };
        let sets: Vec<_> = self.sets.iter().filter(|set| is_selected(&set.metadata)).cloned().collect();
        let pods: Vec<_> = self.pods.iter().filter(|pod| is_selected(&pod.metadata)).cloned().collect();
        let metas = sets.iter().map(|set| &set.metadata).chain(pods.iter().map(|pod| &pod.metadata));
        let own: BTreeSet<_> =
            metas.chain([&deployment.metadata]).filter_map(|meta| meta.uid.as_ref()).collect();
        let is_about =
            |event: &&core::Event| event.involved_object.uid.as_ref().is_some_and(|uid| own.contains(uid));
        let is_rival = |other: &&apps::Deployment| is_near(&other.metadata) && share_pods(deployment, other);
        ApiObjects {
            events: self.events.iter().filter(is_about).cloned().collect(),
            deployments: self.deployments.iter().filter(is_rival).cloned().collect(),
            deployment: deployment.clone(),
            nodes: self.nodes.clone(),
            sets,
            pods,
        }
    }
}

/// Whether either Deployment's selector selects the other's pods.
fn share_pods(one: &apps::Deployment, other: &apps::Deployment) -> bool {
    let claims = |one: &apps::Deployment, other: &apps::Deployment| {
        let labels = other.spec.template.metadata.as_ref().and_then(|meta| meta.labels.as_ref());
        Selector::parse(one.spec.selector.clone()).is_ok_and(|selector| selects(&selector, labels))
    };
    claims(one, other) || claims(other, one)
}

fn selects(selector: &Selector, labels: Option<&Labels>) -> bool {
    labels.map_or_else(|| selector.matches(&Labels::new()), |labels| selector.matches(labels))
}
