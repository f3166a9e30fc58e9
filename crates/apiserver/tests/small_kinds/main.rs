//! CertificateSigningRequests, IngressClasses, IPAddresses, RuntimeClasses and ServiceCIDRs: requests and the responses
//! of Kubernetes 1.37.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

#[path = "../harness/mod.rs"]
mod harness;

use gantry_json::{Value, json};
use http::Method;

use harness::{call, round_trip, server};

/// Recordings, each of a separate cluster.
const RECORDED: [&str; 6] = [
    include_str!("bundles.jsonl"),
    include_str!("recorded.jsonl"),
    include_str!("certificates.jsonl"),
    include_str!("storage.jsonl"),
    include_str!("webhooks.jsonl"),
    include_str!("slices.jsonl"),
];

/// Replaces values that differ between two clusters, as in the recording.
fn masked(response: &mut Value) {
    for (path, mask) in [
        ("/metadata/uid", "UID"),
        ("/details/uid", "UID"),
        ("/metadata/resourceVersion", "RV"),
        ("/metadata/creationTimestamp", "TIME"),
    ] {
        if let Some(value) = response.pointer_mut(path) {
            *value = json!(mask);
        }
    }
    if let Some(metadata) = response["metadata"].as_object_mut() {
        metadata.remove("managedFields");
    }
    // The two clusters have different users.
    if response["kind"] == "CertificateSigningRequest"
        && let Some(spec) = response["spec"].as_object_mut()
    {
        for requestor in ["username", "uid", "groups", "extra"] {
            spec.remove(requestor);
        }
    }
}

/// The part of a response that is recorded.
fn recorded_part(mut response: Value, code: u16) -> Value {
    if response["kind"] == "Table" {
        let column = |column: &Value| column["name"].clone();
        let columns: Vec<_> = response["columnDefinitions"].as_array().unwrap().iter().map(column).collect();
        let row = |row: &Value| row["cells"].clone();
        let rows: Vec<_> = response["rows"].as_array().unwrap().iter().map(row).collect();
        return json!({"columns": columns, "rows": rows});
    }
    if code >= 400 {
        let mut part = json!({"message": response["message"], "reason": response["reason"]});
        if !response["details"]["causes"].is_null() {
            part["causes"] = response["details"]["causes"].clone();
        }
        return part;
    }
    masked(&mut response);
    response
}

/// Masks ages and users in tables; rows may have more cells than there are columns.
fn comparable(response: &Value) -> Value {
    let mut response = response.clone();
    if response["kind"].is_string() {
        masked(&mut response);
    }
    let columns = response["columns"].as_array().cloned().unwrap_or_default();
    for row in response["rows"].as_array_mut().into_iter().flatten().filter_map(Value::as_array_mut) {
        row.truncate(columns.len());
        for (cell, column) in row.iter_mut().zip(&columns) {
            if column == "Age" || column == "Requestor" {
                *cell = json!("MASKED");
            }
        }
    }
    response
}

#[tokio::test]
async fn requests_get_the_recorded_responses() {
    for recording in RECORDED {
        replay(recording).await;
    }
}

async fn replay(recording: &str) {
    let server = server().await;
    for line in recording.lines() {
        let recorded: Value = gantry_json::from_str(line).unwrap();
        let text = |field: &str| recorded[field].as_str();
        let method: Method = text("method").unwrap().parse().unwrap();
        let headers = [
            ("content-type", text("ct").unwrap_or("application/json")),
            ("accept", text("accept").unwrap_or("application/json")),
        ];
        let body = if recorded["body"].is_null() { String::new() } else { recorded["body"].to_string() };
        let response = round_trip(&server, method, text("path").unwrap(), &headers, body).await;
        let part = recorded_part(response.json(), response.status);
        assert_eq!(json!(response.status), recorded["code"], "{line}\n{part}");
        assert_eq!(comparable(&part), comparable(&recorded["answer"]), "{line}");
    }
}

/// The range of Services is an object, as kube-apiserver creates it.
#[tokio::test]
async fn the_service_cidr_is_an_object_that_is_ready() {
    let server = server().await;
    let path = "/apis/networking.k8s.io/v1/servicecidrs/kubernetes";
    let (status, range) = call(&server, Method::GET, path, Value::Null).await;
    assert_eq!(status, 200);
    assert_eq!(range["spec"], json!({"cidrs": ["10.96.0.0/12"]}));
    let ready = &range["status"]["conditions"][0];
    assert_eq!((ready["type"].as_str(), ready["status"].as_str()), (Some("Ready"), Some("True")));
    assert_eq!(ready["message"], "Kubernetes default Service CIDR is ready");
    assert!(ready["lastTransitionTime"].is_string());
}

