//! The hollow kubelet: nodes that run nothing. It binds pods, reports them ready at once, and completes the deletion of
//! terminating ones.
//!
//! It is a separate process, so that its work is not counted as the server's. [`pod_stages`] decides, this file sends.

mod pod_stages;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use gantry_formats::rfc3339;
use gantry_json::json;
use http::Method;
use tokio::sync::Semaphore;
use tokio::time::sleep;

use crate::connection::{ApiRequest, Connection, Endpoint, JSON, STRATEGIC_PATCH};
use crate::objects::{
    Binding, DeleteOptions, ObjectMeta, ObjectReference, PROTOBUF, Pod, Preconditions, WatchEvent, encode,
};
use pod_stages::{PodAction, PodStages};

/// The line that is printed when its nodes exist.
pub(crate) const READY: &str = "hollow nodes are ready";

/// The maximum number of requests in flight.
const REQUESTS_MAX: usize = 32;
/// The interval of the nodes' heartbeats: a quarter of the time after which a node counts as lost.
const HEARTBEAT: Duration = Duration::from_secs(10);
/// The number of tries, and the delay between them, of a request that the server is too busy for.
const ATTEMPTS: u32 = 100;
const RETRY: Duration = Duration::from_millis(100);

/// Runs until the server has stopped.
pub(crate) async fn run(kubeconfig: &Path, nodes: usize) -> Result<(), String> {
    let endpoint = Endpoint::of_kubeconfig(kubeconfig).await?;
    let connection = endpoint.connect().await?;
    for node in 0..nodes {
        let response = connection.send(&create_node(node)).await?;
        if !response.is_ok() && response.status != 409 {
            return Err(response.refusal(&create_node(node)));
        }
    }
    tokio::spawn(heartbeats(connection.clone(), nodes));
    let watching = endpoint.connect().await?;
    let mut watch = watching.watch("/api/v1/pods").await?;
    crate::say(READY);
    let slots = Arc::new(Semaphore::new(REQUESTS_MAX));
    let mut stages = PodStages::default();
    loop {
        let (is_deleted, pod) = match watch.next().await? {
            Some(WatchEvent::Changed(pod)) => (false, pod),
            Some(WatchEvent::Deleted(pod)) => (true, pod),
            Some(WatchEvent::Bookmark) => continue,
            ended => {
                if let Some(WatchEvent::Failed(reason)) = ended {
                    crate::complain(&format!("the watch of the pods is restarted: {reason}"));
                }
                watch = watching.watch("/api/v1/pods").await?;
                continue;
            }
        };
        let Some(action) = stages.observe(is_deleted, &pod) else { continue };
        let request = request(action, &pod, nodes);
        let slot = Arc::clone(&slots).acquire_owned().await.map_err(|error| error.to_string())?;
        let connection = connection.clone();
        tokio::spawn(async move {
            if let Err(error) = send(&connection, &request).await {
                crate::complain(&error);
            }
            drop(slot);
        });
    }
}

/// Sends a request about a pod, again if the server is too busy. It is no failure if the pod does not exist or is being
/// deleted.
async fn send(connection: &Connection, request: &ApiRequest) -> Result<(), String> {
    for _ in 0..ATTEMPTS {
        let response = connection.send(request).await?;
        match response.status {
            200..300 | 404 | 409 => return Ok(()),
            429 | 500.. => sleep(RETRY).await,
            _ => return Err(response.refusal(request)),
        }
    }
    Err(format!("{} {}: refused {ATTEMPTS} times", request.method, request.path))
}

async fn heartbeats(connection: Connection, nodes: usize) {
    loop {
        sleep(HEARTBEAT).await;
        for node in 0..nodes {
            let path = format!("/api/v1/nodes/{}/status", node_name(node));
            let body = json!({"status": {"conditions": [ready_condition()]}}).to_string();
            let request = ApiRequest::new(Method::PATCH, path, STRATEGIC_PATCH, body);
            if let Err(error) = connection.send_ok(&request).await {
                crate::complain(&error);
            }
        }
    }
}

fn create_node(node: usize) -> ApiRequest {
    let object = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": node_name(node)},
        "status": {"conditions": [ready_condition()]}});
    ApiRequest::new(Method::POST, "/api/v1/nodes".to_owned(), JSON, object.to_string())
}

fn ready_condition() -> gantry_json::Value {
    let now = timestamp();
    json!({"type": "Ready", "status": "True", "lastHeartbeatTime": now, "lastTransitionTime": now})
}

/// The time now.
fn timestamp() -> String {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    format!("{}Z", rfc3339::print(i64::try_from(now.as_secs()).unwrap_or(i64::MAX)))
}

fn node_name(node: usize) -> String {
    format!("hollow-{node}")
}

fn request(action: PodAction, pod: &Pod, nodes: usize) -> ApiRequest {
    let ObjectMeta { name, namespace, uid, .. } = &pod.metadata;
    let path = format!("/api/v1/namespaces/{namespace}/pods/{name}");
    match action {
        PodAction::Bind => {
            let node = uid.bytes().fold(0, |sum, byte| sum + usize::from(byte)) % nodes;
            let metadata = ObjectMeta { name: name.clone(), uid: uid.clone(), ..ObjectMeta::default() };
            let target = ObjectReference { kind: "Node".to_owned(), name: node_name(node) };
            let body = encode("v1", "Binding", &Binding { metadata, target });
            ApiRequest::new(Method::POST, format!("{path}/binding"), PROTOBUF, body)
        }
        PodAction::ReportReady => {
            let body = ready_status(pod, &timestamp());
            ApiRequest::new(Method::PATCH, format!("{path}/status"), STRATEGIC_PATCH, body)
        }
        PodAction::Delete => {
            let preconditions = Preconditions { uid: Some(uid.clone()) };
            let options = DeleteOptions { grace_period_seconds: Some(0), preconditions: Some(preconditions) };
            ApiRequest::new(Method::DELETE, path, PROTOBUF, encode("v1", "DeleteOptions", &options))
        }
    }
}

/// The patch that makes a pod running and ready.
fn ready_status(pod: &Pod, now: &str) -> String {
    let conditions = ["PodScheduled", "Initialized", "ContainersReady", "Ready"]
        .map(|kind| json!({"type": kind, "status": "True", "lastTransitionTime": now}));
    let containers = pod.spec.containers.iter().map(|container| {
        json!({"name": container.name, "image": container.image, "imageID": "", "ready": true,
            "restartCount": 0, "state": {"running": {"startedAt": now}}})
    });
    json!({"status": {"phase": "Running", "podIP": "10.0.0.1", "startTime": now, "conditions": conditions,
        "containerStatuses": containers.collect::<Vec<_>>()}})
    .to_string()
}
