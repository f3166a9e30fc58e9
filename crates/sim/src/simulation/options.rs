//! The options of a simulation.

use std::num::NonZero;
use std::time::Duration;

use gantry_cluster::{Capacity, NodeTemplate, Omissions, Profile, ServiceAccounts};
use gantry_controllers::Repairs;
use gantry_model::Timestamp;

/// The options of a simulation.
#[derive(Clone, Debug)]
pub struct SimOptions {
    /// Decides uids, the suffixes of names, jitter and faults.
    pub seed: u64,
    /// The time at which it begins.
    pub start: Timestamp,
    /// The number of nodes. Without nodes there is no scheduler, and pods stay pending unless the caller acts as kubelet.
    pub nodes: usize,
    /// The capacity of each node.
    pub capacity: Capacity,
    /// The first nodes, if they are like nodes of another cluster.
    pub templates: Vec<NodeTemplate>,
    /// The behaviour of pods on the nodes.
    pub profile: Profile,
    /// The steps of pods happen at multiples of this duration; zero for any time.
    pub resolution: Duration,
    /// How often nodes renew their leases.
    pub renew_every: Duration,
    /// What is left out because nothing in the simulation looks at it.
    pub omissions: Omissions,
    /// The repairs of Kubernetes' defects that are on.
    pub repairs: Repairs,
    /// How the controllers run.
    pub controllers: ControllerProcesses,
    /// What controllers in processes of their own take care of.
    pub scope: SimScope,
    /// Whether pods need an existing service account.
    pub service_accounts: ServiceAccounts,
    /// The number of objects whose decoded form the server keeps for their next write: best not below the number of pods.
    pub decoded_objects: NonZero<usize>,
    /// Whether all requests and responses are recorded, for [`SimCluster::trace`](crate::SimCluster::trace).
    pub trace: bool,
}

/// How the controllers run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ControllerProcesses {
    /// Not at all.
    None,
    /// In the process of the cluster, with the informers of the other components, as in `gantry up`.
    Shared,
    /// In processes of their own, with own informers, which can crash: as many replicas as given. Several elect a leader.
    Separate(usize),
}

/// What controllers take care of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SimScope {
    /// Everything, as in `gantry up`.
    Everything,
    /// Deployments, ReplicaSets, pods and nodes. The other controllers do not run, and the garbage collector is shown no other kinds:
    /// watching sixty kinds in which nothing happens would be most of the work.
    Workloads,
}

/// When simulations begin: 2026-01-01T12:00:00Z.
const NOON: i64 = 1_767_268_800;

impl Default for SimOptions {
    /// Three nodes with the built-in behaviour, as in `gantry up`.
    fn default() -> Self {
        Self {
            seed: 0,
            start: Timestamp::from_secs(NOON),
            nodes: 3,
            capacity: Capacity::default(),
            templates: Vec::new(),
            profile: Profile::built_in(),
            resolution: Duration::ZERO,
            renew_every: Duration::from_secs(10),
            omissions: Omissions::default(),
            repairs: Repairs::default(),
            controllers: ControllerProcesses::Shared,
            scope: SimScope::Everything,
            service_accounts: ServiceAccounts::Required,
            decoded_objects: const { NonZero::new(256).expect("not zero") },
            trace: false,
        }
    }
}
