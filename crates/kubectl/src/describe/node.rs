//! A node, with the pods on it.

use gantry_registry::Moment;
use serde_json::Value;

use super::marks::{annotations, labels};
use super::{ago, date};
use crate::field::{at, list, members, shown, text};

/// A node; `pods` are those on it that have not ended.
pub(crate) fn node(node: &Value, pods: &[Value], now: Moment) -> String {
    let mut out = format!("Name:\t{}\nRoles:\t{}\n", text(node, "/metadata/name"), roles(node));
    out += &labels("Labels:", "", node, "/metadata/labels");
    out += &annotations("Annotations:", "", node, "/metadata/annotations");
    out += &format!("CreationTimestamp:\t{}\n", date(at(node, "/metadata/creationTimestamp")));
    out += &taints(node);
    out += &format!("Unschedulable:\t{}\n", node.pointer("/spec/unschedulable").is_some_and(|it| it == true));
    out += &conditions(node);
    out += "Addresses:\n";
    out.extend(
        list(node, "/status/addresses")
            .iter()
            .map(|one| format!("  {}:\t{}\n", text(one, "/type"), text(one, "/address"))),
    );
    for (title, field) in [("Capacity", "/status/capacity"), ("Allocatable", "/status/allocatable")] {
        out += &format!("{title}:\n");
        out.extend(
            members(node, field).into_iter().map(|(name, amount)| format!("  {name}:\t{}\n", shown(amount))),
        );
    }
    out += &system(node);
    out + &running(pods, now)
}

fn roles(node: &Value) -> String {
    let mut roles: Vec<String> = members(node, "/metadata/labels")
        .into_iter()
        .filter_map(|(key, value)| match key.strip_prefix("node-role.kubernetes.io/") {
            Some(role) if !role.is_empty() => Some(role.to_owned()),
            _ if key == "kubernetes.io/role" => Some(shown(value)),
            _ => None,
        })
        .collect();
    roles.sort();
    if roles.is_empty() { "<none>".to_owned() } else { roles.join(",") }
}

fn taints(node: &Value) -> String {
    let told: Vec<String> = list(node, "/spec/taints")
        .iter()
        .map(|taint| {
            let value = text(taint, "/value");
            let value = if value.is_empty() { String::new() } else { format!("={value}") };
            format!("{}{value}:{}", text(taint, "/key"), text(taint, "/effect"))
        })
        .collect();
    match told.as_slice() {
        [] => "Taints:\t<none>\n".to_owned(),
        lines => format!("Taints:\t{}\n", lines.join("\n\t")),
    }
}

fn conditions(node: &Value) -> String {
    let conditions = list(node, "/status/conditions");
    if conditions.is_empty() {
        return String::new();
    }
    let mut out = String::from(
        "Conditions:\n  Type\tStatus\tLastHeartbeatTime\tLastTransitionTime\tReason\tMessage\n  \
         ----\t------\t-----------------\t------------------\t------\t-------\n",
    );
    for one in conditions {
        out += &format!(
            "  {} \t{} \t{} \t{} \t{} \t{} \n",
            text(one, "/type"),
            text(one, "/status"),
            date(at(one, "/lastHeartbeatTime")),
            date(at(one, "/lastTransitionTime")),
            text(one, "/reason"),
            text(one, "/message")
        );
    }
    out
}

fn system(node: &Value) -> String {
    let lines = [
        ("Machine ID", "machineID"),
        ("System UUID", "systemUUID"),
        ("Boot ID", "bootID"),
        ("Kernel Version", "kernelVersion"),
        ("OS Image", "osImage"),
        ("Operating System", "operatingSystem"),
        ("Architecture", "architecture"),
        ("Container Runtime Version", "containerRuntimeVersion"),
        ("Kubelet Version", "kubeletVersion"),
    ];
    let told = lines
        .map(|(title, field)| format!("  {title}:\t{}\n", text(node, &format!("/status/nodeInfo/{field}"))));
    format!("System Info:\n{}", told.concat())
}

fn running(pods: &[Value], now: Moment) -> String {
    let mut out = format!("Non-terminated Pods:\t({} in total)\n", pods.len());
    out += "  Namespace\tName\t\tAge\n  ---------\t----\t\t---\n";
    for pod in pods {
        out += &format!(
            "  {}\t{}\t\t{}\n",
            text(pod, "/metadata/namespace"),
            text(pod, "/metadata/name"),
            ago(now, at(pod, "/metadata/creationTimestamp"))
        );
    }
    out
}
