//! kube-rs over a socket and TLS.

use std::time::Duration;

use futures::StreamExt as _;
use gantry_json::{from_value, json};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use kube::api::{
    Api, DeleteParams, ListParams, Patch, PatchParams, PostParams, PropagationPolicy, WatchEvent, WatchParams,
};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config, ResourceExt as _};

use super::running::InMemory;

const NAMESPACE: &str = "kube-rs";

async fn client(server: &InMemory) -> Client {
    let kubeconfig = Kubeconfig::read_from(server.kubeconfig()).unwrap();
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.unwrap();
    Client::try_from(config).unwrap()
}

fn deployment(name: &str) -> Deployment {
    from_value(json!({"metadata": {"name": name}, "spec": {
        "replicas": 2, "selector": {"matchLabels": {"app": name}}, "template": {
            "metadata": {"labels": {"app": name}}, "spec": {"containers": [{"name": "web", "image": "nginx:1"}]}},
    }}))
    .unwrap()
}

fn config_map(name: &str) -> ConfigMap {
    from_value(json!({"metadata": {"name": name}})).unwrap()
}

#[tokio::test]
async fn kube_rs_works_unmodified() {
    let server = InMemory::apiserver();
    let client = client(&server).await;
    let namespace = from_value(json!({"metadata": {"name": NAMESPACE}})).unwrap();
    Api::<Namespace>::all(client.clone()).create(&PostParams::default(), &namespace).await.unwrap();
    let deployments = Api::<Deployment>::namespaced(client.clone(), NAMESPACE);
    creates_and_reads(&deployments).await;
    patches_in_every_way(&deployments).await;
    deletes_with_every_policy(&deployments).await;
    watches_through_a_reconnect(&Api::namespaced(client, NAMESPACE)).await;
}

async fn creates_and_reads(deployments: &Api<Deployment>) {
    let created = deployments.create(&PostParams::default(), &deployment("web")).await.unwrap();
    assert_eq!(deployments.get("web").await.unwrap().uid(), created.uid());
    assert!(deployments.get_opt("missing").await.unwrap().is_none());
    let refused = deployments.create(&PostParams::default(), &deployment("web")).await.unwrap_err();
    assert!(matches!(refused, kube::Error::Api(status) if status.reason == "AlreadyExists"));
    let listed = deployments.list(&ListParams::default().fields("metadata.name=web")).await.unwrap();
    assert_eq!(listed.items.len(), 1);
}

async fn patches_in_every_way(deployments: &Api<Deployment>) {
    let merge = Patch::Merge(json!({"spec": {"replicas": 3}}));
    let strategic = Patch::Strategic(json!({"metadata": {"labels": {"by": "strategic"}}}));
    let applied = Patch::Apply(json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "labels": {"applied": "yes"}},
    }));
    deployments.patch("web", &PatchParams::default(), &merge).await.unwrap();
    deployments.patch("web", &PatchParams::default(), &strategic).await.unwrap();
    let web = deployments.patch("web", &PatchParams::apply("session"), &applied).await.unwrap();
    assert_eq!(web.spec.replicas, Some(3));
    assert_eq!((&web.labels()["by"], &web.labels()["applied"]), (&"strategic".to_owned(), &"yes".to_owned()));
}

async fn deletes_with_every_policy(deployments: &Api<Deployment>) {
    let policies = [PropagationPolicy::Background, PropagationPolicy::Foreground, PropagationPolicy::Orphan];
    for policy in policies {
        let name = format!("{policy:?}").to_lowercase();
        deployments.create(&PostParams::default(), &deployment(&name)).await.unwrap();
        let options = DeleteParams { propagation_policy: Some(policy), ..DeleteParams::default() };
        deployments.delete(&name, &options).await.unwrap();
    }
    assert!(deployments.get_opt("background").await.unwrap().is_none());
    let lingering = deployments.get("orphan").await.unwrap();
    assert_eq!(lingering.finalizers(), ["orphan"]);
}

/// A4.2, A4.17: a watch from the last resource version delivers the changes since then.
async fn watches_through_a_reconnect(config_maps: &Api<ConfigMap>) {
    let mut version =
        config_maps.list(&ListParams::default()).await.unwrap().metadata.resource_version.unwrap();
    for name in ["one", "two", "three"] {
        config_maps.create(&PostParams::default(), &config_map(name)).await.unwrap();
        let parameters = WatchParams::default().timeout(60);
        let mut events = config_maps.watch(&parameters, &version).await.unwrap().boxed();
        let event =
            tokio::time::timeout(Duration::from_secs(60), events.next()).await.unwrap().unwrap().unwrap();
        let WatchEvent::Added(object) = event else { panic!("{event:?} instead of {name}") };
        assert_eq!(object.name_any(), name);
        version = object.resource_version().unwrap();
    }
}
