//! The default configuration of API priority and fairness: the FlowSchemas and PriorityLevelConfigurations of a new cluster.
//!
//! The mandatory ones always exist with these specs; the suggested ones are kept up to date unless an administrator
//! turns that off with the annotation [`AUTO_UPDATE`]. Within a list, objects are in the order in which Kubernetes
//! creates them.

use gantry_json::{Value, json};

/// The API group.
pub const GROUP: &str = "flowcontrol.apiserver.k8s.io";
/// The kind that assigns requests to priority levels.
pub const FLOW_SCHEMA: &str = "FlowSchema";
/// The kind that describes a priority level.
pub const PRIORITY_LEVEL: &str = "PriorityLevelConfiguration";
/// The annotation that says whether the server updates the spec of a default object.
pub const AUTO_UPDATE: &str = "apf.kubernetes.io/autoupdate-spec";
/// The FlowSchema and the priority level without limits.
pub const EXEMPT: &str = "exempt";
/// The FlowSchema and the priority level of all requests that no other FlowSchema matches.
pub const CATCH_ALL: &str = "catch-all";

const API_VERSION: &str = "flowcontrol.apiserver.k8s.io/v1";
const BY_USER: Option<&str> = Some("ByUser");
const BY_NAMESPACE: Option<&str> = Some("ByNamespace");
const AUTHENTICATED: &str = "system:authenticated";
const UNAUTHENTICATED: &str = "system:unauthenticated";

/// The priority levels that must exist with these specs.
pub fn mandatory_levels() -> Vec<Value> {
    let shares = json!({"lendablePercent": 0, "nominalConcurrencyShares": 0});
    let catch_all =
        json!({"lendablePercent": 0, "limitResponse": {"type": "Reject"}, "nominalConcurrencyShares": 5});
    vec![
        object(PRIORITY_LEVEL, CATCH_ALL, &json!({"limited": catch_all, "type": "Limited"})),
        object(PRIORITY_LEVEL, EXEMPT, &json!({"exempt": shares, "type": "Exempt"})),
    ]
}

/// The FlowSchemas that must exist with these specs.
pub fn mandatory_schemas() -> Vec<Value> {
    vec![
        schema(EXEMPT, EXEMPT, 1, None, &everything(&groups(&["system:masters"]))),
        schema(
            CATCH_ALL,
            CATCH_ALL,
            10_000,
            BY_USER,
            &everything(&groups(&[UNAUTHENTICATED, AUTHENTICATED])),
        ),
    ]
}

/// The suggested priority levels.
pub fn suggested_levels() -> Vec<Value> {
    vec![
        queued("system", 30, 33, 64, 6),
        queued("node-high", 40, 25, 64, 6),
        queued("leader-election", 10, 0, 16, 4),
        queued("workload-high", 40, 50, 128, 6),
        queued("workload-low", 100, 90, 128, 6),
        queued("global-default", 20, 50, 128, 6),
    ]
}

