//! Defaults, compared with the objects that Kubernetes 1.37 returned.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "tests fail by panicking; recordings are files"
)]

use gantry_json::{Value, json};
use gantry_registry::admission::{self, priority};
use gantry_registry::defaults;
use gantry_schema::kinds::{Kind, kinds};
use proptest::prelude::*;

/// Fields that are allocated or computed elsewhere, or added when objects are encoded.
const NOT_OURS: [&str; 4] = ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"];

/// O1.1: a created object has every default of its kind.
#[test]
fn created_objects_get_the_defaults_recorded() {
    let mut replayed = 0;
    for case in [
        "configmap_create",
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
        "namespace_create",
        "node_create",
        "nulls_mean_unset",
        "pdb_create",
        "plain_kinds",
        "pod_minimal",
        "pod_rich",
        "pod_with_node_name",
        "rbac_create",
        "replicaset_minimal",
        "replicationcontroller_create",
        "secret_create",
        "service_cluster_ip",
        "service_kinds",
        "serviceaccount_create",
        "statefulset_create",
    ] {
        for exchange in recorded(case) {
            if created(&exchange) {
                compare(case, &exchange);
                replayed += 1;
            }
        }
    }
    assert!(replayed > 40, "{replayed}");
}

/// O1.1: requests default to limits in a pod, and the QoS class depends on both.
#[test]
fn qos_class_follows_requests_and_limits() {
    for exchange in recorded("pod_quality_of_service") {
        let mut pod = exchange["send"].clone();
        if pod["metadata"]["name"] == "exact" {
            // Decoding brings quantities to the canonical form.
            pod["spec"]["containers"][0]["resources"]["requests"] = json!({"cpu": "1", "memory": "1Gi"});
        }
        let kind = kind_of(&exchange);
        defaults::apply(kind, &mut pod);
        defaults::set_initial_status(kind, &mut pod);
        assert_eq!(
            json!([pod["status"], pod["spec"]["containers"][0]["resources"]]),
            exchange["body"],
            "{}",
            pod["metadata"]["name"]
        );
    }
}

/// O1.1: the tag of an image determines its pull policy.
#[test]
fn pull_policies_depend_on_the_tag() {
    let exchange = &recorded("image_pull_policy")[0];
    let mut deployment = exchange["send"].clone();
    defaults::apply(kind_of(exchange), &mut deployment);
    let containers = deployment["spec"]["template"]["spec"]["containers"].as_array().unwrap();
    let policies: Vec<_> = containers.iter().map(|c| json!([c["image"], c["imagePullPolicy"]])).collect();
    assert_eq!(json!(policies), exchange["body"]);
}

/// O1.1: on the host network a pod's ports are the host's; a template is not changed.
#[test]
fn host_ports_follow_container_ports_in_pods_only() {
    let exchanges = recorded("pod_host_network");
    let mut pod = exchanges[0]["send"].clone();
    defaults::apply(kind_of(&exchanges[0]), &mut pod);
    assert_eq!(pod["spec"]["containers"], exchanges[0]["body"]);
    let mut deployment = exchanges[1]["send"].clone();
    defaults::apply(kind_of(&exchanges[1]), &mut deployment);
    assert_eq!(deployment["spec"]["template"]["spec"], exchanges[1]["body"]);
}

/// O1.1: tolerations of lost nodes are added when the pod has none for them.
#[test]
fn tolerations_are_added_where_they_are_missing() {
    for exchange in recorded("pod_tolerations_kept") {
        let mut pod = exchange["send"].clone();
        let kind = kind_of(&exchange);
        admission::admit_create(kind, &mut pod);
        assert_eq!(pod["spec"]["tolerations"], exchange["body"]);
        let once = pod.clone();
        admission::admit_create(kind, &mut pod);
        assert_eq!(pod, once);
    }
}

/// O1.1: a strategy changed back to rolling gets its limits again, and Recreate gets none.
#[test]
fn only_rolling_updates_have_limits() {
    let deployments = kinds().kind("apps", "v1", "Deployment").unwrap();
    let mut deployment = json!({"spec": {"strategy": {"type": "Recreate"}}});
    defaults::apply(deployments, &mut deployment);
    assert_eq!(deployment["spec"]["strategy"], json!({"type": "Recreate"}));
    deployment["spec"]["strategy"]["type"] = json!("RollingUpdate");
    defaults::apply(deployments, &mut deployment);
    assert_eq!(
        deployment["spec"]["strategy"]["rollingUpdate"],
        json!({"maxUnavailable": "25%", "maxSurge": "25%"})
    );
}

