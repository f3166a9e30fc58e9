//! Definitions: defaults, conditions, name conflicts.

use super::*;

/// Appendix E: names and strategy are defaulted, and the response has no conditions yet.
#[tokio::test]
async fn the_response_to_a_new_definition_precedes_the_acceptance_of_its_names() {
    let response = define(&server().await, definition()).await;
    assert_eq!(response["spec"]["names"]["singular"], "widget");
    assert_eq!(response["spec"]["names"]["listKind"], "WidgetList");
    assert_eq!(response["spec"]["conversion"], json!({"strategy": "None"}));
    let status =
        json!({"conditions": null, "acceptedNames": {"plural": "", "kind": ""}, "storedVersions": ["v1"]});
    assert_eq!(response["status"], status);
    assert_eq!(response["metadata"]["generation"], 1);
}

/// Appendix E: once its names are accepted, a definition is established and its resource is served.
#[tokio::test]
async fn a_definition_without_name_conflicts_is_established() {
    let server = with_widgets().await;
    let (_, found) = get(&server, &format!("{DEFINITIONS}/widgets.example.com")).await;
    assert_eq!(
        conditions(&found),
        ["NamesAccepted=True/NoConflicts", "Established=True/InitialNamesAccepted"]
    );
    assert_eq!(found["status"]["conditions"][0]["message"], "no conflicts found");
    assert_eq!(found["status"]["conditions"][1]["message"], "the initial names have been accepted");
    assert_eq!(found["status"]["acceptedNames"], found["spec"]["names"]);
    assert_eq!(get(&server, WIDGETS).await.0, 200);
}

/// Appendix E: a conflicting name is not accepted until the other definition is deleted.
#[tokio::test]
async fn a_conflicting_name_is_accepted_when_it_becomes_free() {
    let server = with_widgets().await;
    let mut rival = definition();
    rival["metadata"]["name"] = json!("gadgets.example.com");
    rival["spec"]["names"]["plural"] = json!("gadgets");
    rival["spec"]["names"]["shortNames"] = json!(["gd"]);
    define(&server, rival).await;
    let path = format!("{DEFINITIONS}/gadgets.example.com");
    let (_, found) = get(&server, &path).await;
    assert_eq!(conditions(&found), ["NamesAccepted=False/ListKindConflict", "Established=False/NotAccepted"]);
    assert_eq!(get(&server, "/apis/example.com/v1/gadgets").await.0, 404);

    call(&server, Method::DELETE, &format!("{DEFINITIONS}/widgets.example.com"), Value::Null).await;
    let (_, found) = get(&server, &path).await;
    assert_eq!(
        conditions(&found),
        ["NamesAccepted=True/NoConflicts", "Established=True/InitialNamesAccepted"]
    );
    assert_eq!(get(&server, "/apis/example.com/v1/gadgets").await.0, 200);
}

/// An invalid definition is refused with all errors, and nothing is served.
#[tokio::test]
async fn an_invalid_definition_is_refused() {
    let server = server().await;
    let mut wrong = definition();
    wrong["metadata"]["name"] = json!("things.example.com");
    wrong["spec"]["versions"][0].as_object_mut().unwrap().remove("schema");
    let (status, response) = call(&server, Method::POST, DEFINITIONS, wrong).await;
    assert_eq!(status, 422, "{response}");
    let message = response["message"].as_str().unwrap();
    for part in [
        "metadata.name: Invalid value: \"things.example.com\": must be spec.names.plural+\".\"+spec.group",
        "spec.versions[0].schema.openAPIV3Schema: Required value",
    ] {
        assert!(message.contains(part), "{message}");
    }
    assert_eq!(get(&server, WIDGETS).await.0, 404);
}

/// A server that starts on a store with definitions serves them, and completes their conditions.
#[tokio::test]
async fn definitions_are_served_after_a_restart() {
    use std::sync::Arc;

    use gantry_apiserver::Settings;
    use gantry_store::memory::{HistoryLimits, MemoryStore};

    let store = Arc::new(MemoryStore::new(HistoryLimits::default()));
    let start = || ApiServer::new(store.clone(), Arc::new(harness::Noon::default()), Settings::default());
    let first = start();
    first.prepare().await.unwrap();
    define(&first, definition()).await;
    make(&first, "a", json!({"size": 1})).await;
    drop(first);
    let second = start();
    second.prepare().await.unwrap();
    let (status, list) = get(&second, WIDGETS).await;
    assert_eq!((status, &list["items"][0]["metadata"]["name"]), (200, &json!("a")));
}

/// Two servers on one store: the definitions of one are served by the other.
#[tokio::test]
async fn definitions_of_one_server_are_served_by_another() {
    use std::sync::Arc;

    use gantry_apiserver::Settings;
    use gantry_store::memory::{HistoryLimits, MemoryStore};

    let store = Arc::new(MemoryStore::new(HistoryLimits::default()));
    let start = || ApiServer::new(store.clone(), Arc::new(harness::Noon::default()), Settings::default());
    let (one, other) = (start(), start());
    one.prepare().await.unwrap();
    assert_eq!(get(&other, WIDGETS).await.0, 404);
    define(&one, definition()).await;
    assert_eq!(get(&other, WIDGETS).await.0, 200);
}
