//! The progress of Deployments in a step, from the events of their watch.

use std::time::{Duration, Instant};

use crate::objects::Deployment;
use crate::workload::{Step, Workload};

/// The progress of a step.
#[derive(Debug)]
pub(crate) struct Progress {
    workload: Workload,
    /// The generation of a complete Deployment; none if the step deletes them.
    generation: Option<i64>,
    replicas: i32,
    deployments: Vec<Entry>,
    complete: usize,
    ready: i64,
}

/// The progress of a Deployment.
#[derive(Clone, Debug, Default)]
struct Entry {
    /// When the request of the step was sent.
    sent: Option<Instant>,
    /// The time from then until its last pod was available.
    taken: Option<Duration>,
    ready: i32,
}

impl Progress {
    /// The progress before the first step.
    pub(crate) fn new(workload: Workload) -> Self {
        let deployments = vec![Entry::default(); workload.deployments];
        Self { workload, generation: None, replicas: 0, deployments, complete: 0, ready: 0 }
    }

    /// Begins a step.
    pub(crate) fn begin(&mut self, step: Step) {
        self.generation = step.generation();
        self.replicas = i32::try_from(self.workload.replicas_after(step)).unwrap_or(i32::MAX);
        self.complete = 0;
        for entry in &mut self.deployments {
            (entry.sent, entry.taken) = (None, None);
        }
    }

    /// Records when the request about a Deployment is sent.
    pub(crate) fn sent(&mut self, number: usize, now: Instant) {
        if let Some(entry) = self.deployments.get_mut(number) {
            entry.sent = Some(now);
        }
    }

    /// Records an event of a Deployment. Returns whether it made the step complete.
    pub(crate) fn observe(&mut self, is_deleted: bool, deployment: &Deployment, now: Instant) -> bool {
        let Some(number) = self.workload.number(&deployment.metadata.name) else { return false };
        let entry = &mut self.deployments[number];
        let ready = if is_deleted { 0 } else { deployment.status.ready_replicas };
        self.ready += i64::from(ready) - i64::from(entry.ready);
        entry.ready = ready;
        let (Some(sent), Some(generation)) = (entry.sent, self.generation) else { return false };
        if is_deleted || entry.taken.is_some() || !is_complete(deployment, generation, self.replicas) {
            return false;
        }
        entry.taken = Some(now.saturating_duration_since(sent));
        self.complete += 1;
        self.is_complete()
    }

    /// Whether all Deployments have reached the state of the step.
    pub(crate) fn is_complete(&self) -> bool {
        self.complete == self.deployments.len()
    }

    /// How many Deployments are complete.
    pub(crate) fn complete(&self) -> usize {
        self.complete
    }

    /// How many pods are ready.
    pub(crate) fn ready(&self) -> i64 {
        self.ready
    }

    /// How long it took each complete Deployment from the request to its last available pod.
    pub(crate) fn taken(&self) -> Vec<Duration> {
        self.deployments.iter().filter_map(|entry| entry.taken).collect()
    }
}

fn is_complete(deployment: &Deployment, generation: i64, replicas: i32) -> bool {
    let status = &deployment.status;
    deployment.metadata.generation >= generation
        && status.observed_generation >= deployment.metadata.generation
        && [status.replicas, status.updated_replicas, status.available_replicas] == [replicas; 3]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objects::DeploymentStatus;

    fn deployment(name: &str, generation: i64, updated: i32, available: i32) -> Deployment {
        let mut deployment = Deployment::default();
        name.clone_into(&mut deployment.metadata.name);
        deployment.metadata.generation = generation;
        deployment.status = DeploymentStatus {
            observed_generation: generation,
            replicas: 2,
            updated_replicas: updated,
            available_replicas: available,
            ready_replicas: available,
        };
        deployment
    }

    #[test]
    fn a_step_is_complete_when_every_deployment_is_updated_and_available() {
        let now = Instant::now();
        let mut progress = Progress::new(Workload { deployments: 2, replicas: 2, namespaces: 1 });
        progress.begin(Step::Roll);
        (0..2).for_each(|number| progress.sent(number, now));
        let events = [
            (deployment("d0", 1, 2, 2), false),
            (deployment("d0", 2, 1, 2), false),
            (deployment("d0", 2, 2, 2), false),
            (deployment("d0", 2, 2, 2), false),
            (deployment("other", 2, 2, 2), false),
            (deployment("d1", 2, 2, 2), true),
        ];
        for (event, completes) in events {
            let at = now + Duration::from_secs(3);
            assert_eq!(progress.observe(false, &event, at), completes, "{event:?}");
        }
        assert_eq!(progress.taken(), [Duration::from_secs(3); 2]);
        assert_eq!(progress.ready(), 4);
        progress.observe(true, &deployment("d1", 2, 2, 2), now);
        assert_eq!(progress.ready(), 2, "a deleted Deployment has no ready pods");
    }
}
