//! Whether a key is tried again after somebody has worked on it.

/// How the work on a key ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All that could be done was done.
    Success,
    /// A write was refused because the namespace is going away.
    NamespaceTerminating,
    /// Something else went wrong.
    Failure,
}

/// What becomes of a key after the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// It rests until something wakes it, and its failures are forgotten.
    Forget,
    /// It is tried again, after a wait.
    Requeue,
    /// It failed too often: as `Forget`, but somebody should hear of it.
    GiveUp,
}

/// What a controller makes of a namespace that is going away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnTerminatingNamespace {
    /// Nothing can be created there any more, so there is nothing to retry.
    Forget,
    /// It is a failure like any other.
    Retry,
}

/// How patient a controller is with its keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// So often a failing key is requeued before it is given up; `None` is forever.
    pub cap: Option<u32>,
    /// Whether a namespace that is going away counts as a failure.
    pub on_terminating_namespace: OnTerminatingNamespace,
}

impl RetryPolicy {
    /// A Deployment is given up at the 16th failure in a row.
    pub const DEPLOYMENT: Self =
        Self { cap: Some(15), on_terminating_namespace: OnTerminatingNamespace::Forget };
    /// A `ReplicaSet` is retried forever, whatever the error.
    pub const REPLICA_SET: Self = Self { cap: None, on_terminating_namespace: OnTerminatingNamespace::Retry };
    /// Garbage is retried forever, whatever the error.
    pub const GARBAGE_COLLECTOR: Self =
        Self { cap: None, on_terminating_namespace: OnTerminatingNamespace::Retry };

    /// A PodDisruptionBudget is retried forever, whatever the error.
    pub const DISRUPTION: Self = Self { cap: None, on_terminating_namespace: OnTerminatingNamespace::Retry };

    /// An aggregated ClusterRole is retried forever, whatever the error.
    pub const CLUSTER_ROLE_AGGREGATION: Self =
        Self { cap: None, on_terminating_namespace: OnTerminatingNamespace::Retry };

    /// The endpoints of a Service are given up at the 16th failure in a row.
    pub const ENDPOINTS: Self =
        Self { cap: Some(15), on_terminating_namespace: OnTerminatingNamespace::Forget };

    /// Decides about a key that was requeued so often before.
    pub fn after(self, outcome: Outcome, requeues: u32) -> Retry {
        match (outcome, self.on_terminating_namespace) {
            (Outcome::Success, _) | (Outcome::NamespaceTerminating, OnTerminatingNamespace::Forget) => {
                Retry::Forget
            }
            (Outcome::NamespaceTerminating, OnTerminatingNamespace::Retry) | (Outcome::Failure, _) => {
                if self.cap.is_some_and(|cap| requeues >= cap) { Retry::GiveUp } else { Retry::Requeue }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// D2.3: fifteen requeues, and the 16th failure drops the key.
    #[test]
    fn a_deployment_is_given_up_at_the_sixteenth_failure() {
        let after = |requeues| RetryPolicy::DEPLOYMENT.after(Outcome::Failure, requeues);
        assert!((0..15).all(|requeues| after(requeues) == Retry::Requeue));
        assert_eq!(after(15), Retry::GiveUp);
        assert_eq!(after(u32::MAX), Retry::GiveUp);
    }

    /// D2.2: a namespace that is going away is as good as success, for Deployments only.
    #[test]
    fn only_a_deployment_makes_its_peace_with_a_namespace_that_is_going_away() {
        let after = |policy: RetryPolicy| policy.after(Outcome::NamespaceTerminating, 3);
        assert_eq!(after(RetryPolicy::DEPLOYMENT), Retry::Forget);
        assert_eq!(after(RetryPolicy::REPLICA_SET), Retry::Requeue);
        assert_eq!(after(RetryPolicy::GARBAGE_COLLECTOR), Retry::Requeue);
    }

    /// D2.3 does not hold for the others: they have no retry cap.
    #[test]
    fn replica_sets_and_garbage_are_retried_forever() {
        for policy in [RetryPolicy::REPLICA_SET, RetryPolicy::GARBAGE_COLLECTOR] {
            assert_eq!(policy.after(Outcome::Failure, u32::MAX), Retry::Requeue);
        }
    }

    /// D2.2: success forgets, however bad it looked before.
    #[test]
    fn success_forgets_the_failures() {
        for policy in [RetryPolicy::DEPLOYMENT, RetryPolicy::REPLICA_SET, RetryPolicy::GARBAGE_COLLECTOR] {
            assert_eq!(policy.after(Outcome::Success, 40), Retry::Forget);
        }
    }
}
