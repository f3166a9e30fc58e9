//! Plays the commands of a story through the API.

use gantry_json::{Value, json};
use gantry_model::{Limit, Strategy};
use gantry_sim::story::Command;
use gantry_sim::{NewDeployment, NewReplicaSet, Propagation, WorkloadKind};
use std::time::Duration;

use gantry_test_cluster::{PatchType, Terminations, TestNamespace};

/// The Deployment of every scenario.
const WEB: &str = "web";

/// Carries out a command; the controllers do the rest.
pub(crate) async fn act(stage: &mut TestNamespace, command: &Command) {
    match command {
        Command::CreateDeployment(draft) => create(stage, "deployments", &deployment(draft)).await,
        Command::CreateReplicaSet(draft) => create(stage, "replicasets", &replica_set(draft)).await,
        Command::Change(changes) => change(stage, changes).await,
        Command::Annotate(key, value) => {
            patch(stage, "deployments", WEB, &json!({"metadata": {"annotations": {key: value}}})).await;
        }
        Command::Label(key, value) => label(stage, "deployments", WEB, key, value).await,
        Command::LabelTemplate(key, value) => {
            let labels = json!({"spec": {"template": {"metadata": {"labels": {key: value}}}}});
            patch(stage, "deployments", WEB, &labels).await;
        }
        Command::Undo(set) => undo(stage, *set).await,
        Command::ScaleSet(set, size) => {
            let set = name_of(&stage.sets().await, *set);
            patch(stage, "replicasets", &set, &json!({"spec": {"replicas": size.render()}})).await;
        }
        Command::LabelSet(set, key, value) => {
            let set = name_of(&stage.sets().await, *set);
            label(stage, "replicasets", &set, key, value).await;
        }
        Command::LabelPod(pod, key, value) => {
            let pod = name_of(&stage.pods().await, *pod);
            label(stage, "pods", &pod, key, value).await;
        }
        Command::Cost(pod, cost) => set_deletion_cost(stage, *pod, *cost).await,
        Command::Delete(kind, name, propagation) => delete(stage, *kind, name.as_deref(), *propagation).await,
        Command::Ready(None, None) => stage.ready_all().await,
        Command::Ready(Some(n), None) => {
            for _ in 0..*n {
                stage.ready_one().await;
            }
        }
        Command::Fail(1) => stage.fail_one().await,
        Command::Reaping(on) => {
            stage.terminations = if *on { Terminations::AtOnce } else { Terminations::Manually }
        }
        Command::Reap => stage.delete_terminating().await,
        Command::Wait(seconds) => tokio::time::sleep(Duration::from_secs(*seconds)).await,
        Command::Ready(_, Some(_))
        | Command::Fail(_)
        | Command::Unready(..)
        | Command::Quota(_)
        | Command::Drain => panic!("no scenario has {command:?} as a step"),
    }
}

async fn create(stage: &TestNamespace, plural: &str, object: &Value) {
    stage.create(plural, object).await.unwrap();
}

async fn patch(stage: &TestNamespace, plural: &str, name: &str, patch: &Value) {
    stage.patch(plural, name, PatchType::Strategic, patch).await.unwrap();
}

async fn label(stage: &TestNamespace, plural: &str, name: &str, key: &str, value: &str) {
    patch(stage, plural, name, &json!({"metadata": {"labels": {key: value}}})).await;
}

/// Like a user: by the `scale` subresource when only the size changes, and otherwise by patches.
async fn change(stage: &TestNamespace, changes: &[(String, String)]) {
    if let [(key, replicas)] = changes
        && key == "replicas"
    {
        let scale = json!({"spec": {"replicas": replicas.parse::<u32>().unwrap()}});
        stage.patch("deployments", "web/scale", PatchType::Merge, &scale).await.unwrap();
        return;
    }
    let mut all = json!({});
    for (key, value) in changes {
        merge(&mut all, changed(key, value));
    }
    patch(stage, "deployments", WEB, &all).await;
}

/// One change of a Deployment, as a patch.
fn changed(key: &str, value: &str) -> Value {
    let number = || value.parse::<u32>().unwrap();
    match key {
        "replicas" => json!({"spec": {"replicas": number()}}),
        "image" => {
            json!({"spec": {"template": {"spec": {"containers": [{"name": "main", "image": value}]}}}})
        }
        "history" => json!({"spec": {"revisionHistoryLimit": number()}}),
        "min-ready" => json!({"spec": {"minReadySeconds": number()}}),
        "paused" if value == "true" => json!({"spec": {"paused": true}}),
        "paused" => json!({"spec": {"paused": null}}),
        "strategy" => json!({"spec": {"strategy": {"type": value, "rollingUpdate": null}}}),
        "note" => {
            let (key, value) = value.split_once(':').unwrap();
            json!({"metadata": {"annotations": {key: value}}})
        }
        _ => panic!("no scenario changes {key}"),
    }
}

