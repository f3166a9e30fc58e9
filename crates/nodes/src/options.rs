//! How many nodes there are, how large they are and how their pods behave.

use std::fmt;

use gantry_model::quantity::in_nanos;
use gantry_runtime::{Clock, Informers, Metrics};

use crate::behaviour::Profile;
use crate::machine;

/// What to simulate.
#[derive(Clone, Debug)]
pub struct Options {
    /// How many nodes; none is allowed.
    pub nodes: usize,
    /// What their names begin with: `node` makes `node-1`, `node-2` and so on. Nodes of these names that exist are
    /// taken over.
    pub prefix: String,
    /// How large each of them is.
    pub capacity: Capacity,
    /// How pods behave.
    pub profile: Profile,
    /// How many pods may be reported on at once.
    pub reports_max: usize,
    /// The informers of the process, which other components may share.
    pub informers: Informers,
    /// What the time is taken from.
    pub clock: Clock,
    /// Where requests are counted.
    pub metrics: Metrics,
}

/// How large a node is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capacity {
    /// Cores, as a quantity.
    pub cpu: String,
    /// Memory, as a quantity.
    pub memory: String,
    /// Pods.
    pub pods: u32,
}

/// Options that cannot be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InvalidOptions {
    /// More nodes than there are addresses for.
    Nodes(usize),
    /// More pods on a node than there are addresses for.
    Pods(u32),
    /// Not an amount of something.
    Quantity {
        /// Of what.
        resource: &'static str,
        /// What was written.
        written: String,
    },
}

impl Options {
    /// So many nodes of the usual size, the built-in profile and the machine's clock.
    pub fn new(nodes: usize, metrics: Metrics) -> Self {
        Self {
            nodes,
            prefix: "node".to_owned(),
            capacity: Capacity::default(),
            profile: Profile::built_in(),
            reports_max: 32,
            informers: Informers::new(),
            clock: Clock::system(),
            metrics,
        }
    }

    /// Checks that there are addresses for all nodes and pods, and that the sizes are amounts.
    pub fn check(&self) -> Result<(), InvalidOptions> {
        if self.nodes > machine::NODES_MAX {
            return Err(InvalidOptions::Nodes(self.nodes));
        }
        if self.capacity.pods > machine::PODS_MAX {
            return Err(InvalidOptions::Pods(self.capacity.pods));
        }
        for (resource, written) in [("cpu", &self.capacity.cpu), ("memory", &self.capacity.memory)] {
            if in_nanos(written).is_none_or(|amount| amount < 0) {
                return Err(InvalidOptions::Quantity { resource, written: written.clone() });
            }
        }
        Ok(())
    }
}

impl Default for Capacity {
    /// Eight cores, 32 GiB and 110 pods, as many as a kubelet takes.
    fn default() -> Self {
        Self { cpu: "8".to_owned(), memory: "32Gi".to_owned(), pods: 110 }
    }
}

impl fmt::Display for InvalidOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nodes(nodes) => {
                let (network, bits, max) = (machine::POD_NETWORK, machine::POD_BITS, machine::NODES_MAX);
                write!(
                    f,
                    "{nodes} nodes are too many: each has {} pod addresses, and {network}/9 has room for {max} nodes",
                    1 << bits
                )
            }
            Self::Pods(pods) => {
                write!(f, "{pods} pods on a node are too many; there are addresses for {}", machine::PODS_MAX)
            }
            Self::Quantity { resource, written } => {
                write!(f, "{written:?} is no amount of {resource}; write one such as 4, 500m or 16Gi")
            }
        }
    }
}

impl std::error::Error for InvalidOptions {}
