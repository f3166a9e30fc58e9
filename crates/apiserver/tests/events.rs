//! One object in two versions: events of both groups (A8.9), autoscalers of both versions (A8.10); and expiry of
//! events.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod harness;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use gantry_apiserver::{ApiServer, Body, Environment, Settings};
use gantry_json::{Value, json};
use gantry_primitives::Timestamp;
use gantry_store::memory::MemoryStore;
use http::Method;
use http_body_util::BodyExt as _;

use harness::{Noon, call, read, send, server};

const CORE: &str = "/api/v1/namespaces/default/events";
const NEW: &str = "/apis/events.k8s.io/v1/namespaces/default/events";

fn core(name: &str) -> Value {
    json!({
        "metadata": {"name": name}, "involvedObject": {"kind": "Pod", "name": "p", "namespace": "default"},
        "reason": "Started", "message": "Started container c", "type": "Normal", "count": 3,
        "source": {"component": "kubelet"}, "firstTimestamp": "2026-01-01T00:00:00Z",
    })
}

fn new(name: &str) -> Value {
    json!({
        "metadata": {"name": name}, "regarding": {"kind": "Pod", "name": "p", "namespace": "default"},
        "reason": "Scheduled", "note": "assigned", "type": "Normal", "action": "Binding",
        "eventTime": "2026-01-01T00:00:00.123456Z", "reportingController": "example.com/s", "reportingInstance": "s-1",
    })
}

async fn get(server: &ApiServer, path: &str) -> Value {
    call(server, Method::GET, path, Value::Null).await.1
}

async fn patched(server: &ApiServer, path: &str, change: Value) -> (u16, Value) {
    read(send(server, Method::PATCH, path, "application/merge-patch+json", &change).await).await
}

/// A watch from the current version on.
async fn watch(server: &ApiServer, path: &str) -> Body {
    let version = get(server, path).await["metadata"]["resourceVersion"].as_str().unwrap().to_owned();
    let path = format!("{path}?watch=true&resourceVersion={version}");
    send(server, Method::GET, &path, "", &Value::Null).await.into_body()
}

/// A8.9: written in one group; read, listed, selected, patched and deleted in the other.
#[tokio::test]
async fn both_event_groups_serve_the_same_object() {
    let server = server().await;
    call(&server, Method::POST, CORE, core("e")).await;
    call(&server, Method::POST, NEW, new("n")).await;
    let seen = get(&server, &format!("{NEW}/e")).await;
    assert_eq!(
        (&seen["apiVersion"], &seen["note"]),
        (&json!("events.k8s.io/v1"), &json!("Started container c"))
    );
    assert_eq!((&seen["regarding"]["name"], &seen["deprecatedCount"]), (&json!("p"), &json!(3)));
    assert_eq!(seen["deprecatedSource"]["component"], "kubelet");
    let seen = get(&server, &format!("{CORE}/n")).await;
    assert_eq!((&seen["apiVersion"], &seen["message"]), (&json!("v1"), &json!("assigned")));
    assert_eq!(
        (&seen["involvedObject"]["name"], &seen["reportingComponent"]),
        (&json!("p"), &json!("example.com/s"))
    );
    for (list, kept) in [
        (format!("{NEW}?fieldSelector=regarding.name=p,reason=Started"), "note"),
        (format!("{CORE}?fieldSelector=source=kubelet"), "message"),
    ] {
        let list = get(&server, &list).await;
        let items = list["items"].as_array().unwrap();
        assert_eq!((items.len(), &items[0][kept]), (1, &json!("Started container c")), "{list}");
    }
    let (_, counted) = patched(&server, &format!("{CORE}/n"), json!({"message": "again"})).await;
    assert_eq!(counted["message"], "again");
    assert_eq!(get(&server, &format!("{NEW}/n")).await["note"], "again");
    assert_eq!(call(&server, Method::DELETE, &format!("{NEW}/e"), Value::Null).await.0, 200);
    assert_eq!(call(&server, Method::GET, &format!("{CORE}/e"), Value::Null).await.0, 404);
}