fn merge(all: &mut Value, one: Value) {
    match (all, one) {
        (Value::Object(all), Value::Object(one)) => {
            for (key, value) in one {
                merge(all.entry(key).or_insert_with(|| json!({})), value);
            }
        }
        (all, one) => *all = one,
    }
}

/// Like `kubectl rollout undo`: writes back the template of another set.
async fn undo(stage: &mut TestNamespace, set: Option<usize>) {
    let mut sets = stage.sets().await;
    let index = if let Some(index) = set {
        index - 1
    } else {
        sets.sort_by_key(revision);
        sets.len() - 2
    };
    let mut template = sets[index]["spec"]["template"].take();
    template["metadata"]["labels"].as_object_mut().unwrap().remove("pod-template-hash");
    let patch = json!([{"op": "replace", "path": "/spec/template", "value": template}]);
    stage.patch("deployments", WEB, PatchType::Json, &patch).await.unwrap();
}

fn revision(set: &Value) -> u64 {
    set["metadata"]["annotations"]["deployment.kubernetes.io/revision"].as_str().unwrap().parse().unwrap()
}

/// Sets the deletion cost of a pod, and marks the pod to recognize the remaining ones.
async fn set_deletion_cost(stage: &mut TestNamespace, pod: usize, cost: i32) {
    let pod = name_of(&stage.pods().await, pod);
    let annotations = json!({"controller.kubernetes.io/pod-deletion-cost": cost.to_string()});
    let labels = json!({"cost": format!("c{}", cost.abs())});
    patch(stage, "pods", &pod, &json!({"metadata": {"annotations": annotations, "labels": labels}})).await;
}

async fn delete(stage: &mut TestNamespace, kind: WorkloadKind, name: Option<&str>, propagation: Propagation) {
    let index = name.and_then(|name| name.parse().ok()).unwrap_or(1);
    let (plural, name) = match kind {
        WorkloadKind::Deployment => ("deployments", WEB.to_owned()),
        WorkloadKind::ReplicaSet => ("replicasets", name_of(&stage.sets().await, index)),
        WorkloadKind::Pod => ("pods", name_of(&stage.pods().await, index)),
    };
    let policy = match propagation {
        Propagation::Background => "Background",
        Propagation::Foreground => "Foreground",
        Propagation::Orphan => "Orphan",
    };
    let options = json!({"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": policy});
    stage.delete(plural, &name, &options).await.unwrap();
}

/// The name of the object at this position, counted from one.
fn name_of(objects: &[Value], index: usize) -> String {
    objects[index - 1]["metadata"]["name"].as_str().unwrap().to_owned()
}

fn deployment(draft: &NewDeployment) -> Value {
    let mut object = workload("Deployment", &draft.name, &draft.name, draft.replicas.render(), &draft.image);
    object["metadata"]["annotations"] = json!(draft.annotations);
    let spec = &mut object["spec"];
    spec["strategy"] = match &draft.strategy {
        Strategy::RollingUpdate(Ok(limits)) => json!({"type": "RollingUpdate", "rollingUpdate": {
            "maxSurge": limit(limits.surge), "maxUnavailable": limit(limits.unavailable)}}),
        Strategy::Recreate => json!({"type": "Recreate"}),
        other => panic!("no scenario has {other:?}"),
    };
    spec["minReadySeconds"] = json!(draft.min_ready_seconds);
    spec["progressDeadlineSeconds"] = json!(draft.progress_deadline_seconds);
    spec["revisionHistoryLimit"] = json!(draft.revision_history_limit.map(gantry_model::Replicas::render));
    spec["paused"] = json!(draft.paused);
    object
}

fn replica_set(draft: &NewReplicaSet) -> Value {
    workload("ReplicaSet", &draft.name, &draft.app, draft.replicas.render(), &draft.image)
}

/// An object of the group `apps`, as a user writes it.
pub(crate) fn workload(kind: &str, name: &str, app: &str, replicas: i32, image: &str) -> Value {
    json!({"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": name, "labels": {"app": app}}, "spec": {
        "replicas": replicas, "selector": {"matchLabels": {"app": app}}, "template": {
            "metadata": {"labels": {"app": app}}, "spec": {"containers": [{"name": "main", "image": image}]}}}})
}

fn limit(limit: Limit) -> Value {
    match limit {
        Limit::Count(count) => json!(count),
        Limit::Percent(percent) => json!(format!("{percent}%")),
    }
}
