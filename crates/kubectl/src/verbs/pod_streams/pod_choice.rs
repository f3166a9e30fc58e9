//! Which pod an argument means: a pod by name, or one of the pods of a workload or service.

use std::cmp::Reverse;
use std::time::Duration;

use gantry_client::ApiRequest;
use gantry_json::Value;
use tokio::time::Instant;

use crate::arguments::{ResourceArg, ResourceArgs};
use crate::client_context::ClientContext;
use crate::failure::Failure;
use crate::field::{list, members, selector, shown, text};
use crate::resources::ApiResource;
use crate::selection::FoundObject;

/// How often pods are looked for.
const POLL_EVERY: Duration = Duration::from_millis(500);

/// The purpose of the pods, which decides their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PodPurpose {
    /// To read logs: the pod that has been ready for the longest time comes first.
    Logs,
    /// To connect to one: the most active comes first.
    Connection,
}

/// The object that an argument names: `NAME` of a pod, or `TYPE/NAME`.
pub(super) async fn named(ctx: &mut ClientContext, word: &str) -> Result<FoundObject, Failure> {
    let resources = ctx.resources().await?;
    let (resource, name) = if word.contains('/') {
        let parsed = ResourceArgs::read(&resources, &[word.to_owned()])?;
        match parsed.items.into_iter().next() {
            Some(ResourceArg::Named(resource, name)) => (resource, name),
            _ => return Err(Failure::other("expected a resource")),
        }
    } else {
        (resources.by_name("pods")?.clone(), word.to_owned())
    };
    let namespace = ctx.namespace.clone();
    let object = ctx.object(&resource, &namespace, &name).await?;
    Ok(FoundObject::of(&resource, object))
}

/// The pod of an object to connect to. Waits until there is one.
pub(super) async fn to_connect(
    ctx: &mut ClientContext,
    object: FoundObject,
    timeout: Duration,
) -> Result<Value, Failure> {
    if object.resource.kind == "Pod" {
        return Ok(object.object);
    }
    let labels = pod_labels(&object)
        .map_err(|why| Failure::other(format!("cannot attach to {}: {why}", go_type(&object.resource))))?;
    let pods = wait_for(ctx, &object.namespace, &labels, timeout, PodPurpose::Connection).await?;
    pods.into_iter().next().ok_or_else(|| Failure::other("no pods found"))
}

/// The selector of the pods of a workload or service.
pub(super) fn pod_labels(object: &FoundObject) -> Result<String, String> {
    match object.resource.kind.as_str() {
        "Deployment" | "ReplicaSet" | "StatefulSet" | "DaemonSet" | "Job" => {
            Ok(selector(&object.object, "/spec/selector"))
        }
        "ReplicationController" | "Service" => {
            let labels = members(&object.object, "/spec/selector");
            if labels.is_empty() && object.resource.kind == "Service" {
                let name = &object.name;
                return Err(format!("invalid service '{name}': Service is defined without a selector"));
            }
            let labels = labels.into_iter().map(|(key, value)| format!("{key}={}", shown(value)));
            Ok(labels.collect::<Vec<_>>().join(","))
        }
        _ => Err(format!("selector for {} not implemented", go_type(&object.resource))),
    }
}

/// The Go type of a resource, as kubectl prints it: `*v1.ConfigMap`.
pub(super) fn go_type(resource: &ApiResource) -> String {
    format!("*{}.{}", resource.version, resource.kind)
}

/// The pods with these labels, the best first. Waits until there is one.
pub(super) async fn wait_for(
    ctx: &mut ClientContext,
    namespace: &str,
    labels: &str,
    timeout: Duration,
    purpose: PodPurpose,
) -> Result<Vec<Value>, Failure> {
    let deadline = Instant::now() + timeout;
    loop {
        let mut pods = with_labels(ctx, namespace, labels).await?;
        if !pods.is_empty() {
            sort(&mut pods, purpose);
            return Ok(pods);
        }
        if Instant::now() >= deadline {
            return Err(Failure::other("timed out waiting for the condition"));
        }
        tokio::time::sleep(POLL_EVERY).await;
    }
}

/// The pods with these labels.
pub(super) async fn with_labels(
    ctx: &mut ClientContext,
    namespace: &str,
    labels: &str,
) -> Result<Vec<Value>, Failure> {
    let request = ApiRequest::get(format!("/api/v1/namespaces/{namespace}/pods"));
    let response = ctx.request(request.with("labelSelector", labels)).await?;
    Ok(list(&response, "/items").to_vec())
}

