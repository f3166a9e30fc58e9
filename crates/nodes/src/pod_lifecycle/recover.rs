//! Recovers the run of a pod from its last reported status.
//!
//! A restarted kubelet reads the state from its container runtime; a simulated one has only the reported status. Its
//! times are in whole seconds and it does not contain the progress of pulls, so these start again.

use std::collections::BTreeMap;

use gantry_model::Timestamp;
use k8s_openapi::api::core::v1 as wire;

use super::Pod;
use super::actions::Eviction;
use super::container_run::{ContainerRun, Phase};
use super::exits::{Exit, ExitCause};
use super::messages;
use super::pod::{Container, Deletion};
use super::pod_run::{PodEnd, PodRun, Sandbox};
use super::status::DISRUPTION_TARGET;

impl PodRun {
    /// Recovers a run from a status; returns a new run if no node has reported yet.
    pub fn recover(pod: &Pod, status: &wire::PodStatus, now: Timestamp) -> Self {
        let mut run = Self::begin(pod, now);
        run.conditions = conditions(status);
        let Some(started) = &status.start_time else { return run };
        run.started = Timestamp::parse(started);
        if status.pod_ip.as_ref().is_some_and(|ip| !ip.is_empty()) {
            run.sandbox = Sandbox::Ready;
        }
        let reported: Vec<_> = super::status::container_statuses(status).collect();
        let container_run = |container: &Container| {
            let status = reported.iter().find(|status| status.name == container.name);
            status.map_or_else(ContainerRun::default, |status| ContainerRun::recover(status))
        };
        run.containers = pod.containers.iter().map(container_run).collect();
        if matches!(status.phase.as_deref(), Some("Succeeded" | "Failed")) {
            run.containers.iter_mut().for_each(ContainerRun::stop_restarting);
        }
        run.ended_by = match status.reason.as_deref() {
            Some(messages::DEADLINE_EXCEEDED) => Some(PodEnd::Deadline),
            Some(messages::EVICTED) => Some(PodEnd::Evicted(Eviction {
                message: status.message.clone().unwrap_or_default(),
                grace: Eviction::GRACE,
                is_disruption: run.conditions.contains_key(DISRUPTION_TARGET),
            })),
            _ => None,
        };
        if run.ended_by.is_some() {
            run.stopping = Some(run.started);
            return run;
        }
        // It is being stopped since its deletion was requested, not since now.
        let requested = pod.deletion.map(Deletion::requested_at);
        run.stopping = requested.filter(|_| run.containers.iter().any(ContainerRun::is_running));
        if run.stopping.is_some() {
            run.containers.iter_mut().for_each(ContainerRun::stop_restarting);
            let stopped: Vec<_> = (0..run.containers.len()).map(|at| run.may_stop(at, pod)).collect();
            for (container_run, _) in run.containers.iter_mut().zip(stopped).filter(|(_, stopped)| *stopped) {
                container_run.stopping = requested.filter(|_| container_run.is_running());
            }
        }
        run
    }
}

impl ContainerRun {
    pub(super) fn recover(status: &wire::ContainerStatus) -> Self {
        let last = status.last_state.as_ref().and_then(exit);
        let restarts = status.restart_count.max(0);
        let mut container_run =
            Self { restarts, recent_restarts: restarts.unsigned_abs(), last, ..Self::default() };
        let Some(state) = &status.state else { return container_run };
        let crash_loop =
            |waiting: &wire::ContainerStateWaiting| waiting.reason.as_deref() == Some("CrashLoopBackOff");
        container_run.phase = match (&state.running, exit(state), last) {
            (Some(running), ..) => Phase::Running {
                since: running.started_at.as_ref().map_or(Timestamp::EPOCH, Timestamp::parse),
            },
            (None, Some(exit), _) => Phase::Exited(exit),
            (None, None, Some(exit)) if state.waiting.as_ref().is_some_and(crash_loop) => Phase::Exited(exit),
            _ => Phase::Pending,
        };
        container_run
    }
}

fn exit(state: &wire::ContainerState) -> Option<Exit> {
    let terminated = state.terminated.as_ref()?;
    let time = |field: &Option<_>| field.as_ref().map_or(Timestamp::EPOCH, Timestamp::parse);
    let (started, finished) = (time(&terminated.started_at), time(&terminated.finished_at));
    let cause = if terminated.reason.as_deref() == Some("OOMKilled") {
        ExitCause::OutOfMemory
    } else {
        ExitCause::Exit
    };
    Some(Exit { code: terminated.exit_code, cause, started, finished })
}

fn conditions(status: &wire::PodStatus) -> BTreeMap<String, (String, Timestamp)> {
    let conditions = status.conditions.iter().flatten();
    let entry = |condition: &wire::PodCondition| {
        let since = condition.last_transition_time.as_ref().map(Timestamp::parse)?;
        Some((condition.type_.clone(), (condition.status.clone(), since)))
    };
    conditions.filter_map(entry).collect()
}
