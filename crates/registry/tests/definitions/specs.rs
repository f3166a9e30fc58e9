//! Definitions that are refused for fields other than their schemas.

use gantry_json::{Value, json};
use gantry_registry::validation;

use crate::fixture::{kind, posted, refused, version, widgets, with};

const LABEL: &str = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an \
                     alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', \
                     regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";

/// Returns the errors in the widgets with this value at the pointer.
fn errors_with(pointer: &str, value: Value) -> Vec<String> {
    refused(&with(widgets(), pointer, value))
}

/// Appendix E: names must be valid, and the name of the definition consists of the plural and the group.
#[test]
fn names_of_a_definition_are_validated() {
    assert_eq!(
        errors_with("/metadata/name", json!("gadgets.shop.example.com")),
        [
            r#"metadata.name: Invalid value: "gadgets.shop.example.com": must be spec.names.plural+"."+spec.group"#
        ]
    );
    let names = |names: Value| {
        let definition = with(widgets(), "/spec/names", names);
        refused(&with(definition, "/metadata/name", json!("widgets.shop.example.com")))
    };
    assert_eq!(
        names(json!({"plural": "widgets", "kind": "My Widget", "listKind": "My Widget", "singular": "-w",
                     "shortNames": ["ok", "No"], "categories": ["1"]})),
        [
            format!("spec.names.singular: Invalid value: \"-w\": {LABEL}"),
            format!(
                "spec.names.kind: Invalid value: \"My Widget\": may have mixed case, but should otherwise match: {LABEL}"
            ),
            format!(
                "spec.names.listKind: Invalid value: \"My Widget\": may have mixed case, but should otherwise match: {LABEL}"
            ),
            format!("spec.names.shortNames[1]: Invalid value: \"No\": {LABEL}"),
            "spec.names.listKind: Invalid value: \"My Widget\": kind and listKind may not be the same"
                .to_owned(),
            format!("spec.names.categories[0]: Invalid value: \"1\": {LABEL}"),
        ]
    );
    assert_eq!(
        names(json!({"plural": "widgets"})),
        [
            "spec.names.singular: Required value",
            "spec.names.kind: Required value",
            "spec.names.listKind: Required value"
        ]
    );
}