/// The suggested FlowSchemas.
pub fn suggested_schemas() -> Vec<Value> {
    let nodes = || groups(&["system:nodes"]);
    let node_health = json!({"subjects": nodes(), "resourceRules": [
        resources(&["*"], "", &["nodes", "nodes/status"], true),
        resources(&["*"], "coordination.k8s.io", &["leases"], false),
    ]});
    let probes = json!({
        "subjects": groups(&[UNAUTHENTICATED, AUTHENTICATED]),
        "nonResourceRules": [{"verbs": ["get"], "nonResourceURLs": ["/healthz", "/readyz", "/livez"]}],
    });
    let mut leaders = users(&["system:kube-controller-manager", "system:kube-scheduler"]);
    leaders.extend(kube_system_accounts());
    let election = json!({"subjects": leaders, "resourceRules": [
        resources(&["get", "create", "update"], "coordination.k8s.io", &["leases"], false),
    ]});
    let manager = everything(&users(&["system:kube-controller-manager"]));
    let scheduler = everything(&users(&["system:kube-scheduler"]));
    let high = "workload-high";
    vec![
        schema("system-nodes", "system", 500, BY_USER, &everything(&nodes())),
        schema("system-node-high", "node-high", 400, BY_USER, &node_health),
        schema("probes", EXEMPT, 2, None, &probes),
        schema("system-leader-election", "leader-election", 100, BY_USER, &election),
        schema("kube-controller-manager", high, 800, BY_NAMESPACE, &manager),
        schema("kube-scheduler", high, 800, BY_NAMESPACE, &scheduler),
        schema("kube-system-service-accounts", high, 900, BY_NAMESPACE, &everything(&kube_system_accounts())),
        schema(
            "service-accounts",
            "workload-low",
            9_000,
            BY_USER,
            &everything(&groups(&["system:serviceaccounts"])),
        ),
        schema(
            "global-default",
            "global-default",
            9_900,
            BY_USER,
            &everything(&groups(&[UNAUTHENTICATED, AUTHENTICATED])),
        ),
    ]
}

/// Returns the mandatory spec of this kind and name.
pub(crate) fn mandatory_spec(kind: &str, name: &str) -> Option<Value> {
    if !matches!(name, EXEMPT | CATCH_ALL) {
        return None;
    }
    let all = if kind == FLOW_SCHEMA { mandatory_schemas() } else { mandatory_levels() };
    let mut found = all.into_iter().find(|object| object["metadata"]["name"] == name)?;
    Some(found["spec"].take())
}

fn object(kind: &str, name: &str, spec: &Value) -> Value {
    let metadata = json!({"name": name, "annotations": {AUTO_UPDATE: "true"}});
    json!({"apiVersion": API_VERSION, "kind": kind, "metadata": metadata, "spec": spec})
}

/// A level with queues.
fn queued(name: &str, shares: u32, lendable: u32, queues: u32, hand: u32) -> Value {
    let queuing = json!({"handSize": hand, "queueLengthLimit": 50, "queues": queues});
    let limited = json!({
        "lendablePercent": lendable,
        "limitResponse": {"queuing": queuing, "type": "Queue"},
        "nominalConcurrencyShares": shares,
    });
    object(PRIORITY_LEVEL, name, &json!({"limited": limited, "type": "Limited"}))
}

fn schema(name: &str, level: &str, precedence: u32, distinguisher: Option<&str>, rule: &Value) -> Value {
    let mut spec = json!({
        "matchingPrecedence": precedence,
        "priorityLevelConfiguration": {"name": level},
        "rules": [rule],
    });
    if let Some(distinguisher) = distinguisher {
        spec["distinguisherMethod"] = json!({"type": distinguisher});
    }
    object(FLOW_SCHEMA, name, &spec)
}

/// The rule that all requests of these subjects match.
fn everything(subjects: &[Value]) -> Value {
    json!({
        "subjects": subjects,
        "resourceRules": [resources(&["*"], "*", &["*"], true)],
        "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
    })
}

/// A rule about resources in all namespaces and, if `is_cluster_scoped`, beyond namespaces.
fn resources(verbs: &[&str], group: &str, resources: &[&str], is_cluster_scoped: bool) -> Value {
    let mut rule = json!({"verbs": verbs, "apiGroups": [group], "resources": resources, "namespaces": ["*"]});
    if is_cluster_scoped {
        rule["clusterScope"] = json!(true);
    }
    rule
}

fn groups(names: &[&str]) -> Vec<Value> {
    names.iter().map(|name| json!({"kind": "Group", "group": {"name": name}})).collect()
}

fn users(names: &[&str]) -> Vec<Value> {
    names.iter().map(|name| json!({"kind": "User", "user": {"name": name}})).collect()
}

fn kube_system_accounts() -> Vec<Value> {
    vec![json!({"kind": "ServiceAccount", "serviceAccount": {"name": "*", "namespace": "kube-system"}})]
}
