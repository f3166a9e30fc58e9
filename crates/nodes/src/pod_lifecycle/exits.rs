//! The exits of containers, and when they are restarted.

use std::time::Duration;

use gantry_model::Timestamp;

use super::Pod;
use super::pod::{Container, RestartPolicy, Role};

/// The exit of a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Exit {
    pub(super) code: i32,
    pub(super) cause: ExitCause,
    pub(super) started: Timestamp,
    pub(super) finished: Timestamp,
}

/// The cause of an exit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExitCause {
    /// It exited, or was stopped.
    Exit,
    /// It exceeded its memory limit.
    OutOfMemory,
}

/// The initial backoff of restarts, doubled each time ...
const BACK_OFF: Duration = Duration::from_secs(10);
/// ... up to this maximum.
const BACK_OFF_MAX: Duration = Duration::from_mins(5);

impl ExitCause {
    /// Returns the cause of an exit for which a runtime gives this reason.
    pub(super) fn of(reason: &str) -> Self {
        if reason == "OOMKilled" { Self::OutOfMemory } else { Self::Exit }
    }
}

impl Exit {
    /// Returns the reason that a container runtime reports.
    pub(super) fn reason(&self) -> &'static str {
        match self.cause {
            ExitCause::OutOfMemory => "OOMKilled",
            ExitCause::Exit if self.code == 0 => "Completed",
            ExitCause::Exit => "Error",
        }
    }
}

/// Whether a container that exited is not restarted.
pub(super) fn is_final(exit: &Exit, container: &Container, pod: &Pod, stopping: Option<Timestamp>) -> bool {
    let restarts = match (container.role, pod.restart) {
        (Role::Sidecar, _) | (Role::Main, RestartPolicy::Always) => true,
        (Role::Init | Role::Main, RestartPolicy::OnFailure) | (Role::Init, RestartPolicy::Always) => {
            exit.code != 0
        }
        (Role::Ephemeral, _) | (_, RestartPolicy::Never) => false,
    };
    stopping.is_some() || !restarts
}

/// Returns the backoff after that many attempts: none after the first, then doubling.
pub(super) fn back_off(attempts: u32) -> Duration {
    match attempts.checked_sub(1) {
        None => Duration::ZERO,
        Some(doublings) => BACK_OFF.saturating_mul(1 << doublings.min(10)).min(BACK_OFF_MAX),
    }
}
