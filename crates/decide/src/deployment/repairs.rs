//! Repairs of Kubernetes' defects that a client can observe. Each is off unless it is enabled.
//!
//! A repair that no client can observe, because it only waits for an event that on Kubernetes usually happens first
//! anyway, has no switch.

use std::fmt;
use std::str::FromStr;

/// Which repairs are on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Repairs {
    /// `size-annotation`: a ReplicaSet of the right size that was sized for another number is annotated, and the
    /// rollout continues. Kubernetes treats it as a scaling event in every sync (kubernetes/kubernetes#138036).
    pub size_annotation: bool,
    /// `recreate-scaling`: Recreate with several active ReplicaSets rolls out when it is scaled. Kubernetes stalls.
    pub recreate_scaling: bool,
    /// `undo-deadline`: the deadline of a rollout to an existing ReplicaSet runs from its start. On Kubernetes it does
    /// not run before the first progress, so that a rollout without any is never reported.
    pub undo_deadline: bool,
}

/// A name that is not the name of a repair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownRepair {
    name: String,
}

impl Repairs {
    /// The names of all repairs.
    pub const NAMES: [&str; 3] = ["size-annotation", "recreate-scaling", "undo-deadline"];

    /// All repairs.
    pub const ALL: Self = Self { size_annotation: true, recreate_scaling: true, undo_deadline: true };
}

/// Parses comma-separated names; `all` enables all repairs.
impl FromStr for Repairs {
    type Err = UnknownRepair;

    fn from_str(names: &str) -> Result<Self, UnknownRepair> {
        let mut repairs = Self::default();
        for name in names.split(',') {
            match name.trim() {
                "all" => repairs = Self::ALL,
                "size-annotation" => repairs.size_annotation = true,
                "recreate-scaling" => repairs.recreate_scaling = true,
                "undo-deadline" => repairs.undo_deadline = true,
                other => return Err(UnknownRepair { name: other.to_owned() }),
            }
        }
        Ok(repairs)
    }
}

impl fmt::Display for UnknownRepair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no repair {:?}; there are all, {}", self.name, Repairs::NAMES.join(", "))
    }
}

impl std::error::Error for UnknownRepair {}
