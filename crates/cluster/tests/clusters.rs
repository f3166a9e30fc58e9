//! Clusters in a process: ready when started, side by side, with a socket if requested, stopped when dropped.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use std::time::Duration;

use gantry_cluster::{Cluster, Endpoint, Options, StartError, Storage};
use gantry_json::{Value, json};
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Node, Pod, ServiceAccount};
use k8s_openapi::api::rbac::v1::ClusterRole;
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube::config::{KubeConfigOptions, Kubeconfig};

fn config_map(name: &str) -> ConfigMap {
    gantry_json::from_value(json!({"metadata": {"name": name}})).unwrap()
}

/// A client in this process with all permissions.
fn client(cluster: &Cluster) -> kube::Client {
    kube::Client::new(cluster.service(), "default")
}

async fn client_by_kubeconfig(cluster: &Cluster) -> kube::Client {
    let text = cluster.kubeconfig().unwrap().render();
    let kubeconfig = Kubeconfig::from_yaml(&text).unwrap();
    let config =
        kube::Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.unwrap();
    kube::Client::try_from(config).unwrap()
}

#[tokio::test]
async fn a_started_cluster_is_ready() {
    let cluster = Cluster::start_with(Options { nodes: 5, ..Options::default() }).await.unwrap();
    let nodes: Api<Node> = Api::all(client(&cluster));
    assert_eq!(nodes.list(&ListParams::default()).await.unwrap().items.len(), 5);
    let accounts: Api<ServiceAccount> = Api::default_namespaced(client(&cluster));
    assert!(accounts.get_opt("default").await.unwrap().is_some());
    assert!(cluster.url().is_none(), "no port is opened unless requested");
    cluster.stop().await;
}

