//! OpenAPI documents, and the parts that clients need.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::collections::BTreeSet;

use gantry_json::{Value, json};
use gantry_openapi as openapi;
use gantry_schema::kinds::kinds;

fn apps() -> Value {
    v3("apps", "v1")
}

fn v3(group: &str, version: &str) -> Value {
    gantry_json::from_slice(&openapi::v3(kinds(), group, version).unwrap()).unwrap()
}

fn v2() -> Value {
    gantry_json::from_slice(&openapi::v2(kinds())).unwrap()
}

fn schema<'d>(document: &'d Value, name: &str) -> &'d Value {
    &document["components"]["schemas"][name]
}

/// A1.17, A1.19: kubectl leaves validation to a server whose PATCH has the parameter `fieldValidation`.
#[test]
fn patch_operations_have_the_parameter_field_validation() {
    let document = apps();
    let patch = &document["paths"]["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"]["patch"];
    assert_eq!(
        patch["x-kubernetes-group-version-kind"],
        json!({"group": "apps", "version": "v1", "kind": "Deployment"}),
        "an object, not a list"
    );
    let names: Vec<_> = patch["parameters"]
        .as_array()
        .unwrap()
        .iter()
        .map(|p| (p["name"].clone(), p["in"].clone()))
        .collect();
    for name in ["fieldValidation", "dryRun", "fieldManager", "force"] {
        assert!(names.contains(&(json!(name), json!("query"))), "{name}: {names:?}");
    }
    assert!(patch["requestBody"]["content"]["application/strategic-merge-patch+json"].is_object());
}

/// A1.18: the group, version and kind of a schema are a list, and fields have their merge rules.
#[test]
fn schemas_have_merge_rules() {
    let document = apps();
    let deployment = schema(&document, "io.k8s.api.apps.v1.Deployment");
    assert_eq!(
        deployment["x-kubernetes-group-version-kind"],
        json!([{"group": "apps", "version": "v1", "kind": "Deployment"}])
    );
    assert_eq!(
        deployment["properties"]["spec"]["allOf"],
        json!([{"$ref": "#/components/schemas/io.k8s.api.apps.v1.DeploymentSpec"}])
    );
    let spec = schema(&document, "io.k8s.api.core.v1.PodSpec");
    let containers = &spec["properties"]["containers"];
    assert_eq!(containers["x-kubernetes-patch-merge-key"], "name");
    assert_eq!(containers["x-kubernetes-patch-strategy"], "merge");
    assert_eq!(containers["x-kubernetes-list-type"], "map");
    assert_eq!(containers["x-kubernetes-list-map-keys"], json!(["name"]));
    assert_eq!(spec["properties"]["volumes"]["x-kubernetes-patch-strategy"], "merge,retainKeys");
    assert_eq!(spec["properties"]["tolerations"]["x-kubernetes-list-type"], "atomic");
    assert_eq!(spec["properties"]["tolerations"].get("x-kubernetes-patch-strategy"), None);
    assert_eq!(spec["properties"]["nodeSelector"]["x-kubernetes-map-type"], "atomic");
    let strategy = &schema(&document, "io.k8s.api.apps.v1.DeploymentSpec")["properties"]["strategy"];
    assert_eq!(strategy["x-kubernetes-patch-strategy"], "retainKeys");
    let selector = schema(&document, "io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector");
    assert_eq!(selector["x-kubernetes-map-type"], "atomic");
}

/// A1.18: types and required fields.
#[test]
fn schemas_have_types_and_required_fields() {
    let document = apps();
    let spec = schema(&document, "io.k8s.api.apps.v1.DeploymentSpec");
    assert_eq!(spec["required"], json!(["selector", "template"]));
    let replicas = &spec["properties"]["replicas"];
    assert_eq!((&replicas["type"], &replicas["format"]), (&json!("integer"), &json!("int32")));
    let deployment = schema(&document, "io.k8s.api.apps.v1.Deployment");
    assert_eq!(deployment["required"], json!(["spec"]), "it is omitted when empty");
    let container = schema(&document, "io.k8s.api.core.v1.Container");
    assert_eq!(container["required"], json!(["name"]));
    let surge = schema(&document, "io.k8s.apimachinery.pkg.util.intstr.IntOrString");
    assert_eq!(surge["format"], "int-or-string");
    let volume = schema(&document, "io.k8s.api.core.v1.Volume");
    assert!(volume["properties"]["emptyDir"].is_object(), "inlined fields are fields: {volume}");
    let rbac = v3("rbac.authorization.k8s.io", "v1");
    assert_eq!(schema(&rbac, "io.k8s.api.rbac.v1.Role").get("required"), None, "rules may be omitted");
    assert_eq!(schema(&rbac, "io.k8s.api.rbac.v1.PolicyRule")["required"], json!(["verbs"]));
}

