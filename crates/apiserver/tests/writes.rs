//! Create and update: fields set by clients, fields set by the server, errors.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod harness;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use gantry_apiserver::{ApiServer, Environment, Settings};
use gantry_json::{Value, json};
use gantry_primitives::Timestamp;
use gantry_store::memory::{HistoryLimits, MemoryStore};
use harness::{ReceivedResponse, call, read, round_trip, send, server};
use http::Method;

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";
const LEASES: &str = "/apis/coordination.k8s.io/v1/namespaces/default/leases";

fn web() -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "labels": {"app": "web"}},
        "spec": {"replicas": 3, "selector": {"matchLabels": {"app": "web"}}, "template": {
            "metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": "nginx:1"}]}}},
    })
}

async fn post(server: &ApiServer, path: &str, object: &Value) -> ReceivedResponse {
    round_trip(server, Method::POST, path, &[("user-agent", "story/1")], object.to_string()).await
}

fn warnings(response: &ReceivedResponse) -> Vec<&str> {
    response.headers.get_all("warning").iter().map(|value| value.to_str().unwrap()).collect()
}

/// A2.8, A2.9, O4.4: server-managed fields are set by the server, whatever the client sends.
#[tokio::test]
async fn server_managed_fields_are_set_by_the_server() {
    let server = server().await;
    let sent = json!({"metadata": {
        "name": "a", "uid": "mine", "creationTimestamp": "2001-01-01T00:00:00Z", "generation": 7, "selfLink": "/x",
        "deletionTimestamp": "2001-01-01T00:00:00Z", "deletionGracePeriodSeconds": 5,
    }});
    let created = post(&server, MAPS, &sent).await;
    assert_eq!(created.status, 201, "kind and version are implied by the path");
    let metadata = &created.json()["metadata"];
    assert_eq!(metadata["creationTimestamp"], "2026-01-01T12:00:00Z");
    assert_ne!(metadata["uid"], "mine");
    for dropped in ["deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"] {
        assert_eq!(metadata.get(dropped), None, "{dropped}");
    }
    let mut deployment = web();
    deployment["metadata"]["generation"] = json!(7);
    assert_eq!(post(&server, DEPLOYMENTS, &deployment).await.json()["metadata"]["generation"], 1);
    let versioned = post(&server, MAPS, &json!({"metadata": {"name": "v", "resourceVersion": "1"}})).await;
    let message = "resourceVersion should not be set on objects to be created";
    assert_eq!((versioned.status, &versioned.json()["message"]), (500, &json!(message)));
}

/// A2.10, A2.13, A2.11: the namespace is the one in the path, and every object has a name.
#[tokio::test]
async fn an_object_is_created_in_the_namespace_of_the_path() {
    let server = server().await;
    let elsewhere = post(&server, MAPS, &json!({"metadata": {"name": "a", "namespace": "other"}})).await;
    let message = "the namespace of the provided object does not match the namespace sent on the request";
    assert_eq!((elsewhere.status, &elsewhere.json()["message"]), (400, &json!(message)));
    let here = post(&server, MAPS, &json!({"metadata": {"name": "a"}})).await.json();
    assert_eq!(here["metadata"]["namespace"], "default");
    let node =
        post(&server, "/api/v1/nodes", &json!({"metadata": {"name": "n", "namespace": "x"}})).await.json();
    assert_eq!(node["metadata"].get("namespace"), None, "{node}");
    let nameless = post(&server, MAPS, &json!({"metadata": {}})).await.json();
    let message =
        "ConfigMap \"\" is invalid: metadata.name: Required value: name or generateName is required";
    assert_eq!(nameless["message"], message);
    let odd = post(&server, MAPS, &json!({"metadata": {"name": "A_b"}})).await;
    assert_eq!(odd.status, 422);
}

/// An environment with constant uids and name suffixes.
#[derive(Debug, Default)]
struct ConstantEnvironment(AtomicU64);

impl Environment for ConstantEnvironment {
    fn now(&self) -> Timestamp {
        Timestamp::from_secs(1_767_268_800)
    }
    fn uid(&self) -> String {
        "00000000-0000-4000-8000-000000000000".to_owned()
    }
    fn name_suffix(&self) -> String {
        self.0.fetch_add(1, Ordering::Relaxed);
        "bcdfg".to_owned()
    }
}

