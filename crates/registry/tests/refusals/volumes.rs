//! Volumes, mounts and claims.

use gantry_json::{Value, json};
use gantry_registry::validation;
use gantry_schema::kinds::kinds;

use super::{NONE, of_pod, of_volume};

/// O2.6: a projected volume has one source at a time, and each path once.
#[test]
fn projected_volumes_do_not_collide() {
    let projected = |sources: Value| of_volume(json!({"projected": {"sources": sources}}));
    let at = "spec.volumes[0].projected";
    assert_eq!(
        projected(json!([{"secret": {"name": "x"}, "configMap": {"name": "y"}}])),
        [format!("{at}.sources[0]: Forbidden: may not specify more than 1 volume type per source")]
    );
    let items = json!([{"key": "a", "path": "p"}]);
    assert_eq!(
        projected(
            json!([{"secret": {"name": "x", "items": items}}, {"configMap": {"name": "y", "items": items}}])
        ),
        [format!("{at}: Invalid value: \"y\": conflicting duplicate paths")]
    );
    assert_eq!(
        projected(json!([{"serviceAccountToken": {"path": "", "expirationSeconds": 5}}])),
        [
            format!(
                "{at}.sources[0].serviceAccountToken.expirationSeconds: Invalid value: 5: may not specify a duration less than 10 minutes"
            ),
            format!("{at}.path: Required value"),
        ]
    );
}

/// O2.6: mounts with propagation or recursive read-only have requirements; devices are claims.
#[test]
fn mounts_and_devices_have_conditions() {
    let mounted = |mount: Value| {
        let mut mount = mount;
        mount["name"] = json!("v");
        mount["mountPath"] = json!("/a");
        let container = json!({"name": "c", "image": "i", "volumeMounts": [mount]});
        of_pod(json!({"volumes": [{"name": "v"}], "containers": [container]}))
    };
    let at = "spec.containers[0].volumeMounts";
    assert_eq!(
        mounted(json!({"mountPropagation": "Bidirectional"})),
        [format!(
            "{at}.mountPropagation: Forbidden: Bidirectional mount propagation is available only to privileged containers"
        )]
    );
    assert_eq!(
        mounted(json!({"recursiveReadOnly": "Enabled"})),
        [format!("{at}.recursiveReadOnly: Forbidden: may only be specified when readOnly is true")]
    );
    assert_eq!(
        mounted(json!({"recursiveReadOnly": "Foo"})),
        [format!(
            "{at}.recursiveReadOnly: Unsupported value: \"Foo\": supported values: \"Disabled\", \"Enabled\", \"IfPossible\""
        )]
    );
    let container =
        json!({"name": "c", "image": "i", "volumeDevices": [{"name": "v", "devicePath": "/a/../b"}]});
    assert_eq!(
        of_pod(json!({"volumes": [{"name": "v"}], "containers": [container]})),
        [
            "spec.containers[0].volumeDevices[0].name: Invalid value: \"v\": can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode",
            "spec.containers[0].volumeDevices[0].devicePath: Invalid value: \"/a/../b\": can not contain backsteps ('..')",
        ]
    );
}

/// A2.20: a claim can grow once it is bound, and not shrink below its capacity.
#[test]
fn claims_grow_once_they_are_bound() {
    let kind = kinds().kind("", "v1", "PersistentVolumeClaim").unwrap();
    let claim = |size: &str, phase: &str| {
        let spec = json!({"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}});
        let status = json!({"phase": phase, "capacity": {"storage": "2Gi"}});
        json!({"metadata": {"name": "c", "namespace": "n"}, "spec": spec, "status": status})
    };
    let wrong = |old: &Value, new: &Value| {
        let found = validation::update(kind, old, new).errors;
        found.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(wrong(&claim("2Gi", "Bound"), &claim("3Gi", "Bound")), NONE);
    let early = wrong(&claim("2Gi", "Pending"), &claim("3Gi", "Pending"));
    assert!(
        early[0].starts_with("spec: Forbidden: spec is immutable after creation except resources.requests")
    );
    assert_eq!(
        wrong(&claim("3Gi", "Bound"), &claim("1Gi", "Bound")),
        ["spec.resources.requests.storage: Forbidden: field can not be less than status.capacity"]
    );
}
