//! Rows of volumes, the classes of volumes and of Pods, and what else few people look at.
//!
//! Kubernetes' own columns, beyond those that clients are known to depend on.

use serde_json::{Value, json};

use super::column::{AGE, Column, NAME, named, number as count, text as column, truth, wide};
use super::field::{
    access_modes, age, at, has_condition, joined, labels, list, name, number, plain, text, text_or,
};
use crate::Timestamp;

const DEFAULT_CLASS: &str = "storageclass.kubernetes.io/is-default-class";

pub(crate) const VOLUME: &[Column] = &[
    NAME,
    column("Capacity"),
    column("Access Modes"),
    column("Reclaim Policy"),
    column("Status"),
    column("Claim"),
    column("StorageClass"),
    column("VolumeAttributesClass"),
    column("Reason"),
    AGE,
    wide("VolumeMode"),
];
pub(crate) const STORAGE_CLASS: &[Column] = &[
    NAME,
    column("Provisioner"),
    column("ReclaimPolicy"),
    column("VolumeBindingMode"),
    column("AllowVolumeExpansion"),
    AGE,
];
pub(crate) const ATTACHMENT: &[Column] =
    &[NAME, named("Attacher"), column("PV"), column("Node"), truth("Attached"), AGE];
pub(crate) const STORAGE_DRIVER: &[Column] = &[
    NAME,
    truth("AttachRequired"),
    truth("PodInfoOnMount"),
    truth("StorageCapacity"),
    column("TokenRequests"),
    truth("RequiresRepublish"),
    column("Modes"),
    AGE,
];
pub(crate) const STORAGE_NODE: &[Column] = &[NAME, count("Drivers"), AGE];
pub(crate) const PRIORITY_CLASS: &[Column] =
    &[NAME, count("Value"), truth("Global-Default"), AGE, column("PreemptionPolicy")];
pub(crate) const POD_TEMPLATE: &[Column] =
    &[NAME, column("Containers"), column("Images"), column("Pod Labels")];
pub(crate) const COMPONENT: &[Column] = &[NAME, column("Status"), column("Message"), column("Error")];

pub(crate) fn storage_driver(object: &Value, now: Timestamp) -> Vec<Value> {
    let is = |field: &str, absent: bool| json!(at(object, field).as_bool().unwrap_or(absent));
    let tokens = match list(object, "spec.tokenRequests") {
        [] => "<unset>".to_owned(),
        tokens => joined(tokens, "audience"),
    };
    let modes: Vec<_> = list(object, "spec.volumeLifecycleModes").iter().filter_map(Value::as_str).collect();
    let modes = if modes.is_empty() { "<none>".to_owned() } else { modes.join(",") };
    vec![
        json!(name(object)),
        is("spec.attachRequired", true),
        is("spec.podInfoOnMount", false),
        is("spec.storageCapacity", false),
        json!(tokens),
        is("spec.requiresRepublish", false),
        json!(modes),
        json!(age(object, now)),
    ]
}

pub(crate) fn volume(object: &Value, now: Timestamp) -> Vec<Value> {
    let deleted = !at(object, "metadata.deletionTimestamp").is_null();
    let claim = match text(object, "spec.claimRef.name") {
        "" => String::new(),
        name => format!("{}/{name}", text(object, "spec.claimRef.namespace")),
    };
    vec![
        json!(name(object)),
        json!(plain(at(object, "spec.capacity.storage")).unwrap_or_else(|| "0".to_owned())),
        json!(access_modes(list(object, "spec.accessModes"))),
        json!(text(object, "spec.persistentVolumeReclaimPolicy")),
        json!(if deleted { "Terminating" } else { text(object, "status.phase") }),
        json!(claim),
        json!(text(object, "spec.storageClassName")),
        json!(text_or(object, "spec.volumeAttributesClassName", "<unset>")),
        json!(text(object, "status.reason")),
        json!(age(object, now)),
        json!(text_or(object, "spec.volumeMode", "<unset>")),
    ]
}

pub(crate) fn storage_class(object: &Value, now: Timestamp) -> Vec<Value> {
    let is_default = object["metadata"]["annotations"][DEFAULT_CLASS] == "true";
    vec![
        json!(format!("{}{}", name(object), if is_default { " (default)" } else { "" })),
        json!(text(object, "provisioner")),
        json!(text_or(object, "reclaimPolicy", "Delete")),
        json!(text_or(object, "volumeBindingMode", "Immediate")),
        json!(at(object, "allowVolumeExpansion") == true),
        json!(age(object, now)),
    ]
}

