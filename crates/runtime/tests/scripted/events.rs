//! Writing of events to the server.

use std::time::Duration;

use gantry_decide::events::Subject;
use gantry_json::json;
use gantry_model::{Event, Timestamp};
use gantry_runtime::{Clock, EventRecorder, render, shutdown};

use crate::script::{Log, RecordedRequest, ScriptedResponse, Then, api};

fn subject() -> Subject {
    Subject {
        api_version: "apps/v1".into(),
        kind: "Deployment".into(),
        namespace: Some("shop".into()),
        name: "web".into(),
        uid: "u-1".into(),
        resource_version: "7".into(),
    }
}

/// Records the same event so many times, and returns the requests of two minutes.
async fn requests_for(
    times: usize,
    script: impl Fn(&RecordedRequest, usize) -> ScriptedResponse + Send + Sync + 'static,
) -> Log {
    let (api, log) = api(script);
    let (recorder, writer) = EventRecorder::new(api, Clock::of_tokio(Timestamp::from_secs(100)));
    let (switch, signal) = shutdown();
    let running = tokio::spawn(writer.run(signal));
    for _ in 0..times {
        recorder.record("tester", subject(), Event::normal("Told", "something".to_owned()));
    }
    tokio::time::sleep(Duration::from_secs(120)).await;
    switch.turn();
    running.await.unwrap();
    log
}

/// D17.2, D17.3: the first is created, and the second raises its count.
#[tokio::test(start_paused = true)]
async fn a_repeated_event_raises_its_count() {
    let log = requests_for(2, |_, _| ScriptedResponse::Whole(200, json!({}))).await.all();
    let [created, patched] = log.as_slice() else { panic!("{log:?}") };
    assert_eq!((created.method.as_str(), created.path.as_str()), ("POST", "/api/v1/namespaces/shop/events"));
    assert_eq!(created.body["count"], 1);
    assert_eq!(created.body["involvedObject"]["uid"], "u-1");
    assert_eq!(created.body["source"]["component"], "tester");
    assert_eq!(created.body["reportingComponent"], "tester");
    let name = created.body["metadata"]["name"].as_str().unwrap();
    assert_eq!(
        (patched.method.as_str(), patched.path.clone()),
        ("PATCH", format!("/api/v1/namespaces/shop/events/{name}"))
    );
    assert_eq!(patched.body["count"], 2);
}

/// D17.3: an expired event is created again, with its count.
#[tokio::test(start_paused = true)]
async fn a_deleted_event_is_created_again() {
    let gone = |request: &RecordedRequest, _| match request.method.as_str() {
        "PATCH" => ScriptedResponse::Whole(404, json!({"kind": "Status", "reason": "NotFound"})),
        _ => ScriptedResponse::Whole(201, json!({})),
    };
    let log = requests_for(2, gone).await.all();
    let methods: Vec<_> = log.iter().map(|request| request.method.as_str()).collect();
    assert_eq!(methods, ["POST", "PATCH", "POST"]);
    assert_eq!(log[2].body["count"], 2);
}

/// A refused event is not sent again; one without a response is, for a while.
#[tokio::test(start_paused = true)]
async fn a_refused_event_is_dropped() {
    let log =
        requests_for(1, |_, _| ScriptedResponse::Whole(403, json!({"kind": "Status", "message": "no"})))
            .await;
    assert_eq!(log.all().len(), 1);
    let log = requests_for(1, |_, _| ScriptedResponse::Watch(Vec::new(), Then::StayOpen)).await;
    assert!(log.all().len() > 2, "without a response it is sent again");
}

/// D17.3: recording never waits.
#[tokio::test(start_paused = true)]
async fn more_events_than_fit_are_dropped_and_counted() {
    let (api, _) = api(|_, _| ScriptedResponse::Watch(Vec::new(), Then::StayOpen));
    let metrics = api.metrics().clone();
    let (recorder, _writer) = EventRecorder::new(api, Clock::of_tokio(Timestamp::from_secs(100)));
    for _ in 0..1003 {
        recorder.record("tester", subject(), Event::normal("Told", "something".to_owned()));
    }
    let text = render(&metrics.snapshot());
    assert!(text.contains("gantry_events_dropped_total{source=\"tester\"} 3"), "{text}");
}
