//! Invariants of every state.

use gantry_model::{Deployment, Pod, ReplicaSet};

use crate::{Finding, unless};

/// Checks the statuses of a Deployment and its sets for numbers that the API would refuse.
pub fn reported(deployment: &Deployment, sets: &[&ReplicaSet]) -> Vec<Finding> {
    let status = &deployment.status;
    let mut findings = Vec::new();
    findings.extend(unless(
        status.updated <= status.replicas
            && status.available <= status.ready
            && status.ready <= status.replicas,
        "a Deployment's counters nest",
        || format!("{status:?}"),
    ));
    for set in sets {
        let status = &set.status;
        findings.extend(unless(
            status.fully_labeled <= status.replicas
                && status.ready <= status.replicas
                && status.available <= status.ready,
            "a ReplicaSet's counters nest",
            || format!("{}: {status:?}", set.meta.name),
        ));
        let controllers = set.meta.owners.iter().filter(|owner| owner.controller).count();
        findings.extend(unless(controllers <= 1, "no object has two controllers", || {
            format!("{} has {controllers}", set.meta.name)
        }));
    }
    findings
}

/// Checks a settled Deployment without changes, all of whose pods are ready.
pub fn rolled_out(deployment: &Deployment, sets: &[&ReplicaSet], pods: &[&Pod]) -> Vec<Finding> {
    let wanted = deployment.replicas.get();
    let status = &deployment.status;
    let active: Vec<_> = sets.iter().filter(|set| set.is_active()).collect();
    let is_done = match active.as_slice() {
        [] => wanted == 0,
        [set] => set.replicas.get() == wanted && set.template == deployment.template,
        _ => false,
    };
    let shown = || {
        active.iter().map(|set| format!("{} {}", set.meta.name, set.replicas)).collect::<Vec<_>>().join(", ")
    };
    let owned = |pod: &&&Pod| sets.iter().any(|set| pod.meta.is_controlled_by(&set.meta.uid));
    let count = pods.iter().filter(owned).filter(|pod| pod.is_active()).count();
    let mut findings = Vec::new();
    findings.extend(unless(is_done, "a rollout ends in one set of the present template", || {
        format!("wanted {wanted}, have {}", shown())
    }));
    findings.extend(unless(
        i64::try_from(count) == Ok(wanted),
        "a rollout ends with the wanted number of pods",
        || format!("wanted {wanted}, have {count}"),
    ));
    findings.extend(unless(
        [status.replicas, status.updated, status.available].iter().all(|n| n.get() == wanted)
            && status.observed_generation == deployment.meta.generation,
        "a rollout ends in a status that says so",
        || format!("wanted {wanted}, generation {}, have {status:?}", deployment.meta.generation),
    ));
    findings
}

#[cfg(test)]
mod tests {
    use gantry_testkit::{DeploymentBuilder, PodBuilder, ReplicaSetBuilder, deployment, pod, replica_set};

    use super::*;

    #[test]
    fn counters_that_do_not_nest_are_found() {
        let web = deployment("web");
        assert_eq!(reported(&web.clone().reported(3, 3, 3), &[]), []);
        assert_eq!(reported(&web.clone().reported(3, 4, 3), &[]).len(), 1);
        assert_eq!(reported(&web.clone().reported(3, 3, 4), &[]).len(), 1);
        let set = replica_set("rs").size(3).available(4);
        assert_eq!(reported(&web, &[&set]).len(), 1);
        let mut shared = replica_set("rs").owned_by(&web);
        shared.meta.owners.push(shared.meta.owners[0].clone());
        assert_eq!(reported(&web, &[&shared]).len(), 1);
    }

    #[test]
    fn an_unfinished_rollout_is_found() {
        let web = deployment("web").size(1).reported(1, 1, 1);
        let set = replica_set("new").owned_by(&web).size(1).available(1);
        let one = pod("p").owned_by(&set);
        assert_eq!(rolled_out(&web, &[&set], &[&one]), []);
        assert_eq!(rolled_out(&web, &[&set], &[]).len(), 1, "a pod is missing");
        let old = replica_set("old").owned_by(&web).image("old:1").size(1);
        assert_eq!(rolled_out(&web, &[&set, &old], &[&one]).len(), 1, "an old set is active");
        assert_eq!(rolled_out(&web.clone().reported(1, 1, 0), &[&set], &[&one]).len(), 1);
        assert_eq!(rolled_out(&web.size(2), &[&set], &[&one]).len(), 3);
    }
}