/// A2.11, O4.5: a generated name is tried eight times; then the client may retry.
#[tokio::test]
async fn generated_names_are_retried_on_conflict() {
    let world = Arc::new(ConstantEnvironment::default());
    let store = Arc::new(MemoryStore::new(HistoryLimits::default()));
    let server = ApiServer::new(store, world.clone(), Settings::default());
    server.prepare().await.unwrap();
    let sent = json!({"metadata": {"generateName": format!("{}-", "x".repeat(70))}});
    let first = post(&server, MAPS, &sent).await.json();
    assert_eq!(first["metadata"]["name"], format!("{}bcdfg", "x".repeat(58)));
    assert_eq!(first["metadata"]["generateName"], sent["metadata"]["generateName"]);
    let before = world.0.load(Ordering::Relaxed);
    let refused = post(&server, MAPS, &sent).await;
    let message = refused.json()["message"].as_str().unwrap().to_owned();
    assert!(
        message.ends_with("already exists, the server was not able to generate a unique name for the object")
    );
    assert_eq!((refused.status, refused.header("retry-after")), (409, "1"));
    assert_eq!(refused.json()["reason"], "AlreadyExists");
    assert_eq!(world.0.load(Ordering::Relaxed) - before, 8);
}

/// A2.14, O2.3, A2.24: duplicate owners are merged, and warnings have a header each.
#[tokio::test]
async fn warnings_do_not_prevent_a_write() {
    let server = server().await;
    let owner = json!({"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u"});
    let twice = json!({"metadata": {"name": "a", "ownerReferences": [owner, owner]}});
    let created = post(&server, MAPS, &twice).await;
    assert_eq!(created.json()["metadata"]["ownerReferences"].as_array().unwrap().len(), 1);
    assert!(warnings(&created)[0].ends_with("duplicate UID(s) observed: u\""), "{:?}", warnings(&created));
    let again = round_trip(&server, Method::PUT, &format!("{MAPS}/a"), &[], twice.to_string()).await;
    assert_eq!(warnings(&again).len(), 1);
    let other = json!({"apiVersion": "v1", "kind": "Pod", "name": "other", "uid": "u"});
    let merge = [("content-type", "application/merge-patch+json")];
    for (owners, warned) in [
        (json!([owner, other]), None),
        (json!([owner, other, owner, other]), Some("duplicate UID(s) observed: u, u\"")),
    ] {
        let body = json!({"metadata": {"ownerReferences": owners}}).to_string();
        let patched = round_trip(&server, Method::PATCH, &format!("{MAPS}/a?dryRun=All"), &merge, body).await;
        assert_eq!(patched.json()["metadata"]["ownerReferences"], json!([owner, other]));
        let reported = warnings(&patched);
        assert_eq!(reported.is_empty(), warned.is_none(), "{reported:?}");
        assert!(reported.iter().all(|text| text.contains(" entries after mutating admission happens; ")));
        assert!(reported.iter().zip(warned).all(|(text, end)| text.ends_with(end)), "{reported:?}");
    }
    assert_eq!(again.json()["metadata"]["resourceVersion"], created.json()["metadata"]["resourceVersion"]);
    let mut dotted = web();
    dotted["metadata"]["name"] = json!("web.example");
    let created = post(&server, DEPLOYMENTS, &dotted).await;
    assert_eq!(
        warnings(&created),
        [
            "299 - \"metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a \
          DNS label is recommended: [must not contain dots]\""
        ]
    );
}

/// A2.15: a dry run does everything but store.
#[tokio::test]
async fn a_dry_run_stores_nothing() {
    let server = server().await;
    let map = json!({"metadata": {"name": "a"}, "data": {"k": "1"}});
    let dry = format!("{MAPS}?dryRun=All");
    let shown = post(&server, &dry, &map).await;
    assert_eq!((shown.status, shown.json()["metadata"].get("resourceVersion")), (201, None));
    assert!(shown.json()["metadata"]["uid"].is_string());
    assert_eq!(call(&server, Method::GET, &format!("{MAPS}/a"), Value::Null).await.0, 404);
    let created = post(&server, MAPS, &map).await.json();
    assert_eq!(post(&server, &dry, &map).await.json()["reason"], "AlreadyExists");
    let changed = json!({"metadata": {"name": "a"}, "data": {"k": "2"}});
    let (status, shown) = call(&server, Method::PUT, &format!("{MAPS}/a?dryRun=All"), changed).await;
    assert_eq!((status, &shown["data"]["k"]), (200, &json!("2")));
    assert_eq!(shown["metadata"]["resourceVersion"], created["metadata"]["resourceVersion"]);
    assert_eq!(call(&server, Method::GET, &format!("{MAPS}/a"), Value::Null).await.1, created);
}

