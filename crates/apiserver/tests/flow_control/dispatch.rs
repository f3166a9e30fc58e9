//! Which requests execute, wait and are rejected. The gate of the store determines how long requests execute.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use gantry_apiserver::{ApiServer, RequestLimits, Settings};
use gantry_json::{Value, json};
use http::Method;
use tokio::task::JoinHandle;

use crate::harness::ReceivedResponse;
use crate::harness::gated_store::GatedStore;
use crate::{get_as, lists_config_maps, round_trip_as, user};

/// The list that passes the gate.
const GATED: &str = "/api/v1/namespaces/default/configmaps";
const LEVELS: &str = "/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations";
const SCHEMAS: &str = "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas";

async fn as_master(server: &ApiServer, method: Method, path: &str, body: Value) -> ReceivedResponse {
    round_trip_as(server, user("admin", &["system:masters"]), method, path, &body).await
}

/// A server with a level of one seat, for the members of the group `team`. `queuing` determines whether and how they
/// wait.
async fn server_with_one_seat(queuing: Option<Value>) -> (ApiServer, Arc<GatedStore>) {
    // Each of the levels gets a seat, because shares are rounded up.
    let requests = RequestLimits { reading: 1, mutating: 0, ..RequestLimits::default() };
    let (server, store) =
        GatedStore::server(Settings { requests, ..Settings::default() }, lists_config_maps).await;
    let response = match queuing {
        Some(queuing) => json!({"type": "Queue", "queuing": queuing}),
        None => json!({"type": "Reject"}),
    };
    let limited =
        json!({"nominalConcurrencyShares": 1, "borrowingLimitPercent": 0, "limitResponse": response});
    let level = json!({"metadata": {"name": "narrow"}, "spec": {"type": "Limited", "limited": limited}});
    assert_eq!(as_master(&server, Method::POST, LEVELS, level).await.status, 201);
    let everything = json!({
        "subjects": [{"kind": "Group", "group": {"name": "team"}}],
        "resourceRules": [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"], "namespaces": ["*"], "clusterScope": true}],
    });
    let schema = json!({"metadata": {"name": "team"}, "spec": {
        "priorityLevelConfiguration": {"name": "narrow"}, "matchingPrecedence": 50,
        "distinguisherMethod": {"type": "ByUser"}, "rules": [everything],
    }});
    assert_eq!(as_master(&server, Method::POST, SCHEMAS, schema).await.status, 201);
    (server, store)
}

/// Starts a list that waits at the gate while it executes.
fn list(server: &ApiServer, name: &'static str) -> JoinHandle<ReceivedResponse> {
    let server = server.clone();
    tokio::spawn(async move {
        round_trip_as(&server, user(name, &["team"]), Method::GET, GATED, &Value::Null).await
    })
}

/// Runs all tasks that are ready.
async fn settle() {
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
}

/// Two queues of three for each user.
fn queues() -> Value {
    json!({"queues": 64, "handSize": 2, "queueLengthLimit": 3})
}

/// A value of the metrics; 0 if it is missing.
async fn metric(server: &ApiServer, sample: &str) -> f64 {
    let text = as_master(server, Method::GET, "/metrics", Value::Null).await;
    let line = text.text().lines().find_map(|line| line.strip_prefix(sample)?.strip_prefix(' '));
    line.map_or(0.0, |value| value.parse().unwrap())
}

/// A flood of lists of one user waits for its seat; the only list of another user is next, not last.
#[tokio::test(start_paused = true)]
async fn a_flood_does_not_delay_another_user() {
    let (server, store) = server_with_one_seat(Some(queues())).await;
    let first = list(&server, "noisy");
    store.arrivals(1).await;
    let flood: Vec<_> = (0..6).map(|_| list(&server, "noisy")).collect();
    settle().await;
    let quiet = list(&server, "quiet");
    settle().await;
    let in_queue =
        "apiserver_flowcontrol_current_inqueue_requests{flow_schema=\"team\",priority_level=\"narrow\"}";
    assert!((metric(&server, in_queue).await - 7.0).abs() < 0.5, "one executes, and seven wait");
    // The first list ends, and the next one to execute ends as well.
    store.open(2);
    assert_eq!(first.await.unwrap().status, 200);
    assert_eq!(quiet.await.unwrap().status, 200);
    assert!(flood.iter().all(|one| !one.is_finished()));
    store.open(6);
    for one in flood {
        assert_eq!(one.await.unwrap().status, 200);
    }
}

/// While one level is full, users of another and administrators get their responses.
#[tokio::test(start_paused = true)]
async fn a_full_level_does_not_delay_others() {
    let (server, store) = server_with_one_seat(Some(queues())).await;
    let _blocked: Vec<_> = (0..4).map(|_| list(&server, "noisy")).collect();
    store.arrivals(1).await;
    settle().await;
    assert_eq!(get_as(&server, "other", "/api/v1/namespaces/default").await.status, 200);
    assert_eq!(as_master(&server, Method::GET, "/api/v1/nodes", Value::Null).await.status, 200);
    let masters = ["system:masters", "team"];
    let exempt =
        round_trip_as(&server, user("noisy", &masters), Method::GET, "/api/v1/nodes", &Value::Null).await;
    assert_eq!(exempt.status, 200, "an administrator is exempt, whatever other groups they have");
    let probe = round_trip_as(&server, user("noisy", &["team"]), Method::GET, "/livez", &Value::Null).await;
    assert_eq!(probe.status, 200);
}

/// A full queue rejects with 429, in the form in which Kubernetes does.
#[tokio::test(start_paused = true)]
async fn a_full_queue_rejects() {
    let (server, store) = server_with_one_seat(Some(queues())).await;
    let _executes = list(&server, "noisy");
    store.arrivals(1).await;
    let _waiting: Vec<_> = (0..6).map(|_| list(&server, "noisy")).collect();
    settle().await;
    let rejected = list(&server, "noisy").await.unwrap();
    assert_eq!((rejected.status, rejected.text()), (429, "Too many requests, please try again later.\n"));
    assert_eq!(rejected.header("retry-after"), "1");
    assert_eq!(rejected.header("content-type"), "text/plain; charset=utf-8");
    assert_eq!(rejected.header("x-content-type-options"), "nosniff");
    assert!(!rejected.header("x-kubernetes-pf-flowschema-uid").is_empty());
    let counter = "apiserver_flowcontrol_rejected_requests_total{flow_schema=\"team\",priority_level=\"narrow\",reason=\"queue-full\"}";
    assert!((metric(&server, counter).await - 1.0).abs() < 0.5);
}

/// A request waits for a quarter of its timeout at most.
#[tokio::test(start_paused = true)]
async fn a_long_wait_ends_with_429() {
    let (server, store) = server_with_one_seat(Some(queues())).await;
    let executes = list(&server, "noisy");
    store.arrivals(1).await;
    let began = tokio::time::Instant::now();
    let late = list(&server, "noisy").await.unwrap();
    assert_eq!(late.status, 429);
    assert_eq!(began.elapsed().as_secs(), 15, "a quarter of a minute");
    store.open(1);
    assert_eq!(executes.await.unwrap().status, 200);
    store.open(1);
    assert_eq!(list(&server, "noisy").await.unwrap().status, 200, "the seat is free again");
}

#[tokio::test(start_paused = true)]
async fn a_level_without_queues_rejects_requests_without_a_free_seat() {
    let (server, store) = server_with_one_seat(None).await;
    let executes = list(&server, "noisy");
    store.arrivals(1).await;
    assert_eq!(list(&server, "quiet").await.unwrap().status, 429);
    store.open(1);
    assert_eq!(executes.await.unwrap().status, 200);
}

/// A client that disconnects while its request waits frees its place in the queue; while it executes, its seat.
#[tokio::test(start_paused = true)]
async fn disconnected_clients_leave_the_queue() {
    let (server, store) = server_with_one_seat(Some(queues())).await;
    let executes = list(&server, "noisy");
    store.arrivals(1).await;
    let waits = list(&server, "noisy");
    settle().await;
    waits.abort();
    settle().await;
    let in_queue =
        "apiserver_flowcontrol_current_inqueue_requests{flow_schema=\"team\",priority_level=\"narrow\"}";
    assert!(metric(&server, in_queue).await < 0.5);
    let next = list(&server, "quiet");
    settle().await;
    executes.abort();
    store.arrivals(1).await;
    store.open(2);
    assert_eq!(next.await.unwrap().status, 200);
}

/// A watch takes a seat while it begins, and none afterwards.
#[tokio::test(start_paused = true)]
async fn a_watch_releases_its_seat_once_it_has_begun() {
    let (server, store) = server_with_one_seat(None).await;
    let watch = tokio::spawn({
        let server = server.clone();
        async move {
            let path = format!("{GATED}?watch=true");
            let mut request = http::Request::get(path).body(bytes::Bytes::new()).unwrap();
            request.extensions_mut().insert(gantry_apiserver::AuthenticatedUser(user("w", &["team"])));
            server.handle(request).await
        }
    });
    store.arrivals(1).await;
    assert_eq!(list(&server, "quiet").await.unwrap().status, 429, "the watch begins");
    store.open(1);
    let stream = watch.await.unwrap();
    store.open(1);
    assert_eq!(list(&server, "quiet").await.unwrap().status, 200);
    drop(stream);
}

/// A body that never arrives.
struct PendingBody;

impl http_body::Body for PendingBody {
    type Data = bytes::Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<http_body::Frame<bytes::Bytes>, Self::Error>>> {
        Poll::Pending
    }
}

/// A client that sends its body slowly keeps no seat meanwhile.
#[tokio::test(start_paused = true)]
async fn a_slow_body_holds_no_seat() {
    let (server, _store) = server_with_one_seat(None).await;
    let slow = tokio::spawn({
        let server = server.clone();
        async move {
            let mut request = http::Request::post("/api/v1/namespaces").body(PendingBody).unwrap();
            request.extensions_mut().insert(gantry_apiserver::AuthenticatedUser(user("slow", &["team"])));
            server.serve(request).await.status().as_u16()
        }
    });
    settle().await;
    let nodes =
        round_trip_as(&server, user("quiet", &["team"]), Method::GET, "/api/v1/nodes", &Value::Null).await;
    assert_eq!(nodes.status, 200);
    assert!(!slow.is_finished());
    slow.abort();
}

/// A FlowSchema and a level that are written apply to the next request, and so does their deletion.
#[tokio::test(start_paused = true)]
async fn a_written_flow_schema_applies_to_the_next_request() {
    let (server, _store) = server_with_one_seat(Some(queues())).await;
    let uid = |response: &ReceivedResponse| response.header("x-kubernetes-pf-flowschema-uid").to_owned();
    let team = as_master(&server, Method::GET, &format!("{SCHEMAS}/team"), Value::Null).await.json();
    let list_nodes = || async {
        round_trip_as(&server, user("a", &["team"]), Method::GET, "/api/v1/nodes", &Value::Null).await
    };
    assert_eq!(uid(&list_nodes().await), team["metadata"]["uid"]);
    assert_eq!(as_master(&server, Method::DELETE, &format!("{SCHEMAS}/team"), Value::Null).await.status, 200);
    let default =
        as_master(&server, Method::GET, &format!("{SCHEMAS}/global-default"), Value::Null).await.json();
    let after = list_nodes().await;
    assert_eq!(uid(&after), default["metadata"]["uid"]);
    let level =
        as_master(&server, Method::GET, &format!("{LEVELS}/global-default"), Value::Null).await.json();
    assert_eq!(after.header("x-kubernetes-pf-prioritylevel-uid"), level["metadata"]["uid"]);
}

/// A level gets seats that others do not need before its requests have to wait.
#[tokio::test(start_paused = true)]
async fn a_busy_level_borrows_idle_seats() {
    let (server, store) = GatedStore::server(Settings::default(), lists_config_maps).await;
    let seats = |kind: &'static str| {
        let server = server.clone();
        async move {
            let sample =
                format!("apiserver_flowcontrol_{kind}_limit_seats{{priority_level=\"global-default\"}}");
            metric(&server, &sample).await
        }
    };
    assert!((seats("nominal").await - 49.0).abs() < 0.5);
    let lists: Vec<_> = (0..20)
        .flat_map(|_| {
            ["a", "b", "c", "d", "e", "f", "g", "h"].map(|name| {
                let server = server.clone();
                tokio::spawn(async move { get_as(&server, name, GATED).await.status })
            })
        })
        .collect();
    settle().await;
    tokio::time::sleep(Duration::from_secs(11)).await;
    let one_more = tokio::spawn({
        let server = server.clone();
        async move { get_as(&server, "i", GATED).await.status }
    });
    settle().await;
    assert!(seats("current").await > 100.0, "{}", seats("current").await);
    store.open(161);
    for one in lists {
        assert_eq!(one.await.unwrap(), 200);
    }
    assert_eq!(one_more.await.unwrap(), 200);
}
