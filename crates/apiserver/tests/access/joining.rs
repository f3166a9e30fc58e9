//! Bootstrap tokens, and the permissions to approve and sign requests for certificates.

use gantry_certificates::NewRequest;
use gantry_formats::base64;
use gantry_json::{Value, json};
use http::Method;

use crate::cluster::{ADMIN, Cluster, RBAC, cluster, read};

const REQUESTS: &str = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
const WHO: &str = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
const INFO: &str = "/api/v1/namespaces/kube-public/configmaps/cluster-info";
const TOKEN: &str = "abcdef.0123456789abcdef";

async fn with_token() -> Cluster {
    let cluster = cluster().await;
    let token = json!({
        "metadata": {"name": "bootstrap-token-abcdef"}, "type": "bootstrap.kubernetes.io/token",
        "stringData": {
            "token-id": "abcdef", "token-secret": "0123456789abcdef", "expiration": "2026-01-01T12:01:00Z",
            "usage-bootstrap-authentication": "true", "auth-extra-groups": "system:bootstrappers:nodes",
        },
    });
    cluster.create("/api/v1/namespaces/kube-system/secrets", token).await;
    cluster
}

fn request(name: &str, common_name: &str, signer: &str) -> Value {
    let new = NewRequest::of_client(common_name, "system:nodes").unwrap();
    json!({"metadata": {"name": name}, "spec": {
        "request": base64::encode(new.request.as_bytes()), "signerName": signer, "usages": ["client auth"],
        "username": "someone-else", "groups": ["system:masters"],
    }})
}

/// Grants these rules in the whole cluster to a user.
async fn grant(cluster: &Cluster, user: &str, rules: Value) {
    cluster
        .create(&format!("{RBAC}/clusterroles"), json!({"metadata": {"name": user}, "rules": rules}))
        .await;
    let binding = json!({
        "metadata": {"name": user}, "roleRef": {"kind": "ClusterRole", "name": user},
        "subjects": [{"kind": "User", "name": user}],
    });
    cluster.create(&format!("{RBAC}/clusterrolebindings"), binding).await;
}

fn rule(resources: &[&str], names: &[&str], verbs: &[&str]) -> Value {
    json!({"apiGroups": ["certificates.k8s.io"], "resources": resources, "resourceNames": names, "verbs": verbs})
}

#[tokio::test]
async fn a_bootstrap_token_is_a_user_until_it_expires() {
    let cluster = with_token().await;
    let (status, who) = cluster.request_with_token(TOKEN, Method::POST, WHO, json!({})).await;
    assert_eq!(status, 201, "{who}");
    let user = &who["status"]["userInfo"];
    assert_eq!(user["username"], "system:bootstrap:abcdef");
    let groups = ["system:bootstrappers", "system:bootstrappers:nodes", "system:authenticated"];
    assert_eq!(user["groups"], json!(groups));
    for wrong in ["abcdef.0123456789abcdee", "abcdeg.0123456789abcdef", "abcdef.0123"] {
        assert_eq!(cluster.request_with_token(wrong, Method::POST, WHO, json!({})).await.0, 401, "{wrong}");
    }
    cluster.clock.wait(60);
    assert_eq!(
        cluster.request_with_token(TOKEN, Method::POST, WHO, json!({})).await.0,
        401,
        "the token has expired"
    );
}

#[tokio::test]
async fn the_requestor_is_the_authenticated_user() {
    let cluster = with_token().await;
    grant(
        &cluster,
        "system:bootstrap:abcdef",
        json!([rule(&["certificatesigningrequests"], &[], &["create"])]),
    )
    .await;
    let body = request("a", "system:node:a", "kubernetes.io/kube-apiserver-client-kubelet");
    let (status, created) = cluster.request_with_token(TOKEN, Method::POST, REQUESTS, body).await;
    assert_eq!(status, 201, "{created}");
    assert_eq!(created["spec"]["username"], "system:bootstrap:abcdef");
    assert_eq!(created["spec"]["groups"][0], "system:bootstrappers");
}

