//! Describes a pod with the states of its containers.

use gantry_json::Value;
use gantry_primitives::Timestamp;

use super::container::{self, ContainerSource, Indent};
use super::labels_annotations::{annotations, labels};
use super::template::placement;
use super::{ago, controller, date, volume};
use crate::field::{at, list, number, shown, text};

/// A pod.
pub(crate) fn pod(pod: &Value, now: Timestamp) -> String {
    let mut out = head(pod, now);
    let indent = Indent { title: "", name: "  " };
    let init = list(pod, "/spec/initContainers");
    if !init.is_empty() {
        out += &container::all(
            "Init Containers:",
            indent,
            init,
            ContainerSource::Pod { pod, statuses: list(pod, "/status/initContainerStatuses") },
        );
    }
    let statuses = list(pod, "/status/containerStatuses");
    let source_kind = ContainerSource::Pod { pod, statuses };
    out += &container::all("Containers:", indent, list(pod, "/spec/containers"), source_kind);
    let ephemeral = list(pod, "/spec/ephemeralContainers");
    if !ephemeral.is_empty() {
        let statuses = list(pod, "/status/ephemeralContainerStatuses");
        out += &container::all(
            "Ephemeral Containers:",
            indent,
            ephemeral,
            ContainerSource::Pod { pod, statuses },
        );
    }
    out += &readiness_gates(pod);
    let conditions = list(pod, "/status/conditions");
    if !conditions.is_empty() {
        out += "Conditions:\n  Type\tStatus\n";
        out.extend(
            conditions.iter().map(|one| format!("  {} \t{} \n", text(one, "/type"), text(one, "/status"))),
        );
    }
    out += &volume::all(list(pod, "/spec/volumes"), indent);
    out += &format!("QoS Class:\t{}\n", text(pod, "/status/qosClass"));
    out + &placement("", &pod["spec"])
}

/// The conditions besides its containers that have to be true before the pod is ready.
fn readiness_gates(pod: &Value) -> String {
    let gates = list(pod, "/spec/readinessGates");
    if gates.is_empty() {
        return String::new();
    }
    let mut out = String::from("Readiness Gates:\n  Type\tStatus\n");
    for gate in gates {
        let name = text(gate, "/conditionType");
        let mut conditions = list(pod, "/status/conditions").iter();
        let status =
            conditions.find(|one| text(one, "/type") == name).map_or("<none>", |one| text(one, "/status"));
        out += &format!("  {name} \t{status} \n");
    }
    out
}

fn head(pod: &Value, now: Timestamp) -> String {
    let mut out =
        format!("Name:\t{}\nNamespace:\t{}\n", text(pod, "/metadata/name"), text(pod, "/metadata/namespace"));
    if let Some(priority) = pod.pointer("/spec/priority") {
        out += &format!("Priority:\t{}\n", shown(priority));
        let class = text(pod, "/spec/priorityClassName");
        if !class.is_empty() {
            out += &format!("Priority Class Name:\t{class}\n");
        }
    }
    let account = text(pod, "/spec/serviceAccountName");
    if !account.is_empty() {
        out += &format!("Service Account:\t{account}\n");
    }
    let node = match (text(pod, "/spec/nodeName"), text(pod, "/status/hostIP")) {
        ("", _) => "<none>".to_owned(),
        (node, address) => format!("{node}/{address}"),
    };
    out += &format!("Node:\t{node}\n");
    if let Some(started) = pod.pointer("/status/startTime") {
        out += &format!("Start Time:\t{}\n", date(started));
    }
    out += &labels("Labels:", "", pod, "/metadata/labels");
    out += &annotations("Annotations:", "", pod, "/metadata/annotations");
    let deleted = at(pod, "/metadata/deletionTimestamp");
    if !deleted.is_null() && text(pod, "/status/reason") != "NodeLost" {
        let (since, grace) = (ago(now, deleted), number(pod, "/metadata/deletionGracePeriodSeconds"));
        out += &format!("Status:\tTerminating (lasts {since})\nTermination Grace Period:\t{grace}s\n");
    } else {
        out += &format!("Status:\t{}\n", text(pod, "/status/phase"));
    }
    for (title, field) in [("Reason", "/status/reason"), ("Message", "/status/message")] {
        if !text(pod, field).is_empty() {
            out += &format!("{title}:\t{}\n", text(pod, field));
        }
    }
    if let Some(profile) = pod.pointer("/spec/securityContext/seccompProfile") {
        out += &format!("SeccompProfile:\t{}\n", text(profile, "/type"));
        if text(profile, "/type") == "Localhost" {
            out += &format!("LocalhostProfile:\t{}\n", text(profile, "/localhostProfile"));
        }
    }
    out += &format!("IP:\t{}\n", text(pod, "/status/podIP"));
    let addresses = list(pod, "/status/podIPs");
    if addresses.is_empty() {
        out += "IPs:\t<none>\n";
    } else {
        out += "IPs:\n";
        out.extend(addresses.iter().map(|address| format!("  IP:\t{}\n", text(address, "/ip"))));
    }
    if let Some(controller) = controller(pod) {
        out += &format!("Controlled By:\t{controller}\n");
    }
    let nominated = text(pod, "/status/nominatedNodeName");
    if !nominated.is_empty() {
        out += &format!("NominatedNodeName:\t{nominated}\n");
    }
    out
}
