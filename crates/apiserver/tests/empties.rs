//! Empty lists and maps, which differ from absent ones until an object is stored, and the order of keys in a map.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod harness;

use gantry_json::{Value, json};
use harness::{ReceivedResponse, round_trip, server};
use http::Method;

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";
const ROLES: &str = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
const POLICIES: &str = "/apis/networking.k8s.io/v1/namespaces/default/networkpolicies";
const AUTOSCALERS: &str = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers";

async fn write(
    server: &gantry_apiserver::ApiServer,
    method: Method,
    path: &str,
    body: String,
) -> ReceivedResponse {
    round_trip(server, method, path, &[], body).await
}

fn message(response: &ReceivedResponse) -> String {
    response.json()["message"].as_str().unwrap_or_default().to_owned()
}

/// A2.7, A2.15: a dry-run response shows the object as it would be read from the store, where an empty list is absent.
#[tokio::test]
async fn an_empty_list_is_dropped_by_storing_and_by_a_dry_run() {
    let server = server().await;
    let role = json!({"metadata": {"name": "r", "labels": {}}, "rules": []}).to_string();
    let tried = write(&server, Method::POST, &format!("{ROLES}?dryRun=All"), role.clone()).await.json();
    assert_eq!((&tried["rules"], tried["metadata"].get("labels")), (&Value::Null, None));
    let created = write(&server, Method::POST, ROLES, role).await.json();
    assert_eq!(created["rules"], Value::Null);
    assert_eq!(created["metadata"]["managedFields"][0]["fieldsV1"], json!({"f:rules": {}}));
    assert_eq!(
        write(&server, Method::GET, &format!("{ROLES}/r"), String::new()).await.json()["rules"],
        Value::Null
    );
}

#[tokio::test]
async fn an_error_shows_the_empty_map_that_was_sent() {
    let server = server().await;
    let web = |labels: Value| {
        json!({"metadata": {"name": "web"}, "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": {
            "metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}}}})
    };
    for (labels, shown) in [(json!({}), "{}"), (Value::Null, "null")] {
        let refused = write(&server, Method::POST, DEPLOYMENTS, web(labels).to_string()).await;
        let expected = format!(
            "Deployment.apps \"web\" is invalid: spec.template.metadata.labels: Invalid value: {shown}: `selector` does \
             not match template `labels`"
        );
        assert_eq!(message(&refused), expected);
    }
    // Within a struct JSON omits it.
    let mut nothing = web(json!({"a": "b"}));
    nothing["spec"]["selector"]["matchLabels"] = json!({});
    let refused = write(&server, Method::POST, DEPLOYMENTS, nothing.to_string()).await;
    assert!(
        message(&refused).contains("spec.selector: Invalid value: {}: empty selector"),
        "{}",
        message(&refused)
    );
}

/// Absent policies are defaulted; an empty list is an error.
#[tokio::test]
async fn an_empty_list_gets_no_default() {
    let server = server().await;
    let autoscaler = |rules: Value| {
        json!({"metadata": {"name": "h"}, "spec": {"maxReplicas": 2, "behavior": {"scaleDown": rules},
            "scaleTargetRef": {"kind": "Deployment", "name": "web", "apiVersion": "apps/v1"}}})
    };
    let refused =
        write(&server, Method::POST, AUTOSCALERS, autoscaler(json!({"policies": []})).to_string()).await;
    assert_eq!(
        message(&refused),
        "HorizontalPodAutoscaler.autoscaling \"h\" is invalid: spec.behavior.scaleDown.policies: Required value: must \
         specify at least one Policy"
    );
    let created = write(&server, Method::POST, AUTOSCALERS, autoscaler(json!({})).to_string()).await.json();
    assert_eq!(created["spec"]["behavior"]["scaleDown"]["policies"].as_array().map(Vec::len), Some(1));
}

/// The generation of a NetworkPolicy counts an empty list in place of an absent one; the generation of a Deployment
/// does not.
#[tokio::test]
async fn an_empty_list_is_a_change_for_some_kinds() {
    let server = server().await;
    let mut policy =
        json!({"metadata": {"name": "p"}, "spec": {"podSelector": {}, "policyTypes": ["Ingress"]}});
    write(&server, Method::POST, POLICIES, policy.to_string()).await;
    policy["spec"]["ingress"] = json!([]);
    let put = write(&server, Method::PUT, &format!("{POLICIES}/p"), policy.to_string()).await.json();
    assert_eq!((&put["metadata"]["generation"], put["spec"].get("ingress")), (&json!(2), None));
    let mut web = json!({"metadata": {"name": "web"}, "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": {
        "metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}}});
    let created = write(&server, Method::POST, DEPLOYMENTS, web.to_string()).await.json();
    web["spec"]["template"]["spec"]["volumes"] = json!([]);
    let put = write(&server, Method::PUT, &format!("{DEPLOYMENTS}/web"), web.to_string()).await.json();
    assert_eq!(put["metadata"], created["metadata"], "nothing was written");
}

/// Errors about members of a map are in the order of the document, or in the order of the keys if it was sorted.
#[tokio::test]
async fn errors_about_a_map_are_in_the_order_of_the_document() {
    let server = server().await;
    let body = r#"{"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "a", "labels": {"z": "/", "a": "!"}},
                   "data": {"y/": "", "b/": ""}}"#;
    let places = |response: &ReceivedResponse| -> Vec<String> {
        let causes = response.json()["details"]["causes"].as_array().unwrap().clone();
        let shown = causes.iter().map(|cause| {
            let message = cause["message"].as_str().unwrap();
            format!("{} {}", cause["field"].as_str().unwrap(), message.split(": ").nth(1).unwrap())
        });
        shown.collect()
    };
    let refused = write(&server, Method::POST, MAPS, body.to_owned()).await;
    assert_eq!(
        places(&refused),
        ["metadata.labels \"/\"", "metadata.labels \"!\"", "data[y/] \"y/\"", "data[b/] \"b/\""]
    );
    let yaml = [("content-type", "application/yaml")];
    let refused = round_trip(&server, Method::POST, MAPS, &yaml, body.to_owned()).await;
    assert_eq!(
        places(&refused),
        ["metadata.labels \"!\"", "metadata.labels \"/\"", "data[b/] \"b/\"", "data[y/] \"y/\""]
    );
}
