//! Authentication by tokens and certificates, and anonymous requests.

use gantry_apiserver::{Access, Anonymous};
use gantry_json::{Value, json};
use gantry_registry::access::User;
use http::Method;

use crate::cluster::{PODS, cluster, cluster_with, rbac_access, read};

const WHO: &str = "/apis/authentication.k8s.io/v1/selfsubjectreviews";

/// A7.1: a static token authenticates its user, who is in `system:authenticated`.
#[tokio::test]
async fn a_static_token_authenticates_its_user() {
    let cluster = cluster().await;
    let (status, review) = cluster.request_as("admin", Method::POST, WHO, json!({})).await;
    assert_eq!(status, 201, "{review}");
    let user = json!({"username": "admin", "groups": ["system:masters", "system:authenticated"]});
    assert_eq!(review["status"]["userInfo"], user);
    assert_eq!(
        (&review["kind"], &review["apiVersion"]),
        (&json!("SelfSubjectReview"), &json!("authentication.k8s.io/v1"))
    );
}

/// A7.1, A7.7: a user authenticated by a listener is accepted with groups, uid and extras.
#[tokio::test]
async fn a_user_authenticated_by_a_listener_is_accepted() {
    let cluster = cluster().await;
    let carol =
        User { name: "carol".to_owned(), groups: vec!["system:masters".to_owned()], ..User::default() };
    assert_eq!(cluster.request_with_certificate(carol, PODS).await.0, 200);
    let dave = User { name: "dave".to_owned(), ..User::default() };
    let (status, refused) = cluster.request_with_certificate(dave, PODS).await;
    assert_eq!(status, 403);
    assert!(refused["message"].as_str().unwrap().contains("User \"dave\""), "{refused}");
}

/// A7.2: an invalid token gets 401 on every path.
#[tokio::test]
async fn a_bad_token_is_unauthorized() {
    let cluster = cluster().await;
    for token in ["nonsense", "a.b.c", "admin-toke", "admin-token-"] {
        for path in [PODS, "/api", "/healthz"] {
            let (status, refused) = cluster.request_with_token(token, Method::GET, path, Value::Null).await;
            assert_eq!(status, 401, "{token} {path}");
            let body = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
                "message": "Unauthorized", "reason": "Unauthorized", "code": 401});
            assert_eq!(refused, body);
        }
    }
}

/// A7.2, A7.4: without credentials only health and version are readable.
#[tokio::test]
async fn anonymous_requests_see_health_and_version_only() {
    let cluster = cluster().await;
    for path in ["/healthz", "/livez", "/readyz", "/version", "/version/"] {
        assert_eq!(cluster.send(&[], Method::GET, path, &Value::Null).await.status(), 200, "{path}");
    }
    for path in [PODS, "/apis", "/api", "/metrics", "/openapi/v2", "/nonsense", "/healthz/x"] {
        let (status, refused) = read(cluster.send(&[], Method::GET, path, &Value::Null).await).await;
        assert_eq!((status, &refused["reason"]), (401, &json!("Unauthorized")), "{path}");
    }
    let basic = [("authorization", "Basic YTpi")];
    let (status, _) = read(cluster.send(&basic, Method::GET, PODS, &Value::Null).await).await;
    assert_eq!(status, 401, "credentials of another kind are ignored");
}

/// A7.2: where anonymous requests are accepted, they have no permissions.
#[tokio::test]
async fn anonymous_users_have_no_permissions() {
    let cluster = cluster_with(Access { anonymous: Anonymous::Everywhere, ..rbac_access() }).await;
    let (status, refused) = read(cluster.send(&[], Method::GET, PODS, &Value::Null).await).await;
    let message = "pods is forbidden: User \"system:anonymous\" cannot list resource \"pods\" in API group \"\" in the \
                   namespace \"default\"";
    assert_eq!((status, &refused["message"]), (403, &json!(message)));
    assert_eq!(cluster.send(&[], Method::GET, "/version", &Value::Null).await.status(), 200);
}

/// A7.4: every authenticated user may read discovery and review their own access.
#[tokio::test]
async fn authenticated_users_may_read_discovery() {
    let cluster = cluster().await;
    for path in ["/api", "/apis", "/api/v1", "/apis/apps", "/apis/apps/v1", "/version"] {
        assert_eq!(cluster.get("bob", path).await.0, 200, "{path}");
    }
    let review = json!({"spec": {"resourceAttributes": {"verb": "get", "resource": "pods"}}});
    let reviews = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    assert_eq!(cluster.request_as("bob", Method::POST, reviews, review).await.0, 201);
    let rules = json!({"spec": {"namespace": "default"}});
    let reviews = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews";
    assert_eq!(cluster.request_as("bob", Method::POST, reviews, rules).await.0, 201);
    assert_eq!(cluster.request_as("bob", Method::POST, WHO, json!({})).await.0, 201);
    let (status, refused) = cluster.get("bob", "/metrics").await;
    assert_eq!(
        (status, &refused["message"]),
        (403, &json!("forbidden: User \"bob\" cannot get path \"/metrics\""))
    );
}

/// A7.1: with AlwaysAllow everything is allowed.
#[tokio::test]
async fn always_allow_allows_everything() {
    let cluster = cluster_with(Access::default()).await;
    assert_eq!(cluster.send(&[], Method::GET, PODS, &Value::Null).await.status(), 200);
}
