//! Informers and server failures.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use gantry_json::{Value, json};
use gantry_model::{Pod, Timestamp};
use gantry_runtime::informer::Typed as _;
use gantry_runtime::{Clock, Informer, InformerEvent, shutdown};

use crate::script::{Log, RecordedRequest, ScriptedResponse, Then, api};

fn pod(name: &str, version: u32) -> Value {
    json!({"metadata": {"namespace": "shop", "name": name, "uid": format!("u-{name}"), "resourceVersion": version.to_string()}})
}

fn event(kind: &str, object: &Value) -> Value {
    json!({"type": kind, "object": object})
}

fn end_of_list(version: u32) -> Value {
    event(
        "BOOKMARK",
        &json!({"kind": "Pod", "apiVersion": "v1", "metadata": {
        "resourceVersion": version.to_string(), "annotations": {"k8s.io/initial-events-end": "true"}}}),
    )
}

fn is_list(request: &RecordedRequest) -> bool {
    request.has_parameter("sendInitialEvents=true")
}

/// Runs an informer for a minute and returns it with the changes that its subscriber got, and the requests.
async fn minute(
    script: impl Fn(&RecordedRequest, usize) -> ScriptedResponse + Send + Sync + 'static,
) -> (Informer<Pod>, Vec<String>, Log) {
    let (api, log) = api(script);
    let informer = Informer::<Pod>::new(Pod::resource());
    let changes = Arc::new(Mutex::new(Vec::new()));
    let recorded = changes.clone();
    informer.subscribe(move |change| {
        let word = match change {
            InformerEvent::Added(_) => "added",
            InformerEvent::Updated { .. } => "updated",
            InformerEvent::Deleted(_) => "deleted",
        };
        recorded.lock().unwrap().push(format!("{word} {}", change.object().meta.name));
    });
    let (switch, signal) = shutdown();
    let running = {
        let informer = informer.clone();
        tokio::spawn(async move { informer.run(api, Clock::of_tokio(Timestamp::EPOCH), signal).await })
    };
    tokio::time::sleep(Duration::from_secs(60)).await;
    switch.turn();
    running.await.unwrap();
    let changes = changes.lock().unwrap().clone();
    (informer, changes, log)
}

/// A4.13: the list and the changes that follow are in one stream.
#[tokio::test(start_paused = true)]
async fn a_list_is_streamed_and_continues_as_a_watch() {
    let (informer, changes, log) = minute(|_, _| {
        let changed = event("MODIFIED", &pod("a", 5));
        let gone = event("DELETED", &pod("b", 6));
        let lines =
            vec![event("ADDED", &pod("a", 1)), event("ADDED", &pod("b", 2)), end_of_list(4), changed, gone];
        ScriptedResponse::Watch(lines, Then::StayOpen)
    })
    .await;
    assert_eq!(changes, ["added a", "added b", "updated a", "deleted b"]);
    assert_eq!((informer.read().len(), informer.read().version().as_str()), (1, "6"));
    assert!(informer.is_synced());
    assert_eq!(log.all().len(), 1, "one request for all of it");
}

/// A4.14: from a server that refuses streamed lists pages are requested, and then a watch from their version.
#[tokio::test(start_paused = true)]
async fn pages_are_fetched_where_streams_are_refused() {
    let (informer, changes, log) = minute(|request, _| {
        if is_list(request) {
            return ScriptedResponse::Whole(
                422,
                json!({"kind": "Status", "message": "no such thing", "code": 422}),
            );
        }
        if request.has_parameter("watch=true") {
            return ScriptedResponse::Watch(Vec::new(), Then::StayOpen);
        }
        let (items, next) = if request.has_parameter("continue=more") {
            (json!([pod("b", 2), {"metadata": {"name": "half"}}]), "")
        } else {
            (json!([pod("a", 1)]), "more")
        };
        ScriptedResponse::Whole(
            200,
            json!({"metadata": {"resourceVersion": "7", "continue": next}, "items": items}),
        )
    })
    .await;
    assert_eq!(changes, ["added a", "added b"], "an unreadable object is left out");
    assert_eq!(informer.read().version().as_str(), "7");
    assert!(log.all().last().unwrap().has_parameter("resourceVersion=7"));
}

