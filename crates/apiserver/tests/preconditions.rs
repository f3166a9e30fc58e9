//! Preconditions of a create hold until the object is stored: no object remains in a deleted namespace or of a deleted
//! kind.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod harness;

use gantry_apiserver::Settings;
use gantry_json::{Value, json};
use gantry_store::{ListRequest, Prefix, Store as _};
use http::Method;

use harness::call;
use harness::gated_store::{GatedStore, StoreCall};

/// Holds every write of an object called `late`.
fn writes_late(call: &StoreCall<'_>) -> bool {
    let StoreCall::Commit(transaction) = call else { return false };
    transaction.ops().any(|(key, _)| key.as_bytes().ends_with(b"/late"))
}

/// Creates an object, and makes a concurrent change before it is stored. Returns the response and the number of stored
/// objects.
async fn create_with_concurrent_change(
    prepare: &[(Method, &str, Value)],
    create: (&str, Value),
    meanwhile: &[(Method, &str, Value)],
) -> (u16, Value, usize) {
    let (server, store) = GatedStore::server(Settings::default(), writes_late).await;
    for (method, path, body) in prepare {
        let (status, response) = call(&server, method.clone(), path, body.clone()).await;
        assert!(status < 300, "{response}");
    }
    let (path, object) = (create.0.to_owned(), create.1);
    let creating = tokio::spawn({
        let server = server.clone();
        async move { call(&server, Method::POST, &path, object).await }
    });
    store.arrivals(1).await;
    for (method, path, body) in meanwhile {
        let (status, response) = call(&server, method.clone(), path, body.clone()).await;
        assert!(status < 300, "{response}");
    }
    store.open(8);
    let (status, response) = creating.await.unwrap();
    let everything = store.list(ListRequest::all(Prefix::new("/registry/"))).await.unwrap();
    let stored = everything.items.iter().filter(|item| item.key.as_bytes().ends_with(b"/late")).count();
    (status, response, stored)
}

/// A§2.6: an object whose namespace was deleted meanwhile is refused.
#[tokio::test]
async fn no_object_is_created_in_a_deleted_namespace() {
    let shop = json!({"metadata": {"name": "shop"}});
    let finalized =
        json!({"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": "shop"}, "spec": {}});
    let (status, response, stored) = create_with_concurrent_change(
        &[(Method::POST, "/api/v1/namespaces", shop)],
        ("/api/v1/namespaces/shop/configmaps", json!({"metadata": {"name": "late"}})),
        &[
            (Method::DELETE, "/api/v1/namespaces/shop", Value::Null),
            (Method::PUT, "/api/v1/namespaces/shop/finalize", finalized),
        ],
    )
    .await;
    assert_eq!((status, stored), (404, 0), "{response}");
    assert_eq!(response["message"], "namespaces \"shop\" not found");
}

/// A§2.6: the same if the namespace is terminating; an unrelated change of the namespace has no effect.
#[tokio::test]
async fn no_object_is_created_in_a_terminating_namespace() {
    let shop = || json!({"metadata": {"name": "shop"}});
    let late = || ("/api/v1/namespaces/shop/configmaps", json!({"metadata": {"name": "late"}}));
    let prepare = [(Method::POST, "/api/v1/namespaces", shop())];
    let delete = [(Method::DELETE, "/api/v1/namespaces/shop", Value::Null)];
    let (status, response, stored) = create_with_concurrent_change(&prepare, late(), &delete).await;
    assert_eq!((status, stored), (403, 0), "{response}");
    assert_eq!(response["details"]["causes"][0]["reason"], "NamespaceTerminating");

    let named =
        json!({"metadata": {"name": "shop", "labels": {"kubernetes.io/metadata.name": "shop", "x": "y"}}});
    let change = [(Method::PUT, "/api/v1/namespaces/shop", named)];
    let (status, response, stored) = create_with_concurrent_change(&prepare, late(), &change).await;
    assert_eq!((status, stored), (201, 1), "{response}");
}

/// Appendix E: an object whose definition was deleted meanwhile is refused.
#[tokio::test]
async fn no_object_is_created_of_a_deleted_kind() {
    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let definition = json!({
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com", "scope": "Cluster", "names": {"plural": "widgets", "kind": "Widget"},
            "versions": [{"name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object"}}}],
        },
    });
    let widget = json!({"kind": "Widget", "apiVersion": "example.com/v1", "metadata": {"name": "late"}});
    let (status, response, stored) = create_with_concurrent_change(
        &[(Method::POST, definitions, definition)],
        ("/apis/example.com/v1/widgets", widget),
        &[(Method::DELETE, &format!("{definitions}/widgets.example.com"), Value::Null)],
    )
    .await;
    assert_eq!((status, stored), (404, 0), "{response}");
}