/// Appendix E: a group is a domain, and a scope is known.
#[test]
fn a_group_is_a_domain_and_a_scope_is_known() {
    let group = |group: &str| {
        let definition = with(widgets(), "/spec/group", json!(group));
        refused(&with(definition, "/metadata/name", json!(format!("widgets.{group}"))))
    };
    assert_eq!(
        group("shop"),
        [r#"spec.group: Invalid value: "shop": should be a domain with at least one dot"#]
    );
    assert_eq!(
        errors_with("/spec/scope", json!("Galaxy")),
        [r#"spec.scope: Unsupported value: "Galaxy": supported values: "Cluster", "Namespaced""#]
    );
    assert_eq!(errors_with("/spec/scope", json!("")), ["spec.scope: Required value"]);
    assert_eq!(
        group("shop.k8s.io"),
        [concat!(
            "metadata.annotations[api-approved.kubernetes.io]: Required value: protected groups must have approval ",
            "annotation \"api-approved.kubernetes.io\", see https://github.com/kubernetes/enhancements/pull/1111"
        )]
    );
    assert_eq!(
        errors_with("/spec/preserveUnknownFields", json!(true)),
        [concat!(
            "spec.preserveUnknownFields: Invalid value: true: cannot set to true, set ",
            "x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead"
        )]
    );
}

/// Appendix E: versions have unique names and schemas, and exactly one is the storage version.
#[test]
fn versions_are_distinguished_and_one_is_stored() {
    let shown = |storage: bool| {
        format!(
            r#"{{"Name":"v1","Served":true,"Storage":{storage},"Deprecated":false,"DeprecationWarning":null,"Schema":null,"Subresources":null,"AdditionalPrinterColumns":null,"SelectableFields":null}}"#
        )
    };
    let not_stored = with(version("v1", &json!({"type": "object"})), "/storage", json!(false));
    assert_eq!(
        errors_with("/spec/versions", json!([not_stored])),
        [
            format!(
                "spec.versions: Invalid value: [{}]: must have exactly one version marked as storage version",
                shown(false)
            ),
            "status.storedVersions: Invalid value: null: must have at least one stored version".to_owned(),
        ]
    );
    let twice = json!([version("v1", &json!({"type": "object"})), not_stored]);
    assert_eq!(
        errors_with("/spec/versions", twice),
        [format!(
            "spec.versions: Invalid value: [{},{}]: must contain unique version names",
            shown(true),
            shown(false)
        )]
    );
    assert_eq!(
        errors_with("/spec/versions/0/name", json!("V1")),
        [
            format!("spec.versions[0].name: Invalid value: \"V1\": {LABEL}"),
            format!("spec.version: Invalid value: \"V1\": {LABEL}"),
        ]
    );
    assert_eq!(
        errors_with("/spec/versions/0/schema", json!(null)),
        ["spec.versions[0].schema.openAPIV3Schema: Required value"]
    );
}

/// Appendix E: only deprecated versions have a warning, of one line.
#[test]
fn a_deprecation_is_reported_in_one_line() {
    let warns = |deprecated: bool, warning: &str| {
        let mut version = version("v1", &json!({"type": "object"}));
        version["deprecated"] = json!(deprecated);
        version["deprecationWarning"] = json!(warning);
        errors_with("/spec/versions/0", version)
    };
    let at = "spec.versions[0].deprecationWarning: Invalid value:";
    assert_eq!(warns(true, "use v2"), Vec::<String>::new());
    assert_eq!(warns(false, "use v2"), [format!("{at} \"use v2\": can only be set for deprecated versions")]);
    assert_eq!(warns(true, ""), [format!("{at} \"\": must not be an empty string")]);
    let long = "x".repeat(257);
    assert_eq!(warns(true, &long), [format!("{at} \"{long}\": must be <= 256 characters long")]);
    let why = "must only contain printable UTF-8 characters; non-printable character found at index 1";
    assert_eq!(warns(true, "a\tb"), [format!("{at} \"a\\tb\": {why}")]);
}

/// Appendix E: columns and scales have valid paths; fields that all versions share are reported at the top level.
#[test]
fn columns_and_scales_have_paths() {
    let column = json!([{"type": "text", "format": "x", "jsonPath": "spec"}, {"name": "a"}]);
    let types = "must be one of boolean,date,integer,number,string";
    assert_eq!(
        errors_with("/spec/versions/0/additionalPrinterColumns", column),
        [
            "spec.additionalPrinterColumns[0].name: Required value".to_owned(),
            format!("spec.additionalPrinterColumns[0].type: Invalid value: \"text\": {types}"),
            "spec.additionalPrinterColumns[0].format: Invalid value: \"x\": must be one of \
             byte,date,date-time,double,float,int32,int64,password"
                .to_owned(),
            "spec.additionalPrinterColumns[0].JSONPath: Invalid value: \"spec\": must be a simple json path starting \
             with ."
                .to_owned(),
            format!("spec.additionalPrinterColumns[1].type: Required value: {types}"),
            "spec.additionalPrinterColumns[1].JSONPath: Required value".to_owned(),
        ]
    );
    let scale =
        json!({"scale": {"specReplicasPath": ".status.replicas", "labelSelectorPath": ".metadata.x"}});
    assert_eq!(
        errors_with("/spec/versions/0/subresources", scale),
        [
            "spec.subresources.scale.specReplicasPath: Invalid value: \".status.replicas\": should be a json path \
             under .spec",
            "spec.subresources.scale.statusReplicasPath: Required value",
            "spec.subresources.scale.labelSelectorPath: Invalid value: \".metadata.x\": should be a json path under \
             either .spec or .status",
        ]
    );
    let mut other = with(version("v2", &json!({"type": "object"})), "/storage", json!(false));
    other["additionalPrinterColumns"] = json!([{"name": "A", "type": "string", "jsonPath": "x"}]);
    let both = json!([version("v1", &json!({"type": "object"})), other]);
    let errors = errors_with("/spec/versions", both);
    assert!(errors[0].starts_with("spec.versions[1].additionalPrinterColumns[0].JSONPath"), "{errors:?}");
}

/// Appendix E: selectable fields are declared, scalar, and not in the metadata.
#[test]
fn selectable_fields_are_declared() {
    let schema = json!({"type": "object", "properties": {
        "metadata": {"type": "object", "properties": {"name": {"type": "string"}}},
        "spec": {"type": "object", "properties": {"size": {"type": "string"}, "parts": {"type": "array", "items": {"type": "string"}}}}}});
    let select = |paths: &[&str]| {
        let mut version = version("v1", &schema);
        version["selectableFields"] = paths.iter().map(|path| json!({"jsonPath": path})).collect();
        errors_with("/spec/versions", json!([version]))
    };
    assert_eq!(select(&[".spec.size"]), Vec::<String>::new());
    let at = |index: usize, path: &str| {
        format!("spec.selectableFields[{index}].jsonPath: Invalid value: \"{path}\"")
    };
    let plain = "must point to a field of type string, boolean or integer. Enum string fields and strings with \
                 formats are allowed.";
    assert_eq!(
        select(&[
            "",
            ".spec.nope",
            ".spec.parts[0]",
            "spec",
            ".spec.parts",
            ".metadata.name",
            ".spec.size",
            ".spec.size"
        ]),
        [
            "spec.selectableFields[0].jsonPath: Required value".to_owned(),
            format!("{}: is an invalid path: does not refer to a valid field", at(1, ".spec.nope")),
            format!("{}: is an invalid path: array notation is not allowed", at(2, ".spec.parts[0]")),
            format!("{}: is an invalid path: expected [ or . but got: spec", at(3, "spec")),
            format!("{}: {plain}", at(4, ".spec.parts")),
            format!("{}: must not point to fields in metadata", at(5, ".metadata.name")),
            "spec.selectableFields[7].jsonPath: Duplicate value: \".spec.size\"".to_owned(),
        ]
    );
}

/// Appendix E: a conversion webhook has a URL or a service.
#[test]
fn conversion_webhooks_have_a_valid_client_config() {
    let converts = |conversion: Value| errors_with("/spec/conversion", conversion);
    let webhook = |config: Value, reviews: Value| {
        converts(json!({"strategy": "Webhook",
            "webhook": {"clientConfig": config, "conversionReviewVersions": reviews}}))
    };
    assert_eq!(
        converts(json!({"strategy": "Magic"})),
        [r#"spec.conversion.strategy: Unsupported value: "Magic": supported values: "None", "Webhook""#]
    );
    let not = "Forbidden: should not be set when strategy is not set to Webhook";
    assert_eq!(
        converts(
            json!({"strategy": "None", "webhook": {"clientConfig": {}, "conversionReviewVersions": ["v1"]}})
        ),
        [
            format!("spec.conversion.webhookClientConfig: {not}"),
            format!("spec.conversion.conversionReviewVersions: {not}"),
        ]
    );
    assert_eq!(
        converts(json!({"strategy": "Webhook"})),
        [
            "spec.conversion.webhookClientConfig: Required value: required when strategy is set to Webhook",
            "spec.conversion.conversionReviewVersions: Required value",
        ]
    );
    assert_eq!(
        webhook(json!({}), json!(["v3", "v3"])),
        [
            "spec.conversion.webhookClientConfig: Required value: exactly one of url or service is required",
            "spec.conversion.conversionReviewVersions[1]: Invalid value: \"v3\": duplicate version",
            "spec.conversion.conversionReviewVersions: Invalid value: [\"v3\",\"v3\"]: must include at least one of \
             v1, v1beta1",
        ]
    );
    assert_eq!(
        webhook(json!({"url": "http://shop.example.com/x?y#z"}), json!(["v1"])),
        [
            "spec.conversion.webhookClientConfig.url: Invalid value: \"http\": 'https' is the only allowed URL scheme; \
             desired format: https://host[/path]",
            "spec.conversion.webhookClientConfig.url: Invalid value: \"z\": fragments are not permitted in the URL",
            "spec.conversion.webhookClientConfig.url: Invalid value: \"y\": query parameters are not permitted in the \
             URL",
        ]
    );
    let service = json!({"service": {"name": "s", "port": 70_000, "path": "/a//b"}});
    assert_eq!(
        webhook(service, json!(["v1"])),
        [
            "spec.conversion.webhookClientConfig.service.name: Required value",
            "spec.conversion.webhookClientConfig.service.port: Invalid value: 70000: port is not valid: must be \
             between 1 and 65535, inclusive",
            "spec.conversion.webhookClientConfig.service.path: Invalid value: \"/a//b\": segment[1] may not be empty",
        ]
    );
}

/// Appendix E: an unknown format gets a warning, and the definition is accepted.
#[test]
fn unknown_formats_are_warned_of() {
    let schema = json!({"type": "object", "properties": {
        "a": {"type": "string", "format": "date-time"}, "b": {"type": "string", "format": "colour"},
        "c": {"type": "integer", "format": "int32"}, "d": {"type": "number", "format": "int32"}}});
    let definition = posted(&with(widgets(), "/spec/versions", json!([version("v1", &schema)])));
    let report = validation::create(kind(), &definition);
    assert_eq!(report.errors, []);
    assert_eq!(report.warnings, [r#"unrecognized format "colour""#, r#"unrecognized format "int32""#]);
}
