//! `gantry controllers` as `deploy/` runs it: the real binary over TLS, with only the permissions of its account, and
//! two processes with leader election.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod deployed;
mod running;
mod stopped_leader;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use deployed::{Replica, apply, eventually, kubeconfig_of_account, kubelet};
use gantry_json::{Value, json};
use k8s_openapi::api::apps::v1::{Deployment, ReplicaSet};
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{
    ConfigMap, Endpoints, Event, Namespace, Node, Pod, ReplicationController, Secret, Service, ServiceAccount,
};
use k8s_openapi::api::discovery::v1::EndpointSlice;
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use k8s_openapi::api::rbac::v1::{ClusterRole, RoleBinding};
use k8s_openapi::serde::de::DeserializeOwned;
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube::{Client, ResourceExt as _};
use running::{Scratch, Server};
use tokio::task::JoinHandle;

const MANIFESTS: [&str; 4] = ["account.yaml", "roles.yaml", "controllers.yaml", "lease.yaml"];
const SHOP: &str = "shop";

/// A server on which these manifests are applied, a simulated kubelet, and a namespace to work in.
struct Cluster {
    client: Client,
    kubelet: JoinHandle<()>,
    scratch: Scratch,
    _server: Server,
}

impl Cluster {
    async fn with(name: &str, manifests: &[&str]) -> Self {
        let scratch = Scratch::new(name);
        let server = Server::start("127.0.0.1:0", &scratch.join("admin"), &["--in-memory"]);
        let client = server.client().await;
        for manifest in manifests {
            apply(&client, manifest).await;
        }
        kubeconfig_of_account(&client, &server.kubeconfig, &scratch.join("kubeconfig")).await;
        let namespace = object(json!({"metadata": {"name": SHOP}}));
        Api::<Namespace>::all(client.clone()).create(&PostParams::default(), &namespace).await.unwrap();
        let kubelet = tokio::spawn(kubelet(client.clone()));
        Self { client, kubelet, scratch, _server: server }
    }

    async fn replica(&self, log: &str) -> Replica {
        Replica::start(&self.scratch.join("kubeconfig"), &self.scratch.join(log)).await
    }

    fn all<K>(&self) -> Api<K>
    where
        K: kube::Resource<Scope = k8s_openapi::NamespaceResourceScope, DynamicType = ()>,
    {
        Api::namespaced(self.client.clone(), SHOP)
    }

    async fn holder(&self) -> Option<String> {
        let leases: Api<Lease> = Api::namespaced(self.client.clone(), "kube-system");
        let lease = leases.get_opt("gantry-controllers").await.unwrap()?;
        lease.spec?.holder_identity.filter(|holder| !holder.is_empty())
    }

    /// Changes a Deployment and waits until the rollout is over.
    async fn roll(&self, name: &str, change: Value) {
        let api = self.all::<Deployment>();
        api.patch(name, &PatchParams::default(), &Patch::Merge(change)).await.unwrap();
        self.rolled_out(name).await;
    }

    async fn rolled_out(&self, name: &str) {
        let api = self.all::<Deployment>();
        eventually("an end of the rollout", async || {
            is_complete(&api.get(name).await.unwrap()).then_some(())
        })
        .await;
    }

    async fn none_left<K>(&self, what: &str)
    where
        K: kube::Resource<Scope = k8s_openapi::NamespaceResourceScope, DynamicType = ()>
            + Clone
            + DeserializeOwned
            + std::fmt::Debug,
    {
        let api = self.all::<K>();
        eventually(what, async || {
            api.list(&ListParams::default()).await.unwrap().items.is_empty().then_some(())
        })
        .await;
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.kubelet.abort();
    }
}

fn object<T: DeserializeOwned>(value: Value) -> T {
    gantry_json::from_value(value).unwrap()
}

fn is_complete(deployment: &Deployment) -> bool {
    let status = deployment.status.clone().unwrap_or_default();
    let wanted = deployment.spec.replicas;
    status.observed_generation == deployment.metadata.generation
        && [status.replicas, status.updated_replicas, status.available_replicas] == [wanted; 3]
}

fn template(app: &str, image: &str) -> Value {
    json!({"metadata": {"labels": {"app": app}}, "spec": {"containers": [{"name": app, "image": image}]}})
}

fn deployment(name: &str) -> Deployment {
    object(json!({"metadata": {"name": name}, "spec": {
        "replicas": 2, "selector": {"matchLabels": {"app": name}}, "template": template(name, "nginx:1"),
    }}))
}

