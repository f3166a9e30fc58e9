//! The options of the controllers: which of them run, and with how many workers.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use crate::certificates::ClusterSigner;
use gantry_decide::deployment::Repairs;
use gantry_decide::{deployment, gc, replica_set};
use gantry_runtime::{Clock, Informers, Metrics, Timing, WriteFence};

gantry_model::text_enum! {
    /// A controller. The order is that of starting and of informer subscriptions.
    ///
    /// A ReplicaSet is notified of its new size before its Deployment: a set that was scaled by hand gets its pods before
    /// it is scaled back, as in a Kubernetes cluster that is not overloaded.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Controller {
        /// Keeps the pods of ReplicaSets.
        ReplicaSet = "replicaset-controller",
        /// Keeps the pods of ReplicationControllers.
        ReplicationController = "replicationcontroller-controller",
        /// Rolls Deployments out.
        Deployment = "deployment-controller",
        /// Deletes objects whose owners are gone.
        GarbageCollector = "garbage-collector-controller",
        /// Empties namespaces that are being deleted.
        Namespace = "namespace-controller",
        /// Gives every namespace its `default` account.
        ServiceAccount = "serviceaccount-controller",
        /// Gives every namespace the certificate of the API server's authority.
        RootCa = "root-ca-certificate-publisher-controller",
        /// Keeps the status of PodDisruptionBudgets.
        Disruption = "disruption-controller",
        /// Keeps the rules of aggregated ClusterRoles.
        ClusterRoleAggregation = "clusterrole-aggregation-controller",
        /// Keeps the Endpoints of Services.
        Endpoints = "endpoints-controller",
        /// Keeps the EndpointSlices of Services.
        EndpointSlice = "endpointslice-controller",
        /// Mirrors Endpoints that are written by hand to EndpointSlices.
        EndpointSliceMirroring = "endpointslice-mirroring-controller",
        /// Deletes the pods of nodes that are gone. Only for clusters whose nodes Gantry runs.
        PodGc = "pod-garbage-collector-controller",
        /// Taints nodes without heartbeats and evicts their pods. Only for clusters whose nodes Gantry runs.
        NodeLifecycle = "node-lifecycle-controller",
        /// Removes the finalizer of deleted PersistentVolumeClaims that no pod uses.
        ClaimProtection = "persistentvolumeclaim-protection-controller",
        /// Removes the finalizer of deleted PersistentVolumes that are not bound.
        VolumeProtection = "persistentvolume-protection-controller",
        /// Removes the finalizer of deleted VolumeAttributesClasses that nothing uses.
        AttributesClassProtection = "volumeattributesclass-protection-controller",
        /// Approves the requests of nodes for client certificates.
        CertificateApproving = "certificatesigningrequest-approving-controller",
        /// Signs approved requests for certificates.
        CertificateSigning = "certificatesigningrequest-signing-controller",
        /// Deletes requests for certificates that were decided, or not for a long time.
        CertificateCleaner = "certificatesigningrequest-cleaner-controller",
        /// Deletes bootstrap tokens that have expired.
        TokenCleaner = "token-cleaner-controller",
        /// Signs the ConfigMap `cluster-info` with bootstrap tokens.
        BootstrapSigner = "bootstrap-signer-controller",
    }

    /// All controllers.
    pub const ALL: [Self; 22];
    /// Its name, as in kube-controller-manager.
    pub fn name(self) -> &'static str;
}

/// The options of [`run`](crate::run).
#[derive(Clone, Debug)]
pub struct Options {
    /// The controllers to run.
    pub controllers: BTreeSet<Controller>,
    /// Workers per controller.
    pub workers: Workers,
    /// The repairs of Kubernetes' defects that are on.
    pub repairs: Repairs,
    /// The certificate that [`Controller::RootCa`] publishes, as PEM.
    pub root_ca: Option<String>,
    /// The authority with which [`Controller::CertificateSigning`] signs.
    pub signer: Option<ClusterSigner>,
    /// Leader election, if there may be other processes.
    pub election: Option<LeaseOptions>,
    /// The fence of the lease, if the client is behind it, too; `None` for a separate one.
    pub fence: Option<WriteFence>,
    /// The informers of the process, if other components share them; `None` for new ones at every start with
    /// leadership.
    pub informers: Option<Informers>,
    /// Whether events of type Normal are recorded.
    pub normal_events: bool,
    /// The time source.
    pub clock: Clock,
    /// The metrics registry.
    pub metrics: Metrics,
}

/// The number of workers per controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Workers {
    /// `--concurrent-deployment-syncs`.
    pub deployment: usize,
    /// `--concurrent-replicaset-syncs`.
    pub replica_set: usize,
    /// `--concurrent-rc-syncs`.
    pub replication_controller: usize,
    /// `--concurrent-gc-syncs`.
    pub garbage_collector: usize,
    /// `--concurrent-namespace-syncs`.
    pub namespace: usize,
}

