//! Pods: accounts, priorities, tolerations, gates.

use std::sync::Arc;

use gantry_apiserver::{ApiServer, ServiceAccounts, Settings};
use gantry_json::json;
use gantry_store::memory::{HistoryLimits, MemoryStore};

use super::harness::{Noon, server as bare_server};
use super::{PODS, created, get, patched, pod, refused, server};

const TOKEN_PATH: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

/// A6.2, A§2.6 service account: a pod without its account is refused, and the message names it.
#[tokio::test(start_paused = true)]
async fn a_pod_needs_its_account() {
    let server = bare_server().await;
    assert_eq!(
        refused(&server, PODS, pod("p1", json!({})), 403).await,
        "pods \"p1\" is forbidden: error looking up service account default/default: serviceaccount \"default\" not found"
    );
}

/// A§2.6 service account: the first pod of a new namespace waits for its default account.
#[tokio::test(start_paused = true)]
async fn the_first_pod_of_a_namespace_waits_for_its_account() {
    let server = bare_server().await;
    let late = async {
        tokio::time::sleep(std::time::Duration::from_millis(900)).await;
        let account = json!({"metadata": {"name": "default"}});
        created(&server, "/api/v1/namespaces/default/serviceaccounts", account).await;
    };
    let (made, ()) = tokio::join!(created(&server, PODS, pod("p1", json!({}))), late);
    assert_eq!(made["spec"]["serviceAccountName"], "default");
}

/// A§2.6 service account: the token is mounted into every container, and image pull secrets are added.
#[tokio::test]
async fn the_token_and_pull_secrets_of_an_account_are_added_to_pods() {
    let server = bare_server().await;
    let account = json!({"metadata": {"name": "default"}, "imagePullSecrets": [{"name": "reg"}]});
    created(&server, "/api/v1/namespaces/default/serviceaccounts", account).await;
    let own_mount = json!([{"name": "mine", "mountPath": TOKEN_PATH}]);
    let containers = json!([
        {"name": "a", "image": "x:1"},
        {"name": "b", "image": "x:1", "volumeMounts": own_mount},
    ]);
    let volumes = json!([{"name": "mine"}]);
    let made = created(&server, PODS, pod("p", json!({"containers": containers, "volumes": volumes}))).await;
    let spec = &made["spec"];
    assert_eq!(
        (&spec["serviceAccountName"], &spec["serviceAccount"]),
        (&json!("default"), &json!("default"))
    );
    assert_eq!(spec["imagePullSecrets"], json!([{"name": "reg"}]));
    let volume = spec["volumes"][1]["name"].as_str().unwrap();
    assert!(volume.starts_with("kube-api-access-") && volume.len() == 21, "{volume}");
    let mount = json!([{"name": volume, "readOnly": true, "mountPath": TOKEN_PATH}]);
    assert_eq!(spec["containers"][0]["volumeMounts"], mount);
    assert_eq!(spec["containers"][1]["volumeMounts"], own_mount, "existing mounts are kept");
    let projected = &spec["volumes"][1]["projected"];
    assert_eq!((&projected["defaultMode"], projected["sources"].as_array().unwrap().len()), (&json!(420), 3));
    assert_eq!(projected["sources"][0]["serviceAccountToken"]["expirationSeconds"], 3607);
    let owned = made["metadata"]["managedFields"].to_string();
    assert!(!owned.contains("kube-api-access") && !owned.contains("f:serviceAccount"), "A3.15: {owned}");
}

/// A§2.6 service account: the pod's automount setting precedes the account's.
#[tokio::test]
async fn a_token_is_not_mounted_if_automount_is_off() {
    let server = bare_server().await;
    let account = json!({"metadata": {"name": "quiet"}, "automountServiceAccountToken": false});
    created(&server, "/api/v1/namespaces/default/serviceaccounts", account).await;
    let quiet = created(&server, PODS, pod("a", json!({"serviceAccountName": "quiet"}))).await;
    assert_eq!(quiet["spec"].get("volumes"), None);
    let wish = json!({"serviceAccountName": "quiet", "automountServiceAccountToken": true});
    let loud = created(&server, PODS, pod("b", wish)).await;
    assert_eq!(loud["spec"]["volumes"].as_array().unwrap().len(), 1);
}

