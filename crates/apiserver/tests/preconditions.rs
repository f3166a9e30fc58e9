//! Preconditions of a create hold until the object is stored: no object is left in a deleted namespace or of a deleted
//! kind.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on should say so and stop")]

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

/// Creates an object, and makes a concurrent change before it is stored.
async fn overtaken(
    prepare: &[(Method, &str, Value)],
    create: (&str, Value),
    meanwhile: &[(Method, &str, Value)],
) -> (u16, Value, usize) {
    let (server, store) = GatedStore::server(Settings::default(), writes_late).await;
    for (method, path, body) in prepare {
        let (status, answer) = call(&server, method.clone(), path, body.clone()).await;
        assert!(status < 300, "{answer}");
    }
    let (path, object) = (create.0.to_owned(), create.1);
    let creating = tokio::spawn({
        let server = server.clone();
        async move { call(&server, Method::POST, &path, object).await }
    });
    store.arrivals(1).await;
    for (method, path, body) in meanwhile {
        let (status, answer) = call(&server, method.clone(), path, body.clone()).await;
        assert!(status < 300, "{answer}");
    }
    store.open(8);
    let (status, answer) = creating.await.unwrap();
    let everything = store.list(ListRequest::all(Prefix::new("/registry/"))).await.unwrap();
    let left = everything.items.iter().filter(|item| item.key.as_bytes().ends_with(b"/late")).count();
    (status, answer, left)
}

/// 2.6: an object whose namespace was deleted meanwhile is refused.
#[tokio::test]
async fn no_object_is_created_in_a_deleted_namespace() {
    let shop = json!({"metadata": {"name": "shop"}});
    let gone = json!({"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": "shop"}, "spec": {}});
    let (status, answer, left) = overtaken(
        &[(Method::POST, "/api/v1/namespaces", shop)],
        ("/api/v1/namespaces/shop/configmaps", json!({"metadata": {"name": "late"}})),
        &[
            (Method::DELETE, "/api/v1/namespaces/shop", Value::Null),
            (Method::PUT, "/api/v1/namespaces/shop/finalize", gone),
        ],
    )
    .await;
    assert_eq!((status, left), (404, 0), "{answer}");
    assert_eq!(answer["message"], "namespaces \"shop\" not found");
}

/// 2.6: the same if the namespace is terminating; an unrelated change of the namespace has no effect.
#[tokio::test]
async fn no_object_is_created_in_a_terminating_namespace() {
    let shop = || json!({"metadata": {"name": "shop"}});
    let late = || ("/api/v1/namespaces/shop/configmaps", json!({"metadata": {"name": "late"}}));
    let prepare = [(Method::POST, "/api/v1/namespaces", shop())];
    let delete = [(Method::DELETE, "/api/v1/namespaces/shop", Value::Null)];
    let (status, answer, left) = overtaken(&prepare, late(), &delete).await;
    assert_eq!((status, left), (403, 0), "{answer}");
    assert_eq!(answer["details"]["causes"][0]["reason"], "NamespaceTerminating");

    let named =
        json!({"metadata": {"name": "shop", "labels": {"kubernetes.io/metadata.name": "shop", "x": "y"}}});
    let change = [(Method::PUT, "/api/v1/namespaces/shop", named)];
    let (status, answer, left) = overtaken(&prepare, late(), &change).await;
    assert_eq!((status, left), (201, 1), "{answer}");
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
    let (status, answer, left) = overtaken(
        &[(Method::POST, definitions, definition)],
        ("/apis/example.com/v1/widgets", widget),
        &[(Method::DELETE, &format!("{definitions}/widgets.example.com"), Value::Null)],
    )
    .await;
    assert_eq!((status, left), (404, 0), "{answer}");
}
