//! RBAC on every request.

use std::sync::Arc;

use gantry_json::{Value, json};
use http::Method;

use crate::cluster::{ADMIN, PODS, RBAC, cluster, on, rbac_access, rule, token_of};

/// A7.3, A0.7: the message of a 403, by verb, name, subresource and scope.
#[tokio::test]
async fn a_403_names_verb_resource_and_scope() {
    let cluster = cluster().await;
    let refusal = async |method: Method, path: &str| {
        let (status, refused) = cluster.request_as("bob", method, path, Value::Null).await;
        assert_eq!((status, &refused["reason"]), (403, &json!("Forbidden")), "{path}");
        refused["message"].as_str().unwrap().replace("is forbidden: User \"bob\" cannot", "-")
    };
    let deployments = "/apis/apps/v1/namespaces/default/deployments";
    for (method, path, wanted) in [
        (
            Method::GET,
            PODS.to_owned(),
            "pods - list resource \"pods\" in API group \"\" in the namespace \"default\"",
        ),
        (
            Method::GET,
            format!("{PODS}?watch=true"),
            "pods - watch resource \"pods\" in API group \"\" in the namespace \"default\"",
        ),
        (
            Method::GET,
            format!("{PODS}/p"),
            "pods \"p\" - get resource \"pods\" in API group \"\" in the namespace \"default\"",
        ),
        (
            Method::GET,
            "/api/v1/pods".to_owned(),
            "pods - list resource \"pods\" in API group \"\" at the cluster scope",
        ),
        (
            Method::POST,
            PODS.to_owned(),
            "pods - create resource \"pods\" in API group \"\" in the namespace \"default\"",
        ),
        (
            Method::PUT,
            format!("{PODS}/p"),
            "pods \"p\" - update resource \"pods\" in API group \"\" in the namespace \"default\"",
        ),
        (
            Method::PATCH,
            format!("{deployments}/d/scale"),
            "deployments.apps \"d\" - patch resource \"deployments/scale\" in API group \"apps\" in the namespace \"default\"",
        ),
        (
            Method::DELETE,
            format!("{PODS}/p"),
            "pods \"p\" - delete resource \"pods\" in API group \"\" in the namespace \"default\"",
        ),
        (
            Method::DELETE,
            PODS.to_owned(),
            "pods - deletecollection resource \"pods\" in API group \"\" in the namespace \"default\"",
        ),
        (
            Method::DELETE,
            "/api/v1/namespaces/default".to_owned(),
            "namespaces \"default\" - delete resource \"namespaces\" in API group \"\" in the namespace \"default\"",
        ),
        (
            Method::GET,
            format!("{PODS}?fieldSelector=metadata.name%3Dp"),
            "pods \"p\" - list resource \"pods\" in API group \"\" in the namespace \"default\"",
        ),
        (
            Method::GET,
            "/apis/nope/v1/things".to_owned(),
            "things.nope - list resource \"things\" in API group \"nope\" at the cluster scope",
        ),
    ] {
        assert_eq!(refusal(method, &path).await, wanted);
    }
    let bearer = format!("Bearer {}", token_of("bob"));
    let refused = cluster.send(&[("authorization", &bearer)], Method::GET, PODS, &Value::Null).await;
    assert_eq!(refused.headers()["x-content-type-options"], "nosniff");
}

/// A7.3: a 403 has the details of the resource.
#[tokio::test]
async fn refusals_have_details() {
    let cluster = cluster().await;
    let (_, refused) = cluster.get("bob", "/apis/apps/v1/namespaces/default/deployments/web").await;
    assert_eq!(refused["details"], json!({"name": "web", "group": "apps", "kind": "deployments"}));
    let (_, refused) = cluster.get("bob", "/metrics").await;
    assert_eq!(refused["details"], json!({}));
}

