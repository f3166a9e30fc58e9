//! The permissions of nodes, compared with the responses of kube-apiserver 1.37 with `--authorization-mode=Node,RBAC`
//! and `--enable-admission-plugins=NodeRestriction`.

use gantry_json::{Value, json};
use http::{Method, Request};

use super::cluster::{ADMIN, Cluster, cluster, read, token_of};

/// Requests of the node n1, with the status of the response and the message of a refusal.
const RECORDED: &str = include_str!("recorded_node_requests.tsv");

const DEFAULT: &str = "/api/v1/namespaces/default";

/// Two nodes with a pod each, and the objects that the pods refer to.
async fn cluster_with_pods() -> Cluster {
    let cluster = cluster().await;
    let create = async |path: String, object: Value| drop(cluster.create(&path, object).await);
    let named = |name: &str| json!({"metadata": {"name": name}});
    for name in ["n1", "n2"] {
        create("/api/v1/nodes".into(), named(name)).await;
        create("/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases".into(), named(name)).await;
        let csi_node = json!({"metadata": {"name": name}, "spec": {"drivers": []}});
        create("/apis/storage.k8s.io/v1/csinodes".into(), csi_node).await;
    }
    for name in ["a1", "a2"] {
        let account = json!({"metadata": {"name": name}, "automountServiceAccountToken": false});
        create(format!("{DEFAULT}/serviceaccounts"), account).await;
    }
    for name in ["s1", "s2", "s3", "s4", "s5"] {
        create(format!("{DEFAULT}/secrets"), named(name)).await;
    }
    for name in ["c1", "c2"] {
        create(format!("{DEFAULT}/configmaps"), named(name)).await;
    }
    for (number, secret) in [(1, "s5"), (2, "s4")] {
        let claim = json!({
            "metadata": {"name": format!("claim{number}")},
            "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1"}}},
        });
        create(format!("{DEFAULT}/persistentvolumeclaims"), claim).await;
        let secret = json!({"namespace": "default", "name": secret});
        let volume = json!({"metadata": {"name": format!("pv{number}")}, "spec": {
            "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1"},
            "claimRef": {"namespace": "default", "name": format!("claim{number}")},
            "csi": {"driver": "d", "volumeHandle": "h", "nodePublishSecretRef": secret},
        }});
        create("/api/v1/persistentvolumes".into(), volume).await;
        let attachment = json!({"metadata": {"name": format!("va{number}")}, "spec": {
            "attacher": "d", "nodeName": format!("n{number}"), "source": {"persistentVolumeName": "pv1"},
        }});
        create("/apis/storage.k8s.io/v1/volumeattachments".into(), attachment).await;
    }
    create(format!("{DEFAULT}/pods"), pod("p1", "n1", "a1", ("s1", "c1", "claim1"), Some("s2"))).await;
    create(format!("{DEFAULT}/pods"), pod("p2", "n2", "a2", ("s3", "c2", "claim2"), None)).await;
    let service = json!({"metadata": {"name": "svc"}, "spec": {"ports": [{"port": 80}]}});
    create(format!("{DEFAULT}/services"), service).await;
    cluster
}

fn pod(
    name: &str,
    node: &str,
    account: &str,
    (secret, map, claim): (&str, &str, &str),
    pull: Option<&str>,
) -> Value {
    let pull: Vec<_> = pull.into_iter().map(|name| json!({"name": name})).collect();
    let container = json!({"name": "c", "image": "i", "envFrom": [{"configMapRef": {"name": map}}]});
    let volumes = json!([
        {"name": "v", "secret": {"secretName": secret}},
        {"name": "p", "persistentVolumeClaim": {"claimName": claim}},
    ]);
    json!({"metadata": {"name": name}, "spec": {
        "nodeName": node, "serviceAccountName": account, "imagePullSecrets": pull, "containers": [container],
        "volumes": volumes,
    }})
}

/// Returns the response to a request of the administrator who impersonates a user. The body of a watch is not read.
async fn send_as(
    cluster: &Cluster,
    user: &str,
    groups: &[&str],
    method: Method,
    path: &str,
    body: &Value,
) -> (u16, Value) {
    let content_type = match method {
        Method::PATCH => "application/merge-patch+json",
        _ => "application/json",
    };
    let mut request = Request::builder().method(method).uri(path).header("content-type", content_type);
    request = request.header("authorization", format!("Bearer {}", token_of(ADMIN)));
    request = request.header("impersonate-user", user);
    for group in groups {
        request = request.header("impersonate-group", *group);
    }
    let bytes = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
    let response = cluster.server.handle(request.body(bytes.into()).unwrap()).await;
    if path.contains("watch=true") && response.status() == 200 {
        return (200, Value::Null);
    }
    read(response).await
}

