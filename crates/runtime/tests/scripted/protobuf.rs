//! Servers that support protobuf.

use std::time::Duration;

use gantry_formats::protobuf::MessageWriter;
use gantry_model::{Pod, Timestamp, protobuf};
use gantry_runtime::informer::Plain;
use gantry_runtime::{ApiResponse, Clock, Informer, Informers, ResourcePath, StoredRef, Switch, shutdown};
use k8s_openapi::api::core::v1 as core;
use tokio::task::JoinSet;

use crate::script::{Log, PROTOBUF, RecordedRequest, ScriptedResponse, Then, api};

fn pod(name: &str, version: u32, is_end: bool) -> Vec<u8> {
    let mut pod = MessageWriter::default();
    pod.message(1, |metadata| {
        metadata.text(1, name);
        metadata.text(3, "shop");
        metadata.text(5, &format!("u-{name}"));
        metadata.text(6, &version.to_string());
        if is_end {
            metadata.message(12, |annotation| {
                annotation.text(1, "k8s.io/initial-events-end");
                annotation.text(2, "true");
            });
        }
    });
    pod.into_bytes()
}

fn event(kind: &str, object: &[u8]) -> Vec<u8> {
    let mut event = MessageWriter::default();
    event.text(1, kind);
    event.message(2, |raw| raw.bytes(1, &protobuf::envelope("v1", "Pod", object)));
    event.into_bytes()
}

fn status(code: i32, reason: &str) -> Vec<u8> {
    let mut status = MessageWriter::default();
    status.text(3, "no such thing");
    status.text(4, reason);
    status.int32(6, code);
    status.into_bytes()
}

fn streamed_list() -> ScriptedResponse {
    let frames = vec![
        event("ADDED", &pod("a", 1, false)),
        event("ADDED", &pod("b", 2, false)),
        event("BOOKMARK", &pod("", 4, true)),
        event("MODIFIED", &pod("a", 5, false)),
        event("DELETED", &pod("b", 6, false)),
        event("BOOKMARK", &pod("", 9, false)),
    ];
    ScriptedResponse::Frames(frames, Then::StayOpen)
}

/// Starts informers over a script, and runs them for a minute.
async fn minute(
    informers: &Informers,
    script: impl Fn(&RecordedRequest, usize) -> ScriptedResponse + Send + Sync + 'static,
) -> (Log, Switch, JoinSet<()>) {
    let (api, log) = api(script);
    let (switch, signal) = shutdown();
    let mut tasks = JoinSet::new();
    informers.start(&mut tasks, &api, &Clock::of_tokio(Timestamp::EPOCH), &signal);
    tokio::time::sleep(Duration::from_secs(60)).await;
    (log, switch, tasks)
}

fn names(informer: &Informer<Pod>) -> Vec<String> {
    informer.read().iter().map(|pod| pod.meta.name.to_string()).collect()
}

#[tokio::test(start_paused = true)]
async fn a_list_and_a_watch_are_requested_in_protobuf() {
    let informers = Informers::new();
    let pods: Informer<Pod> = informers.of();
    let (log, _switch, _tasks) = minute(&informers, |_, _| streamed_list()).await;
    assert_eq!((names(&pods), pods.read().version().as_str()), (vec!["a".to_owned()], "9"));
    assert_eq!(log.all().len(), 1, "one request for all of it");
    assert_eq!(log.all()[0].accept, format!("{PROTOBUF},application/json"));
}

