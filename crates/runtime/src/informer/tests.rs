//! The store and its indexes, as stories.

use gantry_json::json;
use gantry_model::{Name, ObjectKey, Pod};
use k8s_openapi::api::core::v1 as core;

use super::store::Store;
use super::{Cached as _, InformerEvent, Typed as _};

fn pod(name: &str, version: &str, app: &str, owner: Option<&str>) -> Pod {
    let owners = owner.map(|uid| json!([{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": uid, "controller": true}]));
    let wire: core::Pod = gantry_json::from_value(json!({"metadata": {
        "namespace": "shop", "name": name, "uid": format!("uid-{name}"), "resourceVersion": version,
        "labels": {"app": app, "tier": "front"}, "ownerReferences": owners,
    }}))
    .unwrap();
    <Pod as super::Cached>::parse(&Pod::resource(), &wire.into()).unwrap()
}

fn names<'a>(pods: impl IntoIterator<Item = &'a std::sync::Arc<Pod>>) -> Vec<&'a str> {
    pods.into_iter().map(|pod| pod.meta.name.as_str()).collect()
}

fn selector(pairs: &[(&str, &str)]) -> gantry_model::Selector {
    let labels = pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let wire = k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector {
        match_labels: Some(labels),
        match_expressions: None,
    };
    gantry_model::Selector::parse(wire).unwrap()
}

#[test]
fn objects_are_found_by_name_uid_owner_label_and_lack_of_an_owner() {
    let mut store = Store::new();
    for object in
        [pod("a", "1", "web", Some("u")), pod("b", "2", "web", None), pod("c", "3", "db", Some("u"))]
    {
        assert!(matches!(store.apply(object), Some(InformerEvent::Added(_))));
    }
    let shop = "shop".into();
    assert_eq!(names(store.controlled_by(&"u".into())), ["a", "c"]);
    assert_eq!(names(store.orphans(&shop)), ["b"]);
    assert_eq!(names(store.candidates(&shop, &selector(&[("app", "web"), ("tier", "front")]))), ["a", "b"]);
    assert_eq!(names(store.candidates(&shop, &selector(&[("app", "absent")]))), [""; 0]);
    assert_eq!(names(store.selected(&shop, &selector(&[("app", "web")]))), ["a", "b"]);
    let neither = gantry_model::Selector::with_labels([("app", "web"), ("app", "db")]);
    assert_eq!(names(store.candidates(&shop, &neither)), ["c"]);
    assert_eq!(names(store.selected(&shop, &neither)), [""; 0]);
    assert_eq!(store.with_uid(&"uid-c".into()).unwrap().meta.name, Name::from("c"));
    assert_eq!((store.len(), store.version().as_str()), (3, "3"));
}

#[test]
fn an_object_with_a_new_owner_moves_between_the_indexes() {
    let mut store = Store::new();
    store.apply(pod("a", "1", "web", None));
    assert!(matches!(store.apply(pod("a", "2", "db", Some("u"))), Some(InformerEvent::Updated { .. })));
    let shop = "shop".into();
    assert_eq!(names(store.orphans(&shop)), [""; 0]);
    assert_eq!(names(store.controlled_by(&"u".into())), ["a"]);
    assert_eq!(names(store.candidates(&shop, &selector(&[("app", "web")]))), [""; 0]);
    assert!(
        store.apply(pod("a", "2", "db", Some("u"))).is_none(),
        "a change that arrives twice is delivered once"
    );
    assert!(matches!(store.remove(pod("a", "4", "db", Some("u"))), Some(InformerEvent::Deleted(_))));
    assert!(store.is_empty() && store.get(&ObjectKey::new("shop", "a")).is_none());
    assert_eq!(store.controlled_by(&"u".into()).count(), 0);
    assert_eq!(store.version().as_str(), "4");
}

#[test]
fn a_relist_notifies_added_updated_and_deleted_objects() {
    let mut store = Store::new();
    store.replace(
        vec![pod("gone", "1", "web", None), pod("same", "2", "web", None), pod("new", "3", "web", None)],
        "3".into(),
    );
    let changes = store.replace(
        vec![pod("same", "2", "web", None), pod("new", "5", "web", None), pod("more", "6", "web", None)],
        "9".into(),
    );
    let described: Vec<_> = changes
        .iter()
        .map(|change| {
            let what = match change {
                InformerEvent::Added(_) => "added",
                InformerEvent::Updated { .. } => "updated",
                InformerEvent::Deleted(_) => "deleted",
            };
            format!("{what} {}", change.object().key().name)
        })
        .collect();
    assert_eq!(described, ["deleted gone", "updated new", "added more"]);
    assert_eq!(store.version().as_str(), "9");
}

#[test]
fn the_version_never_steps_back() {
    let mut store = Store::<Pod>::new();
    store.advance_to("9".into());
    store.advance_to("10".into());
    store.advance_to("8".into());
    assert_eq!(store.version().as_str(), "10");
}