/// The lease for leader election.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseOptions {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Identifies this process.
    pub identity: String,
    /// Durations of the lease.
    pub timing: Timing,
}

/// An unknown controller name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownController(String);

impl Controller {
    /// Controllers that belong to an API server of Gantry; elsewhere kube-controller-manager runs them.
    pub const WITH_API_SERVER: [Self; 4] = [
        Self::EndpointSliceMirroring,
        Self::ClaimProtection,
        Self::VolumeProtection,
        Self::AttributesClassProtection,
    ];

    /// Controllers for nodes that join an API server of Gantry; elsewhere kube-controller-manager runs them.
    pub const JOINING: [Self; 5] = [
        Self::CertificateApproving,
        Self::CertificateSigning,
        Self::CertificateCleaner,
        Self::TokenCleaner,
        Self::BootstrapSigner,
    ];

    /// Controllers that are only useful where Gantry runs the nodes.
    pub const WITH_NODES: [Self; 2] = [Self::PodGc, Self::NodeLifecycle];

    /// Controllers that only follow the status of pods.
    pub const WITH_POD_STATUS: [Self; 4] =
        [Self::Disruption, Self::Endpoints, Self::EndpointSlice, Self::EndpointSliceMirroring];

    /// The short name that older releases used.
    fn short_name(self) -> &'static str {
        match self {
            Self::Deployment => "deployment",
            Self::ReplicaSet => "replicaset",
            Self::ReplicationController => "replicationcontroller",
            Self::GarbageCollector => "garbagecollector",
            Self::Namespace => "namespace",
            Self::ServiceAccount => "serviceaccount",
            Self::RootCa => "root-ca-cert-publisher",
            Self::Disruption => "disruption",
            Self::ClusterRoleAggregation => "clusterrole-aggregation",
            Self::Endpoints => "endpoint",
            Self::EndpointSlice => "endpointslice",
            Self::EndpointSliceMirroring => "endpointslicemirroring",
            Self::PodGc => "podgc",
            Self::NodeLifecycle => "nodelifecycle",
            Self::ClaimProtection => "pvc-protection",
            Self::VolumeProtection => "pv-protection",
            Self::AttributesClassProtection => "vac-protection",
            Self::CertificateApproving => "csrapproving",
            Self::CertificateSigning => "csrsigning",
            Self::CertificateCleaner => "csrcleaner",
            Self::TokenCleaner => "tokencleaner",
            Self::BootstrapSigner => "bootstrapsigner",
        }
    }
}

impl FromStr for Controller {
    type Err = UnknownController;

    fn from_str(name: &str) -> Result<Self, UnknownController> {
        let is_meant = |controller: &Self| name == controller.name() || name == controller.short_name();
        Self::ALL.into_iter().find(is_meant).ok_or_else(|| UnknownController(name.to_owned()))
    }
}

impl fmt::Display for Controller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for UnknownController {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = Controller::ALL.iter().map(|controller| controller.name()).collect();
        write!(f, "there is no controller {:?}; there are {}", self.0, names.join(", "))
    }
}

impl std::error::Error for UnknownController {}

impl Default for Workers {
    /// The numbers of Kubernetes.
    fn default() -> Self {
        Self {
            deployment: deployment::WORKERS,
            replica_set: replica_set::WORKERS,
            replication_controller: replica_set::WORKERS,
            garbage_collector: gc::WORKERS,
            namespace: 10,
        }
    }
}

impl Options {
    /// The fence that closes when the lease may have expired.
    pub(crate) fn fence(&self) -> WriteFence {
        self.fence.clone().unwrap_or_else(|| {
            let clock = self.clock.clone();
            WriteFence::new(move || clock.since_boot())
        })
    }
}

impl Default for Options {
    /// All controllers but those that are only useful where Gantry runs the API server or the nodes; no lease.
    fn default() -> Self {
        let is_for_any_cluster = |controller: &Controller| {
            !Controller::WITH_NODES.contains(controller)
                && !Controller::WITH_API_SERVER.contains(controller)
                && !Controller::JOINING.contains(controller)
        };
        Self {
            controllers: Controller::ALL.into_iter().filter(is_for_any_cluster).collect(),
            workers: Workers::default(),
            repairs: Repairs::default(),
            root_ca: None,
            signer: None,
            election: None,
            fence: None,
            informers: None,
            normal_events: true,
            clock: Clock::system(),
            metrics: Metrics::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_controller_is_known_by_both_its_names() {
        for controller in Controller::ALL {
            assert_eq!(controller.name().parse(), Ok(controller));
            assert_eq!(controller.short_name().parse(), Ok(controller));
        }
        let unknown = "cronjob".parse::<Controller>().unwrap_err().to_string();
        assert!(
            unknown.starts_with("there is no controller \"cronjob\"; there are replicaset-controller, "),
            "{unknown}"
        );
    }
}
