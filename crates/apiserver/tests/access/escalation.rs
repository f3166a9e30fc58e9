//! Privilege escalation through roles and bindings is refused.

use gantry_json::{Value, json};
use http::Method;

use crate::cluster::{ADMIN, Cluster, RBAC, cluster, read, rule, token_of};

const ROLES: &str = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles";
const BINDINGS: &str = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings";

/// A cluster in which mallory writes roles and bindings, and reads pods.
async fn cluster_with_mallory() -> Cluster {
    let cluster = cluster().await;
    let verbs = ["create", "update", "patch", "get"];
    let write = json!({"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["roles", "rolebindings"], "verbs": verbs});
    cluster.grant("mallory", json!([write, rule(&["get"], &["pods"])])).await;
    cluster
}

fn role(name: &str, rules: &Value) -> Value {
    json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": name}, "rules": rules})
}

/// A7.9: a role with more permissions than its writer has is refused, by every write.
#[tokio::test]
async fn a_role_with_missing_permissions_cannot_be_written() {
    let cluster = cluster_with_mallory().await;
    let secrets = json!([rule(&["get", "list"], &["secrets"])]);
    let message = "roles.rbac.authorization.k8s.io \"grab\" is forbidden: user \"mallory\" (groups=[\"system:authenticated\"]) \
                   is attempting to grant RBAC permissions not currently held:\n\
                   {APIGroups:[\"\"], Resources:[\"secrets\"], Verbs:[\"get\" \"list\"]}";
    let (status, refused) = cluster.request_as("mallory", Method::POST, ROLES, role("grab", &secrets)).await;
    assert_eq!((status, &refused["message"]), (403, &json!(message)));
    assert_eq!(
        refused["details"],
        json!({"name": "grab", "group": "rbac.authorization.k8s.io", "kind": "roles"})
    );
    let pods = json!([rule(&["get"], &["pods"])]);
    assert_eq!(cluster.request_as("mallory", Method::POST, ROLES, role("grab", &pods)).await.0, 201);
    let path = format!("{ROLES}/grab");
    let wider = role("grab", &secrets);
    assert_eq!(cluster.request_as("mallory", Method::PUT, &path, wider.clone()).await.0, 403);
    let absent = format!("{ROLES}/other");
    assert_eq!(cluster.request_as("mallory", Method::PUT, &absent, role("other", &secrets)).await.0, 403);
    let bearer = format!("Bearer {}", token_of("mallory"));
    for (kind, query) in [
        ("application/merge-patch+json", ""),
        ("application/strategic-merge-patch+json", ""),
        ("application/apply-patch+yaml", "?fieldManager=m&force=true"),
    ] {
        let request = http::Request::builder().method(Method::PATCH).uri(format!("{path}{query}"));
        let request = request.header("authorization", &bearer).header("content-type", kind);
        let request = request.body(wider.to_string().into_bytes().into()).unwrap();
        let (status, refused) = read(cluster.server.handle(request).await).await;
        assert_eq!((status, &refused["message"]), (403, &json!(message)), "{kind}");
    }
}

/// A7.9: a role that already grants too much cannot be changed either, except for its finalizers.
#[tokio::test]
async fn finalizers_of_a_role_can_be_changed_without_its_permissions() {
    let cluster = cluster_with_mallory().await;
    let strong = role("strong", &json!([rule(&["*"], &["*"])]));
    let mut strong = cluster.create(ROLES, strong).await;
    let path = format!("{ROLES}/strong");
    strong["metadata"]["finalizers"] = json!(["example.com/f"]);
    let (status, mut strong) = cluster.request_as("mallory", Method::PUT, &path, strong).await;
    assert_eq!(status, 200, "{strong}");
    strong["metadata"]["labels"] = json!({"a": "b"});
    assert_eq!(cluster.request_as("mallory", Method::PUT, &path, strong).await.0, 403);
}

/// A7.9: a binding grants what its role grants.
#[tokio::test]
async fn a_role_with_missing_permissions_cannot_be_bound() {
    let cluster = cluster_with_mallory().await;
    cluster.create(ROLES, role("strong", &json!([rule(&["get"], &["secrets"])]))).await;
    cluster.create(ROLES, role("weak", &json!([rule(&["get"], &["pods"])]))).await;
    let binding = |name: &str, role: &str| json!({"metadata": {"name": name}, "roleRef": {"kind": "Role", "name": role}, "subjects": [{"kind": "User", "name": "mallory"}]});
    let (status, refused) =
        cluster.request_as("mallory", Method::POST, BINDINGS, binding("b", "strong")).await;
    assert_eq!(status, 403);
    let message = refused["message"].as_str().unwrap();
    let start = "rolebindings.rbac.authorization.k8s.io \"b\" is forbidden: user \"mallory\"";
    assert!(message.starts_with(start), "{message}");
    assert_eq!(cluster.request_as("mallory", Method::POST, BINDINGS, binding("w", "weak")).await.0, 201);
    let (status, refused) =
        cluster.request_as("mallory", Method::POST, BINDINGS, binding("n", "nowhere")).await;
    let message = "roles.rbac.authorization.k8s.io \"nowhere\" not found";
    assert_eq!((status, &refused["message"]), (404, &json!(message)));
    let bind = json!({"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["roles"], "resourceNames": ["strong"], "verbs": ["bind"]});
    cluster.create(ROLES, role("binder", &json!([bind]))).await;
    cluster.bind("mallory", "Role", "binder").await;
    assert_eq!(cluster.request_as("mallory", Method::POST, BINDINGS, binding("b", "strong")).await.0, 201);
}

/// A7.9: the verb `escalate` allows writing any role.
#[tokio::test]
async fn the_verb_escalate_allows_writing_any_role() {
    let cluster = cluster_with_mallory().await;
    let secrets = role("grab", &json!([rule(&["get"], &["secrets"])]));
    assert_eq!(cluster.request_as("mallory", Method::POST, ROLES, secrets.clone()).await.0, 403);
    let escalate =
        json!({"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["roles"], "verbs": ["escalate"]});
    cluster.create(ROLES, role("escalator", &json!([escalate]))).await;
    cluster.bind("mallory", "Role", "escalator").await;
    assert_eq!(cluster.request_as("mallory", Method::POST, ROLES, secrets).await.0, 201);
}

/// A7.9: an aggregation rule requires all permissions; a controller writes the rules.
#[tokio::test]
async fn aggregation_requires_all_permissions() {
    let cluster = cluster().await;
    let roles = format!("{RBAC}/clusterroles");
    let write = json!({"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["clusterroles"], "verbs": ["create"]});
    cluster.create(&roles, json!({"metadata": {"name": "writer"}, "rules": [write]})).await;
    let subjects = json!([{"kind": "User", "name": "mallory"}]);
    let reference = json!({"kind": "ClusterRole", "name": "writer"});
    let binding = json!({"metadata": {"name": "writer"}, "roleRef": reference, "subjects": subjects});
    cluster.create(&format!("{RBAC}/clusterrolebindings"), binding).await;
    let selectors = json!([{"matchLabels": {"a": "b"}}]);
    let sum = json!({"metadata": {"name": "sum"}, "aggregationRule": {"clusterRoleSelectors": selectors}});
    let (status, refused) = cluster.request_as("mallory", Method::POST, &roles, sum.clone()).await;
    let message = "clusterroles.rbac.authorization.k8s.io \"sum\" is forbidden: must have cluster-admin privileges to use an \
                   aggregationRule";
    assert_eq!((status, &refused["message"]), (403, &json!(message)));
    let (status, created) = cluster.request_as(ADMIN, Method::POST, &roles, sum).await;
    assert_eq!((status, created["rules"].as_array().is_none_or(Vec::is_empty)), (201, true), "{created}");
}
