//! Where the pod spec is in objects of each kind.

use gantry_json::Value;

/// The annotation with the change cause of a revision.
pub(crate) const CAUSE: &str = "kubernetes.io/change-cause";

/// The pointer to the pod spec in objects of this kind; none if they have no pods.
pub(crate) fn pod_spec(kind: &str) -> Option<&'static str> {
    match kind {
        "Pod" => Some("/spec"),
        "Deployment" | "ReplicaSet" | "DaemonSet" | "StatefulSet" | "ReplicationController" | "Job" => {
            Some("/spec/template/spec")
        }
        "CronJob" => Some("/spec/jobTemplate/spec/template/spec"),
        _ => None,
    }
}

/// Whether an owner reference of the object names this uid as its controller.
pub(crate) fn is_controlled_by(object: &Value, uid: &str) -> bool {
    crate::field::list(object, "/metadata/ownerReferences")
        .iter()
        .any(|owner| owner["controller"] == true && owner["uid"] == uid)
}

/// A template without the label with its hash.
pub(crate) fn without_hash(template: &Value) -> Value {
    let mut template = template.clone();
    if let Some(labels) = template.pointer_mut("/metadata/labels").and_then(Value::as_object_mut) {
        labels.remove("pod-template-hash");
    }
    template
}