fn image(image: &str) -> Value {
    json!({"spec": {"template": {"spec": {"containers": [{"name": "web", "image": image}]}}}})
}

/// Waits until one of the two leads; returns the leader first.
async fn in_turn(one: Replica, other: Replica) -> (Replica, Replica) {
    let first = eventually("a leader", async || match (one.leads(), other.leads()) {
        (false, false) => None,
        (first, second) => {
            assert!(first != second, "both lead");
            Some(first)
        }
    })
    .await;
    if first { (one, other) } else { (other, one) }
}

#[tokio::test]
async fn the_roles_in_deploy_are_enough_for_everything_that_the_controllers_do() {
    let cluster = Cluster::with("deploy-roles", &MANIFESTS).await;
    let replica = cluster.replica("log").await;
    namespaces_get_an_account_and_a_certificate(&cluster).await;
    rollouts_and_undos_complete(&cluster).await;
    pods_are_released_and_adopted(&cluster).await;
    sets_are_orphaned_and_adopted(&cluster).await;
    budgets_are_counted(&cluster).await;
    services_get_endpoints(&cluster).await;
    roles_are_aggregated(&cluster).await;
    assert_eq!(replica.requests("code", "403"), 0, "{:?}", replica.refused());
    dependents_are_deleted(&cluster).await;
    assert_eq!(replica.refused(), Vec::<String>::new());
}

async fn namespaces_get_an_account_and_a_certificate(cluster: &Cluster) {
    let (accounts, maps) = (cluster.all::<ServiceAccount>(), cluster.all::<ConfigMap>());
    let certificate = async || maps.get_opt("kube-root-ca.crt").await.unwrap().and_then(|map| map.data);
    let account = eventually("an account", async || accounts.get_opt("default").await.unwrap()).await;
    let given = eventually("a certificate", certificate).await;
    assert!(given["ca.crt"].starts_with("-----BEGIN CERTIFICATE-----\n"), "{given:?}");
    // Both are restored.
    accounts.delete("default", &DeleteParams::default()).await.unwrap();
    eventually("another account", async || {
        accounts.get_opt("default").await.unwrap().filter(|found| found.uid() != account.uid())
    })
    .await;
    let wrong = Patch::Merge(json!({"data": {"ca.crt": "wrong"}}));
    maps.patch("kube-root-ca.crt", &PatchParams::default(), &wrong).await.unwrap();
    eventually("the right certificate", async || certificate().await.filter(|now| *now == given)).await;
}

async fn roles_are_aggregated(cluster: &Cluster) {
    let roles: Api<ClusterRole> = Api::all(cluster.client.clone());
    let rule = json!({"apiGroups": ["shop.example.com"], "resources": ["orders"], "verbs": ["get"]});
    let label = json!({"rbac.authorization.k8s.io/aggregate-to-view": "true"});
    let orders: ClusterRole =
        object(json!({"metadata": {"name": "orders", "labels": label}, "rules": [rule.clone()]}));
    roles.create(&PostParams::default(), &orders).await.unwrap();
    for name in ["view", "edit", "admin"] {
        eventually("an aggregated rule", async || {
            let aggregated = roles.get(name).await.unwrap().rules.unwrap_or_default();
            aggregated.contains(&object(rule.clone())).then_some(())
        })
        .await;
    }
}

async fn rollouts_and_undos_complete(cluster: &Cluster) {
    let api = cluster.all::<Deployment>();
    api.create(&PostParams::default(), &deployment("web")).await.unwrap();
    cluster.rolled_out("web").await;
    cluster.roll("web", image("nginx:2")).await;
    // With the deprecated annotation, the controller performs the undo.
    let undo = json!({"metadata": {"annotations": {"deprecated.deployment.rollback.to": "1"}}});
    cluster.roll("web", undo).await;
    eventually("the first image", async || {
        let web = api.get("web").await.unwrap();
        let image = web.spec.template.spec.and_then(|spec| spec.containers[0].image.clone());
        image.filter(|image| image == "nginx:1")
    })
    .await;
    cluster.rolled_out("web").await;
    for size in [3, 2, 3] {
        cluster.roll("web", json!({"spec": {"replicas": size}})).await;
    }
    let events = cluster.all::<Event>();
    eventually("an event that was recorded twice", async || {
        let recorded = events.list(&ListParams::default()).await.unwrap().items;
        recorded
            .into_iter()
            .find(|event| event.reason.as_deref() == Some("ScalingReplicaSet") && event.count > Some(1))
    })
    .await;
    cluster.roll("web", json!({"spec": {"revisionHistoryLimit": 0}})).await;
    let sets = cluster.all::<ReplicaSet>();
    eventually("an end of the history", async || {
        (sets.list(&ListParams::default()).await.unwrap().items.len() == 1).then_some(())
    })
    .await;
}