/// A8.9: watchers of both groups get the same change, each in its own version.
#[tokio::test]
async fn watch_events_are_in_the_requested_api_group() {
    let server = server().await;
    let (mut old, mut modern) = (watch(&server, CORE).await, watch(&server, NEW).await);
    call(&server, Method::POST, CORE, core("e")).await;
    let mut received = Vec::new();
    for stream in [&mut old, &mut modern] {
        let frame = stream.frame().await.unwrap().unwrap().into_data().unwrap();
        let event: Value = gantry_json::from_slice(&frame).unwrap();
        received.push((event["object"]["apiVersion"].clone(), event["object"].get("note").is_some()));
    }
    assert_eq!(received, [(json!("v1"), false), (json!("events.k8s.io/v1"), true)]);
}

/// A8.9: the new group requires its fields, the old one almost none; both are in the namespace of their object.
#[tokio::test]
async fn events_are_validated_by_their_group() {
    let server = server().await;
    let wrong = |field: &'static str, value: Value| {
        let mut event = new("n");
        event[field] = value;
        event
    };
    for (event, message) in [
        (wrong("eventTime", Value::Null), "Event \"n\" is invalid: eventTime: Required value"),
        (wrong("action", json!("")), "Event \"n\" is invalid: action: Required value"),
        (
            wrong("type", json!("Strange")),
            "Event \"n\" is invalid: type: Invalid value: \"\": has invalid value: Strange",
        ),
        (
            wrong("deprecatedCount", json!(1)),
            "Event \"n\" is invalid: count: Invalid value: \"\": needs to be unset",
        ),
        (
            wrong("series", json!({"count": 1, "lastObservedTime": "2026-01-01T00:00:00.000000Z"})),
            "Event \"n\" is invalid: series.count: Invalid value: \"\": should be at least 2",
        ),
        (
            wrong("regarding", json!({"namespace": "other"})),
            "Event \"n\" is invalid: involvedObject.namespace: Invalid value: \"other\": does not match event.namespace",
        ),
    ] {
        let (status, refused) = call(&server, Method::POST, NEW, event).await;
        assert_eq!((status, refused["message"].as_str().unwrap()), (422, message));
    }
    let about_nothing =
        json!({"metadata": {"name": "bare"}, "involvedObject": {"kind": "Node", "name": "n"}});
    assert_eq!(
        call(&server, Method::POST, CORE, about_nothing.clone()).await.0,
        201,
        "a Node has no namespace"
    );
    let system = "/api/v1/namespaces/kube-system/events";
    assert_eq!(call(&server, Method::POST, system, about_nothing).await.0, 422);
    let mut timed = new("timed");
    timed["regarding"] = json!({"kind": "Node", "name": "n"});
    let system = "/apis/events.k8s.io/v1/namespaces/kube-system/events";
    assert_eq!(
        call(&server, Method::POST, system, timed).await.0,
        201,
        "with a time it may be in that namespace, too"
    );
    call(&server, Method::POST, NEW, new("n")).await;
    let (status, refused) = patched(&server, &format!("{NEW}/n"), json!({"note": "x"})).await;
    assert_eq!(status, 422);
    assert_eq!(
        refused["message"],
        "Event \"n\" is invalid: message: Invalid value: \"x\": field is immutable"
    );
    let series = json!({"series": {"count": 2, "lastObservedTime": "2026-01-01T00:00:00.000000Z"}});
    assert_eq!(patched(&server, &format!("{NEW}/n"), series).await.0, 200, "its series may be changed");
}

/// An environment whose time is set by the test.
#[derive(Debug, Default)]
struct SettableClock {
    rest: Noon,
    seconds: AtomicI64,
}

impl Environment for SettableClock {
    fn now(&self) -> Timestamp {
        Noon::NOW.plus(self.seconds.load(Ordering::Relaxed))
    }
    fn uid(&self) -> String {
        self.rest.uid()
    }
    fn name_suffix(&self) -> String {
        self.rest.name_suffix()
    }
}