/// The class of a pod determines its overhead and its nodes.
#[tokio::test]
async fn a_pod_gets_overhead_and_node_selector_of_its_runtime_class() {
    let server = server().await;
    let class = json!({
        "metadata": {"name": "vm"}, "handler": "vm", "overhead": {"podFixed": {"cpu": "100m"}},
        "scheduling": {"nodeSelector": {"kind": "vm"}},
    });
    let account = json!({"metadata": {"name": "default"}});
    call(&server, Method::POST, "/api/v1/namespaces/default/serviceaccounts", account).await;
    let (status, response) = call(&server, Method::POST, "/apis/node.k8s.io/v1/runtimeclasses", class).await;
    assert_eq!(status, 201, "{response}");
    let pod = |class: &str| {
        let containers = json!([{"name": "web", "image": "nginx"}]);
        json!({"metadata": {"name": "web"}, "spec": {"runtimeClassName": class, "containers": containers}})
    };
    let pods = "/api/v1/namespaces/default/pods";
    let (status, missing) = call(&server, Method::POST, pods, pod("none")).await;
    assert_eq!(status, 403);
    assert_eq!(
        missing["message"],
        "pods \"web\" is forbidden: pod rejected: RuntimeClass \"none\" not found"
    );
    let (status, created) = call(&server, Method::POST, pods, pod("vm")).await;
    assert_eq!(status, 201, "{created}");
    assert_eq!(created["spec"]["overhead"], json!({"cpu": "100m"}));
    assert_eq!(created["spec"]["nodeSelector"], json!({"kind": "vm"}));
}

/// Every cluster IP is an object, created and released with its Service.
#[tokio::test]
async fn the_address_of_a_service_is_an_object() {
    let server = server().await;
    let addresses = "/apis/networking.k8s.io/v1/ipaddresses";
    let (_, first) = call(&server, Method::GET, &format!("{addresses}/10.96.0.1"), Value::Null).await;
    assert_eq!(
        first["spec"]["parentRef"],
        json!({"resource": "services", "namespace": "default", "name": "kubernetes"})
    );
    let taken = json!({"metadata": {"name": "10.96.0.77"}, "spec": {"parentRef": {"resource": "machines", "name": "m"}}});
    assert_eq!(call(&server, Method::POST, addresses, taken).await.0, 201);
    let services = "/api/v1/namespaces/default/services";
    let service = |address: &str| json!({"metadata": {"name": "web"}, "spec": {"clusterIP": address, "ports": [{"port": 80}]}});
    let (status, refused) = call(&server, Method::POST, services, service("10.96.0.77")).await;
    assert_eq!(status, 422, "{refused}");
    assert_eq!(call(&server, Method::POST, services, service("10.96.0.78")).await.0, 201);
    let path = format!("{addresses}/10.96.0.78");
    let (status, address) = call(&server, Method::GET, &path, Value::Null).await;
    assert_eq!(status, 200);
    assert_eq!(address["metadata"]["labels"]["ipaddress.kubernetes.io/managed-by"], "ipallocator.k8s.io");
    assert_eq!(address["spec"]["parentRef"]["name"], "web");
    call(&server, Method::DELETE, &format!("{services}/web"), Value::Null).await;
    assert_eq!(call(&server, Method::GET, &path, Value::Null).await.0, 404);
}

/// Objects that are stored and not enforced get a warning.
#[tokio::test]
async fn webhooks_and_policies_get_a_warning() {
    let server = server().await;
    let group = "/apis/admissionregistration.k8s.io/v1";
    let headers = [("content-type", "application/json")];
    let binding =
        json!({"metadata": {"name": "a"}, "spec": {"policyName": "a", "validationActions": ["Deny"]}});
    for (resource, object, warning) in [
        (
            "validatingwebhookconfigurations",
            json!({"metadata": {"name": "a"}}),
            "this server calls no webhooks",
        ),
        (
            "mutatingwebhookconfigurations",
            json!({"metadata": {"name": "a"}}),
            "this server calls no webhooks",
        ),
        ("validatingadmissionpolicybindings", binding, "this server evaluates no admission policies"),
    ] {
        let path = format!("{group}/{resource}");
        let response = round_trip(&server, Method::POST, &path, &headers, object.to_string()).await;
        assert_eq!(response.status, 201, "{}", response.text());
        assert!(response.header("warning").contains(warning), "{}", response.header("warning"));
        assert!(response.header("warning").contains("not enforced"));
    }
}
