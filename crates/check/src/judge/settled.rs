//! The rules of a settled cluster: nothing has changed or failed for a while and every pod is healthy.

use std::collections::BTreeSet;
use std::time::Duration;

use super::views::{DeploymentView, SetView};
use super::{DeploymentHistory, Followed, Judge};
use crate::Finding;

impl Judge {
    /// Checks a cluster that has settled: without faults, without changes, and with healthy pods.
    pub fn settled(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        for deployment in self.deployments.values().map(|followed| &followed.view) {
            self.rolled_out(deployment, &mut findings);
        }
        self.counted(&mut findings);
        self.owned(&mut findings);
        findings
    }

    /// Checks a cluster in which nothing has failed or changed for a while, but whose pods may be broken: a rollout
    /// that has made no progress within its deadline, and for this long after it, is reported as such.
    pub fn overdue(&self, now: Duration, margin: Duration) -> Vec<Finding> {
        let is_overdue = |deployment: &&Followed<DeploymentView, DeploymentHistory>| {
            let Followed { view, history } = deployment;
            let is_judged = !view.is_paused && !view.is_deleting && !view.is_rolled_back;
            let is_done =
                ["NewReplicaSetAvailable", "ProgressDeadlineExceeded"].contains(&view.progress.0.as_str());
            let is_late = |deadline| history.progress_at + deadline + margin < now;
            is_judged && !is_done && view.deadline.is_some_and(is_late)
        };
        let overdue = self.deployments.values().filter(is_overdue);
        let find = |deployment: &Followed<DeploymentView, DeploymentHistory>| Finding {
            broken: "a rollout that makes no progress within its deadline is reported",
            found: format!("{}: {}", deployment.view.name, deployment.view.progress.0),
        };
        overdue.map(find).collect()
    }

    /// The sets are as the Deployment requests, and its status reports that.
    fn rolled_out(&self, deployment: &DeploymentView, findings: &mut Vec<Finding>) {
        let mut find = |broken, found: String| findings.push(Finding { broken, found });
        let (name, wanted) = (&deployment.name, deployment.wanted);
        if deployment.is_deleting {
            find("a deleted Deployment is removed", name.clone());
            return;
        }
        let sets: Vec<&SetView> = self.sets_of(deployment).map(|set| &set.view).collect();
        let shown = || {
            let sets =
                sets.iter().map(|set| format!("{} {} (revision {})", set.name, set.size, set.revision));
            format!("{name}: {wanted} desired, has {}", sets.collect::<Vec<_>>().join(", "))
        };
        let mut new: Vec<_> = sets.iter().filter(|set| set.template == deployment.template).collect();
        if self.has_adopted_new_set(deployment) {
            // Of equal sets only the oldest counts as new; it got its revision last.
            new.sort_by_key(|set| set.revision);
            new.drain(..new.len() - 1);
        }
        let pods: i64 = sets.iter().map(|set| set.size).sum();
        match new.as_slice() {
            [new] if new.size == wanted && pods == wanted => {
                if new.revision != deployment.revision {
                    find(
                        "a Deployment has the revision of its new set",
                        format!("{}: {}", shown(), deployment.revision),
                    );
                }
            }
            // A paused Deployment, or one that was created paused, need not have a new set.
            _ if deployment.is_paused => {}
            _ => find("a rollout ends in one set of the present template", shown()),
        }
        let revisions: BTreeSet<i64> = sets.iter().map(|set| set.revision).collect();
        if revisions.len() != sets.len() {
            find("no two sets of a Deployment have the same revision", shown());
        }
        let old = i64::try_from(sets.len()).unwrap_or(i64::MAX) - 1;
        if old > deployment.history && !deployment.is_paused {
            find(
                "old sets beyond the history limit are removed",
                format!("{}; {} are kept", shown(), deployment.history),
            );
        }
        let [replicas, updated, ready, available] = deployment.counts;
        let is_reported = deployment.is_paused || [replicas, updated, ready, available] == [wanted; 4];
        if !is_reported || deployment.observed_generation != deployment.generation {
            let counts = deployment.counts;
            find("a rollout ends in a status that says so", format!("{}: {counts:?}", shown()));
        }
    }

    /// Every set has the pods that it was sized for, and its status counts them.
    fn counted(&self, findings: &mut Vec<Finding>) {
        for set in self.sets.values() {
            let view = &set.view;
            let pods = self.pods.values().map(|pod| &pod.view);
            let pods = pods.filter(|pod| pod.owner == view.uid && pod.is_active);
            let (mut active, mut ready) = (0, 0);
            for pod in pods {
                active += 1;
                ready += i64::from(pod.is_ready);
            }
            if active != view.size
                || view.counts[..2] != [active, ready]
                || view.observed_generation != view.generation
            {
                let found = format!(
                    "{} of size {} has {active} pods, {ready} ready, and reports {:?}",
                    view.name, view.size, view.counts
                );
                findings.push(Finding {
                    broken: "a set has the pods that it was sized for, and reports them",
                    found,
                });
            }
        }
    }

    /// No object has an owner that does not exist.
    fn owned(&self, findings: &mut Vec<Finding>) {
        let existing: BTreeSet<&String> = self.uids.values().collect();
        for (key, owners) in &self.owners {
            let is_workload = key.starts_with("/registry/pods/") || key.starts_with("/registry/replicasets/");
            if is_workload && !owners.is_empty() && !owners.iter().any(|owner| existing.contains(owner)) {
                findings.push(Finding { broken: "no object is left without its owner", found: key.clone() });
            }
        }
    }
}