async fn pods_are_released_and_adopted(cluster: &Cluster) {
    let group = object(json!({"metadata": {"name": "old"}, "spec": {
        "replicas": 1, "selector": {"app": "old"}, "template": template("old", "nginx:1"),
    }}));
    cluster.all::<ReplicationController>().create(&PostParams::default(), &group).await.unwrap();
    let pods = cluster.all::<Pod>();
    let named = async |app: &str| {
        let found = pods.list(&ListParams::default().labels(&format!("app={app}"))).await.unwrap().items;
        found.into_iter().filter(|pod| pod.metadata.deletion_timestamp.is_none()).collect::<Vec<_>>()
    };
    for (app, size) in [("web", 3), ("old", 1)] {
        eventually("all pods", async || (named(app).await.len() == size).then_some(())).await;
        let pod = named(app).await.remove(0);
        let relabel = async |value: &str| {
            let patch = Patch::Merge(json!({"metadata": {"labels": {"app": value}}}));
            pods.patch(&pod.name_any(), &PatchParams::default(), &patch).await.unwrap();
        };
        let is_owned = async || !pods.get(&pod.name_any()).await.unwrap().owner_references().is_empty();
        relabel("other").await;
        eventually("a release", async || (!is_owned().await).then_some(())).await;
        eventually("a pod in its place", async || (named(app).await.len() == size).then_some(())).await;
        relabel(app).await;
        // Then there is one pod too many; this one may be deleted.
        eventually("as many as before", async || (named(app).await.len() == size).then_some(())).await;
        assert!(named(app).await.iter().all(|pod| !pod.owner_references().is_empty()));
    }
}

async fn sets_are_orphaned_and_adopted(cluster: &Cluster) {
    let (api, sets) = (cluster.all::<Deployment>(), cluster.all::<ReplicaSet>());
    let web = api.get("web").await.unwrap();
    api.delete("web", &DeleteParams::orphan()).await.unwrap();
    eventually("the Deployment's end", async || api.get_opt("web").await.unwrap().is_none().then_some(()))
        .await;
    let set = sets.list(&ListParams::default()).await.unwrap().items.remove(0);
    assert!(set.owner_references().is_empty(), "the ReplicaSet is orphaned");
    api.create(&PostParams::default(), &Deployment { spec: web.spec, ..deployment("web") }).await.unwrap();
    cluster.rolled_out("web").await;
    let adopted = sets.get(&set.name_any()).await.unwrap();
    assert_eq!(
        adopted.owner_references().iter().map(|owner| owner.name.as_str()).collect::<Vec<_>>(),
        ["web"]
    );
}

