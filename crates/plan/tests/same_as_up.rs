//! The prediction of a plan equals the rollout on a cluster of `gantry up`.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use std::time::Duration;

use gantry_cluster::{Cluster, Options, Profile};
use gantry_json::{Value, json};
use gantry_kubectl::Manifest;
use gantry_plan::{Assumptions, ReplayRequest, StartState, Variant, replay};
use k8s_openapi::api::apps::v1::{Deployment, ReplicaSet};
use kube::Api;
use kube::api::{ListParams, Patch, PatchParams, PostParams};

const PROFILE: &str = "default: {image-pull: present, start-seconds: 0.2, terminate-seconds: 0.1}";
/// How long a rollout may take in real time.
const TIMEOUT: Duration = Duration::from_secs(120);

fn web(image: &str, strategy: &Value) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {"replicas": 3, "strategy": strategy, "selector": {"matchLabels": {"app": "web"}}, "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "web", "image": image}]},
        }},
    })
}

/// The sizes of the old and the new set that the plan predicts.
fn predicted(strategy: &Value) -> Vec<(i64, i64)> {
    let manifest = |image| Manifest { source: String::new(), object: web(image, strategy) };
    let request = ReplayRequest {
        before: StartState::Manifests(vec![manifest("nginx:1")]),
        after: vec![manifest("nginx:2")],
        namespace: "default".to_owned(),
        assumptions: Assumptions::new(Profile::read(PROFILE).unwrap(), 0),
        horizon: Duration::from_hours(1),
        seed: 0,
    };
    let plan = replay(&request, &Variant::AsWritten).unwrap().remove(0);
    let old = &plan.timeline.sets[0].name;
    let mut sizes = vec![(3, 0)];
    for resize in &plan.timeline.resizes {
        let mut now = *sizes.last().unwrap();
        if resize.set == *old {
            now.0 = resize.to;
        } else {
            now.1 = resize.to;
        }
        sizes.push(now);
    }
    sizes
}

/// The sizes of the old and the new set on a cluster in real time.
async fn observed(strategy: &Value) -> Vec<(i64, i64)> {
    let profile = Profile::read(PROFILE).unwrap();
    let cluster = Cluster::start_with(Options { profile, ..Options::default() }).await.unwrap();
    let deployments: Api<Deployment> = Api::default_namespaced(client(&cluster));
    let sets: Api<ReplicaSet> = Api::default_namespaced(client(&cluster));
    let object = gantry_json::from_value(web("nginx:1", strategy)).unwrap();
    deployments.create(&PostParams::default(), &object).await.unwrap();
    wait_until_complete(&deployments).await;
    let old = sets.list(&ListParams::default()).await.unwrap().items.remove(0).metadata.name.unwrap();
    let watching = watch_sizes(client(&cluster), old);
    let image = json!([{"name": "web", "image": "nginx:2"}]);
    let patch = json!({"spec": {"template": {"spec": {"containers": image}}}});
    deployments.patch("web", &PatchParams::default(), &Patch::Strategic(&patch)).await.unwrap();
    tokio::time::timeout(TIMEOUT, watching).await.expect("the rollout must end").unwrap()
}

/// A client in this process with all rights.
fn client(cluster: &Cluster) -> kube::Client {
    kube::Client::new(cluster.service(), "default")
}

/// Follows the sizes of the sets until the old one is empty and the new one complete.
fn watch_sizes(client: kube::Client, old: String) -> tokio::task::JoinHandle<Vec<(i64, i64)>> {
    use futures::TryStreamExt as _;
    use kube::api::{WatchEvent, WatchParams};
    tokio::spawn(async move {
        let sets: Api<ReplicaSet> = Api::default_namespaced(client);
        let version = sets.list(&ListParams::default()).await.unwrap().metadata.resource_version.unwrap();
        let mut sizes = vec![(3, 0)];
        let mut events = std::pin::pin!(sets.watch(&WatchParams::default(), &version).await.unwrap());
        while let Some(event) = events.try_next().await.unwrap() {
            let (WatchEvent::Added(set) | WatchEvent::Modified(set)) = event else { continue };
            let size = i64::from(set.spec.replicas.unwrap_or(0));
            let (mut now, is_old) = (*sizes.last().unwrap(), set.metadata.name.as_deref() == Some(&old));
            if is_old {
                now.0 = size;
            } else {
                now.1 = size;
            }
            if sizes.last() != Some(&now) {
                sizes.push(now);
            }
            if now == (0, 3) {
                break;
            }
        }
        sizes
    })
}

async fn wait_until_complete(deployments: &Api<Deployment>) {
    let is_complete = |web: &Deployment| {
        let status = web.status.as_ref();
        status
            .is_some_and(|status| status.available_replicas == Some(3) && status.updated_replicas == Some(3))
    };
    let waiting = async {
        while !is_complete(&deployments.get("web").await.unwrap()) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(TIMEOUT, waiting).await.expect("the first version must be rolled out");
}

#[tokio::test]
async fn the_sizes_of_a_rollout_are_those_that_were_predicted() {
    for strategy in [
        json!({"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}),
        json!({"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}),
        json!({"type": "Recreate"}),
    ] {
        let planned = {
            let strategy = strategy.clone();
            tokio::task::spawn_blocking(move || predicted(&strategy)).await.unwrap()
        };
        let real = observed(&strategy).await;
        assert_eq!(planned, real, "{strategy}");
    }
}
