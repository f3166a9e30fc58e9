//! Objects as large as a body may be: validation and warnings take time in proportion to their size.
//!
//! Every case would take minutes if each element of a list was compared with all others.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use gantry_registry::validation;
use gantry_registry::validation::ValidationReport;
use gantry_schema::kinds::{Kind, kinds};
use serde_json::{Value, json};

fn kind(group: &str, version: &str, resource: &str) -> &'static Kind {
    kinds().resource(group, version, resource).unwrap()
}

fn pod(spec: Value) -> Value {
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "n"}, "spec": spec})
}

fn validated(spec: Value) -> ValidationReport {
    validation::create(kind("", "v1", "pods"), &pod(spec))
}

fn with_ports(ports: &[Value]) -> ValidationReport {
    validated(json!({"containers": [{"name": "c", "image": "i", "ports": ports}]}))
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
    let report = validated(json!({"containers": [{"name": "c", "image": "i", "env": variables}]}));
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
    let report = validated(json!({"containers": [container], "volumes": volumes}));
    assert!(!report.errors.is_empty());
    let claims = many(20_000, |index| json!({"name": format!("c{index}"), "resourceClaimName": "x"}));
    let wrong = many(20_000, |index| json!({"name": format!("w{index}")}));
    let container = json!({"name": "c", "image": "i", "resources": {"claims": wrong}});
    assert!(!validated(json!({"containers": [container], "resourceClaims": claims})).errors.is_empty());
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
    validated(spec);
    let owners = many(
        20_000,
        |index| json!({"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": index.to_string()}),
    );
    let mut owned = pod(json!({"containers": containers}));
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
    let (old, new) = (pod(spec(1)), pod(spec(2)));
    let report = validation::update(kind("", "v1", "pods"), &old, &new);
    assert!(report.errors[0].to_string().contains("may not change fields other than"), "{:?}", report.errors);
}

#[test]
fn nodes_taints_and_addresses_are_compared() {
    let taints = many(20_000, |index| json!({"key": format!("k{index}"), "effect": "NoSchedule"}));
    let node = json!({"metadata": {"name": "n"}, "spec": {"taints": taints}});
    assert_eq!(validation::create(kind("", "v1", "nodes"), &node).errors, []);
}

/// The warnings are those of a comparison of each port with all earlier ones.
#[test]
fn warnings_about_ports_are_in_order() {
    for seed in 0..200 {
        let mut state: u64 = seed;
        let mut is_heads = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state >> 63 == 1
        };
        let mut port = |_| {
            let mut port = json!({"containerPort": if is_heads() { 1 } else { 2 }, "protocol": "TCP"});
            if is_heads() {
                port["hostPort"] = json!(if is_heads() { 1 } else { 2 });
            }
            if is_heads() {
                port["hostIP"] = json!(if is_heads() { "10.0.0.1" } else { "10.0.0.2" });
            }
            port
        };
        let containers =
            many(3, |index| json!({"name": format!("c{index}"), "image": "i", "ports": many(4, &mut port)}));
        let report = validated(json!({"containers": containers, "initContainers": containers}));
        let about_ports = report.warnings.into_iter().filter(|warning| warning.contains("port definition"));
        assert_eq!(about_ports.collect::<Vec<_>>(), compared(&containers), "seed {seed}");
    }
}

fn compared(containers: &[Value]) -> Vec<String> {
    let mut warnings = Vec::new();
    for list in ["initContainers", "containers"] {
        let mut earlier: Vec<(String, &Value)> = Vec::new();
        for (index, container) in containers.iter().enumerate() {
            if list == "initContainers" {
                earlier.clear();
            }
            for (port_index, port) in container["ports"].as_array().unwrap().iter().enumerate() {
                let at = format!("spec.{list}[{index}].ports[{port_index}]");
                for (other_at, other) in &earlier {
                    if let Some(how) = meet(port, other) {
                        warnings.push(format!("{at}: {how} port definition with {other_at}"));
                    }
                }
                earlier.push((at, port));
            }
        }
    }
    warnings
}

fn meet(port: &Value, other: &Value) -> Option<&'static str> {
    if port["containerPort"] != other["containerPort"] {
        return None;
    }
    let same = |field: &str| port[field] == other[field];
    match () {
        () if same("hostPort") && same("hostIP") => Some("duplicate"),
        () if port["hostPort"].is_null() || other["hostPort"].is_null() => Some("overlapping"),
        () if same("hostPort") && port["hostIP"].is_null() != other["hostIP"].is_null() => {
            Some("dangerously ambiguous")
        }
        () => None,
    }
}
