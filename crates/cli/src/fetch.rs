//! Reads Deployments with their ReplicaSets, pods, events and nodes, once.

use gantry_decide::gc::{Resource, ResourceScope};
use gantry_json::Value;
use gantry_kubectl::Failure;
use gantry_runtime::informer::resource_of;
use gantry_runtime::{Form, ObjectList, RequestError, ResourcePath, Wire};
use gantry_view::{ApiObjects, Listing};
use k8s_openapi::api::apps::v1::{Deployment, ReplicaSet};
use k8s_openapi::api::core::v1::{Event, Node, Pod};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelectorRequirement;

use crate::cluster::Cluster;
use crate::deployment_args::DeploymentArgs;

/// The requested Deployments, with related objects.
#[derive(Default)]
pub(crate) struct FetchedDeployments {
    /// Each with its related objects.
    pub(crate) objects: Vec<ApiObjects>,
    /// The failures of those that were not found.
    pub(crate) failures: Vec<Failure>,
    /// Notes about objects that are left out because access is denied.
    pub(crate) notes: Vec<String>,
}

/// Reads the requested Deployments with related objects.
pub(crate) async fn deployments(
    cluster: &Cluster,
    args: &DeploymentArgs,
) -> Result<FetchedDeployments, Failure> {
    let mut fetched = FetchedDeployments::default();
    let notes = &mut fetched.notes;
    match args {
        DeploymentArgs::One(name) => fetched.objects.push(objects(cluster, name, notes).await?),
        DeploymentArgs::Names(names) => {
            let listing = listing(cluster, false, notes).await?;
            for name in names {
                let found = listing.deployments.iter().find(|it| it.metadata.name.as_ref() == Some(name));
                match found {
                    Some(deployment) => fetched.objects.push(listing.objects_of(deployment)),
                    None => fetched.failures.push(not_found(name)),
                }
            }
        }
        DeploymentArgs::All { labels, all_namespaces } => {
            let listing = listing(cluster, *all_namespaces, notes).await?;
            let source = match labels.as_str() {
                "" => listing.deployments.clone(),
                labels => {
                    let selected = list(cluster, *all_namespaces, &[("labelSelector", labels)]).await;
                    selected.map_err(|error| cluster.failure(error))?
                }
            };
            fetched.objects = source.iter().map(|deployment| listing.objects_of(deployment)).collect();
        }
    }
    Ok(fetched)
}

fn not_found(name: &str) -> Failure {
    let message = format!("deployments.apps \"{name}\" not found");
    Failure::of_status(gantry_json::json!({"reason": "NotFound", "message": message}))
}

/// The events that reports need.
const WARNINGS: &[(&str, &str)] = &[("fieldSelector", "type=Warning")];

/// Reads an object of the namespace.
pub(crate) async fn get<W>(cluster: &Cluster, name: &str) -> Result<W, Failure>
where
    W: k8s_openapi::Resource<Scope: 'static> + Wire,
{
    let namespace = cluster.namespace.as_str().into();
    let path = ResourcePath::object(&resource_of::<W>(), Some(&namespace), &name.into());
    cluster.api.get(&path).await.map_err(|error| cluster.failure(error))
}

