//! Defaults of namespaces, nodes, bindings of roles and the classes of a cluster.

use serde_json::{Value, json};

use super::setting::{Object, child, default, default_text, each, ensure, is_empty, is_unset, text};

const RBAC: &str = "rbac.authorization.k8s.io";
const NAME_LABEL: &str = "kubernetes.io/metadata.name";

/// A Namespace carries its name as a label, whatever the client says.
pub(crate) fn namespace(namespace: &mut Object) {
    let Some(metadata) = child(namespace, "metadata") else { return };
    let name = text(metadata, "name").to_owned();
    if name.is_empty() {
        return;
    }
    if let Some(labels) = ensure(metadata, "labels") {
        labels.insert(NAME_LABEL.to_owned(), json!(name));
    }
}

/// A new Namespace is held by the finalizer `kubernetes`, after those given.
pub(crate) fn finalized_namespace(namespace: &mut Object) {
    let Some(spec) = ensure(namespace, "spec") else { return };
    default(spec, "finalizers", json!([]));
    if let Some(Value::Array(finalizers)) = spec.get_mut("finalizers")
        && !finalizers.contains(&json!("kubernetes"))
    {
        finalizers.push(json!("kubernetes"));
    }
}

/// A Node: all that it has can be allocated, and its first pod range is among its pod ranges.
pub(crate) fn node(node: &mut Object) {
    if let Some(spec) = child(node, "spec") {
        let range = text(spec, "podCIDR").to_owned();
        let first = spec.get("podCIDRs").and_then(|ranges| ranges.get(0)).cloned();
        match first {
            Some(first) if range.is_empty() => {
                spec.insert("podCIDR".to_owned(), first);
            }
            first if !range.is_empty() && first.as_ref() != Some(&json!(range)) => {
                spec.insert("podCIDRs".to_owned(), json!([range]));
            }
            _ => {}
        }
    }
    if let Some(status) = child(node, "status")
        && is_unset(status, "allocatable")
        && !is_empty(status, "capacity")
    {
        let capacity = status["capacity"].clone();
        status.insert("allocatable".to_owned(), capacity);
    }
}

/// A binding speaks of roles, users and groups of RBAC.
pub(crate) fn role_binding(binding: &mut Object) {
    if let Some(role) = child(binding, "roleRef") {
        default_text(role, "apiGroup", RBAC);
    }
    for subject in each(binding, "subjects") {
        if matches!(text(subject, "kind"), "User" | "Group") {
            default_text(subject, "apiGroup", RBAC);
        }
    }
}

/// A StorageClass.
pub(crate) fn storage_class(class: &mut Object) {
    default(class, "reclaimPolicy", "Delete");
    default(class, "volumeBindingMode", "Immediate");
}

/// A CSIDriver.
pub(crate) fn csi_driver(driver: &mut Object) {
    let Some(spec) = ensure(driver, "spec") else { return };
    default(spec, "attachRequired", true);
    let switches = [
        "podInfoOnMount",
        "storageCapacity",
        "requiresRepublish",
        "seLinuxMount",
        "preventPodSchedulingIfMissing",
    ];
    for field in switches {
        default(spec, field, false);
    }
    default(spec, "fsGroupPolicy", "ReadWriteOnceWithFSType");
    if is_empty(spec, "volumeLifecycleModes") {
        spec.insert("volumeLifecycleModes".to_owned(), json!(["Persistent"]));
    }
}

/// A PriorityClass.
pub(crate) fn priority_class(class: &mut Object) {
    default(class, "preemptionPolicy", "PreemptLowerPriority");
}
