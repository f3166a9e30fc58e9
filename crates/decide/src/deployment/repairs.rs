//! Repairs of Kubernetes' defects that a client can observe. Each is off unless it is asked for.

/// Which repairs are on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Repairs {
    /// `recreate-scaling`: Recreate with several active ReplicaSets is scaled; Kubernetes stalls.
    pub recreate_scaling: bool,
}
