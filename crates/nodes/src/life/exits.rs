//! How containers end, when they are started again, and how long that takes.

use std::time::Duration;

use gantry_model::Timestamp;

use super::Pod;
use super::pod::{Container, KILLED, RestartPolicy, Role};

/// How a container ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Exit {
    pub(super) code: i32,
    pub(super) cause: Cause,
    pub(super) started: Timestamp,
    pub(super) finished: Timestamp,
}

/// Why a container ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// It exited, or was stopped.
    Exit,
    /// It used more memory than it may.
    OutOfMemory,
}

/// The wait before a restart: this, doubled each time ...
const BACK_OFF: Duration = Duration::from_secs(10);
/// ... up to this.
const BACK_OFF_MAX: Duration = Duration::from_mins(5);

impl Exit {
    /// A container runtime's word for it.
    pub(super) fn reason(&self) -> &'static str {
        match self.cause {
            Cause::OutOfMemory => "OOMKilled",
            Cause::Exit if self.code == 0 => "Completed",
            Cause::Exit => "Error",
        }
    }
}

/// Whether a container that exited is not started again.
pub(super) fn is_over(exit: &Exit, container: &Container, pod: &Pod, stopping: Option<Timestamp>) -> bool {
    let again = match (container.role, pod.restart) {
        (Role::Sidecar, _) | (Role::Main, RestartPolicy::Always) => true,
        (Role::Init | Role::Main, RestartPolicy::OnFailure) | (Role::Init, RestartPolicy::Always) => {
            exit.code != 0
        }
        (_, RestartPolicy::Never) => false,
    };
    stopping.is_some() || !again
}

/// The wait after so many attempts: none after the first, then doubling.
pub(super) fn back_off(attempts: u32) -> Duration {
    match attempts.checked_sub(1) {
        None => Duration::ZERO,
        Some(doublings) => BACK_OFF.saturating_mul(1 << doublings.min(10)).min(BACK_OFF_MAX),
    }
}

/// When a container that was asked to stop because its pod is deleted or was active for too long has stopped, by itself
/// or not.
pub(super) fn stop_due(container: &Container, pod: &Pod, asked: Timestamp) -> Timestamp {
    let by_itself = asked.plus(container.behaviour.stop_takes);
    let patience = pod.deletion.map_or_else(|| asked.plus(pod.grace), |deletion| deletion.deadline);
    by_itself.min(patience)
}

/// The code with which a container exits that was asked to stop then.
pub(super) fn stop_code(container: &Container, pod: &Pod, asked: Timestamp) -> i32 {
    let in_time = stop_due(container, pod, asked) == asked.plus(container.behaviour.stop_takes);
    if in_time { 0 } else { KILLED }
}
