//! Service account tokens: requested, used, expired.

use std::sync::Arc;

use gantry_apiserver::Access;
use gantry_formats::base64;
use gantry_json::{Value, json};
use http::Method;

use crate::cluster::{ADMIN, Cluster, PODS, RBAC, cluster, on, rbac_access, rule};

const ACCOUNTS: &str = "/api/v1/namespaces/default/serviceaccounts";

async fn with_robot() -> (Cluster, Value) {
    let cluster = cluster().await;
    let robot = cluster.create(ACCOUNTS, json!({"metadata": {"name": "robot"}})).await;
    (cluster, robot)
}

/// Requests a token of the account `robot`.
async fn request(cluster: &Cluster, spec: Value) -> (u16, Value) {
    let path = format!("{ACCOUNTS}/robot/token");
    let kind = json!({"kind": "TokenRequest", "apiVersion": "authentication.k8s.io/v1", "spec": spec});
    cluster.request_as(ADMIN, Method::POST, &path, kind).await
}

async fn token(cluster: &Cluster, spec: Value) -> String {
    let (status, response) = request(cluster, spec).await;
    assert_eq!(status, 201, "{response}");
    response["status"]["token"].as_str().unwrap().to_owned()
}

fn claims(token: &str) -> Value {
    gantry_json::from_slice(&base64::decode_url(token.split('.').nth(1).unwrap()).unwrap()).unwrap()
}

async fn status_with(cluster: &Cluster, token: &str) -> u16 {
    cluster.request_with_token(token, Method::GET, PODS, Value::Null).await.0
}

async fn pod(cluster: &Cluster, name: &str, account: &str) -> Value {
    let spec = json!({
        "serviceAccountName": account, "automountServiceAccountToken": false, "nodeName": "n",
        "containers": [{"name": "c", "image": "nginx:1"}],
    });
    cluster.create(PODS, json!({"metadata": {"name": name}, "spec": spec})).await
}

/// A7.8: the response and the claims of the token.
#[tokio::test]
async fn token_claims_have_subject_and_expiry() {
    let (cluster, robot) = with_robot().await;
    let (status, response) = request(&cluster, json!({})).await;
    assert_eq!(status, 201, "{response}");
    let issuer = "https://kubernetes.default.svc.cluster.local";
    assert_eq!(
        response["spec"],
        json!({"audiences": [issuer], "expirationSeconds": 3600, "boundObjectRef": null})
    );
    let metadata = &robot["metadata"];
    let mut own = response["metadata"].clone();
    let owners = own.as_object_mut().unwrap().remove("managedFields").unwrap();
    assert_eq!(owners[0]["subresource"], "token");
    assert_eq!(
        own,
        json!({"name": "robot", "namespace": "default", "uid": metadata["uid"], "creationTimestamp": metadata["creationTimestamp"]})
    );
    assert_eq!(response["status"]["expirationTimestamp"], "2026-01-01T13:00:00Z");
    let claims = claims(response["status"]["token"].as_str().unwrap());
    let account = json!({"name": "robot", "uid": metadata["uid"]});
    let noon = 1_767_268_800;
    assert_eq!(
        claims,
        json!({
            "iss": issuer, "sub": "system:serviceaccount:default:robot", "aud": [issuer], "exp": noon + 3600,
            "iat": noon, "nbf": noon, "jti": claims["jti"],
            "kubernetes.io": {"namespace": "default", "serviceaccount": account},
        })
    );
    let header = response["status"]["token"].as_str().unwrap().split('.').next().unwrap().to_owned();
    let header: Value = gantry_json::from_slice(&base64::decode_url(&header).unwrap()).unwrap();
    assert!(header["alg"] == "RS256" && header["kid"].is_string(), "{header}");
}

/// A7.8: invalid lifetimes, an absent account, a different name.
#[tokio::test]
async fn requests_for_tokens_are_checked() {
    let (cluster, _) = with_robot().await;
    let (status, refused) = request(&cluster, json!({"expirationSeconds": 60})).await;
    let message = "TokenRequest.authentication.k8s.io \"\" is invalid: spec.expirationSeconds: Invalid value: 60: may not specify \
                   a duration less than 10 minutes";
    assert_eq!((status, &refused["message"]), (422, &json!(message)));
    assert_eq!(request(&cluster, json!({"expirationSeconds": 600})).await.0, 201);
    let (status, refused) = request(&cluster, json!({"expirationSeconds": (1_i64 << 32) + 1})).await;
    let why = refused["message"].as_str().unwrap();
    assert!(status == 422 && why.ends_with("may not specify a duration larger than 2^32 seconds"), "{why}");
    let missing = format!("{ACCOUNTS}/none/token");
    let (status, refused) = cluster.request_as(ADMIN, Method::POST, &missing, json!({"spec": {}})).await;
    assert_eq!((status, &refused["message"]), (404, &json!("serviceaccounts \"none\" not found")));
    let other = json!({"metadata": {"name": "other"}, "spec": {}});
    let (status, refused) =
        cluster.request_as(ADMIN, Method::POST, &format!("{ACCOUNTS}/robot/token"), other).await;
    let message = "Invalid value: \"other\": must match the service account name if specified";
    assert_eq!((status, &refused["details"]["causes"][0]["message"]), (422, &json!(message)));
    assert_eq!(cluster.get(ADMIN, &format!("{ACCOUNTS}/robot/token")).await.0, 405);
}

