//! Reading Deployments with all around them, once.

use std::fmt::Debug;

use gantry_kubectl::{Failure, Refused};
use gantry_view::{ApiObjects, Listing};
use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::apps::v1::{Deployment, ReplicaSet};
use k8s_openapi::api::core::v1::{Event, Node, Pod};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelectorRequirement;
use kube::api::ListParams;
use kube::{Api, Resource};
use serde::de::DeserializeOwned;

use crate::asked::Asked;
use crate::cluster::Cluster;

/// What was found of the Deployments that were asked for.
#[derive(Default)]
pub(crate) struct Gathered {
    /// Each with all around it.
    pub(crate) objects: Vec<ApiObjects>,
    /// Why some were not found.
    pub(crate) failures: Vec<Failure>,
    /// What was left out because it may not be read.
    pub(crate) notes: Vec<String>,
}

/// Reads the Deployments that are asked for, and all around them.
pub(crate) async fn look(cluster: &Cluster, asked: &Asked) -> Result<Gathered, Failure> {
    let mut gathered = Gathered::default();
    let notes = &mut gathered.notes;
    match asked {
        Asked::One(name) => gathered.objects.push(objects(cluster, name, notes).await?),
        Asked::Names(names) => {
            let listing = listing(cluster, false, notes).await?;
            for name in names {
                let found = listing.deployments.iter().find(|it| it.metadata.name.as_ref() == Some(name));
                match found {
                    Some(deployment) => gathered.objects.push(listing.objects_of(deployment)),
                    None => gathered.failures.push(not_found(name)),
                }
            }
        }
        Asked::All { labels, all_namespaces } => {
            let listing = listing(cluster, *all_namespaces, notes).await?;
            let wanted = match labels.as_str() {
                "" => listing.deployments.clone(),
                labels => {
                    let selected = ListParams::default().labels(labels);
                    list(cluster, *all_namespaces, &selected).await?
                }
            };
            gathered.objects = wanted.iter().map(|deployment| listing.objects_of(deployment)).collect();
        }
    }
    Ok(gathered)
}

fn not_found(name: &str) -> Failure {
    let message = format!("deployments.apps \"{name}\" not found");
    Failure::Refused(Refused {
        status: serde_json::json!({"reason": "NotFound", "message": message}),
        doing: String::new(),
    })
}

/// Lists objects of the namespace, or of all.
async fn list<K>(cluster: &Cluster, all_namespaces: bool, params: &ListParams) -> Result<Vec<K>, Failure>
where
    K: Resource<Scope = NamespaceResourceScope, DynamicType = ()> + Clone + Debug + DeserializeOwned,
{
    let client = cluster.client.clone();
    let api: Api<K> =
        if all_namespaces { Api::all(client) } else { Api::namespaced(client, &cluster.namespace) };
    Ok(api.list(params).await.map_err(|error| cluster.failure(error))?.items)
}

/// All that several Deployments may be about.
async fn listing(
    cluster: &Cluster,
    all_namespaces: bool,
    notes: &mut Vec<String>,
) -> Result<Listing, Failure> {
    let all = ListParams::default();
    let events: Api<Event> = if all_namespaces {
        Api::all(cluster.client.clone())
    } else {
        Api::namespaced(cluster.client.clone(), &cluster.namespace)
    };
    let warnings = warnings();
    let (deployments, sets, pods, events) = tokio::join!(
        list(cluster, all_namespaces, &all),
        list(cluster, all_namespaces, &all),
        list::<Pod>(cluster, all_namespaces, &all),
        events.list(&warnings),
    );
    let pods = pods?;
    let on_nodes = nodes(cluster, &pods).await;
    let events = optional(events, "events", notes).map_err(|error| cluster.failure(error))?;
    Ok(Listing { deployments: deployments?, sets: sets?, pods, events, nodes: on_nodes })
}

