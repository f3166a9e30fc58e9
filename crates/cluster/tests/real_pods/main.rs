//! Real pods: a cluster whose node is this machine, with its own containerd.
//!
//! Runs where root, containerd, runc, the CNI plugins and a static busybox are available; elsewhere it prints one line
//! about the test that is skipped.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]
#![allow(clippy::print_stderr, reason = "skipped tests are printed")]

mod containerd;
mod load;
mod rollouts;

use std::future::Future;
use std::path::PathBuf;
use std::time::Duration;

use containerd::{Containerd, IMAGE};
use gantry_cluster::{AgentOptions, Cluster, EvictionThresholds, OnStop, Options};
use gantry_json::{Value, json};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Node, Pod};
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams, PostParams};

/// The timeout of each wait: generous, because machines differ.
const TIMEOUT: Duration = Duration::from_secs(90);

async fn eventually<T, F: Future<Output = Option<T>>>(what: &str, mut check: impl FnMut() -> F) -> T {
    let polling = async {
        loop {
            if let Some(found) = check().await {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    tokio::time::timeout(TIMEOUT, polling).await.unwrap_or_else(|_| panic!("{what} did not happen in time"))
}

/// Starts a containerd, or prints which test is skipped because it cannot be started.
fn containerd(number: u8, what: &str) -> Option<Containerd> {
    match Containerd::start(number) {
        Ok(containerd) => Some(containerd),
        Err(missing) => {
            eprintln!("skipped: {what}, because {missing}");
            None
        }
    }
}

fn deployment(version: &str) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {
            "replicas": 2,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {
                    "terminationGracePeriodSeconds": 3,
                    "volumes": [{"name": "config", "configMap": {"name": "config"}}],
                    "containers": [{
                        "name": "web", "image": IMAGE, "imagePullPolicy": "Never",
                        "env": [{"name": "VERSION", "value": version}],
                        "command": ["/bin/busybox", "sh", "-c", "trap 'exit 0' TERM; echo $VERSION > /tmp/up; while true; do /bin/busybox sleep 0.1; done"],
                        "volumeMounts": [{"name": "config", "mountPath": "/config"}],
                        "readinessProbe": {
                            "exec": {"command": ["/bin/busybox", "grep", "-q", version, "/tmp/up"]}, "periodSeconds": 1,
                        },
                    }],
                },
            },
        },
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn real_pods_are_rolled_out_restarted_and_removed() {
    let Some(mut containerd) = containerd(0, "real pods on containerd") else { return };
    let agent = AgentOptions {
        node_name: Some("here".to_owned()),
        address: Some("127.0.0.1".to_owned()),
        root: containerd.directory.join("node"),
        logs: containerd.directory.join("logs"),
        port: Some(0),
        // The disk of the machine that tests are run on may be nearly full.
        eviction_hard: EvictionThresholds::parse("").unwrap(),
        on_stop: OnStop::Remove,
        ..AgentOptions::new(containerd.socket(), gantry_runtime::Metrics::new())
    };
    let services = "10.231.90.0/24".parse().unwrap();
    let options = Options { nodes: 0, agent: Some(agent), services, ..Options::default() };
    let cluster = Cluster::start_with(options).await.unwrap();
    let client = kube::Client::new(cluster.service(), "default");
    let pods: Api<Pod> = Api::default_namespaced(client.clone());
    let deployments: Api<Deployment> = Api::default_namespaced(client.clone());
    let maps: Api<ConfigMap> = Api::default_namespaced(client.clone());
    let map = json!({"metadata": {"name": "config"}, "data": {"greeting": "hello"}});
    maps.create(&PostParams::default(), &gantry_json::from_value(map).unwrap()).await.unwrap();

    let first = gantry_json::from_value(deployment("one")).unwrap();
    deployments.create(&PostParams::default(), &first).await.unwrap();
    available(&deployments, 1).await;
    let running = pods.list(&ListParams::default()).await.unwrap().items;
    assert_eq!(running.len(), 2);
    for pod in &running {
        let status = pod.status.as_ref().unwrap();
        let container = &status.container_statuses.as_ref().unwrap()[0];
        assert!(container.container_id.as_ref().unwrap().starts_with("containerd://"), "{container:?}");
        assert!(status.pod_ip.as_ref().unwrap().starts_with(&containerd.network), "{status:?}");
    }

    dead_containerd_is_reported_and_recovered_from(&mut containerd, &Api::all(client)).await;
    let after = pods.list(&ListParams::default()).await.unwrap().items;
    let ids = |pods: &[Pod]| -> Vec<Option<String>> { pods.iter().map(container_id).collect() };
    assert_eq!(ids(&after), ids(&running), "the containers were not restarted");

    let patch = gantry_json::to_value(&deployment("two"));
    let patch: serde_json::Value = serde_json::from_str(&patch.to_string()).unwrap();
    deployments.patch("web", &PatchParams::default(), &Patch::Merge(patch)).await.unwrap();
    available(&deployments, 2).await;

    restarts_and_termination_messages(&pods).await;
    resources_of_a_running_pod_are_changed(&pods, &containerd).await;

    let owner = containerd.node_owner();
    deployments.delete("web", &DeleteParams::default()).await.unwrap();
    pods.delete_collection(&DeleteParams::default(), &ListParams::default()).await.unwrap();
    eventually("the removal of all pods", || async {
        pods.list(&ListParams::default()).await.unwrap().items.is_empty().then_some(())
    })
    .await;
    cluster.stop().await;
    assert_eq!(containerd.containers(), Vec::<String>::new(), "no containers remain");
    assert_eq!(cgroups_of(&owner), Vec::<PathBuf>::new(), "no cgroups remain");
}

/// Returns the directories of a node's cgroups: one, or one of each controller.
fn cgroups_of(owner: &str) -> Vec<PathBuf> {
    let controllers = std::fs::read_dir("/sys/fs/cgroup").into_iter().flatten().flatten();
    let hierarchies = controllers.map(|entry| entry.path()).chain([PathBuf::from("/sys/fs/cgroup")]);
    hierarchies.map(|hierarchy| hierarchy.join("gantry").join(owner)).filter(|it| it.exists()).collect()
}

/// Returns the memory limit of the cgroup of a burstable pod.
fn memory_limit(owner: &str, pod: &Pod) -> Option<u64> {
    let name = format!("burstable/pod{}", pod.metadata.uid.as_ref().unwrap());
    let pods = cgroups_of(owner).into_iter().map(|cgroup| cgroup.join(&name));
    let files = pods.flat_map(|pod| [pod.join("memory.limit_in_bytes"), pod.join("memory.max")]);
    files.filter_map(|file| std::fs::read_to_string(file).ok()).find_map(|text| text.trim().parse().ok())
}

fn container_id(pod: &Pod) -> Option<String> {
    pod.status.as_ref()?.container_statuses.as_ref()?.first()?.container_id.clone()
}

/// A node without its runtime reports that it is not ready; it is ready when the runtime runs again.
async fn dead_containerd_is_reported_and_recovered_from(containerd: &mut Containerd, nodes: &Api<Node>) {
    let ready = || async {
        let conditions = nodes.get("here").await.unwrap().status.unwrap().conditions.unwrap();
        conditions.into_iter().find(|condition| condition.type_ == "Ready").unwrap()
    };
    containerd.kill();
    let condition = eventually("the report of the node", || async {
        let condition = ready().await;
        (condition.status == "False").then_some(condition)
    })
    .await;
    assert_eq!(condition.reason.as_deref(), Some("KubeletNotReady"));
    assert!(condition.message.as_ref().unwrap().contains("container runtime is down"), "{condition:?}");
    containerd.start_again();
    eventually("the recovery of the node", || async { (ready().await.status == "True").then_some(()) }).await;
}

/// Returns when a rollout is complete.
async fn available(deployments: &Api<Deployment>, generation: i64) {
    eventually("the rollout", || async {
        let status = deployments.get("web").await.unwrap().status.unwrap_or_default();
        let is_complete = status.observed_generation == Some(generation)
            && status.updated_replicas == Some(2)
            && status.available_replicas == Some(2)
            && status.replicas == Some(2);
        is_complete.then_some(())
    })
    .await;
}

/// The memory limits of a running container and of its pod are changed without a restart.
async fn resources_of_a_running_pod_are_changed(pods: &Api<Pod>, containerd: &Containerd) {
    let limit = "/sys/fs/cgroup/memory.max /sys/fs/cgroup/memory/memory.limit_in_bytes";
    let script = format!(
        "until /bin/busybox cat {limit} 2>/dev/null | /bin/busybox grep -qx 50331648; do /bin/busybox sleep 0.1; done"
    );
    let pod = json!({
        "metadata": {"name": "growing"},
        "spec": {
            "restartPolicy": "Never",
            "containers": [{
                "name": "growing", "image": IMAGE, "imagePullPolicy": "Never",
                "command": ["/bin/busybox", "sh", "-c", script],
                "resources": {"limits": {"memory": "32Mi"}},
            }],
        },
    });
    pods.create(&PostParams::default(), &gantry_json::from_value(pod).unwrap()).await.unwrap();
    let phase = |wanted: &'static str| async move {
        eventually(wanted, || async {
            let status = pods.get("growing").await.unwrap().status.unwrap();
            (status.phase.as_deref() == Some(wanted)).then_some(())
        })
        .await;
    };
    phase("Running").await;
    let (owner, pod) = (containerd.node_owner(), pods.get("growing").await.unwrap());
    assert_eq!(memory_limit(&owner, &pod), Some(32 << 20));
    let resources = serde_json::json!({"limits": {"memory": "48Mi"}, "requests": {"memory": "48Mi"}});
    let patch = serde_json::json!({"spec": {"containers": [{"name": "growing", "resources": resources}]}});
    pods.patch_subresource("resize", "growing", &PatchParams::default(), &Patch::Strategic(patch))
        .await
        .unwrap();
    phase("Succeeded").await;
    assert_eq!(memory_limit(&owner, &pod), Some(48 << 20));
}

/// A container that fails once is restarted, and its messages are reported.
async fn restarts_and_termination_messages(pods: &Api<Pod>) {
    let script = "if [ -f /d/second ]; then echo -n $GREETING > /dev/termination-log; exit 0; fi; \
                  echo -n > /d/second; echo oh no; exit 3";
    let once = json!({
        "metadata": {"name": "once"},
        "spec": {
            "restartPolicy": "OnFailure",
            "volumes": [{"name": "d", "emptyDir": {"medium": "Memory"}}],
            "containers": [{
                "name": "once", "image": IMAGE, "imagePullPolicy": "Never",
                "command": ["/bin/busybox", "sh", "-c", script],
                "env": [{"name": "GREETING", "valueFrom": {"configMapKeyRef": {"name": "config", "key": "greeting"}}}],
                "terminationMessagePolicy": "FallbackToLogsOnError",
                "volumeMounts": [{"name": "d", "mountPath": "/d"}],
                "resources": {"limits": {"memory": "32Mi"}},
            }],
        },
    });
    pods.create(&PostParams::default(), &gantry_json::from_value(once).unwrap()).await.unwrap();
    let status = eventually("the end of the pod", || async {
        let status = pods.get("once").await.unwrap().status.unwrap();
        matches!(status.phase.as_deref(), Some("Succeeded" | "Failed")).then_some(status)
    })
    .await;
    assert_eq!(status.phase.as_deref(), Some("Succeeded"));
    let container = &status.container_statuses.unwrap()[0];
    assert_eq!(container.restart_count, 1);
    let ended = container.state.as_ref().unwrap().terminated.as_ref().unwrap();
    assert_eq!((ended.exit_code, ended.message.as_deref()), (0, Some("hello")));
    let before = container.last_state.as_ref().unwrap().terminated.as_ref().unwrap();
    assert_eq!((before.exit_code, before.message.as_deref()), (3, Some("oh no\n")));
}
