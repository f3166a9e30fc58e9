//! Continues with the containers that a restarted agent finds in the container runtime.

use gantry_model::Timestamp;
use k8s_openapi::api::core::v1 as wire;

use super::actions::{ContainerExit, ContainerIdentity};
use super::container_run::{ContainerRun, Phase};
use super::exits::{Exit, ExitCause};
use super::pod_run::{PodRun, Sandbox};
use super::{Pod, status};

/// The state of a pod in the container runtime.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoundPod {
    /// The number of sandboxes that the pod has had.
    pub sandboxes: u32,
    /// Whether its sandbox works.
    pub is_ready: bool,
    /// The latest container of each name.
    pub containers: Vec<FoundContainer>,
}

/// A container in the container runtime.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundContainer {
    /// Its name in the pod.
    pub name: String,
    /// How many times it was started before.
    pub attempt: i32,
    /// Its ID and image.
    pub identity: ContainerIdentity,
    /// When it was started.
    pub started: Timestamp,
    /// Its exit; `None` if it is running.
    pub exit: Option<ContainerExit>,
}

impl PodRun {
    /// Continues a run from the state of the pod in the container runtime and its reported status.
    pub fn resume(pod: &Pod, status: &wire::PodStatus, found: &FoundPod, now: Timestamp) -> Self {
        let mut run = Self::recover(pod, status, now);
        // A container that is being stopped is stopped again, because no action waits for it any more.
        if pod.deletion.is_some() && run.ended_by.is_none() {
            run.stopping = None;
        }
        run.sandboxes = found.sandboxes;
        run.sandbox =
            if found.is_ready { Sandbox::Ready } else { Sandbox::Pending { until: now, failures: 0 } };
        for (container, container_run) in pod.containers.iter().zip(&mut run.containers) {
            let reported = status::container_statuses(status).find(|status| status.name == container.name);
            match found.containers.iter().find(|found| found.name == container.name) {
                Some(found) => {
                    container_run.resume(found, reported);
                    if let (Some(reported), Some(wanted)) = (reported, container.wanted()) {
                        container_run.observed_mut().amounts.recover(wanted, reported);
                    }
                }
                None => container_run.resume_missing(reported, now),
            }
        }
        if !found.is_ready && !found.containers.is_empty() && run.stopping.is_none() {
            // As if it was lost while the agent was running.
            run.sandbox = Sandbox::Ready;
            run.lose_sandbox(pod, now);
        }
        run
    }
}

impl ContainerRun {
    fn resume(&mut self, found: &FoundContainer, reported: Option<&wire::ContainerStatus>) {
        self.stopping = None;
        self.restarting = None;
        if self.restarts < found.attempt {
            // The restart was not reported: the reported state is that of the previous run.
            self.last = self.last_exit().or(self.last);
        }
        self.restarts = found.attempt;
        let last_id =
            reported.and_then(|status| status.last_state.as_ref()?.terminated.as_ref()?.container_id.clone());
        let observed = self.observed_mut();
        observed.previous.identity.id = last_id.unwrap_or_default();
        observed.current.identity = found.identity.clone();
        match &found.exit {
            None => {
                if let Some(reported) =
                    reported.filter(|reported| reported.container_id.as_deref() == Some(&found.identity.id))
                {
                    observed.recover_probes(reported.started == Some(true), reported.ready);
                }
                self.phase = Phase::Running { since: found.started };
            }
            Some(exit) => {
                observed.current.reason = Some(exit.reason.clone());
                observed.current.message.clone_from(&exit.message);
                let cause = ExitCause::of(&exit.reason);
                self.phase = Phase::Exited(Exit {
                    code: exit.code,
                    cause,
                    started: exit.started,
                    finished: exit.finished,
                });
            }
        }
    }

    /// Continues a container that the runtime does not have: if it was reported as running, it has ended unobserved.
    fn resume_missing(&mut self, reported: Option<&wire::ContainerStatus>, now: Timestamp) {
        self.stopping = None;
        let Some(reported) = reported else {
            self.observed_mut();
            return;
        };
        let observed = self.observed_mut();
        observed.current.identity = ContainerIdentity {
            id: reported.container_id.clone().unwrap_or_default(),
            image: reported.image.clone(),
            image_id: reported.image_id.clone(),
        };
        if let Some(terminated) = reported.state.as_ref().and_then(|state| state.terminated.as_ref()) {
            observed.current.reason.clone_from(&terminated.reason);
            observed.current.message.clone_from(&terminated.message);
        }
        if self.is_running() {
            let id = self.observed_mut().current.identity.id.clone();
            self.observed_mut().exit = Some(ContainerExit::unknown(id, now));
            self.exit(0, ExitCause::Exit, now);
        }
    }
}
