//! Makes a machine with a container runtime a node of a cluster: the kubelet's part, on CRI.
//!
//! ```text
//! API ──pods──► gantry_nodes: PodWorkers ──sync──► pod_lifecycle (pure) ──status, events──► API
//!                    │ NodeRuntime
//!                    ▼
//!      agent ──actions──► carry_out ──calls──► container runtime
//!        ▲───── reports ──────┴──── relist ◄── exits, lost sandboxes
//! ```
//!
//! `gantry_nodes::pod_lifecycle` decides what a pod does next, as for simulated nodes; this crate carries it out.
//! `environment`, `expansion`, `downward_api`, `volume_payload`, `resources`, `security`, `sandbox_config`,
//! `container_config`, `node_object` and `pull_secrets` are pure. `server` serves the endpoints of a kubelet: logs,
//! exec, attach, port-forward.
//!
//! *Invariant:* only sandboxes and containers with the label of this node and cluster are touched. All state is in the API and
//! in the container runtime: a restarted agent continues with the containers that it finds.

mod agent;
mod carry_out;
mod cgroups;
mod cluster_dns;
mod container_config;
mod downward_api;
mod environment;
mod eviction;
mod expansion;
mod housekeeping;
mod http_get;
mod known_pods;
mod labels;
mod machine_info;
mod node_object;
mod node_record;
mod objects;
mod options;
mod pod_cgroup;
mod pod_files;
mod pod_limits;
mod preflight;
mod pressure;
mod probe_runner;
mod pull_secrets;
mod registration;
mod relist;
mod resources;
mod run;
mod runtime_pods;
mod sandbox_config;
mod security;
mod server;
mod soft_eviction;
mod storage_limits;
mod termination;
mod trust_bundles;
mod usage;
mod volume_dirs;
mod volume_payload;

pub use node_record::remove_recorded;
pub use options::{AgentOptions, OnStop};
pub use preflight::{NotUsable, check, find_socket};
pub use pressure::EvictionThresholds;
pub use run::run;
pub use server::LogSelection;
pub use soft_eviction::SoftEviction;
