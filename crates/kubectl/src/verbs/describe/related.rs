//! Reads the related objects that a description needs, and describes the object.

use gantry_client::ApiRequest;
use gantry_json::Value;

use crate::client_context::ClientContext;
use crate::describe::ingress::{self, Backend, Backends};
use crate::describe::{self, deployment, node, pod, replica_set};
use crate::failure::Failure;
use crate::field::{list, pairs, selector, text};
use crate::selection::FoundObject;
use crate::workload::is_controlled_by;

/// How the events about an object are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EventsOf {
    /// No events are shown for objects of this kind.
    None,
    /// By the uid of the object.
    Uid,
    /// By the name of the object, as kubelets report about nodes.
    Name,
}

/// The description of an object in tab-separated cells, and how to find its events.
pub(super) async fn described(
    ctx: &mut ClientContext,
    one: &FoundObject,
) -> Result<(String, EventsOf), Failure> {
    let object = &one.object;
    let now = ctx.now();
    let shown = match (one.resource.group.as_str(), one.resource.kind.as_str()) {
        ("", "LimitRange") => return without_events(describe::limit_range(object)),
        ("", "ResourceQuota") => return without_events(describe::resource_quota(object)),
        ("", "Secret") => return without_events(describe::secret(object)),
        ("", "Namespace") => return without_events(namespace(ctx, one).await),
        ("networking.k8s.io", "NetworkPolicy") => return without_events(describe::network_policy(object)),
        ("rbac.authorization.k8s.io", "Role" | "ClusterRole") => {
            return without_events(describe::role(object));
        }
        ("rbac.authorization.k8s.io", "RoleBinding" | "ClusterRoleBinding") => {
            return without_events(describe::binding(object));
        }
        ("", "Node") => return Ok((on_node(ctx, one).await?, EventsOf::Name)),
        ("", "ConfigMap") => describe::config_map(object),
        ("", "Endpoints") => describe::endpoints(object),
        ("", "PersistentVolume") => describe::persistent_volume(object, now),
        ("", "PersistentVolumeClaim") => {
            let pods = listed(ctx, &format!("/api/v1/namespaces/{}/pods", one.namespace)).await?;
            describe::claim(object, &pods, now)
        }
        ("", "Pod") => pod::pod(object, now),
        ("", "Service") => describe::service(object, &slices(ctx, &one.namespace, &one.name).await),
        ("", "ServiceAccount") => describe::service_account(object),
        ("autoscaling", "HorizontalPodAutoscaler") => {
            describe::autoscaler(&current_autoscaler(ctx, one).await)
        }
        ("batch", "CronJob") => describe::cron_job(object),
        ("batch", "Job") => describe::job(object),
        ("discovery.k8s.io", "EndpointSlice") => describe::endpoint_slice(object),
        ("networking.k8s.io", "IPAddress") => describe::ip_address(object),
        ("networking.k8s.io", "Ingress") => ingress::ingress(object, &backends(ctx, one).await),
        ("networking.k8s.io", "IngressClass") => ingress::ingress_class(object),
        ("networking.k8s.io", "ServiceCIDR") => describe::service_cidr(object),
        ("policy", "PodDisruptionBudget") => describe::disruption_budget(object),
        ("scheduling.k8s.io", "PriorityClass") => describe::priority_class(object),
        ("storage.k8s.io", "CSINode") => describe::csi_node(object),
        ("storage.k8s.io", "StorageClass") => describe::storage_class(object),
        ("storage.k8s.io", "VolumeAttributesClass") => describe::volume_attributes_class(object),
        ("apps", "Deployment" | "ReplicaSet" | "DaemonSet" | "StatefulSet")
        | ("", "ReplicationController") => workload(ctx, one).await?,
        _ => describe::object(object),
    };
    Ok((shown, EventsOf::Uid))
}

#[expect(clippy::unnecessary_wraps, reason = "so that arms of the table read alike")]
fn without_events(shown: String) -> Result<(String, EventsOf), Failure> {
    Ok((shown, EventsOf::None))
}