/// An old server ignores the parameter and never ends the list.
#[tokio::test(start_paused = true)]
async fn a_list_that_never_ends_is_fetched_in_pages() {
    let (api, _) = api(|request, _| match request {
        list if is_list(list) => ScriptedResponse::Watch(vec![event("ADDED", &pod("a", 1))], Then::StayOpen),
        watch if watch.has_parameter("watch=true") => ScriptedResponse::Watch(Vec::new(), Then::StayOpen),
        _ => ScriptedResponse::Whole(
            200,
            json!({"metadata": {"resourceVersion": "7"}, "items": [pod("a", 1)]}),
        ),
    });
    let informer = Informer::<Pod>::new(Pod::resource());
    let (_switch, signal) = shutdown();
    let running = informer.clone();
    tokio::spawn(async move { running.run(api, Clock::of_tokio(Timestamp::EPOCH), signal).await });
    tokio::time::timeout(Duration::from_secs(120), informer.synced()).await.unwrap();
    assert_eq!(informer.read().len(), 1);
}

/// A4.20: a compacted version requires a new list, and deletions in between are notified.
#[tokio::test(start_paused = true)]
async fn a_compacted_version_causes_a_relist() {
    let (_, changes, log) = minute(|request, nth| match nth {
        0 => ScriptedResponse::Watch(
            vec![event("ADDED", &pod("a", 1)), event("ADDED", &pod("b", 2)), end_of_list(4)],
            Then::End,
        ),
        1 => {
            assert!(request.has_parameter("resourceVersion=4"), "{}", request.query);
            let status = json!({"kind": "Status", "code": 410, "reason": "Expired", "message": "too old"});
            ScriptedResponse::Watch(vec![event("ERROR", &status)], Then::End)
        }
        _ => ScriptedResponse::Watch(
            vec![event("ADDED", &pod("b", 2)), event("ADDED", &pod("c", 8)), end_of_list(9)],
            Then::StayOpen,
        ),
    })
    .await;
    assert_eq!(changes, ["added a", "added b", "deleted a", "added c"]);
    assert!(is_list(log.all().last().unwrap()));
}

/// A4.15: a watch is resumed at the last bookmark.
#[tokio::test(start_paused = true)]
async fn a_watch_is_resumed_at_the_last_bookmark() {
    let bookmark =
        event("BOOKMARK", &json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"resourceVersion": "40"}}));
    let (informer, _, log) = minute(move |_, nth| match nth {
        0 => ScriptedResponse::Watch(vec![end_of_list(4), bookmark.clone()], Then::End),
        _ => ScriptedResponse::Watch(Vec::new(), Then::StayOpen),
    })
    .await;
    assert!(log.all()[1].has_parameter("resourceVersion=40"), "{}", log.all()[1].query);
    assert_eq!(informer.read().version().as_str(), "40");
}

/// The requests to a busy server have the delay that the server requests.
#[tokio::test(start_paused = true)]
async fn an_unavailable_server_is_retried_after_the_requested_delay() {
    let (informer, _, log) = minute(|_, nth| match nth {
        0..6 => ScriptedResponse::Busy(429, "5"),
        _ => ScriptedResponse::Watch(vec![end_of_list(4)], Then::StayOpen),
    })
    .await;
    assert_eq!(log.all().len(), 7, "one request per requested delay");
    assert!(informer.is_synced());
}

/// One object that cannot be parsed does not hide the others.
#[tokio::test(start_paused = true)]
async fn an_unreadable_object_is_skipped() {
    let broken = json!({"metadata": {"namespace": "shop", "name": "x", "resourceVersion": "6"}, "spec": {"containers": 1}});
    let (informer, changes, log) = minute(move |_, _| {
        let lines = vec![end_of_list(4), event("ADDED", &broken), event("ADDED", &pod("a", 7))];
        ScriptedResponse::Watch(lines, Then::StayOpen)
    })
    .await;
    assert_eq!(changes, ["added a"]);
    assert_eq!((informer.read().version().as_str(), log.all().len()), ("7", 1));
}

/// A watch without a response times out and is requested again.
#[tokio::test(start_paused = true)]
async fn a_watch_without_a_response_is_sent_again() {
    let (informer, changes, log) = minute(|_, nth| match nth {
        0 => ScriptedResponse::NoResponse,
        _ => ScriptedResponse::Watch(vec![end_of_list(4), event("ADDED", &pod("a", 5))], Then::StayOpen),
    })
    .await;
    assert_eq!(changes, ["added a"]);
    assert!(informer.is_synced() && log.all().len() == 2, "{:?}", log.all());
}