/// One budget counts by the size of a Deployment; the other cannot count, because a Job has no `scale` subresource.
async fn budgets_are_counted(cluster: &Cluster) {
    let suspended = object(json!({"metadata": {"name": "job"}, "spec": {"suspend": true, "template": {
        "spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}}}));
    let job = cluster.all::<Job>().create(&PostParams::default(), &suspended).await.unwrap();
    let owner =
        json!({"apiVersion": "batch/v1", "kind": "Job", "name": "job", "uid": job.uid(), "controller": true});
    let pod =
        object(json!({"metadata": {"name": "once", "labels": {"app": "once"}, "ownerReferences": [owner]},
        "spec": {"containers": [{"name": "c", "image": "i"}]}}));
    cluster.all::<Pod>().create(&PostParams::default(), &pod).await.unwrap();
    let budgets = cluster.all::<PodDisruptionBudget>();
    for (app, reason) in [("web", "SufficientPods"), ("once", "SyncFailed")] {
        let budget = object(json!({"metadata": {"name": app}, "spec": {
            "maxUnavailable": 1, "selector": {"matchLabels": {"app": app}},
        }}));
        budgets.create(&PostParams::default(), &budget).await.unwrap();
        eventually("a counted budget", async || {
            let status = budgets.get(app).await.unwrap().status.unwrap_or_default();
            status.conditions.into_iter().flatten().find(|condition| condition.reason == reason)
        })
        .await;
    }
    let at_once = DeleteParams { grace_period_seconds: Some(0), ..DeleteParams::default() };
    cluster.all::<Pod>().delete("once", &at_once).await.unwrap();
}

async fn services_get_endpoints(cluster: &Cluster) {
    let nodes: Api<Node> = Api::all(cluster.client.clone());
    nodes.create(&PostParams::default(), &object(json!({"metadata": {"name": "node"}}))).await.unwrap();
    let pods = cluster.all::<Pod>();
    let pod = object(json!({"metadata": {"name": "db", "labels": {"app": "db"}},
        "spec": {"nodeName": "node", "containers": [{"name": "c", "image": "i"}]}}));
    pods.create(&PostParams::default(), &pod).await.unwrap();
    let status = Patch::Merge(json!({"status": {"podIP": "10.1.0.1", "podIPs": [{"ip": "10.1.0.1"}]}}));
    pods.patch_status("db", &PatchParams::default(), &status).await.unwrap();
    let (services, endpoints) = (cluster.all::<Service>(), cluster.all::<Endpoints>());
    let service = object(
        json!({"metadata": {"name": "db"}, "spec": {"selector": {"app": "db"}, "ports": [{"port": 80}]}}),
    );
    services.create(&PostParams::default(), &service).await.unwrap();
    eventually("an address that is ready", async || {
        let subsets = endpoints.get_opt("db").await.unwrap()?.subsets?;
        subsets.first()?.addresses.as_ref()?.first().map(|address| address.ip.clone())
    })
    .await;
    eventually("a slice with it", async || {
        let slices = cluster.all::<EndpointSlice>().list(&ListParams::default()).await.unwrap().items;
        slices.iter().flat_map(|slice| slice.endpoints.iter().flatten()).next().map(drop)
    })
    .await;
    services.delete("db", &DeleteParams::background()).await.unwrap();
    cluster.none_left::<Endpoints>("an end of the endpoints").await;
    cluster.none_left::<EndpointSlice>("an end of the slices").await;
    let at_once = DeleteParams { grace_period_seconds: Some(0), ..DeleteParams::default() };
    pods.delete("db", &at_once).await.unwrap();
}

async fn dependents_are_deleted(cluster: &Cluster) {
    let api = cluster.all::<Deployment>();
    api.delete("web", &DeleteParams::foreground()).await.unwrap();
    cluster.none_left::<Deployment>("an end of the Deployment").await;
    assert!(cluster.all::<ReplicaSet>().list(&ListParams::default()).await.unwrap().items.is_empty());
    cluster.all::<ReplicationController>().delete("old", &DeleteParams::background()).await.unwrap();
    cluster.none_left::<Pod>("an end of all pods").await;
    // The deletion of a namespace deletes all of its objects.
    api.create(&PostParams::default(), &deployment("again")).await.unwrap();
    cluster.rolled_out("again").await;
    let secret = object(json!({"metadata": {"name": "key"}}));
    cluster.all::<Secret>().create(&PostParams::default(), &secret).await.unwrap();
    let namespaces: Api<Namespace> = Api::all(cluster.client.clone());
    namespaces.delete(SHOP, &DeleteParams::default()).await.unwrap();
    eventually("an end of the namespace", async || {
        namespaces.get_opt(SHOP).await.unwrap().is_none().then_some(())
    })
    .await;
}

#[tokio::test]
async fn only_the_leader_works_and_another_process_takes_over() {
    let cluster = Cluster::with("deploy-turns", &MANIFESTS).await;
    let (one, other) = (cluster.replica("one").await, cluster.replica("other").await);
    let (mut leader, mut waiting) = in_turn(one, other).await;
    let api = cluster.all::<Deployment>();
    api.create(&PostParams::default(), &deployment("web")).await.unwrap();
    cluster.rolled_out("web").await;
    for replica in [&leader, &waiting] {
        assert!(
            replica.get("/healthz").ends_with("\r\n\r\nok"),
            "a process that waits for the lease is healthy, too"
        );
    }
    assert!(leader.get("/metrics").contains("workqueue_adds_total{name=\"deployment\"}"));
    let wrote = |replica: &Replica| -> u64 {
        ["POST", "PUT", "PATCH", "DELETE"].iter().map(|method| replica.requests("method", method)).sum()
    };
    assert_eq!(wrote(&waiting), 0, "a process that waits for the lease writes nothing");
    let before = cluster.holder().await;
    leader.kill();
    api.patch("web", &PatchParams::default(), &Patch::Merge(image("nginx:2"))).await.unwrap();
    eventually("another leader", async || waiting.leads().then_some(())).await;
    cluster.rolled_out("web").await;
    assert_ne!(cluster.holder().await, before);
    assert_eq!(waiting.terminate().await.code(), Some(0), "SIGTERM is no failure");
    assert_eq!(cluster.holder().await, None, "the lease is released");
    let next = cluster.replica("next").await;
    eventually("a leader that need not wait for the lease", async || next.leads().then_some(())).await;
    for replica in [&leader, &waiting, &next] {
        assert_eq!(replica.refused(), Vec::<String>::new());
    }
}

/// docs/switching.md relies on this: without permission for the lease, no controller runs.
#[tokio::test]
async fn the_binding_in_lease_yaml_is_the_switch() {
    let cluster = Cluster::with("deploy-switch", &MANIFESTS[..3]).await;
    let replica = cluster.replica("log").await;
    let (api, sets) = (cluster.all::<Deployment>(), cluster.all::<ReplicaSet>());
    api.create(&PostParams::default(), &deployment("web")).await.unwrap();
    eventually("a second try", async || (replica.requests("code", "403") > 1).then_some(())).await;
    assert!(!replica.leads() && sets.list(&ListParams::default()).await.unwrap().items.is_empty());
    apply(&cluster.client, "lease.yaml").await;
    cluster.rolled_out("web").await;
    let bindings: Api<RoleBinding> = Api::namespaced(cluster.client.clone(), "kube-system");
    bindings.delete("gantry-controllers-lease", &DeleteParams::default()).await.unwrap();
    eventually("an end of the leadership", async || (!replica.leads()).then_some(())).await;
    let scale = Patch::Merge(json!({"spec": {"replicas": 5}}));
    api.patch("web", &PatchParams::default(), &scale).await.unwrap();
    let refused = replica.requests("code", "403");
    eventually("another try", async || (replica.requests("code", "403") > refused).then_some(())).await;
    let sizes = sets.list(&ListParams::default()).await.unwrap().items;
    assert_eq!(
        sizes.iter().map(|set| set.spec.replicas).collect::<Vec<_>>(),
        [Some(2)],
        "no controller runs"
    );
}

/// The server is killed during rollouts and restarted with the data that it had acknowledged; the controllers, which are
/// not restarted, continue from there.
#[tokio::test]
async fn rollouts_go_on_when_the_server_is_killed_under_them() {
    let scratch = Scratch::new("killed-under");
    let (data, admin) = (scratch.join("data"), scratch.join("admin"));
    let mut server = Server::in_directory(&data, &admin);
    let client = server.client().await;
    let _replica = Replica::start(&admin, &scratch.join("log")).await;
    let kubelet = tokio::spawn(kubelet(client.clone()));
    let seen = Arc::new(Mutex::new(BTreeSet::new()));
    let census = tokio::spawn(census(client.clone(), Arc::clone(&seen)));
    let deployments: Api<Deployment> = Api::default_namespaced(client.clone());
    deployments.create(&PostParams::default(), &deployment("web")).await.unwrap();
    for round in 1..=4 {
        let change = Patch::Merge(image(&format!("nginx:{round}")));
        eventually("a response", async || {
            deployments.patch("web", &PatchParams::default(), &change).await.ok()
        })
        .await;
        // Each round is interrupted at a later stage of the rollout.
        eventually("progress of the rollout", async || {
            let web = deployments.get("web").await.ok()?;
            let (generation, status) = (web.metadata.generation, web.status?);
            let is_observed = status.observed_generation == generation;
            let updated = status.updated_replicas.unwrap_or(0);
            let has_reached = match round {
                1 => true,
                2 => is_observed,
                3 => is_observed && updated > 0,
                _ => is_observed && updated > 1,
            };
            has_reached.then_some(())
        })
        .await;
        let address = server.address().to_owned();
        server.kill();
        server = Server::start(&address, &admin, &["--data-dir", &data.display().to_string()]);
        eventually("an end of the rollout", async || {
            deployments.get("web").await.ok().filter(is_complete).map(drop)
        })
        .await;
    }
    let pods: Api<Pod> = Api::default_namespaced(client);
    assert_eq!(pods.list(&ListParams::default()).await.unwrap().items.len(), 2);
    kubelet.abort();
    census.abort();
    let seen = seen.lock().unwrap().len();
    assert!((2..=2 * 4).contains(&seen), "two pods of each of four templates, and no more: {seen}");
}

/// Records the uids of all pods, for as long as it is polled.
async fn census(client: Client, seen: Arc<Mutex<BTreeSet<String>>>) {
    let pods: Api<Pod> = Api::default_namespaced(client);
    loop {
        if let Ok(list) = pods.list(&ListParams::default()).await {
            seen.lock().unwrap().extend(list.items.into_iter().filter_map(|pod| pod.metadata.uid));
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
}