#[tokio::test(start_paused = true)]
async fn pages_and_errors_are_decoded_from_protobuf() {
    let informers = Informers::new();
    let pods: Informer<Pod> = informers.of();
    let (log, _switch, _tasks) = minute(&informers, |request, nth| {
        if request.has_parameter("sendInitialEvents=true") {
            let refused = protobuf::envelope("v1", "Status", &status(422, "Invalid"));
            return ScriptedResponse::Protobuf(422, refused);
        }
        if request.has_parameter("watch=true") {
            // The first watch fails because its version is too old.
            let expired = vec![event("ERROR", &status(410, "Expired"))];
            let frames = if nth < 5 { expired } else { Vec::new() };
            return ScriptedResponse::Frames(frames, Then::StayOpen);
        }
        let is_first = !request.query.contains("continue=");
        let mut page = MessageWriter::default();
        page.message(1, |metadata| {
            metadata.text(2, "7");
            metadata.text(3, if is_first { "next" } else { "" });
        });
        page.bytes(2, &if is_first { pod("a", 1, false) } else { pod("b", 2, false) });
        ScriptedResponse::Protobuf(200, protobuf::envelope("v1", "PodList", &page.into_bytes()))
    })
    .await;
    assert_eq!((names(&pods), pods.read().version().as_str()), (vec!["a".to_owned(), "b".to_owned()], "7"));
    let lists = log.all().iter().filter(|request| request.has_parameter("sendInitialEvents=true")).count();
    assert_eq!(lists, 2, "an expired version requires a new list");
}

#[tokio::test(start_paused = true)]
async fn a_truncated_frame_fails_the_watch() {
    let informers = Informers::new();
    let pods: Informer<Pod> = informers.of();
    let (log, _switch, _tasks) = minute(&informers, |_, nth| match nth {
        0 => {
            let mut cut = event("ADDED", &pod("a", 1, false));
            cut.truncate(cut.len() - 1);
            ScriptedResponse::Frames(vec![cut], Then::StayOpen)
        }
        1 => ScriptedResponse::Whole(422, gantry_json::json!({"kind": "Status", "code": 422})),
        _ => streamed_list(),
    })
    .await;
    assert!(log.all().len() > 1, "it is requested again");
    assert_eq!(names(&pods), ["a"]);
}

/// An informer of whole objects decodes JSON, and so do all informers that share its watch.
#[tokio::test(start_paused = true)]
async fn objects_are_requested_as_all_informers_can_read_them() {
    let informers = Informers::new();
    let pods: Informer<Pod> = informers.of();
    let script = |request: &RecordedRequest, _: usize| {
        if request.accept.contains(PROTOBUF) {
            return streamed_list();
        }
        let object = gantry_json::json!({"metadata": {"resourceVersion": "9",
            "annotations": {"k8s.io/initial-events-end": "true"}}});
        let end = gantry_json::json!({"type": "BOOKMARK", "object": object});
        ScriptedResponse::Watch(vec![end], Then::StayOpen)
    };
    let (log, _switch, _tasks) = minute(&informers, script).await;
    let whole: Informer<Plain<core::Pod>> = informers.of();
    whole.synced().await;
    assert_eq!((names(&pods).len(), whole.read().len()), (0, 0));
    let accepted: Vec<_> = log.all().iter().map(|request| request.accept.contains(PROTOBUF)).collect();
    assert_eq!(accepted, [true, false]);
}

#[tokio::test(start_paused = true)]
async fn ignored_responses_are_requested_in_protobuf_and_errors_are_decoded() {
    let (api, log) = api(|request, _| {
        let body = pod("web-1", 8, false);
        match request.method.as_str() {
            "POST" => ScriptedResponse::Protobuf(201, protobuf::envelope("v1", "Pod", &body)),
            _ => {
                ScriptedResponse::Protobuf(404, protobuf::envelope("v1", "Status", &status(404, "NotFound")))
            }
        }
    });
    let path = ResourcePath::path("/api/v1/namespaces/shop/pods");
    let stored: StoredRef = api.create(&path, &core::Pod::default()).await.unwrap();
    assert_eq!((stored.name().as_str(), stored.version().as_str()), ("web-1", "8"));
    let refused = api.get::<ApiResponse>(&path).await.unwrap_err();
    assert_eq!((refused.code, refused.to_string().as_str()), (Some(404), "no such thing"));
    assert!(log.all().iter().all(|request| request.accept.starts_with(PROTOBUF)));
}
