//! ReplicaSets, ReplicationControllers, DaemonSets and StatefulSets, with their pods counted (K3, K§3.2).

use gantry_json::Value;

use super::labels_annotations::{annotations, labels};
use super::{conditions, controller, date, or_none, template};
use crate::field::{at, list, number, pairs, selector, shown, text};

/// The pods that a set controls, or why they could not be read.
type Pods = Result<Vec<Value>, String>;

/// A ReplicaSet; `pods` are those that it controls.
pub(crate) fn replica_set(set: &Value, pods: &Pods) -> String {
    replicas(set, &selector(set, "/spec/selector"), pods)
}

/// A ReplicationController; `pods` are those that it controls.
pub(crate) fn replication_controller(object: &Value, pods: &Pods) -> String {
    replicas(object, &or_none(&pairs(object, "/spec/selector")), pods)
}

fn replicas(set: &Value, selector: &str, pods: &Pods) -> String {
    let mut out = name_and_namespace(set);
    out += &format!("Selector:\t{selector}\n");
    out += &labels("Labels:", "", set, "/metadata/labels");
    out += &annotations("Annotations:", "", set, "/metadata/annotations");
    if let Some(controller) = controller(set) {
        out += &format!("Controlled By:\t{controller}\n");
    }
    out += &format!(
        "Replicas:\t{} current / {} desired\n",
        number(set, "/status/replicas"),
        number(set, "/spec/replicas")
    );
    out += &match pods {
        Ok(pods) => phases(pods),
        Err(why) => format!("Pods Status:\terror in fetching pods: {why}\n"),
    };
    out += &template::described(&set["spec"]["template"]);
    out + &conditions(set)
}

/// A DaemonSet; `pods` are those that it controls.
pub(crate) fn daemon_set(set: &Value, pods: &[Value]) -> String {
    let mut out = name_and_namespace(set);
    out += &format!("Selector:\t{}\n", selector(set, "/spec/selector"));
    out += &format!("Node-Selector:\t{}\n", or_none(&pairs(set, "/spec/template/spec/nodeSelector")));
    out += &labels("Labels:", "", set, "/metadata/labels");
    out += &annotations("Annotations:", "", set, "/metadata/annotations");
    for (title, field) in [
        ("Desired Number of Nodes Scheduled", "desiredNumberScheduled"),
        ("Current Number of Nodes Scheduled", "currentNumberScheduled"),
        ("Number of Nodes Scheduled with Up-to-date Pods", "updatedNumberScheduled"),
        ("Number of Nodes Scheduled with Available Pods", "numberAvailable"),
        ("Number of Nodes Misscheduled", "numberMisscheduled"),
    ] {
        out += &format!("{title}: {}\n", number(set, &format!("/status/{field}")));
    }
    out + &phases(pods) + &template::described(&set["spec"]["template"])
}

/// A StatefulSet; `pods` are those that it controls.
pub(crate) fn stateful_set(set: &Value, pods: &[Value]) -> String {
    let mut out = name_and_namespace(set);
    out += &format!("CreationTimestamp:\t{}\n", date(at(set, "/metadata/creationTimestamp")));
    out += &format!("Selector:\t{}\n", selector(set, "/spec/selector"));
    out += &labels("Labels:", "", set, "/metadata/labels");
    out += &annotations("Annotations:", "", set, "/metadata/annotations");
    let service = text(set, "/spec/serviceName");
    if !service.is_empty() {
        out += &format!("Service Name:\t{service}\n");
    }
    out += &format!("Pod Management Policy:\t{}\n", text(set, "/spec/podManagementPolicy"));
    let (desired, total) = (number(set, "/spec/replicas"), number(set, "/status/replicas"));
    out += &format!("Replicas:\t{desired} desired | {total} total\n");
    out += &format!("Update Strategy:\t{}\n", text(set, "/spec/updateStrategy/type"));
    for (title, field) in [("Partition", "partition"), ("MaxUnavailable", "maxUnavailable")] {
        if let Some(value) = set.pointer(&format!("/spec/updateStrategy/rollingUpdate/{field}")) {
            out += &format!("  {title}:\t{}\n", shown(value));
        }
    }
    if let Some(policy) = set.pointer("/spec/persistentVolumeClaimRetentionPolicy") {
        out += "Persistent Volume Claim Retention Policy:\n";
        out += &format!("  WhenDeleted:\t{}\n", text(policy, "/whenDeleted"));
        out += &format!("  WhenScaled:\t{}\n", text(policy, "/whenScaled"));
    }
    out += &phases(pods);
    out += &template::described(&set["spec"]["template"]);
    out + &claims(list(set, "/spec/volumeClaimTemplates"))
}

fn name_and_namespace(set: &Value) -> String {
    format!("Name:\t{}\nNamespace:\t{}\n", text(set, "/metadata/name"), text(set, "/metadata/namespace"))
}

fn phases(pods: &[Value]) -> String {
    let count = |phase: &str| pods.iter().filter(|pod| text(pod, "/status/phase") == phase).count();
    format!(
        "Pods Status:\t{} Running / {} Waiting / {} Succeeded / {} Failed\n",
        count("Running"),
        count("Pending"),
        count("Succeeded"),
        count("Failed")
    )
}

fn claims(templates: &[Value]) -> String {
    if templates.is_empty() {
        return "Volume Claims:\t<none>\n".to_owned();
    }
    let mut out = String::from("Volume Claims:\n");
    for claim in templates {
        let capacity = claim.pointer("/spec/resources/requests/storage");
        let capacity = capacity.map_or_else(|| "<default>".to_owned(), shown);
        let modes: Vec<String> = list(claim, "/spec/accessModes").iter().map(shown).collect();
        out += &format!("  Name:\t{}\n", text(claim, "/metadata/name"));
        out += &format!("  StorageClass:\t{}\n", super::persistent_volume::class(claim));
        out += &format!("  Labels:\t{}\n", or_none(&pairs(claim, "/metadata/labels")));
        out += &format!("  Annotations:\t{}\n", or_none(&pairs(claim, "/metadata/annotations")));
        out += &format!("  Capacity:\t{capacity}\n  Access Modes:\t[{}]\n", modes.join(" "));
    }
    out
}
