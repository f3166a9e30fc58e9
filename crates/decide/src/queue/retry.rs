//! Whether a key is retried after its sync.

/// The result of the sync of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Everything was done.
    Success,
    /// A write was refused because the namespace is terminating.
    NamespaceTerminating,
    /// It failed.
    Failure,
}

/// The handling of a key after its sync.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetryDecision {
    /// It waits for the next change, and its failures are forgotten.
    Forget,
    /// It is retried after a delay.
    Requeue,
    /// It failed too often: as `Forget`, but logged.
    GiveUp,
}

/// How a controller treats a terminating namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnTerminatingNamespace {
    /// As success: nothing can be created there any more.
    Forget,
    /// As any failure.
    Retry,
}

/// The retry policy of a controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// The number of retries; `None` is without limit.
    pub cap: Option<u32>,
    /// How a terminating namespace is treated.
    pub on_terminating_namespace: OnTerminatingNamespace,
}

impl RetryPolicy {
    /// A Deployment is dropped at the 16th failure in a row.
    pub const DEPLOYMENT: Self =
        Self { cap: Some(15), on_terminating_namespace: OnTerminatingNamespace::Forget };
    /// A `ReplicaSet` is retried without limit.
    pub const REPLICA_SET: Self = Self { cap: None, on_terminating_namespace: OnTerminatingNamespace::Retry };
    /// Garbage is retried without limit.
    pub const GARBAGE_COLLECTOR: Self =
        Self { cap: None, on_terminating_namespace: OnTerminatingNamespace::Retry };

    /// A PodDisruptionBudget is retried without limit.
    pub const DISRUPTION: Self = Self { cap: None, on_terminating_namespace: OnTerminatingNamespace::Retry };

    /// An aggregated ClusterRole is retried forever, whatever the error.
    pub const CLUSTER_ROLE_AGGREGATION: Self =
        Self { cap: None, on_terminating_namespace: OnTerminatingNamespace::Retry };

    /// The endpoints of a Service are given up at the 16th failure in a row.
    pub const ENDPOINTS: Self =
        Self { cap: Some(15), on_terminating_namespace: OnTerminatingNamespace::Forget };

    /// Decides about a key that was requeued so often before.
    pub fn after(self, outcome: Outcome, requeues: u32) -> RetryDecision {
        match (outcome, self.on_terminating_namespace) {
            (Outcome::Success, _) | (Outcome::NamespaceTerminating, OnTerminatingNamespace::Forget) => {
                RetryDecision::Forget
            }
            (Outcome::NamespaceTerminating, OnTerminatingNamespace::Retry) | (Outcome::Failure, _) => {
                if self.cap.is_some_and(|cap| requeues >= cap) {
                    RetryDecision::GiveUp
                } else {
                    RetryDecision::Requeue
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// D2.3: fifteen requeues, and the 16th failure drops the key.
    #[test]
    fn a_deployment_is_dropped_at_the_sixteenth_failure() {
        let after = |requeues| RetryPolicy::DEPLOYMENT.after(Outcome::Failure, requeues);
        assert!((0..15).all(|requeues| after(requeues) == RetryDecision::Requeue));
        assert_eq!(after(15), RetryDecision::GiveUp);
        assert_eq!(after(u32::MAX), RetryDecision::GiveUp);
    }

    /// D2.2: a terminating namespace counts as success, for Deployments only.
    #[test]
    fn only_deployments_ignore_a_terminating_namespace() {
        let after = |policy: RetryPolicy| policy.after(Outcome::NamespaceTerminating, 3);
        assert_eq!(after(RetryPolicy::DEPLOYMENT), RetryDecision::Forget);
        assert_eq!(after(RetryPolicy::REPLICA_SET), RetryDecision::Requeue);
        assert_eq!(after(RetryPolicy::GARBAGE_COLLECTOR), RetryDecision::Requeue);
    }

    /// D2.3 does not hold for the others: they have no retry cap.
    #[test]
    fn replica_sets_and_garbage_are_retried_forever() {
        for policy in [RetryPolicy::REPLICA_SET, RetryPolicy::GARBAGE_COLLECTOR] {
            assert_eq!(policy.after(Outcome::Failure, u32::MAX), RetryDecision::Requeue);
        }
    }

    /// D2.2: success forgets earlier failures.
    #[test]
    fn success_resets_the_backoff() {
        for policy in [RetryPolicy::DEPLOYMENT, RetryPolicy::REPLICA_SET, RetryPolicy::GARBAGE_COLLECTOR] {
            assert_eq!(policy.after(Outcome::Success, 40), RetryDecision::Forget);
        }
    }
}
