//! Conflicts of names, which kinds are served, and when the finalizer of a definition is removed.

use gantry_json::{Value, json};
use gantry_primitives::Timestamp;
use gantry_registry::lifecycle::{DeleteOptions, Deletion, delete};
use gantry_schema::custom::{Ending, end, settle};
use gantry_schema::kinds::kinds;

use crate::fixture::{NOON, kind, posted, widgets, with};

const LATER: Timestamp = NOON.plus(60);

/// Returns a definition with its status, given the other definitions.
fn settled(definition: &Value, others: &[&Value]) -> Value {
    let status = settle(definition, others, NOON).unwrap_or_else(|| definition["status"].clone());
    with(definition.clone(), "/status", status)
}

/// Returns status, reason and message of a condition.
fn condition_of(definition: &Value, condition: &str) -> [String; 3] {
    let all = definition["status"]["conditions"].as_array().unwrap();
    let found =
        all.iter().find(|found| found["type"] == condition).unwrap_or_else(|| panic!("no {condition}"));
    ["status", "reason", "message"].map(|field| found[field].as_str().unwrap().to_owned())
}

/// A definition in the group of the widgets, with these names.
fn gadgets(names: &Value) -> Value {
    let plural = names["plural"].as_str().unwrap();
    let definition = with(widgets(), "/metadata/name", json!(format!("{plural}.shop.example.com")));
    posted(&with(definition, "/spec/names", names.clone()))
}

/// Appendix E: names that are not in use are accepted, and the kind is served.
#[test]
fn free_names_are_accepted_and_the_kind_is_served() {
    let new = posted(&widgets());
    let done = settled(&new, &[&new]);
    assert_eq!(done["status"]["acceptedNames"], new["spec"]["names"]);
    let time = "2026-01-01T12:00:00Z";
    assert_eq!(
        done["status"]["conditions"],
        json!([
            {"type": "NamesAccepted", "status": "True", "lastTransitionTime": time, "reason": "NoConflicts",
             "message": "no conflicts found"},
            {"type": "Established", "status": "True", "lastTransitionTime": time,
             "reason": "InitialNamesAccepted", "message": "the initial names have been accepted"},
        ])
    );
    assert_eq!(done["status"]["storedVersions"], json!(["v1"]));
    assert_eq!(settle(&done, &[&done], LATER), None, "a second run changes nothing");
}