/// A§2.6 service account: the admission can be disabled.
#[tokio::test]
async fn accounts_can_be_switched_off() {
    let store = Arc::new(MemoryStore::new(HistoryLimits::default()));
    let settings = Settings { service_accounts: ServiceAccounts::Ignored, ..Settings::default() };
    let server = ApiServer::new(store, Arc::new(Noon::default()), settings);
    server.prepare().await.unwrap();
    let made = created(&server, PODS, pod("p", json!({}))).await;
    assert_eq!(made["spec"].get("serviceAccountName"), None);
}

/// O1.1, A§2.6 default tolerations: on create and on update, and no manager owns them.
#[tokio::test]
async fn pods_tolerate_unreachable_nodes_for_a_while() {
    let server = server().await;
    let made = created(&server, PODS, pod("p", json!({}))).await;
    let tolerations = made["spec"]["tolerations"].as_array().unwrap();
    assert_eq!(tolerations.len(), 2);
    assert_eq!(
        tolerations[0],
        json!({"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300})
    );
    let (status, after) = patched(
        &server,
        &format!("{PODS}/p"),
        json!({"metadata": {"labels": {"a": "b"}}, "spec": {"tolerations": null}}),
    )
    .await;
    assert_eq!((status, &after["spec"]["tolerations"]), (200, &made["spec"]["tolerations"]), "{after}");
    assert!(!made["metadata"]["managedFields"].to_string().contains("tolerations"));
}

/// A§2.6 priority: the class sets it, one class is the default, and a client cannot set another value.
#[tokio::test]
async fn priority_is_set_from_the_priority_class() {
    let server = server().await;
    let classes = "/apis/scheduling.k8s.io/v1/priorityclasses";
    let of = |made: &gantry_json::Value| {
        let spec = &made["spec"];
        (spec["priority"].as_i64().unwrap(), spec["preemptionPolicy"].as_str().unwrap().to_owned())
    };
    let plain = created(&server, PODS, pod("plain", json!({}))).await;
    assert_eq!(of(&plain), (0, "PreemptLowerPriority".to_owned()));
    let critical = json!({"priorityClassName": "system-node-critical"});
    assert_eq!(of(&created(&server, PODS, pod("critical", critical)).await).0, 2_000_001_000);
    let low =
        json!({"metadata": {"name": "low"}, "value": -5, "globalDefault": true, "preemptionPolicy": "Never"});
    created(&server, classes, low).await;
    let by_default = created(&server, PODS, pod("default", json!({}))).await;
    assert_eq!(of(&by_default), (-5, "Never".to_owned()));
    assert_eq!(by_default["spec"]["priorityClassName"], "low");
    assert_eq!(
        refused(&server, PODS, pod("p", json!({"priority": 5})), 403).await,
        "pods \"p\" is forbidden: the integer value of priority (5) must not be provided in pod spec; priority admission \
         controller computed -5 from the given PriorityClass name"
    );
    assert_eq!(
        refused(&server, PODS, pod("p", json!({"priorityClassName": "x"})), 403).await,
        "pods \"p\" is forbidden: no PriorityClass with name x was found"
    );
    let second = json!({"metadata": {"name": "second"}, "value": 1, "globalDefault": true});
    assert!(
        refused(&server, classes, second, 403)
            .await
            .ends_with("PriorityClass low is already marked as default. Only one default can exist")
    );
    let greedy = json!({"metadata": {"name": "greedy"}, "value": 1_000_000_001});
    assert!(
        refused(&server, classes, greedy, 422)
            .await
            .contains("maximum allowed value of a user defined priority is 1000000000")
    );
}

/// A§2.6 scheduling gates: a gated pod has the condition from the start.
#[tokio::test]
async fn a_gated_pod_has_the_condition_scheduling_gated() {
    let server = server().await;
    created(&server, PODS, pod("gated", json!({"schedulingGates": [{"name": "example.com/g"}]}))).await;
    let found = get(&server, &format!("{PODS}/gated")).await;
    let condition = &found["status"]["conditions"][0];
    assert_eq!((&condition["type"], &condition["status"]), (&json!("PodScheduled"), &json!("False")));
    assert_eq!(condition["message"], "Scheduling is blocked due to non-empty scheduling gates");
}

/// A runtime class that does not exist is refused before the rest of the pod is validated.
#[tokio::test]
async fn a_pod_needs_its_runtime_class() {
    let server = server().await;
    let named =
        pod("p1", json!({"runtimeClassName": "gvisor", "containers": [{"name": "a.b", "image": "x:1"}]}));
    assert_eq!(
        refused(&server, PODS, named, 403).await,
        "pods \"p1\" is forbidden: pod rejected: RuntimeClass \"gvisor\" not found"
    );
}
