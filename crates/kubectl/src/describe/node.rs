//! Describes a node, with its lease, its pods and the resources that they request.

use gantry_json::Value;
use gantry_primitives::Timestamp;

use super::conditions::conditions;
use super::labels_annotations::{annotations, labels};
use super::resource_list::{RequestsAndLimits, ResourceList};
use super::{ago, date};
use crate::field::{at, list, members, shown, text};

/// Objects related to a node; or the error if they could not be read.
#[derive(Clone, Debug)]
pub(crate) struct NodeRelated {
    /// The lease that the node renews while it is alive.
    pub(crate) lease: Result<Value, String>,
    /// The pods on it that have not ended.
    pub(crate) pods: Vec<Value>,
}

/// A node with its related objects.
pub(crate) fn node(node: &Value, around: &NodeRelated, now: Timestamp) -> String {
    let mut out = format!("Name:\t{}\nRoles:\t{}\n", text(node, "/metadata/name"), roles(node));
    out += &labels("Labels:", "", node, "/metadata/labels");
    out += &annotations("Annotations:", "", node, "/metadata/annotations");
    out += &format!("CreationTimestamp:\t{}\n", date(at(node, "/metadata/creationTimestamp")));
    out += &taints(node);
    out += &format!("Unschedulable:\t{}\n", node.pointer("/spec/unschedulable").is_some_and(|it| it == true));
    out += &lease(&around.lease);
    out += &conditions(node, ("LastHeartbeatTime", "/lastHeartbeatTime"));
    out += "Addresses:\n";
    out.extend(
        list(node, "/status/addresses")
            .iter()
            .map(|one| format!("  {}:\t{}\n", text(one, "/type"), text(one, "/address"))),
    );
    for (title, field) in [("Capacity", "/status/capacity"), ("Allocatable", "/status/allocatable")] {
        let amounts = members(node, field);
        if !amounts.is_empty() {
            out += &format!("{title}:\n");
        }
        out.extend(amounts.into_iter().map(|(name, amount)| format!("  {name}:\t{}\n", shown(amount))));
    }
    out += &system(node);
    out += &addresses_of_pods(node);
    out + &running(node, &around.pods, now)
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
    let mut taints: Vec<&Value> = list(node, "/spec/taints").iter().collect();
    taints.sort_by_key(|taint| (text(taint, "/effect"), text(taint, "/key")));
    let rendered: Vec<String> = taints
        .into_iter()
        .map(|taint| {
            let value = text(taint, "/value");
            let value = if value.is_empty() { String::new() } else { format!("={value}") };
            format!("{}{value}:{}", text(taint, "/key"), text(taint, "/effect"))
        })
        .collect();
    match rendered.as_slice() {
        [] => "Taints:\t<none>\n".to_owned(),
        lines => format!("Taints:\t{}\n", lines.join("\n\t")),
    }
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
    let rendered = lines
        .map(|(title, field)| format!("  {title}:\t{}\n", text(node, &format!("/status/nodeInfo/{field}"))));
    format!("System Info:\n{}", rendered.concat())
}

/// The address ranges of its pods, and its provider ID.
fn addresses_of_pods(node: &Value) -> String {
    let mut out = String::new();
    let (one, provider) = (text(node, "/spec/podCIDR"), text(node, "/spec/providerID"));
    if !one.is_empty() {
        out += &format!("PodCIDR:\t{one}\n");
    }
    let all: Vec<String> = list(node, "/spec/podCIDRs").iter().map(shown).collect();
    if !all.is_empty() {
        out += &format!("PodCIDRs:\t{}\n", all.join(","));
    }
    if !provider.is_empty() {
        out += &format!("ProviderID:\t{provider}\n");
    }
    out
}

fn lease(lease: &Result<Value, String>) -> String {
    let lease = match lease {
        Ok(lease) => lease,
        Err(why) => return format!("Lease:\tFailed to get lease: {why}\n"),
    };
    let holder = match text(lease, "/spec/holderIdentity") {
        "" => "<unset>",
        holder => holder,
    };
    let time = |field: &str| date(at(lease, field));
    format!(
        "Lease:\n  HolderIdentity:\t{holder}\n  AcquireTime:\t{}\n  RenewTime:\t{}\n",
        time("/spec/acquireTime"),
        time("/spec/renewTime")
    )
}

