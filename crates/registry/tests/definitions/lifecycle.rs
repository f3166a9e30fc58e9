//! New, changed and deleted definitions.

use gantry_json::json;
use gantry_registry::lifecycle::{DeleteOptions, Deletion, Part, Propagation, Updated, delete, update};
use gantry_registry::validation;

use crate::fixture::{NOON, kind, posted, refused, version, widgets, with};

/// Appendix E: a new definition has default names, no conversion, and a status with only the stored version.
#[test]
fn a_new_definition_gets_defaults() {
    let stored = posted(&with(widgets(), "/status", json!({"storedVersions": ["v9"], "conditions": []})));
    assert_eq!(refused(&widgets()), Vec::<String>::new());
    let names = json!({
        "plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList", "shortNames": ["wd"],
    });
    assert_eq!(stored["spec"]["names"], names);
    assert_eq!(stored["spec"]["conversion"], json!({"strategy": "None"}));
    let status =
        json!({"conditions": null, "acceptedNames": {"plural": "", "kind": ""}, "storedVersions": ["v1"]});
    assert_eq!(stored["status"], status);
    assert_eq!(stored["metadata"]["generation"], 1);
    let service = json!({"strategy": "Webhook", "webhook": {
        "conversionReviewVersions": ["v1"], "clientConfig": {"service": {"namespace": "n", "name": "s"}}}});
    let converting = posted(&with(widgets(), "/spec/conversion", service));
    assert_eq!(converting["spec"]["conversion"]["webhook"]["clientConfig"]["service"]["port"], 443);
}

/// Appendix E: all versions in which objects may be stored are recorded; a change of the spec counts as a generation.
#[test]
fn all_stored_versions_are_recorded() {
    let stored = posted(&widgets());
    let v2 = version("v2", &json!({"type": "object"}));
    let v1 = with(version("v1", &json!({"type": "object"})), "/storage", json!(false));
    let wanted = with(stored.clone(), "/spec/versions", json!([v1, v2]));
    let wanted = with(wanted, "/status", json!({"storedVersions": ["v2"]}));
    let Updated::Store(changed) = update(&stored, wanted, Part::Main, kind()) else { panic!() };
    assert_eq!(changed["status"]["storedVersions"], json!(["v1", "v2"]));
    assert_eq!(changed["metadata"]["generation"], 2);
    assert_eq!(validation::update(kind(), &stored, &changed).errors, []);
    let Updated::Store(again) =
        update(&changed, with(changed.clone(), "/metadata/labels", json!({"a": "b"})), Part::Main, kind())
    else {
        panic!()
    };
    assert_eq!(again["status"], changed["status"]);
    assert_eq!(again["metadata"]["generation"], 2);
}

/// Appendix E: the first DELETE of a definition sets a finalizer and a condition, whatever its options.
#[test]
fn a_definition_has_a_finalizer_for_its_objects() {
    let stored = posted(&widgets());
    let options = DeleteOptions { propagation: Some(Propagation::Orphan), ..DeleteOptions::default() };
    let Deletion::Linger(ending) = delete(&stored, &options, kind(), NOON) else { panic!() };
    let cleanup = "customresourcecleanup.apiextensions.k8s.io";
    assert_eq!(ending["metadata"]["finalizers"], json!([cleanup]));
    assert_eq!(ending["metadata"]["deletionTimestamp"], "2026-01-01T12:00:00Z");
    assert_eq!(ending["metadata"]["generation"], 1);
    assert_eq!(
        ending["status"]["conditions"],
        json!([{
            "type": "Terminating", "status": "True", "lastTransitionTime": "2026-01-01T12:00:00Z",
            "reason": "InstanceDeletionPending",
            "message": "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
        }])
    );
    let plain = DeleteOptions::default();
    assert!(!matches!(delete(&ending, &plain, kind(), NOON), Deletion::Remove(_)), "its finalizer holds it");
}