/// A7.9: a role allows its verbs on its resources in the namespace of its binding, once its creation is acknowledged.
#[tokio::test]
async fn a_role_applies_once_its_write_is_acknowledged() {
    let cluster = cluster().await;
    assert_eq!(cluster.get("bob", PODS).await.0, 403);
    cluster.grant("bob", json!([rule(&["list"], &["pods"])])).await;
    assert_eq!(cluster.get("bob", PODS).await.0, 200);
    assert_eq!(cluster.get("bob", &format!("{PODS}/p")).await.0, 403, "get is not list");
    assert_eq!(cluster.get("bob", "/api/v1/namespaces/kube-system/pods").await.0, 403, "elsewhere");
    assert_eq!(cluster.get("bob", "/api/v1/pods").await.0, 403, "everywhere");
    assert_eq!(cluster.get("eve", PODS).await.0, 403, "another user");
    let role = format!("{RBAC}/namespaces/default/roles/bob");
    let wider = json!({"metadata": {"name": "bob"}, "rules": [rule(&["get"], &["pods"])]});
    assert_eq!(cluster.request_as(ADMIN, Method::PUT, &role, wider).await.0, 200);
    assert_eq!(cluster.get("bob", PODS).await.0, 403);
    assert_eq!(cluster.get("bob", &format!("{PODS}/p")).await.0, 404, "allowed, but the pod does not exist");
    let binding = format!("{RBAC}/namespaces/default/rolebindings/bob-bob");
    assert_eq!(cluster.request_as(ADMIN, Method::DELETE, &binding, Value::Null).await.0, 200);
    assert_eq!(cluster.get("bob", &format!("{PODS}/p")).await.0, 403);
}

/// A7.9: a ClusterRoleBinding applies everywhere, a RoleBinding of a ClusterRole in its namespace; groups can be
/// bound.
#[tokio::test]
async fn cluster_roles_are_bound_in_the_cluster_or_a_namespace() {
    let cluster = cluster().await;
    let role = json!({"metadata": {"name": "reader"}, "rules": [rule(&["list"], &["pods", "nodes"])]});
    cluster.create(&format!("{RBAC}/clusterroles"), role).await;
    cluster.bind("bob", "ClusterRole", "reader").await;
    assert_eq!(cluster.get("bob", PODS).await.0, 200);
    assert_eq!(cluster.get("bob", "/api/v1/nodes").await.0, 403);
    let subjects = json!([{"kind": "Group", "name": "team"}]);
    let reference = json!({"kind": "ClusterRole", "name": "reader"});
    let binding = json!({"metadata": {"name": "b"}, "roleRef": reference, "subjects": subjects});
    cluster.create(&format!("{RBAC}/clusterrolebindings"), binding).await;
    assert_eq!(cluster.get("eve", "/api/v1/nodes").await.0, 200);
    assert_eq!(cluster.get("eve", "/api/v1/namespaces/kube-system/pods").await.0, 200);
}

/// A7.9, A0.7: a rule with resource names allows those, also in a list by name.
#[tokio::test]
async fn names_limit_a_rule() {
    let cluster = cluster().await;
    let named = json!({"apiGroups": [""], "resources": ["pods"], "resourceNames": ["p"], "verbs": ["get", "list", "watch"]});
    cluster.grant("bob", json!([named])).await;
    assert_eq!(cluster.get("bob", &format!("{PODS}/p")).await.0, 404);
    assert_eq!(cluster.get("bob", &format!("{PODS}/q")).await.0, 403);
    assert_eq!(cluster.get("bob", PODS).await.0, 403);
    assert_eq!(cluster.get("bob", &format!("{PODS}?fieldSelector=metadata.name=p")).await.0, 200);
    assert_eq!(cluster.get("bob", &format!("{PODS}?fieldSelector=metadata.name=q")).await.0, 403);
}

/// A7.3: permissions within a namespace apply to the Namespace object.
#[tokio::test]
async fn a_namespace_is_in_its_own_scope() {
    let cluster = cluster().await;
    cluster.grant("bob", json!([rule(&["get"], &["namespaces"])])).await;
    assert_eq!(cluster.get("bob", "/api/v1/namespaces/default").await.0, 200);
    assert_eq!(cluster.get("bob", "/api/v1/namespaces/kube-system").await.0, 403);
}

