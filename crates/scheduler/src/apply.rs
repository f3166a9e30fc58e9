//! Carries out tasks: bindings, and conditions and events of unschedulable pods.

use gantry_decide::gc::Resource;
use gantry_json::json;
use gantry_model::patch::PatchForm;
use gantry_model::{Event, ObjectKey, RefusalKind, Timestamp};
use gantry_runtime::informer::{Cached as _, resource_of};
use gantry_runtime::{Api, EventRecorder, RequestError, ResourcePath};
use k8s_openapi::api::core::v1::Pod;

use crate::cache::{Task, TaskResult};
use crate::observe::CachedPod;
use crate::place::SCHEDULER_NAME;

pub(crate) async fn carry_out(
    task: Task,
    api: Api,
    events: EventRecorder,
    now: Timestamp,
) -> (ObjectKey, String, TaskResult) {
    let (pod, result) = match task {
        Task::Bind { pod, node } => {
            let result = match bind(&pod, &node, &api).await {
                Ok(()) => {
                    let key = pod.key();
                    let message = format!("Successfully assigned {}/{} to {node}", key.namespace, key.name);
                    events.record(SCHEDULER_NAME, pod.subject(), Event::normal("Scheduled", message));
                    TaskResult::Bound
                }
                Err(failure) => failed(&pod, "bind", &failure),
            };
            (pod, result)
        }
        Task::ReportUnschedulable { pod, message } => {
            events.record(SCHEDULER_NAME, pod.subject(), Event::warning("FailedScheduling", message.clone()));
            let result = match report_unschedulable(&pod, &message, &api, now).await {
                Ok(()) => TaskResult::ReportedUnschedulable,
                Err(failure) => failed(&pod, "report", &failure),
            };
            (pod, result)
        }
    };
    let labels = [("profile", SCHEDULER_NAME), ("result", result.metric_label())];
    api.metrics().count("scheduler_schedule_attempts_total", &labels);
    (pod.key(), pod.pod.uid().to_owned(), result)
}

async fn bind(pod: &CachedPod, node: &str, api: &Api) -> Result<(), RequestError> {
    let key = pod.key();
    let body = json!({
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"name": key.name.as_str(), "namespace": key.namespace.as_str(), "uid": pod.pod.uid()},
        "target": {"kind": "Node", "name": node},
    });
    api.create(&target(&key).part("binding"), &body).await
}

async fn report_unschedulable(
    pod: &CachedPod,
    message: &str,
    api: &Api,
    now: Timestamp,
) -> Result<(), RequestError> {
    let since = pod.unschedulable_since().cloned().unwrap_or_else(|| now.render());
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
    api.patch(&target(&pod.key()).part("status"), PatchForm::StrategicMerge, &body).await
}

fn failed(pod: &CachedPod, what: &str, failure: &RequestError) -> TaskResult {
    let key = pod.key();
    match failure.kind() {
        RefusalKind::NotFound | RefusalKind::Conflict | RefusalKind::Invalid => {
            tracing::debug!(pod = %key, what, %failure, "the pod has changed");
            TaskResult::Stale
        }
        _ => {
            tracing::warn!(pod = %key, what, %failure, "scheduling a pod failed; retrying");
            TaskResult::Failed
        }
    }
}

fn target(key: &ObjectKey) -> ResourcePath {
    ResourcePath::object(&pods(), Some(&key.namespace), &key.name)
}

fn pods() -> Resource {
    resource_of::<Pod>()
}
