//! One step of a scenario.

use std::fmt;
use std::time::Duration;

/// A step and its time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimedStep {
    /// The time since the start.
    pub at: Duration,
    /// The step.
    pub step: SimStep,
}

/// An action of a user, or a failure of a process or a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SimStep {
    /// Create a Deployment of this name, with this many replicas.
    Create(&'static str, u32),
    /// Scale it.
    Scale(&'static str, u32),
    /// Change its image.
    Image(&'static str, &'static str),
    /// Change `maxSurge` and `maxUnavailable`.
    Limits(&'static str, String, String),
    /// Change the strategy to Recreate.
    Recreate(&'static str),
    /// Change another number of its spec.
    Set(&'static str, &'static str, u32),
    /// Pause it, or resume it.
    Pause(&'static str, bool),
    /// Restore the template of the previous revision.
    Undo(&'static str),
    /// Request a rollback to a revision from the controller, by the legacy annotation.
    Rollback(&'static str, u32),
    /// Delete it, with this propagation policy.
    Delete(&'static str, &'static str),
    /// Delete one of the pods.
    DeletePod(u64),
    /// Kill a replica of the controllers, and start it again after this long.
    Crash(usize, Duration),
    /// Stop a replica of the controllers gracefully, and start it again after this long.
    Restart(usize, Duration),
    /// Let a node fail for this long.
    FailNode(usize, Duration),
}

impl fmt::Display for TimedStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:10.3} {}", self.at.as_secs_f64(), self.step)
    }
}

impl fmt::Display for SimStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Create(name, replicas) => write!(f, "create {name} with {replicas} replicas"),
            Self::Scale(name, replicas) => write!(f, "scale {name} to {replicas}"),
            Self::Image(name, image) => write!(f, "set the image of {name} to {image}"),
            Self::Limits(name, surge, unavailable) => {
                write!(f, "set maxSurge of {name} to {surge} and maxUnavailable to {unavailable}")
            }
            Self::Recreate(name) => write!(f, "set the strategy of {name} to Recreate"),
            Self::Set(name, field, value) => write!(f, "set {field} of {name} to {value}"),
            Self::Pause(name, true) => write!(f, "pause {name}"),
            Self::Pause(name, false) => write!(f, "resume {name}"),
            Self::Undo(name) => write!(f, "undo {name}"),
            Self::Rollback(name, revision) => write!(f, "annotate {name} to roll back to {revision}"),
            Self::Delete(name, policy) => write!(f, "delete {name} in {policy}"),
            Self::DeletePod(number) => write!(f, "delete pod {number}"),
            Self::Crash(replica, down) => write!(f, "kill controllers {replica} for {down:?}"),
            Self::Restart(replica, down) => write!(f, "stop controllers {replica} for {down:?}"),
            Self::FailNode(node, down) => write!(f, "fail node {node} for {down:?}"),
        }
    }
}
