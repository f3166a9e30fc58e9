//! Messages and findings that no recording contains.

use gantry_json::json;
use gantry_schema::decode::{self, Finding, Format, Gvk};

const POD: Gvk<'static> = Gvk { group: "", version: "v1", kind: "Pod" };
const SECRET: Gvk<'static> = Gvk { group: "", version: "v1", kind: "Secret" };

fn refused(gvk: Gvk<'_>, body: &str) -> String {
    let message = decode::object(body.as_bytes(), Format::Json, gvk).unwrap_err().message;
    let preamble = format!("{} in version \"v1\" cannot be handled as a {}: ", gvk.kind, gvk.kind);
    message.strip_prefix(&preamble).unwrap_or(&message).to_owned()
}

/// A2.12: type errors contain the message around the field, the path without indices, and the Go type.
#[test]
fn type_errors_name_message_path_and_type() {
    for (body, message) in [
        (r#"{"metadata": "x"}"#, "string into Go struct field Pod.metadata of type v1.ObjectMeta"),
        (
            r#"{"metadata": {"uid": 5}}"#,
            "number into Go struct field ObjectMeta.metadata.uid of type types.UID",
        ),
        (
            r#"{"metadata": {"labels": []}}"#,
            "array into Go struct field ObjectMeta.metadata.labels of type map[string]string",
        ),
        (
            r#"{"metadata": {"creationTimestamp": 5}}"#,
            "number into Go struct field ObjectMeta.metadata.creationTimestamp of type string",
        ),
        (
            r#"{"spec": {"containers": [{}, {"name": true}]}}"#,
            "bool into Go struct field Container.spec.containers.name of type string",
        ),
        (
            r#"{"spec": {"volumes": [{"configMap": {"name": 5}}]}}"#,
            "number into Go struct field ConfigMapVolumeSource.spec.volumes.VolumeSource.configMap.LocalObjectReference.name of type string",
        ),
        (
            r#"{"spec": {"os": {"name": 5}}}"#,
            "number into Go struct field PodOS.spec.os.name of type v1.OSName",
        ),
        (
            r#"{"spec": {"containers": ["c"]}}"#,
            "string into Go struct field PodSpec.spec.containers of type v1.Container",
        ),
        (
            r#"{"spec": {"containers": [{"args": [{}]}]}}"#,
            "object into Go struct field Container.spec.containers.args of type string",
        ),
        (
            r#"{"spec": {"volumes": [{"emptyDir": 1}]}}"#,
            "number into Go struct field Volume.spec.volumes.VolumeSource.emptyDir of type v1.EmptyDirVolumeSource",
        ),
        (
            r#"{"spec": {"restartPolicy": 1}}"#,
            "number into Go struct field PodSpec.spec.restartPolicy of type v1.RestartPolicy",
        ),
        (
            r#"{"spec": {"priority": 1e3}}"#,
            "number 1e3 into Go struct field PodSpec.spec.priority of type int32",
        ),
        (
            r#"{"spec": {"containers": [{"livenessProbe": {"httpGet": {"port": 1.5}}}]}}"#,
            "number 1.5 into Go struct field HTTPGetAction.spec.containers.livenessProbe.ProbeHandler.httpGet.port of type int32",
        ),
        // The first of several errors is reported, unless a type refuses its text.
        (
            r#"{"spec": {"priority": "a", "hostNetwork": "b"}}"#,
            "string into Go struct field PodSpec.spec.priority of type int32",
        ),
        (
            r#"{"spec": {"priority": "a", "containers": [{"livenessProbe": {"httpGet": {"port": []}}}]}}"#,
            "array into Go struct field HTTPGetAction.spec.containers.livenessProbe.ProbeHandler.httpGet.port of type int32",
        ),
    ] {
        assert_eq!(refused(POD, body), format!("json: cannot unmarshal {message}"), "{body}");
    }
    assert_eq!(refused(SECRET, r#"{"data": {"a": "not base64"}}"#), "illegal base64 data at input byte 3");
    assert_eq!(
        refused(SECRET, r#"{"apiVersion": "a/b/c"}"#),
        "the object provided is unrecognized (must be of type Secret): unexpected GroupVersion string: a/b/c ({\"apiVersion\": \"a/b/c\"})"
    );
}

/// A2.12: errors about the same kind in another version name the version, others the Go type.
#[test]
fn other_versions_and_groups_are_refused() {
    let autoscaler = Gvk::new("autoscaling", "v2", "HorizontalPodAutoscaler");
    assert_eq!(
        refused(autoscaler, r#"{"apiVersion": "autoscaling/v1", "kind": "HorizontalPodAutoscaler"}"#),
        "the API version in the data (autoscaling/v1) does not match the expected API version (autoscaling/v2)"
    );
    let event = Gvk::new("events.k8s.io", "v1", "Event");
    assert_eq!(
        refused(event, r#"{"apiVersion": "v1", "kind": "Pod"}"#),
        "Pod in version \"v1\" cannot be handled as a Event: converting (v1.Pod) to (core.Event): unknown conversion"
    );
    assert_eq!(
        refused(event, r#"{"apiVersion": "v1", "kind": "Event"}"#),
        "the API version in the data (v1) does not match the expected API version (events.k8s.io/v1)"
    );
}

/// A2.23: an unknown field is reported once, without its content; parts without a schema have no unknown fields.
#[test]
fn findings_are_reported_once() {
    let body = r#"{"kind": "Pod", "metadata": {"x.y": 1, "x.y": 2, "labels": {"a": "1", "a": "2", "a": "3"}},
        "foo": {"bar": 1, "bar": 2}, "kind": "Pod", "spec": {"containers": [], "containers": [{"x": 1}, {"x": 1}]}}"#;
    let findings = decode::object(body.as_bytes(), Format::Json, POD).unwrap().findings;
    let expected = [
        Finding::Unknown("metadata.x.y".to_owned()),
        Finding::Duplicate("metadata.labels.a".to_owned()),
        Finding::Unknown("foo".to_owned()),
        Finding::Duplicate("kind".to_owned()),
        Finding::Duplicate("spec.containers".to_owned()),
        Finding::Unknown("spec.containers[0].x".to_owned()),
        Finding::Unknown("spec.containers[1].x".to_owned()),
    ];
    assert_eq!(findings, expected);
}

/// A0.11: beyond ten thousand levels a body is refused; below, unknown deep parts are ignored.
#[test]
fn deep_bodies_are_refused_or_ignored() {
    let nested = |levels: usize| format!("{{\"foo\":{}1{}}}", "{\"a\":".repeat(levels), "}".repeat(levels));
    assert!(refused(POD, &nested(10_001)).contains("json parse error: exceeded max depth"));
    let ignored = decode::object(nested(9_000).as_bytes(), Format::Json, POD).unwrap();
    assert_eq!(ignored.findings, [Finding::Unknown("foo".to_owned())]);
    let revision = Gvk::new("apps", "v1", "ControllerRevision");
    let data = format!("{{\"data\":{}1{}}}", "[".repeat(9_000), "]".repeat(9_000));
    assert_eq!(
        decode::object(data.as_bytes(), Format::Json, revision).unwrap_err().message,
        "ControllerRevision in version \"v1\" cannot be handled as a ControllerRevision: exceeded max depth"
    );
}

/// A2.23: a patch has no schema, but duplicate members are found as well.
#[test]
fn patches_are_decoded_with_duplicate_keys() {
    let (patch, findings) = decode::plain(br#"{"data":{"k":"2","k":"3"}}"#, Format::Json).unwrap();
    assert_eq!(
        (patch, findings),
        (json!({"data": {"k": "3"}}), vec![Finding::Duplicate("data.k".to_owned())])
    );
}

/// A2.12: an empty element or entry is the empty value of its type.
#[test]
fn nulls_within_lists_and_maps_are_empty_values() {
    let body = r#"{"metadata": {"finalizers": [null, "a"]}, "data": {"a": null}}"#;
    let object = decode::object(body.as_bytes(), Format::Json, SECRET).unwrap().object;
    assert_eq!(object["metadata"]["finalizers"], json!(["", "a"]));
    assert_eq!(object["data"], json!({"a": ""}));
}

/// A2.1: an object embedded in an object may have kind and version, which are kept; other objects may not have them.
#[test]
fn templates_of_claims_keep_their_kind() {
    let set = Gvk::new("apps", "v1", "StatefulSet");
    let body = r#"{"spec": {"volumeClaimTemplates": [{"kind": "PersistentVolumeClaim", "apiVersion": "v1"}],
        "template": {"kind": "Pod"}}}"#;
    let read = decode::object(body.as_bytes(), Format::Json, set).unwrap();
    assert_eq!(read.findings, [Finding::Unknown("spec.template.kind".to_owned())]);
    assert_eq!(read.object["spec"]["volumeClaimTemplates"][0]["kind"], "PersistentVolumeClaim");
    let wrong = r#"{"spec": {"volumeClaimTemplates": [{"kind": 5}]}}"#;
    assert_eq!(
        refused(set, wrong),
        "json: cannot unmarshal number into Go struct field PersistentVolumeClaim.spec.volumeClaimTemplates.TypeMeta.kind of type string"
    );
}