/// A2.4, O4.1: a write that changes nothing creates no version, whatever defaulted fields are omitted.
#[tokio::test]
async fn an_unchanged_write_creates_no_version() {
    let server = server().await;
    let created = post(&server, DEPLOYMENTS, &web()).await.json();
    let path = format!("{DEPLOYMENTS}/web");
    let (status, same) = call(&server, Method::PUT, &path, web()).await;
    assert_eq!((status, &same), (200, &created));
    let mut labelled = web();
    labelled["metadata"]["labels"]["more"] = json!("1");
    let (_, labelled) = call(&server, Method::PUT, &path, labelled).await;
    assert_eq!(labelled["metadata"]["generation"], 1, "O4.1: labels do not increment it");
    assert_ne!(labelled["metadata"]["resourceVersion"], created["metadata"]["resourceVersion"]);
    let mut annotated = labelled.clone();
    annotated["metadata"]["annotations"] = json!({"a": "1"});
    let (_, annotated) = call(&server, Method::PUT, &path, annotated).await;
    assert_eq!(annotated["metadata"]["generation"], 2, "A2.5: a Deployment's annotations increment it");
}

/// A2.16, A2.17, A2.18: name, uid and version of an update.
#[tokio::test]
async fn an_update_has_name_uid_and_version() {
    let server = server().await;
    let (status, absent) =
        call(&server, Method::PUT, &format!("{MAPS}/a"), json!({"metadata": {"name": "a"}})).await;
    assert_eq!((status, &absent["message"]), (404, &json!("configmaps \"a\" not found")));
    post(&server, MAPS, &json!({"metadata": {"name": "a"}})).await;
    let put = |body: Value| call(&server, Method::PUT, "/api/v1/namespaces/default/configmaps/a", body);
    let (status, other) = put(json!({"metadata": {"name": "b"}})).await;
    let message = "the name of the object (b) does not match the name on the URL (a)";
    assert_eq!((status, &other["message"]), (400, &json!(message)));
    let (status, nameless) = put(json!({"metadata": {}})).await;
    let message = "the name of the object (a based on URL) was undeterminable: name must be provided";
    assert_eq!((status, &nameless["message"]), (400, &json!(message)));
    let (status, stale) = put(json!({"metadata": {"name": "a", "resourceVersion": "1"}})).await;
    assert_eq!(status, 409);
    assert!(stale["message"].as_str().unwrap().ends_with(
        "the object has been modified; please apply your changes to the latest version and try again"
    ));
    let (status, odd) = put(json!({"metadata": {"name": "a", "resourceVersion": "x"}})).await;
    assert_eq!((status, &odd["message"]), (500, &json!("strconv.ParseUint: parsing \"x\": invalid syntax")));
    let (status, foreign) = put(json!({"metadata": {"name": "a", "uid": "other"}})).await;
    assert_eq!(status, 409);
    assert!(
        foreign["message"]
            .as_str()
            .unwrap()
            .contains("Precondition failed: UID in precondition: other, UID in object meta: ")
    );
    assert_eq!(
        put(json!({"metadata": {"name": "a", "resourceVersion": "0"}})).await.0,
        200,
        "zero matches any version"
    );
}

