//! Nodes that join: requests for certificates, and bootstrap tokens.

use std::time::Duration;

use gantry_certificates::{NewRequest, is_signed_by, lifetime, public_key_pin};
use gantry_controllers::{ClusterSigner, Controller};
use gantry_json::{Value, json};
use gantry_serving::{Pki, ServerNames};

use crate::cluster::{Cluster, NOON};

const REQUESTS: &str = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
const INFO: &str = "/api/v1/namespaces/kube-public/configmaps/cluster-info";
const SECRETS: &str = "/api/v1/namespaces/kube-system/secrets";

/// Base64, for fields of bytes.
fn encoded(text: &str) -> String {
    let value = k8s_openapi::ByteString(text.as_bytes().to_vec());
    gantry_json::to_value(&value).as_str().unwrap().to_owned()
}

fn decoded(value: &Value) -> Vec<u8> {
    gantry_json::from_value::<k8s_openapi::ByteString>(value.clone()).unwrap().0
}

async fn with_joining() -> Cluster {
    let mut cluster = Cluster::without_controllers().await;
    let authority = Pki::in_memory(&ServerNames::default()).unwrap().signer;
    cluster.start_with(|options| {
        options.controllers.extend(Controller::JOINING);
        options.controllers.extend(Controller::WITH_API_SERVER);
        options.signer = Some(ClusterSigner { authority, longest: ClusterSigner::LONGEST });
    });
    cluster.settle().await;
    cluster
}

fn request(name: &str, signer: &str, usages: &[&str]) -> Value {
    let new = NewRequest::of_client("system:node:a", "system:nodes").unwrap();
    json!({
        "metadata": {"name": name},
        "spec": {"request": encoded(&new.request), "signerName": signer, "usages": usages},
    })
}

const NODE_CLIENT: &str = "kubernetes.io/kube-apiserver-client-kubelet";

#[tokio::test(start_paused = true)]
async fn the_request_of_a_node_is_approved_signed_and_deleted_after_an_hour() {
    let cluster = with_joining().await;
    cluster.send("POST", REQUESTS, request("a", NODE_CLIENT, &["digital signature", "client auth"])).await;
    cluster.settle().await;
    let path = format!("{REQUESTS}/a");
    let found = cluster.get(&path).await;
    let approved = &found["status"]["conditions"][0];
    assert_eq!(
        (approved["type"].as_str(), approved["reason"].as_str()),
        (Some("Approved"), Some("AutoApproved"))
    );
    assert_eq!(approved["message"], "Auto approving kubelet client certificate after SubjectAccessReview.");
    let certificate = decoded(&found["status"]["certificate"]);
    assert_eq!(public_key_pin(&certificate).len(), 1);
    let lifetime = lifetime(&certificate).unwrap();
    // Five minutes before the signature, which was some seconds after the start of the story.
    assert!((NOON - 300..NOON - 290).contains(&lifetime.begins), "{lifetime:?}");
    assert_eq!(lifetime.ends - lifetime.begins, 365 * 24 * 3600);
    tokio::time::sleep(Duration::from_secs(3500)).await;
    assert!(cluster.exists(&path).await);
    tokio::time::sleep(Duration::from_secs(200)).await;
    assert!(!cluster.exists(&path).await);
}

#[tokio::test(start_paused = true)]
async fn other_requests_wait_for_approval_and_fail_if_their_signer_refuses_them() {
    let cluster = with_joining().await;
    let signer = "kubernetes.io/kube-apiserver-client";
    cluster.send("POST", REQUESTS, request("b", signer, &["client auth", "server auth"])).await;
    cluster.settle().await;
    let path = format!("{REQUESTS}/b");
    assert_eq!(cluster.get(&path).await["status"], json!({}));
    let approval =
        json!({"status": {"conditions": [{"type": "Approved", "status": "True", "reason": "ByHand"}]}});
    cluster.send("PATCH", &format!("{path}/approval"), approval).await;
    cluster.settle().await;
    let status = cluster.get(&path).await["status"].clone();
    assert_eq!(status["conditions"][1]["type"], "Failed");
    assert_eq!(status["conditions"][1]["message"], "invalid usage for client certificate: server auth");
    assert!(status["certificate"].is_null());
}