/// A7.8, A7.1, A7.3: a token authenticates its account, which has no permissions until a binding grants some.
#[tokio::test]
async fn a_token_authenticates_its_account() {
    let (cluster, robot) = with_robot().await;
    let token = token(&cluster, json!({})).await;
    let (status, refused) = cluster.request_with_token(&token, Method::GET, PODS, Value::Null).await;
    let message = "pods is forbidden: User \"system:serviceaccount:default:robot\" cannot list resource \"pods\" in API group \
                   \"\" in the namespace \"default\"";
    assert_eq!((status, &refused["message"]), (403, &json!(message)));
    let role = json!({"metadata": {"name": "r"}, "rules": [rule(&["list"], &["pods"])]});
    cluster.create(&format!("{RBAC}/namespaces/default/roles"), role).await;
    let subjects = json!([{"kind": "ServiceAccount", "name": "robot", "namespace": "default"}]);
    let binding =
        json!({"metadata": {"name": "b"}, "roleRef": {"kind": "Role", "name": "r"}, "subjects": subjects});
    cluster.create(&format!("{RBAC}/namespaces/default/rolebindings"), binding).await;
    assert_eq!(status_with(&cluster, &token).await, 200);
    let who = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
    let (_, review) = cluster.request_with_token(&token, Method::POST, who, json!({})).await;
    let user = &review["status"]["userInfo"];
    assert_eq!(user["username"], "system:serviceaccount:default:robot");
    assert_eq!(user["uid"], robot["metadata"]["uid"]);
    let groups = json!(["system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"]);
    assert_eq!(user["groups"], groups);
    let id = format!("JTI={}", claims(&token)["jti"].as_str().unwrap());
    assert_eq!(user["extra"], json!({"authentication.kubernetes.io/credential-id": [id]}));
}

/// A7.8: a token is invalid after its expiry or the deletion of its account, and valid for its audience only.
#[tokio::test]
async fn a_token_expires() {
    let (cluster, _) = with_robot().await;
    let short = token(&cluster, json!({"expirationSeconds": 600})).await;
    let long = token(&cluster, json!({})).await;
    let foreign = token(&cluster, json!({"audiences": ["me"]})).await;
    assert_eq!(status_with(&cluster, &short).await, 403, "authenticated, without permissions");
    assert_eq!(status_with(&cluster, &foreign).await, 401, "for another audience");
    cluster.clock.wait(700);
    assert_eq!(status_with(&cluster, &short).await, 401, "expired");
    assert_eq!(status_with(&cluster, &long).await, 403);
    let path = format!("{ACCOUNTS}/robot");
    assert_eq!(cluster.request_as(ADMIN, Method::DELETE, &path, Value::Null).await.0, 200);
    assert_eq!(status_with(&cluster, &long).await, 401, "of a deleted account");
    cluster.create(ACCOUNTS, json!({"metadata": {"name": "robot"}})).await;
    assert_eq!(status_with(&cluster, &long).await, 401, "of an earlier account of that name");
}