/// A2.16, A2.18, O3.3: some kinds are created by an update, and require a version.
#[tokio::test]
async fn a_lease_is_created_by_put_and_updates_require_a_version() {
    let server = server().await;
    let path = format!("{LEASES}/l");
    let lease = json!({"metadata": {"name": "l", "resourceVersion": "77"}, "spec": {"holderIdentity": "me"}});
    let (status, created) = call(&server, Method::PUT, &path, lease).await;
    assert_eq!(status, 201, "{created}");
    let unversioned = json!({"metadata": {"name": "l"}, "spec": {"holderIdentity": "you"}});
    let (status, refused) = call(&server, Method::PUT, &path, unversioned).await;
    let message = "leases.coordination.k8s.io \"l\" is invalid: metadata.resourceVersion: Invalid value: 0: must be \
                   specified for an update";
    assert_eq!((status, &refused["message"]), (422, &json!(message)));
    assert_eq!(refused["details"]["kind"], "leases");
    assert_eq!(call(&server, Method::PUT, &path, created).await.0, 200);
}

/// A2.19, O3.2: immutable metadata is reset, or refused.
#[tokio::test]
async fn immutable_metadata_is_reset_or_refused() {
    let server = server().await;
    let created = post(&server, MAPS, &json!({"metadata": {"name": "a"}})).await.json();
    let path = format!("{MAPS}/a");
    let old = json!({"metadata": {"name": "a", "creationTimestamp": "2001-01-01T00:00:00Z"}});
    let (_, same) = call(&server, Method::PUT, &path, old).await;
    assert_eq!(same, created, "immutable fields are restored without an error");
    let leaving = json!({"metadata": {"name": "a", "deletionTimestamp": "2001-01-01T00:00:00Z"}});
    let (status, refused) = call(&server, Method::PUT, &path, leaving).await;
    assert_eq!(
        (status, &refused["details"]["causes"][0]["field"]),
        (422, &json!("metadata.deletionTimestamp"))
    );
    post(&server, MAPS, &json!({"metadata": {"name": "held", "finalizers": ["example.com/f"]}})).await;
    let held = format!("{MAPS}/held");
    call(&server, Method::DELETE, &held, Value::Null).await;
    let more = json!({"metadata": {"name": "held", "finalizers": ["example.com/f", "example.com/g"]}});
    let (status, refused) = call(&server, Method::PUT, &held, more).await;
    assert_eq!(status, 422);
    let message = "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found \
                   new finalizers []string{\"example.com/g\"}";
    assert!(refused["message"].as_str().unwrap().ends_with(message), "{refused}");
}

/// A2.20, O3.1, O3.5: immutable fields of kinds.
#[tokio::test]
async fn some_fields_never_change() {
    let server = server().await;
    post(&server, DEPLOYMENTS, &web()).await;
    let mut other = web();
    other["spec"]["selector"] = json!({"matchLabels": {"app": "other"}});
    other["spec"]["template"]["metadata"]["labels"] = json!({"app": "other"});
    let (status, refused) = call(&server, Method::PUT, &format!("{DEPLOYMENTS}/web"), other).await;
    assert_eq!((status, &refused["details"]["causes"][0]["field"]), (422, &json!("spec.selector")));
    let secrets = "/api/v1/namespaces/default/secrets";
    post(&server, secrets, &json!({"metadata": {"name": "s"}, "type": "Opaque"})).await;
    let typed = json!({"metadata": {"name": "s"}, "type": "example.com/other"});
    let (status, refused) = call(&server, Method::PUT, &format!("{secrets}/s"), typed).await;
    assert_eq!((status, &refused["details"]["causes"][0]["field"]), (422, &json!("type")));
}

