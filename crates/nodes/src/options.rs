//! The options of a simulation: number and size of nodes, behaviour of pods.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use gantry_formats::quantity::parse_billionths;
use gantry_runtime::{Clock, Informers, Metrics};
use k8s_openapi::api::core::v1 as core;

use crate::behaviour::Profile;
use crate::lease;
use crate::node_spec::{self, NodeSpec};

/// The options of a simulation.
#[derive(Clone, Debug)]
pub struct Options {
    /// The number of nodes; 0 is allowed.
    pub nodes: usize,
    /// The prefix of their names: `node` yields `node-1`, `node-2` and so on. Existing nodes of these names are
    /// taken over.
    pub prefix: String,
    /// The capacity of each node.
    pub capacity: Capacity,
    /// Templates for the first nodes, from nodes of another cluster.
    pub templates: Vec<NodeTemplate>,
    /// Whether pods must tolerate [`SIMULATED_TAINT`](crate::SIMULATED_TAINT), because the cluster has real nodes as well.
    pub is_tainted: bool,
    /// How pods behave.
    pub profile: Profile,
    /// The steps of pods happen at multiples of this duration; zero for any time. Fewer distinct times make large
    /// simulations cheaper, because all steps of one time are handled at once.
    pub resolution: Duration,
    /// How often nodes renew their leases.
    pub renew_every: Duration,
    /// The maximum number of pods that are synced concurrently.
    pub reports_max: usize,
    /// Which statuses of pods are reported.
    pub reports: Reports,
    /// Whether events of type Normal are recorded.
    pub normal_events: bool,
    /// The informers of the process, which other components may share.
    pub informers: Informers,
    /// The clock.
    pub clock: Clock,
    /// The metrics of requests and queues.
    pub metrics: Metrics,
}

/// The capacity of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capacity {
    /// Cores, as a quantity.
    pub cpu: String,
    /// Memory, as a quantity.
    pub memory: String,
    /// The maximum number of pods.
    pub pods: u32,
}

/// A node of another cluster, with the fields that matter for scheduling.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeTemplate {
    /// Its name.
    pub name: String,
    /// Its labels.
    pub labels: BTreeMap<String, String>,
    /// Its taints.
    pub taints: Vec<core::Taint>,
    /// Whether no pods are scheduled to it.
    pub is_unschedulable: bool,
    /// Its resources for pods, as quantities by resource.
    pub allocatable: BTreeMap<String, String>,
}

/// Which statuses of pods are reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reports {
    /// Each one, as a kubelet does.
    #[default]
    All,
    /// Only those on which a decision can depend: not that containers are being created or that the deletion was
    /// noticed, if the next status is due soon, and not the last status before the removal.
    Decisive,
}

/// Why options are invalid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InvalidOptions {
    /// More nodes than the pod network has addresses for.
    Nodes(usize),
    /// More pods per node than it has addresses for.
    Pods {
        /// The pods of each node.
        pods: u32,
        /// The maximum number that have addresses.
        max: u32,
    },
    /// Not a valid quantity.
    Quantity {
        /// The resource.
        resource: &'static str,
        /// The invalid text.
        written: String,
    },
}

impl Options {
    /// Returns the defaults for that many nodes: the default capacity, the built-in profile and the system clock.
    pub fn new(nodes: usize, metrics: Metrics) -> Self {
        Self {
            nodes,
            prefix: "node".to_owned(),
            capacity: Capacity::default(),
            templates: Vec::new(),
            is_tainted: false,
            profile: Profile::built_in(),
            resolution: Duration::ZERO,
            renew_every: lease::RENEW_EVERY,
            reports_max: 32,
            reports: Reports::default(),
            normal_events: true,
            informers: Informers::new(),
            clock: Clock::system(),
            metrics,
        }
    }

    /// The names of the nodes.
    pub fn names(&self) -> impl Iterator<Item = String> {
        (0..self.nodes).map(|index| NodeSpec::of(self, index).name)
    }

    /// Checks that there are addresses for all nodes and pods, and that quantities are valid.
    pub fn check(&self) -> Result<(), InvalidOptions> {
        if self.nodes > node_spec::NODES_MAX {
            return Err(InvalidOptions::Nodes(self.nodes));
        }
        let max = node_spec::pods_max(self.nodes);
        if self.capacity.pods > max {
            return Err(InvalidOptions::Pods { pods: self.capacity.pods, max });
        }
        for (resource, written) in [("cpu", &self.capacity.cpu), ("memory", &self.capacity.memory)] {
            if parse_billionths(written).is_none_or(|amount| amount < 0) {
                return Err(InvalidOptions::Quantity { resource, written: written.clone() });
            }
        }
        Ok(())
    }
}

impl Default for Capacity {
    /// Eight cores, 32 GiB and 110 pods, the kubelet's default maximum.
    fn default() -> Self {
        Self { cpu: "8".to_owned(), memory: "32Gi".to_owned(), pods: 110 }
    }
}

impl fmt::Display for InvalidOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nodes(nodes) => {
                let max = node_spec::NODES_MAX;
                write!(f, "{nodes} nodes are too many; there are addresses for the pods of {max}")
            }
            Self::Pods { pods, max } => {
                write!(f, "{pods} pods on a node are too many; there are addresses for {max}")
            }
            Self::Quantity { resource, written } => {
                write!(
                    f,
                    "{written:?} is not a valid quantity of {resource}; use for example 4, 500m or 16Gi"
                )
            }
        }
    }
}

impl std::error::Error for InvalidOptions {}