/// Lists objects of the namespace, or of all.
async fn list<W>(
    cluster: &Cluster,
    all_namespaces: bool,
    query: &[(&'static str, &str)],
) -> Result<Vec<W>, RequestError>
where
    W: k8s_openapi::Resource<Scope: 'static> + Wire,
{
    let namespace = (!all_namespaces).then(|| cluster.namespace.as_str().into());
    let path = ResourcePath::collection(&resource_of::<W>(), namespace.as_ref());
    let list: ObjectList<W> = cluster.api.list(&path, Form::Whole, query).await?;
    Ok(list.items)
}

/// Lists the objects of a resource in a namespace as they are, with all their fields.
pub(crate) async fn raw(
    cluster: &Cluster,
    api_version: &str,
    namespace: &str,
    plural: &str,
) -> Result<Vec<Value>, Failure> {
    let listed = list_raw(cluster, api_version, Some(namespace), plural).await;
    listed.map_err(|error| cluster.failure(error))
}

/// Lists the objects of a resource in a namespace, or of all, as they are; `None` if access is denied.
pub(crate) async fn raw_if_permitted(
    cluster: &Cluster,
    namespace: Option<&str>,
    plural: &str,
) -> Result<Option<Vec<Value>>, Failure> {
    match list_raw(cluster, "v1", namespace, plural).await {
        Ok(objects) => Ok(Some(objects)),
        Err(error) if error.is_forbidden() => Ok(None),
        Err(error) => Err(cluster.failure(error)),
    }
}

async fn list_raw(
    cluster: &Cluster,
    api_version: &str,
    namespace: Option<&str>,
    plural: &str,
) -> Result<Vec<Value>, RequestError> {
    let resource = Resource {
        api_version: api_version.to_owned(),
        kind: String::new(),
        plural: plural.to_owned(),
        scope: ResourceScope::Namespaced,
    };
    let path = ResourcePath::collection(&resource, namespace.map(Into::into).as_ref());
    let mut list: Value = cluster.api.list(&path, Form::Whole, &[]).await?;
    Ok(list["items"].as_array_mut().map(std::mem::take).unwrap_or_default())
}

/// Lists the objects of a namespace, or of all.
async fn listing(
    cluster: &Cluster,
    all_namespaces: bool,
    notes: &mut Vec<String>,
) -> Result<Listing, Failure> {
    let failure = |error| cluster.failure(error);
    let (deployments, sets, pods, events) = tokio::join!(
        list(cluster, all_namespaces, &[]),
        list(cluster, all_namespaces, &[]),
        list::<Pod>(cluster, all_namespaces, &[]),
        list::<Event>(cluster, all_namespaces, WARNINGS),
    );
    let pods = pods.map_err(failure)?;
    let on_nodes = nodes(cluster, &pods).await;
    let events = optional(events, "events", notes).map_err(failure)?;
    Ok(Listing {
        deployments: deployments.map_err(failure)?,
        sets: sets.map_err(failure)?,
        pods,
        events,
        nodes: on_nodes,
    })
}

/// Reads a Deployment with its ReplicaSets, pods and events.
async fn objects(cluster: &Cluster, name: &str, notes: &mut Vec<String>) -> Result<ApiObjects, Failure> {
    let failure = |error| cluster.failure(error);
    let deployment: Deployment = get(cluster, name).await?;
    let labels = selector(&deployment);
    let selected = [("labelSelector", labels.as_str())];
    let (sets, pods, events, deployments) = tokio::join!(
        list::<ReplicaSet>(cluster, false, &selected),
        list::<Pod>(cluster, false, &selected),
        list::<Event>(cluster, false, WARNINGS),
        list::<Deployment>(cluster, false, &[]),
    );
    let pods = pods.map_err(failure)?;
    let on_nodes = nodes(cluster, &pods).await;
    Ok(ApiObjects {
        deployment,
        sets: sets.map_err(failure)?,
        pods,
        events: optional(events, "events", notes).map_err(failure)?,
        deployments: optional(deployments, "other Deployments", notes).map_err(failure)?,
        nodes: on_nodes,
    })
}

/// Lists the nodes if a pod has a problem. Errors are ignored: many users may not read nodes, and the report works without.
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
    list(cluster, true, &[]).await.unwrap_or_default()
}

/// A Deployment's selector as a `labelSelector` parameter. An invalid one selects everything, and owner references decide.
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

/// Returns an empty list with a note if access is denied.
fn optional<T>(
    listed: Result<Vec<T>, RequestError>,
    what: &str,
    notes: &mut Vec<String>,
) -> Result<Vec<T>, RequestError> {
    match listed {
        Err(error) if error.is_forbidden() => {
            notes.push(format!("note: no permission to read {what}, which are left out: {error}"));
            Ok(Vec::new())
        }
        listed => listed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_selector_is_formatted_as_a_query_parameter() {
        let mut deployment = Deployment::default();
        let mut query_of = |json| {
            deployment.spec.selector = gantry_json::from_value(json).unwrap();
            selector(&deployment)
        };
        assert_eq!(
            query_of(gantry_json::json!({"matchLabels": {"app": "web"}, "matchExpressions": [
                {"key": "tier", "operator": "In", "values": ["a", "b"]},
                {"key": "old", "operator": "DoesNotExist"}]})),
            "app=web,tier in (a,b),!old"
        );
        assert_eq!(query_of(gantry_json::json!({"matchExpressions": [{"key": "a", "operator": "Foo"}]})), "");
    }
}