/// The pods with their requests and limits, and the totals.
fn running(node: &Value, pods: &[Value], now: Timestamp) -> String {
    let allocatable = ResourceList::read(node, "/status/allocatable");
    let there_is =
        if allocatable.is_empty() { ResourceList::read(node, "/status/capacity") } else { allocatable };
    let mut all = RequestsAndLimits::default();
    let mut out = format!("Non-terminated Pods:\t({} in total)\n", pods.len());
    out += "  Namespace\tName\t\tCPU Requests\tCPU Limits\tMemory Requests\tMemory Limits\tAge\n";
    out += "  ---------\t----\t\t------------\t----------\t---------------\t-------------\t---\n";
    for pod in pods {
        let wants = RequestsAndLimits::of_pod(pod);
        out += &format!(
            "  {}\t{}\t\t{}\t{}\t{}\t{}\t{}\n",
            text(pod, "/metadata/namespace"),
            text(pod, "/metadata/name"),
            wants.requests.part("cpu", &there_is),
            wants.limits.part("cpu", &there_is),
            wants.requests.part("memory", &there_is),
            wants.limits.part("memory", &there_is),
            ago(now, at(pod, "/metadata/creationTimestamp"))
        );
        all.add(&wants);
    }
    out + &allocated(&all, &there_is)
}

fn allocated(all: &RequestsAndLimits, there_is: &ResourceList) -> String {
    let mut out = String::from(
        "Allocated resources:\n  (Total limits may be over 100 percent, i.e., overcommitted.)\n  \
         Resource\tRequests\tLimits\n  --------\t--------\t------\n",
    );
    let (huge, other): (Vec<&str>, Vec<&str>) = there_is
        .names()
        .filter(|name| !["cpu", "memory", "ephemeral-storage", "pods"].contains(name))
        .partition(|name| name.starts_with("hugepages-"));
    for name in ["cpu", "memory", "ephemeral-storage"].into_iter().chain(huge) {
        let (requests, limits) = (all.requests.part(name, there_is), all.limits.part(name, there_is));
        out += &format!("  {name}\t{requests}\t{limits}\n");
    }
    for name in other {
        out += &format!("  {name}\t{}\t{}\n", all.requests.of(name), all.limits.of(name));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::print::align_columns;
    use gantry_json::json;

    /// K3: the output of kubectl 1.32 for a node with one pod.
    #[test]
    fn a_node_is_described_with_its_allocated_resources() {
        let object = json!({"metadata": {"name": "node-1", "creationTimestamp": "2026-11-16T02:51:04Z"},
            "spec": {"podCIDR": "10.128.0.0/20", "podCIDRs": ["10.128.0.0/20"]},
            "status": {"conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "posting"}],
                "allocatable": {"cpu": "8", "memory": "1Gi", "example.com/card": "2", "hugepages-2Mi": "0", "pods": "110"}}});
        let pod = json!({"metadata": {"namespace": "default", "name": "web", "creationTimestamp": "2026-11-16T02:51:04Z"},
            "spec": {"containers": [{"resources": {"requests": {"cpu": "100m", "example.com/card": 1}}}]}});
        let around = NodeRelated {
            lease: Ok(
                json!({"spec": {"holderIdentity": "node-1", "renewTime": "2026-11-16T02:55:09.123456Z"}}),
            ),
            pods: vec![pod],
        };
        let rendered =
            align_columns(&node(&object, &around, Timestamp::parse("2026-11-16T02:51:17Z").unwrap()), 2);
        assert!(
            rendered.contains(
                "Lease:\n  HolderIdentity:  node-1\n  AcquireTime:     <unset>\n  \
                 RenewTime:       Mon, 16 Nov 2026 02:55:09 +0000\n"
            ),
            "{rendered}"
        );
        assert!(rendered.contains("  KubeletReady   posting\n"), "{rendered}");
        assert!(rendered.contains("PodCIDRs:                     10.128.0.0/20\n"), "{rendered}");
        assert!(
            rendered.ends_with(
                "  default                     web     100m (1%)     0 (0%)      0 (0%)           0 (0%)         13s\n\
                 Allocated resources:\n  (Total limits may be over 100 percent, i.e., overcommitted.)\n  \
                 Resource           Requests   Limits\n  --------           --------   ------\n  \
                 cpu                100m (1%)  0 (0%)\n  memory             0 (0%)     0 (0%)\n  \
                 ephemeral-storage  0 (0%)     0 (0%)\n  hugepages-2Mi      0 (0%)     0 (0%)\n  \
                 example.com/card   1          0\n"
            ),
            "{rendered}"
        );
    }
}
