//! The kinds that a cluster with simulated nodes stores without acting on them.

use gantry_apiserver::UncontrolledKind;

/// The kinds whose creation returns a warning.
///
/// Services are not among them: every chart creates some, and without running pods they are not needed.
pub(crate) const UNCONTROLLED: [UncontrolledKind; 7] = [
    uncontrolled("apps", "StatefulSet", "no pods are created for it"),
    uncontrolled("apps", "DaemonSet", "no pods are created for it"),
    uncontrolled("batch", "Job", "no pods are created for it and it never completes"),
    uncontrolled("batch", "CronJob", "no jobs are created for it"),
    uncontrolled("autoscaling", "HorizontalPodAutoscaler", "it scales nothing"),
    uncontrolled("", "PersistentVolumeClaim", "it is never bound"),
    uncontrolled("networking.k8s.io", "ServiceCIDR", "Services get no addresses from it"),
];

const fn uncontrolled(group: &'static str, kind: &'static str, effect: &'static str) -> UncontrolledKind {
    UncontrolledKind { group, kind, effect }
}