/// O1.1: zero is kept where it is a valid value, and an empty string counts as absent.
#[test]
fn zero_is_kept_where_it_differs_from_absent() {
    let deployments = kinds().kind("apps", "v1", "Deployment").unwrap();
    let container =
        json!({"name": "c", "image": "x:1", "livenessProbe": {"periodSeconds": 0}, "imagePullPolicy": ""});
    let template =
        json!({"spec": {"restartPolicy": "", "terminationGracePeriodSeconds": 0, "containers": [container]}});
    let mut deployment = json!({"spec": {"replicas": 0, "revisionHistoryLimit": 0, "template": template}});
    defaults::apply(deployments, &mut deployment);
    let spec = &deployment["spec"];
    assert_eq!((&spec["replicas"], &spec["revisionHistoryLimit"]), (&json!(0), &json!(0)));
    let pod = &spec["template"]["spec"];
    assert_eq!((&pod["restartPolicy"], &pod["terminationGracePeriodSeconds"]), (&json!("Always"), &json!(0)));
    assert_eq!(pod["containers"][0]["livenessProbe"]["periodSeconds"], 10);
    assert_eq!(pod["containers"][0]["imagePullPolicy"], "IfNotPresent");
}

/// O1.1: a negative grace period stays in a template and becomes 1 in a pod.
#[test]
fn a_negative_grace_period_becomes_one_in_pods() {
    let mut pod = json!({"spec": {"terminationGracePeriodSeconds": -1}});
    defaults::apply(kinds().kind("", "v1", "Pod").unwrap(), &mut pod);
    assert_eq!(pod["spec"]["terminationGracePeriodSeconds"], 1);
    let mut set = json!({"spec": {"template": {"spec": {"terminationGracePeriodSeconds": -1}}}});
    defaults::apply(kinds().kind("apps", "v1", "ReplicaSet").unwrap(), &mut set);
    assert_eq!(set["spec"]["template"]["spec"]["terminationGracePeriodSeconds"], -1);
}

/// The `behavior` of an autoscaler gets the defaults of absent rules.
#[test]
fn behavior_of_an_autoscaler_gets_defaults() {
    let autoscalers = kinds().kind("autoscaling", "v2", "HorizontalPodAutoscaler").unwrap();
    let mut autoscaler =
        json!({"spec": {"maxReplicas": 3, "behavior": {"scaleDown": {"selectPolicy": "Min"}}}});
    defaults::apply(autoscalers, &mut autoscaler);
    let percent = json!({"type": "Percent", "value": 100, "periodSeconds": 15});
    let pods = json!({"type": "Pods", "value": 4, "periodSeconds": 15});
    assert_eq!(
        autoscaler["spec"]["behavior"],
        json!({
            "scaleUp": {"selectPolicy": "Max", "stabilizationWindowSeconds": 0, "policies": [pods, percent]},
            "scaleDown": {"selectPolicy": "Min", "policies": [percent]},
        })
    );
}

/// The default limits and requests of containers are the maximum of a LimitRange.
#[test]
fn limit_ranges_default_from_the_maximum() {
    let mut range =
        json!({"spec": {"limits": [{"type": "Container", "max": {"cpu": "2"}, "min": {"memory": "1Mi"}}]}});
    defaults::apply(kinds().kind("", "v1", "LimitRange").unwrap(), &mut range);
    let limit = &range["spec"]["limits"][0];
    assert_eq!(limit["default"], json!({"cpu": "2"}));
    assert_eq!(limit["defaultRequest"], json!({"cpu": "2", "memory": "1Mi"}));
}

/// A pod with scheduling gates starts with the condition for them.
#[test]
fn gated_pods_start_with_a_condition() {
    let mut pod = json!({"spec": {"schedulingGates": [{"name": "x"}]}, "status": {"phase": "Running"}});
    defaults::set_initial_status(kinds().kind("", "v1", "Pod").unwrap(), &mut pod);
    assert_eq!(pod["status"]["phase"], "Pending");
    assert_eq!(pod["status"]["conditions"][0]["reason"], "SchedulingGated");
}

