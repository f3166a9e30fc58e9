//! Access, rules and token reviews.

use gantry_json::{Value, json};
use http::Method;

use crate::cluster::{ADMIN, Cluster, cluster, rule};

const GROUP: &str = "/apis/authorization.k8s.io/v1";

async fn create_review(cluster: &Cluster, who: &str, kind: &str, spec: Value) -> (u16, Value) {
    let resource = format!("{}s", kind.to_lowercase());
    let path = if kind.starts_with("Local") {
        format!("{GROUP}/namespaces/default/{resource}")
    } else {
        format!("{GROUP}/{resource}")
    };
    let review = json!({"apiVersion": "authorization.k8s.io/v1", "kind": kind, "spec": spec});
    cluster.request_as(who, Method::POST, &path, review).await
}

fn pods(verb: &str) -> Value {
    json!({"namespace": "default", "verb": verb, "resource": "pods"})
}

/// A7.5: the administrator may do everything, and no reason is given.
#[tokio::test]
async fn the_administrator_may_do_everything() {
    let cluster = cluster().await;
    for spec in [
        json!({"resourceAttributes": pods("create")}),
        json!({"nonResourceAttributes": {"path": "/metrics", "verb": "get"}}),
        json!({"resourceAttributes": {"verb": "*", "group": "*", "resource": "*"}}),
    ] {
        let (status, review) = create_review(&cluster, ADMIN, "SelfSubjectAccessReview", spec.clone()).await;
        assert_eq!((status, &review["status"]), (201, &json!({"allowed": true})), "{spec}");
        assert_eq!(review["spec"], spec, "the response includes the spec");
    }
}

/// A7.5: the status has the binding that allows the request, or denies it.
#[tokio::test]
async fn a_review_names_the_allowing_binding() {
    let cluster = cluster().await;
    cluster.grant("bob", json!([rule(&["get"], &["pods"])])).await;
    let reason = "RBAC: allowed by RoleBinding \"bob-bob/default\" of Role \"bob\" to User \"bob\"";
    let allowed = json!({"allowed": true, "reason": reason});
    let attributes = |verb: &str| json!({"resourceAttributes": pods(verb)});
    let (_, own) = create_review(&cluster, "bob", "SelfSubjectAccessReview", attributes("get")).await;
    assert_eq!(own["status"], allowed);
    let about = |verb: &str| json!({"user": "bob", "resourceAttributes": pods(verb)});
    let (status, other) = create_review(&cluster, ADMIN, "SubjectAccessReview", about("get")).await;
    assert_eq!((status, &other["status"]), (201, &allowed));
    let (_, other) = create_review(&cluster, ADMIN, "SubjectAccessReview", about("delete")).await;
    assert_eq!(other["status"], json!({"allowed": false}));
    let (_, local) = create_review(&cluster, ADMIN, "LocalSubjectAccessReview", about("get")).await;
    assert_eq!(local["status"], allowed);
    assert_eq!(local["metadata"]["namespace"], "default");
    let (status, _) = create_review(&cluster, "bob", "SubjectAccessReview", about("get")).await;
    assert_eq!(status, 403, "reviews of other users require a permission");
}

/// A7.5: a review of groups needs no user; `system:masters` may do everything.
#[tokio::test]
async fn a_review_may_be_about_a_group() {
    let cluster = cluster().await;
    let spec = json!({"groups": ["system:masters"], "resourceAttributes": pods("get")});
    let (_, review) = create_review(&cluster, ADMIN, "SubjectAccessReview", spec).await;
    assert_eq!(review["status"], json!({"allowed": true}));
}

/// A7.5: reviews without attributes, with both kinds, or without a subject are refused.
#[tokio::test]
async fn invalid_reviews_are_refused() {
    let cluster = cluster().await;
    let (status, refused) = create_review(&cluster, ADMIN, "SelfSubjectAccessReview", json!({})).await;
    let why = "exactly one of nonResourceAttributes or resourceAttributes must be specified";
    let message = format!(".authorization.k8s.io \"\" is invalid: spec: Invalid value: null: {why}");
    assert_eq!((status, &refused["message"]), (422, &json!(message)));
    assert_eq!(refused["details"].get("kind"), None);
    let path = json!({"path": "/x", "verb": "get"});
    let both = json!({"resourceAttributes": pods("get"), "nonResourceAttributes": path});
    let (_, refused) = create_review(&cluster, ADMIN, "SelfSubjectAccessReview", both).await;
    let shown = format!("Invalid value: {{\"Path\":\"/x\",\"Verb\":\"get\"}}: {why}");
    assert_eq!(refused["details"]["causes"][0]["message"], shown);
    let without_user = json!({"resourceAttributes": pods("get")});
    let (_, refused) = create_review(&cluster, ADMIN, "SubjectAccessReview", without_user).await;
    let message = ".authorization.k8s.io \"\" is invalid: spec.user: Invalid value: \"\": at least one of user or group must be specified";
    assert_eq!(refused["message"], message);
    let elsewhere = json!({"user": "bob", "resourceAttributes": {"namespace": "kube-system", "verb": "get", "resource": "pods"}});
    let (status, refused) = create_review(&cluster, ADMIN, "LocalSubjectAccessReview", elsewhere).await;
    let message = "Invalid value: \"kube-system\": must match metadata.namespace";
    assert_eq!((status, &refused["details"]["causes"][0]["message"]), (422, &json!(message)));
}

/// A7.6: the status has all rules of the caller in a namespace, and the spec is empty.
#[tokio::test]
async fn ones_own_rules_are_listed() {
    let cluster = cluster().await;
    let rules = async |who: &str| {
        let spec = json!({"namespace": "default"});
        let (status, review) = create_review(&cluster, who, "SelfSubjectRulesReview", spec).await;
        assert_eq!((status, &review["spec"]), (201, &json!({})));
        assert_eq!(review["status"]["incomplete"], false);
        review["status"].clone()
    };
    let all = rules(ADMIN).await;
    assert_eq!(all["resourceRules"], json!([{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}]));
    assert_eq!(all["nonResourceRules"], json!([{"verbs": ["*"], "nonResourceURLs": ["*"]}]));
    let mine = json!({"verbs": ["get"], "apiGroups": [""], "resources": ["pods"], "resourceNames": ["p"]});
    cluster.grant("bob", json!([mine])).await;
    let has = |status: &Value| status["resourceRules"].as_array().unwrap().contains(&mine);
    assert!(has(&rules("bob").await) && !has(&rules("eve").await));
    let (status, refused) = create_review(&cluster, "bob", "SelfSubjectRulesReview", json!({})).await;
    assert_eq!((status, &refused["message"]), (400, &json!("no namespace on request")));
}

/// A7.5: reviews are not stored, and support no other verb.
#[tokio::test]
async fn reviews_are_created_only() {
    let cluster = cluster().await;
    let path = format!("{GROUP}/selfsubjectaccessreviews");
    assert_eq!(cluster.get(ADMIN, &path).await.0, 405);
    assert_eq!(cluster.get(ADMIN, &format!("{path}/x")).await.0, 405);
}
