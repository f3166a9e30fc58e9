//! Which changes a node may make to its own Node object: no label, taint or owner that would attract pods.

use std::collections::BTreeSet;

use gantry_json::Value;

/// Labels of Kubernetes that a node may set.
const ALLOWED_LABELS: [&str; 11] = [
    "beta.kubernetes.io/arch",
    "beta.kubernetes.io/instance-type",
    "beta.kubernetes.io/os",
    "failure-domain.beta.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
    "kubernetes.io/arch",
    "kubernetes.io/hostname",
    "kubernetes.io/os",
    "node.kubernetes.io/instance-type",
    "topology.kubernetes.io/region",
    "topology.kubernetes.io/zone",
];
/// Prefixes of labels that belong to Kubernetes.
const KUBERNETES: [&str; 2] = ["kubernetes.io", "k8s.io"];
/// Prefixes of labels of Kubernetes that a node may set.
const ALLOWED_PREFIXES: [&str; 2] = ["kubelet.kubernetes.io", "node.kubernetes.io"];
/// The prefix of labels that are reserved for administrators.
const RESTRICTED: [&str; 1] = ["node-restriction.kubernetes.io"];

/// Decides whether a node may create this Node object for itself; the error is the reason.
pub(super) fn check_create(node: &str, object: &Value) -> Result<(), String> {
    if !object["spec"]["configSource"].is_null() {
        return Err(format!("node \"{node}\" is not allowed to create pods with a non-nil configSource"));
    }
    let labels = forbidden_changes(&Value::Null, object);
    if labels.is_empty() {
        return Ok(());
    }
    Err(format!("node \"{node}\" is not allowed to set the following labels: {}", labels.join(", ")))
}

/// Decides whether a node may make this change to its Node object; the error is the reason.
pub(super) fn check_update(node: &str, stored: &Value, wanted: &Value) -> Result<(), String> {
    let config_source = &wanted["spec"]["configSource"];
    if !config_source.is_null() && *config_source != stored["spec"]["configSource"] {
        return Err(format!(
            "node \"{node}\" is not allowed to update configSource to a new non-nil configSource"
        ));
    }
    if list(&stored["spec"]["taints"]) != list(&wanted["spec"]["taints"]) {
        return Err(format!("node \"{node}\" is not allowed to modify taints"));
    }
    if list(&stored["metadata"]["ownerReferences"]) != list(&wanted["metadata"]["ownerReferences"]) {
        return Err(format!("node \"{node}\" is not allowed to modify ownerReferences"));
    }
    let labels = forbidden_changes(stored, wanted);
    if labels.is_empty() {
        Ok(())
    } else {
        Err(format!("is not allowed to modify labels: {}", labels.join(", ")))
    }
}

/// Returns a list, or an empty one if it is absent.
fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Returns the labels that differ and that a node may not change, in alphabetical order.
fn forbidden_changes<'o>(stored: &'o Value, wanted: &'o Value) -> Vec<&'o str> {
    let (before, after) = (&stored["metadata"]["labels"], &wanted["metadata"]["labels"]);
    let labels = [before, after].into_iter().filter_map(Value::as_object).flat_map(gantry_json::Map::keys);
    let changed = labels.filter(|label| before.get(label.as_str()) != after.get(label.as_str()));
    let forbidden: BTreeSet<&str> =
        changed.map(gantry_json::SmolStr::as_str).filter(|label| is_forbidden(label)).collect();
    forbidden.into_iter().collect()
}

fn is_forbidden(label: &str) -> bool {
    let prefix = label.split_once('/').map_or("", |(prefix, _)| prefix);
    let is_allowed = ALLOWED_LABELS.contains(&label) || is_below(prefix, &ALLOWED_PREFIXES);
    is_below(prefix, &RESTRICTED) || is_below(prefix, &KUBERNETES) && !is_allowed
}

/// Whether a prefix is one of these domains or a subdomain.
fn is_below(prefix: &str, domains: &[&str]) -> bool {
    domains.iter().any(|domain| {
        prefix.strip_suffix(domain).is_some_and(|parent| parent.is_empty() || parent.ends_with('.'))
    })
}

#[cfg(test)]
mod tests {
    use gantry_json::json;

    use super::*;

    fn with_label(label: &str) -> Value {
        json!({"metadata": {"labels": {label: "x"}}})
    }

    /// A7.11
    #[test]
    fn a_node_sets_only_labels_that_describe_it() {
        let plain = json!({});
        for allowed in [
            "own",
            "example.com/x",
            "notkubernetes.io/x",
            "kubernetes.io/hostname",
            "node.kubernetes.io/x",
            "a.kubelet.kubernetes.io/x",
        ] {
            assert_eq!(check_create("n", &with_label(allowed)), Ok(()));
            assert_eq!(check_update("n", &plain, &with_label(allowed)), Ok(()));
        }
        for forbidden in [
            "kubernetes.io/x",
            "k8s.io/x",
            "a.k8s.io/x",
            "node-role.kubernetes.io/control-plane",
            "node-restriction.kubernetes.io/x",
            "a.node-restriction.kubernetes.io/x",
        ] {
            let why = format!("node \"n\" is not allowed to set the following labels: {forbidden}");
            assert_eq!(check_create("n", &with_label(forbidden)), Err(why));
            let why = format!("is not allowed to modify labels: {forbidden}");
            assert_eq!(check_update("n", &plain, &with_label(forbidden)), Err(why.clone()));
            assert_eq!(check_update("n", &with_label(forbidden), &plain), Err(why), "removal");
            assert_eq!(check_update("n", &with_label(forbidden), &with_label(forbidden)), Ok(()));
        }
        let both = json!({"metadata": {"labels": {"k8s.io/b": "", "k8s.io/a": ""}}});
        let why = "is not allowed to modify labels: k8s.io/a, k8s.io/b";
        assert_eq!(check_update("n", &plain, &both), Err(why.to_owned()));
    }

    /// A7.11
    #[test]
    fn a_node_registers_with_taints_and_does_not_change_them() {
        let tainted = json!({"spec": {"taints": [{"key": "a", "effect": "NoSchedule"}]}});
        assert_eq!(check_create("n", &tainted), Ok(()));
        let why = Err("node \"n\" is not allowed to modify taints".to_owned());
        assert_eq!(check_update("n", &tainted, &json!({"spec": {}})), why);
        assert_eq!(check_update("n", &json!({}), &tainted), why);
        assert_eq!(check_update("n", &json!({}), &json!({"spec": {"taints": []}})), Ok(()));
        let owned = json!({"metadata": {"ownerReferences": [{"name": "o"}]}});
        let why = "node \"n\" is not allowed to modify ownerReferences";
        assert_eq!(check_update("n", &json!({}), &owned), Err(why.to_owned()));
    }
}
