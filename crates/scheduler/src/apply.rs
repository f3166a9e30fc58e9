//! Carrying out: bindings, and words for pods that found no place.

use gantry_decide::gc::Resource;
use gantry_model::patch::PatchForm;
use gantry_model::{Event, ObjectKey, RefusalKind, Timestamp};
use gantry_runtime::informer::{Cached as _, resource_of};
use gantry_runtime::{Api, EventRecorder, Failure, Target};
use k8s_openapi::api::core::v1::Pod;
use serde_json::{Value, json};

use crate::desk::{Became, Task};
use crate::observe::SeenPod;
use crate::place::SCHEDULER_NAME;

/// Carries out a task and says what became of it.
pub(crate) async fn carry_out(
    task: Task,
    api: Api,
    events: EventRecorder,
    now: Timestamp,
) -> (ObjectKey, String, Became) {
    let (pod, became) = match task {
        Task::Bind { pod, node } => {
            let became = match bind(&pod, &node, &api).await {
                Ok(()) => {
                    let key = pod.key();
                    let message = format!("Successfully assigned {}/{} to {node}", key.namespace, key.name);
                    events.record(SCHEDULER_NAME, pod.subject(), Event::normal("Scheduled", message));
                    Became::Bound
                }
                Err(failure) => failed(&pod, "bind", &failure),
            };
            (pod, became)
        }
        Task::Explain { pod, message } => {
            events.record(SCHEDULER_NAME, pod.subject(), Event::warning("FailedScheduling", message.clone()));
            let became = match explain(&pod, &message, &api, now).await {
                Ok(()) => Became::Explained,
                Err(failure) => failed(&pod, "explain", &failure),
            };
            (pod, became)
        }
    };
    let labels = [("profile", SCHEDULER_NAME), ("result", became.word())];
    api.metrics().count("scheduler_schedule_attempts_total", &labels);
    (pod.key(), pod.pod.uid().to_owned(), became)
}

async fn bind(pod: &SeenPod, node: &str, api: &Api) -> Result<(), Failure> {
    let key = pod.key();
    let body = json!({
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"name": key.name.as_str(), "namespace": key.namespace.as_str(), "uid": pod.pod.uid()},
        "target": {"kind": "Node", "name": node},
    });
    api.create::<Value>(&target(&key).part("binding"), &body).await.map(drop)
}

async fn explain(pod: &SeenPod, message: &str, api: &Api, now: Timestamp) -> Result<(), Failure> {
    let since = pod.unplaced_since().cloned().unwrap_or_else(|| now.render());
    let condition = json!({
        "type": "PodScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "message": message,
        "lastProbeTime": null,
        "lastTransitionTime": since,
        "observedGeneration": pod.generation,
    });
    let body = json!({"metadata": {"uid": pod.pod.uid()}, "status": {"conditions": [condition]}});
    api.patch::<Value>(&target(&pod.key()).part("status"), PatchForm::StrategicMerge, &body).await.map(drop)
}

fn failed(pod: &SeenPod, what: &str, failure: &Failure) -> Became {
    let key = pod.key();
    match failure.kind() {
        RefusalKind::NotFound | RefusalKind::Conflict | RefusalKind::Invalid => {
            tracing::debug!(pod = %key, what, %failure, "the pod is not as it was");
            Became::Gone
        }
        _ => {
            tracing::warn!(pod = %key, what, %failure, "a pod could not be placed; trying again");
            Became::Failed
        }
    }
}

fn target(key: &ObjectKey) -> Target {
    Target::object(&pods(), Some(&key.namespace), &key.name)
}

fn pods() -> Resource {
    resource_of::<Pod>()
}
