//! Stories of scheduling decisions.

mod inter_pod_affinity;
mod volumes;

use gantry_json::{Value, json};
use k8s_openapi::api::core::v1 as wire;
use proptest::prelude::*;

use super::{ClusterState, Node, Placement, PodInfo, SchedulingState, place};

/// A ready node of 4 cores, 8 GiB and 110 pods.
fn node(name: &str) -> Value {
    json!({
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
        "spec": {},
        "status": {
            "allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"},
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    })
}

fn pod(name: &str, spec: &Value) -> Value {
    let mut pod = json!({
        "metadata": {"name": name, "namespace": "shop", "uid": format!("uid-{name}")},
        "spec": {"containers": [{"name": "app", "image": "nginx"}]},
    });
    for (field, value) in spec.as_object().unwrap() {
        pod["spec"][field] = value.clone();
    }
    pod
}

fn requesting(name: &str, cpu: &str, memory: &str) -> Value {
    let requests = json!({"cpu": cpu, "memory": memory});
    pod(name, &json!({"containers": [{"name": "app", "resources": {"requests": requests}}]}))
}

fn with(mut object: Value, path: &str, value: &Value) -> Value {
    *object.pointer_mut(path).unwrap() = value.clone();
    object
}

fn owned_by(mut pod: Value, controller: &str) -> Value {
    pod["metadata"]["ownerReferences"] = json!([{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": controller, "controller": true}]);
    pod
}

fn parsed_pod(pod: &Value) -> PodInfo {
    PodInfo::parse(&gantry_json::from_value(pod.clone()).unwrap())
}

fn cluster(nodes: &[Value]) -> ClusterState {
    let mut cluster = ClusterState::default();
    for node in nodes {
        cluster.set_node(Node::parse(&gantry_json::from_value(node.clone()).unwrap()));
    }
    cluster
}

/// The node of a pod, or the message of its unschedulable condition.
fn place_pod(cluster: &ClusterState, pod: &Value) -> String {
    match place(cluster, &parsed_pod(pod)) {
        Placement::Node(name) => name,
        Placement::Unschedulable(reasons) => reasons.to_string(),
    }
}

/// Schedules a pod and counts it on its node.
fn schedule(cluster: &mut ClusterState, pod: &Value) -> String {
    let placement = place_pod(cluster, pod);
    if !placement.contains(' ') {
        cluster.add_pod(&parsed_pod(pod), &placement);
    }
    placement
}

#[test]
fn an_empty_cluster_has_its_own_message() {
    assert_eq!(
        place_pod(&ClusterState::default(), &pod("web", &json!({}))),
        "no nodes available to schedule pods"
    );
}

#[test]
fn reasons_are_counted_and_sorted() {
    let small =
        with(node("small"), "/status/allocatable", &json!({"cpu": "1", "memory": "1Gi", "pods": "110"}));
    let tainted =
        |name| with(node(name), "/spec", &json!({"taints": [{"key": "gpu", "effect": "NoSchedule"}]}));
    let cluster = cluster(&[small, tainted("a"), tainted("b")]);
    assert_eq!(
        place_pod(&cluster, &requesting("web", "2", "2Gi")),
        "0/3 nodes are available: 1 Insufficient cpu, 1 Insufficient memory, 2 node(s) had untolerated taint(s). \
         preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling."
    );
}

#[test]
fn resources_in_use_are_distinguished_from_resources_that_no_node_has() {
    let mut cluster = cluster(&[node("a"), node("b")]);
    assert_eq!(schedule(&mut cluster, &requesting("first", "3", "1Gi")), "a");
    let b = with(node("b"), "/status/allocatable/cpu", &json!("1"));
    cluster.set_node(Node::parse(&gantry_json::from_value(b).unwrap()));
    assert_eq!(
        place_pod(&cluster, &requesting("second", "2", "1Gi")),
        "0/2 nodes are available: 2 Insufficient cpu. preemption: 0/2 nodes are available: \
         1 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling."
    );
    let patient = with(
        requesting("third", "2", "1Gi"),
        "/spec",
        &json!({
            "containers": [{"name": "app", "resources": {"requests": {"cpu": "2"}}}], "preemptionPolicy": "Never",
        }),
    );
    assert_eq!(
        place_pod(&cluster, &patient),
        "0/2 nodes are available: 2 Insufficient cpu. preemption: not eligible due to preemptionPolicy=Never."
    );
}

#[test]
fn quantities_are_compared_exactly() {
    let mut cluster = cluster(&[node("a")]);
    assert_eq!(schedule(&mut cluster, &requesting("most", "3999m", "8388607Ki")), "a");
    assert_eq!(schedule(&mut cluster, &requesting("rest", "0.001", "1024")), "a");
    assert!(
        place_pod(&cluster, &requesting("none", "1n", "0"))
            .starts_with("0/1 nodes are available: 1 Insufficient cpu.")
    );
}

#[test]
fn the_request_of_a_pod_is_its_peak() {
    let container = |cpu: &str| json!({"name": "c", "resources": {"requests": {"cpu": cpu}}});
    let sidecar =
        |cpu: &str| json!({"name": "s", "restartPolicy": "Always", "resources": {"requests": {"cpu": cpu}}});
    let spec = |init: Value, containers: Value| json!({"initContainers": init, "containers": containers});
    let fits = |spec: &Value| place_pod(&cluster(&[node("a")]), &pod("web", spec)) == "a";
    // An init container runs alone ...
    assert!(fits(&spec(json!([container("4"), container("4")]), json!([container("4")]))));
    // ... but beside the sidecars before it.
    assert!(!fits(&spec(json!([sidecar("1"), container("4")]), json!([container("1")]))));
    assert!(fits(&spec(json!([container("4"), sidecar("1")]), json!([container("3")]))));
    assert!(!fits(&spec(json!([sidecar("2")]), json!([container("3")]))));
    // Pod-level requests replace the sum over containers.
    let whole = json!({"containers": [container("9")], "resources": {"requests": {"cpu": "1"}}});
    assert!(fits(&whole));
    let overhead = json!({"containers": [container("4")], "overhead": {"cpu": "1m"}});
    assert!(!fits(&overhead));
}

#[test]
fn a_node_takes_no_more_pods_than_allocatable() {
    let mut cluster = cluster(&[with(node("a"), "/status/allocatable/pods", &json!("2"))]);
    assert_eq!(schedule(&mut cluster, &pod("one", &json!({}))), "a");
    assert_eq!(schedule(&mut cluster, &pod("two", &json!({}))), "a");
    let full = place_pod(&cluster, &pod("three", &json!({})));
    assert!(full.starts_with("0/1 nodes are available: 1 Too many pods. preemption"), "{full}");
    assert!(cluster.remove_pod("uid-one"));
    assert_eq!(place_pod(&cluster, &pod("three", &json!({}))), "a");
}

#[test]
fn a_pod_is_scheduled_only_to_nodes_that_its_selector_and_affinity_match() {
    let labelled = |name, labels: Value| with(node(name), "/metadata/labels", &labels);
    let cluster = cluster(&[
        labelled("a", json!({"disk": "ssd", "zone": "east", "cores": "8"})),
        labelled("b", json!({"disk": "hdd", "zone": "west", "cores": "16"})),
    ]);
    let terms = |terms: Value| {
        json!({"affinity": {"nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}})
    };
    let expression = |key: &str, operator: &str, values: Value| json!({"matchExpressions": [{"key": key, "operator": operator, "values": values}]});
    let node_for = |spec: &Value| place_pod(&cluster, &pod("web", spec));
    assert_eq!(node_for(&json!({"nodeSelector": {"disk": "hdd"}})), "b");
    assert_eq!(node_for(&terms(json!([expression("zone", "In", json!(["west", "north"]))]))), "b");
    assert_eq!(node_for(&terms(json!([expression("zone", "NotIn", json!(["west"]))]))), "a");
    assert_eq!(node_for(&terms(json!([expression("cores", "Gt", json!(["8"]))]))), "b");
    assert_eq!(node_for(&terms(json!([expression("cores", "Lt", json!(["9"]))]))), "a");
    assert_eq!(node_for(&terms(json!([expression("gpu", "DoesNotExist", json!([])), {}]))), "a");
    let either = json!([expression("gpu", "Exists", json!([])), expression("zone", "In", json!(["west"]))]);
    assert_eq!(node_for(&terms(either)), "b");
    let by_name = json!([{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["b"]}]}]);
    assert_eq!(node_for(&terms(by_name)), "b");
    assert_eq!(
        node_for(&json!({"nodeSelector": {"disk": "tape"}})),
        "0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector. \
         preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling."
    );
    // An empty term matches no node, and neither does an empty list.
    assert!(node_for(&terms(json!([{}]))).starts_with("0/2"));
    assert!(node_for(&terms(json!([]))).starts_with("0/2"));
}

#[test]
fn nodes_that_a_pod_does_not_list_by_name_are_not_filtered() {
    let tainted = with(node("a"), "/spec", &json!({"taints": [{"key": "gpu", "effect": "NoExecute"}]}));
    let by_name = json!({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
        "nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["a"]}]}]}}}});
    assert!(place_pod(&cluster(&[tainted, node("b")]), &pod("web", &by_name)).starts_with(
        "0/2 nodes are available: 1 node(s) didn't satisfy plugin(s) [NodeAffinity], 1 node(s) had untolerated taint(s)."
    ));
}

#[test]
fn taints_keep_out_pods_that_do_not_tolerate_them() {
    let taints = json!([{"key": "team", "value": "red", "effect": "NoSchedule"}]);
    let cluster = cluster(&[with(node("a"), "/spec", &json!({"taints": taints}))]);
    let tolerated =
        |toleration: Value| place_pod(&cluster, &pod("web", &json!({"tolerations": [toleration]}))) == "a";
    assert!(tolerated(json!({"key": "team", "operator": "Equal", "value": "red", "effect": "NoSchedule"})));
    assert!(tolerated(json!({"key": "team", "value": "red"})));
    assert!(tolerated(json!({"key": "team", "operator": "Exists"})));
    assert!(tolerated(json!({"operator": "Exists"})));
    assert!(!tolerated(json!({"key": "team", "value": "blue"})));
    assert!(!tolerated(json!({"key": "team", "operator": "Exists", "effect": "NoExecute"})));
    assert!(!tolerated(json!({"key": "group", "operator": "Exists"})));
}

#[test]
fn a_node_that_is_cordoned_or_not_ready_gets_no_pods() {
    let cordoned = with(node("a"), "/spec", &json!({"unschedulable": true}));
    let message = place_pod(&cluster(std::slice::from_ref(&cordoned)), &pod("web", &json!({})));
    assert!(message.starts_with("0/1 nodes are available: 1 node(s) were unschedulable."), "{message}");
    let daemon = json!({"tolerations": [{"key": "node.kubernetes.io/unschedulable", "operator": "Exists"}]});
    assert_eq!(place_pod(&cluster(&[cordoned]), &pod("daemon", &daemon)), "a");
    for conditions in [
        json!([]),
        json!([{"type": "Ready", "status": "False"}]),
        json!([{"type": "Ready", "status": "Unknown"}]),
    ] {
        let silent = with(node("a"), "/status/conditions", &conditions);
        let message = place_pod(&cluster(&[silent]), &pod("web", &json!({})));
        assert!(
            message.starts_with("0/1 nodes are available: 1 node(s) had untolerated taint(s)."),
            "{message}"
        );
    }
}

#[test]
fn a_host_port_is_used_once_per_node() {
    let listening = |name: &str, ip: &str, port: u16, protocol: &str| {
        let ports = json!([{"containerPort": 80, "hostPort": port, "hostIP": ip, "protocol": protocol}]);
        pod(name, &json!({"containers": [{"name": "app", "ports": ports}]}))
    };
    let mut cluster = cluster(&[node("a")]);
    assert_eq!(schedule(&mut cluster, &listening("one", "", 8080, "TCP")), "a");
    let clash = place_pod(&cluster, &listening("two", "10.0.0.1", 8080, "TCP"));
    let expected = "0/1 nodes are available: 1 node(s) didn't have free ports for the requested pod ports. preemption: \
                0/1 nodes are available: 1 No preemption victims found for incoming pod.";
    assert_eq!(clash, expected);
    assert_eq!(place_pod(&cluster, &listening("three", "", 8080, "UDP")), "a");
    assert_eq!(schedule(&mut cluster, &listening("four", "10.0.0.1", 9090, "TCP")), "a");
    assert_eq!(place_pod(&cluster, &listening("five", "10.0.0.2", 9090, "TCP")), "a");
    cluster.remove_pod("uid-one");
    assert_eq!(place_pod(&cluster, &listening("two", "10.0.0.1", 8080, "TCP")), "a");
}

#[test]
fn replicas_of_one_controller_are_spread() {
    let mut cluster = cluster(&[node("a"), node("b"), node("c")]);
    // A node with fewer free resources still gets its replica before another node gets two.
    assert_eq!(schedule(&mut cluster, &requesting("busy", "1", "1Gi")), "a");
    let mut nodes: Vec<_> = (0..3)
        .map(|n| schedule(&mut cluster, &owned_by(pod(&format!("web-{n}"), &json!({})), "web")))
        .collect();
    nodes.sort();
    assert_eq!(nodes, ["a", "b", "c"]);
}

#[test]
fn pods_are_scheduled_to_the_node_with_most_free_resources() {
    let mut cluster = cluster(&[node("a"), node("b")]);
    let nodes: Vec<_> = (0..4).map(|n| schedule(&mut cluster, &pod(&format!("p{n}"), &json!({})))).collect();
    assert_eq!(nodes, ["a", "b", "a", "b"], "pods without requests count in scoring, too");
    assert_eq!(schedule(&mut cluster, &requesting("big", "2", "4Gi")), "a");
    assert_eq!(schedule(&mut cluster, &pod("small", &json!({}))), "b");
}

#[test]
fn preferred_affinity_and_soft_taints_are_scored() {
    let soft_tainted =
        with(node("a"), "/spec", &json!({"taints": [{"key": "old", "effect": "PreferNoSchedule"}]}));
    let both = cluster(&[soft_tainted.clone(), node("b")]);
    assert_eq!(place_pod(&both, &pod("web", &json!({}))), "b");
    assert_eq!(place_pod(&both, &pod("web", &json!({"tolerations": [{"operator": "Exists"}]}))), "a");
    assert_eq!(
        place_pod(&cluster(&[soft_tainted]), &pod("web", &json!({}))),
        "a",
        "a soft taint does not exclude the node"
    );
    let prefers = json!({"affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
        {"weight": 10, "preference": {"matchExpressions": [
            {"key": "kubernetes.io/hostname", "operator": "In", "values": ["b"]}]}}]}}});
    assert_eq!(place_pod(&cluster(&[node("a"), node("b")]), &pod("web", &prefers)), "b");
}

#[test]
fn a_pod_is_counted_once_however_often_it_is_added() {
    let mut cluster = cluster(&[node("a"), node("b")]);
    let web = parsed_pod(&requesting("web", "3", "1Gi"));
    cluster.add_pod(&web, "a");
    cluster.add_pod(&web, "a");
    assert_eq!(cluster.node_of("uid-web"), Some("a"));
    assert_eq!(place_pod(&cluster, &requesting("next", "1", "1Gi")), "b");
    cluster.add_pod(&web, "b");
    assert_eq!(place_pod(&cluster, &requesting("next", "2", "1Gi")), "a");
    assert!(cluster.remove_pod("uid-web"));
    assert!(!cluster.remove_pod("uid-web"));
}

#[test]
fn pods_may_be_known_before_their_node_and_outlive_it() {
    let mut cluster = ClusterState::default();
    cluster.add_pod(&parsed_pod(&requesting("web", "3", "1Gi")), "a");
    let a = Node::parse(&gantry_json::from_value::<wire::Node>(node("a")).unwrap());
    assert!(cluster.set_node(a.clone()));
    assert!(!cluster.set_node(a.clone()), "an unchanged node can fit no other pod");
    assert!(place_pod(&cluster, &requesting("next", "2", "1Gi")).starts_with("0/1"));
    cluster.remove_node("a");
    assert_eq!(place_pod(&cluster, &requesting("next", "2", "1Gi")), "no nodes available to schedule pods");
    cluster.set_node(a);
    assert!(place_pod(&cluster, &requesting("next", "2", "1Gi")).starts_with("0/1"));
    cluster.remove_pod("uid-web");
    assert_eq!(place_pod(&cluster, &requesting("next", "2", "1Gi")), "a");
}

/// A10.4, A§2.6: which pods are scheduled, and when.
#[test]
fn only_pending_pods_of_this_scheduler_are_scheduled() {
    let state_of = |pod: Value| SchedulingState::of(&gantry_json::from_value(pod).unwrap());
    assert_eq!(state_of(pod("web", &json!({}))), SchedulingState::Pending);
    assert_eq!(
        state_of(pod("web", &json!({"schedulerName": "default-scheduler"}))),
        SchedulingState::Pending
    );
    assert_eq!(state_of(pod("web", &json!({"schedulerName": "mine"}))), SchedulingState::NotEligible);
    assert_eq!(
        state_of(pod("web", &json!({"schedulingGates": [{"name": "quota"}]}))),
        SchedulingState::NotEligible
    );
    assert_eq!(state_of(pod("web", &json!({"nodeName": "a"}))), SchedulingState::Assigned("a".to_owned()));
    let mut over = pod("web", &json!({"nodeName": "a"}));
    over["status"] = json!({"phase": "Succeeded"});
    assert_eq!(state_of(over), SchedulingState::Terminated);
    let mut deleting = pod("web", &json!({}));
    deleting["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    assert_eq!(state_of(deleting), SchedulingState::NotEligible);
}

proptest! {
    /// No node is overcommitted, whatever is requested, and in whatever order pods are added and removed; a cluster
    /// without pods has all its resources free.
    #[test]
    fn no_node_is_overcommitted(
        amounts in prop::collection::vec((1_u32..3000, 1_u32..5000, any::<bool>()), 1..40),
    ) {
        let nodes = [node("a"), node("b"), node("c")];
        let mut cluster = cluster(&nodes);
        let mut here: Vec<(String, u32, u32, String)> = Vec::new();
        for (n, (cpu, memory, leave)) in amounts.into_iter().enumerate() {
            let name = format!("p{n}");
            let placement = schedule(&mut cluster, &requesting(&name, &format!("{cpu}m"), &format!("{memory}Mi")));
            if !placement.contains(' ') {
                here.push((placement, cpu, memory, format!("uid-{name}")));
            }
            if leave && !here.is_empty() {
                let (.., uid) = here.swap_remove(0);
                cluster.remove_pod(&uid);
            }
            for node in ["a", "b", "c"] {
                let (cpu, memory) = here.iter().filter(|(home, ..)| home == node)
                    .fold((0, 0), |(cpu, memory), (_, c, m, _)| (cpu + c, memory + m));
                prop_assert!(cpu <= 4000 && memory <= 8192, "{node} has {cpu}m and {memory}Mi in use");
            }
        }
        for (.., uid) in &here {
            cluster.remove_pod(uid);
        }
        prop_assert_eq!(place_pod(&cluster, &requesting("all", "4", "8Gi")), "a");
    }
}
