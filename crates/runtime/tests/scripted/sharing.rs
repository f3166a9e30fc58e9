//! One watch for several informers, and informers of some objects.

use std::time::Duration;

use gantry_json::{Value, json};
use gantry_model::{Pod, Timestamp};
use gantry_runtime::informer::{InformerScope, Plain, Typed as _};
use gantry_runtime::{Clock, Informer, Informers, Switch, shutdown};
use k8s_openapi::api::core::v1 as core;
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::script::{Log, RecordedRequest, ScriptedResponse, Then, api};

fn pod(name: &str, version: u32) -> Value {
    let uid = format!("u-{name}");
    json!({
        "metadata": {"namespace": "shop", "name": name, "uid": uid, "resourceVersion": version.to_string()},
        "spec": {"containers": [], "serviceAccountName": "web"},
    })
}

/// A streamed list of one pod.
fn list(_: &RecordedRequest, _: usize) -> ScriptedResponse {
    let end = json!({"kind": "Pod", "apiVersion": "v1", "metadata": {
        "resourceVersion": "4", "annotations": {"k8s.io/initial-events-end": "true"}}});
    let lines = vec![
        json!({"type": "ADDED", "object": pod("a", 1)}),
        json!({"type": "BOOKMARK", "object": end}),
        json!({"type": "ADDED", "object": pod("b", 5)}),
    ];
    ScriptedResponse::Watch(lines, Then::StayOpen)
}

/// Starts informers over a script.
fn start(
    informers: &Informers,
    script: impl Fn(&RecordedRequest, usize) -> ScriptedResponse + Send + Sync + 'static,
) -> (Log, Switch, JoinSet<()>) {
    let (api, log) = api(script);
    let (switch, signal) = shutdown();
    let mut tasks = JoinSet::new();
    informers.start(&mut tasks, &api, &Clock::of_tokio(Timestamp::EPOCH), &signal);
    (log, switch, tasks)
}

#[tokio::test(start_paused = true)]
async fn two_types_of_one_resource_share_a_watch_and_its_objects() {
    let informers = Informers::new();
    let parsed: Informer<Pod> = informers.of();
    let (whole, again): (Informer<Plain<core::Pod>>, Informer<Plain<core::Pod>>) =
        (informers.of(), informers.of());
    let (log, _switch, _tasks) = start(&informers, list);
    tokio::join!(parsed.synced(), whole.synced());
    sleep(Duration::from_secs(1)).await;
    assert_eq!((parsed.read().len(), whole.read().len(), again.read().len()), (2, 2, 2));
    assert_eq!(parsed.read().version(), whole.read().version());
    assert_eq!(log.all().len(), 1, "one watch for both");
}

#[tokio::test(start_paused = true)]
async fn an_informer_that_joins_late_gets_the_list_and_the_others_notify_nothing() {
    let informers = Informers::new();
    let parsed: Informer<Pod> = informers.of();
    let (log, _switch, _tasks) = start(&informers, list);
    sleep(Duration::from_secs(1)).await;
    assert_eq!(parsed.read().len(), 2);
    let before: Vec<_> = parsed.read().iter().cloned().collect();
    let metadata = informers.metadata_of(&Pod::resource()).expect("pods are watched");
    metadata.synced().await;
    sleep(Duration::from_secs(1)).await;
    let names: Vec<_> = metadata.read().iter().map(|pod| pod.0.identity.name.to_string()).collect();
    assert_eq!(names, ["a", "b"]);
    assert_eq!(log.all().len(), 2, "the source lists again");
    let after: Vec<_> = parsed.read().iter().cloned().collect();
    assert!(std::sync::Arc::ptr_eq(&before[0], &after[0]), "unchanged objects are kept");
    let nodes = Plain::<core::Node>::resource();
    assert!(informers.metadata_of(&nodes).is_none(), "nodes are not watched");
}

/// Before that only the fields of a pod that the rules need are decoded; the account is not among them.
#[tokio::test(start_paused = true)]
async fn an_informer_of_whole_objects_that_joins_late_gets_whole_objects() {
    let informers = Informers::new();
    let parsed: Informer<Pod> = informers.of();
    let (log, _switch, _tasks) = start(&informers, list);
    parsed.synced().await;
    let whole: Informer<Plain<core::Pod>> = informers.of();
    whole.synced().await;
    sleep(Duration::from_secs(1)).await;
    let account = |pod: &core::Pod| pod.spec.as_ref().and_then(|spec| spec.service_account_name.clone());
    let accounts: Vec<_> = whole.read().iter().map(|pod| account(&pod.wire)).collect();
    assert_eq!(accounts, [Some("web".to_owned()), Some("web".to_owned())]);
    assert_eq!((parsed.read().len(), log.all().len()), (2, 2));
}

#[tokio::test(start_paused = true)]
async fn a_dropped_informer_costs_nothing_more() {
    let informers = Informers::new();
    let parsed: Informer<Pod> = informers.of();
    let (log, _switch, _tasks) = start(&informers, list);
    drop(informers.metadata_of(&Pod::resource()));
    parsed.synced().await;
    sleep(Duration::from_secs(1)).await;
    assert_eq!((parsed.read().len(), log.all().len()), (2, 1));
}

#[tokio::test(start_paused = true)]
async fn a_scope_limits_lists_and_watches() {
    let informers = Informers::new();
    let shop = || InformerScope::namespace("shop");
    let web: Informer<Pod> = informers.scoped(shop().labels("app=web"));
    let one: Informer<Pod> = informers.scoped(shop().named(&"a".into()));
    let (log, _switch, _tasks) = start(&informers, |request, nth| {
        if request.has_parameter("sendInitialEvents=true") && request.has_parameter("labelSelector=app%3Dweb")
        {
            return ScriptedResponse::Whole(422, json!({"kind": "Status", "message": "no", "code": 422}));
        }
        if request.has_parameter("limit=500") {
            let items = json!([pod("a", 1)]);
            return ScriptedResponse::Whole(
                200,
                json!({"metadata": {"resourceVersion": "4"}, "items": items}),
            );
        }
        list(request, nth)
    });
    tokio::join!(web.synced(), one.synced());
    sleep(Duration::from_secs(1)).await;
    let requests = log.all();
    assert!(requests.iter().all(|request| request.path == "/api/v1/namespaces/shop/pods"), "{requests:?}");
    let by = |selector: &str| requests.iter().filter(|request| request.has_parameter(selector)).count();
    assert_eq!(by("labelSelector=app%3Dweb"), 3, "streamed list, pages, watch");
    assert_eq!(by("fieldSelector=metadata.name%3Da"), 1);
}

#[tokio::test(start_paused = true)]
async fn a_lost_connection_is_reported_until_it_is_restored() {
    let informers = Informers::new();
    let pods: Informer<Pod> = informers.of();
    let (_log, _switch, _tasks) = start(&informers, |request, nth| match nth {
        0..3 => ScriptedResponse::Busy(429, "5"),
        _ => list(request, nth),
    });
    sleep(Duration::from_secs(1)).await;
    assert_eq!(pods.error().borrow().as_ref().and_then(|error| error.code), Some(429));
    pods.synced().await;
    assert!(pods.error().borrow().is_none());
}