/// A2.6, O4.2, A2.5: the status is written through `/status` only, and most metadata is not.
#[tokio::test]
async fn the_status_is_written_separately() {
    let server = server().await;
    let mut sent = web();
    sent["status"] = json!({"replicas": 9});
    let created = post(&server, DEPLOYMENTS, &sent).await.json();
    assert_eq!(created["status"], json!({}), "a new object has no status");
    let path = format!("{DEPLOYMENTS}/web/status");
    let mut status = web();
    status["spec"]["replicas"] = json!(77);
    status["metadata"]["labels"] = json!({"app": "changed"});
    status["metadata"]["annotations"] = json!({"deployment.kubernetes.io/revision": "1"});
    status["status"] = json!({"replicas": 3, "observedGeneration": 1});
    let (code, written) = call(&server, Method::PUT, &path, status).await;
    assert_eq!((code, &written["status"]["replicas"]), (200, &json!(3)), "{written}");
    assert_eq!(
        (&written["spec"]["replicas"], &written["metadata"]["labels"]["app"]),
        (&json!(3), &json!("web"))
    );
    assert_eq!(written["metadata"]["annotations"]["deployment.kubernetes.io/revision"], "1");
    assert_eq!(written["metadata"]["generation"], 1, "O4.2: the revision does not increment it");
    let entries = written["metadata"]["managedFields"].as_array().unwrap();
    let own = entries.iter().find(|entry| entry.get("subresource").is_none()).unwrap();
    assert!(own["fieldsV1"]["f:metadata"]["f:labels"]["f:app"].is_object(), "labels keep their owner: {own}");
    let (_, kept) = call(&server, Method::PUT, &format!("{DEPLOYMENTS}/web"), web()).await;
    assert_eq!(kept["status"]["replicas"], 3, "an update of the rest keeps the status");
    assert_eq!(call(&server, Method::GET, &path, Value::Null).await.1, kept, "the object is read as a whole");
    let mut wrong = web();
    wrong["status"] = json!({"replicas": 1, "readyReplicas": 2});
    let (code, refused) = call(&server, Method::PUT, &path, wrong).await;
    assert_eq!(code, 422, "O3.4: {refused}");
}

/// A2.21: the update that removes the last finalizer deletes the object.
#[tokio::test]
async fn removing_the_last_finalizer_in_an_update_deletes() {
    let server = server().await;
    post(&server, MAPS, &json!({"metadata": {"name": "a", "finalizers": ["example.com/f"]}})).await;
    let path = format!("{MAPS}/a");
    let (_, lingering) = call(&server, Method::DELETE, &path, Value::Null).await;
    let (status, last) = call(&server, Method::PUT, &path, json!({"metadata": {"name": "a"}})).await;
    assert_eq!(status, 200);
    assert_eq!(
        last["metadata"]["resourceVersion"], lingering["metadata"]["resourceVersion"],
        "the old version"
    );
    assert_eq!(last["metadata"].get("finalizers"), None);
    assert_eq!(call(&server, Method::GET, &path, Value::Null).await.0, 404);
}

/// A2.22: the field manager is the one in the query, else the program.
#[tokio::test]
async fn every_write_has_a_field_manager() {
    let server = server().await;
    let map = |name: &str| json!({"metadata": {"name": name}, "data": {"k": "1"}});
    let agent = [("user-agent", "kubectl/v1.37 (linux)")];
    let named = round_trip(&server, Method::POST, MAPS, &agent, map("a").to_string()).await.json();
    assert_eq!(named["metadata"]["managedFields"][0]["manager"], "kubectl");
    let explicit =
        round_trip(&server, Method::POST, &format!("{MAPS}?fieldManager=me"), &agent, map("b").to_string())
            .await
            .json();
    assert_eq!(explicit["metadata"]["managedFields"][0]["manager"], "me");
    let long =
        round_trip(&server, Method::POST, &format!("{MAPS}?fieldManager={}", "x".repeat(129)), &agent, "{}")
            .await;
    assert_eq!(long.status, 422);
}

/// A2.23, A2.24: unknown fields are refused, warned about or ignored.
#[tokio::test]
async fn unknown_fields_are_refused_warned_about_or_ignored() {
    let server = server().await;
    let body = r#"{"metadata":{"name":"NAME","foo":1},"data":{"a":"1","a":"2"},"bar":1}"#;
    let create = async |validation: &str, name: &str| {
        let path = format!("{MAPS}?fieldValidation={validation}");
        round_trip(&server, Method::POST, &path, &[], body.replace("NAME", name)).await
    };
    let strict = create("Strict", "s").await;
    let message = "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: strict decoding error: unknown field \
                   \"metadata.foo\", duplicate field \"data.a\", unknown field \"bar\"";
    assert_eq!((strict.status, &strict.json()["message"]), (400, &json!(message)));
    let warned = create("", "w").await;
    assert_eq!(
        warnings(&warned),
        [
            r#"299 - "unknown field \"metadata.foo\"""#,
            r#"299 - "duplicate field \"data.a\"""#,
            r#"299 - "unknown field \"bar\"""#
        ]
    );
    assert_eq!((&warned.json()["data"]["a"], warned.json().get("bar")), (&json!("2"), None));
    let ignored = create("Ignore", "i").await;
    assert_eq!((ignored.status, warnings(&ignored).len()), (201, 0));
}