fn sort(pods: &mut [Value], purpose: PodPurpose) {
    match purpose {
        // Times are compared as text; an empty one is later than any.
        PodPurpose::Logs => pods.sort_by_cached_key(|pod| {
            let order = PodOrder::of(pod);
            let (restarts, sidecar_restarts) = order.restarts;
            (
                !order.is_assigned,
                phase_of(pod, ["Running", "Unknown", "Pending"]),
                !order.is_ready,
                empty_last(order.ready_since),
                Reverse((restarts, sidecar_restarts)),
                empty_last(order.created),
            )
        }),
        PodPurpose::Connection => pods.sort_by_cached_key(|pod| {
            let order = PodOrder::of(pod);
            (
                !order.is_assigned,
                Reverse(phase_of(pod, ["Pending", "Unknown", "Running"])),
                !order.is_ready,
                (order.deleted.is_some(), Reverse(order.deleted)),
                empty_last(order.ready_since),
                order.restarts,
                empty_last(order.created),
            )
        }),
    }
}

fn empty_last(time: String) -> (bool, String) {
    (time.is_empty(), time)
}

/// The index of a pod's phase; 0 for an unknown one.
fn phase_of(pod: &Value, phases: [&str; 3]) -> usize {
    phases.iter().position(|phase| *phase == text(pod, "/status/phase")).unwrap_or(0)
}

/// The sort keys of pods.
struct PodOrder {
    is_assigned: bool,
    is_ready: bool,
    ready_since: String,
    deleted: Option<String>,
    /// The restarts of containers and of sidecars.
    restarts: (i64, i64),
    created: String,
}

impl PodOrder {
    fn of(pod: &Value) -> Self {
        let conditions = list(pod, "/status/conditions");
        let ready = conditions
            .iter()
            .find(|condition| text(condition, "/type") == "Ready" && text(condition, "/status") == "True");
        let sidecars: Vec<&str> = list(pod, "/spec/initContainers")
            .iter()
            .filter(|container| text(container, "/restartPolicy") == "Always")
            .map(|container| text(container, "/name"))
            .collect();
        let restarts = |pointer: &str, counts: &dyn Fn(&Value) -> bool| {
            let statuses = list(pod, pointer).iter().filter(|status| counts(status));
            statuses.filter_map(|status| status["restartCount"].as_i64()).max().unwrap_or(0)
        };
        Self {
            is_assigned: !text(pod, "/spec/nodeName").is_empty(),
            is_ready: ready.is_some(),
            ready_since: ready.map(|ready| text(ready, "/lastTransitionTime").to_owned()).unwrap_or_default(),
            deleted: pod["metadata"]["deletionTimestamp"].as_str().map(str::to_owned),
            restarts: (
                restarts("/status/containerStatuses", &|_| true),
                restarts("/status/initContainerStatuses", &|status| {
                    sidecars.contains(&text(status, "/name"))
                }),
            ),
            created: text(pod, "/metadata/creationTimestamp").to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use gantry_json::json;

    use super::*;

    fn pod(name: &str, node: &str, phase: &str, ready: Option<&str>, restarts: u32) -> Value {
        let conditions =
            ready.map(|since| json!({"type": "Ready", "status": "True", "lastTransitionTime": since}));
        json!({
            "metadata": {"name": name, "creationTimestamp": "2026-01-01T00:00:00Z"},
            "spec": {"nodeName": node},
            "status": {
                "phase": phase,
                "conditions": conditions.into_iter().collect::<Vec<_>>(),
                "containerStatuses": [{"restartCount": restarts}],
            },
        })
    }

    /// The orders of kubectl 1.37.
    #[test]
    fn pods_are_in_the_order_of_kubectl() {
        let pods = [
            pod("unassigned", "", "Pending", None, 0),
            pod("new", "n", "Running", Some("2026-01-01T00:00:02Z"), 0),
            pod("old", "n", "Running", Some("2026-01-01T00:00:01Z"), 0),
            pod("restarted", "n", "Running", Some("2026-01-01T00:00:01Z"), 3),
            pod("unready", "n", "Running", None, 0),
            pod("pending", "n", "Pending", None, 0),
        ];
        let sorted = |purpose| {
            let mut pods = pods.to_vec();
            sort(&mut pods, purpose);
            pods.iter().map(|pod| text(pod, "/metadata/name").to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(sorted(PodPurpose::Logs), ["restarted", "old", "new", "unready", "pending", "unassigned"]);
        assert_eq!(
            sorted(PodPurpose::Connection),
            ["old", "restarted", "new", "unready", "pending", "unassigned"]
        );
    }
}
