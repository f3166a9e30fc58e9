//! Writes of custom objects: pruning, defaults, validation, generation.

use super::*;
use crate::harness::round_trip;

fn strict(validation: &str) -> String {
    format!("{WIDGETS}?fieldValidation={validation}")
}

/// Appendix E, A2.23: undeclared fields are pruned, with a warning or a refusal on request.
#[tokio::test]
async fn undeclared_fields_are_pruned() {
    let server = with_widgets().await;
    let odd = widget("a", json!({"size": 1, "weight": 2, "free": {"anything": {"goes": true}}}));
    let kind = [("content-type", "application/json")];
    let response = round_trip(&server, Method::POST, &strict("Warn"), &kind, odd.to_string()).await;
    assert_eq!(response.status, 201);
    assert_eq!(response.header("warning"), "299 - \"unknown field \\\"spec.weight\\\"\"");
    let spec = &response.json()["spec"];
    assert!(spec.get("weight").is_none() && spec["free"]["anything"]["goes"] == true, "{spec}");
    let response = round_trip(&server, Method::POST, &strict("Strict"), &kind, odd.to_string()).await;
    assert_eq!(response.status, 400);
    assert!(
        response.text().contains(r#"strict decoding error: unknown field \"spec.weight\""#),
        "{}",
        response.text()
    );
}

/// Appendix E: defaults are those of the schema, also on reads of objects that were stored before.
#[tokio::test]
async fn defaults_come_from_the_schema() {
    let server = with_widgets().await;
    assert_eq!(make(&server, "a", json!({"size": 1})).await["spec"]["colour"], "red");
    let mut later = definition();
    let properties = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties";
    later.pointer_mut(properties).unwrap()["finish"] = json!({"type": "string", "default": "matt"});
    let path = format!("{DEFINITIONS}/widgets.example.com");
    let (_, stored) = get(&server, &path).await;
    later["metadata"]["resourceVersion"] = stored["metadata"]["resourceVersion"].clone();
    let (status, response) = call(&server, Method::PUT, &path, later).await;
    assert_eq!((status, &response["metadata"]["generation"]), (200, &json!(2)), "{response}");
    let (_, found) = get(&server, &format!("{WIDGETS}/a")).await;
    assert_eq!(found["spec"]["finish"], "matt");
}

/// Appendix E: schema violations are refused with Kubernetes' messages and causes.
#[tokio::test]
async fn schema_violations_are_refused() {
    let server = with_widgets().await;
    let wrong = widget("a", json!({"size": "large", "colour": "green"}));
    let (status, response) = call(&server, Method::POST, WIDGETS, wrong).await;
    assert_eq!(status, 422, "{response}");
    let message = response["message"].as_str().unwrap();
    assert!(message.starts_with("Widget.example.com \"a\" is invalid: "), "{message}");
    assert!(message.contains("spec.size in body must be of type integer: \"string\""), "{message}");
    assert!(
        message.contains("spec.colour: Unsupported value: \"green\": supported values: \"red\", \"blue\"")
    );
    let reasons: Vec<_> = response["details"]["causes"].as_array().unwrap().iter().collect();
    assert!(reasons.iter().any(|cause| cause["reason"] == "FieldValueTypeInvalid"), "{response}");
}

/// A2.18: a PUT requires a resource version.
#[tokio::test]
async fn a_put_without_version_is_refused() {
    let server = with_widgets().await;
    make(&server, "a", json!({"size": 1})).await;
    let path = format!("{WIDGETS}/a");
    let (status, response) = call(&server, Method::PUT, &path, widget("a", json!({"size": 2}))).await;
    assert_eq!(status, 422, "{response}");
    assert!(response["message"].as_str().unwrap().contains("metadata.resourceVersion: Invalid value: 0"));
}

/// Appendix E: the generation counts changes of the spec, not of metadata or status.
#[tokio::test]
async fn the_generation_counts_changes_of_the_spec() {
    let server = with_widgets().await;
    make(&server, "a", json!({"size": 1})).await;
    let path = format!("{WIDGETS}/a");
    let generation = |response: &(u16, Value)| response.1["metadata"]["generation"].clone();
    let labelled = patch(&server, &path, MERGE, json!({"metadata": {"labels": {"x": "y"}}})).await;
    assert_eq!(generation(&labelled), 1);
    let resized = patch(&server, &path, MERGE, json!({"spec": {"size": 2}})).await;
    assert_eq!(generation(&resized), 2);
    let reported = patch(&server, &format!("{path}/status"), MERGE, json!({"status": {"ready": 1}})).await;
    assert_eq!((generation(&reported), &reported.1["status"]["ready"]), (json!(2), &json!(1)));
}

/// Appendix E, A3.1: JSON patch, merge patch and apply; strategic merge patch is not supported.
#[tokio::test]
async fn strategic_merge_patches_are_refused() {
    let server = with_widgets().await;
    make(&server, "a", json!({"size": 1})).await;
    let path = format!("{WIDGETS}/a");
    let (status, response) =
        patch(&server, &path, "application/strategic-merge-patch+json", json!({"spec": {"size": 2}})).await;
    assert_eq!(status, 415);
    assert_eq!(
        response["message"],
        "the body of the request was in an unknown format - accepted media types include: \
         application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml"
    );
    let operations = json!([{"op": "replace", "path": "/spec/size", "value": 3}]);
    let (status, response) = patch(&server, &path, "application/json-patch+json", operations).await;
    assert_eq!((status, &response["spec"]["size"]), (200, &json!(3)), "{response}");
    let (status, response) = patch(&server, &path, MERGE, json!({"spec": {"size": "x"}})).await;
    assert_eq!(status, 422, "{response}");
}

/// A3.14: lists merge by the keys of the definition, and other managers keep the rest.
#[tokio::test]
async fn two_managers_apply_to_one_list() {
    let server = with_widgets().await;
    let path = |manager: &str| format!("{WIDGETS}/a?fieldManager={manager}");
    let part = |name: &str, count| json!({"size": 1, "parts": [{"name": name, "count": count}]});
    let (status, response) = patch(&server, &path("one"), APPLY, widget("a", part("wheel", 4))).await;
    assert_eq!(status, 201, "{response}");
    let (status, response) = patch(&server, &path("two"), APPLY, widget("a", part("door", 2))).await;
    assert_eq!(status, 200, "{response}");
    let parts = json!([{"name": "wheel", "count": 4}, {"name": "door", "count": 2}]);
    assert_eq!(response["spec"]["parts"], parts);
    let (status, response) = patch(&server, &path("two"), APPLY, widget("a", part("wheel", 3))).await;
    assert_eq!((status, &response["reason"]), (409, &json!("Conflict")), "{response}");
    let message = response["message"].as_str().unwrap();
    assert!(message.contains(r#".spec.parts[name="wheel"].count"#), "{message}");
}

/// Finalizers of custom kinds need no domain; adding one without gets a warning.
#[tokio::test]
async fn finalizers_without_a_domain_are_accepted_with_a_warning() {
    let server = with_widgets().await;
    let mut held = widget("a", json!({"size": 1}));
    held["metadata"]["finalizers"] = json!(["hold", "widgets.example.com", "example.com/hold"]);
    let kind = [("content-type", "application/json")];
    let response = round_trip(&server, Method::POST, WIDGETS, &kind, held.to_string()).await;
    assert_eq!(response.status, 201, "{}", response.text());
    let warnings: Vec<_> =
        response.headers.get_all("warning").iter().map(|one| one.to_str().unwrap()).collect();
    let (plain, dotted) = (
        r#"299 - "metadata.finalizers: \"hold\": prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers""#,
        r#"299 - "metadata.finalizers: \"widgets.example.com\": prefer a domain-qualified finalizer name including a path (/) to avoid accidental conflicts with other finalizer writers""#,
    );
    assert_eq!(warnings, [plain, dotted]);
    let merge = [("content-type", MERGE)];
    let label = json!({"metadata": {"labels": {"x": "y"}}}).to_string();
    let response = round_trip(&server, Method::PATCH, &format!("{WIDGETS}/a"), &merge, label).await;
    assert_eq!((response.status, response.header("warning")), (200, ""), "only new finalizers get a warning");

    let mut pod = json!({"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "a"}});
    pod["metadata"]["finalizers"] = json!(["hold"]);
    let (status, _) = call(&server, Method::POST, "/api/v1/namespaces/default/configmaps", pod).await;
    assert_eq!(status, 422, "other kinds are stricter");
}

/// A body that is too deeply nested to be read back is refused.
#[tokio::test]
async fn too_deep_nesting_is_refused() {
    let server = with_widgets().await;
    make(&server, "a", json!({"size": 1})).await;
    let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    let new = |name: &str, levels| {
        let object = widget(name, json!({"size": 1, "free": {"deep": "LEVELS"}}));
        object.to_string().replace("\"LEVELS\"", &deep(levels))
    };
    let one = format!("{WIDGETS}/a");
    let apply = format!("{one}?fieldManager=story");
    for levels in [130, 400, 600, 9_900] {
        for format in ["application/json", "application/yaml"] {
            let kind = [("content-type", format)];
            let response = round_trip(&server, Method::POST, WIDGETS, &kind, new("b", levels)).await;
            assert_eq!(response.status, 400, "{levels} {format} {}", response.text());
        }
        let merge = format!(r#"{{"spec":{{"free":{{"deep":{}}}}}}}"#, deep(levels));
        let add = format!(r#"[{{"op":"add","path":"/spec/free","value":{{"deep":{}}}}}]"#, deep(levels));
        for (path, kind, body) in [
            (&one, MERGE, merge),
            (&one, "application/json-patch+json", add),
            (&apply, APPLY, new("a", levels)),
        ] {
            let response = round_trip(&server, Method::PATCH, path, &[("content-type", kind)], body).await;
            assert!(response.status >= 400, "{levels} {kind} {}", response.text());
        }
    }
    let kind = [("content-type", "application/json")];
    assert_eq!(round_trip(&server, Method::POST, WIDGETS, &kind, new("b", 90)).await.status, 201);
    let (status, list) = get(&server, WIDGETS).await;
    assert_eq!((status, list["items"].as_array().unwrap().len()), (200, 2), "all objects can be read");
}

/// A3.14: applying `null` to a nullable field clears only that field.
#[tokio::test]
async fn applying_null_clears_a_field() {
    let server = server().await;
    let mut nullable = definition();
    let properties = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties";
    nullable.pointer_mut(properties).unwrap()["note"] =
        json!({"type": "object", "nullable": true, "properties": {"a": {"type": "string"}}});
    define(&server, nullable).await;
    let path = format!("{WIDGETS}/a?fieldManager=story");
    let note = |note: Value| widget("a", json!({"size": 1, "note": note}));
    let (_, response) = patch(&server, &path, APPLY, note(json!({"a": "x"}))).await;
    assert_eq!(response["spec"]["note"], json!({"a": "x"}), "{response}");
    let (status, response) = patch(&server, &path, APPLY, note(Value::Null)).await;
    assert_eq!((status, response["spec"].get("note")), (200, Some(&Value::Null)), "{response}");
    assert_eq!(response["spec"]["size"], 1);
}