/// A7.8: a token bound to a pod has claims about it, and is invalid after its deletion.
#[tokio::test]
async fn a_token_may_be_bound_to_a_pod() {
    let (cluster, _) = with_robot().await;
    let pod = pod(&cluster, "p", "robot").await;
    let reference = |name: &str, uid: &str| json!({"boundObjectRef": {"kind": "Pod", "apiVersion": "v1", "name": name, "uid": uid}});
    let uid = pod["metadata"]["uid"].as_str().unwrap();
    let bound = token(&cluster, reference("p", uid)).await;
    let own = claims(&bound)["kubernetes.io"].clone();
    assert_eq!(own["pod"], json!({"name": "p", "uid": uid}));
    assert_eq!(own["node"], json!({"name": "n"}), "included, though the node does not exist");
    assert_eq!(status_with(&cluster, &bound).await, 403);
    let who = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
    let (_, review) = cluster.request_with_token(&bound, Method::POST, who, json!({})).await;
    let extra = &review["status"]["userInfo"]["extra"];
    assert_eq!(extra["authentication.kubernetes.io/pod-name"], json!(["p"]));
    assert_eq!(extra["authentication.kubernetes.io/pod-uid"], json!([uid]));
    assert_eq!(extra["authentication.kubernetes.io/node-name"], json!(["n"]));
    let (status, refused) = request(&cluster, reference("q", "")).await;
    assert_eq!((status, &refused["message"]), (404, &json!("pods \"q\" not found")));
    let (status, refused) = request(&cluster, reference("p", "x")).await;
    let message = "Operation cannot be fulfilled on Pod \"p\": the UID in the bound object reference (x) does not match the UID \
                   in record. The object might have been deleted and then recreated";
    assert_eq!((status, &refused["message"]), (409, &json!(message)));
    let now = format!("{PODS}/p?gracePeriodSeconds=0");
    assert_eq!(cluster.request_as(ADMIN, Method::DELETE, &now, Value::Null).await.0, 200);
    assert_eq!(status_with(&cluster, &bound).await, 401);
}

/// A7.8: tokens can be bound to pods of the account, secrets and nodes.
#[tokio::test]
async fn tokens_are_bound_to_pods_secrets_and_nodes() {
    let (cluster, _) = with_robot().await;
    cluster.create(ACCOUNTS, json!({"metadata": {"name": "other"}})).await;
    pod(&cluster, "p", "other").await;
    let bind = async |kind: &str, version: &str| {
        let spec = json!({"boundObjectRef": {"kind": kind, "apiVersion": version, "name": "p"}});
        let (status, response) = request(&cluster, spec).await;
        (status, response["message"].as_str().unwrap_or_default().to_owned())
    };
    let message =
        "cannot bind token for serviceaccount \"robot\" to pod running with different serviceaccount name.";
    assert_eq!(bind("Pod", "v1").await, (400, message.to_owned()));
    let message = "cannot bind token to object of type apps/v1, Kind=Deployment";
    assert_eq!(bind("Deployment", "apps/v1").await, (400, message.to_owned()));
    assert_eq!(bind("Secret", "v1").await, (404, "secrets \"p\" not found".to_owned()));
    cluster.create("/api/v1/namespaces/default/secrets", json!({"metadata": {"name": "p"}})).await;
    assert_eq!(bind("Secret", "v1").await.0, 201);
    cluster.create("/api/v1/nodes", json!({"metadata": {"name": "p"}})).await;
    assert_eq!(bind("Node", "v1").await.0, 201);
}

/// A7.7: token reviews return the user and the audiences.
#[tokio::test]
async fn a_token_is_reviewed() {
    let (cluster, _) = with_robot().await;
    let review = async |spec: Value| {
        let path = "/apis/authentication.k8s.io/v1/tokenreviews";
        let (status, response) = cluster.request_as(ADMIN, Method::POST, path, json!({"spec": spec})).await;
        (status, if status == 201 { response["status"].clone() } else { response["message"].clone() })
    };
    let good = token(&cluster, json!({})).await;
    let (status, result) = review(json!({"token": good})).await;
    assert_eq!((status, &result["authenticated"]), (201, &json!(true)));
    assert_eq!(result["user"]["username"], "system:serviceaccount:default:robot");
    assert_eq!(result["audiences"], json!(["https://kubernetes.default.svc.cluster.local"]));
    let bad = json!({"user": {}, "error": "invalid bearer token"});
    assert_eq!(review(json!({"token": "nonsense"})).await, (201, bad));
    let needed = json!("token is required for TokenReview in authentication");
    assert_eq!(review(json!({"token": ""})).await, (400, needed));
    let mine = token(&cluster, json!({"audiences": ["me", "you"]})).await;
    let (_, result) = review(json!({"token": mine, "audiences": ["you", "them"]})).await;
    assert_eq!((&result["authenticated"], &result["audiences"]), (&json!(true), &json!(["you"])));
    let (_, result) = review(json!({"token": mine})).await;
    assert_eq!(result.get("authenticated"), None);
    let why = result["error"].as_str().unwrap();
    assert!(why.contains("is invalid for the target audiences"), "{why}");
    let (_, result) = review(json!({"token": "bob-token", "audiences": ["another"]})).await;
    assert_eq!(result["user"], json!({"username": "bob", "groups": ["system:authenticated"]}));
    assert_eq!(result["audiences"], json!(["another"]));
}

