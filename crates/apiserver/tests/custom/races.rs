//! Definitions that are created and deleted while clients use them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use gantry_apiserver::Settings;
use gantry_store::memory::{HistoryLimits, MemoryStore};
use gantry_store::{ListRequest, Prefix, Store as _};

use super::*;

const WIDGET_DEFINITION: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com";

/// Creates widgets until `is_over`, and counts them.
async fn create(server: ApiServer, who: usize, is_over: Arc<AtomicBool>, made: Arc<AtomicUsize>) {
    for number in 0.. {
        if is_over.load(Ordering::Acquire) {
            break;
        }
        let mut new = widget(&format!("w-{who}-{number}"), json!({"size": 1}));
        if number % 3 == 0 {
            new["metadata"]["finalizers"] = json!(["example.com/hold"]);
        }
        let (status, response) = call(&server, Method::POST, WIDGETS, new).await;
        assert!([201, 403, 404].contains(&status), "{status} {response}");
        made.fetch_add(usize::from(status == 201), Ordering::Release);
        if number % 3 == 0 && status == 201 {
            let path = format!("{WIDGETS}/w-{who}-{number}");
            let (status, response) =
                patch(&server, &path, MERGE, json!({"metadata": {"finalizers": null}})).await;
            assert!([200, 404].contains(&status), "{status} {response}");
        }
        tokio::task::yield_now().await;
    }
}

/// Appendix E: under concurrency, no object outlives its definition, and none blocks it forever.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn objects_created_during_deletion_of_their_definition_are_deleted() {
    let store = Arc::new(MemoryStore::new(HistoryLimits::default()));
    let start = || ApiServer::new(store.clone(), Arc::new(harness::Noon::default()), Settings::default());
    let (server, other) = (start(), start());
    server.prepare().await.unwrap();
    let (is_over, made) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let creators: Vec<_> = (0..4)
        .map(|who| {
            let server = if who % 2 == 0 { server.clone() } else { other.clone() };
            tokio::spawn(create(server, who, Arc::clone(&is_over), Arc::clone(&made)))
        })
        .collect();
    for _ in 0..20 {
        define(&server, definition()).await;
        // The definition is deleted while objects of it are created.
        let before = made.load(Ordering::Acquire);
        while made.load(Ordering::Acquire) == before {
            tokio::task::yield_now().await;
        }
        let (status, response) = call(&server, Method::DELETE, WIDGET_DEFINITION, Value::Null).await;
        assert_eq!(status, 200, "{response}");
        // Creators remove the finalizers of their own objects.
        let mut attempts = 0;
        while get(&server, WIDGET_DEFINITION).await.0 != 404 {
            attempts += 1;
            assert!(
                attempts < 6000,
                "the definition is never deleted: {}",
                get(&server, WIDGET_DEFINITION).await.1
            );
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    }
    is_over.store(true, Ordering::Release);
    for creator in creators {
        creator.await.unwrap();
    }
    let left = store.list(ListRequest::all(Prefix::new("/registry/example.com/"))).await.unwrap().items;
    let left: Vec<_> = left.iter().map(|item| String::from_utf8_lossy(&item.value).into_owned()).collect();
    assert_eq!(left, [""; 0]);
}
