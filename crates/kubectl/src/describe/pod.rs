//! A pod, with what became of its containers.

use serde_json::Value;

use super::container::{self, Indent, Whose};
use super::marks::{annotations, labels};
use super::template::placement;
use super::{controller, date, volume};
use crate::field::{at, list, number, shown, text};

/// A pod.
pub(crate) fn pod(pod: &Value) -> String {
    let mut out = head(pod);
    let indent = Indent { title: "", name: "  " };
    let init = list(pod, "/spec/initContainers");
    if !init.is_empty() {
        out += &container::all(
            "Init Containers:",
            indent,
            init,
            Whose::Pod { pod, statuses: list(pod, "/status/initContainerStatuses") },
        );
    }
    let statuses = list(pod, "/status/containerStatuses");
    let whose = Whose::Pod { pod, statuses };
    out += &container::all("Containers:", indent, list(pod, "/spec/containers"), whose);
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

fn head(pod: &Value) -> String {
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
    if pod.pointer("/metadata/deletionTimestamp").is_some() {
        let (since, grace) = (
            date(at(pod, "/metadata/deletionTimestamp")),
            number(pod, "/metadata/deletionGracePeriodSeconds"),
        );
        out += &format!("Status:\tTerminating ({since})\nTermination Grace Period:\t{grace}s\n");
    } else {
        out += &format!("Status:\t{}\n", text(pod, "/status/phase"));
    }
    for (title, field) in [("Reason", "/status/reason"), ("Message", "/status/message")] {
        if !text(pod, field).is_empty() {
            out += &format!("{title}:\t{}\n", text(pod, field));
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
    out
}
