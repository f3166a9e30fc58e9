//! Impersonation by the `Impersonate-…` headers.

use gantry_json::{Value, json};
use http::Method;

use crate::cluster::{ADMIN, PODS, RBAC, cluster, read, rule, token_of};

const WHO: &str = "/apis/authentication.k8s.io/v1/selfsubjectreviews";

/// A7.10: the administrator may impersonate any user, and then has only their permissions.
#[tokio::test]
async fn the_administrator_may_impersonate_any_user() {
    let cluster = cluster().await;
    let user = [("impersonate-user", "some-user"), ("impersonate-group", "some-group")];
    let (status, refused) = cluster.request_impersonating(&user, Method::GET, PODS, Value::Null).await;
    let message = "pods is forbidden: User \"some-user\" cannot list resource \"pods\" in API group \"\" in the namespace \
                   \"default\"";
    assert_eq!((status, &refused["message"]), (403, &json!(message)));
    let (_, review) = cluster.request_impersonating(&user, Method::POST, WHO, json!({})).await;
    let groups = json!(["some-group", "system:authenticated"]);
    assert_eq!(review["status"]["userInfo"], json!({"username": "some-user", "groups": groups}));
    let master = [("impersonate-user", "x"), ("impersonate-group", "system:masters")];
    assert_eq!(
        cluster.request_impersonating(&master, Method::GET, "/api/v1/nodes", Value::Null).await.0,
        200
    );
}

/// A7.10: uid and extras are copied, service accounts get their groups, and `system:anonymous` is unauthenticated.
#[tokio::test]
async fn impersonated_users_are_complete() {
    let cluster = cluster().await;
    let who = async |headers: &[(&str, &str)]| {
        let (status, review) = cluster.request_impersonating(headers, Method::POST, WHO, json!({})).await;
        assert_eq!(status, 201, "{review}");
        review["status"]["userInfo"].clone()
    };
    let user = who(&[
        ("impersonate-user", "x"),
        ("impersonate-uid", "u1"),
        ("impersonate-extra-scopes", "read"),
        ("impersonate-extra-scopes", "write"),
        ("impersonate-extra-example.com%2fteam", "a"),
    ])
    .await;
    assert_eq!(user["uid"], "u1");
    assert_eq!(user["extra"], json!({"scopes": ["read", "write"], "example.com/team": ["a"]}));
    let robot = who(&[("impersonate-user", "system:serviceaccount:default:robot")]).await;
    let groups = json!(["system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"]);
    assert_eq!(robot["groups"], groups);
    let anonymous = [("impersonate-user", "system:anonymous"), ("impersonate-group", "system:masters")];
    let anonymous = who(&anonymous).await;
    assert_eq!(anonymous["groups"], json!(["system:masters", "system:unauthenticated"]));
}