/// A7.3: without permission, a request for an absent object gets 403; with permission, 404.
#[tokio::test]
async fn access_is_decided_before_existence() {
    let cluster = cluster().await;
    let nonsense = "/apis/apps/v1/nonsense";
    assert_eq!(cluster.get("bob", nonsense).await.0, 403);
    assert_eq!(cluster.get(ADMIN, nonsense).await.0, 404);
    assert_eq!(cluster.get(ADMIN, "/nonsense").await.0, 404);
}

/// A7.9: writes of another server on the same store apply, and so do objects that existed before a start.
#[tokio::test]
async fn servers_on_one_store_apply_each_others_policy() {
    let first = cluster().await;
    let second = on(Arc::clone(&first.store), rbac_access()).await;
    assert_eq!(second.get("bob", PODS).await.0, 403);
    first.grant("bob", json!([rule(&["list"], &["pods"])])).await;
    assert_eq!(second.get("bob", PODS).await.0, 200);
    let third = on(Arc::clone(&first.store), rbac_access()).await;
    assert_eq!(third.get("bob", PODS).await.0, 200);
}

/// A7.9: the policy is reloaded when its watches have been compacted.
#[tokio::test]
async fn policies_are_relisted_after_compaction() {
    let cluster = cluster().await;
    assert_eq!(cluster.get("bob", PODS).await.0, 403);
    cluster.grant("bob", json!([rule(&["list"], &["pods"])])).await;
    let current = cluster.store.bounds().await.unwrap().current;
    cluster.store.compact(current).await.unwrap();
    assert_eq!(cluster.get("bob", PODS).await.0, 200);
}

/// A7.9, A0.5: all permissions in a namespace give none on cluster-scoped objects, by any path.
#[tokio::test]
async fn permissions_in_a_namespace_do_not_apply_to_cluster_scoped_objects() {
    let cluster = cluster().await;
    let all = json!({"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]});
    cluster.grant("bob", json!([all])).await;
    cluster.create("/api/v1/nodes", json!({"metadata": {"name": "n"}})).await;
    for (path, wanted) in [
        ("/api/v1/nodes/n", 403),
        ("/api/v1/namespaces/default/nodes/n", 404),
        ("/api/v1/namespaces/default/nodes", 404),
        ("/api/v1/namespaces/default/namespaces/kube-system", 404),
        ("/apis/rbac.authorization.k8s.io/v1/namespaces/default/clusterroles", 404),
    ] {
        assert_eq!(cluster.get("bob", path).await.0, wanted, "{path}");
    }
}

/// A7.9: a PUT or apply that creates requires the verb `create`.
#[tokio::test]
async fn put_and_apply_that_create_require_the_verb_create() {
    let cluster = cluster().await;
    cluster.grant("bob", json!([rule(&["update", "patch"], &["endpoints", "configmaps"])])).await;
    let put = "/api/v1/namespaces/default/endpoints/e";
    let message = "endpoints \"e\" is forbidden: User \"bob\" cannot create resource \"endpoints\" in API group \"\" in the \
                   namespace \"default\"";
    let object = json!({"metadata": {"name": "e"}});
    let (status, refused) = cluster.request_as("bob", Method::PUT, put, object.clone()).await;
    assert_eq!((status, &refused["message"]), (403, &json!(message)));
    let apply = async || {
        let request = http::Request::builder()
            .method(Method::PATCH)
            .uri("/api/v1/namespaces/default/configmaps/c?fieldManager=m")
            .header("authorization", format!("Bearer {}", token_of("bob")))
            .header("content-type", "application/apply-patch+yaml");
        let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}});
        let request = request.body(map.to_string().into_bytes().into()).unwrap();
        cluster.server.handle(request).await.status()
    };
    assert_eq!(apply().await, 403);
    let both = json!({"metadata": {"name": "bob"}, "rules": [rule(&["create", "update", "patch"], &["endpoints", "configmaps"])]});
    let role = format!("{RBAC}/namespaces/default/roles/bob");
    assert_eq!(cluster.request_as(ADMIN, Method::PUT, &role, both).await.0, 200);
    assert_eq!(apply().await, 201);
    assert_eq!(cluster.request_as("bob", Method::PUT, put, object).await.0, 201);
}
