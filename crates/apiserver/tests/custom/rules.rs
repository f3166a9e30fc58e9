//! Validation rules (CEL) of definitions.

use super::*;
use crate::harness::round_trip;

const SPEC: &str = "/spec/versions/0/schema/openAPIV3Schema/properties/spec";

fn with_rules(rules: &Value) -> Value {
    let mut definition = definition();
    definition.pointer_mut(SPEC).unwrap()["x-kubernetes-validations"] = rules.clone();
    definition
}

/// Appendix E: an object that violates a rule is refused on create, update and scale.
#[tokio::test]
async fn rule_violations_are_refused() {
    let server = server().await;
    let rules = json!([
        {"rule": "self.colour != 'blue' || self.size < 10", "message": "blue widgets are small", "fieldPath": ".size",
         "reason": "FieldValueForbidden"},
        {"rule": "self.size >= oldSelf.size", "messageExpression": "'cannot shrink from ' + string(oldSelf.size)"},
    ]);
    define(&server, with_rules(&rules)).await;
    let (status, response) =
        call(&server, Method::POST, WIDGETS, widget("a", json!({"size": 10, "colour": "blue"}))).await;
    assert_eq!(status, 422, "{response}");
    assert_eq!(
        response["message"],
        "Widget.example.com \"a\" is invalid: spec.size: Forbidden: blue widgets are small"
    );
    assert_eq!(response["details"]["causes"][0]["reason"], "FieldValueForbidden");
    make(&server, "a", json!({"size": 5, "colour": "blue"})).await;
    let path = format!("{WIDGETS}/a");
    let (status, response) = patch(&server, &path, MERGE, json!({"spec": {"size": 3}})).await;
    assert_eq!(status, 422, "{response}");
    assert_eq!(
        response["message"],
        "Widget.example.com \"a\" is invalid: spec: Invalid value: cannot shrink from 5"
    );
    let scale = format!("{path}/scale");
    let (status, response) = patch(&server, &scale, MERGE, json!({"spec": {"replicas": 12}})).await;
    assert_eq!(status, 422, "{response}");
    let (status, response) = patch(&server, &path, MERGE, json!({"spec": {"size": 9}})).await;
    assert_eq!((status, &response["spec"]["size"]), (200, &json!(9)), "{response}");
}

/// Appendix E: a new rule does not refuse unchanged values; it warns.
#[tokio::test]
async fn a_new_rule_only_warns_about_unchanged_values() {
    let server = with_widgets().await;
    make(&server, "a", json!({"size": 5})).await;
    let path = format!("{DEFINITIONS}/widgets.example.com");
    let rule = json!([{"rule": "self.size > 7", "message": "too small"}]);
    let added = json!({"spec": {"versions": with_rules(&rule)["spec"]["versions"]}});
    let (status, response) = patch(&server, &path, MERGE, added).await;
    assert_eq!(status, 200, "{response}");
    let (path, kind) = (format!("{WIDGETS}/a"), [("content-type", MERGE)]);
    let labelled = json!({"metadata": {"labels": {"a": "b"}}}).to_string();
    let response = round_trip(&server, Method::PATCH, &path, &kind, labelled).await;
    assert_eq!(
        (response.status, response.header("warning")),
        (200, "299 - \"spec: Invalid value: too small\"")
    );
    let (status, response) = patch(&server, &path, MERGE, json!({"spec": {"size": 6}})).await;
    assert_eq!(status, 422, "{response}");
}

/// Appendix E: a definition with an invalid rule is refused.
#[tokio::test]
async fn an_invalid_rule_is_refused() {
    let server = server().await;
    let (status, response) =
        call(&server, Method::POST, DEFINITIONS, with_rules(&json!([{"rule": "self.weight > 1"}]))).await;
    assert_eq!(status, 422, "{response}");
    let message = response["message"].as_str().unwrap();
    assert!(
        message.contains("x-kubernetes-validations[0].rule: Invalid value: ")
            && message.contains("compilation failed: ERROR: <input>:1:5: undefined field 'weight'"),
        "{message}"
    );
}
