//! The content of etcd is what a kube-apiserver would write and read.

use bytes::Bytes;
use gantry_store::suite::{key, prefix};
use gantry_store::{ListRequest, Prefix, Transaction};

use crate::etcd::Etcd;

const POD: &str = r#"{"kind":"Pod","apiVersion":"v1","metadata":{"name":"web","namespace":"default"}}"#;
const POD_KEY: &str = "/registry/pods/default/web";

/// The key is unchanged, the value is stored byte for byte, without a lease, and at etcd's own revision.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_object_is_stored_under_its_registry_key_as_plain_json() {
    let etcd = Etcd::quick();
    let store = etcd.store().await;
    let revision = store.commit(Transaction::create(key(POD_KEY), POD)).await.unwrap();
    assert_eq!(etcd.ctl(&["get", POD_KEY]), format!("{POD_KEY}\n{POD}\n"));
    let detail = etcd.ctl(&["get", POD_KEY, "--write-out=json"]);
    let detail: gantry_json::Value = gantry_json::from_str(&detail).unwrap();
    assert_eq!(detail["kvs"][0]["mod_revision"], revision.get());
    assert_eq!(detail["kvs"][0].get("lease"), None);
    assert_eq!(
        etcd.ctl(&["get", "--prefix", "/registry/", "--keys-only"]).trim(),
        POD_KEY,
        "etcd has no other key"
    );
}

/// Values that another client wrote under `/registry` are listed, watched and changed like our own.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn objects_of_a_kube_apiserver_are_read() {
    let etcd = Etcd::quick();
    let store = etcd.store().await;
    etcd.ctl(&["put", POD_KEY, POD]);
    let page = store.list(ListRequest::all(prefix("/registry/pods/"))).await.unwrap();
    assert_eq!(page.items.len(), 1);
    assert_eq!(page.items[0].value, Bytes::from_static(POD.as_bytes()));
    store.commit(Transaction::delete(key(POD_KEY), page.items[0].revision)).await.unwrap();
    assert_eq!(etcd.ctl(&["get", POD_KEY]), "");
}

/// A list of all keys has all of the caller's keys only.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn internal_keys_are_not_listed() {
    let etcd = Etcd::quick();
    let store = etcd.store().await;
    store.commit(Transaction::create(key(POD_KEY), POD)).await.unwrap();
    assert!(etcd.ctl(&["get", "--prefix", "!gantry/", "--keys-only"]).contains("!gantry/writers/"));
    let page = store.list(ListRequest::all(Prefix::ALL).limit(1)).await.unwrap();
    assert_eq!((page.items.len(), page.remaining, page.items[0].key.clone()), (1, 0, key(POD_KEY)));
    assert!(store.commit(Transaction::create(key("!gantry/x"), "v")).await.is_err());
}
