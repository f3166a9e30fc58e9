//! Recorded requests, compared with the responses of Kubernetes.

use gantry_json::{Value, json};
use gantry_primitives::Refusal;
use gantry_schema::decode::{self, Decoded, Format, Gvk};
use gantry_schema::encode;
use gantry_schema::kinds::{Kind, kinds};

use crate::protobuf_writer;

fn recorded(case: &str) -> Vec<Value> {
    let path = format!("{}/../registry/tests/recorded/{case}.json", env!("CARGO_MANIFEST_DIR"));
    #[expect(clippy::disallowed_methods, reason = "a test reads its data")]
    let text = std::fs::read_to_string(&path).unwrap_or_else(|problem| panic!("{path}: {problem}"));
    gantry_json::from_str(&text).unwrap()
}

/// The kind of the resource in a recorded request.
fn kind_of(exchange: &Value) -> &'static Kind {
    let path = exchange["request"].as_str().unwrap().split(' ').nth(1).unwrap().split('?').next().unwrap();
    let segments: Vec<_> = path.trim_matches('/').split('/').collect();
    let (group, version, rest) = match segments.as_slice() {
        ["api", version, rest @ ..] => ("", *version, rest),
        ["apis", group, version, rest @ ..] => (*group, *version, rest),
        _ => panic!("{path}"),
    };
    let resource = match rest {
        ["namespaces", _, "finalize" | "status"] => "namespaces",
        ["namespaces", _, resource, ..] | [resource, ..] => *resource,
        [] => panic!("{path}"),
    };
    kinds().resource(group, version, resource).unwrap_or_else(|| panic!("{path}"))
}