/// Appendix E: a name that is in use is refused, and the condition reports the last conflict.
#[test]
fn names_in_use_are_refused_with_a_reason() {
    let widgets = settled(&posted(&widgets()), &[]);
    let table = [
        (json!({"plural": "wd", "kind": "Other"}), "PluralConflict", r#""wd" is already in use"#),
        (
            json!({"plural": "others", "singular": "widget", "kind": "Other"}),
            "SingularConflict",
            r#""widget" is already in use"#,
        ),
        (
            json!({"plural": "others", "kind": "Other", "shortNames": ["wd", "widgets", "o"]}),
            "ShortNamesConflict",
            r#"["wd" is already in use, "widgets" is already in use]"#,
        ),
        (
            json!({"plural": "others", "singular": "o", "kind": "Widget", "listKind": "OtherList"}),
            "KindConflict",
            r#""Widget" is already in use"#,
        ),
        (
            json!({"plural": "wd", "kind": "Other", "listKind": "WidgetList"}),
            "ListKindConflict",
            r#""WidgetList" is already in use"#,
        ),
    ];
    for (names, reason, message) in table {
        let other = settled(&gadgets(&names), &[&widgets]);
        assert_eq!(condition_of(&other, "NamesAccepted"), ["False", reason, message]);
        assert_eq!(
            condition_of(&other, "Established"),
            ["False", "NotAccepted", "not all names are accepted"]
        );
        assert_eq!(settle(&other, &[&widgets], LATER), None, "{reason}");
    }
    let elsewhere = with(posted(&crate::fixture::widgets()), "/spec/group", json!("other.example.com"));
    assert_eq!(
        condition_of(&settled(&elsewhere, &[&widgets]), "NamesAccepted")[0],
        "True",
        "groups do not share names"
    );
}

/// Appendix E: when the names become free, the kind is served; the transition time is the time of the change.
#[test]
fn a_definition_gets_its_names_when_they_become_free() {
    let widgets = settled(&posted(&widgets()), &[]);
    let waiting =
        settled(&gadgets(&json!({"plural": "gadgets", "kind": "Gadget", "shortNames": ["wd"]})), &[&widgets]);
    assert_eq!(
        waiting["status"]["acceptedNames"]["plural"], "gadgets",
        "names without conflicts are accepted"
    );
    assert_eq!(waiting["status"]["acceptedNames"].get("shortNames"), None);
    let status = settle(&waiting, &[], LATER).unwrap();
    let served = with(waiting, "/status", status);
    assert_eq!(condition_of(&served, "Established")[0], "True");
    assert_eq!(served["status"]["conditions"][1]["lastTransitionTime"], "2026-01-01T12:01:00Z");
}

/// Appendix E: a served kind stays served under its old names if new names are in use.
#[test]
fn a_served_kind_keeps_its_accepted_names() {
    let widgets = settled(&posted(&widgets()), &[]);
    let gadgets = settled(&gadgets(&json!({"plural": "gadgets", "kind": "Gadget"})), &[&widgets]);
    let greedy = with(gadgets, "/spec/names/shortNames", json!(["wd"]));
    let conflicting = settled(&greedy, &[&widgets, &greedy]);
    assert_eq!(condition_of(&conflicting, "NamesAccepted")[1], "ShortNamesConflict");
    assert_eq!(condition_of(&conflicting, "Established")[0], "True");
    assert_eq!(conflicting["status"]["acceptedNames"]["plural"], "gadgets");
}

/// Appendix E: built-in kinds keep their names, and groups of Kubernetes require an approval.
#[test]
fn groups_of_kubernetes_require_an_approval() {
    assert!(kinds().kind("networking.k8s.io", "v1", "Ingress").is_some());
    let names = json!({"plural": "ingresses", "kind": "Ingress"});
    let ingresses = with(gadgets(&names), "/spec/group", json!("networking.k8s.io"));
    let refused = settled(&ingresses, &[]);
    assert_eq!(condition_of(&refused, "NamesAccepted")[1], "ListKindConflict");
    let approved = |annotation: &str| {
        let annotations = json!({"api-approved.kubernetes.io": annotation});
        let definition = with(posted(&widgets()), "/spec/group", json!("shop.k8s.io"));
        condition_of(
            &settled(&with(definition, "/metadata/annotations", annotations), &[]),
            "KubernetesAPIApprovalPolicyConformant",
        )
    };
    let link = "https://github.com/kubernetes/enhancements/pull/1111";
    assert_eq!(approved(link), ["True", "ApprovedAnnotation", &format!("approved in {link}")]);
    assert_eq!(
        approved("unapproved, a test"),
        ["False", "UnapprovedAnnotation", "not approved: \"unapproved, a test\""]
    );
    assert_eq!(approved("")[..2], ["False", "MissingAnnotation"]);
    assert_eq!(approved("because")[..2], ["False", "InvalidAnnotation"]);
}

/// Appendix E: a kind is not served as long as its conversion webhook has no certificate authority.
#[test]
fn a_kind_with_an_empty_ca_bundle_is_not_served() {
    let conversion = |bundle: &str| {
        let config = json!({"url": "https://shop.example.com", "caBundle": bundle});
        json!({"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"], "clientConfig": config}})
    };
    let waiting = settled(&posted(&with(widgets(), "/spec/conversion", conversion("Cg=="))), &[]);
    assert_eq!(
        condition_of(&waiting, "Established"),
        ["False", "InvalidCABundle", "The conversion webhook CABundle is invalid"]
    );
    // "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n"
    let bundle = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1BQT0KLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo=";
    let trusted = with(waiting, "/spec/conversion", conversion(bundle));
    assert_eq!(condition_of(&settled(&trusted, &[]), "Established")[0], "True");
}

/// Appendix E: the finalizer of a definition is removed when no objects remain.
#[test]
fn the_finalizer_of_a_definition_is_removed_after_its_objects() {
    let served = settled(&posted(&widgets()), &[]);
    assert_eq!(end(&served, 0, NOON), Ending::Nothing, "it is not being deleted");
    let Deletion::Linger(deleted) = delete(&served, &DeleteOptions::default(), kind(), NOON) else {
        panic!()
    };
    let deleted = with(
        deleted,
        "/metadata/finalizers",
        json!(["example.com/other", "customresourcecleanup.apiextensions.k8s.io"]),
    );
    let Ending::Wait(waiting) = end(&deleted, 3, LATER) else { panic!() };
    assert_eq!(
        condition_of(&waiting, "Terminating"),
        ["True", "InstanceDeletionInProgress", "CustomResource deletion is in progress"]
    );
    assert_eq!(end(&waiting, 2, LATER), Ending::Nothing, "the condition is set already");
    let Ending::Release(free) = end(&waiting, 0, LATER) else { panic!() };
    assert_eq!(
        condition_of(&free, "Terminating"),
        ["False", "InstanceDeletionCompleted", "removed all instances"]
    );
    assert_eq!(free["metadata"]["finalizers"], json!(["example.com/other"]));
    assert_eq!(end(&free, 0, LATER), Ending::Nothing, "another finalizer holds it");
    let Deletion::Linger(new) = delete(&posted(&widgets()), &DeleteOptions::default(), kind(), NOON) else {
        panic!()
    };
    let Ending::Release(never) = end(&new, 0, LATER) else { panic!() };
    assert_eq!(
        condition_of(&never, "Terminating"),
        ["False", "NeverEstablished", "resource was never established"]
    );
    assert_eq!(never["metadata"].get("finalizers"), None);
}