/// A7.10: other users need the verb `impersonate` on every user, group, uid and extra.
#[tokio::test]
async fn others_need_to_be_allowed_each_part() {
    let cluster = cluster().await;
    let bearer = format!("Bearer {}", token_of("bob"));
    let act = async |headers: &[(&str, &str)]| {
        let headers: Vec<_> = headers.iter().copied().chain([("authorization", bearer.as_str())]).collect();
        let (status, response) =
            read(cluster.send(&headers, Method::GET, "/version", &Value::Null).await).await;
        (status, response["message"].as_str().unwrap_or_default().to_owned())
    };
    let refused = |what: &str, resource: &str, group: &str, scope: &str| {
        let head = format!("{what} is forbidden: User \"bob\" cannot impersonate");
        (403, format!("{head} resource \"{resource}\" in API group \"{group}\" {scope}"))
    };
    let cluster_wide = "at the cluster scope";
    let ann = ("impersonate-user", "ann");
    assert_eq!(act(&[ann]).await, refused("users \"ann\"", "users", "", cluster_wide));
    let named = json!({"apiGroups": [""], "resources": ["users"], "resourceNames": ["ann"], "verbs": ["impersonate"]});
    let role = json!({"metadata": {"name": "actor"}, "rules": [named]});
    cluster.create(&format!("{RBAC}/clusterroles"), role).await;
    let subjects = json!([{"kind": "User", "name": "bob"}]);
    let reference = json!({"kind": "ClusterRole", "name": "actor"});
    let binding = json!({"metadata": {"name": "actor"}, "roleRef": reference, "subjects": subjects});
    cluster.create(&format!("{RBAC}/clusterrolebindings"), binding).await;
    assert_eq!(act(&[ann]).await.0, 200);
    let eve = ("impersonate-user", "eve");
    assert_eq!(act(&[eve]).await, refused("users \"eve\"", "users", "", cluster_wide));
    let group = ("impersonate-group", "system:masters");
    assert_eq!(act(&[ann, group]).await, refused("groups \"system:masters\"", "groups", "", cluster_wide));
    let authentication = "authentication.k8s.io";
    assert_eq!(
        act(&[ann, ("impersonate-uid", "u")]).await,
        refused("uids.authentication.k8s.io \"u\"", "uids", authentication, cluster_wide)
    );
    assert_eq!(
        act(&[ann, ("impersonate-extra-scopes", "all")]).await,
        refused(
            "userextras.authentication.k8s.io \"all\"",
            "userextras/scopes",
            authentication,
            cluster_wide
        )
    );
    let robot = ("impersonate-user", "system:serviceaccount:default:robot");
    let scope = "in the namespace \"default\"";
    assert_eq!(act(&[robot]).await, refused("serviceaccounts \"robot\"", "serviceaccounts", "", scope));
    cluster.grant("bob", json!([rule(&["impersonate"], &["serviceaccounts"])])).await;
    assert_eq!(act(&[robot]).await.0, 200);
}

/// A7.10: groups, uids and extras without a user are refused.
#[tokio::test]
async fn groups_without_a_user_are_refused() {
    let cluster = cluster().await;
    for header in [("impersonate-group", "g"), ("impersonate-uid", "u"), ("impersonate-extra-a", "b")] {
        let (status, _) = cluster.request_impersonating(&[header], Method::GET, PODS, Value::Null).await;
        assert_eq!(status, 500, "{header:?}");
    }
}

/// A7.10: non-ASCII names are accepted; a request with a header that cannot be read is refused, also the administrator's.
#[tokio::test]
async fn no_impersonation_header_is_ignored() {
    let cluster = cluster().await;
    let jose = [("impersonate-user", "José")];
    let (status, refused) = cluster.request_impersonating(&jose, Method::GET, PODS, Value::Null).await;
    let message = "pods is forbidden: User \"José\" cannot list resource \"pods\" in API group \"\" in the namespace \"default\"";
    assert_eq!((status, &refused["message"]), (403, &json!(message)));
    for header in ["impersonate-user", "impersonate-group", "impersonate-uid", "impersonate-extra-team"] {
        let bearer = format!("Bearer {}", token_of(ADMIN));
        let request = http::Request::get(PODS)
            .header("authorization", bearer)
            .header("impersonate-user", "x")
            .header(header, http::HeaderValue::from_bytes(b"Jos\xe9").unwrap())
            .body(bytes::Bytes::new())
            .unwrap();
        // Of two users the first counts, as in Kubernetes.
        let expected = if header == "impersonate-user" { 403 } else { 400 };
        assert_eq!(cluster.server.handle(request).await.status(), expected, "{header}");
    }
    let request = http::Request::get(PODS)
        .header("authorization", format!("Bearer {}", token_of(ADMIN)))
        .header("impersonate-user", http::HeaderValue::from_bytes(b"Jos\xe9").unwrap())
        .body(bytes::Bytes::new())
        .unwrap();
    assert_eq!(cluster.server.handle(request).await.status(), 400);
}