/// Reads a Deployment, what its selector selects, and what is said about it.
async fn objects(cluster: &Cluster, name: &str, notes: &mut Vec<String>) -> Result<ApiObjects, Failure> {
    let Cluster { client, namespace, .. } = cluster;
    let failure = |error| cluster.failure(error);
    let deployments: Api<Deployment> = Api::namespaced(client.clone(), namespace);
    let sets: Api<ReplicaSet> = Api::namespaced(client.clone(), namespace);
    let pods: Api<Pod> = Api::namespaced(client.clone(), namespace);
    let events: Api<Event> = Api::namespaced(client.clone(), namespace);
    let deployment = deployments.get(name).await.map_err(failure)?;
    let selected = ListParams::default().labels(&selector(&deployment));
    let (warnings, all) = (warnings(), ListParams::default());
    let (sets, pods, events, deployments) = tokio::join!(
        sets.list(&selected),
        pods.list(&selected),
        events.list(&warnings),
        deployments.list(&all),
    );
    let pods = pods.map_err(failure)?.items;
    let on_nodes = nodes(cluster, &pods).await;
    Ok(ApiObjects {
        deployment,
        sets: sets.map_err(failure)?.items,
        pods,
        events: optional(events, "events", notes).map_err(failure)?,
        deployments: optional(deployments, "other Deployments", notes).map_err(failure)?,
        nodes: on_nodes,
    })
}

fn warnings() -> ListParams {
    ListParams::default().fields("type=Warning")
}

/// The nodes, if a pod is in trouble. Many people may not read them, and a report without their names is as true.
pub(crate) async fn nodes(cluster: &Cluster, pods: &[Pod]) -> Vec<Node> {
    let is_ready = |pod: &Pod| {
        let conditions = pod.status.as_ref().and_then(|status| status.conditions.as_deref());
        conditions.unwrap_or_default().iter().any(|it| it.type_ == "Ready" && it.status == "True")
    };
    let restarts = |pod: &Pod| {
        let containers = pod.status.as_ref().and_then(|status| status.container_statuses.as_deref());
        containers.unwrap_or_default().iter().any(|container| container.restart_count > 0)
    };
    if pods.iter().all(|pod| is_ready(pod) && !restarts(pod)) {
        return Vec::new();
    }
    let nodes: Api<Node> = Api::all(cluster.client.clone());
    nodes.list(&ListParams::default()).await.map(|list| list.items).unwrap_or_default()
}

/// A Deployment's selector as a list takes it. One that cannot be read selects everything: ownership tells then.
pub(crate) fn selector(deployment: &Deployment) -> String {
    let selector = &deployment.spec.selector;
    let labels = selector.match_labels.iter().flatten().map(|(key, value)| Some(format!("{key}={value}")));
    let expressions = selector.match_expressions.iter().flatten().map(|expression| {
        let LabelSelectorRequirement { key, operator, values } = expression;
        let values = values.as_deref().unwrap_or_default().join(",");
        match operator.as_str() {
            "In" => Some(format!("{key} in ({values})")),
            "NotIn" => Some(format!("{key} notin ({values})")),
            "Exists" => Some(key.clone()),
            "DoesNotExist" => Some(format!("!{key}")),
            _ => None,
        }
    });
    let all: Option<Vec<_>> = labels.chain(expressions).collect();
    all.unwrap_or_default().join(",")
}

/// What may be missing if it may not be read; a report without it is better than none.
fn optional<T: Clone>(
    listed: kube::Result<kube::api::ObjectList<T>>,
    what: &str,
    notes: &mut Vec<String>,
) -> kube::Result<Vec<T>> {
    match listed {
        Err(kube::Error::Api(status)) if status.code == 403 => {
            notes.push(format!("note: {what} may not be read, so they are left out: {}", status.message));
            Ok(Vec::new())
        }
        listed => Ok(listed?.items),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_selector_is_asked_for_as_a_list_takes_it() {
        let mut deployment = Deployment::default();
        let mut asked = |json| {
            deployment.spec.selector = serde_json::from_value(json).unwrap();
            selector(&deployment)
        };
        assert_eq!(
            asked(serde_json::json!({"matchLabels": {"app": "web"}, "matchExpressions": [
                {"key": "tier", "operator": "In", "values": ["a", "b"]},
                {"key": "old", "operator": "DoesNotExist"}]})),
            "app=web,tier in (a,b),!old"
        );
        assert_eq!(asked(serde_json::json!({"matchExpressions": [{"key": "a", "operator": "Foo"}]})), "");
    }
}
