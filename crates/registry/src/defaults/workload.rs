//! Defaults of what keeps pods running.

use serde_json::{Value, json};

use super::setting::{Object, child, default, default_text, each, ensure, is_empty};
use super::{pod, volume};

/// A Deployment.
pub(crate) fn deployment(deployment: &mut Object) {
    let Some(spec) = ensure(deployment, "spec") else { return };
    default(spec, "replicas", 1);
    default(spec, "revisionHistoryLimit", 10);
    default(spec, "progressDeadlineSeconds", 600);
    if let Some(rolling) = rolling_update(spec, "strategy") {
        default(rolling, "maxUnavailable", "25%");
        default(rolling, "maxSurge", "25%");
    }
    pod::template(spec);
}

/// A ReplicaSet.
pub(crate) fn replica_set(set: &mut Object) {
    let Some(spec) = ensure(set, "spec") else { return };
    default(spec, "replicas", 1);
    pod::template(spec);
}

/// A ReplicationController, which takes selector and labels from its template.
pub(crate) fn replication_controller(controller: &mut Object) {
    let Some(spec) = ensure(controller, "spec") else { return };
    default(spec, "replicas", 1);
    if child(spec, "template").is_some() {
        pod::template(spec);
    }
    let Some(labels) = template_labels(spec) else { return };
    if is_empty(spec, "selector") {
        spec.insert("selector".to_owned(), labels.clone());
    }
    label_if_bare(controller, labels);
}

/// A StatefulSet.
pub(crate) fn stateful_set(set: &mut Object) {
    let Some(spec) = ensure(set, "spec") else { return };
    default_text(spec, "podManagementPolicy", "OrderedReady");
    default(spec, "replicas", 1);
    default(spec, "revisionHistoryLimit", 10);
    if let Some(rolling) = rolling_update(spec, "updateStrategy") {
        default(rolling, "partition", 0);
        default(rolling, "maxUnavailable", 1);
    }
    if let Some(retention) = ensure(spec, "persistentVolumeClaimRetentionPolicy") {
        default_text(retention, "whenDeleted", "Retain");
        default_text(retention, "whenScaled", "Retain");
    }
    for claim in each(spec, "volumeClaimTemplates") {
        default_text(claim, "apiVersion", "v1");
        default_text(claim, "kind", "PersistentVolumeClaim");
        volume::claim(claim);
    }
    pod::template(spec);
}

/// How often a DaemonSet's template changed, once a field of its own.
pub(crate) const TEMPLATE_GENERATION: &str = "deprecated.daemonset.template.generation";

/// A DaemonSet.
pub(crate) fn daemon_set(set: &mut Object) {
    if let Some(annotations) = ensure(set, "metadata").and_then(|metadata| ensure(metadata, "annotations")) {
        default(annotations, TEMPLATE_GENERATION, "0");
    }
    let Some(spec) = ensure(set, "spec") else { return };
    default(spec, "revisionHistoryLimit", 10);
    if let Some(rolling) = rolling_update(spec, "updateStrategy") {
        default(rolling, "maxUnavailable", 1);
        default(rolling, "maxSurge", 0);
    }
    pod::template(spec);
}

/// The labels of a template, if it has any.
pub(crate) fn template_labels(spec: &Object) -> Option<Value> {
    let labels = spec.get("template")?.get("metadata")?.get("labels")?;
    labels.as_object().filter(|labels| !labels.is_empty()).map(|labels| Value::Object(labels.clone()))
}

/// Gives an object without labels these.
pub(crate) fn label_if_bare(object: &mut Object, labels: Value) {
    if let Some(metadata) = ensure(object, "metadata")
        && is_empty(metadata, "labels")
    {
        metadata.insert("labels".to_owned(), labels);
    }
}

/// The limits of a rolling update, there if and only if the strategy is one (validation refuses leftovers).
fn rolling_update<'a>(spec: &'a mut Object, strategy: &str) -> Option<&'a mut Object> {
    let strategy = ensure(spec, strategy)?;
    default_text(strategy, "type", "RollingUpdate");
    if strategy["type"] != json!("RollingUpdate") {
        return None;
    }
    ensure(strategy, "rollingUpdate")
}
