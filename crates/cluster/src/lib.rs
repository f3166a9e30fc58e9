//! A whole Kubernetes cluster in this process: the API, the controllers, a scheduler and simulated nodes.
//!
//! ```no_run
//! # async fn test() -> Result<(), gantry_cluster::StartError> {
//! let cluster = gantry_cluster::Cluster::start().await?;
//! let client = kube::Client::new(cluster.service(), "default");
//! // … create Deployments, run a controller, see pods become ready …
//! cluster.stop().await;
//! # Ok(())
//! # }
//! ```
//!
//! [`Cluster::start`] returns when the cluster is ready: the API responds, the default service account exists, and every
//! node is Ready. Nothing is written to disk and no port is opened unless [`Options`] request it. `gantry up` and
//! `gantry apiserver` are this crate with flags around it.
//!
//! *Invariant:* no argv, no terminal, no signals, and no file outside the directories that the options name.

mod cluster;
mod environment;
mod error;
mod joined_nodes;
mod node_agents;
mod options;
mod ready;
mod server;
mod storage;
mod uncontrolled;

pub use cluster::Cluster;
pub use environment::{Connector, ProcessEnvironment};
pub use error::StartError;
pub use options::{Endpoint, Omissions, Options, Storage, Tls};

pub use gantry_apiserver::{ApiService, Environment, RequestLimits, ServiceAccounts, StaticToken};
pub use gantry_node_agent::{AgentOptions, EvictionThresholds, OnStop};
pub use gantry_nodes::behaviour::Profile;
pub use gantry_nodes::{Capacity, NodeTemplate};
pub use gantry_registry::admission::AddressRange;
pub use gantry_serving::kubeconfig::{Kubeconfig, KubeconfigError};
