//! JSON, merge and strategic merge patches over the server, and their errors.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod harness;

use gantry_apiserver::ApiServer;
use gantry_json::{Value, json};
use harness::{call, read, round_trip, send, server};
use http::Method;

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";
const JSON: &str = "application/json-patch+json";
const MERGE: &str = "application/merge-patch+json";
const STRATEGIC: &str = "application/strategic-merge-patch+json";

async fn with_map(server: &ApiServer) -> Value {
    let map = json!({"metadata": {"name": "a", "annotations": {"x": "1"}}, "data": {"k": "1"}});
    call(server, Method::POST, MAPS, map).await.1
}

async fn patch(server: &ApiServer, path: &str, kind: &str, body: Value) -> (u16, Value) {
    read(send(server, Method::PATCH, path, kind, &body).await).await
}

/// A3.1: four content types, and no other.
#[tokio::test]
async fn a_patch_has_a_content_type() {
    let server = server().await;
    with_map(&server).await;
    let path = format!("{MAPS}/a");
    for kind in ["application/json", "application/apply-patch+cbor", "text/plain", ""] {
        let (status, refused) = patch(&server, &path, kind, json!({})).await;
        assert_eq!((status, &refused["message"]), (415, &json!("415: Unsupported Media Type")), "{kind}");
    }
    let parameters = format!("{MERGE}; charset=utf-8");
    assert_eq!(patch(&server, &path, &parameters, json!({"data": {"k": "2"}})).await.1["data"]["k"], "2");
}

/// A3.2: a patch applies to the stored object, unless it has a version or uid precondition.
#[tokio::test]
async fn a_patch_can_have_a_version_precondition() {
    let server = server().await;
    let created = with_map(&server).await;
    let path = format!("{MAPS}/a");
    let current = created["metadata"]["resourceVersion"].clone();
    let locked = |version: Value| json!({"metadata": {"resourceVersion": version}, "data": {"k": "2"}});
    assert_eq!(patch(&server, &path, MERGE, locked(current.clone())).await.0, 200);
    let (status, refused) = patch(&server, &path, MERGE, locked(current)).await;
    assert_eq!((status, &refused["reason"]), (409, &json!("Conflict")));
    let (status, refused) = patch(&server, &path, MERGE, json!({"metadata": {"uid": "x"}})).await;
    let message = "ConfigMap \"a\" is invalid: metadata.uid: Invalid value: \"x\": field is immutable";
    assert_eq!((status, &refused["message"]), (422, &json!(message)));
}

/// A3.2: a patch may not remove the version from kinds whose updates require one.
#[tokio::test]
async fn a_patch_keeps_the_version_that_an_update_requires() {
    let server = server().await;
    let path = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
    let budget = json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "b"}});
    let (status, created) = call(&server, Method::POST, path, budget.clone()).await;
    assert_eq!(status, 201, "{created}");
    let message = "poddisruptionbudgets.policy \"b\" is invalid: metadata.resourceVersion: Invalid value: 0: must be \
                   specified for an update";
    for version in [json!(""), json!("0"), Value::Null] {
        let mut body = budget.clone();
        body["metadata"]["resourceVersion"] = version;
        let apply = "application/apply-patch+yaml";
        for (kind, path) in [
            (MERGE, format!("{path}/b")),
            (MERGE, format!("{path}/b/status")),
            (apply, format!("{path}/b?fieldManager=m")),
        ] {
            let (status, refused) = patch(&server, &path, kind, body.clone()).await;
            assert_eq!((status, &refused["message"]), (422, &json!(message)), "{kind} {body}");
        }
    }
}

