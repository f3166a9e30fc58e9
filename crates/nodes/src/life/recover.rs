//! A run had back from the status that was reported of it last.
//!
//! A kubelet that is restarted asks its container runtime; a simulated one has nothing but what it told the server. That
//! is in whole seconds and does not say how far a pull has come, so pulls begin again.

use std::collections::BTreeMap;

use gantry_model::Timestamp;
use k8s_openapi::api::core::v1 as wire;

use super::Pod;
use super::containers::{Course, Phase};
use super::exits::{Cause, Exit};
use super::pod::{Container, Deletion};
use super::run::{Run, Sandbox};
use super::words;

impl Run {
    /// The run that a status tells of; a new one if no node ever reported anything.
    pub fn recover(pod: &Pod, status: &wire::PodStatus, now: Timestamp) -> Self {
        let mut run = Self::begin(pod, now);
        run.conditions = conditions(status);
        let Some(began) = &status.start_time else { return run };
        run.began = Timestamp::parse(began);
        if status.pod_ip.as_ref().is_some_and(|ip| !ip.is_empty()) {
            run.sandbox = Sandbox::Up;
        }
        let reported: Vec<_> =
            status.init_container_statuses.iter().chain(&status.container_statuses).flatten().collect();
        let course = |container: &Container| {
            let status = reported.iter().find(|status| status.name == container.name);
            status.map_or_else(Course::default, |status| Course::recover(status))
        };
        run.courses = pod.containers.iter().map(course).collect();
        if matches!(status.phase.as_deref(), Some("Succeeded" | "Failed")) {
            run.courses.iter_mut().for_each(Course::give_up);
        }
        run.deadline_exceeded = status.reason.as_deref() == Some(words::DEADLINE_EXCEEDED);
        if run.deadline_exceeded {
            run.stopping = Some(run.began);
            return run;
        }
        // It was asked to stop when its deletion was, not when we look.
        let asked = pod.deletion.map(Deletion::asked);
        run.stopping = asked.filter(|_| run.courses.iter().any(Course::is_running));
        if run.stopping.is_some() {
            run.courses.iter_mut().for_each(Course::give_up);
        }
        run
    }
}

impl Course {
    fn recover(status: &wire::ContainerStatus) -> Self {
        let last = status.last_state.as_ref().and_then(exit);
        let restarts = status.restart_count.max(0);
        let mut course = Self { restarts, strikes: restarts.unsigned_abs(), last, ..Self::default() };
        let Some(state) = &status.state else { return course };
        let crash_loop =
            |waiting: &wire::ContainerStateWaiting| waiting.reason.as_deref() == Some("CrashLoopBackOff");
        course.phase = match (&state.running, exit(state), last) {
            (Some(running), ..) => Phase::Running {
                since: running.started_at.as_ref().map_or(Timestamp::EPOCH, Timestamp::parse),
            },
            (None, Some(exit), _) => Phase::Exited(exit),
            (None, None, Some(exit)) if state.waiting.as_ref().is_some_and(crash_loop) => Phase::Exited(exit),
            _ => Phase::Idle,
        };
        course
    }
}

fn exit(state: &wire::ContainerState) -> Option<Exit> {
    let terminated = state.terminated.as_ref()?;
    let time = |field: &Option<_>| field.as_ref().map_or(Timestamp::EPOCH, Timestamp::parse);
    let (started, finished) = (time(&terminated.started_at), time(&terminated.finished_at));
    let cause =
        if terminated.reason.as_deref() == Some("OOMKilled") { Cause::OutOfMemory } else { Cause::Exit };
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