#[tokio::test(start_paused = true)]
async fn a_token_signs_cluster_info_until_it_expires() {
    let cluster = with_joining().await;
    let info = json!({"metadata": {"name": "cluster-info"}, "data": {"kubeconfig": "K"}});
    cluster.send("POST", "/api/v1/namespaces/kube-public/configmaps", info).await;
    let token = json!({
        "metadata": {"name": "bootstrap-token-abcdef"}, "type": "bootstrap.kubernetes.io/token",
        "stringData": {
            "token-id": "abcdef", "token-secret": "0123456789abcdef", "usage-bootstrap-signing": "true",
            "expiration": "2026-01-01T13:00:00Z",
        },
    });
    cluster.send("POST", SECRETS, token).await;
    cluster.settle().await;
    let data = cluster.get(INFO).await["data"].clone();
    let signature = data["jws-kubeconfig-abcdef"].as_str().unwrap();
    assert!(is_signed_by(signature, "K", "abcdef", "0123456789abcdef"));
    tokio::time::sleep(Duration::from_secs(3601)).await;
    cluster.settle().await;
    assert!(!cluster.exists(&format!("{SECRETS}/bootstrap-token-abcdef")).await);
    assert_eq!(cluster.get(INFO).await["data"], json!({"kubeconfig": "K"}));
}

#[tokio::test(start_paused = true)]
async fn an_unused_volume_attributes_class_is_deleted() {
    let cluster = with_joining().await;
    let classes = "/apis/storage.k8s.io/v1/volumeattributesclasses";
    let class =
        json!({"metadata": {"name": "fast"}, "driverName": "csi.example.com", "parameters": {"iops": "9"}});
    cluster.send("POST", classes, class).await;
    let claims = "/api/v1/namespaces/default/persistentvolumeclaims";
    let claim = json!({"metadata": {"name": "data"}, "spec": {
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}},
        "volumeAttributesClassName": "fast",
    }});
    cluster.send("POST", claims, claim).await;
    cluster.settle().await;
    let class = format!("{classes}/fast");
    cluster.send("DELETE", &class, json!(null)).await;
    cluster.settle().await;
    assert!(cluster.exists(&class).await, "the class is used by a claim");
    cluster.send("DELETE", &format!("{claims}/data"), json!(null)).await;
    cluster.settle().await;
    assert!(!cluster.exists(&class).await);
}

#[tokio::test(start_paused = true)]
async fn endpoints_that_are_written_by_hand_get_a_slice() {
    let cluster = with_joining().await;
    let service = json!({"metadata": {"name": "db"}, "spec": {"ports": [{"port": 5432}]}});
    cluster.send("POST", "/api/v1/namespaces/default/services", service).await;
    let endpoints = json!({
        "metadata": {"name": "db"},
        "subsets": [{"addresses": [{"ip": "192.0.2.7"}], "ports": [{"port": 5432}]}],
    });
    cluster.send("POST", "/api/v1/namespaces/default/endpoints", endpoints).await;
    cluster.settle().await;
    let selector = "labelSelector=kubernetes.io/service-name%3Ddb";
    let slices = format!("/apis/discovery.k8s.io/v1/namespaces/default/endpointslices?{selector}");
    let found = cluster.get(&slices).await;
    let slice = &found["items"][0];
    assert_eq!(slice["endpoints"][0]["addresses"], json!(["192.0.2.7"]));
    let manager = &slice["metadata"]["labels"]["endpointslice.kubernetes.io/managed-by"];
    assert_eq!(manager, "endpointslicemirroring-controller.k8s.io");
    cluster.send("DELETE", "/api/v1/namespaces/default/endpoints/db", json!(null)).await;
    cluster.settle().await;
    assert_eq!(cluster.get(&slices).await["items"], json!([]));
}