/// A workload, with the ReplicaSets or pods that it controls.
async fn workload(ctx: &mut ClientContext, one: &FoundObject) -> Result<String, Failure> {
    let (object, namespace) = (&one.object, &one.namespace);
    if one.resource.kind == "Deployment" {
        let path = format!("/apis/apps/v1/namespaces/{namespace}/replicasets");
        let sets = controlled(ctx, &path, object, selector(object, "/spec/selector")).await?;
        return Ok(deployment::deployment(object, &sets));
    }
    let selector = match one.resource.kind.as_str() {
        "ReplicationController" => pairs(object, "/spec/selector"),
        _ => selector(object, "/spec/selector"),
    };
    let path = format!("/api/v1/namespaces/{namespace}/pods");
    let pods = controlled(ctx, &path, object, selector).await;
    let shown_why = |pods: Result<Vec<Value>, Failure>| pods.map_err(|failure| failure.message());
    Ok(match one.resource.kind.as_str() {
        "DaemonSet" => replica_set::daemon_set(object, &pods?),
        "StatefulSet" => replica_set::stateful_set(object, &pods?),
        "ReplicationController" => replica_set::replication_controller(object, &shown_why(pods)),
        _ => replica_set::replica_set(object, &shown_why(pods)),
    })
}

/// The objects at a path that a selector selects and that their owner controls.
async fn controlled(
    ctx: &mut ClientContext,
    path: &str,
    owner: &Value,
    selector: String,
) -> Result<Vec<Value>, Failure> {
    let response = ctx.request(ApiRequest::get(path).with("labelSelector", selector)).await?;
    let uid = text(owner, "/metadata/uid");
    Ok(list(&response, "/items").iter().filter(|one| is_controlled_by(one, uid)).cloned().collect())
}

async fn listed(ctx: &mut ClientContext, path: &str) -> Result<Vec<Value>, Failure> {
    let response = ctx.request(ApiRequest::get(path)).await?;
    Ok(list(&response, "/items").to_vec())
}

/// A node, with its lease and the pods on it that have not ended.
async fn on_node(ctx: &mut ClientContext, one: &FoundObject) -> Result<String, Failure> {
    let on_it = format!("spec.nodeName={},status.phase!=Failed,status.phase!=Succeeded", one.name);
    let response = ctx.request(ApiRequest::get("/api/v1/pods").with("fieldSelector", on_it)).await?;
    let lease = format!("/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/{}", one.name);
    let lease = ctx.request(ApiRequest::get(lease)).await.map_err(|failure| failure.message());
    let around = node::NodeRelated { lease, pods: list(&response, "/items").to_vec() };
    Ok(node::node(&one.object, &around, ctx.now()))
}

/// A namespace; quotas and limits that may not be read count as none, as in kubectl.
async fn namespace(ctx: &mut ClientContext, one: &FoundObject) -> String {
    let path = |what: &str| format!("/api/v1/namespaces/{}/{what}", one.name);
    let quotas = listed(ctx, &path("resourcequotas")).await.unwrap_or_default();
    let ranges = listed(ctx, &path("limitranges")).await.unwrap_or_default();
    describe::namespace(&one.object, &quotas, &ranges)
}

/// The EndpointSlices of a Service; those that may not be read count as none, as in kubectl.
async fn slices(ctx: &mut ClientContext, namespace: &str, service: &str) -> Vec<Value> {
    let path = format!("/apis/discovery.k8s.io/v1/namespaces/{namespace}/endpointslices");
    let call = ApiRequest::get(path).with("labelSelector", format!("kubernetes.io/service-name={service}"));
    ctx.request(call).await.map(|response| list(&response, "/items").to_vec()).unwrap_or_default()
}

/// The Services that an Ingress sends requests to.
async fn backends(ctx: &mut ClientContext, one: &FoundObject) -> Backends {
    let mut backends = Backends::new();
    for name in ingress::services(&one.object) {
        let path = format!("/api/v1/namespaces/{}/services/{name}", one.namespace);
        let backend = match ctx.request(ApiRequest::get(path)).await {
            Ok(service) => Ok(Backend { service, slices: slices(ctx, &one.namespace, name).await }),
            Err(failure) => Err(failure.message()),
        };
        backends.insert(name.to_owned(), backend);
    }
    backends
}

/// The autoscaler in version `autoscaling/v2`.
async fn current_autoscaler(ctx: &mut ClientContext, one: &FoundObject) -> Value {
    let (namespace, name) = (&one.namespace, &one.name);
    let path = format!("/apis/autoscaling/v2/namespaces/{namespace}/horizontalpodautoscalers/{name}");
    ctx.request(ApiRequest::get(path)).await.unwrap_or_else(|_| one.object.clone())
}
