//! Whether a node takes a pod, and if not, why: the first refusal in kube-scheduler's order.

use super::Pod;
use super::cluster::Site;
use super::node::Intake;
use super::reasons::Refusal;
use super::resources::PODS;
use super::taints::{Effect, Taint, UNSCHEDULABLE};

const ONE_POD: i128 = 1_000_000_000;

/// Why the pod cannot go there; `None` if it can.
pub(super) fn refusal(pod: &Pod, site: &Site) -> Option<Refusal> {
    let node = &site.node;
    if pod.wishes.rule_out_by_name(node) {
        return Some(Refusal::NotNamed);
    }
    if node.intake == Intake::Cordoned
        && !Taint::new(UNSCHEDULABLE, Effect::NoSchedule).is_tolerated(&pod.tolerations)
    {
        return Some(Refusal::Cordoned);
    }
    if node.taints.iter().any(|taint| taint.is_hard() && !taint.is_tolerated(&pod.tolerations)) {
        return Some(Refusal::Tainted);
    }
    if !pod.wishes.allow(node) {
        return Some(Refusal::NotWanted);
    }
    if pod.ports.iter().any(|port| site.taken.ports.iter().any(|other| port.clashes(other))) {
        return Some(Refusal::PortsTaken);
    }
    lacking(pod, site)
}

/// Every resource of which too little is left.
fn lacking(pod: &Pod, site: &Site) -> Option<Refusal> {
    let (offered, taken) = (&site.node.allocatable, &site.taken);
    let mut lacking = Vec::new();
    let mut never = false;
    let full = taken.pods.saturating_add(1).saturating_mul(ONE_POD) > offered.of(PODS);
    if full {
        lacking.push("Too many pods".to_owned());
    }
    for (resource, asked) in pod.demand.requests.iter().filter(|(_, asked)| *asked > 0) {
        if asked > offered.of(resource).saturating_sub(taken.requests.of(resource)) {
            lacking.push(format!("Insufficient {resource}"));
            never |= asked > offered.of(resource);
        }
    }
    (!lacking.is_empty()).then_some(Refusal::Lacking { what: lacking, never })
}