pub(crate) fn attachment(object: &Value, now: Timestamp) -> Vec<Value> {
    vec![
        json!(name(object)),
        json!(text(object, "spec.attacher")),
        json!(text(object, "spec.source.persistentVolumeName")),
        json!(text(object, "spec.nodeName")),
        json!(at(object, "status.attached") == true),
        json!(age(object, now)),
    ]
}

pub(crate) fn storage_node(object: &Value, now: Timestamp) -> Vec<Value> {
    vec![json!(name(object)), json!(list(object, "spec.drivers").len()), json!(age(object, now))]
}

pub(crate) fn priority_class(object: &Value, now: Timestamp) -> Vec<Value> {
    vec![
        json!(name(object)),
        json!(number(object, "value")),
        json!(at(object, "globalDefault") == true),
        json!(age(object, now)),
        json!(text(object, "preemptionPolicy")),
    ]
}

pub(crate) fn pod_template(object: &Value, _: Timestamp) -> Vec<Value> {
    let containers = list(object, "template.spec.containers");
    vec![
        json!(name(object)),
        json!(joined(containers, "name")),
        json!(joined(containers, "image")),
        json!(labels(object, "template.metadata.labels")),
    ]
}

pub(crate) fn component(object: &Value, _: Timestamp) -> Vec<Value> {
    let mut conditions = list(object, "conditions").iter();
    let healthy = conditions.find(|condition| condition["type"] == "Healthy");
    let said = |member: &str| healthy.map_or("", |condition| text(condition, member));
    let is_well = said("status") == "True" || has_condition(object, "Healthy", "True");
    vec![
        json!(name(object)),
        json!(if is_well { "Healthy" } else { "Unhealthy" }),
        json!(said("message")),
        json!(said("error")),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_secs(0);

    /// Appendix C: a volume shows what it is and whose it is.
    #[test]
    fn a_volume_names_its_claim() {
        let volume = json!({
            "metadata": {"name": "pv1"},
            "spec": {
                "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteMany", "ReadWriteOnce"],
                "persistentVolumeReclaimPolicy": "Retain", "claimRef": {"namespace": "shop", "name": "data"},
            },
            "status": {"phase": "Bound"},
        });
        assert_eq!(
            super::volume(&volume, NOW)[1..],
            ["1Gi", "RWO,RWX", "Retain", "Bound", "shop/data", "", "<unset>", "", "<unknown>", "<unset>"]
        );
    }

    /// Appendix C: classes show their defaults, and which of them is the default.
    #[test]
    fn classes_show_their_defaults() {
        let mut class = json!({"metadata": {"name": "fast"}, "provisioner": "example.com/disk"});
        let cells = storage_class(&class, NOW);
        assert_eq!(cells[..4], ["fast", "example.com/disk", "Delete", "Immediate"]);
        assert_eq!(cells[4], false);
        class["metadata"]["annotations"] = json!({DEFAULT_CLASS: "true"});
        assert_eq!(storage_class(&class, NOW)[0], "fast (default)");
        let urgent = json!({"metadata": {"name": "urgent"}, "value": 10, "preemptionPolicy": "Never"});
        assert_eq!(
            priority_class(&urgent, NOW),
            [json!("urgent"), json!(10), json!(false), json!("<unknown>"), json!("Never")]
        );
    }

    /// Appendix C: every printer has as many cells as columns.
    #[test]
    fn rows_are_as_long_as_their_headings() {
        type Cells = fn(&Value, Timestamp) -> Vec<Value>;
        let printers: [(&[Column], Cells); 7] = [
            (VOLUME, volume),
            (STORAGE_CLASS, storage_class),
            (ATTACHMENT, attachment),
            (STORAGE_NODE, storage_node),
            (PRIORITY_CLASS, priority_class),
            (POD_TEMPLATE, pod_template),
            (COMPONENT, component),
        ];
        for (columns, cells) in printers {
            assert_eq!(cells(&json!({}), NOW).len(), columns.len(), "{columns:?}");
        }
    }
}