proptest! {
    /// Defaulting any value is idempotent.
    #[test]
    fn defaulting_twice_is_defaulting_once(index in 0..kinds().all().count(), spec in json_value()) {
        let kind = kinds().all().nth(index).unwrap();
        let mut object = json!({"metadata": {"name": "x"}, "spec": spec.clone(), "status": spec});
        defaults::apply(kind, &mut object);
        let once = object.clone();
        defaults::apply(kind, &mut object);
        prop_assert_eq!(object, once);
    }
}

/// Values with names of fields that have defaults.
fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "|RollingUpdate|ClientIP|LoadBalancer|Container|nginx:latest|[a-z]{1,4}".prop_map(Value::from),
    ];
    let names = prop::sample::select(vec![
        "template",
        "spec",
        "metadata",
        "labels",
        "containers",
        "initContainers",
        "ports",
        "resources",
        "limits",
        "requests",
        "strategy",
        "updateStrategy",
        "type",
        "rollingUpdate",
        "volumes",
        "projected",
        "sources",
        "secret",
        "serviceAccount",
        "serviceAccountName",
        "replicas",
        "completions",
        "image",
        "livenessProbe",
        "httpGet",
        "containerPort",
        "hostPort",
        "hostNetwork",
        "sessionAffinity",
        "targetPort",
        "port",
        "max",
        "default",
        "defaultRequest",
        "behavior",
        "scaleUp",
        "policies",
        "jobTemplate",
        "podIP",
        "podIPs",
        "ip",
    ]);
    leaf.prop_recursive(6, 48, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map(names.clone().prop_map(str::to_owned), inner, 0..6)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

fn created(exchange: &Value) -> bool {
    let sent_post = exchange["request"].as_str().is_some_and(|request| request.starts_with("POST"));
    sent_post && exchange["status"] == 201 && exchange["body"].is_object()
}

fn compare(case: &str, exchange: &Value) {
    let kind = kind_of(exchange);
    let mut ours = exchange["send"].clone();
    defaults::apply(kind, &mut ours);
    if kind.kind == "Job" {
        ours["metadata"]["uid"] = exchange["body"]["metadata"]["uid"].clone();
    }
    admission::admit_create(kind, &mut ours);
    defaults::set_initial_status(kind, &mut ours);
    if kind.kind == "Pod" {
        priority::prioritize(&mut ours, None).unwrap();
    }
    let mut theirs = exchange["body"].clone();
    settle(&mut ours, &mut theirs, kind);
    assert_eq!(ours, theirs, "{case} {}", exchange["request"]);
}

/// Removes fields that other parts of the server set, and empty values.
fn settle(ours: &mut Value, theirs: &mut Value, kind: &Kind) {
    for value in [&mut *ours, &mut *theirs] {
        let object = value.as_object_mut().unwrap();
        object.remove("kind");
        object.remove("apiVersion");
        let labels = object["metadata"]["labels"].take();
        object.insert("metadata".to_owned(), json!({"labels": labels}));
        if let Some(Value::Object(spec)) = object.get_mut("spec") {
            spec.retain(|field, _| !NOT_OURS.contains(&field.as_str()));
            if kind.kind == "Node" {
                spec.remove("taints");
            }
            for port in spec.get_mut("ports").and_then(Value::as_array_mut).into_iter().flatten() {
                port.as_object_mut().unwrap().remove("nodePort");
            }
        }
        if object.get("status").is_some_and(|status| status == "<hidden>") {
            object.remove("status");
        }
        let text = value.to_string().replace(r#""cpu":"0.1""#, r#""cpu":"100m""#);
        *value = gantry_json::from_str(&text).unwrap();
        prune(value);
    }
}

fn prune(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.values_mut().for_each(prune);
            map.retain(|_, value| !is_empty_value(value));
        }
        Value::Array(list) => list.iter_mut().for_each(prune),
        _ => {}
    }
}

fn is_empty_value(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(flag) => !flag,
        Value::Number(number) => number.as_i64() == Some(0),
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.is_empty(),
    }
}

fn kind_of(exchange: &Value) -> &'static Kind {
    let path = exchange["request"].as_str().unwrap().split([' ', '?']).nth(1).unwrap();
    let parts: Vec<_> = path.split('/').skip(1).collect();
    let (group, rest) = if parts[0] == "api" { ("", &parts[1..]) } else { (parts[1], &parts[2..]) };
    let resource = rest.last().unwrap();
    kinds().resource(group, rest[0], resource).unwrap()
}

fn recorded(case: &str) -> Vec<Value> {
    let path = format!("{}/tests/recorded/objects.{case}.json", env!("CARGO_MANIFEST_DIR"));
    gantry_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}