/// A2.12: bodies of another kind.
#[tokio::test]
async fn a_body_of_another_kind_is_refused() {
    let server = server().await;
    let secret =
        post(&server, MAPS, &json!({"kind": "Secret", "apiVersion": "v1", "metadata": {"name": "a"}})).await;
    let message = "Secret in version \"v1\" cannot be handled as a ConfigMap: converting (v1.Secret) to (core.ConfigMap): \
                   unknown conversion";
    assert_eq!((secret.status, &secret.json()["message"]), (400, &json!(message)));
    let mut old = web();
    old["apiVersion"] = json!("apps/v1beta1");
    let message =
        "the API version in the data (apps/v1beta1) does not match the expected API version (apps/v1)";
    assert_eq!(post(&server, DEPLOYMENTS, &old).await.json()["message"], message);
    let yaml = [("content-type", "application/yaml")];
    let written =
        round_trip(&server, Method::POST, MAPS, &yaml, "metadata: {name: yaml}\ndata: {k: 'on'}\n").await;
    assert_eq!((written.status, &written.json()["data"]["k"]), (201, &json!("on")));
    let boolean = round_trip(&server, Method::POST, MAPS, &yaml, "metadata: {name: y}\n").await;
    assert_eq!(boolean.status, 400, "in YAML 1.1, y is true");
    let twice =
        round_trip(&server, Method::POST, MAPS, &yaml, "metadata: {name: z}\ndata:\n  k: a\n  k: b\n").await;
    assert_eq!(twice.status, 201);
    assert!(!warnings(&twice).is_empty(), "messages of the YAML parser are warnings");
}

/// O4.3, A3.18, A3.24, A5.6: a Scale is written like other objects: dry run, strict validation, apply, metadata.
#[tokio::test]
async fn a_scale_is_an_object_like_others() {
    let server = server().await;
    let created = post(&server, DEPLOYMENTS, &web()).await.json();
    let path = format!("{DEPLOYMENTS}/web/scale");
    let size = |replicas: i32| json!({"metadata": {"name": "web"}, "spec": {"replicas": replicas}});
    let (status, dry) = call(&server, Method::PUT, &format!("{path}?dryRun=All"), size(9)).await;
    assert_eq!((status, &dry["spec"]["replicas"]), (200, &json!(9)));
    assert_eq!(dry["metadata"]["resourceVersion"], created["metadata"]["resourceVersion"]);
    let mut odd = size(4);
    odd["spec"]["foo"] = json!(1);
    let strict = call(&server, Method::PUT, &format!("{path}?fieldValidation=Strict"), odd.clone()).await;
    assert_eq!(strict.0, 400, "{}", strict.1);
    let warned = round_trip(&server, Method::PUT, &path, &[], odd.to_string()).await;
    assert_eq!(warnings(&warned), [r#"299 - "unknown field \"spec.foo\"""#]);
    let statement = json!({"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "web"}, "spec": {"replicas": 5}});
    let apply = "application/apply-patch+yaml";
    let conflict =
        read(send(&server, Method::PATCH, &format!("{path}?fieldManager=m"), apply, &statement).await).await;
    assert_eq!(conflict.0, 409, "{}", conflict.1);
    assert!(conflict.1["message"].as_str().unwrap().contains("using autoscaling/v1: .spec.replicas"));
    let forced = format!("{path}?fieldManager=m&force=true");
    assert_eq!(
        read(send(&server, Method::PATCH, &forced, apply, &statement).await).await.1["spec"]["replicas"],
        5
    );
    let (_, web) = call(&server, Method::GET, &format!("{DEPLOYMENTS}/web"), Value::Null).await;
    let entries = web["metadata"]["managedFields"].as_array().unwrap();
    let applied = entries.iter().find(|entry| entry["operation"] == "Apply").unwrap();
    assert_eq!((&applied["subresource"], &applied["apiVersion"]), (&json!("scale"), &json!("apps/v1")));
    let partial = [("accept", "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io")];
    let part = round_trip(&server, Method::GET, &path, &partial, "").await.json();
    assert_eq!((&part["kind"], part.get("spec")), (&json!("PartialObjectMetadata"), None));
}
