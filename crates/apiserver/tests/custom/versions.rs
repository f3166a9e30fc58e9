//! Definitions with several versions: one is stored, all served ones return its objects.

use super::*;
use crate::harness::round_trip;

/// A definition of widgets with an old version and the stored one.
fn two_versions() -> Value {
    let mut both = definition();
    let mut old = version("v1beta1");
    old["storage"] = json!(false);
    old["deprecated"] = json!(true);
    both["spec"]["versions"] = json!([version("v1"), old]);
    both
}

/// Appendix E: without a conversion webhook, versions differ in `apiVersion` only.
#[tokio::test]
async fn an_object_is_the_same_in_every_version() {
    let server = server().await;
    define(&server, two_versions()).await;
    let mut old = widget("a", json!({"size": 1}));
    old["apiVersion"] = json!("example.com/v1beta1");
    let in_old = WIDGETS.replace("/v1/", "/v1beta1/");
    let (status, response) = call(&server, Method::POST, &in_old, old).await;
    assert_eq!((status, &response["apiVersion"]), (201, &json!("example.com/v1beta1")), "{response}");
    let (_, new) = get(&server, &format!("{WIDGETS}/a")).await;
    assert_eq!(new["apiVersion"], "example.com/v1");
    assert_eq!(new["metadata"]["uid"], response["metadata"]["uid"]);
    assert_eq!(get(&server, &in_old).await.1["items"][0]["apiVersion"], "example.com/v1beta1");
}

/// A deprecated version gets a warning.
#[tokio::test]
async fn a_deprecated_version_gets_a_warning() {
    let server = server().await;
    define(&server, two_versions()).await;
    let response = round_trip(&server, Method::GET, &WIDGETS.replace("/v1/", "/v1beta1/"), &[], "").await;
    assert_eq!(
        response.header("warning"),
        "299 - \"example.com/v1beta1 Widget is deprecated; use example.com/v1 Widget\""
    );
    assert_eq!(round_trip(&server, Method::GET, WIDGETS, &[], "").await.header("warning"), "");
}

/// A version that is no longer served is not found, though its objects exist.
#[tokio::test]
async fn a_version_that_is_not_served_is_not_found() {
    let server = server().await;
    let mut one_served = two_versions();
    one_served["spec"]["versions"][1]["served"] = json!(false);
    define(&server, one_served).await;
    assert_eq!(get(&server, WIDGETS).await.0, 200);
    assert_eq!(get(&server, &WIDGETS.replace("/v1/", "/v1beta1/")).await.0, 404);
}

/// Webhooks are not called, so a version that needs one is refused.
#[tokio::test]
async fn a_conversion_that_needs_a_webhook_is_refused() {
    let server = server().await;
    let mut converted = two_versions();
    converted["spec"]["conversion"] = json!({
        "strategy": "Webhook",
        "webhook": {"conversionReviewVersions": ["v1"], "clientConfig": {"url": "https://127.0.0.1:1/convert"}},
    });
    define(&server, converted).await;
    make(&server, "a", json!({"size": 1})).await;
    let (status, response) = get(&server, &format!("{}/a", WIDGETS.replace("/v1/", "/v1beta1/"))).await;
    assert_eq!(status, 500);
    let message = response["message"].as_str().unwrap();
    assert!(message.contains("conversion webhook for example.com/v1, Kind=Widget failed"), "{message}");
}

/// Appendix E: an unchanged write stores the object in the current storage version, which migrates objects.
#[tokio::test]
async fn an_unchanged_write_migrates_the_object() {
    use std::sync::Arc;

    use gantry_apiserver::Settings;
    use gantry_store::Store as _;
    use gantry_store::memory::{HistoryLimits, MemoryStore};

    let store = Arc::new(MemoryStore::new(HistoryLimits::default()));
    let server = ApiServer::new(store.clone(), Arc::new(harness::Noon::default()), Settings::default());
    server.prepare().await.unwrap();
    define(&server, definition()).await;
    make(&server, "a", json!({"size": 1})).await;
    let stored = async || {
        let key = gantry_store::Key::new("/registry/example.com/widgets/default/a").unwrap();
        let found = store.get(&key).await.unwrap().found.unwrap();
        gantry_json::from_slice::<Value>(&found.value).unwrap()["apiVersion"].clone()
    };
    let version_of = |response: &Value| response["metadata"]["resourceVersion"].clone();
    let path = format!("{WIDGETS}/a");
    let (_, first) = patch(&server, &path, MERGE, json!({})).await;
    assert_eq!(version_of(&first), version_of(&get(&server, &path).await.1), "nothing is written");

    let mut before = version("v1");
    before["storage"] = json!(false);
    let definition = format!("{DEFINITIONS}/widgets.example.com");
    let change = json!({"spec": {"versions": [version("v2"), before]}});
    let (_, changed) = patch(&server, &definition, MERGE, change).await;
    assert_eq!(changed["status"]["storedVersions"], json!(["v1", "v2"]), "{changed}");
    assert_eq!(stored().await, "example.com/v1");
    let (status, same) = patch(&server, &path, MERGE, json!({})).await;
    assert_eq!((status, &same["apiVersion"]), (200, &json!("example.com/v1")));
    assert_eq!(stored().await, "example.com/v2");
    assert_ne!(version_of(&same), version_of(&first));
    assert_eq!(same["metadata"]["generation"], 1);
    let (_, again) = patch(&server, &path, MERGE, json!({})).await;
    assert_eq!(version_of(&again), version_of(&same), "no further write is needed");

    let done = json!({"status": {"storedVersions": ["v2"]}});
    assert_eq!(patch(&server, &format!("{definition}/status"), MERGE, done).await.0, 200);
    let only = json!({"spec": {"versions": [version("v2")]}});
    let (status, response) = patch(&server, &definition, MERGE, only).await;
    assert_eq!((status, &response["status"]["storedVersions"]), (200, &json!(["v2"])), "{response}");
    assert_eq!(get(&server, &path.replace("/v1/", "/v2/")).await.1["spec"]["size"], 1);
}

/// Appendix E: a read applies the schema of the stored version.
#[tokio::test]
async fn reads_apply_the_schema_of_the_stored_version() {
    let server = server().await;
    let mut both = two_versions();
    let properties =
        |index: usize| format!("/spec/versions/{index}/schema/openAPIV3Schema/properties/spec/properties");
    both.pointer_mut(&properties(0)).unwrap()["finish"] = json!({"type": "string", "default": "matt"});
    both.pointer_mut(&properties(1)).unwrap()["finish"] = json!({"type": "string"});
    both.pointer_mut(&properties(1)).unwrap()["former"] = json!({"type": "string"});
    both["spec"]["versions"][1].as_object_mut().unwrap().remove("selectableFields");
    define(&server, both).await;
    let mut old = widget("a", json!({"size": 1, "former": "x"}));
    old["apiVersion"] = json!("example.com/v1beta1");
    let in_old = WIDGETS.replace("/v1/", "/v1beta1/");
    assert_eq!(call(&server, Method::POST, &in_old, old).await.0, 201);
    for path in [WIDGETS, &in_old] {
        let (_, found) = get(&server, &format!("{path}/a")).await;
        assert_eq!(found["spec"], json!({"size": 1, "colour": "red", "finish": "matt"}), "{path}");
    }
}