/// A8.9: an event is deleted an hour after its last write, and watchers see it.
#[tokio::test]
async fn events_expire_after_an_hour() {
    let world = Arc::new(SettableClock::default());
    let server = ApiServer::new(Arc::new(MemoryStore::default()), world.clone(), Settings::default());
    server.prepare().await.unwrap();
    call(&server, Method::POST, CORE, core("old")).await;
    call(&server, Method::POST, NEW, new("counted")).await;
    let mut stream = watch(&server, CORE).await;
    world.seconds.store(3599, Ordering::Relaxed);
    patched(&server, &format!("{CORE}/counted"), json!({"count": 2})).await;
    assert_eq!(server.delete_expired_events().await.unwrap(), 0);
    world.seconds.store(3600, Ordering::Relaxed);
    assert_eq!(server.delete_expired_events().await.unwrap(), 1);
    let mut seen = Vec::new();
    for _ in 0..2 {
        let frame = stream.frame().await.unwrap().unwrap().into_data().unwrap();
        let event: Value = gantry_json::from_slice(&frame).unwrap();
        seen.push(format!("{} {}", event["type"], event["object"]["metadata"]["name"]));
    }
    assert_eq!(seen, ["\"MODIFIED\" \"counted\"", "\"DELETED\" \"old\""]);
}

/// A8.10: v1 has a field for one metric and annotations for everything else, and nothing is lost.
#[tokio::test]
async fn an_autoscaler_has_two_versions() {
    let server = server().await;
    let first = "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers";
    let second = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers";
    let target = json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"});
    let old = json!({"metadata": {"name": "old"}, "spec": {"maxReplicas": 3, "scaleTargetRef": target, "targetCPUUtilizationPercentage": 50}});
    let (status, made) = call(&server, Method::POST, first, old).await;
    assert_eq!((status, &made["spec"]["targetCPUUtilizationPercentage"]), (201, &json!(50)), "{made}");
    let seen = get(&server, &format!("{second}/old")).await;
    let processor = json!({"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}});
    assert_eq!(
        (&seen["apiVersion"], &seen["spec"]["metrics"]),
        (&json!("autoscaling/v2"), &json!([processor]))
    );
    let queue = json!({"type": "External", "external": {
        "metric": {"name": "queue", "selector": {"matchLabels": {"q": "a"}}}, "target": {"type": "AverageValue", "averageValue": "30"}}});
    let behavior = json!({"scaleDown": {"stabilizationWindowSeconds": 5}});
    let rich = json!({"metadata": {"name": "rich"}, "spec": {
        "maxReplicas": 3, "scaleTargetRef": target, "metrics": [processor, queue], "behavior": behavior}});
    let (_, rich) = call(&server, Method::POST, second, rich).await;
    let seen = get(&server, &format!("{first}/rich")).await;
    assert_eq!(seen["spec"]["targetCPUUtilizationPercentage"], 50);
    let note: Value = gantry_json::from_str(
        seen["metadata"]["annotations"]["autoscaling.alpha.kubernetes.io/metrics"].as_str().unwrap(),
    )
    .unwrap();
    let flat = json!([{"type": "External", "external": {"metricName": "queue", "metricSelector": {"matchLabels": {"q": "a"}}, "targetAverageValue": "30"}}]);
    assert_eq!(note, flat);
    assert!(
        seen["metadata"]["annotations"]["autoscaling.alpha.kubernetes.io/behavior"]
            .as_str()
            .unwrap()
            .contains("scaleDown")
    );
    let (status, _) = patched(&server, &format!("{first}/rich"), json!({"spec": {"maxReplicas": 9}})).await;
    assert_eq!(status, 200);
    let after = get(&server, &format!("{second}/rich")).await;
    assert_eq!(
        (&after["spec"]["metrics"], &after["spec"]["behavior"]),
        (&rich["spec"]["metrics"], &rich["spec"]["behavior"])
    );
    assert_eq!((&after["spec"]["maxReplicas"], after["metadata"].get("annotations")), (&json!(9), None));
    let conditions = json!([{"type": "AbleToScale", "status": "True", "lastTransitionTime": null, "reason": "R", "message": "M"}]);
    let current = json!([{"type": "Resource", "resource": {"name": "cpu", "current": {"averageUtilization": 7, "averageValue": "0"}}}]);
    let status = json!({"status": {"conditions": conditions, "currentMetrics": current, "desiredReplicas": 2, "currentReplicas": 2}});
    patched(&server, &format!("{second}/rich/status"), status).await;
    let seen = get(&server, &format!("{first}/rich")).await;
    assert_eq!(
        (&seen["status"]["currentCPUUtilizationPercentage"], &seen["status"]["desiredReplicas"]),
        (&json!(7), &json!(2))
    );
    assert!(
        seen["metadata"]["annotations"]["autoscaling.alpha.kubernetes.io/conditions"]
            .as_str()
            .unwrap()
            .contains("AbleToScale")
    );
}
