//! Objects as large as a body may be: validation and warnings take time in proportion to their size.
//!
//! Every case would take minutes if each element of a list was compared with all others.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use gantry_json::{Value, json};
use gantry_registry::validation::ValidationReport;
use gantry_registry::{defaults, validation};
use gantry_schema::kinds::{Kind, kinds};

fn kind(group: &str, version: &str, resource: &str) -> &'static Kind {
    kinds().resource(group, version, resource).unwrap()
}

fn pod(spec: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "n"}, "spec": spec})
}

fn validated(spec: &Value) -> ValidationReport {
    let (kind, mut pod) = (kind("", "v1", "pods"), pod(spec));
    defaults::apply(kind, &mut pod);
    validation::create(kind, &pod)
}

fn with_ports(ports: &[Value]) -> ValidationReport {
    validated(&json!({"containers": [{"name": "c", "image": "i", "ports": ports}]}))
}

fn many<T>(count: usize, one: impl FnMut(usize) -> T) -> Vec<T> {
    (0..count).map(one).collect()
}

#[test]
fn a_container_has_thousands_of_ports() {
    let different = many(20_000, |index| json!({"containerPort": index + 1, "protocol": "TCP"}));
    assert!(with_ports(&different).warnings.is_empty());
    let on_other_ports =
        many(20_000, |index| json!({"containerPort": 1, "protocol": "TCP", "hostPort": index + 1}));
    assert!(with_ports(&on_other_ports).warnings.is_empty());
    let on_other_addresses = many(20_000, |index| {
        let address = format!("10.0.{}.{}", index / 250, index % 250 + 1);
        json!({"containerPort": 1, "protocol": "TCP", "hostPort": 1, "hostIP": address})
    });
    assert!(with_ports(&on_other_addresses).warnings.is_empty());
    let same = many(20_000, |_| json!({"containerPort": 1, "protocol": "TCP"}));
    let warnings = with_ports(&same).warnings;
    let about = "spec.containers[0].ports";
    assert_eq!(warnings[2], format!("{about}[2]: duplicate port definition with {about}[1]"));
    assert!(warnings.len() > 4096, "more than a response shows");
}

#[test]
fn containers_have_thousands_of_variables_mounts_and_volumes() {
    let variables = many(40_000, |index| json!({"name": format!("V{}", index % 30_000), "value": "x"}));
    let report = validated(&json!({"containers": [{"name": "c", "image": "i", "env": variables}]}));
    assert_eq!(report.warnings.len(), 10_000);
    let files = many(20_000, |index| {
        let file = json!({"volumeName": format!("v{index}"), "path": "p", "key": "K"});
        json!({"name": format!("V{index}"), "valueFrom": {"fileKeyRef": file}})
    });
    let volumes = many(20_000, |index| json!({"name": format!("v{index}"), "emptyDir": {}}));
    let mounts =
        many(10_000, |index| json!({"name": format!("v{index}"), "mountPath": format!("/m{index}")}));
    let devices =
        many(10_000, |index| json!({"name": format!("d{index}"), "devicePath": format!("/d{index}")}));
    let container =
        json!({"name": "c", "image": "i", "env": files, "volumeMounts": mounts, "volumeDevices": devices});
    let report = validated(&json!({"containers": [container], "volumes": volumes}));
    assert!(!report.errors.is_empty());
    let claims = many(20_000, |index| json!({"name": format!("c{index}"), "resourceClaimName": "x"}));
    let wrong = many(20_000, |index| json!({"name": format!("w{index}")}));
    let container = json!({"name": "c", "image": "i", "resources": {"claims": wrong}});
    assert!(!validated(&json!({"containers": [container], "resourceClaims": claims})).errors.is_empty());
}

#[test]
fn pods_are_scheduled_by_thousands_of_constraints() {
    let constraints = many(
        20_000,
        |index| json!({"maxSkew": 1, "topologyKey": format!("k{index}"), "whenUnsatisfiable": "DoNotSchedule"}),
    );
    let keys = many(20_000, |index| json!(format!("k{index}")));
    let expressions = many(20_000, |index| json!({"key": format!("e{index}"), "operator": "Exists"}));
    let labels: Value =
        Value::Object(many(20_000, |index| (format!("k{index}"), json!("v"))).into_iter().collect());
    let selector = json!({"matchLabels": labels, "matchExpressions": expressions});
    let term = json!({"topologyKey": "t", "labelSelector": selector, "matchLabelKeys": keys,
        "mismatchLabelKeys": many(20_000, |index| json!(format!("m{index}")))});
    let affinity = json!({"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}});
    let containers = [json!({"name": "c", "image": "i"})];
    let spec =
        json!({"containers": containers, "topologySpreadConstraints": constraints, "affinity": affinity});
    validated(&spec);
    let owners = many(
        20_000,
        |index| json!({"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": index.to_string()}),
    );
    let mut owned = pod(&json!({"containers": containers}));
    owned["metadata"]["ownerReferences"] = json!(owners);
    assert_eq!(validation::deduplicate_owners(&mut owned, ""), None);
    assert_eq!(owned["metadata"]["ownerReferences"], json!(owners));
}

#[test]
fn thousands_of_errors_are_reported_once_each() {
    let ports = many(40_000, |index| json!({"containerPort": index + 70_000, "protocol": "TCP"}));
    let errors = with_ports(&ports).errors;
    assert_eq!(errors.len(), 40_000);
    let refusal = gantry_primitives::Refusal::invalid("Pod", "", "p", &[errors.clone(), errors].concat());
    assert_eq!(refusal.details.unwrap().causes.len(), 40_000);
}

#[test]
fn the_changes_of_a_large_pod_are_described() {
    let spec = |start: usize| {
        let ports = many(20_000, |index| json!({"containerPort": index + start, "protocol": "TCP"}));
        json!({"containers": [{"name": "c", "image": "i", "ports": ports}]})
    };
    let (kind, mut old, mut new) = (kind("", "v1", "pods"), pod(&spec(1)), pod(&spec(2)));
    defaults::apply(kind, &mut old);
    defaults::apply(kind, &mut new);
    let report = validation::update(kind, &old, &new);
    let is_described = |text: &str| text.contains("may not change fields other than");
    assert!(report.errors.iter().any(|error| is_described(&error.to_string())), "{}", report.errors.len());
}

#[test]
fn nodes_taints_and_addresses_are_compared() {
    let taints = many(20_000, |index| json!({"key": format!("k{index}"), "effect": "NoSchedule"}));
    let node = json!({"metadata": {"name": "n"}, "spec": {"taints": taints}});
    assert_eq!(validation::create(kind("", "v1", "nodes"), &node).errors, []);
}