/// The controllers, the garbage collector, the scheduler and the nodes share decoded objects.
#[tokio::test]
async fn components_share_one_watch_per_resource() {
    let cluster = Cluster::start().await.unwrap();
    let maps: Api<ConfigMap> = Api::default_namespaced(client(&cluster));
    let owner = maps.create(&PostParams::default(), &config_map("owner")).await.unwrap();
    let mut dependent = config_map("dependent");
    let reference =
        json!([{"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner.metadata.uid}]);
    dependent.metadata.owner_references = gantry_json::from_value(reference).unwrap();
    maps.create(&PostParams::default(), &dependent).await.unwrap();
    maps.delete("owner", &DeleteParams::default()).await.unwrap();
    let collected_and_shared = async {
        // When the garbage collector deletes something, it has joined the informers of the others.
        while maps.get_opt("dependent").await.unwrap().is_some() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        for resource in ["pods", "nodes", "deployments", "replicasets", "persistentvolumeclaims"] {
            while watches_of(&cluster, resource).await != 1 {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(60), collected_and_shared)
        .await
        .expect("one watch per resource");
    cluster.stop().await;
}

/// The number of watches of a resource that the server has open.
async fn watches_of(cluster: &Cluster, resource: &str) -> u32 {
    let metrics = http::Request::get("/metrics").body(Vec::new()).unwrap();
    let metrics = client(cluster).request_text(metrics).await.unwrap();
    let label = format!("resource=\"{resource}\"");
    let is_of = |line: &&str| line.starts_with("apiserver_longrunning_requests{") && line.contains(&label);
    metrics.lines().filter(is_of).map(|line| line.rsplit(' ').next().unwrap().parse::<u32>().unwrap()).sum()
}

/// A7.9: a user that is bound to `edit` may edit as soon as the cluster is ready.
#[tokio::test]
async fn a_started_cluster_has_the_rules_of_admin_edit_and_view() {
    for _ in 0..5 {
        let cluster = Cluster::start_with(Options { nodes: 0, ..Options::default() }).await.unwrap();
        let roles: Api<ClusterRole> = Api::all(client(&cluster));
        let rules_of = async |name: &str| roles.get(name).await.unwrap().rules.unwrap_or_default();
        let (admin, edit, view) = (rules_of("admin").await, rules_of("edit").await, rules_of("view").await);
        assert!(!view.is_empty());
        assert!(view.iter().all(|rule| edit.contains(rule)), "edit has all of view");
        assert!(edit.iter().all(|rule| admin.contains(rule)), "admin has all of edit");
        cluster.stop().await;
    }
}

#[tokio::test]
async fn other_processes_reach_a_cluster_by_its_kubeconfig() {
    let options = Options { nodes: 0, endpoint: Some(Endpoint::on_free_port()), ..Options::default() };
    let cluster = Cluster::start_with(options).await.unwrap();
    let namespaces: Api<Namespace> = Api::all(client_by_kubeconfig(&cluster).await);
    assert!(namespaces.get_opt("kube-system").await.unwrap().is_some());
    let address = cluster.url().unwrap().strip_prefix("https://").unwrap().to_owned();
    drop(cluster);
    let refused = async {
        while tokio::net::TcpStream::connect(&address).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), refused).await.expect("a dropped cluster stops serving");
}

#[tokio::test]
async fn concurrent_clusters_share_nothing() {
    let options = || Options { nodes: 0, ..Options::default() };
    let (one, other) =
        (Cluster::start_with(options()).await.unwrap(), Cluster::start_with(options()).await.unwrap());
    let maps = |cluster: &Cluster| Api::<ConfigMap>::default_namespaced(client(cluster));
    maps(&one).create(&PostParams::default(), &config_map("only-here")).await.unwrap();
    assert!(maps(&other).get_opt("only-here").await.unwrap().is_none());
}

#[tokio::test]
async fn a_directory_is_unlocked_when_its_cluster_is_dropped() {
    let directory = std::env::temp_dir().join(format!("gantry-cluster-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&directory);
    let options =
        || Options { nodes: 0, storage: Storage::Directory(directory.clone()), ..Options::default() };
    let first = Cluster::start_with(options()).await.unwrap();
    let maps: Api<ConfigMap> = Api::default_namespaced(client(&first));
    maps.create(&PostParams::default(), &config_map("kept")).await.unwrap();
    assert!(
        matches!(Cluster::start_with(options()).await, Err(StartError::Directory(_))),
        "the directory is in use"
    );
    drop(first);
    let again = Cluster::start_with(options()).await.unwrap();
    let maps: Api<ConfigMap> = Api::default_namespaced(client(&again));
    assert!(maps.get_opt("kept").await.unwrap().is_some());
    again.stop().await;
    std::fs::remove_dir_all(&directory).unwrap();
}

#[tokio::test]
async fn a_failed_node_does_not_delay_the_start() {
    let directory = std::env::temp_dir().join(format!("gantry-cluster-failed-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&directory);
    let options =
        || Options { nodes: 2, storage: Storage::Directory(directory.clone()), ..Options::default() };
    let first = Cluster::start_with(options()).await.unwrap();
    let nodes: Api<Node> = Api::all(client(&first));
    let failed = json!({"metadata": {"annotations": {"sim.gantry.dev/fail": "true"}}});
    nodes.patch("node-1", &PatchParams::default(), &Patch::Merge(failed)).await.unwrap();
    first.stop().await;
    // The condition that the node-lifecycle controller sets after a while.
    let silent = Cluster::start_with(Options { nodes: 0, controllers: false, ..options() }).await.unwrap();
    let nodes: Api<Node> = Api::all(client(&silent));
    let unknown = json!({"status": {"conditions": [{"type": "Ready", "status": "Unknown"}]}});
    nodes.patch_status("node-1", &PatchParams::default(), &Patch::Strategic(unknown)).await.unwrap();
    silent.stop().await;
    let again = tokio::time::timeout(Duration::from_secs(60), Cluster::start_with(options())).await;
    again.expect("the start does not wait for node-1").unwrap().stop().await;
    std::fs::remove_dir_all(&directory).unwrap();
}

#[tokio::test]
async fn more_nodes_than_addresses_are_refused() {
    let refused = Cluster::start_with(Options { nodes: 6145, ..Options::default() }).await.unwrap_err();
    assert!(matches!(refused, StartError::Nodes(_)) && refused.to_string().contains("6144"), "{refused}");
}

/// A node with an agent that reports that it is ready, like a node that has joined.
fn joined_node(name: &str) -> Value {
    json!({
        "metadata": {"name": name},
        "status": {
            "capacity": {"cpu": "4", "memory": "4Gi", "pods": "110"},
            "allocatable": {"cpu": "4", "memory": "4Gi", "pods": "110"},
            "conditions": [{"type": "Ready", "status": "True"}],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
        },
    })
}

/// Waits until a pod is on a node.
async fn bound(pods: &Api<Pod>, name: &str) -> String {
    let bound = async {
        loop {
            let pod = pods.get(name).await.unwrap();
            match pod.spec.and_then(|spec| spec.node_name) {
                Some(node) => return node,
                None => tokio::time::sleep(Duration::from_millis(20)).await,
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(60), bound).await.expect("the pod is scheduled")
}

fn waiting_pod() -> Pod {
    let spec = json!({"containers": [{"name": "web", "image": "nginx:1"}]});
    gantry_json::from_value(json!({"metadata": {"name": "web"}, "spec": spec})).unwrap()
}

/// Nodes join a cluster without nodes: their taint is removed, and pods are scheduled to them.
#[tokio::test]
async fn pods_are_scheduled_to_a_node_that_joins() {
    let options = Options { nodes: 0, endpoint: Some(Endpoint::on_free_port()), ..Options::default() };
    let cluster = Cluster::start_with(options).await.unwrap();
    let (nodes, pods): (Api<Node>, Api<Pod>) =
        (Api::all(client(&cluster)), Api::default_namespaced(client(&cluster)));
    pods.create(&PostParams::default(), &waiting_pod()).await.unwrap();
    let node = gantry_json::from_value(joined_node("here")).unwrap();
    let node = nodes.create(&PostParams::default(), &node).await.unwrap();
    let taints = |node: &Node| node.spec.clone().and_then(|spec| spec.taints).unwrap_or_default().len();
    assert_eq!(taints(&node), 1, "a new node is not ready");
    assert_eq!(bound(&pods, "web").await, "here");
    assert_eq!(taints(&nodes.get("here").await.unwrap()), 0);
    cluster.stop().await;
}

/// The lease of a component of Kubernetes that runs elsewhere.
fn held_lease(name: &str) -> Lease {
    gantry_json::from_value(json!({
        "metadata": {"name": name},
        "spec": {"holderIdentity": "other", "leaseDurationSeconds": 3600, "renewTime": "2100-01-01T00:00:00.000000Z"},
    }))
    .unwrap()
}

/// While a kube-scheduler holds its lease, Gantry does not schedule; it does when the lease is released.
#[tokio::test]
async fn a_component_whose_lease_is_held_by_another_process_does_not_run() {
    let options = Options { nodes: 0, endpoint: Some(Endpoint::on_free_port()), ..Options::default() };
    let cluster = Cluster::start_with(options).await.unwrap();
    let (nodes, pods): (Api<Node>, Api<Pod>) =
        (Api::all(client(&cluster)), Api::default_namespaced(client(&cluster)));
    let leases: Api<Lease> = Api::namespaced(client(&cluster), "kube-system");
    leases.create(&PostParams::default(), &held_lease("kube-scheduler")).await.unwrap();
    pods.create(&PostParams::default(), &waiting_pod()).await.unwrap();
    let node = gantry_json::from_value(joined_node("here")).unwrap();
    nodes.create(&PostParams::default(), &node).await.unwrap();
    let untainted = async {
        while nodes.get("here").await.unwrap().spec.is_some_and(|spec| spec.taints.is_some()) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), untainted).await.expect("the controllers run");
    assert_eq!(
        pods.get("web").await.unwrap().status.unwrap().conditions,
        None,
        "no scheduler has processed the pod"
    );
    let released = json!({"spec": {"holderIdentity": ""}});
    leases.patch("kube-scheduler", &PatchParams::default(), &Patch::Merge(released)).await.unwrap();
    assert_eq!(bound(&pods, "web").await, "here");
    cluster.stop().await;
}

/// While a kube-controller-manager holds its lease, none of Gantry's controllers run, not only those that act on nodes.
#[tokio::test]
async fn controllers_run_when_a_kube_controller_manager_has_released_its_lease() {
    let directory = std::env::temp_dir().join(format!("gantry-cluster-lease-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&directory);
    let options = || Options {
        nodes: 0,
        storage: Storage::Directory(directory.clone()),
        endpoint: Some(Endpoint::on_free_port()),
        ..Options::default()
    };
    let first = Cluster::start_with(options()).await.unwrap();
    let leases: Api<Lease> = Api::namespaced(client(&first), "kube-system");
    leases.create(&PostParams::default(), &held_lease("kube-controller-manager")).await.unwrap();
    first.stop().await;

    let cluster = Cluster::start_with(options()).await.unwrap();
    let namespace = gantry_json::from_value(json!({"metadata": {"name": "shop"}})).unwrap();
    let namespaces: Api<Namespace> = Api::all(client(&cluster));
    namespaces.create(&PostParams::default(), &namespace).await.unwrap();
    let accounts: Api<ServiceAccount> = Api::namespaced(client(&cluster), "shop");
    assert!(accounts.get_opt("default").await.unwrap().is_none(), "the holder of the lease creates it");
    let leases: Api<Lease> = Api::namespaced(client(&cluster), "kube-system");
    let released = json!({"spec": {"holderIdentity": ""}});
    leases.patch("kube-controller-manager", &PatchParams::default(), &Patch::Merge(released)).await.unwrap();
    let created = async {
        while accounts.get_opt("default").await.unwrap().is_none() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), created).await.expect("the controllers run");
    cluster.stop().await;
    std::fs::remove_dir_all(&directory).unwrap();
}