#[tokio::test]
async fn approving_and_signing_require_a_permission_for_the_signer() {
    let cluster = cluster().await;
    cluster.create(REQUESTS, request("a", "bob", "example.com/one")).await;
    let parts = ["certificatesigningrequests/approval", "certificatesigningrequests/status"];
    let update = rule(&parts, &[], &["update", "patch"]);
    grant(
        &cluster,
        "eve",
        json!([update.clone(), rule(&["signers"], &["example.com/other"], &["approve", "sign"])]),
    )
    .await;
    grant(&cluster, "bob", json!([update, rule(&["signers"], &["example.com/*"], &["approve", "sign"])]))
        .await;
    let mut approved = cluster.get(ADMIN, &format!("{REQUESTS}/a")).await.1;
    approved["status"] = json!({"conditions": [{"type": "Approved", "status": "True", "reason": "R"}]});
    let approval = format!("{REQUESTS}/a/approval");
    let (status, refused) = cluster.request_as("eve", Method::PUT, &approval, approved.clone()).await;
    let message = "certificatesigningrequests.certificates.k8s.io \"a\" is forbidden: user not permitted to approve requests \
                   with signerName \"example.com/one\"";
    assert_eq!((status, refused["message"].as_str()), (403, Some(message)));
    let (status, mut found) = cluster.request_as("bob", Method::PUT, &approval, approved).await;
    assert_eq!(status, 200, "{found}");
    assert_eq!(found["status"]["conditions"][0]["lastUpdateTime"], "2026-01-01T12:00:00Z");
    let failed = json!({"type": "Failed", "status": "True", "reason": "R"});
    found["status"]["conditions"].as_array_mut().unwrap().push(failed);
    let status_path = format!("{REQUESTS}/a/status");
    let (status, refused) = cluster.request_as("eve", Method::PUT, &status_path, found.clone()).await;
    assert_eq!(status, 403, "{refused}");
    assert_eq!(cluster.request_as("bob", Method::PUT, &status_path, found).await.0, 200);
}

/// A node that renews its certificate cannot become another one.
#[tokio::test]
async fn a_node_requests_its_own_certificates_only() {
    let cluster = cluster().await;
    let signer = "kubernetes.io/kube-apiserver-client-kubelet";
    let node = [("impersonate-user", "system:node:a"), ("impersonate-group", "system:nodes")];
    let own = request("own", "system:node:a", signer);
    assert_eq!(cluster.request_impersonating(&node, Method::POST, REQUESTS, own).await.0, 201);
    let other = request("other", "system:node:b", signer);
    let (status, refused) = cluster.request_impersonating(&node, Method::POST, REQUESTS, other).await;
    assert_eq!(status, 403, "{refused}");
    assert!(
        refused["message"].as_str().unwrap().ends_with("can only create a node CSR with CN=system:node:a")
    );
}

#[tokio::test]
async fn anonymous_reads_of_cluster_info_require_a_role() {
    let cluster = cluster().await;
    let info = json!({"metadata": {"name": "cluster-info"}, "data": {"kubeconfig": "K"}});
    cluster.create("/api/v1/namespaces/kube-public/configmaps", info).await;
    let anonymous = async || read(cluster.send(&[], Method::GET, INFO, &Value::Null).await).await.0;
    assert_eq!(anonymous().await, 403);
    let namespace = format!("{RBAC}/namespaces/kube-public");
    let rules = json!([{"apiGroups": [""], "resources": ["configmaps"], "resourceNames": ["cluster-info"], "verbs": ["get"]}]);
    cluster
        .create(&format!("{namespace}/roles"), json!({"metadata": {"name": "info"}, "rules": rules}))
        .await;
    let binding = json!({
        "metadata": {"name": "info"}, "roleRef": {"kind": "Role", "name": "info"},
        "subjects": [{"kind": "User", "name": "system:anonymous"}],
    });
    cluster.create(&format!("{namespace}/rolebindings"), binding).await;
    assert_eq!(anonymous().await, 200);
    let others = "/api/v1/namespaces/kube-public/configmaps";
    assert_eq!(read(cluster.send(&[], Method::GET, others, &Value::Null).await).await.0, 401);
}
