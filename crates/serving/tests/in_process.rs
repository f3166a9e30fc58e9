//! A kube client and the server in one process, with nothing in between.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use std::sync::Arc;

use futures::TryStreamExt as _;
use gantry_apiserver::{Access, ApiServer, ApiService, Settings};
use gantry_json::{Value, json};
use gantry_serving::SystemEnvironment;
use gantry_store::memory::{HistoryLimits, MemoryStore};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{
    Api, DeleteParams, ListParams, Patch, PatchParams, PostParams, PropagationPolicy, WatchEvent, WatchParams,
};

async fn client() -> kube::Client {
    let store = Arc::new(MemoryStore::new(HistoryLimits::default()));
    let server = ApiServer::new(
        store,
        Arc::new(SystemEnvironment),
        Settings { access: Access::rbac(), ..Settings::default() },
    );
    server.prepare().await.unwrap();
    kube::Client::new(ApiService::for_master(server, "a-test"), "default")
}

fn deployment(name: &str) -> Deployment {
    let deployment = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name},
        "spec": {"replicas": 1, "selector": {"matchLabels": {"app": name}}, "template": {
            "metadata": {"labels": {"app": name}}, "spec": {"containers": [{"name": "c", "image": "nginx:1"}]}}},
    });
    gantry_json::from_value(deployment).unwrap()
}

fn replicas(deployment: &Deployment) -> Option<i32> {
    deployment.spec.replicas
}

#[tokio::test]
async fn objects_are_created_read_listed_and_replaced() {
    let api: Api<Deployment> = Api::default_namespaced(client().await);
    let created = api.create(&PostParams::default(), &deployment("web")).await.unwrap();
    assert_eq!(created.metadata.uid.as_ref().map(String::len), Some(36));
    let mut found = api.get("web").await.unwrap();
    assert_eq!(found, created);
    found.spec.replicas = Some(4);
    assert_eq!(replicas(&api.replace("web", &PostParams::default(), &found).await.unwrap()), Some(4));
    let names: Vec<_> = api
        .list(&ListParams::default())
        .await
        .unwrap()
        .items
        .into_iter()
        .map(|it| it.metadata.name)
        .collect();
    assert_eq!(names, [Some("web".to_owned())]);
    let refused = api.replace("web", &PostParams::default(), &found).await.unwrap_err();
    assert!(matches!(refused, kube::Error::Api(status) if status.reason == "Conflict"));
    let missing = api.get("nothing").await.unwrap_err();
    assert!(matches!(missing, kube::Error::Api(status) if status.code == 404));
}

#[tokio::test]
async fn every_kind_of_patch_is_accepted() {
    let api: Api<Deployment> = Api::default_namespaced(client().await);
    api.create(&PostParams::default(), &deployment("web")).await.unwrap();
    let params = PatchParams::default();
    let wanted = |replicas: i32| json!({"spec": {"replicas": replicas}});
    let merged = api.patch("web", &params, &Patch::Merge(wanted(2))).await.unwrap();
    assert_eq!(replicas(&merged), Some(2));
    let strategic = api.patch("web", &params, &Patch::Strategic(wanted(3))).await.unwrap();
    assert_eq!(replicas(&strategic), Some(3));
    let steps: Value = json!([{"op": "replace", "path": "/spec/replicas", "value": 4}]);
    let stepped =
        api.patch("web", &params, &Patch::<()>::Json(gantry_json::from_value(steps).unwrap())).await.unwrap();
    assert_eq!(replicas(&stepped), Some(4));
    let mut applied = wanted(5);
    applied["apiVersion"] = json!("apps/v1");
    applied["kind"] = json!("Deployment");
    let params = PatchParams::apply("me").force();
    assert_eq!(replicas(&api.patch("web", &params, &Patch::Apply(applied)).await.unwrap()), Some(5));
}

#[tokio::test]
async fn a_watch_delivers_everything_in_order() {
    let api: Api<ConfigMap> = Api::default_namespaced(client().await);
    let object = |name: &str| gantry_json::from_value(json!({"metadata": {"name": name}})).unwrap();
    api.create(&PostParams::default(), &object("before")).await.unwrap();
    let start = api.list(&ListParams::default()).await.unwrap().metadata.resource_version.unwrap();
    let mut watch = Box::pin(api.watch(&WatchParams::default(), &start).await.unwrap());
    api.create(&PostParams::default(), &object("a")).await.unwrap();
    api.patch("a", &PatchParams::default(), &Patch::Merge(json!({"data": {"k": "v"}}))).await.unwrap();
    api.delete("before", &DeleteParams::default()).await.unwrap();
    let mut received = Vec::new();
    while received.len() < 3 {
        let name = |object: ConfigMap| object.metadata.name.unwrap();
        received.push(match watch.try_next().await.unwrap().expect("the watch continues") {
            WatchEvent::Added(object) => format!("added {}", name(object)),
            WatchEvent::Modified(object) => format!("modified {}", name(object)),
            WatchEvent::Deleted(object) => format!("deleted {}", name(object)),
            WatchEvent::Bookmark(_) => continue,
            WatchEvent::Error(error) => panic!("{error:?}"),
        });
    }
    assert_eq!(received, ["added a", "modified a", "deleted before"]);
}

#[tokio::test]
async fn objects_are_deleted_under_each_policy() {
    let api: Api<Deployment> = Api::default_namespaced(client().await);
    for (policy, finalizer) in [
        (PropagationPolicy::Background, None),
        (PropagationPolicy::Foreground, Some("foregroundDeletion")),
        (PropagationPolicy::Orphan, Some("orphan")),
    ] {
        let name = format!("web-{policy:?}").to_lowercase();
        api.create(&PostParams::default(), &deployment(&name)).await.unwrap();
        let params = DeleteParams { propagation_policy: Some(policy), ..DeleteParams::default() };
        api.delete(&name, &params).await.unwrap();
        // An object with a finalizer waits for the garbage collector, which is not running.
        let remaining = api.get_opt(&name).await.unwrap();
        let finalizers = remaining.map(|remaining| remaining.metadata.finalizers.unwrap_or_default());
        assert_eq!(finalizers, finalizer.map(|name| vec![name.to_owned()]));
    }
}