/// A7.11: the recorded requests get the recorded responses.
#[tokio::test]
async fn recorded_requests_of_nodes_get_the_recorded_responses() {
    let cluster = cluster_with_pods().await;
    let mut different = Vec::new();
    for line in RECORDED.lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [user, groups, method, path, body, status, message] = fields[..] else {
            panic!("{line}");
        };
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        let body: Value = gantry_json::from_str(body).unwrap();
        let groups: Vec<&str> = groups.split(',').collect();
        let (found, response) = send_as(&cluster, user, &groups, method, path, &body).await;
        let refusal = if found == 403 { response["message"].as_str().unwrap_or_default() } else { "" };
        if (found.to_string().as_str(), refusal) != (status, message) {
            different.push(format!("{line}\n  but {found} {refusal}"));
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}

/// A7.11: access follows the pods: objects that only a deleted pod referred to can no longer be read.
#[tokio::test]
async fn access_ends_with_the_pod() {
    let cluster = cluster_with_pods().await;
    let get = async |path: &str| {
        let path = format!("{DEFAULT}/{path}");
        send_as(&cluster, "system:node:n1", &["system:nodes"], Method::GET, &path, &Value::Null).await.0
    };
    assert_eq!((get("secrets/s1").await, get("secrets/s3").await), (200, 403));
    let path = format!("{DEFAULT}/pods/p1?gracePeriodSeconds=0");
    assert_eq!(cluster.request_as(ADMIN, Method::DELETE, &path, Value::Null).await.0, 200);
    assert_eq!(get("secrets/s1").await, 403);
    let again = pod("p3", "n1", "a2", ("s3", "c2", "claim2"), None);
    cluster.create(&format!("{DEFAULT}/pods"), again).await;
    assert_eq!(
        (get("secrets/s3").await, get("secrets/s4").await, get("configmaps/c2").await),
        (200, 200, 200)
    );
}

/// A7.11: a node gets tokens for its own pods only.
#[tokio::test]
async fn tokens_are_for_pods_of_the_node() {
    let cluster = cluster_with_pods().await;
    let uid = async |name: &str| {
        let (_, pod) = cluster.get(ADMIN, &format!("{DEFAULT}/pods/{name}")).await;
        pod["metadata"]["uid"].clone()
    };
    let request_token = async |account: &str, pod: &str, uid: Value| {
        let bound = json!({"apiVersion": "v1", "kind": "Pod", "name": pod, "uid": uid});
        let request = json!({"spec": {"audiences": ["x"], "boundObjectRef": bound}});
        let path = format!("{DEFAULT}/serviceaccounts/{account}/token");
        let (status, response) =
            send_as(&cluster, "system:node:n1", &["system:nodes"], Method::POST, &path, &request).await;
        (status, response["message"].as_str().unwrap_or_default().to_owned())
    };
    assert_eq!(request_token("a1", "p1", uid("p1").await).await, (201, String::new()));
    let why = "serviceaccounts \"a1\" is forbidden: node requested token with a pod binding without a uid";
    assert_eq!(request_token("a1", "p1", json!("")).await, (403, why.to_owned()));
    assert_eq!(request_token("a2", "p2", uid("p2").await).await.0, 403);
}

/// A7.11: a node may set descriptive labels on its own Node, but no labels or taints that control where pods run.
#[tokio::test]
async fn a_node_cannot_change_its_scheduling_labels_or_taints() {
    let cluster = cluster_with_pods().await;
    let write = async |method: Method, path: &str, body: Value| {
        let (status, response) =
            send_as(&cluster, "system:node:n1", &["system:nodes"], method, path, &body).await;
        (status, response["message"].as_str().unwrap_or_default().to_owned())
    };
    let n1 = "/api/v1/nodes/n1";
    let labels = |label: &str| json!({"metadata": {"labels": {label: "x"}}});
    let taints = json!({"spec": {"taints": [{"key": "a", "effect": "NoSchedule"}]}});
    assert_eq!(write(Method::PATCH, n1, labels("topology.kubernetes.io/zone")).await.0, 200);
    assert_eq!(write(Method::PATCH, n1, labels("example.com/rack")).await.0, 200);
    let refused = |why: &str| (403, format!("nodes \"n1\" is forbidden: {why}"));
    let label = "node-role.kubernetes.io/control-plane";
    for path in [n1, "/api/v1/nodes/n1/status"] {
        let why = format!("is not allowed to modify labels: {label}");
        assert_eq!(write(Method::PATCH, path, labels(label)).await, refused(&why));
    }
    let why = "node \"n1\" is not allowed to modify taints";
    assert_eq!(write(Method::PATCH, n1, taints.clone()).await, refused(why));
    assert_eq!(cluster.request_as(ADMIN, Method::DELETE, n1, Value::Null).await.0, 200);
    let mut node = labels(label);
    node["metadata"]["name"] = json!("n1");
    let why = format!("node \"n1\" is not allowed to set the following labels: {label}");
    assert_eq!(write(Method::POST, "/api/v1/nodes", node).await, refused(&why));
    let mut node = taints;
    node["metadata"]["name"] = json!("n1");
    assert_eq!(write(Method::POST, "/api/v1/nodes", node).await.0, 201, "a node may register with taints");
}