/// A7.8: servers on one store accept each other's tokens; another cluster does not.
#[tokio::test]
async fn servers_on_one_store_share_the_key() {
    let (first, _) = with_robot().await;
    let second = on(Arc::clone(&first.store), rbac_access()).await;
    let of_second = token(&second, json!({})).await;
    let of_first = token(&first, json!({})).await;
    assert_eq!(status_with(&first, &of_second).await, 403);
    assert_eq!(status_with(&second, &of_first).await, 403);
    let third = on(Arc::clone(&first.store), rbac_access()).await;
    assert_eq!(status_with(&third, &of_first).await, 403, "also after a restart");
    let (other_cluster, _) = with_robot().await;
    assert_eq!(status_with(&other_cluster, &of_first).await, 401);
    token(&other_cluster, json!({})).await;
    assert_eq!(status_with(&other_cluster, &of_first).await, 401, "signed with another key");
    let renamed =
        on(Arc::clone(&first.store), Access { issuer: "https://other".to_owned(), ..rbac_access() }).await;
    assert_eq!(status_with(&renamed, &of_first).await, 401, "from another issuer");
}

/// A7.8: tokens can be verified with the published keys.
#[tokio::test]
async fn the_key_is_published() {
    let (cluster, _) = with_robot().await;
    let token = token(&cluster, json!({})).await;
    let (status, keys) = cluster.get(ADMIN, "/openid/v1/jwks").await;
    assert_eq!(status, 200);
    let header: Value =
        gantry_json::from_slice(&base64::decode_url(token.split('.').next().unwrap()).unwrap()).unwrap();
    assert_eq!(keys["keys"][0]["kid"], header["kid"]);
    assert_eq!((&keys["keys"][0]["kty"], &keys["keys"][0]["e"]), (&json!("RSA"), &json!("AQAB")));
    assert_eq!(base64::decode_url(keys["keys"][0]["n"].as_str().unwrap()).unwrap().len(), 256);
    let (_, document) = cluster.get(ADMIN, "/.well-known/openid-configuration").await;
    assert_eq!(document["issuer"], claims(&token)["iss"]);
    assert_eq!(cluster.get("bob", "/openid/v1/jwks").await.0, 403);
}

/// A7.8: a token stays valid for a short time while its bound object is being deleted.
#[tokio::test]
async fn a_token_of_a_terminating_account_is_valid_for_a_minute() {
    let cluster = cluster().await;
    let held = json!({"metadata": {"name": "robot", "finalizers": ["example.com/f"]}});
    cluster.create(ACCOUNTS, held).await;
    let token = token(&cluster, json!({})).await;
    assert_eq!(
        cluster.request_as(ADMIN, Method::DELETE, &format!("{ACCOUNTS}/robot"), Value::Null).await.0,
        200
    );
    assert_eq!(status_with(&cluster, &token).await, 403);
    cluster.clock.wait(61);
    assert_eq!(status_with(&cluster, &token).await, 401);
}

/// A7.8: a token bound to a node or a secret is invalid after its deletion.
#[tokio::test]
async fn a_token_is_invalid_once_its_bound_object_is_deleted() {
    let (cluster, _) = with_robot().await;
    for (kind, path) in [("Node", "/api/v1/nodes"), ("Secret", "/api/v1/namespaces/default/secrets")] {
        cluster.create(path, json!({"metadata": {"name": "x"}})).await;
        let spec = json!({"boundObjectRef": {"kind": kind, "apiVersion": "v1", "name": "x"}});
        let token = token(&cluster, spec).await;
        assert_eq!(status_with(&cluster, &token).await, 403);
        assert_eq!(cluster.request_as(ADMIN, Method::DELETE, &format!("{path}/x"), Value::Null).await.0, 200);
        assert_eq!(status_with(&cluster, &token).await, 401, "{kind}");
    }
}

/// A7.8: a token request is a create, with its options, such as strict field validation.
#[tokio::test]
async fn a_request_for_a_token_has_the_options_of_a_creation() {
    let (cluster, _) = with_robot().await;
    let status_of = async |options: &str| {
        let body =
            json!({"kind": "TokenRequest", "apiVersion": "authentication.k8s.io/v1", "spec": {}, "odd": 1});
        cluster.request_as(ADMIN, Method::POST, &format!("{ACCOUNTS}/robot/token{options}"), body).await.0
    };
    assert_eq!(status_of("").await, 201);
    assert_eq!(status_of("?fieldValidation=Strict").await, 400);
    assert_eq!(status_of("?fieldValidation=x").await, 422);
}
