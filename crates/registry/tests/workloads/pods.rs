//! Pods without a controller.

use gantry_json::{Value, json};
use gantry_primitives::Timestamp;
use gantry_registry::lifecycle::{ServerAssignedMetadata, create};

use super::{kind, object, wrong};

/// Returns the errors in a pod with these fields in its spec.
fn wrong_pod(fields: &Value) -> Vec<String> {
    let mut spec = json!({"containers": [{"name": "c", "image": "i:1"}]});
    for (field, value) in fields.as_object().unwrap() {
        spec[field] = value.clone();
    }
    wrong(kind("", "pods"), &spec)
}

/// Returns the errors in the only container of a pod.
fn wrong_container(fields: &Value) -> Vec<String> {
    let mut container = json!({"name": "c", "image": "i:1"});
    for (field, value) in fields.as_object().unwrap() {
        container[field] = value.clone();
    }
    wrong_pod(&json!({"containers": [container]}))
}

/// The supported values are in Kubernetes' order.
#[test]
fn supported_values_are_listed_in_order() {
    for (field, words) in [
        ("dnsPolicy", "\"ClusterFirstWithHostNet\", \"ClusterFirst\", \"Default\", \"None\""),
        ("preemptionPolicy", "\"PreemptLowerPriority\", \"Never\""),
    ] {
        let why = format!("spec.{field}: Unsupported value: \"x\": supported values: {words}");
        assert_eq!(wrong_pod(&json!({field: "x"})), [why]);
    }
}

#[test]
fn claims_on_devices_name_one_object_each() {
    assert_eq!(
        wrong_pod(&json!({"resourceClaims": [{"name": "a"}]})),
        ["spec.resourceClaims[0]: Invalid value: {\"Name\":\"a\",\"ResourceClaimName\":null,\
          \"ResourceClaimTemplateName\":null}: must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"]
    );
}

#[test]
fn resources_of_a_whole_pod_are_few() {
    assert_eq!(
        wrong_pod(&json!({"resources": {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}})),
        ["spec.resources.requests: Invalid value: \"2\": must be less than or equal to cpu limit of 1"]
    );
    let errors = wrong_pod(&json!({"resources": {"limits": {"ephemeral-storage": "1"}}}));
    let why = "spec.resources.limits[ephemeral-storage]: Unsupported value: \"ephemeral-storage\": supported values: \
               \"cpu\", \"hugepages-\", \"memory\"";
    assert_eq!(errors, [why]);
}

#[test]
fn resources_of_containers_have_known_names() {
    let limit = |name: &str| wrong_container(&json!({"resources": {"limits": {name: "1", "cpu": "1"}}}));
    assert!(limit("x").contains(
        &"spec.containers[0].resources.limits[x]: Invalid value: \"x\": must be a standard resource for containers"
            .to_owned()
    ));
    assert!(limit("requests.x/y").contains(
        &"spec.containers[0].resources.limits[requests.x/y]: Invalid value: \"requests.x/y\": doesn't follow extended \
          resource name standard"
            .to_owned()
    ));
    assert!(limit("hugepages-2Mi").contains(
        &"spec.containers[0].resources.limits[hugepages-2Mi]: Invalid value: \"1\": 1 is not positive integer multiple \
          of hugepages-2Mi"
            .to_owned()
    ));
}

#[test]
fn fields_of_another_operating_system_are_refused() {
    let why = "Forbidden: windows options cannot be set for a linux pod";
    assert_eq!(
        wrong_pod(&json!({"os": {"name": "linux"}, "securityContext": {"windowsOptions": {}}})),
        [format!("spec.securityContext.windowsOptions: {why}")]
    );
    let why = "Forbidden: cannot be set for a windows pod";
    assert_eq!(
        wrong_pod(&json!({"os": {"name": "windows"}, "securityContext": {"runAsUser": 1}, "hostPID": true})),
        [format!("spec.securityContext.runAsUser: {why}"), format!("spec.hostPID: {why}")]
    );
}

#[test]
fn names_of_users_on_windows_have_at_most_one_domain() {
    let user =
        |name: &str| wrong_pod(&json!({"securityContext": {"windowsOptions": {"runAsUserName": name}}}));
    assert_eq!(user("domain\\user"), Vec::<String>::new());
    let at = "spec.securityContext.windowsOptions.runAsUserName: Invalid value";
    assert_eq!(
        user("."),
        [format!("{at}: \".\": runAsUserName's User cannot contain only periods or spaces")]
    );
    assert_eq!(
        user("\\u"),
        [format!("{at}: \"\\\\u\": runAsUserName's Domain doesn't match the NetBios nor the DNS format")]
    );
}

#[test]
fn variables_from_files_name_a_volume_that_exists() {
    let file = json!({"key": "K", "volumeName": "v", "path": "f"});
    let env = json!([{"name": "A", "valueFrom": {"fileKeyRef": file}}]);
    assert_eq!(
        wrong_container(&json!({"env": env})),
        ["spec.containers[0].env[0].valueFrom.fileKeyRef.volumeName: Not found: \"v\""]
    );
}

/// Fields of disabled features are accepted and not stored.
#[test]
fn fields_of_features_that_are_off_are_dropped() {
    let pods = kind("", "pods");
    let spec = json!({"schedulingGroup": {"podGroupName": "g"}, "evictionResponders": [{"name": "r", "priority": 1}],
        "containers": [{"name": "c", "image": "i:1", "lifecycle": {"stopSignal": "SIGSTOP"},
            "livenessProbe": {"grpc": {"port": 1, "mode": "TLS"}}}]});
    let assigned = ServerAssignedMetadata { uid: "u", now: Timestamp::from_secs(0), name_suffix: "x" };
    let stored = create(object(pods, &spec), pods, &assigned);
    for gone in [
        "/spec/schedulingGroup",
        "/spec/evictionResponders",
        "/spec/containers/0/lifecycle",
        "/spec/containers/0/livenessProbe/grpc/mode",
    ] {
        assert_eq!(stored.pointer(gone), None, "{gone}");
    }
    assert_eq!(stored.pointer("/spec/containers/0/livenessProbe/grpc/port"), Some(&json!(1)));
}

#[test]
fn the_request_of_a_claim_is_a_label() {
    let claims = json!({"resourceClaims": [{"name": "gpu", "resourceClaimName": "x"}], "containers": [
        {"name": "c", "image": "i:1", "resources": {"claims": [{"name": "gpu", "request": "A_b"}]}},
    ]});
    let errors = wrong_pod(&claims);
    assert!(
        errors.len() == 1
            && errors[0]
                .starts_with("spec.containers[0].resources.claims[0].request: Invalid value: \"A_b\""),
        "{errors:?}"
    );
}
