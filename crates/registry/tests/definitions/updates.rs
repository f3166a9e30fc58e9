//! Changes of definitions that are refused.

use gantry_json::{Value, json};
use gantry_registry::validation;
use gantry_schema::custom::settle;

use crate::fixture::{NOON, kind, posted, version, widgets, with};

fn changed(old: &Value, pointer: &str, value: Value) -> Vec<String> {
    let found = validation::update(kind(), old, &with(old.clone(), pointer, value));
    found.errors.iter().map(ToString::to_string).collect()
}

fn served() -> Value {
    let new = posted(&widgets());
    let status = settle(&new, &[], NOON).unwrap();
    with(new, "/status", status)
}

/// Appendix E: group and plural are immutable; scope and kind, too, once the definition is established.
#[test]
fn group_scope_and_kind_are_immutable() {
    let immutable = "field is immutable";
    assert_eq!(changed(&posted(&widgets()), "/spec/scope", json!("Cluster")), Vec::<String>::new());
    let served = served();
    assert_eq!(
        changed(&served, "/spec/scope", json!("Cluster")),
        [format!("spec.scope: Invalid value: \"Cluster\": {immutable}")]
    );
    assert_eq!(
        changed(&served, "/spec/names/kind", json!("Gadget")),
        [format!("spec.names.kind: Invalid value: \"Gadget\": {immutable}")]
    );
    for definition in [&served, &posted(&widgets())] {
        assert_eq!(
            changed(definition, "/spec/group", json!("other.example.com")),
            [format!("spec.group: Invalid value: \"other.example.com\": {immutable}")]
        );
        assert_eq!(
            changed(definition, "/spec/names/plural", json!("gadgets")),
            [format!("spec.names.plural: Invalid value: \"gadgets\": {immutable}")]
        );
    }
    assert_eq!(changed(&served, "/spec/names/shortNames", json!(["w"])), Vec::<String>::new());
}

/// Appendix E: a version in which objects may be stored cannot be removed.
#[test]
fn a_stored_version_cannot_be_removed() {
    let versions = json!([version("v2", &json!({"type": "object"}))]);
    assert_eq!(
        changed(&served(), "/spec/versions", versions),
        [
            r#"status.storedVersions: Invalid value: ["v1"]: must have the storage version v2"#,
            concat!(
                r#"status.storedVersions[0]: Invalid value: "v1": missing from spec.versions; v1 was previously a "#,
                "storage version, and must remain in spec.versions until a storage migration ensures no data remains ",
                "persisted in v1 and removes v1 from status.storedVersions"
            ),
        ]
    );
}

/// Appendix E: an approval that was missing before is not required; one that was there may not be removed.
#[test]
fn an_approval_cannot_be_removed() {
    let guarded = with(served(), "/spec/group", json!("shop.k8s.io"));
    assert_eq!(changed(&guarded, "/metadata/labels", json!({"a": "b"})), Vec::<String>::new());
    let annotations = json!({"api-approved.kubernetes.io": "unapproved"});
    let approved = with(guarded, "/metadata/annotations", annotations);
    assert!(
        changed(&approved, "/metadata/annotations", json!({}))[0]
            .contains("Required value: protected groups")
    );
}

/// Appendix E: an established definition cannot get a webhook with an invalid CA bundle.
#[test]
fn a_valid_ca_bundle_cannot_become_invalid() {
    let conversion = json!({"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"],
        "clientConfig": {"url": "https://shop.example.com", "caBundle": "Cg=="}}});
    assert_eq!(
        changed(&served(), "/spec/conversion", conversion.clone()),
        [concat!(
            "spec.conversion.webhookClientConfig.caBundle: Invalid value: \"Cg==\": unable to load root ",
            "certificates: unable to parse bytes as PEM block"
        )]
    );
    assert_eq!(changed(&posted(&widgets()), "/spec/conversion", conversion), Vec::<String>::new());
}

/// Appendix E: accepted names in a status must be valid, too.
#[test]
fn accepted_names_in_a_status_are_validated() {
    let old = served();
    let new = with(old.clone(), "/status/acceptedNames/plural", json!("Widgets"));
    let errors = validation::status(kind(), &old, &new).errors;
    assert!(
        errors[0].to_string().starts_with("status.acceptedNames.plural: Invalid value: \"Widgets\""),
        "{errors:?}"
    );
    assert_eq!(validation::status(kind(), &old, &old).errors, []);
}
