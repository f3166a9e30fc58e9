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
    /// The time at which it starts.
    pub start: Timestamp,
    /// The number of nodes. Without nodes there is no scheduler, and pods stay pending unless the caller acts as kubelet.
    pub nodes: usize,
    /// The capacity of each node.
    pub capacity: Capacity,
    /// Templates for the first nodes, from nodes of another cluster.
    pub templates: Vec<NodeTemplate>,
    /// The behaviour of pods on the nodes.
    pub profile: Profile,
    /// The steps of pods happen at multiples of this duration; zero for any time.
    pub resolution: Duration,
    /// How often nodes renew their leases.
    pub renew_every: Duration,
    /// The parts that are omitted because nothing in the simulation reads them.
    pub omissions: Omissions,
    /// The repairs of Kubernetes' defects that are on.
    pub repairs: Repairs,
    /// How the controllers run.
    pub controllers: ControllerProcesses,
    /// The scope of controllers in separate processes.
    pub scope: SimScope,
    /// Whether pods need an existing service account.
    pub service_accounts: ServiceAccounts,
    /// The number of objects whose decoded form the server keeps for their next write: at least the number of pods is
    /// best.
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
    /// In separate processes with informers of their own, which can crash: as many replicas as given. Several elect a
    /// leader.
    Separate(usize),
}

/// The scope of the controllers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SimScope {
    /// Everything, as in `gantry up`.
    Everything,
    /// Deployments, ReplicaSets, pods and nodes. The other controllers do not run, and the garbage collector discovers
    /// no other kinds: watching sixty idle kinds would be most of the work.
    Workloads,
}

/// The start of simulations: 2026-01-01T12:00:00Z.
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