fn gvk(kind: &'static Kind) -> Gvk<'static> {
    Gvk::new(kind.group, kind.version, kind.kind)
}

/// The body that was sent; the recording has objects, not their bytes.
fn sent(exchange: &Value) -> Vec<u8> {
    match &exchange["send"] {
        Value::String(text) => text.as_bytes().to_vec(),
        other => other.to_string().into_bytes(),
    }
}

fn format_of(exchange: &Value) -> Format {
    match exchange["content-type"].as_str().unwrap_or_default() {
        "application/yaml" => Format::Yaml,
        "application/vnd.kubernetes.protobuf" => Format::Protobuf,
        _ => Format::Json,
    }
}

/// Removes the parts of messages that the recordings mask because they may differ.
fn masked(message: &str) -> String {
    for (from, to) in
        [("json parse error: ", "<words>"), ("\" as ", "<words>"), (" in scheme ", "\"<scheme>\"")]
    {
        if let Some(at) = message.find(from) {
            return format!("{}{to}", &message[..at + from.len()]);
        }
    }
    message.to_owned()
}

fn decoded(exchange: &Value) -> Result<Decoded, Refusal> {
    let kind = kind_of(exchange);
    let object = decode::object(&sent(exchange), format_of(exchange), gvk(kind))?;
    if exchange["request"].as_str().unwrap().contains("fieldValidation=Strict") {
        object.clone().strict(gvk(kind))?;
    }
    Ok(object)
}

/// A2.12: bodies that cannot be decoded are refused with Kubernetes' messages.
#[test]
fn bodies_that_cannot_be_read_are_refused_as_recorded() {
    let mut refused = 0;
    for case in
        ["not_json", "wrong_kind", "wrong_types", "wrong_numbers", "case_of_field_names", "strict_on_put"]
    {
        for exchange in recorded(&format!("decoding.{case}")) {
            let result = decoded(&exchange);
            if exchange["status"] != 400 {
                assert!(result.is_ok(), "{exchange}: {result:?}");
                continue;
            }
            let refusal = result.unwrap_err();
            assert_eq!(masked(&refusal.message), exchange["body"]["message"].as_str().unwrap(), "{exchange}");
            assert_eq!((refusal.reason.code(), refusal.reason.name()), (400, "BadRequest"));
            refused += 1;
        }
    }
    assert_eq!(refused, 28);
}

/// A2.23: findings are warnings, or errors in strict decoding, in the order of the document.
#[test]
fn findings_are_reported_as_recorded() {
    let mut reported = 0;
    for case in ["strict", "warn", "ignore", "case_of_field_names", "strict_on_put"] {
        for exchange in recorded(&format!("decoding.{case}")) {
            let object = decode::object(&sent(&exchange), Format::Json, gvk(kind_of(&exchange))).unwrap();
            let mut found: Vec<_> = object.findings.iter().map(ToString::to_string).collect();
            let mut expected: Vec<String> = match exchange["headers"]["warning"].as_array() {
                Some(warnings) => {
                    warnings.iter().map(|warning| unquoted(warning.as_str().unwrap())).collect()
                }
                None if exchange["status"] == 400 => {
                    let message = exchange["body"]["message"].as_str().unwrap();
                    message
                        .split_once("strict decoding error: ")
                        .unwrap()
                        .1
                        .split(", ")
                        .map(str::to_owned)
                        .collect()
                }
                None => continue,
            };
            if !exchange["send"].is_string() {
                // The recording has sorted the members of objects, not those in strings.
                found.sort();
                expected.sort();
            }
            assert_eq!(found, expected, "{exchange}");
            reported += 1;
        }
    }
    assert_eq!(reported, 9);
}

/// `299 - "unknown field \"spec.foo\""` without header and quotes.
fn unquoted(warning: &str) -> String {
    let inner = warning.strip_prefix("299 - \"").and_then(|rest| rest.strip_suffix('"')).unwrap();
    inner.replace("\\\"", "\"")
}

/// A2.12, A2.23: of duplicate members the last one is used, and YAML is decoded as well.
#[test]
fn accepted_bodies_are_decoded_as_recorded() {
    let mut compared = 0;
    for case in ["warn", "ignore", "content_types", "case_of_field_names"] {
        for exchange in recorded(&format!("decoding.{case}")) {
            if exchange["status"] != 201 || exchange["body"]["kind"] != "ConfigMap" {
                continue;
            }
            let object = decoded(&exchange).unwrap().object;
            assert_eq!(object["data"], exchange["body"]["data"]);
            assert_eq!(object["metadata"]["name"], exchange["body"]["metadata"]["name"]);
            compared += 1;
        }
    }
    assert_eq!(compared, 5);
}

/// A2.25: the options of a delete may be empty, and errors in them have no preamble.
#[test]
fn options_of_deletes_are_read_as_recorded() {
    let mut seen = 0;
    for exchange in
        recorded("decoding.delete_options_bodies").into_iter().chain(recorded("protobuf.put_and_delete"))
    {
        let deletes = exchange["request"].as_str().unwrap().starts_with("DELETE");
        if !deletes || exchange["status"] == 415 || exchange["send"] == "" {
            continue;
        }
        let kind = kind_of(&exchange);
        let id = Gvk::new("", "v1", "DeleteOptions").message().unwrap();
        let body = match format_of(&exchange) {
            Format::Protobuf => protobuf_writer::body(&exchange["send"], id),
            _ => sent(&exchange),
        };
        let result = decode::delete_options(&body, format_of(&exchange), kind.group, kind.version);
        if exchange["status"] == 400 {
            assert_eq!(masked(&result.unwrap_err().message), exchange["body"]["message"].as_str().unwrap());
        } else {
            let options = result.unwrap();
            assert_eq!(options["propagationPolicy"], exchange["send"]["propagationPolicy"]);
            assert_eq!(options["preconditions"], exchange["send"]["preconditions"]);
            assert_eq!(options["gracePeriodSeconds"], exchange["send"]["gracePeriodSeconds"]);
        }
        seen += 1;
    }
    assert_eq!(seen, 12);
}

/// A9.3, A9.4, A9.5: protobuf and JSON decode to the same object.
#[test]
fn protobuf_and_json_are_the_same_object() {
    let mut compared = 0;
    for case in [
        "create_namespace",
        "create_configmap",
        "create_deployment",
        "create_others",
        "put_and_delete",
        "reviews",
        "accept_lists_of_workloads",
    ] {
        for exchange in recorded(&format!("protobuf.{case}")) {
            let written = exchange["request"].as_str().unwrap_or_default();
            if !exchange["send"].is_object() || written.starts_with("DELETE") {
                continue;
            }
            let expected = gvk(kind_of(&exchange));
            let body = protobuf_writer::body(&exchange["send"], expected.message().unwrap());
            let binary = decode::object(&body, Format::Protobuf, expected).unwrap();
            let text = decode::object(&sent(&exchange), Format::Json, expected).unwrap();
            assert_eq!(binary, text);
            compared += 1;
        }
    }
    assert_eq!(compared, 14);
}

/// A9.4: bodies without an envelope, of another kind, or truncated.
#[test]
fn broken_protobuf_is_refused_as_recorded() {
    let exchanges = recorded("protobuf.malformed");
    let config_map = Gvk::new("", "v1", "ConfigMap");
    let reported = |body: &[u8]| decode::object(body, Format::Protobuf, config_map).unwrap_err().message;
    assert_eq!(reported(b"nonsense"), exchanges[0]["body"]["message"]);
    let secret =
        protobuf_writer::body(&exchanges[1]["send"], Gvk::new("", "v1", "Secret").message().unwrap());
    assert_eq!(reported(&secret), exchanges[1]["body"]["message"]);
    let object =
        json!({"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "cut"}, "data": {"k": "v"}});
    let whole = protobuf_writer::body(&object, config_map.message().unwrap());
    let cut = decode::object(&whole[..whole.len() - 9], Format::Protobuf, config_map).unwrap_err();
    assert_eq!(json!([cut.reason.code(), cut.reason.name()]), exchanges[3]["value"]);
    assert!(reported(b"").contains("empty data") && reported(b"k8s\0").contains("empty body"));
}

/// A2.7: recorded objects are in canonical form: decoding and encoding does not change them.
#[test]
fn recorded_objects_survive_decoding_and_encoding() {
    let mut compared = 0;
    for case in OBJECTS {
        for exchange in recorded(&format!("objects.{case}")) {
            let body = &exchange["body"];
            let is_list = body["items"].is_array();
            let of_the_kind = exchange.get("request").is_some() && body["kind"] == kind_of(&exchange).kind;
            let hidden = body["status"] == "<hidden>";
            if is_list || !of_the_kind || hidden {
                continue;
            }
            let body = with_times(body.clone());
            let expected = gvk(kind_of(&exchange));
            let read = decode::object(body.to_string().as_bytes(), Format::Json, expected).unwrap();
            assert_eq!(read, Decoded { object: body.clone(), findings: Vec::new() }, "{case}");
            let written = encode::object(&read.object, &expected.message().unwrap().into());
            assert!(written.starts_with(b"{\"kind\":\"") && written.ends_with(b"}\n"));
            assert_eq!(gantry_json::from_slice::<Value>(&written).unwrap(), body, "{case}");
            compared += 1;
        }
    }
    assert_eq!(compared, 60);
}

/// O1.2, A2.12: before defaulting, nulls are unset, and quantities are in canonical form.
#[test]
fn nulls_and_quantities_are_read_as_recorded() {
    let exchanges = recorded("objects.nulls_mean_unset");
    let object = decoded(&exchanges[0]).unwrap().object;
    assert_eq!(object["metadata"]["annotations"], exchanges[0]["body"]["metadata"]["annotations"]);
    assert_eq!(object.get("data"), None);
    let spec = decoded(&exchanges[1]).unwrap().object["spec"].clone();
    assert_eq!((spec.get("replicas"), &spec["strategy"]), (None, &json!({})));
    for exchange in recorded("objects.quantities_as_written") {
        let object = decoded(&exchange).unwrap().object;
        assert_eq!(object["spec"]["template"]["spec"]["containers"][0]["resources"], exchange["body"]);
    }
}

const OBJECTS: [&str; 30] = [
    "configmap_create",
    "configmap_immutable",
    "cronjob_create",
    "daemonset_create",
    "deployment_full",
    "deployment_minimal",
    "deployment_recreate",
    "deployment_status_is_ignored",
    "endpoints_and_slices",
    "hpa_create",
    "job_create",
    "lease_create",
    "list_shape",
    "namespace_create",
    "node_create",
    "nulls_mean_unset",
    "pdb_create",
    "plain_kinds",
    "pod_host_network",
    "pod_minimal",
    "pod_priority_class",
    "pod_quality_of_service",
    "pod_rich",
    "pod_with_node_name",
    "rbac_create",
    "replicaset_minimal",
    "replicationcontroller_create",
    "resourcequota_create",
    "service_cluster_ip",
    "statefulset_create",
];

/// Replaces the times that the recording masks.
fn with_times(value: Value) -> Value {
    match value {
        Value::String(text) if text == "<time>" => json!("2026-11-15T17:54:17Z"),
        Value::Array(elements) => elements.into_iter().map(with_times).collect(),
        Value::Object(members) => members.into_iter().map(|(key, value)| (key, with_times(value))).collect(),
        other => other,
    }
}