/// Appendix E, A1.18: parts of definitions have the names that clients know, and no type if they may have several.
#[test]
fn definitions_have_descriptions() {
    let document = v3("apiextensions.k8s.io", "v1");
    let part = |name: &str| {
        schema(&document, &format!("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.{name}"))
    };
    assert_eq!(part("CustomResourceDefinition")["required"], json!(["spec"]));
    assert_eq!(part("CustomResourceDefinitionStatus").get("required"), None);
    for either in ["JSON", "JSONSchemaPropsOrBool", "JSONSchemaPropsOrArray", "JSONSchemaPropsOrStringArray"]
    {
        assert_eq!(*part(either), json!({}), "{either}");
    }
    let items = &part("JSONSchemaProps")["properties"]["enum"]["items"]["allOf"][0]["$ref"];
    assert!(items.as_str().unwrap().ends_with(".v1.JSON"), "{items}");
}

/// A1.15: every served group version has a document, and others have none.
#[test]
fn every_group_version_has_a_document() {
    for version in openapi::group_versions(kinds()) {
        let document = v3(version.group, version.version);
        assert_eq!(document["openapi"], "3.0.0");
    }
    assert_eq!(openapi::v3(kinds(), "apps", "v9"), None);
    assert_eq!(openapi::v3(kinds(), "nope", "v1"), None);
}

/// A1.18: `kubectl explain` finds every kind by an operation and a schema.
#[test]
fn every_kind_can_be_found() {
    for version in openapi::group_versions(kinds()) {
        let document = v3(version.group, version.version);
        let operations = document["paths"].as_object().unwrap().values();
        let operations: Vec<_> = operations.flat_map(|item| item.as_object().unwrap().values()).collect();
        let schemas: Vec<_> = document["components"]["schemas"].as_object().unwrap().values().collect();
        for kind in kinds().of(version.group, version.version) {
            let wanted = json!({"group": kind.group, "version": kind.version, "kind": kind.kind});
            let named = |value: &&Value| value["x-kubernetes-group-version-kind"] == wanted;
            assert!(operations.iter().any(named), "{wanted}");
            let described = |value: &&Value| value["x-kubernetes-group-version-kind"] == json!([wanted]);
            assert!(schemas.iter().any(described), "{wanted}");
        }
    }
}

/// All references in a document are to definitions that it contains.
#[test]
fn every_reference_is_to_a_definition_in_the_document() {
    let v2 = v2();
    check_references(&v2, "#/definitions/", &v2["definitions"]);
    let document = apps();
    check_references(&document, "#/components/schemas/", &document["components"]["schemas"]);
}

/// Operation ids are unique, which generators of clients rely on.
#[test]
fn operations_have_names_of_their_own() {
    let v2 = v2();
    let mut seen = BTreeSet::new();
    for item in v2["paths"].as_object().unwrap().values() {
        for operation in item.as_object().unwrap().values().filter(|operation| operation.is_object()) {
            let id = operation["operationId"].as_str().unwrap();
            assert!(seen.insert(id.to_owned()), "{id}");
        }
    }
    assert!(seen.contains("readAppsV1NamespacedDeploymentStatus"), "{seen:?}");
}

fn check_references(value: &Value, prefix: &str, defined: &Value) {
    match value {
        Value::Object(members) => {
            if let Some(Value::String(reference)) = members.get("$ref") {
                let name = reference.strip_prefix(prefix).unwrap();
                assert!(defined[name].is_object(), "{reference}");
            }
            for member in members.values() {
                check_references(member, prefix, defined);
            }
        }
        Value::Array(elements) => {
            for element in elements {
                check_references(element, prefix, defined);
            }
        }
        _ => {}
    }
}

/// Every description belongs to a field or message that exists.
#[test]
fn every_description_is_shown() {
    let shown = v2().to_string();
    let rows = include_str!("../src/descriptions.tsv").lines().filter(|line| !line.starts_with('#'));
    for sentence in rows.map(|line| line.rsplit('\t').next().unwrap()) {
        assert!(shown.contains(sentence), "{sentence}");
    }
}

/// A1.18: fields with few values list them, and every row of the table is about a field that exists.
#[test]
fn fields_with_few_values_list_them() {
    let versions = openapi::group_versions(kinds());
    let documents: Vec<_> = versions.iter().map(|version| v3(version.group, version.version)).collect();
    let rows = include_str!("../src/enums.tsv").lines().filter(|line| !line.starts_with('#'));
    for row in rows {
        let [message, field, values] = row.split('\t').collect::<Vec<_>>().try_into().unwrap();
        let name = format!(".{}", message.replace('/', "."));
        let mut schemas = documents.iter().flat_map(|it| it["components"]["schemas"].as_object().unwrap());
        let (_, schema) = schemas.find(|(schema, _)| schema.ends_with(&name)).expect(row);
        let property = &schema["properties"][field];
        let listed = match property["type"].as_str() {
            Some("array") => &property["items"]["enum"],
            Some("object") => &property["additionalProperties"]["enum"],
            _ => &property["enum"],
        };
        assert_eq!(*listed, values.split(',').collect::<Value>(), "{row}");
    }
}