/// A3.3: an absent object is not patched, names are immutable, and `force` is for apply only.
#[tokio::test]
async fn a_patch_changes_an_existing_object() {
    let server = server().await;
    with_map(&server).await;
    let path = format!("{MAPS}/a");
    assert_eq!(patch(&server, &format!("{MAPS}/none"), MERGE, json!({})).await.0, 404);
    let (status, renamed) = patch(&server, &path, MERGE, json!({"metadata": {"name": "b"}})).await;
    let message = "the name of the object (b) does not match the name on the URL (a)";
    assert_eq!((status, &renamed["message"]), (400, &json!(message)));
    let (status, forced) = patch(&server, &format!("{path}?force=true"), MERGE, json!({})).await;
    assert_eq!(status, 422);
    assert!(
        forced["message"]
            .as_str()
            .unwrap()
            .ends_with("force: Forbidden: may not be specified for non-apply patch")
    );
    let partial =
        [("content-type", MERGE), ("accept", "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io")];
    let part = round_trip(&server, Method::PATCH, &path, &partial, r#"{"data":{"k":"3"}}"#).await.json();
    assert_eq!((&part["kind"], part.get("data")), (&json!("PartialObjectMetadata"), None));
}

/// A3.4, A2.23: the patched object must be valid.
#[tokio::test]
async fn undecodable_results_are_refused_without_a_name() {
    let server = server().await;
    with_map(&server).await;
    let path = format!("{MAPS}/a");
    let (status, refused) = patch(&server, &path, MERGE, json!({"data": {"k": 5}})).await;
    assert_eq!((status, &refused["details"]["causes"][0]["field"]), (422, &json!("patch")));
    let message = refused["message"].as_str().unwrap();
    assert!(message.starts_with(" \"\" is invalid: patch: Invalid value: "), "{message}");
    assert!(
        message.contains("json: cannot unmarshal number into Go struct field ConfigMap.data of type string")
    );
    let (status, refused) = patch(&server, &path, MERGE, json!({"apiVersion": "v2"})).await;
    assert_eq!(status, 422);
    assert!(
        refused["message"]
            .as_str()
            .unwrap()
            .contains("no kind \"ConfigMap\" is registered for version \"v2\"")
    );
    let (status, refused) = patch(&server, &path, STRATEGIC, json!({"data": "x"})).await;
    assert_eq!(status, 422);
    assert!(refused["message"].as_str().unwrap().ends_with("cannot restore map from string"), "{refused}");
    let strict = format!("{path}?fieldValidation=Strict");
    let (status, refused) = patch(&server, &strict, MERGE, json!({"foo": 1})).await;
    assert_eq!(status, 422);
    assert!(refused["message"].as_str().unwrap().ends_with("strict decoding error: unknown field \"foo\""));
    let warned = send(&server, Method::PATCH, &path, MERGE, &json!({"foo": 1})).await;
    assert_eq!(warned.headers()["warning"], "299 - \"unknown field \\\"foo\\\"\"");
    for kind in [JSON, MERGE, STRATEGIC] {
        let nonsense = round_trip(&server, Method::PATCH, &path, &[("content-type", kind)], "nonsense").await;
        assert_eq!(
            (nonsense.status, &nonsense.json()["message"]),
            (400, &json!("invalid JSON patch")),
            "{kind}"
        );
    }
}

/// A3.5, A3.6, A0.11: JSON patch and merge patch.
#[tokio::test]
async fn operations_are_done_all_or_not_at_all() {
    let server = server().await;
    let created = with_map(&server).await;
    let path = format!("{MAPS}/a");
    let failing = json!([{"op": "add", "path": "/data/n", "value": "1"}, {"op": "test", "path": "/data/k", "value": "9"}]);
    let (status, refused) = patch(&server, &path, JSON, failing).await;
    let message = "the server rejected our request due to an error in our request";
    assert_eq!((status, &refused["message"], &refused["details"]), (422, &json!(message), &json!({})));
    assert_eq!(call(&server, Method::GET, &path, Value::Null).await.1, created, "nothing was changed");
    let replace = json!([{"op": "replace", "path": "/metadata/labels", "value": {"l": "1"}}]);
    assert_eq!(
        patch(&server, &path, JSON, replace).await.1["metadata"]["labels"]["l"],
        "1",
        "replace also adds"
    );
    let many: Vec<_> =
        (0..10_001).map(|_| json!({"op": "test", "path": "/kind", "value": "ConfigMap"})).collect();
    assert_eq!(patch(&server, &path, JSON, json!(many)).await.0, 413);
    let merged = patch(&server, &path, MERGE, json!({"data": {"k": null, "z": "1"}})).await.1;
    assert_eq!(merged["data"], json!({"z": "1"}));
}

/// A3.7, A3.8, A3.9, A3.12, O4.3: lists of a strategic patch are merged, directives apply, and a Scale is patched
/// likewise.
#[tokio::test]
async fn lists_merge_by_their_keys() {
    let server = server().await;
    let containers = json!([{"name": "a", "image": "i"}, {"name": "b", "image": "i"}]);
    let web = json!({
        "metadata": {"name": "web"},
        "spec": {"selector": {"matchLabels": {"app": "web"}}, "template": {
            "metadata": {"labels": {"app": "web"}}, "spec": {"containers": containers}}},
    });
    assert_eq!(call(&server, Method::POST, DEPLOYMENTS, web).await.0, 201);
    let path = format!("{DEPLOYMENTS}/web");
    let of = |containers: Value| json!({"spec": {"template": {"spec": {"containers": containers}}}});
    let names = |object: &Value| {
        let containers = object["spec"]["template"]["spec"]["containers"].as_array().unwrap();
        containers
            .iter()
            .map(|c| format!("{}:{}", c["name"].as_str().unwrap(), c["image"].as_str().unwrap()))
            .collect::<Vec<_>>()
    };
    let (_, patched) = patch(
        &server,
        &path,
        STRATEGIC,
        of(json!([{"name": "n", "image": "j"}, {"name": "b", "image": "j"}])),
    )
    .await;
    assert_eq!(names(&patched), ["n:j", "a:i", "b:j"], "new ones are first");
    let (_, fewer) = patch(&server, &path, STRATEGIC, of(json!([{"name": "a", "$patch": "delete"}]))).await;
    assert_eq!(names(&fewer), ["n:j", "b:j"]);
    assert_eq!(fewer["metadata"]["generation"], 3);
    let (status, refused) = patch(&server, &path, STRATEGIC, of(json!([{"image": "x"}]))).await;
    assert_eq!(
        (status, &refused["message"]),
        (500, &json!("map: map[image:x] does not contain declared merge key: name"))
    );
    let (status, scale) =
        patch(&server, &format!("{path}/scale"), STRATEGIC, json!({"spec": {"replicas": 4}})).await;
    assert_eq!((status, &scale["spec"]["replicas"]), (200, &json!(4)));
}

/// A3.2: a patch is retried on write conflicts.
#[tokio::test]
async fn concurrent_patches_are_all_applied() {
    let server = server().await;
    with_map(&server).await;
    let writers: Vec<_> = (0..20)
        .map(|n| {
            let server = server.clone();
            tokio::spawn(async move {
                let body = json!({"data": {(format!("n{n}")): "1"}});
                patch(&server, "/api/v1/namespaces/default/configmaps/a", MERGE, body).await.0
            })
        })
        .collect();
    for writer in writers {
        assert_eq!(writer.await.unwrap(), 200);
    }
    let (_, all) = call(&server, Method::GET, &format!("{MAPS}/a"), Value::Null).await;
    assert_eq!(all["data"].as_object().unwrap().len(), 21);
}
